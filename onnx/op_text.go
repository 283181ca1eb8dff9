package onnx

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/tabular"
	"github.com/berth-go/berth/internal/wire"
)

// textOps are the operators on text and its tokens.
var textOps = []row{
	{"", "TfIdfVectorizer", 9, 1, 1, opOf(tfIdf)},
}

// tfIdf counts runs of tokens. As in ONNX Runtime and the reference evaluator,
// weights are those of the output's elements, and TF does not look at them.
func tfIdf(c *call) graph.Op {
	for _, name := range [...]string{"max_gram_length", "max_skip_count", "min_gram_length", "mode", "ngram_counts", "ngram_indexes"} {
		c.require(name)
	}
	if c.hasAttr("pool_strings") {
		c.failf("attribute \"pool_strings\": element %w: %v", ErrType, wire.String)
	}
	c.require("pool_int64s")
	mode := choice(c, "mode", "", map[string]string{"TF": "TF", "IDF": "IDF", "TFIDF": "TFIDF"})
	o := tabular.NGrams{
		Least: c.int("min_gram_length", 0), Most: c.int("max_gram_length", 0), Skip: c.int("max_skip_count", 0),
		Pool: c.ints("pool_int64s"), Starts: c.ints("ngram_counts"), Columns: c.ints("ngram_indexes"),
		Once: mode == "IDF",
	}
	if weights := c.floats("weights"); mode != "TF" {
		o.Weights = weights
	}
	return o
}

package onnx

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/tabular"
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
	if !c.hasAttr("pool_strings") {
		c.require("pool_int64s")
	}
	pool := c.ints("pool_int64s")
	if words := c.textIDs("pool_strings"); len(words) > 0 {
		if len(pool) > 0 {
			c.failf("attributes \"pool_int64s\" and \"pool_strings\" are both given")
		}
		pool = c.toInts(words)
	}
	if text := c.hasAttr("pool_strings"); text != c.isText(0) {
		c.failf("the tokens are of type %s, unlike those of the pool", symbolType(c.symbols[0]))
	}
	mode := choice(c, "mode", "", map[string]string{"TF": "TF", "IDF": "IDF", "TFIDF": "TFIDF"})
	o := tabular.NGrams{
		Least: c.int("min_gram_length", 0), Most: c.int("max_gram_length", 0), Skip: c.int("max_skip_count", 0),
		Pool: pool, Starts: c.ints("ngram_counts"), Columns: c.ints("ngram_indexes"),
		Once: mode == "IDF",
	}
	if weights := c.floats("weights"); mode != "TF" {
		o.Weights = weights
	}
	return o
}

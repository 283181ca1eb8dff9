package onnx

import (
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

func TestTfIdf(t *testing.T) {
	// The pool has 1 and 2, and the runs 1 2 and 2 1, in the order of columns 3 0 2 1.
	with := func(mode string, skip int64, more ...wire.Attribute) []wire.Attribute {
		return append(more, attrText("mode", mode), attrInt("min_gram_length", 1), attrInt("max_gram_length", 2), attrInt("max_skip_count", skip),
			attrInts("ngram_counts", 0, 2), attrInts("ngram_indexes", 3, 0, 2, 1), attrInts("pool_int64s", 1, 2, 1, 2, 2, 1))
	}
	without := func(name string) []wire.Attribute {
		return slices.DeleteFunc(with("TF", 0), func(a wire.Attribute) bool { return a.Name == name })
	}
	x := i64([]float64{1, 2, 2, 7, 1, 1}, 6)
	weights := wire.Attribute{Name: "weights", Kind: wire.AttrFloats, Floats: []float32{.5, 1, 2, 4}}
	i32 := func(v ...float64) *berth.Tensor { return tensorOf(dtype.Int32, v, 2, len(v)/2) }
	const op = "TfIdfVectorizer"
	runNodeTests(t, []nodeTest{
		{"counts", op, 9, with("TF", 0), in{x}, in{f32([]float64{2, 0, 1, 3})}, ""},
		{"skips", op, 9, with("TF", 1), in{x}, in{f32([]float64{2, 1, 2, 3})}, ""},
		{"weights that do not count", op, 9, with("TF", 0, weights), in{x}, in{f32([]float64{2, 0, 1, 3})}, ""},
		{"once", op, 9, with("IDF", 0, weights), in{x}, in{f32([]float64{.5, 0, 2, 4})}, ""},
		{"weights", op, 9, with("TFIDF", 0, weights), in{x}, in{f32([]float64{1, 0, 2, 12})}, ""},
		{"all weights 1", op, 9, with("TFIDF", 0), in{x}, in{f32([]float64{2, 0, 1, 3})}, ""},
		{"rows", op, 9, with("TF", 0), in{i32(1, 2, 2, 1)}, in{f32([]float64{1, 0, 1, 1, 1, 1, 0, 1}, 2, 4)}, ""},
		{"no tokens", op, 9, with("TF", 0), in{i64(nil, 0)}, in{f32([]float64{0, 0, 0, 0})}, ""},
		{"no pool", op, 9, without("pool_int64s"), in{x}, nil, `"pool_int64s" is missing`},
		{"a pool of text", op, 9, append(without("pool_int64s"), attrTexts("pool_strings", "a")), in{x}, nil, "the tokens are of type int64, unlike those of the pool"},
		{"another mode", op, 9, with("DF", 0), in{x}, nil, `"mode" is "DF"`},
	})
}

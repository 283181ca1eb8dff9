package onnx

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

// TestOperatorsThatVary runs nodes, as one program for several extents, at each of
// them, and compares with a run of the node alone.
func TestOperatorsThatVary(t *testing.T) {
	const n, d = "batch", "places"
	classes := below(dtype.Int64, 3, n, d)
	seed := attrInt("seed", 3)
	for _, c := range []variedTest{
		{op: "NegativeLogLikelihoodLoss", opset: 13, attrs: attrs(attrInt("ignore_index", 1)), in: []operand{normal(n, 3, d), classes, normal(3)}, outs: "y"},
		{op: "NegativeLogLikelihoodLoss", opset: 22, attrs: attrs(attrText("reduction", "none")), in: []operand{normal(n, 3, d), classes}, outs: "y"},
		{op: "SoftmaxCrossEntropyLoss", opset: 13, in: []operand{normal(n, 3, d), classes}, outs: "yy"},
		{op: trainingDomain + ".Adam", opset: 1, in: []operand{normal(), below(dtype.Int64, 3), normal(n, d), normal(n, d), normal(n, d), below(dtype.Float32, 9, n, d)}, outs: "yyy"},
		{op: "DFT", opset: 17, in: []operand{normal(n, 7, d, 1)}, outs: "y"},
		{op: "STFT", opset: 17, in: []operand{normal(n, d, 1), {}, normal(2)}, outs: "y", made: map[int]string{1: "step"}},
		{op: "RandomNormalLike", opset: 22, attrs: attrs(attrFloat("seed", 3)), in: []operand{normal(n, d)}, outs: "y"},
		{op: "Dropout", opset: 13, attrs: attrs(seed), in: []operand{normal(n, d), {}, {}}, outs: "yy", made: map[int]string{2: "true"}},
		{op: "Bernoulli", opset: 22, attrs: attrs(attrFloat("seed", 3)), in: []operand{normal(n, d)}, outs: "y"},
		{op: "Multinomial", opset: 22, attrs: attrs(attrFloat("seed", 3), attrInt("sample_size", 2)), in: []operand{normal(n, 5), below(dtype.Float32, 1, d)}, outs: "y", made: map[int]string{1: "-"}},
		{op: "Det", opset: 13, in: []operand{normal(n, d, 3, 3)}, outs: "y"},
		{op: "Det", opset: 13, in: []operand{normal(n, d, d)}, outs: "y"},
		{op: "DeformConv", opset: 19, attrs: attrs(attrInts("pads", 0, 0, 1, 1)), in: []operand{normal(n, 2, d, 3), normal(3, 2, 2, 2), normal(n, 8, d, 3)}, outs: "y"},
		{op: "MaxRoiPool", opset: 22, attrs: attrs(attrInts("pooled_shape", 2, 1)), in: []operand{normal(n, 2, d, 3), below(dtype.Float32, 1, d, 5)}, outs: "y"},
		{op: "TfIdfVectorizer", opset: 13, attrs: attrs(attrText("mode", "TF"), attrInt("min_gram_length", 1), attrInt("max_gram_length", 1), attrInt("max_skip_count", 0),
			attrInts("ngram_counts", 0), attrInts("ngram_indexes", 0, 1), attrInts("pool_int64s", 0, 2)), in: []operand{below(dtype.Int64, 3, n, d)}, outs: "y"},
	} {
		t.Run(fmt.Sprintf("%s-%d", c.op, c.opset), func(t *testing.T) {
			c.before = []wire.Node{
				{OpType: "Constant", Outputs: []string{"step"}, Attributes: attrs(attrInt("value_int", 1))},
				{OpType: "Cast", Inputs: []string{"step"}, Outputs: []string{"true"}, Attributes: attrs(attrInt("to", int64(wire.Bool)))},
			}
			c.vary = []berth.Dimension{berth.Dim(n, 1, 4), berth.Dim(d, 2, 6)}
			c.extents = []berth.Extents{{n: 4, d: 6}, {n: 1, d: 2}, {n: 3, d: 5}}
			c.run(t)
		})
	}
}

// TestLengthsThatVary: a Fourier transform is of one length.
func TestLengthsThatVary(t *testing.T) {
	g := wire.Graph{Name: "test", Outputs: []wire.ValueInfo{{Name: "y"}}, Nodes: []wire.Node{{OpType: "DFT", Inputs: []string{"x"}, Outputs: []string{"y"}}}}
	g.Inputs = []wire.ValueInfo{normal(2, "length", 1).info("x")}
	m, err := Parse(wire.AppendModel(nil, &wire.Model{IRVersion: 8, OpsetImports: []wire.OperatorSet{{Version: 17}}, Graph: &g}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Compile(t.Context(), &Options{RowDim: "-", Vary: []berth.Dimension{berth.Dim("length", 2, 6)}})
	if err == nil || !strings.Contains(err.Error(), "dft") {
		t.Errorf("a length that varies: error %v", err)
	}
}

package onnx

import (
	"math"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

// TestNegativeLogLikelihood takes two samples of three classes at two places,
// the example of the operator's documentation.
func TestNegativeLogLikelihood(t *testing.T) {
	data := []float64{1, 2, 2, 2, 3, 2, 0, 1, 2, 2, 1, 2}
	x := f32(data, 2, 3, 2)
	labels := i64([]float64{2, 1, 0, 2}, 2, 2) // losses -3 -2 -0 -2
	weights := f32([]float64{.25, .5, 2})
	none, sum := attrs(attrText("reduction", "none")), attrs(attrText("reduction", "sum"))
	ignore := func(index int64, reduction string) []wire.Attribute {
		return attrs(attrText("reduction", reduction), attrInt("ignore_index", index))
	}
	far := i64([]float64{2, -7, 0, 2}, 2, 2) // of which one is no class
	single := func(v float64) *berth.Tensor { return scalarOf(dtype.Float32, v) }
	const op = "NegativeLogLikelihoodLoss"
	runNodeTests(t, []nodeTest{
		{"each", op, 13, none, in{x, labels}, in{f32([]float64{-3, -2, math.Copysign(0, -1), -2}, 2, 2)}, ""},
		{"sum", op, 12, sum, in{x, labels}, in{single(-7)}, ""},
		{"mean by default", op, 22, nil, in{x, labels}, in{single(-7. / 4)}, ""},
		{"weights", op, 13, none, in{x, labels, weights}, in{f32([]float64{-6, -1, math.Copysign(0, -1), -4}, 2, 2)}, ""},
		{"mean by weights", op, 13, nil, in{x, labels, weights}, in{single(-11 / 4.75)}, ""},
		{"ignored", op, 13, ignore(-7, "none"), in{x, far}, in{f32([]float64{-3, 0, math.Copysign(0, -1), -2}, 2, 2)}, ""},
		{"mean of those not ignored", op, 13, ignore(-7, "mean"), in{x, far}, in{single(-5. / 3)}, ""},
		{"sum without the ignored", op, 13, ignore(2, "sum"), in{x, labels}, in{single(-2)}, ""},
		{"mean by the weights not ignored", op, 22, ignore(-7, "mean"), in{x, far, weights}, in{single(-10 / 4.25)}, ""},
		{"all ignored", op, 13, ignore(1, "mean"), in{f32([]float64{1, 2}, 1, 2), i64([]float64{1})}, in{single(math.NaN())}, ""},
		{"an infinity that is ignored", op, 13, ignore(0, "sum"), in{f32([]float64{math.Inf(-1), 2}, 1, 2), i64([]float64{0})}, in{single(0)}, ""},
		{"an index no int32 can be", op, 13, ignore(1<<40, "sum"), in{f32([]float64{1, 2}, 1, 2), tensorOf(dtype.Int32, []float64{1}, 1)}, in{single(-2)}, ""},
		{"no samples", op, 13, none, in{f32(nil, 0, 3), i64(nil, 0)}, in{f32(nil, 0)}, ""},
		{"doubles", op, 13, nil, in{tensorOf(dtype.Float64, []float64{1, .1}, 1, 2), tensorOf(dtype.Int32, []float64{1}, 1)}, in{scalarOf(dtype.Float64, -.1)}, ""},

		{"a label out of range", op, 13, none, in{x, far}, nil, "-7"},
		{"labels of another shape", op, 13, none, in{x, i64([]float64{0, 1, 2}, 3)}, nil, "labels have the shape [3], want [2 2]"},
		{"labels that are no integers", op, 13, none, in{x, f32([]float64{2, 1, 0, 2}, 2, 2)}, nil, "labels of type float32"},
		{"no classes", op, 13, none, in{weights, i64([]float64{2})}, nil, "scores have the shape [3], which has no classes"},
		{"a weight too few", op, 13, none, in{x, labels, f32([]float64{1, 2})}, nil, "weights are float32[2], want a float32 for each of 3 classes"},
		{"unknown reduction", op, 13, attrs(attrText("reduction", "max")), in{x, labels}, nil, `"reduction" is "max"`},
		{"too early", op, 11, nil, in{x, labels}, nil, "not supported at opset 11"},
	})
}

func TestSoftmaxCrossEntropy(t *testing.T) {
	ln := math.Log
	x := f32([]float64{ln(1), ln(3), ln(6), ln(2)}, 2, 2) // probabilities 1/4 3/4; 3/4 1/4
	labels := i64([]float64{1, 1})
	logProb := []float64{ln(.25), ln(.75), ln(.75), ln(.25)}
	const op = "SoftmaxCrossEntropyLoss"
	ones := make([]float64, 4096)
	for i := range ones {
		ones[i] = 1
	}
	runNodeTests(t, []nodeTest{
		{"each", op, 12, attrs(attrText("reduction", "none")), in{x, labels}, in{f32([]float64{-ln(.75), -ln(.25)})}, ""},
		{"mean, and the logarithms", op, 13, nil, in{x, labels}, in{scalarOf(dtype.Float32, -(ln(.75)+ln(.25))/2), f32(logProb, 2, 2)}, ""},
		{"the logarithms alone", op, 13, nil, in{x, labels}, in{nil, f32(logProb, 2, 2)}, ""},
		{"ignored", op, 13, attrs(attrInt("ignore_index", -1)), in{x, i64([]float64{-1, 1})}, in{scalarOf(dtype.Float32, -ln(.25))}, ""},
		{"weights", op, 13, attrs(attrText("reduction", "sum")), in{x, i64([]float64{0, 1}), f32([]float64{1, 2})}, in{scalarOf(dtype.Float32, -3*ln(.25))}, ""},
		{"scores that would overflow", op, 13, nil, in{f32([]float64{1000, 0}, 1, 2), i64([]float64{1})}, in{scalarOf(dtype.Float32, 1000)}, ""},
		// In float16 the sum of as many probabilities would stop at 2048.
		{"halves", op, 13, attrs(attrText("reduction", "none")), in{shaped(dtype.Float16, ones, []int{1, 4096}), i64([]float64{7})}, in{tensorOf(dtype.Float16, []float64{ln(4096)}, 1)}, ""},
		{"sums of halves that would overflow", op, 13, nil, in{shaped(dtype.Float16, slices.Repeat([]float64{100, 0}, 1024), []int{1024, 2}), i64(ones[:1024]), tensorOf(dtype.Float16, []float64{1, 1}, 2)}, in{scalarOf(dtype.Float16, 100)}, ""},
		{"mean of halves", op, 13, nil, in{shaped(dtype.BFloat16, make([]float64, 2048), []int{1024, 2}), i64(make([]float64, 1024))}, in{scalarOf(dtype.BFloat16, math.Ln2)}, ""},
	})
}

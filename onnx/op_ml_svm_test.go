package onnx

import (
	"math"
	"testing"

	"github.com/berth-go/berth/dtype"
)

// kernelFunctions are those of support vector machines, by the name of the attribute,
// for gamma 0.5, coef0 1 and degree 3.
var kernelFunctions = map[string]func(a, b []float64) float64{
	"LINEAR":  dot,
	"POLY":    func(a, b []float64) float64 { return math.Pow(dot(a, b)/2+1, 3) },
	"SIGMOID": func(a, b []float64) float64 { return math.Tanh(dot(a, b)/2 + 1) },
	"RBF": func(a, b []float64) float64 {
		return math.Exp(-(dot(a, a) + dot(b, b) - 2*dot(a, b)) / 2)
	},
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

var machine = attrs(
	attrFloats("support_vectors", 1, 0, 0, 1, .5, -1, -1, .25), attrFloats("kernel_params", .5, 1, 3),
	attrFloats("coefficients", 1, -2, 3, .5), attrFloats("rho", .25))

func TestSVMRegressor(t *testing.T) {
	const op = "ai.onnx.ml.SVMRegressor"
	rows := [][]float64{{1, 2}, {-.5, .75}, {0, 0}}
	x := f32([]float64{1, 2, -.5, .75, 0, 0}, 3, 2)
	vectors := [][]float64{{1, 0}, {0, 1}, {.5, -1}, {-1, .25}}
	list := with(machine, attrInt("n_supports", 4))
	var cases []nodeTest
	for name, f := range kernelFunctions {
		var want, signs []float64
		for _, row := range rows {
			y := .25
			for i, w := range []float64{1, -2, 3, .5} {
				y += w * f(row, vectors[i])
			}
			want, signs = append(want, y), append(signs, math.Copysign(1, y))
		}
		of := with(list, attrText("kernel_type", name))
		cases = append(cases,
			nodeTest{name, op, 1, of, in{x}, in{f32(want, 3, 1)}, ""},
			nodeTest{name + " float64", op, 1, of, in{tensorOf(dtype.Float64, []float64{1, 2, -.5, .75, 0, 0}, 3, 2)}, in{f32(want, 3, 1)}, ""},
			nodeTest{name + " one class", op, 1, with(of, attrInt("one_class", 1)), in{x}, in{f32(signs, 3, 1)}, ""})
	}
	runNodeTests(t, append(cases, []nodeTest{
		{"no vectors", op, 1, attrs(attrFloats("coefficients", 1, 10), attrFloats("rho", .5)), in{x}, in{f32([]float64{21.5, 7.5, .5}, 3, 1)}, ""},
		{"one row", op, 1, attrs(attrFloats("coefficients", 1, 10), attrFloats("rho", .5)), in{i64([]float64{1, 2})}, in{f32([]float64{21.5}, 1, 1)}, ""},
		{"other features", op, 1, list, in{f32([]float64{1, 2, 3}, 1, 3)}, nil, "has 8 numbers for 4 vectors of 3 features"},
		{"other coefficients", op, 1, with(list, attrFloats("coefficients", 1)), in{x}, nil, "has 1 numbers for 1 scores of 4 each"},
		{"no rho", op, 1, without(list, attrFloats("rho")), in{x}, nil, `"rho" has 0 numbers`},
		{"other parameters", op, 1, with(list, attrFloats("kernel_params", 1)), in{x}, nil, `"kernel_params" has 1 numbers`},
		{"no such kernel", op, 1, with(list, attrText("kernel_type", "CUBE")), in{x}, nil, "CUBE"},
		{"negative", op, 1, with(list, attrInt("n_supports", -1)), in{x}, nil, `"n_supports" is -1`},
	}...))
}

func TestSVMClassifier(t *testing.T) {
	const op = "ai.onnx.ml.SVMClassifier"
	x := f32([]float64{1, 2, -1, 3}, 2, 2)
	labels := attrInts("classlabels_ints", 7, 8)
	// Vectors are x0 and x1 themselves, of one class each: s = 2*x0 - x1 + 1, 1 and -4.
	two := attrs(labels, attrInts("vectors_per_class", 1, 1), attrFloats("support_vectors", 1, 0, 0, 1),
		attrFloats("coefficients", 2, -1), attrFloats("rho", 1))
	// Class 0 has x0, class 1 x1, class 2 x0+x1, which for the rows are 1 2 3 and -1 3 2:
	// 01: 1*x0 + 3*x1 + 1, 02: 4*x0 + 5*(x0+x1) - 30, 12: -7*x1 + 6*(x0+x1).
	three := attrs(attrInts("classlabels_ints", 7, 8, 9), attrInts("vectors_per_class", 1, 1, 1), attrFloats("support_vectors", 1, 0, 0, 1, 1, 1),
		attrFloats("coefficients", 1, 3, 5, 4, -7, 6), attrFloats("rho", 1, -30, 0))
	scores := f32([]float64{8, -11, 4, 9, -24, -9}, 2, 3)
	linear := attrs(labels, attrFloats("coefficients", 1, 1, -1, 2), attrFloats("rho", .5))
	l := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	// Of two classes, the round that is made gives the probability of the pair.
	p, q := l(-(.5*1 + .25)), l(-(.5*-4 + .25))
	runNodeTests(t, []nodeTest{
		{"two classes", op, 1, two, in{x}, in{i64([]float64{7, 8}), f32([]float64{-1, 1, 4, -4}, 2, 2)}, ""},
		{"logistic", op, 1, with(two, attrText("post_transform", "LOGISTIC")), in{x}, in{i64([]float64{7, 8}), f32([]float64{l(-1), l(1), l(4), l(-4)}, 2, 2)}, ""},
		// Votes are 1 1 1 of the first row, whose first class counts, and 1 0 2.
		{"three classes", op, 1, three, in{x}, in{i64([]float64{7, 9}), scores}, ""},
		{"scores of strings", op, 1, with(without(three, labels), attrTexts("classlabels_strings", "a", "b", "c")), in{x}, in{nil, scores}, ""},
		{"probabilities", op, 1, with(two, attrFloats("prob_a", .5), attrFloats("prob_b", .25)), in{x}, in{i64([]float64{7, 8}), f32([]float64{p, 1 - p, q, 1 - q}, 2, 2)}, ""},
		{"no vectors", op, 1, linear, in{x}, in{i64([]float64{7, 8}), f32([]float64{3.5, 3.5, 2.5, 7.5}, 2, 2)}, ""},

		{"too few coefficients", op, 1, with(three, attrFloats("coefficients", 1, 2, 3)), in{x}, nil, "has 3 numbers for 3 classes and 3 vectors"},
		{"too many vectors", op, 1, with(two, attrInts("vectors_per_class", 1<<62, 1<<62)), in{x}, nil, `"vectors_per_class" is 4611686018427387904 for class 0`},
		{"negative", op, 1, with(two, attrInts("vectors_per_class", -1, 2)), in{x}, nil, "is -1 for class 0"},
		{"other classes", op, 1, with(two, attrInts("vectors_per_class", 2)), in{x}, nil, "has 1 numbers for 2 classes"},
		{"other probabilities", op, 1, with(two, attrFloats("prob_a", 1)), in{x}, nil, "have 1 and 0 numbers for 1 pairs"},
		{"too little rho", op, 1, with(three, attrFloats("rho", 1)), in{x}, nil, `"rho" has 1 numbers, want 3`},
	})
}

package onnx

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

// Sets of element types that the specification names again and again.
var (
	floatTypes    = []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64}
	signedTypes   = []dtype.Type{dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64}
	unsignedTypes = []dtype.Type{dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Uint64}
	integerTypes  = slices.Concat(signedTypes, unsignedTypes)
	numericTypes  = slices.Concat(integerTypes, floatTypes)
	wideTypes     = slices.Concat([]dtype.Type{dtype.Int32, dtype.Int64, dtype.Uint32, dtype.Uint64}, floatTypes)
)

// TestElementTypes runs operators on every element type that their newest
// version admits.
func TestElementTypes(t *testing.T) {
	const same = dtype.Invalid // the result has the type of the inputs
	six := []float64{6, 3, 7}
	two := []float64{2, 3, 4}
	flags := []float64{0, 1, 1}
	for _, c := range []struct {
		op    string
		opset int64
		types []dtype.Type
		attrs []wire.Attribute
		in    [][]float64
		out   dtype.Type
		want  []float64
	}{
		{"Abs", 13, numericTypes, nil, [][]float64{six}, same, six},
		{"Neg", 13, slices.Concat(signedTypes, floatTypes), nil, [][]float64{six}, same, []float64{-6, -3, -7}},
		{"Sign", 13, numericTypes, nil, [][]float64{{6, 0, 1}}, same, []float64{1, 0, 1}},
		{"Relu", 14, slices.Concat(signedTypes, floatTypes), nil, [][]float64{{-6, 0, 1}}, same, []float64{0, 0, 1}},
		{"Erf", 13, numericTypes, nil, [][]float64{{0, 9, 9}}, same, flags},
		{"Shrink", 9, numericTypes, attrs(attrFloat("bias", 1), attrFloat("lambd", 3)), [][]float64{six}, same, []float64{5, 0, 6}},
		{"Identity", 21, dtype.All(), nil, [][]float64{flags}, same, flags},
		{"Ceil", 13, floatTypes, nil, [][]float64{{1.5, -1.5, 2}}, same, []float64{2, -1, 2}},
		{"Floor", 13, floatTypes, nil, [][]float64{{1.5, -1.5, 2}}, same, []float64{1, -2, 2}},
		{"Round", 22, floatTypes, nil, [][]float64{{1.5, -1.5, 2.5}}, same, []float64{2, -2, 2}},
		{"Sqrt", 13, floatTypes, nil, [][]float64{{4, 9, 0.25}}, same, []float64{2, 3, 0.5}},
		{"Reciprocal", 13, floatTypes, nil, [][]float64{{4, -2, 0.5}}, same, []float64{0.25, -0.5, 2}},
		{"Exp", 13, floatTypes, nil, [][]float64{{0, 0, math.Inf(-1)}}, same, []float64{1, 1, 0}},
		{"Sigmoid", 13, floatTypes, nil, [][]float64{{0, math.Inf(1), math.Inf(-1)}}, same, []float64{.5, 1, 0}},
		{"HardSwish", 22, floatTypes, nil, [][]float64{{3, -3, 0}}, same, []float64{3, 0, 0}},
		{"IsNaN", 20, floatTypes, nil, [][]float64{{0, math.NaN(), math.Inf(1)}}, dtype.Bool, []float64{0, 1, 0}},
		{"IsInf", 20, floatTypes, nil, [][]float64{{0, math.NaN(), math.Inf(-1)}}, dtype.Bool, []float64{0, 0, 1}},
		{"Not", 1, []dtype.Type{dtype.Bool}, nil, [][]float64{flags}, dtype.Bool, []float64{1, 0, 0}},
		{"BitwiseNot", 18, signedTypes, nil, [][]float64{two}, same, []float64{-3, -4, -5}},
		{"BitwiseNot", 18, []dtype.Type{dtype.Uint8}, nil, [][]float64{two}, same, []float64{253, 252, 251}},

		{"Add", 14, numericTypes, nil, [][]float64{six, two}, same, []float64{8, 6, 11}},
		{"Sub", 14, numericTypes, nil, [][]float64{six, {2, 3, 4}}, same, []float64{4, 0, 3}},
		{"Mul", 14, numericTypes, nil, [][]float64{six, two}, same, []float64{12, 9, 28}},
		{"Div", 14, integerTypes, nil, [][]float64{six, two}, same, []float64{3, 1, 1}},
		{"Div", 14, floatTypes, nil, [][]float64{six, two}, same, []float64{3, 1, 1.75}},
		{"Mod", 13, integerTypes, nil, [][]float64{six, two}, same, []float64{0, 0, 3}},
		{"Mod", 13, numericTypes, attrs(attrInt("fmod", 1)), [][]float64{six, two}, same, []float64{0, 0, 3}},
		{"Pow", 15, slices.Concat([]dtype.Type{dtype.Int32, dtype.Int64}, floatTypes), nil, [][]float64{two, two}, same, []float64{4, 27, 256}},
		{"PRelu", 16, []dtype.Type{dtype.Int32, dtype.Int64, dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64}, nil, [][]float64{{-1, 2, -3}, two}, same, []float64{-2, 2, -12}},
		{"PRelu", 16, []dtype.Type{dtype.Uint32, dtype.Uint64}, nil, [][]float64{six, two}, same, six},
		{"Max", 13, numericTypes, nil, [][]float64{six, two, {1, 1, 9}}, same, []float64{6, 3, 9}},
		{"Min", 13, numericTypes, nil, [][]float64{six, two, {1, 9, 9}}, same, []float64{1, 3, 4}},
		{"Sum", 13, floatTypes, nil, [][]float64{six, two, two}, same, []float64{10, 9, 15}},
		{"Mean", 13, floatTypes, nil, [][]float64{six, two}, same, []float64{4, 3, 5.5}},
		{"Equal", 19, slices.Concat(numericTypes, []dtype.Type{dtype.Bool}), nil, [][]float64{flags, {1, 1, 0}}, dtype.Bool, []float64{0, 1, 0}},
		{"Greater", 13, numericTypes, nil, [][]float64{six, {6, 2, 9}}, dtype.Bool, []float64{0, 1, 0}},
		{"GreaterOrEqual", 16, numericTypes, nil, [][]float64{six, {6, 2, 9}}, dtype.Bool, []float64{1, 1, 0}},
		{"Less", 13, numericTypes, nil, [][]float64{six, {6, 2, 9}}, dtype.Bool, []float64{0, 0, 1}},
		{"LessOrEqual", 16, numericTypes, nil, [][]float64{six, {6, 2, 9}}, dtype.Bool, []float64{1, 0, 1}},
		{"And", 7, []dtype.Type{dtype.Bool}, nil, [][]float64{flags, {1, 1, 0}}, dtype.Bool, []float64{0, 1, 0}},
		{"Or", 7, []dtype.Type{dtype.Bool}, nil, [][]float64{flags, {0, 1, 0}}, dtype.Bool, []float64{0, 1, 1}},
		{"BitwiseAnd", 18, integerTypes, nil, [][]float64{six, two}, same, []float64{2, 3, 4}},
		{"BitwiseOr", 18, integerTypes, nil, [][]float64{six, two}, same, []float64{6, 3, 7}},
		{"BitwiseXor", 18, integerTypes, nil, [][]float64{six, two}, same, []float64{4, 0, 3}},
		{"BitShift", 11, unsignedTypes, attrs(attrText("direction", "LEFT")), [][]float64{six, two}, same, []float64{24, 24, 112}},
		{"BitShift", 11, unsignedTypes, attrs(attrText("direction", "RIGHT")), [][]float64{six, {1, 2, 99}}, same, []float64{3, 0, 0}},
		{"Clip", 13, numericTypes, nil, [][]float64{six, {4}, {6}}, same, []float64{6, 4, 6}},

		{"ReduceMax", 20, slices.Concat(numericTypes, []dtype.Type{dtype.Bool}), attrs(attrInt("keepdims", 0)), [][]float64{flags}, same, nil},
		{"ReduceSum", 13, wideTypes, nil, [][]float64{six}, same, []float64{16}},
		{"ReduceMean", 18, floatTypes, nil, [][]float64{{6, 3, 0}}, same, []float64{3}},
		{"ReduceMean", 18, []dtype.Type{dtype.Int32, dtype.Int64, dtype.Uint32, dtype.Uint64}, nil, [][]float64{six}, same, []float64{5}},
		{"ReduceProd", 18, wideTypes, nil, [][]float64{six}, same, []float64{126}},
		{"ReduceL1", 18, wideTypes, nil, [][]float64{six}, same, []float64{16}},
		{"ReduceL2", 18, wideTypes, nil, [][]float64{{3, 4, 12}}, same, []float64{13}},
		{"ReduceSumSquare", 18, wideTypes, nil, [][]float64{six}, same, []float64{94}},
		{"ReduceLogSum", 18, wideTypes, nil, [][]float64{{1, 0, 0}}, same, []float64{0}},
		{"ReduceLogSumExp", 18, wideTypes, nil, [][]float64{{0}}, same, []float64{0}},
		{"ArgMax", 13, numericTypes, nil, [][]float64{six}, dtype.Int64, []float64{2}},
		{"ArgMin", 13, numericTypes, nil, [][]float64{six}, dtype.Int64, []float64{1}},
		{"Softmax", 13, floatTypes, nil, [][]float64{{1, math.Inf(-1), 1}}, same, []float64{.5, 0, .5}},
		{"Hardmax", 13, floatTypes, nil, [][]float64{six}, same, []float64{0, 0, 1}},
		{"LpNormalization", 22, floatTypes, attrs(attrInt("p", 1)), [][]float64{{1, 2, 1}}, same, []float64{.25, .5, .25}},
		{"LayerNormalization", 17, floatTypes, attrs(attrFloat("epsilon", 0)), [][]float64{{1, 3}, {1, 2}, {0, 1}}, same, []float64{-1, 3}},
		{"RMSNormalization", 23, floatTypes, attrs(attrFloat("epsilon", 0)), [][]float64{{1, 7}, {5, 10}}, same, []float64{1, 14}},
	} {
		for _, dt := range c.types {
			out := c.out
			if out == same {
				out = dt
			}
			want := tensorOf(out, c.want, len(c.want))
			if c.want == nil { // the greatest of flags
				want = scalarOf(out, 1)
			}
			test := nodeTest{op: c.op, opset: c.opset, attrs: c.attrs, want: []*berth.Tensor{want}}
			for _, x := range c.in {
				test.in = append(test.in, tensorOf(dt, x, len(x)))
			}
			t.Run(fmt.Sprintf("%s-%d/%v", c.op, c.opset, dt), test.run)
		}
	}
}

// TestPowTypes raises every type of base to every type of exponent.
func TestPowTypes(t *testing.T) {
	for _, base := range slices.Concat([]dtype.Type{dtype.Int32, dtype.Int64}, floatTypes) {
		for _, exponent := range numericTypes {
			test := nodeTest{
				op: "Pow", opset: 15,
				in:   []*berth.Tensor{tensorOf(base, []float64{1, 2, 3}, 3), tensorOf(exponent, []float64{4, 5, 0}, 3)},
				want: []*berth.Tensor{tensorOf(base, []float64{1, 32, 1}, 3)},
			}
			t.Run(fmt.Sprintf("%v/%v", base, exponent), test.run)
		}
	}
}

// TestCastTypes converts between every two types.
func TestCastTypes(t *testing.T) {
	for _, from := range dtype.All() {
		for _, to := range dtype.All() {
			values := []float64{0, 1, 100}
			want := values
			switch {
			case from.IsLowPrecision() || to.IsLowPrecision():
				values = []float64{1, 1, 1}
				want = values
			case from == dtype.Bool || to == dtype.Bool:
				want = []float64{0, 1, 1}
			}
			if from == dtype.Bool {
				values = want
			}
			test := nodeTest{
				op: "Cast", opset: 13, attrs: attrs(attrInt("to", int64(wireType(to)))),
				in:   []*berth.Tensor{tensorOf(from, values, 3)},
				want: []*berth.Tensor{tensorOf(to, want, 3)},
			}
			t.Run(fmt.Sprintf("%v/%v", from, to), test.run)
		}
	}
}

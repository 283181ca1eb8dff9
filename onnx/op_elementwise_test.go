package onnx

import (
	"context"
	"math"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

func TestLegacyBroadcast(t *testing.T) {
	x := counting(0, 2, 3)
	broadcast := attrInt("broadcast", 1)
	runNodeTests(t, []nodeTest{
		{"same shape", "Add", 6, nil, in{x, x}, in{f32([]float64{0, 2, 4, 6, 8, 10}, 2, 3)}, ""},
		{"not asked for", "Add", 6, nil, in{x, counting(0, 3)}, nil, `[2 3] and [3], and the attribute "broadcast" is not set`},
		{"suffix", "Add", 6, attrs(broadcast), in{x, counting(10, 3)}, in{f32([]float64{10, 12, 14, 13, 15, 17}, 2, 3)}, ""},
		{"first axis", "Sub", 1, attrs(broadcast, attrInt("axis", 0)), in{x, f32([]float64{0, 10})}, in{f32([]float64{0, 1, 2, -7, -6, -5}, 2, 3)}, ""},
		{"negative axis", "Sub", 6, attrs(broadcast, attrInt("axis", -2)), in{x, f32([]float64{0, 10})}, in{f32([]float64{0, 1, 2, -7, -6, -5}, 2, 3)}, ""},
		{"middle axis", "Mul", 6, attrs(broadcast, attrInt("axis", 1)), in{counting(1, 1, 2, 2), f32([]float64{1, 10})}, in{f32([]float64{1, 2, 30, 40}, 1, 2, 2)}, ""},
		{"one element of higher rank", "Mul", 6, attrs(broadcast), in{counting(1, 2), f32([]float64{3}, 1, 1, 1)}, in{f32([]float64{3, 6})}, ""},
		{"one element at an axis", "Div", 6, attrs(broadcast, attrInt("axis", 1)), in{x, f32([]float64{2})}, in{f32([]float64{0, .5, 1, 1.5, 2, 2.5}, 2, 3)}, ""},
		{"one element at no axis", "Mul", 6, attrs(broadcast, attrInt("axis", 7)), in{x, scalarOf(dtype.Float32, 2)}, in{f32([]float64{0, 2, 4, 6, 8, 10}, 2, 3)}, ""},
		{"no such axis", "Mul", 6, attrs(broadcast, attrInt("axis", math.MaxInt64)), in{x, counting(0, 2)}, nil, "does not fit into [2 3]"},
		{"wrong extent", "Add", 6, attrs(broadcast), in{x, counting(0, 2)}, nil, "[2] does not broadcast to [2 3] from axis 1 on"},
		{"beyond the last axis", "Add", 6, attrs(broadcast, attrInt("axis", 1)), in{x, counting(0, 2, 3)}, nil, "[2 3] does not fit into [2 3] from axis 1 on"},
		{"higher rank", "Add", 6, attrs(broadcast), in{counting(0, 3), x}, nil, "does not fit into [3]"},
		{"power", "Pow", 1, attrs(broadcast), in{x, f32([]float64{2})}, in{f32([]float64{0, 1, 4, 9, 16, 25}, 2, 3)}, ""},
		{"comparison", "Greater", 1, attrs(broadcast, attrInt("axis", 0)), in{x, f32([]float64{1, 4})}, in{truth([]float64{0, 0, 1, 0, 0, 1}, 2, 3)}, ""},
		{"logic", "And", 1, attrs(broadcast, attrInt("axis", 0)), in{truth([]float64{1, 1, 1, 0}, 2, 2), truth([]float64{0, 1})}, in{truth([]float64{0, 0, 1, 0}, 2, 2)}, ""},
		{"both ways since 7", "Add", 7, nil, in{f32([]float64{0, 10}, 2, 1), counting(0, 3)}, in{f32([]float64{0, 1, 2, 10, 11, 12}, 2, 3)}, ""},
		{"logic since 7", "Xor", 7, nil, in{truth([]float64{0, 1}, 2, 1), truth([]float64{0, 1})}, in{truth([]float64{0, 1, 1, 0}, 2, 2)}, ""},
		{"axis too late", "Add", 7, attrs(attrInt("axis", 0)), in{x, x}, nil, "attribute axis does not exist after version 6"},
		{"do not fit", "Add", 14, nil, in{counting(0, 2), counting(0, 3)}, nil, `node 0 "-> y0" (Add): add: shapes [2] and [3] do not broadcast`},
		{"types differ", "Add", 14, nil, in{counting(0, 2), i64([]float64{1, 2})}, nil, "float32 and int64"},
	})
}

func TestPRelu(t *testing.T) {
	x := counting(-3, 1, 2, 3)
	negated := tensorOf(dtype.Float32, []float64{1, 2, 3, 4, 5, 6, 7, 8}, 1, 2, 2, 2)
	negated, err := negated.Promise().Neg().Materialize(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	runNodeTests(t, []nodeTest{
		{"shared", "PRelu", 6, nil, in{x, f32([]float64{2})}, in{f32([]float64{-6, -4, -2, 0, 1, 2}, 1, 2, 3)}, ""},
		{"a channel each", "PRelu", 6, nil, in{negated, f32([]float64{1, 10})}, in{f32([]float64{-1, -2, -3, -4, -50, -60, -70, -80}, 1, 2, 2, 2)}, ""},
		{"one axis", "PRelu", 1, nil, in{f32([]float64{-1, -1}), f32([]float64{2, 3})}, in{f32([]float64{-2, -3})}, ""},
		{"neither", "PRelu", 6, nil, in{x, counting(0, 3)}, nil, "the slope has 3 elements"},
		{"broadcast since 7", "PRelu", 7, nil, in{negated, f32([]float64{1, 10})}, in{f32([]float64{-1, -20, -3, -40, -5, -60, -7, -80}, 1, 2, 2, 2)}, ""},
		{"one way only", "PRelu", 7, nil, in{f32([]float64{-1}), counting(1, 2)}, nil, "does not broadcast to the input"},
		{"integers", "PRelu", 16, nil, in{tensorOf(dtype.Int32, []float64{-2, 5}, 2), tensorOf(dtype.Int32, []float64{3}, 1)}, in{tensorOf(dtype.Int32, []float64{-6, 5}, 2)}, ""},
	})
}

func TestVariadic(t *testing.T) {
	x, y := counting(0, 2, 2), f32([]float64{9, 1})
	runNodeTests(t, []nodeTest{
		{"no broadcast before 8", "Max", 7, nil, in{x, counting(0, 2)}, nil, "input 1 has the shape [2], input 0 the shape [2 2]"},
		{"one", "Sum", 1, nil, in{x}, in{x}, ""},
		{"one shape before 8", "Sum", 6, nil, in{x, y}, nil, "input 1 has the shape [2], input 0 the shape [2 2]"},
		{"broadcast since 8", "Sum", 8, nil, in{y, x, y}, in{f32([]float64{18, 3, 20, 5}, 2, 2)}, ""},
		{"three", "Mean", 8, nil, in{y, x, y}, in{f32([]float64{6, 1, 20. / 3, 5. / 3}, 2, 2)}, ""},
		{"one", "Mean", 13, nil, in{x}, in{x}, ""},
		{"two", "Mean", 6, nil, in{x, x}, in{x}, ""},
		{"broadcast", "Max", 8, nil, in{x, y}, in{f32([]float64{9, 1, 9, 3}, 2, 2)}, ""},
		{"broadcast", "Min", 13, nil, in{x, y}, in{f32([]float64{0, 1, 2, 1}, 2, 2)}, ""},
		{"NaN", "Max", 13, nil, in{f32([]float64{math.NaN(), 1}), f32([]float64{0, math.NaN()})}, in{f32([]float64{math.NaN(), math.NaN()})}, ""},
		{"half", "Mean", 13, nil, in{tensorOf(dtype.Float16, []float64{1}, 1), tensorOf(dtype.Float16, []float64{2}, 1)}, in{tensorOf(dtype.Float16, []float64{1.5}, 1)}, ""},
		{"none", "Sum", 8, nil, nil, nil, "input 0 is missing, the operator needs 1"},
	})
}

// TestNaN: where a specification ends in "otherwise", NaN goes there; where it
// leaves NaN out, or gives a formula, NaN stays.
func TestNaN(t *testing.T) {
	nan := math.NaN()
	x, zero := f32([]float64{nan, nan}), f32([]float64{0, 0})
	y := f32([]float64{1, 1})
	stays, yes, no := in{x}, in{truth([]float64{1, 1})}, in{truth([]float64{0, 0})}
	var tests []nodeTest
	add := func(want in, x in, ops ...string) {
		for _, o := range ops {
			tests = append(tests, nodeTest{"NaN", o, 26, nil, x, want, ""})
		}
	}
	add(in{zero}, in{x}, "Shrink", "ThresholdedRelu")
	add(stays, in{x}, "Relu", "LeakyRelu", "Elu", "Selu", "Celu", "HardSigmoid", "HardSwish", "Sign", "Abs", "Clip", "Swish", "Mish", "Softplus", "Softsign")
	add(stays, in{x, y}, "PRelu", "Max", "Min", "Pow", "Add")
	add(stays, in{y, x}, "Max", "Min", "Add")
	add(in{y}, in{y, x}, "PRelu", "Pow")
	add(in{y}, in{x, zero}, "Pow")
	add(no, in{x, y}, "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
	add(no, in{x}, "IsInf")
	add(yes, in{x}, "IsNaN")
	add(in{y}, in{truth([]float64{0, 0}), x, y}, "Where")
	runNodeTests(t, tests)
}

func TestClip(t *testing.T) {
	x := f32([]float64{math.Inf(-1), -1, 0, 5, math.Inf(1), math.NaN()})
	inf, nan := math.Inf(1), math.NaN()
	scalar := func(v float64) *berth.Tensor { return scalarOf(dtype.Float32, v) }
	runNodeTests(t, []nodeTest{
		{"no bounds", "Clip", 1, nil, in{x}, in{x}, ""},
		{"one bound", "Clip", 1, attrs(attrFloat("max", 2)), in{x}, in{f32([]float64{-inf, -1, 0, 2, 2, nan})}, ""},
		{"default bounds", "Clip", 6, attrs(attrFloat("min", 0)), in{x}, in{f32([]float64{0, 0, 0, 5, math.MaxFloat32, nan})}, ""},
		{"both", "Clip", 6, attrs(attrFloat("min", -.5), attrFloat("max", 2)), in{x}, in{f32([]float64{-.5, -.5, 0, 2, 2, nan})}, ""},
		{"no inputs", "Clip", 11, nil, in{x}, in{x}, ""},
		{"upper alone", "Clip", 12, nil, in{x, nil, scalar(3)}, in{f32([]float64{-inf, -1, 0, 3, 3, nan})}, ""},
		{"lower alone", "Clip", 12, nil, in{x, scalar(3)}, in{f32([]float64{3, 3, 3, 5, inf, nan})}, ""},
		{"crossed", "Clip", 13, nil, in{x, scalar(3), scalar(1)}, in{f32([]float64{1, 1, 1, 1, 1, nan})}, ""},
		{"bound with an axis", "Clip", 13, nil, in{scalar(7), nil, counting(3, 1)}, in{scalar(3)}, ""},
		{"attribute too late", "Clip", 11, attrs(attrFloat("min", 0)), in{x}, nil, "attribute min does not exist after version 10"},
		{"list as bound", "Clip", 13, nil, in{x, counting(0, 2)}, nil, "input 1 is a bound with the shape [2]"},
		{"integers", "Clip", 12, nil, in{tensorOf(dtype.Int8, []float64{-128, 3}, 2), scalarOf(dtype.Int8, -100)}, in{tensorOf(dtype.Int8, []float64{-100, 3}, 2)}, ""},
	})
}

func TestCast(t *testing.T) {
	x := f32([]float64{-1.7, 0, 0.5, 300.9})
	runNodeTests(t, []nodeTest{
		{"by name", "Cast", 1, attrs(attrText("to", "INT32")), in{x}, in{tensorOf(dtype.Int32, []float64{-1, 0, 0, 300}, 4)}, ""},
		{"by name", "Cast", 5, attrs(attrText("to", "BOOL")), in{x}, in{truth([]float64{1, 0, 1, 1})}, ""},
		{"no such name", "Cast", 1, attrs(attrText("to", "int")), in{x}, nil, `"int" is not an element type`},
		{"kind of the attribute", "Cast", 1, attrs(attrInt("to", 1)), in{x}, nil, `attribute "to" is of kind INT, not STRING`},
		{"by number", "Cast", 6, attrs(attrInt("to", int64(wire.Double))), in{i64([]float64{3})}, in{tensorOf(dtype.Float64, []float64{3}, 1)}, ""},
		{"half", "Cast", 13, attrs(attrInt("to", int64(wire.Float16))), in{f32([]float64{0.1, 70000})}, in{tensorOf(dtype.Float16, []float64{0.1, math.Inf(1)}, 2)}, ""},
		{"from bool", "Cast", 9, attrs(attrInt("to", int64(wire.Float))), in{truth([]float64{1, 0})}, in{f32([]float64{1, 0})}, ""},
		{"no attribute", "Cast", 13, nil, in{x}, nil, `attribute "to" is missing`},
		{"like", "CastLike", 15, nil, in{x, i64(nil, 0)}, in{i64([]float64{-1, 0, 0, 300})}, ""},
	})
}

func TestDropout(t *testing.T) {
	x := counting(1, 2, 2)
	ones := []float64{1, 1, 1, 1}
	ratio := scalarOf(dtype.Float32, 0)
	runNodeTests(t, []nodeTest{
		{"test mode", "Dropout", 1, attrs(attrInt("is_test", 1)), in{x}, in{x}, ""},
		{"mask of the input's type", "Dropout", 7, attrs(attrFloat("ratio", .3)), in{x}, in{x, f32(ones, 2, 2)}, ""},
		{"mask of truth values", "Dropout", 10, nil, in{x}, in{x, truth(ones, 2, 2)}, ""},
		{"ratio as input", "Dropout", 12, nil, in{x, scalarOf(dtype.Float32, .9)}, in{x}, ""},
		{"not training", "Dropout", 12, nil, in{x, nil, scalarOf(dtype.Bool, 0)}, in{x, truth(ones, 2, 2)}, ""},
		{"training without dropping", "Dropout", 13, nil, in{x, ratio, scalarOf(dtype.Bool, 1)}, in{x, truth(ones, 2, 2)}, ""},
		{"three outputs", "Dropout", 13, nil, in{x}, in{x, nil, x}, "has 3 outputs, the operator"},
	})
}

func TestActivationDefaults(t *testing.T) {
	x := f32([]float64{-1, 0.25, 2})
	e := math.Expm1(-1)
	runNodeTests(t, []nodeTest{
		{"", "Elu", 1, nil, in{x}, in{f32([]float64{e, .25, 2})}, ""},
		{"alpha", "Elu", 6, attrs(attrFloat("alpha", 2)), in{x}, in{f32([]float64{2 * e, .25, 2})}, ""},
		{"", "Selu", 1, nil, in{x}, in{f32([]float64{1.0507 * 1.6732 * e, 1.0507 * .25, 1.0507 * 2})}, ""},
		{"", "Selu", 6, nil, in{x}, in{f32([]float64{1.05070102214813 * 1.67326319217681 * e, 1.05070102214813 * .25, 1.05070102214813 * 2})}, ""},
		{"", "LeakyRelu", 1, nil, in{x}, in{f32([]float64{-.01, .25, 2})}, ""},
		{"", "HardSigmoid", 6, nil, in{x}, in{f32([]float64{.3, .55, .9})}, ""},
		{"attributes", "HardSigmoid", 6, attrs(attrFloat("beta", .25), attrFloat("alpha", 1)), in{x}, in{f32([]float64{0, .5, 1})}, ""},
		{"", "ThresholdedRelu", 10, nil, in{x}, in{f32([]float64{0, 0, 2})}, ""},
		{"", "Shrink", 9, nil, in{x}, in{f32([]float64{-1, 0, 2})}, ""},
		{"attributes", "Shrink", 9, attrs(attrFloat("bias", .5), attrFloat("lambd", 1.5)), in{x}, in{f32([]float64{0, 0, 1.5})}, ""},
		{"", "Celu", 12, attrs(attrFloat("alpha", 2)), in{x}, in{f32([]float64{2 * math.Expm1(-.5), .25, 2})}, ""},
		{"", "HardSwish", 14, nil, in{x}, in{f32([]float64{-1. / 3, .25 * (.25/6 + .5), 2 * (2./6 + .5)})}, ""},
		{"", "Swish", 24, nil, in{x}, in{f32([]float64{-1 / (1 + math.E), .25 / (1 + math.Exp(-.25)), 2 / (1 + math.Exp(-2))})}, ""},
		{"alpha", "Swish", 24, attrs(attrFloat("alpha", 2)), in{x}, in{f32([]float64{-1 / (1 + math.Exp(2)), .25 / (1 + math.Exp(-.5)), 2 / (1 + math.Exp(-4))})}, ""},
		{"", "Gelu", 20, nil, in{x}, in{f32([]float64{-.15865525, .14967656, 1.9544997})}, ""},
		{"tanh", "Gelu", 20, attrs(attrText("approximate", "tanh")), in{x}, in{f32([]float64{-.158808, .1496752, 1.9545977})}, ""},
		{"no such form", "Gelu", 20, attrs(attrText("approximate", "erf")), in{x}, nil, `"approximate" is "erf"`},
		{"not yet", "Gelu", 19, nil, in{x}, nil, "operator is not supported at opset 19"},
	})
}

func TestExperimentalOperators(t *testing.T) {
	x := f32([]float64{-1, 0.5})
	image := counting(1, 1, 2, 1, 2)
	alpha, beta := attrFloat("alpha", 2), attrFloat("beta", 4)
	runNodeTests(t, []nodeTest{
		{"", "Affine", 1, attrs(alpha, beta), in{x}, in{f32([]float64{2, 5})}, ""},
		{"defaults", "Affine", 1, nil, in{x}, in{x}, ""},
		{"", "Scale", 1, attrs(attrFloat("scale", 3)), in{x}, in{f32([]float64{-3, 1.5})}, ""},
		{"", "ScaledTanh", 1, attrs(alpha, beta), in{x}, in{f32([]float64{2 * math.Tanh(-4), 2 * math.Tanh(2)})}, ""},
		{"no default", "ScaledTanh", 1, attrs(alpha), in{x}, nil, `"beta" is missing`},
		{"", "ParametricSoftplus", 1, attrs(alpha, beta), in{x}, in{f32([]float64{2 * math.Log1p(math.Exp(-4)), 2 * math.Log1p(math.Exp(2))})}, ""},
		{"", "ImageScaler", 1, attrs(attrFloat("scale", 2), wire.Attribute{Name: "bias", Kind: wire.AttrFloats, Floats: []float32{10, 20}}), in{image}, in{f32([]float64{12, 14, 26, 28}, 1, 2, 1, 2)}, ""},
		{"", "ImageScaler", 1, attrs(wire.Attribute{Name: "bias", Kind: wire.AttrFloats, Floats: []float32{1}}), in{image}, nil, `"bias" has 1 elements`},
	})
}

func TestIntegerArithmetic(t *testing.T) {
	i32 := func(v ...float64) *berth.Tensor { return tensorOf(dtype.Int32, v, len(v)) }
	u8 := func(v ...float64) *berth.Tensor { return tensorOf(dtype.Uint8, v, len(v)) }
	x, y := i32(-7, 7, -7, 7), i32(3, 3, -3, -3)
	runNodeTests(t, []nodeTest{
		{"to zero", "Div", 14, nil, in{x, y}, in{i32(-2, 2, 2, -2)}, ""},
		{"by zero", "Div", 14, nil, in{x, i32(0)}, nil, "div"},
		{"sign of the divisor", "Mod", 10, nil, in{x, y}, in{i32(2, 1, -1, -2)}, ""},
		{"sign of the dividend", "Mod", 13, attrs(attrInt("fmod", 1)), in{x, y}, in{i32(-1, 1, -1, 1)}, ""},
		{"floating point", "Mod", 13, attrs(attrInt("fmod", 1)), in{f32([]float64{-7.5}), f32([]float64{2})}, in{f32([]float64{-1.5})}, ""},
		{"floating point needs fmod", "Mod", 13, nil, in{f32([]float64{1}), f32([]float64{2})}, nil, `"fmod" must be 1`},
		{"left", "BitShift", 11, attrs(attrText("direction", "LEFT")), in{u8(1, 255), u8(3, 1)}, in{u8(8, 254)}, ""},
		{"right", "BitShift", 11, attrs(attrText("direction", "RIGHT")), in{u8(1, 255), u8(3, 1)}, in{u8(0, 127)}, ""},
		{"no direction", "BitShift", 11, nil, in{u8(1), u8(1)}, nil, `"direction" is ""`},
		{"integer exponent", "Pow", 12, nil, in{i32(3, -2), f32([]float64{2, 3})}, in{i32(9, -8)}, ""},
		{"integers", "Erf", 9, nil, in{i32(-3, 0, 6)}, in{i32(0, 0, 1)}, ""},
		{"integers", "Shrink", 9, attrs(attrFloat("bias", 1), attrFloat("lambd", 1.5)), in{i32(-3, -1, 1, 3)}, in{i32(-2, 0, 0, 2)}, ""},
		{"rounding", "Round", 11, nil, in{f32([]float64{-2.5, -.5, .5, 1.5, 2.5})}, in{f32([]float64{-2, 0, 0, 2, 2})}, ""},
		{"negative alone", "IsInf", 10, attrs(attrInt("detect_positive", 0)), in{f32([]float64{math.Inf(1), math.Inf(-1), math.NaN()})}, in{truth([]float64{0, 1, 0})}, ""},
		{"neither", "IsInf", 20, attrs(attrInt("detect_positive", 0), attrInt("detect_negative", 0)), in{f32([]float64{math.Inf(1), math.Inf(-1)})}, in{truth([]float64{0, 0})}, ""},
		{"three shapes", "Where", 9, nil, in{truth([]float64{1, 0}, 2, 1), counting(0, 2), scalarOf(dtype.Float32, 9)}, in{f32([]float64{0, 1, 9, 9}, 2, 2)}, ""},
		{"condition", "Where", 9, nil, in{counting(0, 2), counting(0, 2), counting(0, 2)}, nil, "the condition is float32, not bool"},
	})
}

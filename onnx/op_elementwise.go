package onnx

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// elementwiseOps lists the operators that compute each element of their output
// from the elements at one place of their inputs. A version that only admits
// more element types has no row of its own.
var elementwiseOps = []row{
	{"", "Abs", 1, 1, 1, unary(elementwise.Abs)},
	{"", "Acos", 7, 1, 1, unary(elementwise.Acos)},
	{"", "Acosh", 9, 1, 1, unary(elementwise.Acosh)},
	{"", "Asin", 7, 1, 1, unary(elementwise.Asin)},
	{"", "Asinh", 9, 1, 1, unary(elementwise.Asinh)},
	{"", "Atan", 7, 1, 1, unary(elementwise.Atan)},
	{"", "Atanh", 9, 1, 1, unary(elementwise.Atanh)},
	{"", "Ceil", 1, 1, 1, unary(elementwise.Ceil)},
	{"", "Cos", 7, 1, 1, unary(elementwise.Cos)},
	{"", "Cosh", 9, 1, 1, unary(elementwise.Cosh)},
	{"", "Erf", 9, 1, 1, throughFloat(unary(elementwise.Erf))},
	{"", "Exp", 1, 1, 1, unary(elementwise.Exp)},
	{"", "Floor", 1, 1, 1, unary(elementwise.Floor)},
	{"", "Log", 1, 1, 1, unary(elementwise.Log)},
	{"", "Neg", 1, 1, 1, unary(elementwise.Neg)},
	{"", "Reciprocal", 1, 1, 1, unary(elementwise.Reciprocal)},
	{"", "Round", 11, 1, 1, unary(elementwise.Round)},
	{"", "Sign", 9, 1, 1, unary(elementwise.Sign)},
	{"", "Sin", 7, 1, 1, unary(elementwise.Sin)},
	{"", "Sinh", 9, 1, 1, unary(elementwise.Sinh)},
	{"", "Sqrt", 1, 1, 1, unary(elementwise.Sqrt)},
	{"", "Tan", 7, 1, 1, unary(elementwise.Tan)},
	{"", "Tanh", 1, 1, 1, unary(elementwise.Tanh)},

	{"", "Celu", 12, 1, 1, unary(elementwise.Celu, param{"alpha", 1})},
	{"", "Elu", 1, 1, 1, unary(elementwise.Elu, param{"alpha", 1})},
	{"", "Gelu", 20, 1, 1, gelu},
	{"", "HardSigmoid", 1, 1, 1, unary(elementwise.HardSigmoid, param{"alpha", 0.2}, param{"beta", 0.5})},
	{"", "HardSwish", 14, 1, 1, unary(elementwise.HardSwish)},
	{"", "LeakyRelu", 1, 1, 1, unary(elementwise.LeakyRelu, param{"alpha", 0.01})},
	{"", "Mish", 18, 1, 1, unary(elementwise.Mish)},
	{"", "PRelu", 1, 2, 2, legacyPRelu},
	{"", "PRelu", 7, 2, 2, prelu},
	{"", "Relu", 1, 1, 1, unary(elementwise.Relu)},
	{"", "Selu", 1, 1, 1, unary(elementwise.Selu, param{"alpha", 1.6732}, param{"gamma", 1.0507})},
	{"", "Selu", 6, 1, 1, unary(elementwise.Selu, param{"alpha", 1.67326319217681884765625}, param{"gamma", 1.05070102214813232421875})},
	{"", "Shrink", 9, 1, 1, throughFloat(unary(elementwise.Shrink, param{"lambd", 0.5}, param{"bias", 0}))},
	{"", "Sigmoid", 1, 1, 1, unary(elementwise.Sigmoid)},
	{"", "Softplus", 1, 1, 1, unary(elementwise.Softplus)},
	{"", "Softsign", 1, 1, 1, unary(elementwise.Softsign)},
	{"", "Swish", 24, 1, 1, unary(elementwise.Swish, param{"alpha", 1})},
	{"", "ThresholdedRelu", 1, 1, 1, unary(elementwise.ThresholdedRelu, param{"alpha", 1})},

	{"", "Add", 1, 2, 2, binary(elementwise.Add)},
	{"", "Div", 1, 2, 2, binary(elementwise.Div)},
	{"", "Mod", 10, 2, 2, mod},
	{"", "Mul", 1, 2, 2, binary(elementwise.Mul)},
	{"", "Pow", 1, 2, 2, binary(elementwise.Pow)},
	{"", "Sub", 1, 2, 2, binary(elementwise.Sub)},

	{"", "Max", 1, 1, many, variadic(elementwise.Maximum)},
	{"", "Mean", 1, 1, many, mean},
	{"", "Min", 1, 1, many, variadic(elementwise.Minimum)},
	{"", "Sum", 1, 1, many, variadic(elementwise.Add)},

	{"", "Equal", 1, 2, 2, binary(elementwise.Equal)},
	{"", "Greater", 1, 2, 2, binary(elementwise.Greater)},
	{"", "GreaterOrEqual", 12, 2, 2, binary(elementwise.GreaterEqual)},
	{"", "IsInf", 10, 1, 1, isInf},
	{"", "IsNaN", 9, 1, 1, unary(elementwise.IsNaN)},
	{"", "Less", 1, 2, 2, binary(elementwise.Less)},
	{"", "LessOrEqual", 12, 2, 2, binary(elementwise.LessEqual)},

	{"", "And", 1, 2, 2, binary(elementwise.And)},
	{"", "Not", 1, 1, 1, unary(elementwise.Not)},
	{"", "Or", 1, 2, 2, binary(elementwise.Or)},
	{"", "Xor", 1, 2, 2, binary(elementwise.Xor)},

	{"", "BitCast", 26, 1, 1, bitCast},
	{"", "BitShift", 11, 2, 2, bitShift},
	{"", "BitwiseAnd", 18, 2, 2, binary(elementwise.BitAnd)},
	{"", "BitwiseNot", 18, 1, 1, unary(elementwise.BitNot)},
	{"", "BitwiseOr", 18, 2, 2, binary(elementwise.BitOr)},
	{"", "BitwiseXor", 18, 2, 2, binary(elementwise.BitXor)},

	{"", "Cast", 1, 1, 1, legacyCast},
	{"", "Clip", 1, 1, 1, legacyClip},
	{"", "Clip", 11, 1, 3, clip},
	{"", "Dropout", 1, 1, 1, legacyDropout},
	{"", "Dropout", 10, 1, 1, dropout},
	{"", "Dropout", 12, 1, 3, dropout},
	{"", "Where", 9, 3, 3, where},

	{"", "Affine", 1, 1, 1, affine},
	{"", "ImageScaler", 1, 1, 1, imageScaler},
	{"", "ParametricSoftplus", 1, 1, 1, scaled(elementwise.Softplus)},
	{"", "Scale", 1, 1, 1, scale},
	{"", "ScaledTanh", 1, 1, 1, scaled(elementwise.Tanh)},
}

// A param is a floating-point attribute of an operator, with its default.
type param struct {
	name string
	def  float64
}

// unary converts an operator that is code over its only input, with the
// attributes of code in the order of params.
func unary(code elementwise.Code, params ...param) converter {
	return func(c *call) []graph.Value {
		attrs := make([]float64, len(params))
		for i, p := range params {
			attrs[i] = c.float(p.name, p.def)
		}
		return list(c.elementwise(code, attrs, c.in[0]))
	}
}

// throughFloat lets an operator on floating-point numbers take integers too:
// they are computed as float64, and the result loses its fraction.
func throughFloat(convert converter) converter {
	return func(c *call) []graph.Value {
		t := c.in[0].Type().DType
		if !t.IsInteger() {
			return convert(c)
		}
		c.in[0] = c.castTo(c.in[0], dtype.Float64)
		return list(c.castTo(convert(c)[0], t))
	}
}

func gelu(c *call) []graph.Value {
	code := choice(c, "approximate", "none", map[string]elementwise.Code{"none": elementwise.Gelu, "tanh": elementwise.GeluTanh})
	return list(c.elementwise(code, nil, c.in[0]))
}

func isInf(c *call) []graph.Value {
	var signs [2]float64
	for i, name := range [...]string{"detect_negative", "detect_positive"} {
		if c.flag(name, true) {
			signs[i] = 1
		}
	}
	return list(c.elementwise(elementwise.IsInf, signs[:], c.in[0]))
}

package onnx

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
)

// elementwiseOps lists the operators that compute each element of their output
// from the elements at one place of their inputs. A version that only admits
// more element types has no row of its own.
var elementwiseOps = []row{
	{"", "Abs", 1, 1, 1, unary(op.Abs)},
	{"", "Acos", 7, 1, 1, unary(op.Acos)},
	{"", "Acosh", 9, 1, 1, unary(op.Acosh)},
	{"", "Asin", 7, 1, 1, unary(op.Asin)},
	{"", "Asinh", 9, 1, 1, unary(op.Asinh)},
	{"", "Atan", 7, 1, 1, unary(op.Atan)},
	{"", "Atanh", 9, 1, 1, unary(op.Atanh)},
	{"", "Ceil", 1, 1, 1, unary(op.Ceil)},
	{"", "Cos", 7, 1, 1, unary(op.Cos)},
	{"", "Cosh", 9, 1, 1, unary(op.Cosh)},
	{"", "Erf", 9, 1, 1, throughFloat(unary(op.Erf))},
	{"", "Exp", 1, 1, 1, unary(op.Exp)},
	{"", "Floor", 1, 1, 1, unary(op.Floor)},
	{"", "Log", 1, 1, 1, unary(op.Log)},
	{"", "Neg", 1, 1, 1, unary(op.Neg)},
	{"", "Reciprocal", 1, 1, 1, unary(op.Reciprocal)},
	{"", "Round", 11, 1, 1, unary(op.Round)},
	{"", "Sign", 9, 1, 1, unary(op.Sign)},
	{"", "Sin", 7, 1, 1, unary(op.Sin)},
	{"", "Sinh", 9, 1, 1, unary(op.Sinh)},
	{"", "Sqrt", 1, 1, 1, unary(op.Sqrt)},
	{"", "Tan", 7, 1, 1, unary(op.Tan)},
	{"", "Tanh", 1, 1, 1, unary(op.Tanh)},

	{"", "Celu", 12, 1, 1, unary(op.Celu, param{"alpha", 1})},
	{"", "Elu", 1, 1, 1, unary(op.Elu, param{"alpha", 1})},
	{"", "Gelu", 20, 1, 1, gelu},
	{"", "HardSigmoid", 1, 1, 1, unary(op.HardSigmoid, param{"alpha", 0.2}, param{"beta", 0.5})},
	{"", "HardSwish", 14, 1, 1, unary(op.HardSwish)},
	{"", "LeakyRelu", 1, 1, 1, unary(op.LeakyRelu, param{"alpha", 0.01})},
	{"", "Mish", 18, 1, 1, unary(op.Mish)},
	{"", "PRelu", 1, 2, 2, legacyPRelu},
	{"", "PRelu", 7, 2, 2, prelu},
	{"", "Relu", 1, 1, 1, unary(op.Relu)},
	{"", "Selu", 1, 1, 1, unary(op.Selu, param{"alpha", 1.6732}, param{"gamma", 1.0507})},
	{"", "Selu", 6, 1, 1, unary(op.Selu, param{"alpha", 1.67326319217681884765625}, param{"gamma", 1.05070102214813232421875})},
	{"", "Shrink", 9, 1, 1, throughFloat(unary(op.Shrink, param{"lambd", 0.5}, param{"bias", 0}))},
	{"", "Sigmoid", 1, 1, 1, unary(op.Sigmoid)},
	{"", "Softplus", 1, 1, 1, unary(op.Softplus)},
	{"", "Softsign", 1, 1, 1, unary(op.Softsign)},
	{"", "Swish", 24, 1, 1, unary(op.Swish, param{"alpha", 1})},
	{"", "ThresholdedRelu", 1, 1, 1, unary(op.ThresholdedRelu, param{"alpha", 1})},

	{"", "Add", 1, 2, 2, legacyBinary(op.Add)},
	{"", "Add", 7, 2, 2, binary(op.Add)},
	{"", "Div", 1, 2, 2, legacyBinary(op.Div)},
	{"", "Div", 7, 2, 2, binary(op.Div)},
	{"", "Mod", 10, 2, 2, mod},
	{"", "Mul", 1, 2, 2, legacyBinary(op.Mul)},
	{"", "Mul", 7, 2, 2, binary(op.Mul)},
	{"", "Pow", 1, 2, 2, legacyBinary(op.Pow)},
	{"", "Pow", 7, 2, 2, binary(op.Pow)},
	{"", "Sub", 1, 2, 2, legacyBinary(op.Sub)},
	{"", "Sub", 7, 2, 2, binary(op.Sub)},

	{"", "Max", 1, 1, many, legacyVariadic(op.Maximum)},
	{"", "Max", 8, 1, many, variadic(op.Maximum)},
	{"", "Mean", 1, 1, many, mean(legacyVariadic(op.Add))},
	{"", "Mean", 8, 1, many, mean(variadic(op.Add))},
	{"", "Min", 1, 1, many, legacyVariadic(op.Minimum)},
	{"", "Min", 8, 1, many, variadic(op.Minimum)},
	{"", "Sum", 1, 1, many, legacyVariadic(op.Add)},
	{"", "Sum", 8, 1, many, variadic(op.Add)},

	{"", "Equal", 1, 2, 2, legacyBinary(op.Equal)},
	{"", "Equal", 7, 2, 2, binary(op.Equal)},
	{"", "Greater", 1, 2, 2, legacyBinary(op.Greater)},
	{"", "Greater", 7, 2, 2, binary(op.Greater)},
	{"", "GreaterOrEqual", 12, 2, 2, binary(op.GreaterEqual)},
	{"", "IsInf", 10, 1, 1, isInf},
	{"", "IsNaN", 9, 1, 1, unary(op.IsNaN)},
	{"", "Less", 1, 2, 2, legacyBinary(op.Less)},
	{"", "Less", 7, 2, 2, binary(op.Less)},
	{"", "LessOrEqual", 12, 2, 2, binary(op.LessEqual)},

	{"", "And", 1, 2, 2, legacyBinary(op.And)},
	{"", "And", 7, 2, 2, binary(op.And)},
	{"", "Not", 1, 1, 1, unary(op.Not)},
	{"", "Or", 1, 2, 2, legacyBinary(op.Or)},
	{"", "Or", 7, 2, 2, binary(op.Or)},
	{"", "Xor", 1, 2, 2, legacyBinary(op.Xor)},
	{"", "Xor", 7, 2, 2, binary(op.Xor)},

	{"", "BitCast", 26, 1, 1, bitCast},
	{"", "BitShift", 11, 2, 2, bitShift},
	{"", "BitwiseAnd", 18, 2, 2, binary(op.BitAnd)},
	{"", "BitwiseNot", 18, 1, 1, unary(op.BitNot)},
	{"", "BitwiseOr", 18, 2, 2, binary(op.BitOr)},
	{"", "BitwiseXor", 18, 2, 2, binary(op.BitXor)},

	{"", "Cast", 1, 1, 1, legacyCast},
	{"", "Cast", 6, 1, 1, cast},
	{"", "CastLike", 15, 2, 2, castLike},
	{"", "Clip", 1, 1, 1, legacyClip(false)},
	{"", "Clip", 6, 1, 1, legacyClip(true)},
	{"", "Clip", 11, 1, 3, clip},
	{"", "Dropout", 1, 1, 1, legacyDropout},
	{"", "Dropout", 10, 1, 1, dropout},
	{"", "Dropout", 12, 1, 3, dropout},
	{"", "Identity", 1, 1, 1, identity},
	{"", "Where", 9, 3, 3, where},

	{"", "Affine", 1, 1, 1, affine},
	{"", "ImageScaler", 1, 1, 1, imageScaler},
	{"", "ParametricSoftplus", 1, 1, 1, scaled(op.Softplus)},
	{"", "Scale", 1, 1, 1, scale},
	{"", "ScaledTanh", 1, 1, 1, scaled(op.Tanh)},
}

// A param is a floating-point attribute of an operator, with its default.
type param struct {
	name string
	def  float64
}

// unary converts an operator that is code over its only input, with the
// attributes of code in the order of params.
func unary(code op.Code, params ...param) converter {
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

// elementwise is [op.Elementwise] with the error that the call unwinds with.
func (c *call) elementwise(code op.Code, attrs []float64, in ...graph.Value) graph.Value {
	v, err := op.Elementwise(code, attrs, in...)
	c.must(err)
	return v
}

// require fails when the node lacks an attribute that has no default.
func (c *call) require(name string) {
	if !c.hasAttr(name) {
		c.failf("attribute %q is missing", name)
	}
}

// reshape returns v in another shape with as many elements.
func (c *call) reshape(v graph.Value, dims ...int) graph.Value {
	if v.Type().Shape.Equal(dims) {
		return v
	}
	return c.one(op.Reshape{Shape: dims}, v)
}

func gelu(c *call) []graph.Value {
	switch approximate := c.text("approximate", "none"); approximate {
	case "none":
		return list(c.elementwise(op.Gelu, nil, c.in[0]))
	case "tanh":
		return list(c.elementwise(op.GeluTanh, nil, c.in[0]))
	default:
		c.failf("attribute \"approximate\" is %q, not \"none\" or \"tanh\"", approximate)
		return nil
	}
}

func isInf(c *call) []graph.Value {
	var signs [2]float64
	for i, name := range [...]string{"detect_negative", "detect_positive"} {
		if c.flag(name, true) {
			signs[i] = 1
		}
	}
	return list(c.elementwise(op.IsInf, signs[:], c.in[0]))
}

func identity(c *call) []graph.Value { return list(c.in[0]) }

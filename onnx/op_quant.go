package onnx

import (
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/quant"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/internal/op/view"
)

// quantOps are the products and convolutions of 8-bit integers.
var quantOps = []row{
	{"", "ConvInteger", 10, 2, 4, opOf(func(c *call) graph.Op { return c.quantConv(dtype.Invalid) })},
	{"", "DynamicQuantizeLinear", 11, 1, 1, dynamicQuantizeLinear},
	{"", "MatMulInteger", 10, 2, 4, matMulInteger},
	{"", "QLinearConv", 10, 8, 9, func(c *call) []graph.Value { return list(c.qLinearConv(c.in[0])) }},
	{"", "QLinearMatMul", 10, 8, 8, qLinearMatMul},
}

// A quantised value has elements of 8 bits, each of which stands for
// (element - zero) * scale.
type quantised struct {
	elems graph.Value // int8 or uint8
	scale graph.Value // float32
	zero  graph.Value // of the type of elems, or absent for 0
}

// quantised returns the value whose elements, scale and zero point are the input i and
// the two after it.
func (c *call) quantised(i int) quantised {
	return quantised{c.in[i], c.quantScale(i + 1), c.input(i + 2)}
}

// quantScale returns input i, a scale, as float32.
func (c *call) quantScale(i int) graph.Value {
	c.needs(i)
	if t := c.in[i].Type().DType; t != dtype.Float32 && !t.IsHalf() {
		c.failf("input %d, a scale, is of type %v, want float32, float16 or bfloat16", i, t)
	}
	return c.castTo(c.in[i], dtype.Float32)
}

// number returns v, made of input i, which must have one element, as a scalar. V may
// be absent.
func (c *call) number(i int, v graph.Value) graph.Value {
	if v.IsZero() {
		return v
	}
	if s := v.Type().Shape; len(s) > 1 || s.Elems() != 1 {
		c.failf("input %d has the shape %v, want one number", i, s)
	}
	return c.reshape(v)
}

// matMulInteger returns the sums of products.
func matMulInteger(c *call) []graph.Value {
	a, b := quantised{elems: c.in[0], zero: c.input(2)}, quantised{elems: c.in[1], zero: c.input(3)}
	return list(c.quantMatMul(a, b, graph.Value{}, quantised{}))
}

func qLinearMatMul(c *call) []graph.Value {
	y := quantised{scale: c.quantScale(6), zero: c.in[7]}
	return list(c.quantMatMul(c.quantised(0), c.quantised(3), graph.Value{}, y))
}

// quantMatMul returns the product of a and b under NumPy's rules. It is quantised as y
// is, or else, where that has no scale, the sums in int32; bias is added to these.
// Scales and zero points of one axis have an element for each row of a or column of b.
func (c *call) quantMatMul(a, b quantised, bias graph.Value, y quantised) graph.Value {
	last := func(v graph.Value) (extent, rank int) {
		s := v.Type().Shape
		if len(s) == 0 {
			c.failf("inputs of shapes %v and %v: a scalar has no matrix product", a.elems.Type().Shape, b.elems.Type().Shape)
		}
		return s[len(s)-1], len(s)
	}
	depth, rankA := last(a.elems)
	if rankA == 1 {
		a.elems = c.reshape(a.elems, 1, depth)
	}
	depth, rankB := last(b.elems)
	if rankB == 1 {
		b.elems = c.reshape(b.elems, depth, 1)
	}
	a.scale, a.zero = c.perRow(a.scale), c.perRow(a.zero)
	o, scale := quant.MatMul{}, graph.Value{}
	if !y.scale.IsZero() {
		o.To, scale = y.zero.Type().DType, c.requantScale(a.scale, b.scale, y.scale)
	}
	out := c.one(o, a.elems, b.elems, a.zero, b.zero, scale, y.zero, bias)
	if rankA > 1 && rankB > 1 {
		return out
	}
	s := out.Type().Shape
	rows, cols := len(s)-2, len(s)-1
	dims := s[:rows:rows]
	if rankA > 1 {
		dims = append(dims, s[rows])
	}
	if rankB > 1 {
		dims = append(dims, s[cols])
	}
	return c.one(view.Reshape{Shape: dims}, out)
}

// perRow returns v, which may be absent, with a list as a column.
func (c *call) perRow(v graph.Value) graph.Value {
	if v.IsZero() || len(v.Type().Shape) != 1 {
		return v
	}
	return c.reshape(v, v.Type().Shape[0], 1)
}

// requantScale returns what sums of products are multiplied by before they are
// rounded.
func (c *call) requantScale(a, b, y graph.Value) graph.Value {
	return c.elementwise(elementwise.Div, nil, c.elementwise(elementwise.Mul, nil, a, b), y)
}

// quantConv returns a convolution with the attributes of the node and a result of the
// given type.
func (c *call) quantConv(to dtype.Type) quant.Conv {
	w := c.window()
	return quant.Conv{
		KernelShape: w.taps, Strides: w.strides, Pads: w.pads, Dilations: w.dilations, AutoPad: w.auto,
		Group: c.group(), To: to,
	}
}

// qLinearConv convolves x, the elements of input 0.
func (c *call) qLinearConv(x graph.Value) graph.Value {
	scale := c.requantScale(c.number(1, c.quantScale(1)), c.quantScale(4), c.number(6, c.quantScale(6)))
	return c.one(c.quantConv(c.in[7].Type().DType), x, c.in[3], c.in[2], c.in[5], scale, c.in[7], c.input(8))
}

func dynamicQuantizeLinear(c *call) []graph.Value {
	if t := c.in[0].Type().DType; t != dtype.Float32 {
		c.failf("input 0 is of type %v, want float32", t)
	}
	y := c.dynamicallyQuantised(c.in[0])
	return list(y.elems, y.scale, y.zero)
}

// dynamicallyQuantised returns x, of float32, as uint8, whose scale and zero point
// have the extremes of x, and 0, at the ends of its range. Where x is 0 everywhere the
// scale is 1.
func (c *call) dynamicallyQuantised(x graph.Value) quantised {
	extreme := func(kind reduce.Kind, code elementwise.Code) graph.Value {
		return c.withScalar(code, c.one(reduce.Reduce{Kind: kind}, x), 0)
	}
	low, high := extreme(reduce.Min, elementwise.Minimum), extreme(reduce.Max, elementwise.Maximum)
	step := c.withScalar(elementwise.Div, c.elementwise(elementwise.Sub, nil, high, low), math.MaxUint8)
	scale := must(elementwise.ApplyOperands(elementwise.Where, nil,
		elementwise.Operand{Value: c.elementwise(elementwise.Equal, nil, low, high)},
		elementwise.Operand{Scalar: kernel.Float64Scalar(1)}, elementwise.Operand{Value: step}))
	y := quantised{scale: scale}
	y.zero = c.quantise(c.elementwise(elementwise.Neg, nil, low), y, dtype.Uint8)
	y.elems = c.quantise(x, y, dtype.Uint8)
	return y
}

// quantise returns the elements, of type t, of the numbers x, of float32, with the
// scale and zero point of y.
func (c *call) quantise(x graph.Value, y quantised, t dtype.Type) graph.Value {
	return c.one(quant.Quantize{To: t}, x, y.scale, y.zero)
}

// dequantise returns the numbers, in float32, that x stands for.
func (c *call) dequantise(x quantised) graph.Value {
	return c.one(quant.Dequantize{}, x.elems, x.scale, x.zero)
}

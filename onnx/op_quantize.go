package onnx

import (
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/shape"
)

// quantizeOps convert between numbers and codes of few bits by scales and zero
// points: one for all elements, one for each index of an axis, or one for each
// block of an axis.
var quantizeOps = []row{
	{"", "DequantizeLinear", 10, 2, 3, dequantizeLinear},
	{"", "QuantizeLinear", 10, 2, 3, quantizeLinear},
	{microsoft, "DequantizeLinear", 1, 2, 3, inAllVersions(dequantizeLinear)},
	{microsoft, "MatMulNBits", 1, 3, 6, matMulNBits},
	{microsoft, "QuantizeLinear", 1, 2, 3, inAllVersions(quantizeLinear)},
}

// inAllVersions converts an operator that ONNX Runtime had before it was a standard
// one, or before that had as many types: it may have the attributes of any version.
func inAllVersions(convert converter) converter {
	return func(c *call) []graph.Value {
		n := *c.node
		n.opset = newestOpsets[""]
		c.node = &n
		return convert(c)
	}
}

// codeRanges has the least and the greatest codes of integer types.
var codeRanges = map[dtype.Type][2]float64{
	dtype.Uint8: {0, 255}, dtype.Int8: {-128, 127}, dtype.Uint16: {0, 65535}, dtype.Int16: {-32768, 32767},
	dtype.Uint4: {0, 15}, dtype.Int4: {-8, 7}, dtype.Uint2: {0, 3}, dtype.Int2: {-2, 1},
}

// isCode reports whether t is a type of codes.
func isCode(t dtype.Type) bool {
	_, integer := codeRanges[t]
	return integer || greatest[t] != 0 || t == dtype.Float4E2M1
}

// is8Bit reports whether t is an integer of 8 bits.
func is8Bit(t dtype.Type) bool { return t == dtype.Int8 || t == dtype.Uint8 }

// quantizeLinear is saturate(round(x/scale) + zero point), with the division in the
// type of the scale or in that which "precision" names. Integers round to even, and
// NaN becomes the least of them; floating-point numbers round once, at the end.
func quantizeLinear(c *call) []graph.Value {
	c.attrSince(19, "saturate")
	c.attrSince(23, "precision")
	to := c.optionalType("output_dtype")
	saturate := c.flag("saturate", true)
	switch {
	case c.has(2) && to != dtype.Invalid && to != c.in[2].Type().DType:
		c.failf("output_dtype is %v, and the zero point of type %v", to, c.in[2].Type().DType)
	case c.has(2):
		to = c.in[2].Type().DType
	case to == dtype.Invalid:
		to = dtype.Uint8
	}
	if !isCode(to) {
		c.failf("%v is not a type to quantize to", to)
	}
	precision := c.optionalType("precision")
	if precision == dtype.Invalid {
		precision = dividesIn(c.in[1].Type().DType)
	}
	if !precision.IsFloat() {
		c.failf("the precision %v is not a floating-point type", precision)
	}

	x, scale, zero := c.granules()
	if f := dtype.Float32; is8Bit(to) && x.Type().DType == f && scale.Type().DType == f && precision == f {
		return list(c.reshape(c.quantise(x, quantised{scale: scale, zero: zero}, to), c.shape(0)...))
	}
	y := c.elementwise(elementwise.Div, nil, c.castTo(x, precision), c.castTo(scale, precision))
	limits, integer := codeRanges[to]
	if integer {
		y = c.elementwise(elementwise.Round, nil, y)
	}
	y = c.castTo(y, dtype.Float32) // has every code, and sums of two
	if !zero.IsZero() {
		y = c.elementwise(elementwise.Add, nil, y, c.castTo(zero, dtype.Float32))
	}
	switch {
	case integer:
		// As an int32, NaN is the least number.
		y = c.castTo(c.withScalar(elementwise.Minimum, y, limits[1]), dtype.Int32)
		y = c.withScalar(elementwise.Maximum, y, limits[0])
	case saturate:
		y = c.saturated(y, to)
	}
	return list(c.reshape(c.castTo(y, to), c.shape(0)...))
}

// dividesIn returns the type in which numbers are divided by a scale of type t:
// its own if that is of floating point. A power of 2 as such, or an int32, is
// converted to one that has its value.
func dividesIn(t dtype.Type) dtype.Type {
	switch {
	case t == dtype.Int32:
		return dtype.Float64
	case t.IsFloat():
		return t
	}
	return t.Wide()
}

// dequantizeLinear is (x - zero point)*scale, computed in float32 and rounded once
// to the type of the scale or to that which "output_dtype" names.
func dequantizeLinear(c *call) []graph.Value {
	from := c.in[0].Type().DType
	if !isCode(from) && from != dtype.Int32 {
		c.failf("%v is not a type to dequantize", from)
	}
	if c.has(2) && c.in[2].Type().DType != from {
		c.failf("the input is of type %v, and the zero point of type %v", from, c.in[2].Type().DType)
	}
	to := c.optionalType("output_dtype")
	if to == dtype.Invalid {
		to = c.in[1].Type().DType
	}
	if !to.IsFloat() {
		c.failf("%v is not a type to dequantize to", to)
	}
	x, scale, zero := c.granules()
	if f := dtype.Float32; (is8Bit(from) || from == dtype.Int32) && scale.Type().DType == f {
		return list(c.reshape(c.castTo(c.dequantise(quantised{x, scale, zero}), to), c.shape(0)...))
	}
	y := c.castTo(x, dtype.Float32)
	if !zero.IsZero() {
		y = c.elementwise(elementwise.Sub, nil, y, c.castTo(zero, dtype.Float32))
	}
	y = c.elementwise(elementwise.Mul, nil, y, c.castTo(scale, dtype.Float32))
	return list(c.reshape(c.castTo(y, to), c.shape(0)...))
}

// optionalType returns an attribute of versions from 21 on that names an element
// type, or [dtype.Invalid] when it is absent or 0.
func (c *call) optionalType(name string) dtype.Type {
	c.attrSince(21, name)
	if c.int(name, 0) == 0 {
		return dtype.Invalid
	}
	return c.dtype(name, dtype.Invalid)
}

// granules returns input 0 in a shape to which the scale, input 1, and the zero
// point, input 2, which may be absent, are broadcast.
//
// A scale of one element is that of all. Otherwise it has an element for each
// index of "axis"; or, with a "block_size", the rank of the input and an element
// for each block of that axis, of which the last may be cut off:
//
//	x[6 4] scale[4]   axis 1                x[6 4] scale[1 4]
//	x[6 4] scale[3 4] axis 0, block_size 2  x[3 2 4] scale[3 1 4]
//	x[5 4] scale[3 4] axis 0, block_size 2  x[5 4] scale[5 4]
func (c *call) granules() (x, scale, zero graph.Value) {
	c.attrSince(13, "axis")
	c.attrSince(21, "block_size")
	at, block := c.int("axis", 1), c.int("block_size", 0)
	in, s := c.shape(0), c.shape(1)
	if c.has(2) {
		if z := c.shape(2); !z.Equal(s) && (z.Elems() != 1 || s.Elems() != 1) {
			c.failf("the scale has the shape %v, and the zero point %v", s, z)
		}
	}
	arrange := func(arranged func(v graph.Value) graph.Value) {
		if scale = arranged(c.in[1]); c.has(2) {
			zero = arranged(c.in[2])
		}
	}
	switch x = c.in[0]; {
	case block < 0:
		c.failf("block_size is %d", block)
	case s.Elems() == 1:
		// Also in a list, and whatever the axis: files have such scales.
		arrange(func(v graph.Value) graph.Value { return c.reshape(v) })
	case c.opset() < 13:
		c.failf("the scale has the shape %v; before version 13 of the operator it is a single number", s)
	case block == 0:
		axis := c.axis(at, len(in))
		if len(s) != 1 || s[0] != in[axis] {
			c.failf("the scale has the shape %v, not [%d]: an element for each index of axis %d of %v", s, in[axis], axis, in)
		}
		arrange(func(v graph.Value) graph.Value { return c.along(v, axis, len(in)) })
	default:
		axis := c.axis(at, len(in))
		blocks := in[axis] / block
		cut := in[axis]%block != 0
		if cut {
			blocks++
		}
		want := slices.Concat(in[:axis], shape.Shape{blocks}, in[axis+1:])
		if !s.Equal(want) {
			c.failf("the scale has the shape %v, not %v: an element for each block of %d of axis %d of %v", s, want, block, axis, in)
		}
		if cut {
			index := c.withScalar(elementwise.FloorDiv, c.ramp(in[axis], 1, 0, 1), float64(block))
			arrange(func(v graph.Value) graph.Value { return c.one(move.Gather{Axis: axis}, v, index) })
			break
		}
		x = c.reshape(x, slices.Concat(in[:axis], shape.Shape{blocks, block}, in[axis+1:])...)
		arrange(func(v graph.Value) graph.Value { return c.reshape(v, slices.Insert(s.Clone(), axis+1, 1)...) })
	}
	return x, scale, zero
}

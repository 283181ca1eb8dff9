package onnx

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/internal/wire"
)

// cast converts to the element type that "to" numbers.
func cast(c *call) []graph.Value {
	c.require("to")
	return list(c.convertTo(c.in[0], c.dtype("to", dtype.Invalid)))
}

// castLike converts to the element type of input 1.
func castLike(c *call) []graph.Value { return list(c.convertTo(c.in[0], c.in[1].Type().DType)) }

// legacyCast converts to the element type that "to" spells, as in "FLOAT16".
func legacyCast(c *call) []graph.Value {
	name := c.text("to", "")
	for d := wire.Float; d.Valid(); d++ {
		if d.String() == name {
			return list(c.castTo(c.in[0], must(elementType(d))))
		}
	}
	c.failf("attribute \"to\": %q is not an element type", name)
	return nil
}

// convertTo converts x as the attributes of Cast and CastLike say. What does not
// fit a type other than those of 8-bit floating-point numbers is left open by the
// operators; see [elementwise.CastTo].
func (c *call) convertTo(x graph.Value, to dtype.Type) graph.Value {
	saturate, mode := c.rounding()
	switch {
	case x.Type().DType == to:
		return x
	case to == dtype.Float8E8M0:
		x = c.elementwise(elementwise.PowerOf2, []float64{mode}, c.castTo(x, dtype.Float32))
		if saturate {
			x = c.within(x, 0x1p-127, 0x1p127)
		}
	case saturate:
		x = c.saturated(x, to)
	}
	return c.castTo(x, to)
}

// rounding returns the attributes of Cast and CastLike beside the type: whether 8-bit
// floating-point numbers saturate, and the mode of [elementwise.PowerOf2].
func (c *call) rounding() (saturate bool, mode float64) {
	c.attrSince(19, "saturate")
	c.attrSince(24, "round_mode")
	return c.flag("saturate", true), choice(c, "round_mode", "up", map[string]float64{"down": -1, "nearest": 0, "up": 1})
}

// greatest has the greatest finite numbers of the types of 8-bit floating-point
// numbers with a sign.
var greatest = map[dtype.Type]float64{
	dtype.Float8E4M3FN: 448, dtype.Float8E4M3FNUZ: 240, dtype.Float8E5M2: 57344, dtype.Float8E5M2FNUZ: 57344,
}

// saturated returns x with what such a type does not hold replaced by its greatest
// numbers. Clipping comes before the rounding to that type, as it makes no
// difference and infinities are still apart from NaN.
func (c *call) saturated(x graph.Value, to dtype.Type) graph.Value {
	most := greatest[to]
	if most == 0 {
		return x
	}
	if !x.Type().DType.IsFloat() {
		x = c.castTo(x, dtype.Float32) // rounds only what is far beyond
	}
	return c.within(x, -most, most)
}

// within returns the elements of x clipped to [lo, hi].
func (c *call) within(x graph.Value, lo, hi float64) graph.Value {
	return must(elementwise.ApplyOperands(elementwise.Clip, nil, elementwise.Operand{Value: x},
		elementwise.Operand{Scalar: kernel.Float64Scalar(lo)}, elementwise.Operand{Scalar: kernel.Float64Scalar(hi)}))
}

// bitCast reinterprets the bits of elements, which among integers is what a cast
// does. Any pattern but 0 counts as true.
func bitCast(c *call) []graph.Value {
	c.require("to")
	x, to := c.in[0], c.dtype("to", dtype.Invalid)
	from := x.Type().DType
	switch {
	case wireType(from).Bits() != wireType(to).Bits():
		c.failf("elements of %v have %d bits, of %v %d", from, wireType(from).Bits(), to, wireType(to).Bits())
		return nil
	case from == to:
		return list(x)
	case from == dtype.Bool:
		return list(c.one(view.Bitcast{To: to}, c.castTo(x, dtype.Uint8)))
	case to == dtype.Bool:
		return list(c.castTo(c.one(view.Bitcast{To: dtype.Uint8}, x), to))
	case from.IsInteger() && to.IsInteger():
		return list(c.castTo(x, to))
	default:
		return list(c.one(view.Bitcast{To: to}, x))
	}
}

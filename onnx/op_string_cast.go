package onnx

import (
	"fmt"
	"math"
	"strconv"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/wire"
)

// castOps are the operators that convert numbers to strings and back, beside those that
// convert numbers.
var castOps = []row{
	{"", "Cast", 6, 1, 1, castOrText(castTarget, cast)},
	{"", "CastLike", 15, 2, 2, castOrText(likeTarget, castLike)},
}

// cast returns a tensor with its elements converted to another type, from or to strings or
// float32 and int64.
func (h *hostCall) cast(x *Array, to wire.DataType) (*Array, error) {
	t := elementTypes[to]
	if to == wire.String {
		t = dtype.Int64
	}
	out := &Array{}
	out.become(t, x.dims, to == wire.String)
	return out, h.castInto(out, x)
}

// castInto sets the elements of out, of the shape of x, to those of x converted. One of
// them may be of strings.
func (h *hostCall) castInto(out, x *Array) error {
	size := out.typ.Size()
	for i := range x.dims.Elems() {
		switch {
		case x.ids && out.ids:
			kernel.Cast[int64](out.data)[i] = kernel.Cast[int64](x.data)[i]
		case out.ids:
			kernel.Cast[int64](out.data)[i] = h.texts.id(textOf(kernel.ScalarAt(x.typ, x.data, i)))
		case x.ids:
			s, err := scalarFrom(h.texts.text(kernel.Cast[int64](x.data)[i]), out.typ)
			if err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
			s.Put(out.data[i*size:])
		default:
			kernel.ScalarAt(x.typ, x.data, i).Cast(out.typ).Put(out.data[i*size:])
		}
	}
	return nil
}

// textOf returns a number as a string, as ONNX Runtime does: floating-point numbers with
// at most 8 digits, or 17 of float64, or as NaN, INF or -INF; truth values as 1 and 0.
func textOf(s kernel.Scalar) string {
	switch t := s.DType.Wide(); {
	case t.IsFloat():
		switch v := s.Float64(); {
		case math.IsNaN(v):
			return "NaN"
		case math.IsInf(v, 1):
			return "INF"
		case math.IsInf(v, -1):
			return "-INF"
		case t == dtype.Float64:
			return strconv.FormatFloat(v, 'g', 17, 64)
		default:
			return strconv.FormatFloat(v, 'g', 8, 32)
		}
	case t.Kind() == dtype.KindInt:
		return strconv.FormatInt(s.Int64(), 10)
	}
	return strconv.FormatUint(uint64(s.Int64()), 10)
}

// scalarFrom returns the number that a string is, of type t. Of what is no integer, the
// fraction is cut off where t is a type of integers. Types of 8-bit floating-point
// numbers saturate.
func scalarFrom(text string, t dtype.Type) (kernel.Scalar, error) {
	if t.Wide().IsInteger() {
		if v, err := strconv.ParseInt(text, 10, 64); err == nil {
			return kernel.Int64Scalar(v).Cast(t), nil
		}
		if v, err := strconv.ParseUint(text, 10, 64); err == nil {
			return kernel.Scalar{DType: dtype.Uint64, Bits: v}.Cast(t), nil
		}
	}
	bits := 64
	if t == dtype.Float32 {
		bits = 32
	}
	v, err := strconv.ParseFloat(text, bits)
	if most := greatest[t]; most != 0 {
		v = min(max(v, -most), most)
	}
	return kernel.Float64Scalar(v).Cast(t), err
}

// castOrText converts an operator that casts, also from and to strings.
func castOrText(to func(c *call) wire.DataType, convert converter) converter {
	return func(c *call) []graph.Value {
		text := c.tensorAt(0).text
		target := to(c)
		if !text && target != wire.String {
			c.outs = c.onTensors(convert)
			return nil
		}
		if text && target == wire.String {
			return c.returns(c.symbols[0])
		}
		if saturate, _ := c.rounding(); text && !saturate {
			c.failf("%w for strings that do not saturate", ErrUnsupported)
		}
		t := dtype.Int64
		switch target {
		case wire.String:
		case wire.Undefined:
			t = c.in[1].Type().DType
		default:
			t = must(elementType(target))
		}
		c.host(func(h *hostCall) error {
			x, err := h.array(0)
			if err != nil {
				return err
			}
			y, err := h.result(0, t, target == wire.String, x.dims...)
			if err != nil {
				return err
			}
			return h.castInto(y, x)
		})
		return nil
	}
}

// castTarget returns the type that Cast names.
func castTarget(c *call) wire.DataType {
	c.require("to")
	return wire.DataType(c.int("to", 0))
}

// likeTarget returns the type of the second input of CastLike.
func likeTarget(c *call) wire.DataType {
	like := c.tensorAt(1)
	if like.text {
		return wire.String
	}
	return wire.Undefined // that of a tensor of numbers
}

package onnx

import (
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// clip takes its bounds as inputs; an absent one bounds nothing, so that an
// infinity stays one. Where the bounds cross, the upper one wins.
func clip(c *call) []graph.Value {
	c.attrUntil(10, "min", "max")
	y := c.in[0]
	for i, code := range [...]elementwise.Code{1: elementwise.Maximum, 2: elementwise.Minimum} {
		if i == 0 || !c.has(i) {
			continue
		}
		if n := c.shape(i).Elems(); n != 1 {
			c.failf("input %d is a bound with the shape %v, not a single element", i, c.shape(i))
		}
		y = c.elementwise(code, nil, y, c.reshape(c.in[i]))
	}
	return list(y)
}

// legacyClip takes its bounds as attributes. At opset 6 these have defaults:
// the least and the greatest finite float32.
func legacyClip(c *call) []graph.Value {
	y := c.in[0]
	for _, bound := range [...]struct {
		name string
		code elementwise.Code
		def  float64
	}{
		{"min", elementwise.Maximum, -math.MaxFloat32},
		{"max", elementwise.Minimum, math.MaxFloat32},
	} {
		if c.opset() >= 6 || c.hasAttr(bound.name) {
			y = c.withScalar(bound.code, y, c.float(bound.name, bound.def))
		}
	}
	return list(y)
}

// legacyDropout has a mask of the type of its input. Berth infers, so the
// attribute "is_test" of the first versions is taken as set.
func legacyDropout(c *call) []graph.Value { return c.keepAll(c.in[0].Type().DType) }

// dropout has a mask of truth values. In training mode it drops elements at
// random, as a ratio says, and makes up for it by the size of the others.
func dropout(c *call) []graph.Value {
	if !c.has(2) || !c.knownFlag(2) {
		return c.keepAll(dtype.Bool)
	}
	ratio := 0.5
	if c.has(1) {
		s := c.knownScalar(1)
		if !s.DType.IsFloat() {
			c.failf("the ratio is of type %v, not a floating-point type", s.DType)
		}
		if ratio = s.Float64(); !(ratio >= 0 && ratio < 1) {
			c.failf("the ratio is %v, not in [0, 1)", ratio)
		}
	}
	if ratio == 0 {
		return c.keepAll(dtype.Bool)
	}
	t := c.in[0].Type().DType
	mask := c.withScalar(elementwise.GreaterEqual, c.unit(c.shape(0)), ratio)
	kept := c.elementwise(elementwise.Mul, nil, c.castTo(mask, wider(t)), c.castTo(c.in[0], wider(t)))
	return list(c.castTo(c.withScalar(elementwise.Mul, kept, 1/(1-ratio)), t), mask)
}

// keepAll returns input 0 and, when it is wanted, a mask of ones.
func (c *call) keepAll(mask dtype.Type) []graph.Value {
	outs := list(c.in[0])
	if c.wants(1) {
		// Computed from the input, whatever it holds, so that the mask has as
		// many rows as it in every run of a program.
		one := elementwise.Operand{Scalar: kernel.BoolScalar(true).Cast(mask)}
		same := c.elementwise(elementwise.Equal, nil, c.in[0], c.in[0])
		outs = append(outs, must(elementwise.ApplyOperands(elementwise.Where, nil, elementwise.Operand{Value: same}, one, one)))
	}
	return outs
}

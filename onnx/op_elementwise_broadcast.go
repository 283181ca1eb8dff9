package onnx

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// binary converts an operator that is code over two inputs which broadcast
// against each other, or before opset 7 as attributes say.
func binary(code elementwise.Code) converter {
	return func(c *call) []graph.Value {
		if c.opset() < 7 {
			return list(c.elementwise(code, nil, c.in[0], c.legacyOperand()))
		}
		c.attrUntil(6, "axis", "broadcast")
		return list(c.elementwise(code, nil, c.in...))
	}
}

// legacyOperand returns input 1 with the axes by which the operators before
// opset 7 broadcast it to input 0. Without the attribute "broadcast" the
// shapes must be the same. With it, the axes of input 1 are axes "axis" and
// those that follow of input 0, or its last ones when "axis" is not given; a
// single element goes with every shape.
func (c *call) legacyOperand() graph.Value {
	a, b := c.shape(0), c.shape(1)
	if !c.flag("broadcast", false) {
		if !a.Equal(b) {
			c.failf("the inputs have the shapes %v and %v, and the attribute \"broadcast\" is not set", a, b)
		}
		return c.in[1]
	}
	at := len(a) - len(b)
	if c.hasAttr("axis") {
		if at = c.int("axis", 0); at < 0 {
			at += len(a)
		}
	}
	if at < 0 || at > len(a)-len(b) {
		if b.Elems() == 1 {
			return c.reshape(c.in[1])
		}
		c.failf("the shape %v does not fit into %v from axis %d on", b, a, at)
	}
	dims := make([]int, len(a)-at)
	for i := range dims {
		if dims[i] = 1; i < len(b) {
			dims[i] = b[i]
		}
		if dims[i] != 1 && dims[i] != a[at+i] {
			c.failf("the shape %v does not broadcast to %v from axis %d on", b, a, at)
		}
	}
	return c.reshape(c.in[1], dims...)
}

// prelu takes a slope that broadcasts to the input, but not the other way.
func prelu(c *call) []graph.Value {
	y := c.elementwise(elementwise.PRelu, nil, c.in...)
	if x := c.shape(0); !y.Type().Shape.Equal(x) {
		c.failf("the slope, of shape %v, does not broadcast to the input, of shape %v", c.shape(1), x)
	}
	return list(y)
}

// legacyPRelu takes one slope, or one for each channel; channels are axis 1.
func legacyPRelu(c *call) []graph.Value {
	x, slope := c.shape(0), c.in[1]
	switch n := c.shape(1).Elems(); {
	case n == 1:
		slope = c.reshape(slope)
	case len(x) > 1 && n == x[1]:
		slope = c.along(slope, 0, len(x)-1)
	case len(x) == 1 && n == x[0]:
	default:
		c.failf("the slope has %d elements, neither 1 nor one for each channel of %v", n, x)
	}
	return list(c.elementwise(elementwise.PRelu, nil, c.in[0], slope))
}

// variadic converts an operator that folds any number of inputs with code.
// They broadcast against each other, but before opset 8 are of one shape.
func variadic(code elementwise.Code) converter {
	return func(c *call) []graph.Value {
		y := c.in[0]
		for i, x := range c.in {
			switch {
			case c.opset() < 8 && !c.has(i):
				c.failf("input %d is absent", i)
			case c.opset() < 8 && !c.shape(i).Equal(c.shape(0)):
				c.failf("input %d has the shape %v, input 0 the shape %v", i, c.shape(i), c.shape(0))
			case i > 0:
				y = c.elementwise(code, nil, y, x)
			}
		}
		return list(y)
	}
}

// mean divides the sum by the number of inputs.
func mean(c *call) []graph.Value {
	y := variadic(elementwise.Add)(c)[0]
	if len(c.in) > 1 {
		y = c.withScalar(elementwise.Div, y, float64(len(c.in)))
	}
	return list(y)
}

// mod has the sign of the divisor, or of the dividend when "fmod" is set.
// Floating-point types only have the latter.
func mod(c *call) []graph.Value {
	switch t := c.in[0].Type().DType; {
	case c.flag("fmod", false):
		return list(c.elementwise(elementwise.Fmod, nil, c.in...))
	case t.IsFloat():
		c.failf("the inputs are of type %v, for which the attribute \"fmod\" must be 1", t)
		return nil
	default:
		return list(c.elementwise(elementwise.Mod, nil, c.in...))
	}
}

func bitShift(c *call) []graph.Value {
	code := choice(c, "direction", "", map[string]elementwise.Code{"LEFT": elementwise.ShiftLeft, "RIGHT": elementwise.ShiftRight})
	return list(c.elementwise(code, nil, c.in...))
}

func where(c *call) []graph.Value { return list(c.elementwise(elementwise.Where, nil, c.in...)) }

package onnx

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/internal/op/reduce"
)

// The operators of this file were experimental: part of the first opsets,
// written by exporters of their time, and taken out at opset 10. All but the
// mean-variance normalisation scale and shift what goes into a function, or
// what comes out of it.

// affine is alpha*x + beta.
func affine(c *call) []graph.Value {
	return list(c.withScalar(elementwise.Add, c.scale(c.in[0], c.float("alpha", 1)), c.float("beta", 0)))
}

// scaled is alpha*code(beta*x), where neither has a default.
func scaled(code elementwise.Code) converter {
	return func(c *call) []graph.Value {
		c.require("alpha")
		c.require("beta")
		y := c.elementwise(code, nil, c.scale(c.in[0], c.float("beta", 0)))
		return list(c.scale(y, c.float("alpha", 0)))
	}
}

// scale is x times the attribute "scale".
func scale(c *call) []graph.Value { return list(c.scale(c.in[0], c.float("scale", 1))) }

// imageScaler is like scale, and adds to each channel its element of "bias".
func imageScaler(c *call) []graph.Value {
	y := scale(c)[0]
	if !c.hasAttr("bias") {
		return list(y)
	}
	bias := c.floats("bias")
	x := c.shape(0)
	if len(x) < 2 || len(bias) != x[1] {
		c.failf("attribute \"bias\" has %d elements, but the input has the shape %v", len(bias), x)
	}
	add := c.castTo(constant(bias, len(bias)), y.Type().DType)
	return list(c.elementwise(elementwise.Add, nil, y, c.along(add, 0, len(x)-1)))
}

// legacyMeanVarianceNorm takes the spatial axes, and the channels as well when
// "across_channels" is set; without "normalize_variance" it only takes the
// mean away.
func legacyMeanVarianceNorm(c *call) []graph.Value {
	var axes []int
	for a := range c.shape(0) {
		if a > 1 || a == 1 && c.flag("across_channels", false) {
			axes = append(axes, a)
		}
	}
	if c.rank(0) < 3 {
		c.failf("input 0 has the shape %v, which has no spatial axes", c.shape(0))
	}
	if c.flag("normalize_variance", true) {
		return list(c.one(norm.MeanVarianceNorm{Axes: axes, Epsilon: meanVarianceEpsilon}, c.in[0]))
	}
	mean := c.one(reduce.Reduce{Kind: reduce.Mean, Axes: axes, KeepDims: true}, c.in[0])
	return list(c.elementwise(elementwise.Sub, nil, c.in[0], mean))
}

func (c *call) scale(v graph.Value, by float64) graph.Value {
	return c.withScalar(elementwise.Mul, v, by)
}

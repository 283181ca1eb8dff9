package onnx

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/move"
)

// affine returns x·coefficientsᵀ + intercepts, [rows, n]. Coefficients lie row by row;
// no intercepts at all are zeros.
func (c *call) affine(x graph.Value, n int) graph.Value {
	coefficients, intercepts := c.floats("coefficients"), c.floats("intercepts")
	if n < 1 {
		c.failf("attribute \"targets\" is %d", n)
	}
	if len(intercepts) == 0 {
		intercepts = []float64{0}
	} else if len(intercepts) != n {
		c.failf("attribute \"intercepts\" has %d numbers for %d scores", len(intercepts), n)
	}
	return c.weighed(x, coefficients, n, intercepts)
}

// linearRegressor is an affine map of each row.
func linearRegressor(c *call) []graph.Value {
	y := c.affine(c.table(), c.int("targets", 1))
	return list(c.castTo(c.transformed(y, c.postTransform()), dtype.Float32))
}

// linearClassifier has a score for each class, or one score s alone: that of the second
// of two classes. It is labelled so above 0; the scores of both are 1-s and s, as in
// ONNX Runtime, or what a transform makes of -s and s.
func linearClassifier(c *call) []graph.Value {
	c.hasAttr("multi_class") // says how the coefficients were found
	n, labels := c.classes("classlabels_ints")
	x, post := c.table(), c.postTransform()
	if features := x.Type().Shape[1]; n == 2 && len(c.floats("coefficients")) == features {
		s := c.affine(x, 1)
		other := c.elementwise(elementwise.Neg, nil, s)
		if post == transformNone {
			other = c.withScalar(elementwise.Add, other, 1)
		}
		y := c.transformed(c.one(move.Concat{Axis: 1}, other, s), post)
		return list(c.label(c.above(s, 0), labels), c.castTo(y, dtype.Float32))
	}
	y := c.affine(x, n)
	return list(c.best(y, labels), c.castTo(c.transformed(y, post), dtype.Float32))
}

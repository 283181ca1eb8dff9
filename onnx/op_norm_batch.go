package onnx

import (
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/internal/op/reduce"
)

// batchNorm normalises by the given mean and variance or, in training mode,
// by those of the input, towards which the given ones are moved.
func batchNorm(c *call) []graph.Value {
	epsilon := c.float("epsilon", 1e-5)
	if !c.flag("training_mode", false) {
		return list(c.one(norm.BatchNorm{Epsilon: epsilon}, c.in...))
	}
	return c.trainedNorm(epsilon, c.in)
}

// legacyBatchNorm is training when it has more outputs than one, unless the
// attribute "is_test" of the first versions is set. Before opset 9, "spatial"
// may be 0: each place of each channel then has statistics of its own.
func legacyBatchNorm(c *call) []graph.Value {
	c.attrSince(14, "training_mode")
	if c.opset() >= 9 && !c.flag("spatial", true) {
		c.attrUntil(8, "spatial") // some exporters went on to state the default
	}
	epsilon := c.float("epsilon", 1e-5)
	in := c.in
	x := c.shape(0)
	perPlace := c.opset() < 9 && !c.flag("spatial", true)
	if perPlace {
		if len(x) < 2 {
			c.failf("input 0 has the shape %v, which has no channels", x)
		}
		in = make([]graph.Value, len(c.in))
		places := x[1:].Elems()
		in[0] = c.reshape(c.in[0], x[0], places)
		for i := 1; i < len(in); i++ {
			if n := c.shape(i).Elems(); n != places {
				c.failf("input %d has the shape %v, but the input has %d places of a sample", i, c.shape(i), places)
			}
			in[i] = c.reshape(c.in[i], places)
		}
	}
	training := c.wants(1) || c.wants(2) || c.wants(3) || c.wants(4)
	var outs []graph.Value
	switch {
	case !training:
		outs = list(c.one(norm.BatchNorm{Epsilon: epsilon}, in...))
	case c.opset() < 7 && c.flag("is_test", false):
		c.failf("has statistics as outputs, but is in test mode")
	default:
		outs = c.trainedNorm(epsilon, in)
		outs = append(outs, c.savedStats(in[0])...)
	}
	if perPlace {
		outs[0] = c.reshape(outs[0], x...)
		for i := 1; i < len(outs); i++ {
			outs[i] = c.reshape(outs[i], c.shape(1)...)
		}
	}
	return outs
}

// trainedNorm returns the normalised input and the new running mean and
// variance, in the types that the operator gives them.
func (c *call) trainedNorm(epsilon float64, in []graph.Value) []graph.Value {
	n := norm.BatchNormTraining{Epsilon: epsilon, Momentum: c.float("momentum", 0.9)}
	types := make([]dtype.Type, len(in))
	alike := true
	for i, v := range in {
		types[i] = v.Type().DType
		alike = alike && types[i] == types[0]
	}
	if alike {
		return c.all(n, in...)
	}
	wide := make([]graph.Value, len(in))
	for i, v := range in {
		wide[i] = c.castTo(v, wider(types...))
	}
	outs := c.all(n, wide...)
	outs[0] = c.castTo(outs[0], types[0])
	outs[1], outs[2] = c.castTo(outs[1], types[3]), c.castTo(outs[2], types[4])
	return outs
}

// savedStats returns the mean and the variance of each channel of x.
func (c *call) savedStats(x graph.Value) []graph.Value {
	axes := slices.DeleteFunc(upTo(len(x.Type().Shape)), func(axis int) bool { return axis == 1 })
	keep := reduce.Reduce{Kind: reduce.Mean, Axes: axes, KeepDims: true}
	mean := c.one(keep, x)
	deviation := c.elementwise(elementwise.Sub, nil, x, mean)
	channels := mean.Type().Shape.Elems()
	variance := c.one(keep, c.elementwise(elementwise.Square, nil, deviation))
	return list(c.reshape(mean, channels), c.reshape(variance, channels))
}

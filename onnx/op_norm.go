package onnx

import (
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/norm"
)

// normOps lists the normalisations.
var normOps = []row{
	{"", "BatchNormalization", 1, 5, 5, legacyBatchNorm},
	{"", "BatchNormalization", 14, 5, 5, batchNorm},
	{"", "GroupNormalization", 18, 3, 3, groupNorm},
	{"", "InstanceNormalization", 1, 3, 3, opOf(func(c *call) graph.Op { return norm.InstanceNorm{Epsilon: c.float("epsilon", 1e-5)} })},
	{"", "LRN", 1, 1, 1, lrn},
	{"", "LayerNormalization", 1, 2, 3, layerNorm},
	{"", "LpNormalization", 1, 1, 1, opOf(func(c *call) graph.Op { return norm.LpNorm{Axis: c.int("axis", -1), P: c.int("p", 2)} })},
	{"", "MeanVarianceNormalization", 1, 1, 1, legacyMeanVarianceNorm},
	{"", "MeanVarianceNormalization", 9, 1, 1, meanVarianceNorm},
	{"", "RMSNormalization", 23, 2, 2, rmsNorm},
}

// groupNorm has a scale and a bias for each group at opset 18, and for each
// channel since opset 21.
func groupNorm(c *call) []graph.Value {
	c.require("num_groups")
	n := norm.GroupNorm{Groups: c.int("num_groups", 0), Epsilon: c.float("epsilon", 1e-5)}
	if c.rank(0) < 2 {
		c.failf("input 0 has the shape %v, which has no channels", c.shape(0))
	}
	want, of := n.Groups, "group"
	if c.opset() >= 21 {
		want, of = c.shape(0)[1], "channel"
	}
	for i := 1; i <= 2; i++ {
		if s := c.shape(i); len(s) != 1 || s[0] != want {
			c.failf("input %d has the shape %v, not [%d]: an element for each %s", i, s, want, of)
		}
	}
	return list(c.one(n, c.in...))
}

func lrn(c *call) []graph.Value {
	c.require("size")
	return list(c.one(norm.LRN{
		Size:  c.int("size", 0),
		Alpha: c.float("alpha", 1e-4),
		Beta:  c.float("beta", 0.75),
		Bias:  c.float("bias", 1),
	}, c.in[0]))
}

// meanVarianceEpsilon is what the operator's function body adds to the
// deviation.
const meanVarianceEpsilon = 1e-9

// meanVarianceNorm takes all axes but the channels by default.
func meanVarianceNorm(c *call) []graph.Value {
	c.attrUntil(8, "across_channels", "normalize_variance")
	axes := []int{0, 2, 3}
	if c.hasAttr("axes") {
		axes = c.ints("axes")
	}
	return list(c.one(norm.MeanVarianceNorm{Axes: axes, Epsilon: meanVarianceEpsilon}, c.in[0]))
}

// layerNorm is part of the specification since opset 17. Optimisers write it, as
// ONNX Runtime has had it, at every version before. It keeps its statistics in the type "stash_type"; they are computed
// in that type or a wider one.
func layerNorm(c *call) []graph.Value {
	n := norm.LayerNorm{
		Axis:    c.int("axis", -1),
		Epsilon: c.float("epsilon", 1e-5),
		Stats:   c.wants(1) || c.wants(2),
	}
	stash := c.dtype("stash_type", dtype.Float32)
	outs := c.all(n, c.in...)
	for i := 1; i < len(outs); i++ {
		outs[i] = c.castTo(outs[i], stash)
	}
	return outs
}

// rmsNorm may have a scale of another type than its input; the output has the
// type of the scale.
func rmsNorm(c *call) []graph.Value {
	n := norm.RMSNorm{Axis: c.int("axis", -1), Epsilon: c.float("epsilon", 1e-5)}
	x, scale := c.in[0], c.in[1]
	out := scale.Type().DType
	if x.Type().DType == out {
		return list(c.one(n, x, scale))
	}
	wide := wider(c.dtype("stash_type", dtype.Float32), x.Type().DType)
	y := c.castTo(c.one(n, c.castTo(x, wide)), out)
	y = c.elementwise(elementwise.Mul, nil, y, scale)
	if !y.Type().Shape.Equal(c.shape(0)) {
		c.failf("the scale, of shape %v, does not broadcast to the input, of shape %v", c.shape(1), c.shape(0))
	}
	return list(y)
}

// wider returns float64 if one of the types is, and float32 otherwise: the
// type in which elements of both are computed.
func wider(types ...dtype.Type) dtype.Type {
	if slices.Contains(types, dtype.Float64) {
		return dtype.Float64
	}
	return dtype.Float32
}

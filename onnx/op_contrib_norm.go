package onnx

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/internal/op/view"
)

// skipEpsilon is what the normalisations of sums add to a variance where they
// do not say.
const skipEpsilon = 1e-12

// simplifiedLayerNorm is RMSNormalization, with the factor as a second output.
func simplifiedLayerNorm(c *call) []graph.Value {
	epsilon, axis := c.float("epsilon", 1e-5), c.axis(c.int("axis", -1), c.rank(0))
	outs := rmsNorm(c)
	if c.wants(1) {
		outs = append(outs, c.castTo(c.inverseRMS(c.float32Or(c.in[0]), axis, epsilon), c.dtype("stash_type", dtype.Float32)))
	}
	return outs
}

// inverseRMS returns 1/sqrt(mean of x² + epsilon) over the axes from one on,
// which have extent 1 in it.
func (c *call) inverseRMS(x graph.Value, axis int, epsilon float64) graph.Value {
	axes := upTo(len(x.Type().Shape))[axis:]
	mean := c.one(reduce.Reduce{Kind: reduce.Mean, Axes: axes, KeepDims: true}, c.elementwise(elementwise.Square, nil, x))
	return c.elementwise(elementwise.Rsqrt, nil, c.withScalar(elementwise.Add, mean, epsilon))
}

// skipSum returns input 0 with the skip and the bias, input i, added, in at
// least float32.
func (c *call) skipSum(i int) graph.Value {
	sum := c.addLike(c.float32Or(c.in[0]), c.float32Or(c.in[1]))
	if c.has(i) {
		sum = c.addLike(sum, c.float32Or(c.in[i]))
	}
	return sum
}

// skipLayerNorm normalises a sum, which is its fourth output.
func skipLayerNorm(c *call) []graph.Value {
	sum := c.skipSum(4)
	t := c.in[0].Type().DType
	outs := c.all(norm.LayerNorm{Axis: -1, Epsilon: c.float("epsilon", skipEpsilon), Stats: c.wants(1) || c.wants(2)},
		sum, c.float32Or(c.in[2]), c.float32Or(c.input(3)))
	y, mean, factor := c.castTo(outs[0], t), graph.Value{}, graph.Value{}
	if len(outs) > 1 {
		mean, factor = c.castTo(outs[1], dtype.Float32), c.castTo(outs[2], dtype.Float32)
	}
	return list(y, mean, factor, c.castTo(sum, t))
}

// skipSimplifiedLayerNorm is skipLayerNorm without a mean.
func skipSimplifiedLayerNorm(c *call) []graph.Value {
	sum := c.skipSum(3)
	t := c.in[0].Type().DType
	epsilon := c.float("epsilon", skipEpsilon)
	if c.wants(1) {
		c.failf("has a mean as an output, which the operator does not compute")
	}
	outs := list(c.castTo(c.one(norm.RMSNorm{Axis: -1, Epsilon: epsilon}, sum, c.float32Or(c.in[2])), t), graph.Value{}, graph.Value{}, c.castTo(sum, t))
	if c.wants(2) {
		outs[2] = c.castTo(c.inverseRMS(sum, len(sum.Type().Shape)-1, epsilon), dtype.Float32)
	}
	return outs
}

// embedLayerNorm normalises the sum of the embeddings of words, positions and
// segments. Its second output is how many elements of each row of the mask are
// 1, or 0 without a mask; its third is the sum.
func embedLayerNorm(c *call) []graph.Value {
	c.needs(2, 3, 5, 6)
	ids := c.shape(0)
	if len(ids) != 2 {
		c.failf("input_ids have the shape %v, want batch and length", ids)
	}
	if c.has(1) != c.has(4) {
		c.failf("there are segment_ids without segment_embedding, or the other way round")
	}
	c.int("mask_index_type", 0) // what shape inference is told
	t := c.in[2].Type().DType
	sum := c.float32Or(c.one(move.Gather{}, c.in[2], c.in[0]))
	var positions graph.Value
	switch p := c.shape(3); {
	case c.has(8):
		positions = c.one(move.Gather{}, c.in[3], c.in[8])
	case len(p) != 2 || p[0] < ids[1]:
		c.failf("position_embedding has the shape %v, which has no %d positions", p, ids[1])
	default:
		positions = c.one(view.SliceView{Axis: 0, N: ids[1], Step: 1}, c.in[3])
	}
	sum = c.addLike(sum, c.float32Or(positions))
	if c.has(1) {
		sum = c.addLike(sum, c.float32Or(c.one(move.Gather{}, c.in[4], c.in[1])))
	}
	y := c.one(norm.LayerNorm{Axis: -1, Epsilon: c.float("epsilon", skipEpsilon)}, sum, c.float32Or(c.in[5]), c.float32Or(c.in[6]))
	count := c.in[0]
	if c.has(7) {
		count = c.in[7]
	}
	ones := c.castTo(c.withScalar(elementwise.Equal, count, 1), dtype.Int32)
	count = c.one(reduce.Reduce{Kind: reduce.Sum, Axes: []int{-1}}, ones)
	if !c.has(7) {
		count = c.withScalar(elementwise.Mul, count, 0)
	}
	return list(c.castTo(y, t), count, c.castTo(sum, t))
}

package onnx

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// convertTensorScatter writes an update into a cache along one axis, from an
// index on that each element of the batch has for itself; without the indices
// from 0 on. In circular mode places behind the end are those at the beginning.
func convertTensorScatter(c *call) []graph.Value {
	cache, update := c.shape(0), c.shape(1)
	axis := c.axis(c.int("axis", -2), len(cache))
	if axis == 0 {
		c.failf("axis 0 is the batch")
	}
	if len(update) != len(cache) || update[axis] > cache[axis] {
		c.failf("update %v does not fit into %v", update, cache)
	}
	// Where each slice of the update goes: of shape [1, .., length, ..1].
	at := c.ramp(update[axis], 1, axis, len(cache))
	if c.has(2) {
		if !c.shape(2).Equal(cache[:1]) {
			c.failf("write_indices have shape %v, want [%d]", c.shape(2), cache[0])
		}
		at = c.elementwise(elementwise.Add, nil, c.along(c.in[2], 0, len(cache)), at)
	}
	circular := choice(c, "mode", "linear", map[string]bool{"linear": false, "circular": true})
	if circular && cache[axis] > 0 {
		at = c.withScalar(elementwise.Mod, at, float64(cache[axis]))
	}
	at = c.one(view.BroadcastTo{Shape: update}, at)
	return list(c.one(move.ScatterElements{Axis: axis}, c.in[0], at, c.in[1]))
}

// convertCol2Im adds up blocks where they overlap in an image: the reverse of
// cutting the image into them, block position by block position. Input 0 is
// [N, C*taps, positions], the result [N, C, image...].
func convertCol2Im(c *call) []graph.Value {
	image, block := c.dims(1), c.dims(2)
	axes := len(image)
	if 2*axes > mostAxes { // of what is computed below
		c.failf("the image %v has more than %d axes", image, mostAxes/2)
	}
	strides, dilations := c.orAll("strides", axes, 1), c.orAll("dilations", axes, 1)
	pads := c.orAll("pads", 2*axes, 0)
	in := c.shape(0)
	if len(in) != 3 || len(block) != axes {
		c.failf("input %v, image %v and block %v do not go together", in, image, block)
	}
	padded, positions := make(shape.Shape, axes), make(shape.Shape, axes)
	for i := range image {
		const most = 1 << 30 // keeps what follows in range
		for _, v := range []int{image[i], block[i], strides[i] - 1, dilations[i] - 1, pads[i], pads[axes+i]} {
			if v < 0 || v > most {
				c.failf("image %v, block %v, strides %v, dilations %v or pads %v are out of range", image, block, strides, dilations, pads)
			}
		}
		padded[i] = image[i] + pads[i] + pads[axes+i]
		room := padded[i] - dilations[i]*(block[i]-1) - 1
		if block[i] < 1 || room < 0 {
			c.failf("a block %v does not fit into the image %v with pads %v", block, image, pads)
		}
		positions[i] = room/strides[i] + 1
	}
	check(padded.Check())
	check(positions.Check())
	taps := block.Elems()
	if in[2] != positions.Elems() || in[1]%taps != 0 {
		c.failf("input %v does not hold blocks %v at %v positions", in, block, positions)
	}
	planes := shape.Shape{in[0], in[1] / taps, padded.Elems()}
	check(planes.Check())
	rows := planes[0] * planes[1]
	zero := zeroOf(c.in[0].Type().DType)
	if rows == 0 {
		return list(c.one(move.Fill{Shape: append(planes[:2:2], image...), Value: zero}))
	}
	// The place in the padded image of each tap at each position: a sum over
	// the axes, each with the steps of its taps and of its positions. It has
	// the shape [block..., positions...] and then that of a plane of input.
	at := constant([]int64{0})
	stride := 1
	for i := axes - 1; i >= 0; i-- {
		at = c.elementwise(elementwise.Add, nil, at, c.ramp(block[i], stride*dilations[i], i, 2*axes))
		at = c.elementwise(elementwise.Add, nil, at, c.ramp(positions[i], stride*strides[i], axes+i, 2*axes))
		stride *= padded[i]
	}
	places := taps * in[2]
	at = c.one(view.BroadcastTo{Shape: []int{rows, places}}, c.reshape(at, places))
	zeros := c.one(move.Fill{Shape: []int{rows, planes[2]}, Value: zero})
	sums := c.one(move.ScatterElements{Axis: 1, Reduction: move.ReductionAdd}, zeros, at, c.reshape(c.in[0], rows, places))
	out := c.reshape(sums, append(planes[:2:2], padded...)...)
	for i := range image {
		out = c.sliceAxis(out, 2+i, pads[i], pads[i]+image[i], 1)
	}
	return list(out)
}

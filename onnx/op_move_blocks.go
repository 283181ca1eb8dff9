package onnx

import (
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
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
	steps := make([]int64, update[axis])
	for i := range steps {
		steps[i] = int64(i)
	}
	dims := slices.Repeat([]int{1}, len(cache))
	dims[axis] = len(steps)
	at := c.reshape(constant(c, steps, len(steps)), dims...)
	if c.has(2) {
		dims := slices.Repeat([]int{1}, len(cache))
		dims[0] = cache[0]
		if !c.shape(2).Equal(cache[:1]) {
			c.failf("write_indices have shape %v, want [%d]", c.shape(2), cache[0])
		}
		at = c.elementwise(op.Add, nil, c.reshape(c.in[2], dims...), at)
	}
	switch mode := c.text("mode", "linear"); mode {
	case "linear":
	case "circular":
		if cache[axis] > 0 {
			wrapped, err := op.WithScalar(op.Mod, at, int64Scalar(cache[axis]), false)
			c.must(err)
			at = wrapped
		}
	default:
		c.failf("attribute mode is %q, want linear or circular", mode)
	}
	at = c.one(op.BroadcastTo{Shape: update}, at)
	return list(c.one(op.ScatterElements{Axis: axis}, c.in[0], at, c.in[1]))
}

// convertCol2Im adds up blocks where they overlap in an image: the reverse of
// cutting the image into them, block position by block position. Input 0 is
// [N, C*taps, positions], the result [N, C, image...].
func convertCol2Im(c *call) []graph.Value {
	image, block := c.dims(1), c.dims(2)
	axes := len(image)
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
	c.must(padded.Check())
	c.must(positions.Check())
	taps := block.Elems()
	if in[2] != positions.Elems() || in[1]%taps != 0 {
		c.failf("input %v does not hold blocks %v at %v positions", in, block, positions)
	}
	planes := shape.Shape{in[0], in[1] / taps, padded.Elems()}
	c.must(planes.Check())
	rows := planes[0] * planes[1]
	zero := zeroOf(c.in[0].Type().DType)
	if rows == 0 {
		return list(c.one(op.Fill{Shape: append(planes[:2:2], image...), Value: zero}))
	}
	// The place in the padded image of each tap at each position.
	places := make([]int64, 0, taps*in[2])
	for tap := range taps {
		for position := range in[2] {
			place, stride, t, p := 0, 1, tap, position
			for i := axes - 1; i >= 0; i-- {
				place += stride * (t%block[i]*dilations[i] + p%positions[i]*strides[i])
				stride *= padded[i]
				t, p = t/block[i], p/positions[i]
			}
			places = append(places, int64(place))
		}
	}
	at := c.one(op.BroadcastTo{Shape: []int{rows, len(places)}}, constant(c, places, len(places)))
	zeros := c.one(op.Fill{Shape: []int{rows, planes[2]}, Value: zero})
	sums := c.one(op.ScatterElements{Axis: 1, Reduction: op.ReductionAdd}, zeros, at, c.reshape(c.in[0], rows, len(places)))
	out := c.reshape(sums, append(planes[:2:2], padded...)...)
	for i := range image {
		out = c.sliceAxis(out, 2+i, pads[i], pads[i]+image[i], 1)
	}
	return list(out)
}

// orAll returns a list of n integers, or n times def when the attribute is
// absent.
func (c *call) orAll(name string, n, def int) []int {
	v := c.ints(name)
	if v == nil {
		return slices.Repeat([]int{def}, n)
	}
	if len(v) != n {
		c.failf("attribute %s has %d numbers, want %d", name, len(v), n)
	}
	return v
}

package onnx

import (
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/view"
)

// convertSliceAttributes converts Slice before version 10, whose bounds are
// attributes and whose steps are 1.
func convertSliceAttributes(c *call) []graph.Value {
	return c.slice(c.ints("starts"), c.ints("ends"), c.ints("axes"), nil)
}

func convertSliceInputs(c *call) []graph.Value {
	return c.slice(c.known(1), c.known(2), c.knownOrNil(3), c.knownOrNil(4))
}

// slice takes the elements from starts to ends of axes, which are the first
// ones when they are nil, in steps, which are 1 when they are nil.
func (c *call) slice(starts, ends, axes, steps []int) []graph.Value {
	in := c.shape(0)
	n := len(starts)
	if axes == nil {
		axes = upTo(n)
	}
	if steps == nil {
		steps = slices.Repeat([]int{1}, n)
	}
	if len(ends) != n || len(axes) != n || len(steps) != n {
		c.failf("there are %d starts, %d ends, %d axes and %d steps", n, len(ends), len(axes), len(steps))
	}
	v := c.in[0]
	for i, axis := range c.axes(axes, len(in)) {
		v = c.sliceAxis(v, axis, starts[i], ends[i], steps[i])
	}
	return list(v)
}

// sliceAxis is a slice of one axis. Bounds are moved to the ends of the axis.
// A backward slice that starts before the axis starts at element 0: here the
// specification differs from NumPy.
func (c *call) sliceAxis(v graph.Value, axis, start, end, step int) graph.Value {
	extent := v.Type().Shape[axis]
	if step < 0 && start < -extent {
		start = 0
	}
	first, n, err := view.SliceRange(start, end, step, extent)
	check(err)
	if first == 0 && step == 1 && n == extent {
		return v
	}
	return c.one(view.SliceView{Axis: axis, Start: first, N: n, Step: step}, v)
}

// convertSplit cuts an axis into parts. Their extents are an input at version
// 1 and from 13 on, and an attribute before. Without them the parts are equal;
// only from version 18 on may the last one be smaller.
func convertSplit(c *call) []graph.Value {
	in := c.shape(0)
	axis := c.axis(c.int("axis", 0), len(in))
	c.attrUntil(12, "split")
	c.attrSince(18, "num_outputs")
	parts := c.ints("split")
	switch {
	case c.has(1) && (parts != nil || c.hasAttr("num_outputs")):
		c.failf("the parts are given by the input split and by an attribute")
	case c.has(1):
		parts = c.known(1)
	case parts == nil:
		parts = c.equalParts(in[axis])
	}
	outs := must(view.Split(c.in[0], axis, parts))
	if len(parts) != c.numOutputs() {
		c.failf("axis %d is split into %d parts for %d outputs", axis, len(parts), c.numOutputs())
	}
	return outs
}

// equalParts cuts an extent into one part for each output.
func (c *call) equalParts(extent int) []int {
	n := c.numOutputs()
	if got := c.int("num_outputs", n); got != n {
		c.failf("attribute num_outputs is %d, but there are %d outputs", got, n)
	}
	if n == 0 {
		return []int{}
	}
	part := (extent + n - 1) / n
	last := extent - part*(n-1)
	if last < 0 || last != part && c.opset() < 18 {
		c.failf("%d elements do not split into %d parts", extent, n)
	}
	parts := slices.Repeat([]int{part}, n)
	parts[n-1] = last
	return parts
}

// convertCenterCropPad crops or pads with zeros at both ends of axes, to
// reach the extents that its second input gives. An odd element goes to, or
// comes from, the end.
func convertCenterCropPad(c *call) []graph.Value {
	in := c.shape(0)
	want := c.dims(1)
	axes := c.ints("axes")
	if axes == nil {
		axes = upTo(len(in))
	}
	if len(axes) != len(want) {
		c.failf("there are %d extents for %d axes", len(want), len(axes))
	}
	v := c.in[0]
	pads := make([]int, 2*len(in))
	for i, axis := range c.axes(axes, len(in)) {
		if more := want[i] - in[axis]; more > 0 {
			pads[axis], pads[len(in)+axis] = more/2, more-more/2
		} else if more < 0 {
			start := -more / 2
			v = c.one(view.SliceView{Axis: axis, Start: start, N: want[i], Step: 1}, v)
		}
	}
	if slices.Max(append(pads, 0)) > 0 {
		v = c.one(move.Pad{Pads: pads}, v)
	}
	return list(v)
}

package onnx

import (
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// shapeOps are the operators that re-describe a tensor, or tell its shape.
var shapeOps = []row{
	{"", "Reshape", 1, 1, 1, convertReshape},
	{"", "Reshape", 5, 2, 2, convertReshape},
	{"", "Flatten", 1, 1, 1, convertFlatten},
	{"", "Squeeze", 1, 1, 1, convertSqueeze},
	{"", "Squeeze", 13, 1, 2, convertSqueeze},
	{"", "Unsqueeze", 1, 1, 1, convertUnsqueeze},
	{"", "Unsqueeze", 13, 2, 2, convertUnsqueeze},
	{"", "Transpose", 1, 1, 1, convertTranspose},
	{"", "Shape", 1, 1, 1, convertShape},
	{"", "Size", 1, 1, 1, convertSize},
	{"", "Expand", 8, 2, 2, convertExpand},
	{"", "Slice", 1, 1, 1, convertSliceAttributes},
	{"", "Slice", 10, 3, 5, convertSliceInputs},
	{"", "Split", 1, 1, 2, convertSplit},
	{"", "Split", 2, 1, 1, convertSplit},
	{"", "Split", 13, 1, 2, convertSplit},
	{"", "DepthToSpace", 1, 1, 1, convertDepthToSpace},
	{"", "SpaceToDepth", 1, 1, 1, convertSpaceToDepth},
	{"", "CenterCropPad", 18, 2, 2, convertCenterCropPad},
}

// convertReshape resolves a target shape: 0 is the input's extent at the same
// place, unless allowzero says otherwise, and one -1 is what the others leave.
func convertReshape(c *call) []graph.Value {
	in := c.shape(0)
	var want []int
	if c.opset() < 5 {
		want = c.ints("shape")
	} else {
		want = c.known(1)
	}
	c.attrSince(14, "allowzero")
	allowZero := c.flag("allowzero", false)
	dims := slices.Clone(want)
	for i, d := range want {
		switch {
		case d != 0:
		case allowZero && slices.Contains(want, -1):
			c.failf("shape %v has both 0 and -1, and allowzero is set", want)
		case !allowZero && i >= len(in):
			c.failf("shape %v keeps extent %d of input %v, which has %d", want, i, in, len(in))
		case !allowZero:
			dims[i] = in[i]
		}
	}
	return list(c.reshape(c.in[0], must(in.Resolve(dims))...))
}

// convertFlatten makes a matrix of a tensor: the axes before one are the rows.
func convertFlatten(c *call) []graph.Value {
	in := c.shape(0)
	axis := c.int("axis", 1)
	if axis != len(in) {
		axis = c.axis(axis, len(in))
	}
	return list(c.reshape(c.in[0], in[:axis].Elems(), in[axis:].Elems()))
}

// squeezed returns the axes to add or remove: an attribute before version 13,
// and input 1 from then on; nil when they are not given.
func (c *call) squeezed() []int {
	c.attrUntil(12, "axes")
	if c.opset() < 13 {
		return c.ints("axes")
	}
	return c.knownOrNil(1)
}

// convertSqueeze removes axes of extent 1: those that are given, or all.
func convertSqueeze(c *call) []graph.Value {
	in := c.shape(0)
	axes := c.squeezed()
	if axes == nil {
		axes = slices.DeleteFunc(upTo(len(in)), func(axis int) bool { return in[axis] != 1 })
	}
	axes = c.axes(axes, len(in))
	out := shape.Shape{}
	for axis, d := range in {
		switch drop := slices.Contains(axes, axis); {
		case !drop:
			out = append(out, d)
		case d != 1:
			c.failf("axis %d of input %v has extent %d, not 1", axis, in, d)
		}
	}
	return list(c.reshape(c.in[0], out...))
}

// convertUnsqueeze adds axes of extent 1, counted in the output.
func convertUnsqueeze(c *call) []graph.Value {
	in := c.shape(0)
	axes := c.squeezed()
	if axes == nil {
		c.failf("attribute \"axes\" is missing")
	}
	if len(axes) > mostAxes { // before anything is as long as the list
		c.failf("%d axes are to be added, more than %d", len(axes), mostAxes)
	}
	out := in.Clone()
	axes = c.axes(axes, len(in)+len(axes))
	slices.Sort(axes)
	for _, axis := range axes {
		out = slices.Insert(out, axis, 1)
	}
	return list(c.reshape(c.in[0], out...))
}

// convertTranspose permutes axes; without a permutation it reverses them.
func convertTranspose(c *call) []graph.Value {
	perm := c.ints("perm")
	if perm == nil {
		perm = upTo(c.rank(0))
		slices.Reverse(perm)
	}
	return list(c.one(view.Permute{Perm: perm}, c.in[0]))
}

// convertShape returns the extents of its input, or a range of them.
func convertShape(c *call) []graph.Value {
	in := c.shape(0)
	c.attrSince(15, "start", "end")
	first, n, err := view.SliceRange(c.int("start", 0), c.int("end", len(in)), 1, len(in))
	check(err)
	return list(c.extents(in[first : first+n]))
}

func convertSize(c *call) []graph.Value {
	return list(c.reshape(c.extents([]int{c.shape(0).Elems()})))
}

// convertExpand broadcasts its input and the given shape against each other.
func convertExpand(c *call) []graph.Value {
	out := must(shape.Broadcast(c.shape(0), c.dims(1)))
	return list(c.one(view.BroadcastTo{Shape: out}, c.in[0]))
}

func convertDepthToSpace(c *call) []graph.Value {
	c.attrSince(11, "mode")
	columnsFirst := choice(c, "mode", "DCR", map[string]bool{"DCR": false, "CRD": true})
	return list(must(view.DepthToSpace(c.in[0], c.int("blocksize", 0), columnsFirst)))
}

func convertSpaceToDepth(c *call) []graph.Value {
	return list(must(view.SpaceToDepth(c.in[0], c.int("blocksize", 0))))
}

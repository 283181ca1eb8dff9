package main

import (
	"slices"

	"github.com/berth-go/berth/internal/wire"
)

var shapeGenerators = map[string]generator{
	"Reshape": {7, reshape}, "Flatten": {7, flatten}, "Squeeze": {7, squeeze}, "Unsqueeze": {7, unsqueeze},
	"Transpose": {7, transpose}, "Shape": {7, shapeOf}, "Size": {7, func(d *draw) { d.input(one(d, anything...), d.shape(0, 4)); d.output(wire.Int64) }},
	"Expand": {8, expand}, "Slice": {7, slice}, "Split": {7, split}, "DepthToSpace": {7, depthToSpace}, "SpaceToDepth": {7, spaceToDepth},
	"CenterCropPad": {18, centerCropPad}, "ConstantOfShape": {9, constantOfShape}, "Range": {11, rangeOf}, "EyeLike": {9, eyeLike}, "Constant": {7, constant},
}

func product(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return n
}

func reshape(d *draw) {
	t := one(d, anything...)
	dims := d.shape(0, 4)
	var to []int64
	switch n := product(dims); {
	case len(dims) > 0 && d.coin(): // join two axes or put one of 1 between
		to = slices.Clone(dims)
		if i := d.IntN(len(to)); i+1 < len(to) && d.coin() {
			to = append(append(slices.Clone(to[:i]), to[i]*to[i+1]), to[i+2:]...)
		} else {
			to = slices.Insert(to, i, 1)
		}
		if n > 0 && d.coin() {
			to[d.IntN(len(to))] = -1
		}
		for i := range to {
			if i < len(dims) && to[i] == dims[i] && d.IntN(4) == 0 {
				to[i] = 0
			}
		}
	case n > 0 || d.coin():
		to = []int64{-1}
	default:
		to = slices.Clone(dims)
	}
	if d.opset >= 14 && !slices.Contains(to, -1) {
		d.maybe(func() {
			if !slices.Contains(to, 0) || slices.Contains(dims, 0) {
				d.int("allowzero", d.Int64N(2))
			}
		})
	}
	d.input(t, dims)
	d.list(wire.Int64, to...)
	d.output(t)
}

func flatten(d *draw) {
	t := one(d, anything...)
	dims := d.shape(1, 4)
	d.maybe(func() {
		axis := d.Int64N(int64(len(dims)) + 1)
		if d.opset >= 11 && d.coin() {
			axis = -1 - d.Int64N(int64(len(dims)))
		}
		d.int("axis", axis)
	})
	d.input(t, dims)
	d.output(t)
}

func squeeze(d *draw) {
	t := one(d, anything...)
	dims := d.shape(0, 4)
	var axes []int64
	for _, a := range d.axes(len(dims), d.opset >= 11) {
		if dims[(a+int64(len(dims)))%int64(len(dims))] == 1 {
			axes = append(axes, a)
		}
	}
	d.input(t, dims)
	if len(axes) > 0 {
		if d.opset < 13 {
			d.ints("axes", axes...)
		} else {
			d.list(wire.Int64, axes...)
		}
	}
	d.output(t)
}

func unsqueeze(d *draw) {
	t := one(d, anything...)
	dims := d.shape(0, 3)
	rank := len(dims) + 1 + d.IntN(2)
	axes := d.axes(rank, d.opset >= 11)
	for len(axes) != rank-len(dims) {
		axes = d.axes(rank, d.opset >= 11)
	}
	d.input(t, dims)
	if d.opset < 13 {
		d.ints("axes", axes...)
	} else {
		d.list(wire.Int64, axes...)
	}
	d.output(t)
}

func transpose(d *draw) {
	t := one(d, anything...)
	dims := d.shape(0, 4)
	d.maybe(func() {
		var perm []int64
		for _, a := range d.Perm(len(dims)) {
			perm = append(perm, int64(a))
		}
		if len(perm) > 0 {
			d.ints("perm", perm...)
		}
	})
	d.input(t, dims)
	d.output(t)
}

func shapeOf(d *draw) {
	if d.opset >= 15 {
		d.maybe(func() { d.int("start", d.Int64N(9)-4) })
		d.maybe(func() { d.int("end", d.Int64N(9)-4) })
	}
	d.input(one(d, anything...), d.shape(0, 4))
	d.output(wire.Int64)
}

func expand(d *draw) {
	t := one(d, anything...)
	dims := d.shape(0, 4)
	from, to := d.subshape(dims), slices.Clone(dims)
	for i := range to { // an extent of 1 asks for nothing
		if d.IntN(4) == 0 {
			to[i] = 1
		}
	}
	d.input(t, from)
	d.list(wire.Int64, to...)
	d.output(t)
}

func slice(d *draw) {
	t := one(d, anything...)
	dims := d.shape(1, 4)
	axes := d.axes(len(dims), d.opset >= 11)
	if len(axes) == 0 {
		axes = []int64{0}
	}
	var starts, ends, steps []int64
	for range axes {
		bound := func() int64 {
			if d.IntN(6) == 0 {
				return one[int64](d, 1<<62, -1<<62, 1<<31-1, -1<<31, 1000)
			}
			return d.Int64N(11) - 5
		}
		starts, ends, steps = append(starts, bound()), append(ends, bound()), append(steps, one[int64](d, 1, 1, 2, 3, -1, -2))
	}
	d.input(t, dims)
	if d.opset < 10 {
		d.ints("starts", starts...)
		d.ints("ends", ends...)
		d.ints("axes", axes...)
	} else {
		u := one(d, indices...)
		clamp := func(list []int64) []int64 {
			if u == wire.Int32 {
				for i := range list {
					list[i] = min(max(list[i], -1<<31), 1<<31-1)
				}
			}
			return list
		}
		d.list(u, clamp(starts)...)
		d.list(u, clamp(ends)...)
		d.list(u, axes...)
		d.maybe(func() { d.list(u, steps...) })
	}
	d.output(t)
}

func split(d *draw) {
	t := one(d, anything...)
	dims := d.shape(1, 4)
	axis := d.IntN(len(dims))
	parts := 1 + d.IntN(3)
	sizes := make([]int64, parts)
	equal := d.coin()
	dims[axis] = 0
	n := d.Int64N(4)
	for i := range sizes {
		sizes[i] = n
		if !equal {
			sizes[i] = d.Int64N(4)
		}
		dims[axis] += sizes[i]
	}
	d.int("axis", int64(axis))
	d.input(t, dims)
	switch explicit := !equal || d.coin(); {
	case explicit && d.opset >= 13:
		d.list(wire.Int64, sizes...)
	case explicit:
		d.ints("split", sizes...)
	case d.opset >= 18:
		d.int("num_outputs", int64(parts))
	}
	for range parts {
		d.output(t)
	}
}

func depthToSpace(d *draw) {
	t := one(d, floats...)
	b := 1 + d.Int64N(3)
	d.int("blocksize", b)
	if d.opset >= 11 {
		d.maybe(func() { d.str("mode", one(d, "DCR", "CRD")) })
	}
	d.input(t, []int64{d.extent(), b * b * d.full(), d.full(), d.full()})
	d.output(t)
}

func spaceToDepth(d *draw) {
	t := one(d, floats...)
	b := 1 + d.Int64N(3)
	d.int("blocksize", b)
	d.input(t, []int64{d.extent(), d.full(), b * d.full(), b * d.full()})
	d.output(t)
}

func centerCropPad(d *draw) {
	t := one(d, numeric...)
	dims := d.solid(1, 4)
	axes := d.axes(len(dims), true)
	if len(axes) == 0 || d.coin() {
		axes = nil
	} else {
		d.ints("axes", axes...)
	}
	n := len(axes)
	if n == 0 {
		n = len(dims)
	}
	var to []int64
	for range n {
		to = append(to, d.full())
	}
	d.input(t, dims)
	d.list(one(d, indices...), to...)
	d.output(t)
}

func constantOfShape(d *draw) {
	t := wire.Float
	d.maybe(func() {
		t = one(d, append([]wire.DataType{wire.Bool}, numeric...)...)
		v := d.values(t, []int64{1})
		d.node.Attributes = append(d.node.Attributes, wire.Attribute{Name: "value", Kind: wire.AttrTensor, Tensor: &v})
	})
	d.list(wire.Int64, d.shape(0, 4)...)
	d.output(t)
}

func rangeOf(d *draw) {
	t := one(d, wire.Float, wire.Double, wire.Int16, wire.Int32, wire.Int64)
	start, count, delta := float64(d.IntN(9)-4), float64(d.IntN(7)-1), float64(one(d, 1, 2, -1, -3))
	if isFloat(t) {
		delta /= 4
	}
	d.scalar(t, start)
	d.scalar(t, start+count*delta)
	d.scalar(t, delta)
	d.output(t)
}

func eyeLike(d *draw) {
	from := one(d, append([]wire.DataType{wire.Bool}, numeric...)...)
	to := from
	d.maybe(func() {
		to = one(d, wire.Float, wire.Int64, wire.Double, wire.Int32, wire.Uint64)
		d.int("dtype", int64(to))
	})
	d.maybe(func() { d.int("k", d.Int64N(9)-4) })
	d.input(from, d.shape(2, 2))
	d.output(to)
}

func constant(d *draw) {
	switch n := d.IntN(7); {
	case d.opset < 12 || n == 0:
		t := one(d, anything...)
		v := d.values(t, d.shape(0, 3))
		d.node.Attributes = append(d.node.Attributes, wire.Attribute{Name: "value", Kind: wire.AttrTensor, Tensor: &v})
		d.output(t)
	case n == 1:
		d.float("value_float", d.NormFloat64())
		d.output(wire.Float)
	case n == 2:
		d.int("value_int", int64(d.Uint64()))
		d.output(wire.Int64)
	case n == 3:
		d.str("value_string", "é a")
		d.output(wire.String)
	case n == 4:
		d.floats("value_floats", make([]float32, d.IntN(4))...)
		d.output(wire.Float)
	case n == 5:
		d.ints("value_ints", make([]int64, d.IntN(4))...)
		d.output(wire.Int64)
	default:
		d.strs("value_strings", "a", "", "ß")
		d.output(wire.String)
	}
}

package main

import (
	"slices"

	"github.com/berth-go/berth/internal/wire"
)

var moveGenerators = map[string]generator{
	"Concat": {7, concat}, "Gather": {7, gather}, "GatherElements": {11, gatherElements}, "GatherND": {11, gatherND},
	"Scatter": {9, scatterElements}, "ScatterElements": {11, scatterElements}, "ScatterND": {11, scatterND},
	"Pad": {7, pad}, "Tile": {7, tile}, "OneHot": {9, oneHot}, "Trilu": {14, trilu}, "ReverseSequence": {10, reverseSequence},
	"Col2Im": {18, col2Im}, "Compress": {9, compress}, "NonZero": {9, nonZero}, "Unique": {11, unique},
	"NonMaxSuppression": {10, nonMaxSuppression},
}

func concat(d *draw) {
	t := one(d, anything...)
	dims := d.shape(1, 4)
	axis := d.IntN(len(dims))
	if d.opset >= 11 && d.coin() {
		d.int("axis", int64(axis-len(dims)))
	} else {
		d.int("axis", int64(axis))
	}
	for range 1 + d.IntN(4) {
		dims = slices.Clone(dims)
		dims[axis] = d.extent()
		d.input(t, dims)
	}
	d.output(t)
}

func gather(d *draw) {
	t := one(d, anything...)
	dims := d.shape(1, 4)
	axis := d.IntN(len(dims))
	dims[axis] = max(dims[axis], 1)
	d.maybe(func() {
		if d.opset >= 11 && d.coin() {
			d.int("axis", int64(axis-len(dims)))
		} else {
			d.int("axis", int64(axis))
		}
	})
	if len(d.node.Attributes) == 0 {
		axis = 0
		dims[0] = max(dims[0], 1)
	}
	d.input(t, dims)
	d.index(one(d, indices...), d.shape(0, 3), dims[axis], d.opset >= 11)
	d.output(t)
}

// within returns a shape of the same rank whose extents, but along one axis, are at most
// those of dims.
func (d *draw) within(dims []int64, axis int) []int64 {
	s := slices.Clone(dims)
	for i := range s {
		if i == axis {
			s[i] = d.extent()
		} else if s[i] > 0 && d.coin() {
			s[i] = 1 + d.Int64N(s[i])
		}
	}
	return s
}

func gatherElements(d *draw) {
	t := one(d, anything...)
	dims := d.solid(1, 4)
	axis := d.IntN(len(dims))
	d.int("axis", int64(one(d, axis, axis-len(dims))))
	d.input(t, dims)
	d.index(one(d, indices...), d.within(dims, axis), dims[axis], true)
	d.output(t)
}

func gatherND(d *draw) {
	t := one(d, anything...)
	dims := d.solid(1, 4)
	batch := 0
	if d.opset >= 12 {
		batch = d.IntN(len(dims))
		if batch > 0 || d.coin() {
			d.int("batch_dims", int64(batch))
		}
	}
	n := 1 + d.IntN(len(dims)-batch)
	shape := append(slices.Clone(dims[:batch]), d.shape(0, 2)...)
	shape = append(shape, int64(n))
	count := 0
	d.input(t, dims)
	d.add(numbersOf(wire.Int64, shape, func() float64 {
		extent := dims[batch+count%n]
		count++
		return float64(d.Int64N(2*extent) - extent)
	}), false)
	d.output(t)
}

func scatterElements(d *draw) {
	t := one(d, anything...)
	dims := d.solid(1, 4)
	axis := d.IntN(len(dims))
	reduction := "none"
	if d.node.OpType == "Scatter" {
		d.opset = min(d.opset, 10)
	} else if d.opset >= 16 && t != wire.String && t != wire.Bool {
		reduction = one(d, "none", "add", "mul")
		if d.opset >= 18 {
			reduction = one(d, "none", "add", "mul", "max", "min")
		}
		d.str("reduction", reduction)
	}
	d.int("axis", int64(axis))
	shape := d.within(dims, axis)
	shape[axis] = min(shape[axis], dims[axis])
	// Each line along the axis writes different elements unless they are combined.
	line := d.Perm(int(dims[axis]))
	k := 0
	after := int(product(shape[axis+1:]))
	d.wild = false
	d.input(t, dims)
	d.add(numbersOf(one(d, indices...), shape, func() float64 {
		i := k / max(after, 1) % int(max(shape[axis], 1))
		k++
		if reduction != "none" {
			i = d.IntN(len(line))
		}
		if d.opset >= 11 && d.coin() {
			return float64(line[i] - len(line))
		}
		return float64(line[i])
	}), false)
	d.input(t, shape)
	d.output(t)
	d.tol = sums
}

func scatterND(d *draw) {
	t := one(d, anything...)
	dims := d.solid(1, 4)
	n := 1 + d.IntN(len(dims))
	rows := d.Perm(int(product(dims[:n])))
	rows = rows[:d.IntN(min(len(rows), 6)+1)]
	if d.opset >= 16 && t != wire.String && t != wire.Bool {
		reduction := one(d, "none", "add", "mul")
		if d.opset >= 18 {
			reduction = one(d, "none", "add", "mul", "max", "min")
		}
		if d.str("reduction", reduction); reduction != "none" {
			rows = append(rows, rows...)
		}
	}
	index := wire.Tensor{DataType: wire.Int64, Dims: []int64{int64(len(rows)), int64(n)}}
	for _, r := range rows {
		for i := range n {
			inner := product(dims[i+1 : n])
			x := int64(r) / inner % dims[i]
			if d.coin() {
				x -= dims[i]
			}
			index.Raw = appendInt(index.Raw, wire.Int64, x)
		}
	}
	d.wild = false
	d.input(t, dims)
	d.add(index, false)
	d.input(t, append([]int64{int64(len(rows))}, dims[n:]...))
	d.output(t)
	d.tol = sums
}

func pad(d *draw) {
	t := one(d, wire.Float, wire.Double, wire.Int32, wire.Int64, wire.Uint8, wire.Int8, wire.Bool, wire.Uint32)
	mode := one(d, "constant", "constant", "reflect", "edge")
	if d.opset >= 19 {
		mode = one(d, mode, "wrap")
	}
	if d.opset < 11 {
		t = one(d, singles...)
	}
	dims := d.shape(1, 4)
	if mode != "constant" {
		dims = d.solid(1, 4)
	}
	d.maybe(func() { d.str("mode", mode) })
	if len(d.node.Attributes) == 0 {
		mode = "constant"
	}
	axes := make([]int64, len(dims))
	for i := range axes {
		axes[i] = int64(i)
	}
	given := d.opset >= 18 && d.IntN(3) == 0
	if given {
		axes = d.axes(len(dims), true)
	}
	pads := make([]int64, 2*len(axes))
	for i := range pads {
		n := dims[(axes[i%len(axes)]+int64(len(dims)))%int64(len(dims))]
		switch {
		case mode == "reflect":
			pads[i] = d.Int64N(n)
		case mode == "constant" && d.IntN(5) == 0:
			pads[i] = -d.Int64N(n/2 + 1)
		default:
			pads[i] = d.Int64N(3)
		}
	}
	d.input(t, dims)
	if d.opset < 11 {
		d.ints("pads", pads...)
		d.maybe(func() { d.float("value", 1.5) })
	} else {
		d.list(wire.Int64, pads...)
		switch {
		case d.coin():
			d.scalar(t, 1)
		case given:
			d.absent()
		}
		if given {
			if len(d.node.Inputs) == 2 {
				d.absent()
			}
			d.list(one(d, indices...), axes...)
		}
	}
	d.output(t)
}

func tile(d *draw) {
	t := one(d, anything...)
	dims := d.shape(1, 4)
	repeats := make([]int64, len(dims))
	for i := range repeats {
		repeats[i] = d.Int64N(4)
	}
	d.input(t, dims)
	d.list(wire.Int64, repeats...)
	d.output(t)
}

func oneHot(d *draw) {
	t := one(d, wire.Int32, wire.Int64, wire.Float)
	u := one(d, wire.Int64, wire.Int32, wire.Float)
	v := one(d, wire.Float, wire.Int64, wire.Int32, wire.String)
	dims := d.shape(0, 3)
	depth := 1 + d.Int64N(6)
	d.maybe(func() {
		axis := d.Int64N(int64(len(dims)) + 1)
		d.int("axis", one(d, axis, axis-int64(len(dims))-1))
	})
	if d.opset < 11 {
		d.add(numbersOf(t, dims, func() float64 { return float64(d.Int64N(depth)) }), false)
	} else {
		d.add(numbersOf(t, dims, func() float64 { return float64(d.Int64N(3*depth) - depth) }), false)
	}
	d.scalar(u, float64(depth))
	d.input(v, []int64{2})
	d.output(v)
}

func trilu(d *draw) {
	t := one(d, append([]wire.DataType{wire.Bool}, numeric...)...)
	d.maybe(func() { d.int("upper", d.Int64N(2)) })
	d.input(t, d.shape(2, 4))
	d.maybe(func() { d.scalar(wire.Int64, float64(d.IntN(11)-5)) })
	d.output(t)
}

func reverseSequence(d *draw) {
	t := one(d, anything...)
	dims := d.solid(2, 4)
	batch, time := int64(0), int64(1)
	if d.coin() {
		batch, time = 1, 0
	}
	d.int("batch_axis", batch)
	d.int("time_axis", time)
	d.input(t, dims)
	d.add(numbersOf(wire.Int64, []int64{dims[batch]}, func() float64 { return float64(1 + d.Int64N(dims[time])) }), false)
	d.output(t)
}

func col2Im(d *draw) {
	rank := 1 + d.IntN(3)
	var image, block, dilations, pads, strides []int64
	blocks := int64(1)
	for range rank {
		b, l, s, p := 1+d.Int64N(3), 1+d.Int64N(2), 1+d.Int64N(2), d.Int64N(2)
		n := l*(b-1) + 1 + d.Int64N(4)
		image, block, dilations, strides, pads = append(image, n), append(block, b), append(dilations, l), append(strides, s), append(pads, p)
		blocks *= (n+2*p-l*(b-1)-1)/s + 1
	}
	pads = append(pads, pads...)
	d.ints("dilations", dilations...)
	d.ints("strides", strides...)
	d.ints("pads", pads...)
	d.wild = false
	d.input(wire.Float, []int64{d.extent(), d.full() * product(block), blocks})
	d.list(wire.Int64, image...)
	d.list(wire.Int64, block...)
	d.output(wire.Float)
	d.tol = sums
}

func compress(d *draw) {
	t := one(d, anything...)
	dims := d.shape(1, 4)
	n := product(dims)
	d.maybe(func() {
		axis := d.IntN(len(dims))
		d.int("axis", int64(axis))
		n = dims[axis]
	})
	d.input(t, dims)
	d.input(wire.Bool, []int64{d.Int64N(n + 1)})
	d.output(t)
}

func nonZero(d *draw) {
	t := one(d, wire.Bool, wire.Float, wire.Int32, wire.Int64, wire.Uint8)
	d.add(numbersOf(t, d.shape(0, 4), func() float64 { return float64(d.IntN(2)) }), false)
	d.output(wire.Int64)
}

func unique(d *draw) {
	t := one(d, wire.Float, wire.Double, wire.Int8, wire.Int64, wire.String)
	dims := d.shape(1, 3)
	d.maybe(func() { d.int("axis", d.axis(len(dims))) })
	d.maybe(func() { d.int("sorted", d.Int64N(2)) })
	if t == wire.String {
		d.input(t, dims)
	} else {
		d.add(numbersOf(t, dims, func() float64 { return float64(d.IntN(4)) }), false)
	}
	d.output(t)
	d.maybe(func() { d.output(wire.Int64, wire.Int64, wire.Int64) })
}

func nonMaxSuppression(d *draw) {
	batch, boxes, classes := 1+d.Int64N(2), d.Int64N(7), 1+d.Int64N(3)
	d.maybe(func() { d.int("center_point_box", d.Int64N(2)) })
	d.add(numbersOf(wire.Float, []int64{batch, boxes, 4}, func() float64 { return d.Float64() * 3 }), false)
	d.add(numbersOf(wire.Float, []int64{batch, classes, boxes}, d.Float64), false)
	d.list(wire.Int64, d.Int64N(4))
	d.maybe(func() {
		d.add(numbersOf(wire.Float, []int64{1}, d.Float64), d.coin())
		d.maybe(func() { d.add(numbersOf(wire.Float, []int64{1}, d.Float64), d.coin()) })
	})
	d.output(wire.Int64)
}

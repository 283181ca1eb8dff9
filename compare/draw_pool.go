package main

import "github.com/berth-go/berth/internal/wire"

var poolGenerators = map[string]generator{
	"MaxPool": {7, maxPool}, "AveragePool": {7, averagePool}, "LpPool": {7, lpPool},
	"GlobalMaxPool": {7, globalPool}, "GlobalAveragePool": {7, globalPool}, "GlobalLpPool": {7, globalPool},
	"MaxRoiPool": {7, maxRoiPool}, "MaxUnpool": {9, maxUnpool},
}

func pooled(d *draw, t wire.DataType, dilatedSince, ceilSince int64) {
	d.bounded()
	rank := 1 + d.IntN(3)
	kernel := d.kernel(rank)
	d.ints("kernel_shape", kernel...)
	if d.opset >= ceilSince {
		d.maybe(func() { d.int("ceil_mode", d.Int64N(2)) })
	}
	image := d.window(rank, kernel, d.opset >= dilatedSince)
	d.input(t, append([]int64{d.extent(), d.full()}, image...))
	d.output(t)
}

func maxPool(d *draw) {
	t := one(d, floats...)
	if d.opset >= 12 {
		t = one(d, t, wire.Int8, wire.Uint8)
	}
	if d.opset >= 8 {
		d.maybe(func() { d.int("storage_order", d.Int64N(2)) })
	}
	pooled(d, t, 10, 10)
	if d.opset >= 8 {
		d.maybe(func() { d.output(wire.Int64) })
	}
}

func averagePool(d *draw) {
	d.maybe(func() { d.int("count_include_pad", d.Int64N(2)) })
	pooled(d, one(d, floats...), 19, 10)
}

func lpPool(d *draw) {
	d.maybe(func() { d.int("p", 1+d.Int64N(3)) })
	pooled(d, wire.Float, 18, 18)
}

func globalPool(d *draw) {
	d.bounded()
	t := one(d, floats...)
	if d.node.OpType == "GlobalLpPool" {
		t = wire.Float
		d.maybe(func() { d.int("p", 1+d.Int64N(3)) })
	}
	d.input(t, append([]int64{d.extent(), d.full()}, d.solid(1, 3)...))
	d.output(t)
}

func maxRoiPool(d *draw) {
	d.bounded()
	h, w, n := d.full(), d.full(), d.full()
	d.ints("pooled_shape", 1+d.Int64N(3), 1+d.Int64N(3))
	d.maybe(func() { d.float("spatial_scale", one(d, 0.5, 1)) })
	d.input(wire.Float, []int64{n, d.full(), h, w})
	rois := wire.Tensor{DataType: wire.Float, Dims: []int64{d.full(), 5}}
	for range rois.Dims[0] {
		x, y := d.Int64N(w), d.Int64N(h)
		for _, v := range []int64{d.Int64N(n), x, y, x + d.Int64N(w-x), y + d.Int64N(h-y)} {
			rois.Raw = appendElement(rois.Raw, wire.Float, float64(v))
		}
	}
	d.add(rois, false)
	d.output(wire.Float)
}

func maxUnpool(d *draw) {
	k := []int64{1 + d.Int64N(3), 1 + d.Int64N(3)}
	n, c, h, w := d.full(), d.full(), d.full(), d.full()
	d.ints("kernel_shape", k...)
	d.ints("strides", k...)
	d.input(wire.Float, []int64{n, c, h, w})
	places := d.Perm(int(n * c * h * k[0] * w * k[1]))
	i := 0
	d.add(numbersOf(wire.Int64, []int64{n, c, h, w}, func() float64 { i++; return float64(places[i-1]) }), false)
	d.output(wire.Float)
}

package main

import "github.com/berth-go/berth/internal/wire"

var imageGenerators = map[string]generator{
	"Resize": {10, resize}, "Upsample": {7, upsample}, "GridSample": {16, gridSample}, "RoiAlign": {10, roiAlign}, "AffineGrid": {20, affineGrid},
}

func float32s(v ...float64) wire.Tensor {
	t := wire.Tensor{DataType: wire.Float, Dims: []int64{int64(len(v))}}
	for _, x := range v {
		t.Raw = appendElement(t.Raw, wire.Float, x)
	}
	return t
}

func upsample(d *draw) {
	d.opset = min(d.opset, 9)
	d.bounded()
	mode := one(d, "nearest", "linear")
	d.str("mode", mode)
	t := one(d, wire.Float, wire.Float, wire.Int32, wire.Uint8)
	scales := []float64{1, 1, one(d, 1, 2, 1.5, 3), one(d, 1, 2, 2.5)}
	dims := []int64{d.full(), d.full(), d.full(), d.full()}
	d.input(t, dims)
	if d.opset >= 9 {
		d.add(float32s(scales...), true)
	} else {
		var f []float32
		for _, s := range scales {
			f = append(f, float32(s))
		}
		d.floats("scales", f...)
	}
	d.output(t)
}

func resize(d *draw) {
	d.bounded()
	d.tol = rough
	mode := one(d, "nearest", "linear", "cubic")
	if d.opset < 11 {
		mode = one(d, "nearest", "linear")
	}
	d.str("mode", mode)
	t := one(d, wire.Float, wire.Float, wire.Float, wire.Int32, wire.Uint8, wire.Int8)
	if mode == "cubic" {
		t = wire.Float
	}
	dims := []int64{d.full(), d.full(), 2 + d.Int64N(4), 2 + d.Int64N(4)}
	scales := []float64{1, 1, one(d, 0.5, 1, 2, 1.5, 3, 0.75), one(d, 0.5, 1, 2, 2.5, 0.6)}
	if d.opset < 11 {
		d.input(t, dims)
		d.add(float32s(scales...), true)
		d.output(t)
		return
	}
	transform := one(d, "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize")
	if d.opset >= 19 {
		transform = one(d, transform, "half_pixel_symmetric")
	}
	if t != wire.Float && transform == "tf_crop_and_resize" {
		transform = "asymmetric"
	}
	d.maybe(func() { d.str("coordinate_transformation_mode", transform) })
	if len(d.node.Attributes) == 1 {
		transform = ""
	}
	if mode == "nearest" {
		d.maybe(func() { d.str("nearest_mode", one(d, "round_prefer_floor", "round_prefer_ceil", "floor", "ceil")) })
	}
	if mode == "cubic" {
		d.maybe(func() { d.float("cubic_coeff_a", -0.5) })
		d.maybe(func() { d.int("exclude_outside", d.Int64N(2)) })
	}
	if transform == "tf_crop_and_resize" {
		d.maybe(func() { d.float("extrapolation_value", 10) })
	}
	if d.opset >= 18 {
		d.maybe(func() {
			if mode != "nearest" {
				d.int("antialias", d.Int64N(2))
			}
		})
	}
	d.input(t, dims)
	if transform == "tf_crop_and_resize" {
		d.add(float32s(0, 0, 0.1, 0.2, 1, 1, 0.8, one(d, 0.9, 1.2)), true)
	} else if d.opset >= 13 {
		d.absent()
	} else {
		d.add(float32s(), true)
	}
	if d.coin() {
		d.add(float32s(scales...), true)
	} else {
		if d.opset >= 13 {
			d.absent()
		} else {
			d.add(float32s(), true)
		}
		d.list(wire.Int64, dims[0], dims[1], d.full(), d.full())
	}
	d.output(t)
}

func gridSample(d *draw) {
	d.bounded()
	d.tol = rough
	rank := 2
	mode := one(d, "bilinear", "nearest", "bicubic")
	if d.opset >= 20 {
		rank = 2 + d.IntN(2)
		mode = one(d, "linear", "nearest", "cubic")
		if rank == 3 {
			mode = one(d, "linear", "nearest")
		}
	}
	t := one(d, singles...)
	d.maybe(func() { d.str("mode", mode) })
	d.maybe(func() { d.str("padding_mode", one(d, "zeros", "border", "reflection")) })
	d.maybe(func() { d.int("align_corners", d.Int64N(2)) })
	n := d.full()
	d.input(t, append([]int64{n, d.full()}, d.solid(rank, rank)...))
	d.add(numbersOf(t, append(append([]int64{n}, d.solid(rank, rank)...), int64(rank)), func() float64 { return 3*d.Float64() - 1.5 }), false)
	d.output(t)
}

func roiAlign(d *draw) {
	d.bounded()
	d.tol = rough
	t := one(d, singles...)
	d.maybe(func() { d.str("mode", one(d, "avg", "max")) })
	if d.opset >= 16 {
		d.maybe(func() { d.str("coordinate_transformation_mode", one(d, "half_pixel", "output_half_pixel")) })
	}
	d.int("output_height", d.full())
	d.int("output_width", d.full())
	d.int("sampling_ratio", d.Int64N(3))
	d.maybe(func() { d.float("spatial_scale", one(d, 0.5, 1)) })
	n, rois := d.full(), d.full()
	d.input(t, []int64{n, d.full(), 2 + d.full(), 2 + d.full()})
	i := 0
	d.add(numbersOf(t, []int64{rois, 4}, func() float64 { i++; return d.Float64()*2 + float64((i-1)%4/2)*3 }), false)
	d.index(wire.Int64, []int64{rois}, n, false)
	d.output(t)
}

func affineGrid(d *draw) {
	d.bounded()
	d.tol = rough
	t := one(d, singles...)
	rank := 2 + d.Int64N(2)
	d.maybe(func() { d.int("align_corners", d.Int64N(2)) })
	n := d.full()
	d.input(t, []int64{n, rank, rank + 1})
	size := []int64{n, d.full()}
	for range rank {
		size = append(size, 1+d.full())
	}
	d.list(wire.Int64, size...)
	d.output(t)
}

package graphtest

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/conv"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/pool"
	"github.com/berth-go/berth/internal/op/resample"
	"github.com/berth-go/berth/internal/op/slide"
	"github.com/berth-go/berth/shape"
)

// resize draws coefficients with which sums of small numbers are exact.
func resize(b *builder, x graph.Value) ([]graph.Value, error) {
	o := resample.Resize{
		Mode:        resample.Mode(b.rng.IntN(3)),
		Coordinates: resample.Coordinates(b.rng.IntN(7)), Rounding: resample.Rounding(b.rng.IntN(5)),
		A: -0.75, ExcludeOutside: b.oneIn(2), Extrapolation: 2,
	}
	if x.Type().DType == dtype.Bool {
		o.Mode = resample.Nearest
	}
	o.Antialias = o.Mode != resample.Nearest && b.oneIn(3)
	var ends []float64
	scaled := b.oneIn(2)
	for _, n := range x.Type().Shape {
		if scaled {
			o.Scales = append(o.Scales, []float64{0.5, 0.7, 1, 1, 1.5, 2}[b.rng.IntN(6)])
		} else if n > 0 && b.oneIn(2) {
			o.Sizes = append(o.Sizes, 1+b.rng.IntN(6))
		} else {
			o.Sizes = append(o.Sizes, n)
		}
		o.Region, ends = append(o.Region, float64(b.rng.IntN(3))/4), append(ends, float64(b.rng.IntN(5))/4)
	}
	o.Region = append(o.Region, ends...)
	if o.Mode == resample.Nearest {
		return ops.Apply(o, x)
	}
	return b.tame(ops.Apply(o, x))
}

// gridSample has a grid of small whole numbers, which lie far outside mostly.
func gridSample(b *builder, x graph.Value) ([]graph.Value, error) {
	x = b.image(x)
	s := x.Type().Shape
	dims := shape.Shape{s[0]}
	for range s[2:] {
		dims = append(dims, b.extent())
	}
	grid := b.of(graph.Type{DType: x.Type().DType, Shape: append(dims, len(s)-2)})
	o := resample.GridSample{Mode: resample.Mode(b.rng.IntN(3)), Padding: resample.Padding(b.rng.IntN(3)), AlignCorners: b.oneIn(2)}
	return b.tame(ops.Apply(o, x, grid))
}

// deformColumns has offsets of small whole numbers.
func deformColumns(b *builder, x graph.Value) ([]graph.Value, error) {
	x = b.image(x)
	s := x.Type().Shape
	axes := len(s) - 2
	o := conv.DeformColumns{Groups: 1}
	o.KernelShape, o.Strides, o.Pads, o.Dilations = b.sliding(axes)
	win, err := slide.Window{Taps: o.KernelShape, Strides: o.Strides, Pads: o.Pads, Dilations: o.Dilations}.Check(axes)
	if err != nil {
		return nil, err
	}
	positions, err := win.Positions(s[2:], false)
	if err != nil {
		return nil, err
	}
	taps := shape.Shape(o.KernelShape).Elems()
	of := func(n int) graph.Type {
		return graph.Type{DType: x.Type().DType, Shape: append(shape.Shape{s[0], n}, positions...)}
	}
	return b.tame(ops.Apply(o, x, b.of(of(taps*axes)), b.maybe(of(taps))))
}

// maxRoi has regions of small whole numbers, of images that there are.
func maxRoi(b *builder, x graph.Value) ([]graph.Value, error) {
	x = b.image(x)
	s := x.Type().Shape
	if len(s) != 4 || s[0] == 0 {
		return nil, nil
	}
	n := b.extent()
	images := b.numbers(graph.Type{DType: x.Type().DType, Shape: shape.Shape{n, 1}}, 0, s[0])
	corners := b.of(graph.Type{DType: x.Type().DType, Shape: shape.Shape{n, 4}})
	o := pool.MaxRoi{Height: 1 + b.rng.IntN(3), Width: 1 + b.rng.IntN(3), Scale: 1}
	return ops.Apply(o, x, b.one(move.Concat{Axis: 1}, images, corners))
}

// roiAlign has regions of small whole numbers, some of which are no regions.
func roiAlign(b *builder, x graph.Value) ([]graph.Value, error) {
	x = b.image(x)
	s := x.Type().Shape
	if len(s) != 4 || s[0] == 0 {
		return nil, nil
	}
	n := b.extent()
	rois := b.of(graph.Type{DType: x.Type().DType, Shape: shape.Shape{n, 4}})
	images := b.numbers(graph.Type{DType: dtype.Int64, Shape: shape.Shape{n}}, 0, s[0])
	o := resample.RoiAlign{
		Max: b.oneIn(2), Height: 1 + b.rng.IntN(3), Width: 1 + b.rng.IntN(3),
		SamplingRatio: b.rng.IntN(3), Scale: 0.5, HalfPixel: b.oneIn(2),
	}
	return b.tame(ops.Apply(o, x, rois, images))
}

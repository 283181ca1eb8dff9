package onnx

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/resample"
	"github.com/berth-go/berth/internal/op/view"
)

// convertGridSample computes in the wider of both types, and with integers in
// float64. Version 16 has planes alone, and other names of the modes.
func convertGridSample(c *call) []graph.Value {
	names := map[string]resample.Mode{"linear": resample.Linear, "nearest": resample.Nearest, "cubic": resample.Cubic}
	def := "linear"
	if c.opset() < 20 {
		names = map[string]resample.Mode{"bilinear": resample.Linear, "nearest": resample.Nearest, "bicubic": resample.Cubic}
		if def = "bilinear"; c.rank(0) != 4 {
			c.failf("input 0 has the shape %v, not the 4 axes of planes", c.shape(0))
		}
	}
	o := resample.GridSample{
		Mode: choice(c, "mode", def, names),
		Padding: choice(c, "padding_mode", "zeros", map[string]resample.Padding{
			"zeros": resample.Zeros, "border": resample.Border, "reflection": resample.Reflection,
		}),
		AlignCorners: c.flag("align_corners", false),
	}
	x, grid := c.in[0], c.in[1]
	t := x.Type().DType
	if !grid.Type().DType.IsFloat() {
		c.failf("input 1 is %v, not of a floating-point type", grid.Type())
	}
	in := t
	if t != grid.Type().DType {
		if in = dtype.Float64; t.IsFloat() {
			in = wider(t, grid.Type().DType)
		}
	}
	return list(c.castTo(c.one(o, c.castTo(x, in), c.castTo(grid, in)), t))
}

// convertAffineGrid maps the places of an image of r axes, each from -1 to 1, by
// matrices theta of r rows and r+1 columns, one for each image: a place is the sum of
// the columns, each times a coordinate, the last axis first, and of the last column.
func convertAffineGrid(c *call) []graph.Value {
	theta, size := c.in[0], c.dims(1)
	axes := len(size) - 2
	if axes != 2 && axes != 3 {
		c.failf("size %v is not that of planes or volumes", size)
	}
	if s := c.shape(0); len(s) != 3 || s[0] != size[0] || s[1] != axes || s[2] != axes+1 {
		c.failf("theta is %v, want [%d %d %d] for size %v", theta.Type(), size[0], axes, axes+1, size)
	}
	corners := c.flag("align_corners", false)
	column := func(j int) graph.Value {
		dims := []int{size[0], 1, 1, 1, 1}[:axes+1]
		return c.reshape(c.one(view.SliceView{Axis: 2, Start: j, N: 1, Step: 1}, theta), append(dims, axes)...)
	}
	sum := column(axes)
	for j := range axes {
		at := c.evenly(size[1+axes-j], corners, theta.Type().DType)
		product := c.elementwise(elementwise.Mul, nil, column(j), c.along(at, axes-j, axes+2))
		sum = c.elementwise(elementwise.Add, nil, sum, product)
	}
	return list(sum)
}

// evenly returns the places of n elements that cover -1 to 1 evenly, with their
// middles from end to end or else with their edges. One element is at 0.
func (c *call) evenly(n int, corners bool, t dtype.Type) graph.Value {
	twice := c.one(move.Iota{N: n, Start: int64Scalar(1 - n), Delta: int64Scalar(2)})
	if corners {
		n = max(n-1, 1)
	}
	return c.elementwise(elementwise.Div, nil, c.castTo(twice, t), c.castTo(c.extents([]int{n}), t))
}

// convertRoiAlign has a choice of coordinates since version 16; before, they were not
// shifted by half an element.
func convertRoiAlign(c *call) []graph.Value {
	c.attrSince(16, "coordinate_transformation_mode")
	def := "half_pixel"
	if c.opset() < 16 {
		def = "output_half_pixel"
	}
	return list(c.one(resample.RoiAlign{
		HalfPixel:     choice(c, "coordinate_transformation_mode", def, map[string]bool{"half_pixel": true, "output_half_pixel": false}),
		Max:           choice(c, "mode", "avg", map[string]bool{"avg": false, "max": true}),
		Height:        c.int("output_height", 1),
		Width:         c.int("output_width", 1),
		SamplingRatio: c.int("sampling_ratio", 0),
		Scale:         c.float("spatial_scale", 1),
	}, c.in...))
}

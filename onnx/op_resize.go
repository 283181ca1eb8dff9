package onnx

import (
	"math"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/resample"
	"github.com/berth-go/berth/internal/op/view"
)

// resizeOps are the operators that read images between their elements.
var resizeOps = []row{
	{"", "Upsample", 7, 1, 1, convertUpsample},
	{"", "Upsample", 9, 2, 2, convertUpsample},
	{"", "Resize", 10, 2, 2, convertResize10},
	{"", "Resize", 11, 3, 4, convertResize},
	{"", "Resize", 13, 1, 4, convertResize},
	{"", "GridSample", 16, 2, 2, convertGridSample},
	{"", "AffineGrid", 20, 2, 2, convertAffineGrid},
	{"", "RoiAlign", 10, 3, 3, convertRoiAlign},
}

// convertUpsample converts an operator that has its scales as an attribute at first,
// then as an input, and never makes an axis shorter.
func convertUpsample(c *call) []graph.Value {
	var scales []float64
	if c.opset() < 9 {
		c.require("scales")
		scales = c.floats("scales")
	} else {
		scales = c.numbers(1)
	}
	for _, s := range scales {
		if s < 1 {
			c.failf("scales %v: %v is less than 1", scales, s)
		}
	}
	return c.resizeByScales(scales)
}

// convertResize10 converts Resize before it had a choice of coordinates.
func convertResize10(c *call) []graph.Value { return c.resizeByScales(c.numbers(1)) }

// resizeByScales returns input 0 with each axis resized by a scale, as Upsample does.
func (c *call) resizeByScales(scales []float64) []graph.Value {
	r := resample.Resize{
		Mode: choice(c, "mode", "nearest", map[string]resample.Mode{
			"nearest": resample.Nearest, "linear": resample.Linear,
		}),
		Scales: scales, Coordinates: resample.Asymmetric, Rounding: resample.FloorOrCeil,
	}
	return list(c.resized(r))
}

func convertResize(c *call) []graph.Value {
	c.attrSince(18, "antialias", "axes", "keep_aspect_ratio_policy")
	kinds := map[string]resample.Coordinates{
		"half_pixel": resample.HalfPixel, "pytorch_half_pixel": resample.PytorchHalfPixel,
		"align_corners": resample.AlignCorners, "asymmetric": resample.Asymmetric, "tf_crop_and_resize": resample.CropAndResize,
	}
	if c.opset() < 13 {
		kinds["tf_half_pixel_for_nn"] = resample.HalfPixelNearest
	}
	if c.opset() >= 19 {
		kinds["half_pixel_symmetric"] = resample.HalfPixelSymmetric
	}
	r := resample.Resize{
		Mode:        choice(c, "mode", "nearest", map[string]resample.Mode{"nearest": resample.Nearest, "linear": resample.Linear, "cubic": resample.Cubic}),
		Coordinates: choice(c, "coordinate_transformation_mode", "half_pixel", kinds),
		Rounding: choice(c, "nearest_mode", "round_prefer_floor", map[string]resample.Rounding{
			"round_prefer_floor": resample.PreferFloor, "round_prefer_ceil": resample.PreferCeil, "floor": resample.Floor, "ceil": resample.Ceil,
		}),
		A:              c.float("cubic_coeff_a", -0.75),
		ExcludeOutside: c.flag("exclude_outside", false),
		Antialias:      c.flag("antialias", false),
		Extrapolation:  c.float("extrapolation_value", 0),
	}
	c.setExtents(&r)
	return list(c.resized(r))
}

// setExtents sets the scales, sizes and the region of a Resize: lists with an entry
// for each axis, or for those that an attribute names. An absent list may also be
// there without elements.
func (c *call) setExtents(r *resample.Resize) {
	rank := c.rank(0)
	axes := upTo(rank)
	if c.hasAttr("axes") {
		axes = c.axes(c.ints("axes"), rank)
	}
	given := func(i int) bool { return c.has(i) && (c.shape(i).Elems() > 0 || len(axes) == 0) }
	entries := func(name string, n, want int) {
		if n != want {
			c.failf("there are %d %s, want %d for the axes %v", n, name, want, axes)
		}
	}
	if given(2) && given(3) && len(axes) > 0 {
		c.failf("there are both scales and sizes")
	}
	policy := choice(c, "keep_aspect_ratio_policy", "stretch", map[string]func(scales ...float64) float64{
		"stretch":     nil,
		"not_larger":  func(scales ...float64) float64 { return slices.Min(scales) },
		"not_smaller": func(scales ...float64) float64 { return slices.Max(scales) },
	})
	switch {
	case given(2):
		scales := c.numbers(2)
		entries("scales", len(scales), len(axes))
		r.Scales = slices.Repeat([]float64{1}, rank)
		for i, a := range axes {
			r.Scales[a] = scales[i]
		}
	case given(3):
		sizes := c.known(3)
		entries("sizes", len(sizes), len(axes))
		r.Sizes = c.shape(0).Clone()
		for i, a := range axes {
			r.Sizes[a] = sizes[i]
		}
		if policy != nil && len(axes) > 0 {
			c.keepAspect(r, axes, policy)
		}
	default:
		c.failf("there are neither scales nor sizes")
	}
	if r.Coordinates != resample.CropAndResize {
		return
	}
	if !given(1) {
		c.failf("tf_crop_and_resize has no region, input 1")
	}
	region := c.numbers(1)
	entries("numbers in the region", len(region), 2*len(axes))
	r.Region = append(make([]float64, rank), slices.Repeat([]float64{1}, rank)...)
	for i, a := range axes {
		r.Region[a], r.Region[rank+a] = region[i], region[len(axes)+i]
	}
}

// keepAspect gives all axes the same scale, one of those that the sizes ask for.
func (c *call) keepAspect(r *resample.Resize, axes []int, pick func(scales ...float64) float64) {
	scales := make([]float64, len(axes))
	for i, a := range axes {
		n := c.shape(0)[a]
		if n == 0 {
			c.failf("axis %d of %v has no elements whose aspect ratio could be kept", a, c.shape(0))
		}
		scales[i] = float64(r.Sizes[a]) / float64(n)
	}
	scale := pick(scales...)
	r.Scales = slices.Repeat([]float64{1}, c.rank(0))
	for _, a := range axes {
		r.Scales[a] = scale
		r.Sizes[a] = int(min(math.Floor(scale*float64(c.shape(0)[a])+0.5), math.MaxInt32))
	}
}

// resized returns input 0 resized. Halves that are only moved are moved as integers.
func (c *call) resized(r resample.Resize) graph.Value {
	x := c.in[0]
	t := x.Type().DType
	if !t.IsHalf() || r.Mode != resample.Nearest || r.Coordinates == resample.CropAndResize {
		return c.one(r, x)
	}
	return c.one(view.Bitcast{To: t}, c.one(r, c.one(view.Bitcast{To: dtype.Uint16}, x)))
}

// numbers returns the elements of input i, a list of floating-point numbers, because
// a shape depends on them.
func (c *call) numbers(i int) []float64 {
	if t := c.in[i].Type(); len(t.Shape) != 1 || !t.DType.IsFloat() {
		c.failf("input %d is %v, not a list of floating-point numbers", i, t)
	}
	out := []float64{}
	for _, s := range c.scalars(i) {
		out = append(out, s.Float64())
	}
	return out
}

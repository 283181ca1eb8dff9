package onnx

import (
	"math"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

func TestUpsample(t *testing.T) {
	x := counting(1, 1, 2)
	linear := attrText("mode", "linear")
	twice := f32([]float64{1, 1, 2, 2}, 1, 4)
	runNodeTests(t, []nodeTest{
		{"attribute", "Upsample", 7, attrs(attrFloats("scales", 1, 2)), in{x}, in{twice}, ""},
		{"attribute missing", "Upsample", 7, nil, in{x}, nil, `attribute "scales" is missing`},
		{"input too early", "Upsample", 7, nil, in{x, f32([]float64{1, 2})}, nil, "has 2 inputs"},
		{"input", "Upsample", 9, nil, in{x, f32([]float64{1, 2})}, in{twice}, ""},
		{"attribute too late", "Upsample", 9, attrs(attrFloats("scales", 1, 2)), in{x, f32([]float64{1, 2})}, nil, `no attribute "scales"`},
		{"linear", "Upsample", 9, attrs(linear), in{x, f32([]float64{1, 2})}, in{f32([]float64{1, 1.5, 2, 2}, 1, 4)}, ""},
		{"the element before", "Upsample", 9, nil, in{x, f32([]float64{1, 1.9})}, in{f32([]float64{1, 1, 2}, 1, 3)}, ""},
		{"smaller", "Upsample", 9, nil, in{x, f32([]float64{1, .5})}, nil, "0.5 is less than 1"},
		{"cubic", "Upsample", 9, attrs(attrText("mode", "cubic")), in{x, f32([]float64{1, 2})}, nil, `"mode" is "cubic"`},
	})
}

func TestResize(t *testing.T) {
	x := counting(1, 1, 4)
	none := tensorOf(dtype.Float32, nil, 0)
	scales := func(v ...float64) *berth.Tensor { return f32(v) }
	sizes := func(v ...float64) *berth.Tensor { return i64(v) }
	linear, cubic := attrText("mode", "linear"), attrText("mode", "cubic")
	at := func(kind string) wire.Attribute { return attrText("coordinate_transformation_mode", kind) }
	half := func(t dtype.Type, v ...float64) *berth.Tensor { return tensorOf(t, v, 1, len(v)) }
	row := func(v ...float64) *berth.Tensor { return f32(v, 1, len(v)) }
	aspect := func(policy string) wire.Attribute { return attrText("keep_aspect_ratio_policy", policy) }
	runNodeTests(t, []nodeTest{
		{"half, the element behind", "Resize", 10, nil, in{x, scales(1, .6)}, in{row(1, 3)}, ""},
		{"more, the element before", "Resize", 10, nil, in{x, scales(1, 1.3)}, in{row(1, 1, 2, 3, 4)}, ""},
		{"linear", "Resize", 10, attrs(linear), in{x, scales(1, .5)}, in{row(1, 3)}, ""},
		{"no coordinates yet", "Resize", 10, attrs(at("half_pixel")), in{x, scales(1, .5)}, nil, `no attribute "coordinate_transformation_mode"`},

		{"scales", "Resize", 11, nil, in{x, none, scales(1, 2)}, in{row(1, 1, 2, 2, 3, 3, 4, 4)}, ""},
		{"sizes", "Resize", 11, nil, in{x, none, none, sizes(1, 2)}, in{row(1, 3)}, ""},
		{"both", "Resize", 11, nil, in{x, none, scales(1, 2), sizes(1, 2)}, nil, "both scales and sizes"},
		{"neither", "Resize", 11, nil, in{x, none, none}, nil, "neither scales nor sizes"},
		{"too few scales", "Resize", 11, nil, in{x, none, scales(2)}, nil, "1 scales, want 2"},
		{"too many sizes", "Resize", 13, nil, in{x, nil, nil, sizes(1, 2, 3)}, nil, "3 sizes, want 2"},
		{"negative size", "Resize", 13, nil, in{x, nil, nil, sizes(1, -2)}, nil, "an extent of -2"},
		{"scales of integers", "Resize", 13, nil, in{x, nil, sizes(1, 2)}, nil, "input 2 is int64[2], not a list of floating-point"},
		{"negative scale", "Resize", 13, nil, in{x, nil, scales(1, -2)}, nil, "-2 is not a positive float32"},
		{"rounding", "Resize", 13, attrs(attrText("nearest_mode", "round_prefer_ceil")), in{x, nil, nil, sizes(1, 2)}, in{row(2, 4)}, ""},
		{"floor", "Resize", 13, attrs(attrText("nearest_mode", "floor")), in{x, nil, nil, sizes(1, 8)}, in{row(1, 1, 1, 2, 2, 3, 3, 4)}, ""},
		{"ceil", "Resize", 13, attrs(attrText("nearest_mode", "ceil")), in{x, nil, nil, sizes(1, 8)}, in{row(1, 2, 2, 3, 3, 4, 4, 4)}, ""},
		{"a half pixel further", "Resize", 11, attrs(at("tf_half_pixel_for_nn"), attrText("nearest_mode", "floor")), in{x, none, none, sizes(1, 2)}, in{row(2, 4)}, ""},
		{"no half pixel further", "Resize", 13, attrs(at("tf_half_pixel_for_nn")), in{x, nil, nil, sizes(1, 2)}, nil, "at opset 13"},
		{"ends to ends", "Resize", 13, attrs(linear, at("align_corners")), in{x, nil, nil, sizes(1, 7)}, in{row(1, 1.5, 2, 2.5, 3, 3.5, 4)}, ""},
		{"one element", "Resize", 13, attrs(linear, at("pytorch_half_pixel")), in{x, nil, nil, sizes(1, 1)}, in{row(1)}, ""},
		{"one element from the middle", "Resize", 13, attrs(linear), in{x, nil, nil, sizes(1, 1)}, in{row(2.5)}, ""},
		{"asymmetric", "Resize", 13, attrs(linear, at("asymmetric")), in{x, nil, scales(1, 2)}, in{row(1, 1.5, 2, 2.5, 3, 3.5, 4, 4)}, ""},
		{"not symmetric yet", "Resize", 18, attrs(at("half_pixel_symmetric")), in{x, nil, scales(1, 2)}, nil, "at opset 18"},
		{"symmetric", "Resize", 19, attrs(linear, at("half_pixel_symmetric")), in{x, nil, scales(1, .4)}, in{row(2.5)}, ""},
		{"cubic", "Resize", 13, attrs(cubic, at("asymmetric")), in{row(0, 0, 1, 0), nil, scales(1, 2)}, in{row(0, -.09375, 0, .59375, 1, .59375, 0, -.09375)}, ""},
		{"cubic of another coefficient", "Resize", 13, attrs(cubic, at("asymmetric"), attrFloat("cubic_coeff_a", -.5)), in{row(0, 0, 1, 0), nil, scales(1, 2)}, in{row(0, -.0625, 0, .5625, 1, .5625, 0, -.0625)}, ""},
		{"cubic without outside", "Resize", 13, attrs(cubic, at("asymmetric"), attrInt("exclude_outside", 1)), in{row(0, 1), nil, scales(1, 2)}, in{row(0, .5, 1, 1.1875)}, ""},

		{"a region", "Resize", 13, attrs(linear, at("tf_crop_and_resize"), attrFloat("extrapolation_value", 9)), in{x, scales(0, .5, 1, 1.5), nil, sizes(1, 3)}, in{row(2.5, 4, 9)}, ""},
		{"no region", "Resize", 13, attrs(at("tf_crop_and_resize")), in{x, nil, nil, sizes(1, 3)}, nil, "has no region"},
		{"half a region", "Resize", 13, attrs(at("tf_crop_and_resize")), in{x, scales(0, 1), nil, sizes(1, 3)}, nil, "there are 2 numbers in the region, want 4"},
		{"a region of an axis", "Resize", 18, attrs(linear, at("tf_crop_and_resize"), attrInts("axes", -1)), in{x, scales(1, 0), nil, sizes(2)}, in{row(4, 1)}, ""},

		{"axes too early", "Resize", 13, attrs(attrInts("axes", 1)), in{x, nil, nil, sizes(2)}, nil, "attribute axes does not exist before version 18"},
		{"axes", "Resize", 18, attrs(attrInts("axes", -1)), in{x, nil, nil, sizes(2)}, in{row(1, 3)}, ""},
		{"axes in another order", "Resize", 18, attrs(attrInts("axes", 1, 0)), in{x, nil, scales(.5, 2)}, in{f32([]float64{1, 3, 1, 3}, 2, 2)}, ""},
		{"an axis twice", "Resize", 18, attrs(attrInts("axes", 1, -1)), in{x, nil, scales(.5, 2)}, nil, "twice"},
		{"no axes", "Resize", 18, attrs(wire.Attribute{Name: "axes", Kind: wire.AttrInts}), in{x, nil, none}, in{x}, ""},
		{"not larger", "Resize", 18, attrs(aspect("not_larger")), in{counting(0, 4, 2), nil, nil, sizes(2, 2)}, in{f32([]float64{0, 4}, 2, 1)}, ""},
		{"not smaller", "Resize", 18, attrs(aspect("not_smaller")), in{counting(0, 1, 2), nil, nil, sizes(2, 2)}, in{f32([]float64{0, 0, 1, 1, 0, 0, 1, 1}, 2, 4)}, ""},
		{"halves round up", "Resize", 18, attrs(aspect("not_larger"), attrInts("axes", 0, 1)), in{counting(0, 3, 2), nil, nil, sizes(9, 5)}, in{f32([]float64{0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 2, 2, 2, 3, 3, 4, 4, 4, 5, 5, 4, 4, 4, 5, 5, 4, 4, 4, 5, 5}, 8, 5)}, ""},
		{"the aspect of nothing", "Resize", 18, attrs(aspect("not_larger")), in{tensorOf(dtype.Float32, nil, 0, 2), nil, nil, sizes(1, 1)}, nil, "axis 0 of [0 2] has no elements"},
		{"antialiased", "Resize", 18, attrs(linear, attrInt("antialias", 1)), in{x, nil, nil, sizes(1, 2)}, in{row(1.625, 3.375)}, ""},
		{"antialiased nearest", "Resize", 18, attrs(attrInt("antialias", 1)), in{x, nil, nil, sizes(1, 2)}, nil, "nothing to antialias"},

		{"nothing of nothing", "Resize", 13, nil, in{tensorOf(dtype.Float32, nil, 0, 2), nil, scales(2, 2)}, in{tensorOf(dtype.Float32, nil, 0, 4)}, ""},
		{"nothing of something", "Resize", 13, nil, in{x, nil, scales(1, .2)}, in{tensorOf(dtype.Float32, nil, 1, 0)}, ""},
		{"something of nothing", "Resize", 13, nil, in{tensorOf(dtype.Float32, nil, 0, 2), nil, nil, sizes(1, 2)}, nil, "there is no element to make 1 of"},
		{"more than memory", "Resize", 13, nil, in{x, nil, scales(1, 1e30)}, nil, "an extent of"},
		{"halves", "Resize", 13, nil, in{half(dtype.Float16, 1, math.NaN()), nil, scales(1, 2)}, in{half(dtype.Float16, 1, 1, math.NaN(), math.NaN())}, ""},
		{"linear halves", "Resize", 13, attrs(linear), in{half(dtype.BFloat16, 1, 2), nil, scales(1, 2)}, in{half(dtype.BFloat16, 1, 1.25, 1.75, 2)}, ""},
		{"a region of halves", "Resize", 13, attrs(at("tf_crop_and_resize"), attrFloat("extrapolation_value", 7)), in{half(dtype.Float16, 1, 2), scales(0, 0, 1, 2), nil, sizes(1, 3)}, in{half(dtype.Float16, 1, 2, 7)}, ""},
		{"doubles", "Resize", 13, attrs(linear), in{half(dtype.Float64, 1, 2), nil, scales(1, 2)}, in{half(dtype.Float64, 1, 1.25, 1.75, 2)}, ""},
		{"bytes", "Resize", 13, attrs(linear), in{half(dtype.Uint8, 1, 250), nil, scales(1, 2)}, in{half(dtype.Uint8, 1, 63, 187, 250)}, ""},
		{"truth values", "Resize", 13, nil, in{truth([]float64{0, 1}), nil, scales(2)}, in{truth([]float64{0, 0, 1, 1})}, ""},
		{"sums of truth values", "Resize", 13, attrs(linear), in{truth([]float64{0, 1}), nil, scales(2)}, nil, "bool[2]: its elements have no arithmetic"},
	})
}

// Sizes that follow the rows of a program.
func TestResizeProgram(t *testing.T) {
	for _, nodes := range [][]wire.Node{
		{
			nodeOf("Shape", names{"x"}, names{"s"}), nodeOf("Constant", nil, names{"two"}, attrInts("value_ints", 2)),
			nodeOf("Mul", names{"s", "two"}, names{"sizes"}),
			nodeOf("Resize", names{"x", "", "", "sizes"}, names{"y"}, attrText("mode", "linear")),
		},
		{
			nodeOf("Constant", nil, names{"scales"}, attrFloats("value_floats", 1.5, 2)),
			nodeOf("Resize", names{"x", "", "scales"}, names{"y"}),
		},
	} {
		m, err := Parse(addModel(func(m *wire.Model) {
			m.Graph.Inputs[0].Type.Tensor.Shape.Dims = []wire.Dim{{Param: "n"}, {HasValue: true, Value: 2}}
			m.Graph.Nodes = nodes
		}))
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Compile(t.Context(), &Options{Rows: 5})
		if err != nil {
			t.Fatal(err)
		}
		inst, err := p.NewInstance(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, rows := range []int{5, 1, 3, 5} {
			data := make([]float32, 2*rows)
			for i := range data {
				data[i] = float32(i * i)
			}
			x, err := berth.FromSlice(data, rows, 2)
			if err != nil {
				t.Fatal(err)
			}
			want, err := m.Run(t.Context(), map[string]*berth.Tensor{"x": x})
			if err != nil {
				t.Fatal(err)
			}
			wanted := numbers(want["y"])
			got := make([]float32, len(wanted))
			if err := inst.Run(t.Context(), berth.Values{"x": data}, berth.Values{"y": got}); err != nil {
				t.Fatal(err)
			}
			for i, v := range wanted {
				if float64(got[i]) != v {
					t.Errorf("%d rows: element %d is %v, want %v", rows, i, got[i], v)
				}
			}
		}
	}
}

func TestGridSample(t *testing.T) {
	x := counting(1, 1, 1, 2, 2)
	at := func(v ...float64) *berth.Tensor { return f32(v, 1, 1, len(v)/2, 2) }
	y := func(v ...float64) *berth.Tensor { return f32(v, 1, 1, 1, len(v)) }
	corners := attrInt("align_corners", 1)
	mode := func(name string) wire.Attribute { return attrText("mode", name) }
	as := func(t dtype.Type, data []float64, dims ...int) *berth.Tensor { return tensorOf(t, data, dims...) }
	line := counting(1, 1, 1, 3)
	runNodeTests(t, []nodeTest{
		{"x before y", "GridSample", 16, attrs(corners), in{x, at(1, -1, -1, 1, 0, 0)}, in{y(2, 3, 2.5)}, ""},
		{"outside is 0", "GridSample", 16, nil, in{x, at(-1, -1, 9, 0)}, in{y(.25, 0)}, ""},
		{"border", "GridSample", 16, attrs(attrText("padding_mode", "border")), in{x, at(-1, -1, 9, 0)}, in{y(1, 3)}, ""},
		{"reflection", "GridSample", 16, attrs(attrText("padding_mode", "reflection"), corners), in{x, at(2, -1, 4, 1)}, in{y(1.5, 3.5)}, ""},
		{"nearest, even", "GridSample", 16, attrs(mode("nearest"), corners), in{x, at(0, 0)}, in{y(1)}, ""},
		{"bicubic", "GridSample", 16, attrs(mode("bicubic"), corners, attrText("padding_mode", "border")), in{x, at(0, -1)}, in{y(1.5)}, ""},
		{"new names too early", "GridSample", 16, attrs(mode("linear")), in{x, at(0, 0)}, nil, `"mode" is "linear"`},
		{"lines too early", "GridSample", 16, nil, in{line, f32([]float64{0}, 1, 1, 1)}, nil, "not the 4 axes of planes"},
		{"old names too late", "GridSample", 20, attrs(mode("bilinear")), in{x, at(0, 0)}, nil, `"mode" is "bilinear"`},
		{"a line", "GridSample", 20, attrs(mode("cubic"), corners), in{line, f32([]float64{-1, .5, 1}, 1, 3, 1)}, in{f32([]float64{1, 2.875, 3}, 1, 1, 3)}, ""},
		{"a volume", "GridSample", 22, attrs(corners), in{counting(0, 1, 1, 2, 2, 2), f32([]float64{1, -1, 0}, 1, 1, 1, 1, 3)}, in{f32([]float64{3}, 1, 1, 1, 1, 1)}, ""},
		{"integers", "GridSample", 20, nil, in{as(dtype.Uint8, []float64{255, 0}, 1, 1, 2), f32([]float64{-.5, 0}, 1, 2, 1)}, in{as(dtype.Uint8, []float64{255, 127}, 1, 1, 2)}, ""},
		{"halves at floats", "GridSample", 20, attrs(corners), in{as(dtype.Float16, []float64{1, 3}, 1, 1, 2), f32([]float64{0}, 1, 1, 1)}, in{as(dtype.Float16, []float64{2}, 1, 1, 1)}, ""},
		{"places finer than halves", "GridSample", 20, attrs(corners), in{as(dtype.Float16, []float64{0, 1024}, 1, 1, 2), f32([]float64{0x1p-13 - 1}, 1, 1, 1)}, in{as(dtype.Float16, []float64{0x1p-4}, 1, 1, 1)}, ""},
		{"grid of integers", "GridSample", 20, nil, in{line, i64([]float64{0}, 1, 1, 1)}, nil, "not of a floating-point type"},
		{"no places", "GridSample", 20, nil, in{line, f32(nil, 1, 0, 1)}, in{f32(nil, 1, 1, 0)}, ""},
	})
}

func TestAffineGrid(t *testing.T) {
	turn := f32([]float64{0, 1, 5, 2, 0, 7}, 1, 2, 3) // x is y+5, y is 2x+7
	runNodeTests(t, []nodeTest{
		{"edges", "AffineGrid", 20, nil, in{turn, i64([]float64{1, 9, 2, 2})}, in{f32([]float64{4.5, 6, 4.5, 8, 5.5, 6, 5.5, 8}, 1, 2, 2, 2)}, ""},
		{"corners", "AffineGrid", 20, attrs(attrInt("align_corners", 1)), in{turn, i64([]float64{1, 9, 1, 3})}, in{f32([]float64{5, 5, 5, 7, 5, 9}, 1, 1, 3, 2)}, ""},
		{"a volume", "AffineGrid", 20, nil, in{f32([]float64{1, 0, 0, 10, 0, 1, 0, 20, 0, 0, 1, 30}, 1, 3, 4), i64([]float64{1, 1, 2, 1, 1})}, in{f32([]float64{10, 20, 29.5, 10, 20, 30.5}, 1, 2, 1, 1, 3)}, ""},
		{"doubles", "AffineGrid", 20, nil, in{tensorOf(dtype.Float64, []float64{1, 0, 0, 0, 1, 0}, 1, 2, 3), i64([]float64{1, 1, 1, 2})}, in{tensorOf(dtype.Float64, []float64{-.5, 0, .5, 0}, 1, 1, 2, 2)}, ""},
		{"a line", "AffineGrid", 20, nil, in{turn, i64([]float64{1, 9, 2})}, nil, "not that of planes or volumes"},
		{"another batch", "AffineGrid", 20, nil, in{turn, i64([]float64{2, 9, 2, 2})}, nil, "want [2 2 3]"},
		{"negative", "AffineGrid", 20, nil, in{turn, i64([]float64{1, 9, -2, 2})}, nil, "-2"},
	})
}

func TestRoiAlign(t *testing.T) {
	x := counting(0, 1, 1, 4, 4)
	roi, first := f32([]float64{1, 1, 3, 3}, 1, 4), i64([]float64{0})
	y := func(v ...float64) *berth.Tensor { return f32(v, 1, 1, 1, len(v)) }
	samples, two := attrInt("sampling_ratio", 1), attrInt("output_width", 2)
	half := func(x *berth.Tensor) *berth.Tensor { return tensorOf(dtype.Float16, numbers(x), x.Shape()...) }
	runNodeTests(t, []nodeTest{
		{"middles", "RoiAlign", 10, attrs(samples), in{x, roi, first}, in{y(10)}, ""},
		{"edges", "RoiAlign", 16, attrs(samples), in{x, roi, first}, in{y(7.5)}, ""},
		{"middles again", "RoiAlign", 16, attrs(samples, attrText("coordinate_transformation_mode", "output_half_pixel")), in{x, roi, first}, in{y(10)}, ""},
		{"no choice yet", "RoiAlign", 10, attrs(attrText("coordinate_transformation_mode", "half_pixel")), in{x, roi, first}, nil, "does not exist before version 16"},
		{"as many samples as elements", "RoiAlign", 16, attrs(two), in{x, roi, first}, in{y(7, 8)}, ""},
		{"half the size", "RoiAlign", 16, attrs(samples, attrFloat("spatial_scale", .5)), in{x, f32([]float64{2, 2, 6, 6}, 1, 4), first}, in{y(7.5)}, ""},
		{"largest part", "RoiAlign", 10, attrs(samples, attrText("mode", "max")), in{x, roi, first}, in{y(10)}, ""},
		{"halves", "RoiAlign", 16, attrs(samples), in{half(x), half(roi), first}, in{half(y(7.5))}, ""},
		{"no image", "RoiAlign", 16, nil, in{x, roi, i64([]float64{1})}, nil, "region 0 is of image 1"},
		{"no regions", "RoiAlign", 16, nil, in{x, f32(nil, 0, 4), i64(nil, 0)}, in{f32(nil, 0, 1, 1, 1)}, ""},
	})
}

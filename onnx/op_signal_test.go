package onnx

import (
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

func TestFourierTransforms(t *testing.T) {
	one := func(v float64) *berth.Tensor { return scalarOf(dtype.Int64, v) }
	// 1 2 3 4 has the spectrum 10, -2+2i, -2, -2-2i.
	x := f32([]float64{1, 2, 3, 4}, 1, 4, 1)
	full := f32([]float64{10, 0, -2, 2, -2, 0, -2, -2}, 1, 4, 2)
	half := f32([]float64{10, 0, -2, 2, -2, 0}, 1, 3, 2)
	back := f32([]float64{1, 0, 2, 0, 3, 0, 4, 0}, 1, 4, 2)
	onesided, inverse := attrInt("onesided", 1), attrInt("inverse", 1)
	rows := f32([]float64{1, 2, 3, 4}, 4, 1, 1)
	runNodeTests(t, []nodeTest{
		{"the second axis by default", "DFT", 17, nil, in{x}, in{full}, ""},
		{"axis as an attribute", "DFT", 19, attrs(attrInt("axis", -3)), in{rows}, in{f32([]float64{10, 0, -2, 2, -2, 0, -2, -2}, 4, 1, 2)}, ""},
		{"the attribute has gone", "DFT", 20, attrs(attrInt("axis", 1)), in{x}, nil, "attribute axis does not exist after version 19"},
		{"an axis input too early", "DFT", 19, nil, in{x, nil, one(1)}, nil, "has 3 inputs, the operator takes at most 2"},
		{"the last axis but one by default", "DFT", 20, nil, in{x}, in{full}, ""},
		{"axis as an input", "DFT", 20, nil, in{rows, nil, one(0)}, in{f32([]float64{10, 0, -2, 2, -2, 0, -2, -2}, 4, 1, 2)}, ""},
		{"the axis of the parts", "DFT", 20, nil, in{x, nil, one(-1)}, nil, "axis 2 has the parts of numbers"},
		{"one-sided", "DFT", 20, attrs(onesided), in{x}, in{half}, ""},
		{"inverse", "DFT", 20, attrs(inverse), in{full}, in{back}, ""},
		{"inverse of one side", "DFT", 20, attrs(inverse, onesided), in{half}, in{x}, ""},
		{"inverse of one side, of odd length", "DFT", 20, attrs(inverse, onesided), in{f32([]float64{6, 0, 0, 0}, 1, 2, 2), one(3)}, in{f32([]float64{2, 2, 2}, 1, 3, 1)}, ""},
		{"cut", "DFT", 17, nil, in{x, one(2)}, in{f32([]float64{3, 0, -1, 0}, 1, 2, 2)}, ""},
		{"continued by zeros", "DFT", 17, nil, in{f32([]float64{1, 2}, 1, 2, 1), one(4)}, in{f32([]float64{3, 0, 1, -2, -1, 0, 1, 2}, 1, 4, 2)}, ""},
		{"halves", "DFT", 20, nil, in{tensorOf(dtype.BFloat16, []float64{1, 2}, 2, 1)}, in{tensorOf(dtype.BFloat16, []float64{3, 0, -1, 0}, 2, 2)}, ""},
		{"no length", "DFT", 20, nil, in{x, one(0)}, nil, "length 0 is not in"},

		{"frames", "STFT", 17, nil, in{x, one(1), nil, one(2)}, in{f32([]float64{3, 0, -1, 0, 5, 0, -1, 0, 7, 0, -1, 0}, 1, 3, 2, 2)}, ""},
		{"frames apart, a rest left out", "STFT", 17, attrs(attrInt("onesided", 0)), in{x, one(3), nil, one(1)}, in{f32([]float64{1, 0, 4, 0}, 1, 2, 1, 2)}, ""},
		{"window", "STFT", 17, nil, in{x, one(2), f32([]float64{1, 2})}, in{f32([]float64{5, 0, -3, 0, 11, 0, -5, 0}, 1, 2, 2, 2)}, ""},
		{"neither window nor length", "STFT", 17, nil, in{x, one(1)}, in{f32([]float64{10, 0, -2, 2, -2, 0}, 1, 1, 3, 2)}, ""},
		{"complex", "STFT", 17, attrs(attrInt("onesided", 0)), in{f32([]float64{0, 1, 0, 1}, 1, 2, 2), one(1)}, in{f32([]float64{0, 2, 0, 0}, 1, 1, 2, 2)}, ""},
		{"complex, one-sided", "STFT", 17, nil, in{f32([]float64{0, 1, 0, 1}, 1, 2, 2), one(1)}, nil, "takes real numbers"},
		{"a window of another length", "STFT", 17, nil, in{x, one(1), f32([]float64{1, 2}), one(3)}, nil, "frames have 3 samples, the window 2"},
		{"a frame too long", "STFT", 17, nil, in{x, one(1), nil, one(5)}, nil, "frames of 5 samples, one every 1, do not fit a signal of 4"},
		{"no step", "STFT", 17, nil, in{x, one(0), nil, one(2)}, nil, "one every 0"},
	})
}

func TestWindows(t *testing.T) {
	one := func(v float64) *berth.Tensor { return scalarOf(dtype.Int64, v) }
	symmetric := attrInt("periodic", 0)
	as := func(t wire.DataType) wire.Attribute { return attrInt("output_datatype", int64(t)) }
	f64 := func(v ...float64) *berth.Tensor { return tensorOf(dtype.Float64, v, len(v)) }
	runNodeTests(t, []nodeTest{
		{"", "HannWindow", 17, nil, in{one(4)}, in{f32([]float64{0, .5, 1, .5})}, ""},
		{"symmetric", "HannWindow", 17, attrs(symmetric), in{one(5)}, in{f32([]float64{0, .5, 1, .5, 0})}, ""},
		{"", "HammingWindow", 17, nil, in{one(4)}, in{f32([]float64{4. / 46, 25. / 46, 1, 25. / 46})}, ""},
		{"", "BlackmanWindow", 17, attrs(as(wire.Double)), in{one(4)}, in{f64(0, .34, 1, .34)}, ""},
		{"symmetric", "BlackmanWindow", 17, attrs(symmetric), in{one(3)}, in{f32([]float64{0, 1, 0})}, ""},
		{"whole numbers", "HannWindow", 17, attrs(as(wire.Int32)), in{tensorOf(dtype.Int32, []float64{4})}, in{tensorOf(dtype.Int32, []float64{0, 0, 1, 0}, 4)}, ""},
		{"nothing", "HannWindow", 17, nil, in{one(0)}, in{f32(nil, 0)}, ""},
		{"one element that is periodic", "HannWindow", 17, nil, in{one(1)}, in{f32([]float64{0})}, ""},
		{"less than nothing", "HannWindow", 17, nil, in{one(-1)}, nil, "-1"},
		{"a size that is no integer", "HannWindow", 17, nil, in{scalarOf(dtype.Float32, 4)}, nil, "input 0 is of type float32"},
	})
}

// TestMelWeightMatrix has bands whose corners, by the formula of the mel scale, lie
// on rows 0, 0, 0, 1 and 2: of the three triangles the first has no sides, and the
// second no left one. The wide band begins at row 0, has its peak at 2, and ends at 6.
func TestMelWeightMatrix(t *testing.T) {
	i, f := func(v float64) *berth.Tensor { return scalarOf(dtype.Int64, v) }, func(v float64) *berth.Tensor { return scalarOf(dtype.Float32, v) }
	runNodeTests(t, []nodeTest{
		{"", "MelWeightMatrix", 17, nil, in{i(3), i(8), i(8000), f(0), f(4000)}, in{f32([]float64{
			1, 1, 0,
			0, 0, 1,
			0, 0, 0,
			0, 0, 0,
			0, 0, 0}, 5, 3)}, ""},
		{"a wide band", "MelWeightMatrix", 17, nil, in{i(1), i(30), i(8000), f(0), f(4000)}, in{f32([]float64{0, .5, 1, .75, .5, .25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 16, 1)}, ""},
		{"another type", "MelWeightMatrix", 17, attrs(attrInt("output_datatype", int64(wire.Float16))), in{i(0), i(8), i(8000), f(0), f(4000)}, in{tensorOf(dtype.Float16, nil, 5, 0)}, ""},
		{"no rate", "MelWeightMatrix", 17, nil, in{i(3), i(8), i(0), f(0), f(4000)}, nil, "at 0 samples a second"},
		{"from high to low", "MelWeightMatrix", 17, nil, in{i(3), i(8), i(8000), f(40), f(4)}, nil, "the bands begin at mel"},
		{"too many bands", "MelWeightMatrix", 17, nil, in{i(1 << 40), i(8), i(8000), f(0), f(4000)}, nil, "bands are not in"},
	})
}

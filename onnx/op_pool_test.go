package onnx

import (
	"testing"

	"github.com/berth-go/berth/dtype"
)

func TestMaxPool(t *testing.T) {
	line := counting(1, 1, 1, 5)
	two := attrInts("kernel_shape", 2)
	square := f32([]float64{1, 9, 3, 4, 5, 6, 7, 8, 2}, 1, 1, 3, 3)
	runNodeTests(t, []nodeTest{
		{"defaults", "MaxPool", 1, attrs(two), in{line}, in{f32([]float64{2, 3, 4, 5}, 1, 1, 4)}, ""},
		{"no kernel", "MaxPool", 1, nil, in{line}, nil, `attribute "kernel_shape" is missing`},
		{"no indices before 8", "MaxPool", 7, attrs(two), in{line}, in{nil, line}, "has 2 outputs, the operator 1"},
		{"no rounding up before 10", "MaxPool", 9, attrs(two, attrInt("ceil_mode", 1)), in{line}, nil, "attribute ceil_mode does not exist before version 10"},
		{"indices", "MaxPool", 8, attrs(attrInts("kernel_shape", 2, 2)), in{square},
			in{f32([]float64{9, 9, 8, 8}, 1, 1, 2, 2), i64([]float64{1, 1, 7, 7}, 1, 1, 2, 2)}, ""},
		{"indices alone", "MaxPool", 8, attrs(attrInts("kernel_shape", 2, 2)), in{square}, in{nil, i64([]float64{1, 1, 7, 7}, 1, 1, 2, 2)}, ""},
		{"indices by columns", "MaxPool", 12, attrs(attrInts("kernel_shape", 2, 2), attrInt("storage_order", 1)), in{square},
			in{f32([]float64{9, 9, 8, 8}, 1, 1, 2, 2), i64([]float64{3, 3, 5, 5}, 1, 1, 2, 2)}, ""},
		{"rounded down", "MaxPool", 10, attrs(two, attrInts("strides", 2)), in{line}, in{f32([]float64{2, 4}, 1, 1, 2)}, ""},
		{"rounded up", "MaxPool", 10, attrs(two, attrInts("strides", 2), attrInt("ceil_mode", 1)), in{line}, in{f32([]float64{2, 4, 5}, 1, 1, 3)}, ""},
		{"no window that begins in the padding", "MaxPool", 10, attrs(attrInts("kernel_shape", 1), attrInts("strides", 2), attrInts("pads", 0, 1), attrInt("ceil_mode", 1)),
			in{counting(1, 1, 1, 3)}, in{f32([]float64{1, 3}, 1, 1, 2)}, ""},
		{"valid rounds alike both ways", "MaxPool", 12, attrs(two, attrInts("strides", 2), attrInt("ceil_mode", 1), attrText("auto_pad", "VALID")), in{line},
			in{f32([]float64{2, 4}, 1, 1, 2)}, ""},
		{"dilated", "MaxPool", 10, attrs(two, attrInts("dilations", 3)), in{line}, in{f32([]float64{4, 5}, 1, 1, 2)}, ""},
		{"negative elements beside padding", "MaxPool", 12, attrs(two, attrInts("pads", 1, 1)), in{f32([]float64{-1, -2}, 1, 1, 2)},
			in{f32([]float64{-1, -1, -2}, 1, 1, 3)}, ""},
		{"bytes", "MaxPool", 12, attrs(two), in{tensorOf(dtype.Uint8, []float64{3, 200, 7}, 1, 1, 3)}, in{tensorOf(dtype.Uint8, []float64{200, 200}, 1, 1, 2)}, ""},
		{"signed bytes", "MaxPool", 12, attrs(two, attrInts("pads", 1, 0)), in{tensorOf(dtype.Int8, []float64{-3, -128}, 1, 1, 2)}, in{tensorOf(dtype.Int8, []float64{-3, -3}, 1, 1, 2)}, ""},
	})
}

func TestAveragePool(t *testing.T) {
	line := f32([]float64{3, 6, 9, 12}, 1, 1, 4)
	three := attrInts("kernel_shape", 3)
	padded := attrInts("pads", 1, 1)
	runNodeTests(t, []nodeTest{
		{"padding left out", "AveragePool", 1, attrs(three, padded), in{line}, in{f32([]float64{4.5, 6, 9, 10.5}, 1, 1, 4)}, ""},
		{"padding counted", "AveragePool", 7, attrs(three, padded, attrInt("count_include_pad", 1)), in{line}, in{f32([]float64{3, 6, 9, 7}, 1, 1, 4)}, ""},
		{"rounded up: what is past the padding never counts", "AveragePool", 10, attrs(three, padded, attrInts("strides", 2), attrInt("ceil_mode", 1), attrInt("count_include_pad", 1)),
			in{line}, in{f32([]float64{3, 9, 6}, 1, 1, 3)}, ""},
		{"rounded up: padding left out", "AveragePool", 19, attrs(three, padded, attrInts("strides", 2), attrInt("ceil_mode", 1)), in{line}, in{f32([]float64{4.5, 9, 12}, 1, 1, 3)}, ""},
		{"dilated", "AveragePool", 19, attrs(attrInts("kernel_shape", 2), attrInts("dilations", 2)), in{line}, in{f32([]float64{6, 9}, 1, 1, 2)}, ""},
		{"same lower", "AveragePool", 11, attrs(attrInts("kernel_shape", 2), attrText("auto_pad", "SAME_LOWER")), in{line}, in{f32([]float64{3, 4.5, 7.5, 10.5}, 1, 1, 4)}, ""},
		{"half precision", "AveragePool", 22, attrs(attrInts("kernel_shape", 2)), in{tensorOf(dtype.Float16, []float64{1, 2}, 1, 1, 2)}, in{tensorOf(dtype.Float16, []float64{1.5}, 1, 1, 1)}, ""},
	})
}

func TestLpPool(t *testing.T) {
	line := f32([]float64{3, 4, -12}, 1, 1, 3)
	two := attrInts("kernel_shape", 2)
	runNodeTests(t, []nodeTest{
		{"exponent 2", "LpPool", 2, attrs(two), in{line}, in{f32([]float64{5, 12.6491106}, 1, 1, 2)}, ""},
		{"exponent 1 as a number", "LpPool", 1, attrs(two, attrFloat("p", 1)), in{line}, in{f32([]float64{7, 16}, 1, 1, 2)}, ""},
		{"exponent 1 as an integer", "LpPool", 18, attrs(two, attrInt("p", 1)), in{line}, in{f32([]float64{7, 16}, 1, 1, 2)}, ""},
		{"exponent of the wrong kind", "LpPool", 2, attrs(two, attrFloat("p", 1)), in{line}, nil, `attribute "p" is of kind`},
		{"exponent 0", "LpPool", 2, attrs(two, attrInt("p", 0)), in{line}, nil, "attribute p is 0"},
		{"rounded up and dilated", "LpPool", 18, attrs(two, attrInts("strides", 2), attrInts("dilations", 1), attrInt("ceil_mode", 1)), in{line}, in{f32([]float64{5, 12}, 1, 1, 2)}, ""},
		{"global", "GlobalLpPool", 2, nil, in{line}, in{f32([]float64{13}, 1, 1, 1)}, ""},
		{"global with exponent 1", "GlobalLpPool", 1, attrs(attrFloat("p", 1)), in{line}, in{f32([]float64{19}, 1, 1, 1)}, ""},
		{"global maximum", "GlobalMaxPool", 1, nil, in{line}, in{f32([]float64{4}, 1, 1, 1)}, ""},
		{"global average", "GlobalAveragePool", 22, nil, in{counting(1, 1, 2, 1, 2)}, in{f32([]float64{1.5, 3.5}, 1, 2, 1, 1)}, ""},
	})
}

func TestMaxUnpool(t *testing.T) {
	x := counting(1, 1, 1, 2, 2)
	at := i64([]float64{5, 7, 13, 15}, 1, 1, 2, 2)
	kernel, strides := attrInts("kernel_shape", 2, 2), attrInts("strides", 2, 2)
	runNodeTests(t, []nodeTest{
		{"inferred shape", "MaxUnpool", 9, attrs(kernel, strides), in{x, at},
			in{f32([]float64{0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4}, 1, 1, 4, 4)}, ""},
		{"larger shape", "MaxUnpool", 11, attrs(kernel, strides), in{x, at, i64([]float64{1, 1, 4, 5})},
			in{f32([]float64{0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 4, 0}, 1, 1, 4, 5)}, ""},
		{"smaller shape", "MaxUnpool", 11, attrs(kernel, strides), in{x, at, i64([]float64{1, 1, 4, 3})}, nil, "is less than"},
		{"index out of range", "MaxUnpool", 11, attrs(kernel, strides), in{x, i64([]float64{0, 1, 2, 16}, 1, 1, 2, 2)}, nil, "16"},
		{"strides do not fit", "MaxUnpool", 11, attrs(kernel, attrInts("strides", 2)), in{x, at}, nil, "attribute strides has 1 numbers, want 2"},
	})
}

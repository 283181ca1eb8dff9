package onnx

import (
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

func TestGemm(t *testing.T) {
	a, b := counting(1, 2, 2), counting(0, 2, 3) // product [[6 9 12] [12 19 26]]
	product := in{f32([]float64{6, 9, 12, 12, 19, 26}, 2, 3)}
	sum := in{f32([]float64{6, 10, 14, 12, 20, 28}, 2, 3)}
	broadcast := attrs(attrInt("broadcast", 1))
	runNodeTests(t, []nodeTest{
		{"addend not to be broadcast", "Gemm", 6, nil, in{a, b, counting(0, 3)}, nil, "addend [3] and product [2 3] differ, and attribute broadcast is not set"},
		{"addend of the product's shape", "Gemm", 1, nil, in{a, b, f32([]float64{0, 1, 2, 0, 1, 2}, 2, 3)}, sum, ""},
		{"addend broadcast", "Gemm", 1, broadcast, in{a, b, counting(0, 3)}, sum, ""},
		{"addend broadcast", "Gemm", 6, broadcast, in{a, b, counting(0, 1, 3)}, sum, ""},
		{"addend broadcast unasked", "Gemm", 7, nil, in{a, b, counting(0, 3)}, sum, ""},
		{"addend needed", "Gemm", 9, nil, in{a, b}, nil, "input 2 is missing"},
		{"addend left out", "Gemm", 11, nil, in{a, b}, product, ""},
		{"addend with an empty name", "Gemm", 13, nil, in{a, b, nil}, product, ""},
		{"addend too wide", "Gemm", 13, nil, in{a, b, counting(0, 2, 2, 3)}, nil, "does not broadcast"},
		{"scaled and transposed", "Gemm", 13, attrs(attrFloat("alpha", .5), attrFloat("beta", 2), attrInt("transA", 1), attrInt("transB", 1)),
			in{a, counting(0, 3, 2), counting(1, 2, 1)}, in{f32([]float64{3.5, 7.5, 11.5, 6, 12, 18}, 2, 3)}, ""},
		{"integers", "Gemm", 13, nil, in{i64([]float64{1, 2}, 1, 2), i64([]float64{3, 4}, 2, 1), i64([]float64{5})}, in{i64([]float64{16}, 1, 1)}, ""},
		{"extents differ", "Gemm", 13, nil, in{a, counting(0, 3, 3)}, nil, "[2 2]"},
	})
}

func TestMatMul(t *testing.T) {
	runNodeTests(t, []nodeTest{
		{"vectors", "MatMul", 1, nil, in{counting(1, 3), counting(0, 3)}, in{scalarOf(dtype.Float32, 8)}, ""},
		{"batches broadcast", "MatMul", 9, nil, in{counting(0, 2, 1, 1, 2), counting(0, 3, 2, 1)},
			in{f32([]float64{1, 3, 5, 3, 13, 23}, 2, 3, 1, 1)}, ""},
		{"no terms", "MatMul", 13, nil, in{tensorOf(dtype.Float32, nil, 2, 0), tensorOf(dtype.Float32, nil, 0, 1)}, in{f32([]float64{0, 0}, 2, 1)}, ""},
		{"unsigned", "MatMul", 9, nil, in{tensorOf(dtype.Uint32, []float64{2, 3}, 1, 2), tensorOf(dtype.Uint32, []float64{4, 5}, 2, 1)},
			in{tensorOf(dtype.Uint32, []float64{23}, 1, 1)}, ""},
		{"half precision", "MatMul", 13, nil, in{tensorOf(dtype.Float16, []float64{1, 2}, 1, 2), tensorOf(dtype.Float16, []float64{3, 4}, 2, 1)},
			in{tensorOf(dtype.Float16, []float64{11}, 1, 1)}, ""},
		{"scalar", "MatMul", 13, nil, in{scalarOf(dtype.Float32, 1), counting(0, 1)}, nil, "scalar"},
		{"an input more", "MatMul", 13, nil, in{counting(0, 1), counting(0, 1), counting(0, 1)}, nil, "has 3 inputs, the operator takes at most 2"},
	})
}

func TestConv(t *testing.T) {
	line := counting(1, 1, 1, 5) // 1 2 3 4 5
	ones := f32([]float64{1, 1, 1}, 1, 1, 3)
	runNodeTests(t, []nodeTest{
		{"defaults", "Conv", 1, nil, in{line, ones}, in{f32([]float64{6, 9, 12}, 1, 1, 3)}, ""},
		{"bias and stride", "Conv", 11, attrs(attrInts("strides", 2), attrInts("kernel_shape", 3)), in{line, ones, f32([]float64{10})}, in{f32([]float64{16, 22}, 1, 1, 2)}, ""},
		{"uneven pads", "Conv", 22, attrs(attrInts("pads", 2, 0)), in{line, ones}, in{f32([]float64{1, 3, 6, 9, 12}, 1, 1, 5)}, ""},
		{"odd pad at the end", "Conv", 11, attrs(attrText("auto_pad", "SAME_UPPER")), in{counting(1, 1, 1, 4), f32([]float64{1, 1}, 1, 1, 2)}, in{f32([]float64{3, 5, 7, 4}, 1, 1, 4)}, ""},
		{"odd pad at the beginning", "Conv", 11, attrs(attrText("auto_pad", "SAME_LOWER")), in{counting(1, 1, 1, 4), f32([]float64{1, 1}, 1, 1, 2)}, in{f32([]float64{1, 3, 5, 7}, 1, 1, 4)}, ""},
		{"same with a stride", "Conv", 11, attrs(attrText("auto_pad", "SAME_UPPER"), attrInts("strides", 2)), in{line, ones}, in{f32([]float64{3, 9, 9}, 1, 1, 3)}, ""},
		{"valid", "Conv", 1, attrs(attrText("auto_pad", "VALID")), in{line, ones}, in{f32([]float64{6, 9, 12}, 1, 1, 3)}, ""},
		{"dilated", "Conv", 1, attrs(attrInts("dilations", 2)), in{line, ones}, in{f32([]float64{9}, 1, 1, 1)}, ""},
		{"groups", "Conv", 1, attrs(attrInt("group", 2)), in{counting(1, 1, 2, 2), f32([]float64{1, 10, 100}, 3, 1, 1)}, nil, "2 groups do not divide"},
		{"a group for each channel", "Conv", 1, attrs(attrInt("group", 2)), in{counting(1, 1, 2, 2), f32([]float64{1, 10}, 2, 1, 1)}, in{f32([]float64{1, 2, 30, 40}, 1, 2, 2)}, ""},
		{"no groups", "Conv", 1, attrs(attrInt("group", 0)), in{line, ones}, nil, "attribute group is 0"},
		{"unknown padding", "Conv", 1, attrs(attrText("auto_pad", "SAME")), in{line, ones}, nil, `attribute "auto_pad" is "SAME"`},
		{"attribute of another kind", "Conv", 1, attrs(attrInt("strides", 1)), in{line, ones}, nil, `attribute "strides" is of kind`},
		{"kernel shape of others", "Conv", 1, attrs(attrInts("kernel_shape", 2)), in{line, ones}, nil, "kernel shape [2]"},
	})
}

func TestConvTranspose(t *testing.T) {
	x := counting(1, 1, 1, 3) // 1 2 3
	w := f32([]float64{1, 10, 100}, 1, 1, 3)
	runNodeTests(t, []nodeTest{
		{"defaults", "ConvTranspose", 1, nil, in{x, w}, in{f32([]float64{1, 12, 123, 230, 300}, 1, 1, 5)}, ""},
		{"pads", "ConvTranspose", 11, attrs(attrInts("pads", 1, 2)), in{x, w}, in{f32([]float64{12, 123}, 1, 1, 2)}, ""},
		{"stride and output padding", "ConvTranspose", 11, attrs(attrInts("strides", 2), attrInts("output_padding", 1)), in{x, w},
			in{f32([]float64{1, 10, 102, 20, 203, 30, 300, 0}, 1, 1, 8)}, ""},
		{"output shape: more cut off at the beginning", "ConvTranspose", 11, attrs(attrInts("output_shape", 4)), in{x, w}, in{f32([]float64{12, 123, 230, 300}, 1, 1, 4)}, ""},
		{"output shape: more cut off at the end", "ConvTranspose", 11, attrs(attrInts("output_shape", 4), attrText("auto_pad", "SAME_UPPER")), in{x, w},
			in{f32([]float64{1, 12, 123, 230}, 1, 1, 4)}, ""},
		{"output shape with batch and channels", "ConvTranspose", 11, attrs(attrInts("output_shape", 1, 1, 4)), in{x, w}, in{f32([]float64{12, 123, 230, 300}, 1, 1, 4)}, ""},
		{"output shape with other channels", "ConvTranspose", 11, attrs(attrInts("output_shape", 1, 2, 4)), in{x, w}, nil, "output_shape [1 2 4] does not agree"},
		{"same", "ConvTranspose", 11, attrs(attrText("auto_pad", "SAME_UPPER"), attrInts("strides", 2)), in{x, w}, in{f32([]float64{1, 10, 102, 20, 203, 30}, 1, 1, 6)}, ""},
		{"groups and bias", "ConvTranspose", 22, attrs(attrInt("group", 2)), in{counting(1, 1, 2, 1), f32([]float64{1, 10}, 2, 1, 1), f32([]float64{100, 200})},
			in{f32([]float64{101, 220}, 1, 2, 1)}, ""},
	})
}

func TestEinsum(t *testing.T) {
	equation := func(text string) []wire.Attribute { return attrs(attrText("equation", text)) }
	m, v := counting(1, 2, 2), f32([]float64{10, 100}) // [[1 2] [3 4]]
	cube := counting(0, 2, 2, 2)
	runNodeTests(t, []nodeTest{
		{"product, in the order of the alphabet", "Einsum", 12, equation("bk , ka"), in{m, m}, in{f32([]float64{7, 15, 10, 22}, 2, 2)}, ""},
		{"product", "Einsum", 12, equation("ik,kj->ij"), in{m, m}, in{f32([]float64{7, 10, 15, 22}, 2, 2)}, ""},
		{"capitals before small letters", "Einsum", 12, equation("aB"), in{counting(1, 1, 2)}, in{counting(1, 2, 1)}, ""},
		{"transposed", "Einsum", 12, equation("ij->ji"), in{m}, in{f32([]float64{1, 3, 2, 4}, 2, 2)}, ""},
		{"sum", "Einsum", 12, equation("ij->"), in{m}, in{scalarOf(dtype.Float32, 10)}, ""},
		{"sum of columns", "Einsum", 12, equation("ij->j"), in{m}, in{f32([]float64{4, 6})}, ""},
		{"trace", "Einsum", 12, equation("ii"), in{m}, in{scalarOf(dtype.Float32, 5)}, ""},
		{"diagonal", "Einsum", 12, equation("ii->i"), in{m}, in{f32([]float64{1, 4})}, ""},
		{"diagonal of three axes", "Einsum", 12, equation("iii->i"), in{cube}, in{f32([]float64{0, 7})}, ""},
		{"diagonals of matrices", "Einsum", 12, equation("...ii->...i"), in{cube}, in{f32([]float64{0, 3, 4, 7}, 2, 2)}, ""},
		{"elementwise", "Einsum", 12, equation("i,i->i"), in{v, v}, in{f32([]float64{100, 10000})}, ""},
		{"inner product", "Einsum", 12, equation("i,i"), in{v, v}, in{scalarOf(dtype.Float32, 10100)}, ""},
		{"outer product, turned", "Einsum", 12, equation("i,j->ji"), in{v, f32([]float64{1, 2, 3})}, in{f32([]float64{10, 100, 20, 200, 30, 300}, 3, 2)}, ""},
		{"summed before and after", "Einsum", 12, equation("ab,cd->a"), in{m, m}, in{f32([]float64{30, 70})}, ""},
		{"batches", "Einsum", 12, equation("bij,bj->ib"), in{cube, f32([]float64{1, 0, 0, 1}, 2, 2)}, in{f32([]float64{0, 5, 2, 7}, 2, 2)}, ""},
		{"three operands", "Einsum", 12, equation("i,ij,j->"), in{v, m, v}, in{scalarOf(dtype.Float32, 45100)}, ""},
		{"a label that the last one needs", "Einsum", 12, equation("ij,ij,i->j"), in{m, m, v}, in{f32([]float64{910, 1640})}, ""},
		{"ellipses of unlike rank", "Einsum", 12, equation("...j,...j->..."), in{cube, f32([]float64{1, 2}, 1, 2)}, in{f32([]float64{2, 8, 14, 20}, 2, 2)}, ""},
		{"an ellipsis without output term", "Einsum", 12, equation("...i,i"), in{m, v}, in{f32([]float64{210, 430})}, ""},
		{"an ellipsis that stands for nothing", "Einsum", 12, equation("...i->...i"), in{v}, in{v}, ""},
		{"scalars", "Einsum", 12, equation(",->"), in{scalarOf(dtype.Float32, 3), scalarOf(dtype.Float32, 4)}, in{scalarOf(dtype.Float32, 12)}, ""},
		{"integers", "Einsum", 12, equation("i,i->"), in{i64([]float64{3, 4}), i64([]float64{5, 6})}, in{scalarOf(dtype.Int64, 39)}, ""},
		{"nothing to sum", "Einsum", 12, equation("ij,j->i"), in{tensorOf(dtype.Float32, nil, 2, 0), tensorOf(dtype.Float32, nil, 0)}, in{f32([]float64{0, 0})}, ""},
		{"an extent of 1, kept", "Einsum", 12, equation("i,i->i"), in{f32([]float64{3}), v}, in{f32([]float64{30, 300})}, ""},
		{"an extent of 1, summed", "Einsum", 12, equation("i,i->"), in{v, f32([]float64{3})}, in{scalarOf(dtype.Float32, 330)}, ""},
		{"an extent of 1 beside none", "Einsum", 12, equation("i,i->"), in{f32([]float64{3}), tensorOf(dtype.Float32, nil, 0)}, in{scalarOf(dtype.Float32, 0)}, ""},
		{"unlike extents", "Einsum", 12, equation("i,i->"), in{v, counting(0, 3)}, nil, "extents 2 and 3 are not the same for 'i'"},
		{"unlike diagonal", "Einsum", 12, equation("ii"), in{counting(0, 2, 3)}, nil, "axes for 'i' have the extents 2 and 3"},
		{"too few terms", "Einsum", 12, equation("i->"), in{v, v}, nil, "1 terms for 2 inputs"},
		{"too few letters", "Einsum", 12, equation("i"), in{m}, nil, `the term "i" does not fit 2 axes`},
		{"too many letters", "Einsum", 12, equation("ijk"), in{m}, nil, `the term "ijk" does not fit 2 axes`},
		{"an unknown output label", "Einsum", 12, equation("i->j"), in{v}, nil, "has 'j', which no input has"},
		{"an output label twice", "Einsum", 12, equation("i->ii"), in{v}, nil, "has 'i' twice"},
		{"an ellipsis left out", "Einsum", 12, equation("...i->i"), in{m}, nil, "leaves out the ellipsis"},
		{"other characters", "Einsum", 12, equation("i,j->i.j"), in{v, v}, nil, "'.' in the term"},
		{"two arrows", "Einsum", 12, equation("i->i->i"), in{v}, nil, "in the term"},
		{"no equation", "Einsum", 12, nil, in{v}, nil, "does not fit 1 axes"},
	})
}

// TestDeformConv moves the taps of a window of 2 by 1 over an image of 3 by 2.
func TestDeformConv(t *testing.T) {
	x := counting(1, 1, 1, 3, 2) // 1 2; 3 4; 5 6
	w := f32([]float64{1, 10}, 1, 1, 2, 1)
	still := f32(make([]float64, 16), 1, 4, 2, 2) // down and across of the first tap, then of the second
	moved := f32([]float64{
		0, 0, 0, 0, 0, 0, 0, 0, // the first tap stays
		1, 1, .5, .5, 0, 0, 0, -.5}, 1, 4, 2, 2)
	mask := f32([]float64{1, 1, 1, 1, 0, 2, 1, 1}, 1, 2, 2, 2)
	half := func(x *berth.Tensor) *berth.Tensor { return tensorOf(dtype.Float16, numbers(x), x.Shape()...) }
	plain := f32([]float64{31, 42, 53, 64}, 1, 1, 2, 2)
	// Two channels in two groups, of offsets as well.
	x2, w2 := counting(1, 1, 2, 2, 1), f32([]float64{1, 10}, 2, 1, 1, 1)
	offsets2 := f32([]float64{0, 0, 0, 0, 1, 1, 0, 0}, 1, 4, 2, 1)
	const op = "DeformConv"
	runNodeTests(t, []nodeTest{
		{"a convolution", op, 19, nil, in{x, w, still}, in{plain}, ""},
		{"moved", op, 22, nil, in{x, w, moved}, in{f32([]float64{51, 62, 3 + 25, 4 + 27.5}, 1, 1, 2, 2)}, ""},
		{"mask", op, 22, nil, in{x, w, still, nil, mask}, in{f32([]float64{1, 82, 53, 64}, 1, 1, 2, 2)}, ""},
		{"bias", op, 22, nil, in{x, w, still, f32([]float64{100})}, in{f32([]float64{131, 142, 153, 164}, 1, 1, 2, 2)}, ""},
		{"halves", op, 22, nil, in{half(x), half(w), half(still)}, in{half(plain)}, ""},
		{"groups", op, 19, attrs(attrInt("group", 2), attrInt("offset_group", 2)), in{x2, w2, offsets2, f32([]float64{100, 200})}, in{f32([]float64{101, 102, 240, 200}, 1, 2, 2, 1)}, ""},
		{"pads and strides", op, 19, attrs(attrInts("pads", 1, 0, 0, 0), attrInts("strides", 2, 1)), in{x, w, still}, in{f32([]float64{10, 20, 53, 64}, 1, 1, 2, 2)}, ""},
		{"offsets of other positions", op, 19, attrs(attrInts("strides", 2, 1)), in{x, w, still}, nil, "offsets are float32[1 4 2 2], want float32[1 4 1 2]"},
		{"another kernel_shape", op, 19, attrs(attrInts("kernel_shape", 1, 2)), in{x, w, still}, nil, "kernel_shape is [1 2], but the weights"},
		{"groups that do not divide", op, 19, attrs(attrInt("group", 2)), in{x, w, still}, nil, "in 2 groups do not go with the 1 channels"},
		{"a bias too long", op, 19, nil, in{x, w, still, f32([]float64{1, 2})}, nil, "the bias has the shape [2], want [1]"},

		{"", "Det", 11, nil, in{f32([]float64{1, 2, 3, 4, 1, 2, 2, 1}, 2, 2, 2)}, in{f32([]float64{-2, -3})}, ""},
		{"of halves", "Det", 22, nil, in{tensorOf(dtype.Float16, []float64{1, 2, 3, 4}, 2, 2)}, in{scalarOf(dtype.Float16, -2)}, ""},
		{"", "MaxRoiPool", 1, attrs(attrInts("pooled_shape", 1, 2), attrFloat("spatial_scale", 2)), in{x, f32([]float64{0, 0, 0, .5, .5}, 1, 5)}, in{f32([]float64{3, 4}, 1, 1, 1, 2)}, ""},
		{"no shape", "MaxRoiPool", 22, nil, in{x, f32([]float64{0, 0, 0, .5, .5}, 1, 5)}, nil, `"pooled_shape" is missing`},
		{"one number", "MaxRoiPool", 22, attrs(attrInts("pooled_shape", 1)), in{x, f32([]float64{0, 0, 0, .5, .5}, 1, 5)}, nil, "has 1 numbers, want 2"},
	})
}

package onnx

import (
	"math"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
)

func u8(data []float64, dims ...int) *berth.Tensor  { return shaped(dtype.Uint8, data, dims) }
func s8(data []float64, dims ...int) *berth.Tensor  { return shaped(dtype.Int8, data, dims) }
func s32(data []float64, dims ...int) *berth.Tensor { return shaped(dtype.Int32, data, dims) }
func oneStep(v float64) *berth.Tensor               { return scalarOf(dtype.Float32, v) }
func zeroU8(v float64) *berth.Tensor                { return scalarOf(dtype.Uint8, v) }
func zeroS8(v float64) *berth.Tensor                { return scalarOf(dtype.Int8, v) }

func TestMatMulInteger(t *testing.T) {
	a, b := u8([]float64{11, 7, 10, 6}, 2, 2), s8([]float64{1, -4, 2, 5}, 2, 2)
	terms := 33100
	long := u8(slices.Repeat([]float64{255}, terms), terms)
	runNodeTests(t, []nodeTest{
		{"zero points of a tensor and of columns", "MatMulInteger", 10, nil, in{a, b, zeroU8(12), s8([]float64{0, 1})}, in{s32([]float64{-11, -15, -14, -14}, 2, 2)}, ""},
		{"a list of one", "MatMulInteger", 10, nil, in{a, b, u8([]float64{12}), s8([]float64{0})}, in{s32([]float64{-11, -21, -14, -22}, 2, 2)}, ""},
		{"zero points of rows", "MatMulInteger", 10, nil, in{a, b, u8([]float64{11, 10})}, in{s32([]float64{-8, -20, -8, -20}, 2, 2)}, ""},
		{"no zero points", "MatMulInteger", 27, nil, in{a, b}, in{s32([]float64{25, -9, 22, -10}, 2, 2)}, ""},
		{"the second zero point alone", "MatMulInteger", 10, nil, in{a, b, nil, zeroS8(1)}, in{s32([]float64{7, -27, 6, -26}, 2, 2)}, ""},
		{"batches with zero points of their own", "MatMulInteger", 10, nil,
			in{u8([]float64{1, 2, 3, 4}, 2, 1, 2), s8([]float64{1, -1}, 2, 1), u8([]float64{1, 2}, 2, 1, 1), s8([]float64{0, 1}, 2, 1, 1)},
			in{s32([]float64{-1, -4}, 2, 1, 1)}, ""},
		{"vectors", "MatMulInteger", 10, nil, in{u8([]float64{2, 3}), u8([]float64{4, 5}), zeroU8(1)}, in{scalarOf(dtype.Int32, 14)}, ""},
		{"a vector by a matrix", "MatMulInteger", 10, nil, in{u8([]float64{2, 3}), b}, in{s32([]float64{8, 7})}, ""},
		{"a matrix by a vector", "MatMulInteger", 10, nil, in{a, s8([]float64{1, -1})}, in{s32([]float64{4, 4})}, ""},
		{"batches by a vector", "MatMulInteger", 10, nil, in{u8([]float64{1, 2, 3, 4}, 2, 1, 2), s8([]float64{1, -1})}, in{s32([]float64{-1, -1}, 2, 1)}, ""},
		{"a vector by batches", "MatMulInteger", 10, nil, in{s8([]float64{1, -1}), u8([]float64{1, 2, 3, 4}, 2, 2, 1)}, in{s32([]float64{-1, -1}, 2, 1)}, ""},
		{"sums wrap", "MatMulInteger", 10, nil, in{long, long}, in{scalarOf(dtype.Int32, float64(terms*255*255-1<<32))}, ""},
		{"no terms", "MatMulInteger", 10, nil, in{tensorOf(dtype.Uint8, nil, 2, 0), tensorOf(dtype.Int8, nil, 0, 1), zeroU8(3)}, in{s32([]float64{0, 0}, 2, 1)}, ""},
		{"no rows", "MatMulInteger", 10, nil, in{tensorOf(dtype.Uint8, nil, 0, 2), b}, in{tensorOf(dtype.Int32, nil, 0, 2)}, ""},
		{"too early", "MatMulInteger", 9, nil, in{a, b}, nil, "operator is not supported at opset 9"},
		{"another type of zero point", "MatMulInteger", 10, nil, in{a, b, zeroS8(1)}, nil, "left zero point int8[]: want uint8"},
		{"too many zero points", "MatMulInteger", 10, nil, in{a, b, u8([]float64{1, 2, 3})}, nil, "left zero point uint8[3 1] does not broadcast to [2 1]"},
		{"wide integers", "MatMulInteger", 10, nil, in{s32([]float64{1}, 1, 1), b}, nil, "left operand int32[1 1]: want int8 or uint8"},
		{"extents differ", "MatMulInteger", 10, nil, in{a, s8([]float64{1, 2, 3}, 3, 1)}, nil, "2 columns against 3 rows"},
		{"a scalar", "MatMulInteger", 10, nil, in{zeroU8(1), b}, nil, "a scalar has no matrix product"},
	})
}

func TestQLinearMatMul(t *testing.T) {
	a, b := u8([]float64{3, 5}, 1, 2), s8([]float64{2, -3}, 2, 1) // of 1 2 and 4 -6, with the scales below
	half, two, z1, z0 := oneStep(.5), oneStep(2), zeroU8(1), zeroS8(0)
	column := u8([]float64{5, 7, 255, 0}, 4, 1)
	f16 := func(v float64) *berth.Tensor { return scalarOf(dtype.Float16, v) }
	bf16 := func(v float64) *berth.Tensor { return scalarOf(dtype.BFloat16, v) }
	one := s8([]float64{1}, 1, 1)
	runNodeTests(t, []nodeTest{
		{"", "QLinearMatMul", 10, nil, in{a, half, z1, b, two, z0, two, zeroU8(10)}, in{u8([]float64{6}, 1, 1)}, ""},
		{"signed result", "QLinearMatMul", 10, nil, in{a, half, z1, b, two, z0, two, zeroS8(-1)}, in{s8([]float64{-5}, 1, 1)}, ""},
		{"float16", "QLinearMatMul", 21, nil, in{a, f16(.5), z1, b, f16(2), z0, f16(2), zeroU8(10)}, in{u8([]float64{6}, 1, 1)}, ""},
		{"bfloat16", "QLinearMatMul", 21, nil, in{a, bf16(.5), z1, b, bf16(2), z0, bf16(2), zeroU8(10)}, in{u8([]float64{6}, 1, 1)}, ""},
		{"halves to even", "QLinearMatMul", 10, nil, in{column, half, zeroU8(0), one, oneStep(1), z0, oneStep(1), zeroU8(0)}, in{u8([]float64{2, 4, 128, 0}, 4, 1)}, ""},
		{"halves to even before the zero point", "QLinearMatMul", 10, nil, in{column, half, zeroU8(0), one, oneStep(1), z0, oneStep(1), zeroS8(-3)}, in{s8([]float64{-1, 1, 125, -3}, 4, 1)}, ""},
		{"saturated above", "QLinearMatMul", 10, nil, in{column, oneStep(1), zeroU8(0), one, oneStep(1), z0, oneStep(1), zeroU8(250)}, in{u8([]float64{255, 255, 255, 250}, 4, 1)}, ""},
		{"saturated below", "QLinearMatMul", 10, nil, in{column, oneStep(1), zeroU8(6), one, oneStep(1e30), z0, oneStep(1), zeroS8(0)}, in{s8([]float64{-128, 127, 127, -128}, 4, 1)}, ""},
		{"no number", "QLinearMatMul", 10, nil, in{column, oneStep(math.NaN()), zeroU8(6), one, oneStep(1), z0, oneStep(1), zeroS8(0)}, in{s8([]float64{-128, -128, -128, -128}, 4, 1)}, ""},
		{"scales of rows and of columns", "QLinearMatMul", 10, nil,
			in{u8([]float64{3, 5}, 2, 1), f32([]float64{1, 2}), u8([]float64{1, 2}), s8([]float64{2, 4}, 1, 2), f32([]float64{.5, 1}), s8([]float64{0, 1}), oneStep(1), zeroU8(0)},
			in{u8([]float64{2, 6, 6, 18}, 2, 2)}, ""},
		{"scales of batches", "QLinearMatMul", 10, nil,
			in{u8([]float64{3, 5}, 2, 1, 1), f32([]float64{1, 2}, 2, 1, 1), u8([]float64{1, 2}, 2, 1, 1), s8([]float64{2}, 1, 1), oneStep(1), z0, f32([]float64{1, 4}, 2, 1, 1), u8([]float64{0, 1}, 2, 1, 1)},
			in{u8([]float64{4, 4}, 2, 1, 1)}, ""},
		{"vectors", "QLinearMatMul", 10, nil, in{u8([]float64{3, 5}), half, z1, s8([]float64{2, -3}), two, z0, two, zeroU8(10)}, in{zeroU8(6)}, ""},
		{"a result of another type", "QLinearMatMul", 10, nil, in{a, half, z1, b, two, z0, two, scalarOf(dtype.Int16, 0)}, nil, "result of type int16: want int8 or uint8"},
		{"a scale of another type", "QLinearMatMul", 10, nil, in{a, scalarOf(dtype.Float64, 1), z1, b, two, z0, two, zeroU8(0)}, nil, "input 1, a scale, is of type float64"},
		{"a scale is missing", "QLinearMatMul", 10, nil, in{a, half, z1, b, two, z0, nil, zeroU8(0)}, nil, "input 6 is missing"},
	})
}

func TestQuantisedConv(t *testing.T) {
	line, ones := u8([]float64{2, 3, 4, 5}, 1, 1, 4), u8([]float64{1, 1}, 1, 1, 2)
	two := u8([]float64{2, 3, 4, 5}, 1, 2, 2)
	w := s8([]float64{1, -1}, 2, 1, 1)
	linear := func(rest ...*berth.Tensor) in {
		return append(in{two, oneStep(.5), zeroU8(1), w, f32([]float64{1, 4}), s8([]float64{0, 1}), oneStep(.5), zeroU8(9)}, rest...)
	}
	group := attrs(attrInt("group", 2))
	runNodeTests(t, []nodeTest{
		{"", "ConvInteger", 10, nil, in{line, ones}, in{s32([]float64{5, 7, 9}, 1, 1, 3)}, ""},
		{"padding is zero", "ConvInteger", 10, attrs(attrInts("pads", 1, 1)), in{line, ones, zeroU8(1)}, in{s32([]float64{1, 3, 5, 7, 4}, 1, 1, 5)}, ""},
		{"padding by a rule", "ConvInteger", 10, attrs(attrText("auto_pad", "SAME_UPPER")), in{line, ones, u8([]float64{1})}, in{s32([]float64{3, 5, 7, 4}, 1, 1, 4)}, ""},
		{"zero points of channels", "ConvInteger", 10, attrs(attrInts("strides", 2)), in{line, u8([]float64{1, 1, 3, 3}, 2, 1, 2), zeroU8(1), u8([]float64{0, 1})}, in{s32([]float64{3, 7, 6, 14}, 1, 2, 2)}, ""},
		{"dilated", "ConvInteger", 10, attrs(attrInts("dilations", 3), attrInts("kernel_shape", 2)), in{line, ones, nil, zeroU8(2)}, in{s32([]float64{-7}, 1, 1, 1)}, ""},
		{"groups", "ConvInteger", 10, group, in{two, w}, in{s32([]float64{2, 3, -4, -5}, 1, 2, 2)}, ""},
		{"a zero point of x for each channel", "ConvInteger", 10, group, in{two, w, u8([]float64{1, 2})}, nil, "left zero point uint8[2]: want one number"},
		{"too many zero points", "ConvInteger", 10, nil, in{line, ones, nil, u8([]float64{1, 2})}, nil, "right zero point uint8[2]: want one number, or [1]"},
		{"no image", "ConvInteger", 10, nil, in{u8([]float64{1}), ones}, nil, "at least one spatial axis"},

		// (x-1)/2 by 1 and by -8, in steps of 1/2.
		{"", "QLinearConv", 10, group, linear(), in{u8([]float64{10, 11, 0, 0}, 1, 2, 2)}, ""},
		{"a bias", "QLinearConv", 10, group, linear(s32([]float64{1, 6})), in{u8([]float64{11, 12, 9, 1}, 1, 2, 2)}, ""},
		{"two dimensions", "QLinearConv", 10, attrs(attrInts("pads", 1, 0, 0, 0)),
			in{u8([]float64{3, 5}, 1, 1, 1, 2), oneStep(1), zeroU8(3), u8([]float64{1, 2}, 1, 1, 2, 1), oneStep(1), zeroU8(0), oneStep(1), zeroU8(7)},
			in{u8([]float64{7, 11}, 1, 1, 1, 2)}, ""},
		{"a scale of x for each channel", "QLinearConv", 10, group, in{two, f32([]float64{1, 2}), zeroU8(1), w, oneStep(1), zeroS8(0), oneStep(.5), zeroU8(9)}, nil, "input 1 has the shape [2], want one number"},
		{"a bias of another type", "QLinearConv", 10, group, linear(f32([]float64{1, 6})), nil, "bias float32[2]: want int32"},
		{"channels last", "com.microsoft.QLinearConv", 1, append(attrs(attrInt("channels_last", 1)), group...),
			append(in{u8([]float64{2, 4, 3, 5}, 1, 2, 2)}, linear()[1:]...), in{u8([]float64{10, 0, 11, 0}, 1, 2, 2)}, ""},
	})
}

func TestDynamicQuantizeLinear(t *testing.T) {
	inf := math.Inf(1)
	runNodeTests(t, []nodeTest{
		{"both signs", "DynamicQuantizeLinear", 11, nil, in{f32([]float64{-51, 0, 204, .5, 1.5})}, in{u8([]float64{0, 51, 255, 51, 53}), oneStep(1), zeroU8(51)}, ""},
		{"above 0", "DynamicQuantizeLinear", 11, nil, in{f32([]float64{10, 127.5}, 2, 1)}, in{u8([]float64{20, 255}, 2, 1), oneStep(.5), zeroU8(0)}, ""},
		{"below 0", "DynamicQuantizeLinear", 11, nil, in{f32([]float64{-510, -1})}, in{u8([]float64{0, 255}), oneStep(2), zeroU8(255)}, ""},
		{"zeros", "DynamicQuantizeLinear", 11, nil, in{f32([]float64{0, 0})}, in{u8([]float64{0, 0}), oneStep(1), zeroU8(0)}, ""},
		{"nothing", "DynamicQuantizeLinear", 11, nil, in{tensorOf(dtype.Float32, nil, 0, 2)}, in{tensorOf(dtype.Uint8, nil, 0, 2), oneStep(1), zeroU8(0)}, ""},
		{"a scalar", "DynamicQuantizeLinear", 11, nil, in{oneStep(-255)}, in{zeroU8(0), oneStep(1), zeroU8(255)}, ""},
		{"infinity", "DynamicQuantizeLinear", 11, nil, in{f32([]float64{1, inf})}, in{nil, oneStep(inf), zeroU8(0)}, ""},
		{"doubles", "DynamicQuantizeLinear", 11, nil, in{tensorOf(dtype.Float64, []float64{1}, 1)}, nil, "input 0 is of type float64, want float32"},
	})
}

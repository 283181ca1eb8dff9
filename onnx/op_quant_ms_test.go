package onnx

import (
	"math"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
)

// TestContribQuantElementwise has inputs of scale 1/2 and zero point 4.
func TestContribQuantElementwise(t *testing.T) {
	half, four := oneStep(.5), zeroU8(4)
	x := u8([]float64{0, 4, 6, 255}) // -2 0 1 125.5
	sigmoid := func(v float64) float64 { return math.RoundToEven(256/(1+math.Exp(-v))) - 128 }
	runNodeTests(t, []nodeTest{
		{"", "com.microsoft.QLinearAdd", 1, nil, in{x, half, four, u8([]float64{3, 9}, 2, 1), oneStep(1), zeroU8(5), oneStep(.25), zeroU8(1)},
			in{u8([]float64{0, 0, 0, 255, 9, 17, 21, 255}, 2, 4)}, ""},
		{"no zero points", "com.microsoft.QLinearAdd", 1, nil, in{x, half, nil, x, half, nil, oneStep(2)}, in{u8([]float64{0, 2, 3, 128})}, ""},
		{"signed", "com.microsoft.QLinearMul", 1, nil, in{s8([]float64{-4, 7, 3}), half, zeroS8(3), s8([]float64{2}), oneStep(2), nil, oneStep(1), zeroS8(-5)}, in{s8([]float64{-19, 3, -5})}, ""},
		{"scales in lists", "com.microsoft.QLinearMul", 1, nil, in{x, f32([]float64{.5}), u8([]float64{4}), four, oneStep(1), zeroU8(2), f32([]float64{.5}), u8([]float64{9})}, in{u8([]float64{1, 9, 13, 255})}, ""},
		{"", "com.microsoft.QLinearLeakyRelu", 1, attrs(attrFloat("alpha", .25)), in{x, half, four, oneStep(.125), zeroU8(10)}, in{u8([]float64{6, 10, 18, 255})}, ""},
		{"default slope", "com.microsoft.QLinearLeakyRelu", 1, nil, in{x, half, four, oneStep(.01), zeroU8(10)}, in{u8([]float64{8, 10, 110, 255})}, ""},
		{"", "com.microsoft.QLinearSigmoid", 1, nil, in{s8([]float64{-2, 0, 3}), half, nil, oneStep(1. / 256), zeroS8(-128)},
			in{s8([]float64{sigmoid(-1), 0, sigmoid(1.5)})}, ""},
		{"", "com.microsoft.QLinearWhere", 1, nil, in{tensorOf(dtype.Bool, []float64{1, 0, 0, 1}, 4), x, half, four, zeroU8(9), oneStep(1), zeroU8(6), half, zeroU8(1)},
			in{u8([]float64{0, 7, 7, 252})}, ""},
		{"", "com.microsoft.MulInteger", 1, nil, in{x, four, u8([]float64{1, 2, 3, 255})}, in{s32([]float64{-4, 0, 6, 251 * 255})}, ""},
		{"a scale for each element", "com.microsoft.QLinearAdd", 1, nil, in{x, f32([]float64{1, 2}), four, x, half, four, half, four}, nil, "input 1 has the shape [2], want one number"},
		{"no second operand", "com.microsoft.QLinearAdd", 1, nil, in{x, half, four, nil, half, four, half, four}, nil, "input 3 is missing"},
		{"no scale of the result", "com.microsoft.QLinearSigmoid", 1, nil, in{x, half, four}, nil, "input 3 is missing"},
		{"another type of result", "com.microsoft.QLinearSigmoid", 1, nil, in{x, half, four, half, zeroS8(0)}, nil, "input 0 is of type uint8"},
	})
}

// TestContribQuantAxes is about operators that look along axes.
func TestContribQuantAxes(t *testing.T) {
	half, four := oneStep(.5), zeroU8(4)
	image := u8([]float64{4, 6, 8, 10, 4, 4, 4, 20}, 1, 2, 2, 2) // 0 1 2 3 and 0 0 0 8
	last := u8([]float64{4, 4, 6, 4, 8, 4, 10, 20}, 1, 2, 2, 2)
	nhwc := attrInt("channels_last", 1)
	window := attrs(attrInts("kernel_shape", 2, 2), attrInts("pads", 0, 0, 1, 0))
	logs := s8([]float64{0, 0, 0, 0, 0, 100}, 1, 2, 3)
	third, most := math.RoundToEven(256/3.)-128, 127.
	joined := in{half, four, u8([]float64{4, 6}, 1, 2), half, four, s8([]float64{-1, 3}, 1, 2), oneStep(1), zeroS8(1)}
	runNodeTests(t, []nodeTest{
		{"", "com.microsoft.QLinearGlobalAveragePool", 1, attrs(attrInt("channels_last", 0)), in{image, half, four, oneStep(.25), zeroU8(1)}, in{u8([]float64{7, 9}, 1, 2, 1, 1)}, ""},
		{"channels last", "com.microsoft.QLinearGlobalAveragePool", 1, attrs(nhwc), in{last, half, four, oneStep(.25), zeroU8(1)}, in{u8([]float64{7, 9}, 1, 1, 1, 2)}, ""},
		{"pads left out", "com.microsoft.QLinearAveragePool", 1, window, in{image, half, four, half, four}, in{u8([]float64{7, 9, 8, 12}, 1, 2, 2, 1)}, ""},
		{"pads counted", "com.microsoft.QLinearAveragePool", 1, append(attrs(attrInt("count_include_pad", 1)), window...), in{image, half, four, oneStep(.25), nil},
			in{u8([]float64{6, 5, 8, 8}, 1, 2, 2, 1)}, ""},
		{"channels last", "com.microsoft.QLinearAveragePool", 1, append(attrs(nhwc), window...), in{last, half, four, half, four}, in{u8([]float64{7, 8, 9, 12}, 1, 2, 1, 2)}, ""},
		{"", "com.microsoft.QLinearReduceMean", 1, attrs(attrInts("axes", -1), attrInt("keepdims", 0)), in{image, half, four, oneStep(.25), zeroU8(0)}, in{u8([]float64{2, 10, 0, 16}, 1, 2, 2)}, ""},
		{"along an axis", "com.microsoft.QLinearSoftmax", 1, attrs(attrInt("opset", 13)), in{logs, oneStep(1), zeroS8(0), oneStep(1. / 256), zeroS8(-128)},
			in{s8([]float64{third, third, third, -128, -128, most}, 1, 2, 3)}, ""},
		{"along all axes from one on", "com.microsoft.QLinearSoftmax", 1, attrs(attrInt("opset", 12), attrInt("axis", 1)), in{logs, oneStep(1), nil, oneStep(1. / 256), zeroS8(-128)},
			in{s8([]float64{-128, -128, -128, -128, -128, most}, 1, 2, 3)}, ""},
		{"no opset", "com.microsoft.QLinearSoftmax", 1, nil, in{logs, oneStep(1), nil, oneStep(1), zeroS8(0)}, nil, `"opset" is missing`},
		{"of two types", "com.microsoft.QLinearConcat", 1, attrs(attrInt("axis", 1)), joined, in{u8([]float64{4, 6, 0, 8}, 1, 4)}, ""},
		{"no axis", "com.microsoft.QLinearConcat", 1, nil, joined, nil, `"axis" is missing`},
		{"no scale", "com.microsoft.QLinearConcat", 1, attrs(attrInt("axis", 1)), joined[:6], nil, "input 6 is missing"},
	})
}

func TestContribQuantProducts(t *testing.T) {
	a, b := u8([]float64{11, 7, 10, 6}, 2, 2), s8([]float64{1, -4, 2, 5}, 2, 2) // sums -11 -15 -14 -14 with zero points 12 and 0 1
	za, zb := zeroU8(12), s8([]float64{0, 1})
	scales := f32([]float64{2, 4})
	real := f32([]float64{-11, -30, -14, -28}, 2, 2) // with scales 1/2 and 2 4
	transposed := func(x *berth.Tensor) *berth.Tensor {
		n := numbers(x)
		return shaped(x.DType(), []float64{n[0], n[2], n[1], n[3]}, []int{2, 2})
	}
	runNodeTests(t, []nodeTest{
		{"", "com.microsoft.MatMulIntegerToFloat", 1, nil, in{a, b, oneStep(.5), scales, za, zb}, in{real}, ""},
		{"a bias", "com.microsoft.MatMulIntegerToFloat", 1, nil, in{a, b, f32([]float64{.5}), scales, za, zb, f32([]float64{1, 3})}, in{f32([]float64{-10, -27, -13, -25}, 2, 2)}, ""},
		{"no zero points", "com.microsoft.MatMulIntegerToFloat", 1, nil, in{a, b, oneStep(1), oneStep(2)}, in{f32([]float64{50, -18, 44, -20}, 2, 2)}, ""},
		{"scales of rows", "com.microsoft.MatMulIntegerToFloat", 1, nil, in{a, b, f32([]float64{.5, 1}), oneStep(1), za, zb}, in{f32([]float64{-5.5, -7.5, -14, -14}, 2, 2)}, ""},
		{"a vector", "com.microsoft.MatMulIntegerToFloat", 1, nil, in{u8([]float64{11, 7}), b, oneStep(.5), scales, za, zb}, in{f32([]float64{-11, -30})}, ""},
		{"too many scales", "com.microsoft.MatMulIntegerToFloat", 1, nil, in{a, b, oneStep(1), f32([]float64{1, 2}, 2, 1, 1)}, nil, "do not broadcast to the product"},
		{"a wide bias", "com.microsoft.MatMulIntegerToFloat", 1, nil, in{a, b, oneStep(.5), scales, za, zb, f32([]float64{1, 3}, 2, 1, 1)}, nil, "does not broadcast to the input"},

		// -51 0 204 is 0 51 255, with a scale of 1 and a zero point of 51.
		{"", "com.microsoft.DynamicQuantizeMatMul", 1, nil, in{f32([]float64{-51, .25, 204}, 1, 3), s8([]float64{1, 0, 100, 3, 1, -1}, 3, 2), scales}, in{f32([]float64{306, -816}, 1, 2)}, ""},
		{"a zero point and a bias", "com.microsoft.DynamicQuantizeMatMul", 1, nil, in{f32([]float64{-51, 0, 204}, 1, 3), u8([]float64{2, 4, 2}, 3, 1), oneStep(.5), zeroU8(1), f32([]float64{7})}, in{f32([]float64{83.5}, 1, 1)}, ""},

		{"", "com.microsoft.QGemm", 1, nil, in{a, oneStep(.5), za, b, scales, zb, nil, oneStep(1), zeroU8(20)}, in{u8([]float64{9, 0, 6, 0}, 2, 2)}, ""},
		{"real", "com.microsoft.QGemm", 1, nil, in{a, oneStep(.5), za, b, scales, zb}, in{real}, ""},
		{"real, with a bias", "com.microsoft.QGemm", 1, nil, in{a, oneStep(.5), za, b, scales, zb, s32([]float64{1, 5})}, in{f32([]float64{-10, -20, -13, -18}, 2, 2)}, ""},
		{"transposed, scaled, with a bias", "com.microsoft.QGemm", 1, attrs(attrInt("transA", 1), attrInt("transB", 1), attrFloat("alpha", 2)),
			in{transposed(a), oneStep(.5), za, transposed(b), scales, zb, s32([]float64{1, 5}), oneStep(2), zeroS8(10)}, in{s8([]float64{0, -10, -3, -8}, 2, 2)}, ""},
		{"no zero point of the result", "com.microsoft.QGemm", 1, nil, in{a, oneStep(.5), za, b, scales, zb, nil, oneStep(1)}, nil, "input 8 is missing"},
		{"no matrix", "com.microsoft.QGemm", 1, nil, in{zeroU8(1), oneStep(.5), za, b, scales, zb}, nil, "want matrices"},
	})
}

// TestQAttention has weights that make queries, keys and values the numbers of the
// tokens themselves, twice the numbers, and these and 1.
func TestQAttention(t *testing.T) {
	tokens := u8([]float64{3, 5, 1}, 1, 3, 1) // 1 2 0, with a scale of 1/2 and a zero point of 1
	weights := s8([]float64{2, 4, 2}, 1, 3)
	given := in{tokens, weights, f32([]float64{0, 0, 1}), oneStep(.5), oneStep(.5), nil, zeroU8(1), nil}
	attend := func(from float64, keys ...float64) float64 {
		sum, all := 0., 0.
		for _, k := range keys {
			e := math.Exp(from * 2 * k)
			sum, all = sum+e*(k+1), all+e
		}
		return sum / all
	}
	heads := attrInt("num_heads", 1)
	runNodeTests(t, []nodeTest{
		{"", "com.microsoft.QAttention", 1, attrs(heads), given, in{f32([]float64{attend(1, 1, 2, 0), attend(2, 1, 2, 0), attend(0, 1, 2, 0)}, 1, 3, 1)}, ""},
		{"what came before alone", "com.microsoft.QAttention", 1, attrs(heads, attrInt("unidirectional", 1)), given, in{f32([]float64{2, attend(2, 1, 2), attend(0, 1, 2, 0)}, 1, 3, 1)}, ""},
		{"a past", "com.microsoft.QAttention", 1, attrs(heads), append(given[:len(given):len(given)], f32([]float64{6, 4}, 2, 1, 1, 1, 1)),
			in{f32([]float64{attend(1, 3, 1, 2, 0), attend(2, 3, 1, 2, 0), attend(0, 3, 1, 2, 0)}, 1, 3, 1), f32([]float64{6, 2, 4, 0, 4, 2, 3, 1}, 2, 1, 1, 4, 1)}, ""},
		{"a length", "com.microsoft.QAttention", 1, attrs(heads), append(append(in{}, given[:5]...), s32([]float64{2}), zeroU8(1)),
			in{f32([]float64{attend(1, 1, 2), attend(2, 1, 2), attend(0, 1, 2)}, 1, 3, 1)}, ""},
		{"scales and zero points of columns", "com.microsoft.QAttention", 1, attrs(heads),
			in{tokens, s8([]float64{2, 5, 4}, 1, 3), f32([]float64{0, 0, 1}), oneStep(.5), f32([]float64{.5, .5, .25}), nil, zeroU8(1), s8([]float64{0, 1, 0})},
			in{f32([]float64{attend(1, 1, 2, 0), attend(2, 1, 2, 0), attend(0, 1, 2, 0)}, 1, 3, 1)}, ""},
		{"no heads", "com.microsoft.QAttention", 1, nil, given, nil, `"num_heads" is missing`},
		{"no thirds", "com.microsoft.QAttention", 1, attrs(heads), in{tokens, s8([]float64{1, 2}, 1, 2), f32([]float64{0, 0}), oneStep(1), oneStep(1)}, nil, "have [0 0 0] columns of the weights [1 2]"},
	})
}

package onnx

import (
	"math"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

func lengths(v ...float64) *berth.Tensor { return shaped(dtype.Int32, v, nil) }

// The activation functions of these tests are affine, so that what goes in is
// seen in what comes out.
var (
	plain  = attrTexts("activations", "Affine")
	plain2 = attrTexts("activations", "Affine", "affine")
	plain3 = attrTexts("activations", "Affine", "affine", "AFFINE")
)

func TestRNN(t *testing.T) {
	x := f32([]float64{1, 2, 3, 4}, 2, 2, 1)
	w, r, b := f32([]float64{2}, 1, 1, 1), f32([]float64{10}, 1, 1, 1), f32([]float64{1, 100}, 1, 2)
	y, last := f32([]float64{103, 105, 1137, 1159}, 2, 1, 2, 1), f32([]float64{1137, 1159}, 1, 2, 1)
	two := in{x, f32([]float64{2, 3}, 2, 1, 1), f32([]float64{10, 0}, 2, 1, 1)}
	both := attrText("direction", "bidirectional")
	half := func(x *berth.Tensor) *berth.Tensor { return tensorOf(dtype.Float16, numbers(x), x.Shape()...) }
	double := func(x *berth.Tensor) *berth.Tensor { return tensorOf(dtype.Float64, numbers(x), x.Shape()...) }
	batchFirst := f32([]float64{1, 3, 2, 4}, 2, 2, 1)
	runNodeTests(t, []nodeTest{
		{"bias", "RNN", 7, attrs(plain), in{x, w, r, b}, in{y, last}, ""},
		{"first version", "RNN", 1, attrs(plain2, attrInt("output_sequence", 0), attrInt("hidden_size", 1)), in{x, w, r, b}, in{y, last}, ""},
		{"the last state alone", "RNN", 22, attrs(plain), in{x, w, r, b}, in{nil, last}, ""},
		{"the sequence alone", "RNN", 14, attrs(plain), in{x, w, r, b}, in{y}, ""},
		{"the default is tanh", "RNN", 14, nil, in{f32([]float64{.5}, 1, 1, 1), w, r}, in{nil, f32([]float64{math.Tanh(1)}, 1, 1, 1)}, ""},
		{"initial state", "RNN", 14, attrs(plain), in{x, w, r, b, nil, f32([]float64{1, 0}, 1, 2, 1)}, in{nil, f32([]float64{1237, 1159}, 1, 2, 1)}, ""},
		{"lengths", "RNN", 14, attrs(plain), in{x, w, r, b, lengths(1, 2)}, in{f32([]float64{103, 105, 0, 1159}, 2, 1, 2, 1), f32([]float64{103, 1159}, 1, 2, 1)}, ""},
		{"too long", "RNN", 14, attrs(plain), in{x, w, r, b, lengths(1, 3)}, nil, "row 1 has a length of 3, of 2 steps"},
		{"reverse", "RNN", 14, attrs(plain, attrText("direction", "reverse")), in{x, w, r}, in{f32([]float64{62, 84, 6, 8}, 2, 1, 2, 1), f32([]float64{62, 84}, 1, 2, 1)}, ""},
		{"bidirectional", "RNN", 14, attrs(plain2, both, attrFloats("activation_alpha", 1, -1)), two,
			in{f32([]float64{2, 4, -3, -6, 26, 48, -9, -12}, 2, 2, 2, 1), f32([]float64{26, 48, -3, -6}, 2, 2, 1)}, ""},
		{"batch first", "RNN", 14, attrs(plain, attrInt("layout", 1)), in{batchFirst, w, r, b}, in{f32([]float64{103, 1137, 105, 1159}, 2, 2, 1, 1), f32([]float64{1137, 1159}, 2, 1, 1)}, ""},
		{"batch first, all operands", "RNN", 22, attrs(plain2, both, attrInt("layout", 1)),
			in{batchFirst, two[1], two[2], f32([]float64{1, 0, 2, 0}, 2, 2), lengths(2, 1), f32([]float64{1, 7, 0, 7}, 2, 2, 1)},
			in{f32([]float64{13, 5, 137, 11, 5, 8, 0, 0}, 2, 2, 2, 1), f32([]float64{137, 5, 5, 8}, 2, 2, 1)}, ""},
		{"clipped", "RNN", 14, attrs(plain, attrFloat("clip", 50)), in{x, w, r}, in{f32([]float64{2, 4, 26, 48}, 2, 1, 2, 1), f32([]float64{26, 48}, 1, 2, 1)}, ""},
		{"clipped more", "RNN", 14, attrs(plain, attrFloat("clip", 3)), in{x, w, r}, in{f32([]float64{2, 3, 3, 3}, 2, 1, 2, 1)}, ""},
		{"halves", "RNN", 22, attrs(plain), in{half(x), half(w), half(r), half(b)}, in{half(y), half(last)}, ""},
		{"doubles", "RNN", 22, attrs(plain), in{double(x), double(w), double(r), double(b)}, in{double(y), double(last)}, ""},
		{"no steps", "RNN", 14, attrs(plain), in{f32(nil, 0, 2, 1), w, r, b, nil, f32([]float64{7, 8}, 1, 2, 1)}, in{f32(nil, 0, 1, 2, 1), f32([]float64{7, 8}, 1, 2, 1)}, ""},
		{"no rows", "RNN", 14, attrs(plain), in{f32(nil, 2, 0, 1), w, r, b}, in{f32(nil, 2, 1, 0, 1), f32(nil, 1, 0, 1)}, ""},
		{"no input", "RNN", 14, attrs(plain), in{f32(nil, 1, 2, 0), f32(nil, 1, 1, 0), r, b}, in{f32([]float64{101, 101}, 1, 1, 2, 1)}, ""},

		{"output_sequence has gone", "RNN", 7, attrs(attrInt("output_sequence", 1)), in{x, w, r}, nil, `no attribute "output_sequence"`},
		{"layout too early", "RNN", 13, attrs(attrInt("layout", 1)), in{x, w, r}, nil, "layout does not exist before version 14"},
		{"no such layout", "RNN", 14, attrs(attrInt("layout", 2)), in{x, w, r}, nil, "attribute layout is 2, not 0 or 1"},
		{"no such direction", "RNN", 14, attrs(attrText("direction", "up")), in{x, w, r}, nil, `attribute "direction" is "up"`},
		{"another size", "RNN", 14, attrs(attrInt("hidden_size", 2)), in{x, w, r}, nil, "attribute hidden_size is 2, but R has shape [1 1 1]"},
		{"clip", "RNN", 14, attrs(attrFloat("clip", 0)), in{x, w, r}, nil, "attribute clip is 0, not above 0"},
		{"no matrix", "RNN", 14, nil, in{f32([]float64{1}), w, r}, nil, "X has shape [1] and R [1 1 1], which are not of 3 axes"},
		{"whole numbers", "RNN", 14, nil, in{i64([]float64{1}, 1, 1, 1), w, r}, nil, "X is of type int64, not of a floating-point type"},
		{"mixed types", "RNN", 14, nil, in{half(x), w, half(r)}, nil, "W is float32[1 1 1], not float16[1 1 1]"},
		{"one direction", "RNN", 14, attrs(both), in{x, w, r}, nil, "R is float32[1 1 1], not float32[2 1 1]"},
		{"weights", "RNN", 14, nil, in{x, f32([]float64{1, 2}, 1, 1, 2), r}, nil, "W is float32[1 1 2], not float32[1 1 1], beside X float32[2 2 1]"},
		{"bias of another size", "RNN", 14, nil, in{x, w, r, f32([]float64{1}, 1, 1)}, nil, "B is float32[1 1], not float32[1 2]"},
		{"lengths of another type", "RNN", 14, nil, in{x, w, r, nil, i64([]float64{1, 1})}, nil, "sequence_lens is int64[2], not int32[2]"},
		{"state of another size", "RNN", 14, attrs(attrInt("layout", 1)), in{x, w, r, nil, nil, f32([]float64{1, 1}, 1, 2, 1)}, nil, "initial_h is float32[1 2 1], not float32[2 1 1]"},
		{"too few functions", "RNN", 14, attrs(plain, both), two, nil, "attribute activations has 1 names, not 1 for each of 2 directions"},
		{"too many functions", "RNN", 14, attrs(plain3), in{x, w, r}, nil, "has 3 names"},
	})
}

// TestRecurrentActivations has every function with numbers of its own, and with its
// defaults.
func TestRecurrentActivations(t *testing.T) {
	x := []float64{-2, 0.5, 1, 3}
	alpha, beta := attrFloats("activation_alpha", 2), attrFloats("activation_beta", 0.5)
	cases := []nodeTest{}
	add := func(name string, f func(x float64) float64, numbers ...wire.Attribute) {
		want := make([]float64, len(x))
		for i, v := range x {
			want[i] = f(v)
		}
		what := "defaults of " + name
		if numbers != nil {
			what = "numbers of " + name
		}
		cases = append(cases, nodeTest{what, "RNN", 14, append(attrs(attrTexts("activations", name)), numbers...),
			in{f32(x, 1, 4, 1), f32([]float64{1}, 1, 1, 1), f32([]float64{1}, 1, 1, 1)}, in{f32(want, 1, 1, 4, 1)}, ""})
	}
	add("Relu", func(x float64) float64 { return max(x, 0) })
	add("Tanh", math.Tanh)
	add("Sigmoid", func(x float64) float64 { return 1 / (1 + math.Exp(-x)) })
	add("Affine", func(x float64) float64 { return x })
	add("Affine", func(x float64) float64 { return 2*x + 0.5 }, alpha, beta)
	add("LeakyRelu", func(x float64) float64 { return max(x, 0.01*x) })
	add("LeakyRelu", func(x float64) float64 { return x + min(x, 0) }, alpha)
	add("ThresholdedRelu", func(x float64) float64 { return map[bool]float64{true: x}[x >= 1] })
	add("ThresholdedRelu", func(x float64) float64 { return map[bool]float64{true: x}[x >= 2] }, alpha)
	add("ScaledTanh", func(x float64) float64 { return 2 * math.Tanh(0.5*x) }, alpha, beta)
	add("HardSigmoid", func(x float64) float64 { return max(0, min(1, 0.2*x+0.5)) })
	add("HardSigmoid", func(x float64) float64 { return max(0, min(1, 2*x+0.5)) }, alpha, beta)
	add("Elu", func(x float64) float64 { return max(x, 0) + min(math.Expm1(x), 0) })
	add("Elu", func(x float64) float64 { return max(x, 0) + min(2*math.Expm1(x), 0) }, alpha)
	add("Softsign", func(x float64) float64 { return x / (1 + math.Abs(x)) })
	add("Softplus", func(x float64) float64 { return math.Log1p(math.Exp(x)) })
	small := in{f32(x, 1, 4, 1), f32([]float64{1}, 1, 1, 1), f32([]float64{1}, 1, 1, 1)}
	cases = append(cases,
		nodeTest{"no default", "RNN", 14, attrs(attrTexts("activations", "ScaledTanh"), alpha), small, nil, "ScaledTanh among the activations has no alpha or no beta"},
		nodeTest{"no such function", "RNN", 14, attrs(attrTexts("activations", "Gelu")), small, nil, `"Gelu" is not one of ["affine" "elu"`},
	)
	runNodeTests(t, cases)
}

func TestGRU(t *testing.T) {
	x, w := f32([]float64{1}, 1, 1, 1), f32([]float64{0, 1, 1}, 1, 3, 1)
	r, h := f32([]float64{0, 0, 1}, 1, 3, 1), f32([]float64{5}, 1, 1, 1)
	b := f32([]float64{1, 0, 2, 0, 1, 10}, 1, 6)
	numbers := []wire.Attribute{plain2, attrFloats("activation_alpha", 2, -1)}
	// z = 2*(0 + 1) = 2, k = 2*(1 + 1) = 4.
	given := in{x, w, r, b, nil, h}
	runNodeTests(t, []nodeTest{
		// n = -(1 + 2 + 10 + 4*5) = -33, h = (1-2)*-33 + 2*5
		{"bias", "GRU", 1, numbers, given, in{f32([]float64{43}, 1, 1, 1, 1), f32([]float64{43}, 1, 1, 1)}, ""},
		{"bias", "GRU", 22, numbers, given, in{nil, f32([]float64{43}, 1, 1, 1)}, ""},
		// n = -(1 + 2 + 4*(10 + 5)) = -63
		{"linear before reset", "GRU", 3, append(attrs(attrInt("linear_before_reset", 1)), numbers...), given, in{nil, f32([]float64{73}, 1, 1, 1)}, ""},
		// z = 0, k = 2, n = -(1 + 2*5)
		{"linear without bias", "GRU", 7, append(attrs(attrInt("linear_before_reset", 1)), numbers...), in{x, w, r, nil, nil, h}, in{nil, f32([]float64{-11}, 1, 1, 1)}, ""},
		{"linear too early", "GRU", 1, attrs(attrInt("linear_before_reset", 1)), given, nil, "linear_before_reset does not exist before version 3"},
		// z = 1/2, k = sigmoid(1), n = tanh(1)
		{"defaults", "GRU", 14, nil, in{x, w, r}, in{nil, f32([]float64{math.Tanh(1) / 2}, 1, 1, 1)}, ""},
		{"gates", "GRU", 14, nil, in{x, f32([]float64{1, 2}, 1, 2, 1), f32([]float64{0, 0}, 1, 2, 1)}, nil, "R is float32[1 2 1], not float32[1 3 1]"},
	})
}

func TestLSTM(t *testing.T) {
	x, zero := f32([]float64{1}, 1, 1, 1), f32([]float64{0, 0, 0, 0}, 1, 4, 1)
	w := f32([]float64{0, 0, 1, 0}, 1, 4, 1)
	b := f32([]float64{1, 1, 1, 2, 0, 1, 1, 2}, 1, 8) // with w: gates of 1 2 3 4
	c, p := f32([]float64{5}, 1, 1, 1), f32([]float64{1, 2, 3}, 1, 3)
	numbers := []wire.Attribute{plain3, attrFloats("activation_alpha", 2, 3, 1), attrFloats("activation_beta", 0, 0, 1)}
	given := in{x, w, zero, b, nil, nil, c, p}
	// i = 2(1 + 1*5) = 12, e = 2(3 + 3*5) = 36, c = 36*5 + 12*3*4, o = 2(2 + 2*324)
	state := func(v float64) *berth.Tensor { return f32([]float64{v}, 1, 1, 1) }
	runNodeTests(t, []nodeTest{
		{"peepholes", "LSTM", 1, numbers, given, in{f32([]float64{1300 * 325}, 1, 1, 1, 1), state(1300 * 325), state(324)}, ""},
		{"the state alone", "LSTM", 7, numbers, given, in{nil, state(1300 * 325)}, ""},
		{"the cells alone", "LSTM", 14, numbers, given, in{nil, nil, state(324)}, ""},
		{"the sequence and the cells", "LSTM", 22, numbers, given, in{f32([]float64{1300 * 325}, 1, 1, 1, 1), nil, state(324)}, ""},
		// e = 1 - 12: c = -55 + 144, o = 2(2 + 178)
		{"coupled gates", "LSTM", 14, append(attrs(attrInt("input_forget", 1)), numbers...), given, in{nil, state(360 * 90), state(89)}, ""},
		// i = e = o = 10, g = 12, c = 50 + 120
		{"clipped gates", "LSTM", 14, append(attrs(attrFloat("clip", 5)), numbers...), given, in{nil, state(1710), state(170)}, ""},
		{"defaults", "LSTM", 14, nil, in{x, f32([]float64{0, 0, 0, 1}, 1, 4, 1), zero}, in{nil, state(math.Tanh(math.Tanh(1)/2) / 2), state(math.Tanh(1) / 2)}, ""},
		{"batch first", "LSTM", 14, append(attrs(attrInt("layout", 1)), numbers...), given, in{f32([]float64{1300 * 325}, 1, 1, 1, 1), state(1300 * 325), state(324)}, ""},
		{"peepholes of another size", "LSTM", 14, nil, in{x, w, zero, b, nil, nil, c, f32([]float64{1, 2}, 1, 2)}, nil, "P is float32[1 2], not float32[1 3]"},
		{"cells of another size", "LSTM", 14, nil, in{x, w, zero, b, nil, nil, f32([]float64{5})}, nil, "initial_c is float32[1], not float32[1 1 1]"},
	})
}

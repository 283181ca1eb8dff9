package onnx

import (
	"math"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/wire"
)

func TestBitCast(t *testing.T) {
	to := func(d wire.DataType) []wire.Attribute { return attrs(attrInt("to", int64(d))) }
	one := f32([]float64{1, -0.5})
	runNodeTests(t, []nodeTest{
		{"float to integer", "BitCast", 26, to(wire.Int32), in{one}, in{tensorOf(dtype.Int32, []float64{0x3f800000, -0x41000000}, 2)}, ""},
		{"integer to float", "BitCast", 26, to(wire.Float16), in{tensorOf(dtype.Uint16, []float64{0x3c00}, 1)}, in{tensorOf(dtype.Float16, []float64{1}, 1)}, ""},
		{"float to float", "BitCast", 26, to(wire.BFloat16), in{tensorOf(dtype.Float16, []float64{1.9375}, 1)}, in{tensorOf(dtype.BFloat16, []float64{1.5}, 1)}, ""},
		{"integer to integer", "BitCast", 26, to(wire.Uint8), in{tensorOf(dtype.Int8, []float64{-1}, 1)}, in{tensorOf(dtype.Uint8, []float64{255}, 1)}, ""},
		{"truth value", "BitCast", 26, to(wire.Int8), in{truth([]float64{0, 1})}, in{tensorOf(dtype.Int8, []float64{0, 1}, 2)}, ""},
		{"low precision", "BitCast", 26, to(wire.Float8E5M2), in{tensorOf(dtype.Uint8, []float64{0x3c, 0xff, 0x80}, 3)}, in{tensorOf(dtype.Float8E5M2, []float64{1, math.NaN(), math.Copysign(0, -1)}, 3)}, ""},
		{"nibbles", "BitCast", 26, to(wire.Uint4), in{tensorOf(dtype.Int4, []float64{-1, -8, 7}, 3)}, in{tensorOf(dtype.Uint4, []float64{15, 8, 7}, 3)}, ""},
		{"nibbles as floats", "BitCast", 26, to(wire.Float4E2M1), in{tensorOf(dtype.Int4, []float64{-1, 2}, 2)}, in{tensorOf(dtype.Float4E2M1, []float64{-6, 1}, 2)}, ""},
		{"zero with a sign as a truth value", "BitCast", 26, to(wire.Bool), in{tensorOf(dtype.Float8E4M3FN, []float64{0, math.Copysign(0, -1)}, 2)}, in{truth([]float64{0, 1})}, ""},
		{"truth value as powers of 2", "BitCast", 26, to(wire.Float8E8M0), in{truth([]float64{0, 1})}, in{tensorOf(dtype.Float8E8M0, []float64{0x1p-127, 0x1p-126}, 2)}, ""},
		{"nibbles to bytes", "BitCast", 26, to(wire.Uint8), in{tensorOf(dtype.Int4, []float64{-1}, 1)}, nil, "elements of int4 have 4 bits, of uint8 8"},
		{"same type", "BitCast", 26, to(wire.Float), in{one}, in{one}, ""},
		{"other width", "BitCast", 26, to(wire.Int64), in{one}, nil, "elements of float32 have 32 bits, of int64 64"},
		{"no attribute", "BitCast", 26, nil, in{one}, nil, `attribute "to" is missing`},
	})
}

// TestSaturate has the columns of the two tables of Cast, and where rounding meets
// the greatest numbers.
func TestSaturate(t *testing.T) {
	inf, nan, minus := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct {
		to        dtype.Type
		most, tie float64 // half a step beyond the greatest number, which is even or not
		even      bool
		over      float64 // what is too large becomes, without saturation
		zero      float64 // of -0
	}{
		{dtype.Float8E4M3FN, 448, 464, true, nan, minus},
		{dtype.Float8E4M3FNUZ, 240, 248, false, nan, 0},
		{dtype.Float8E5M2, 57344, 61440, false, inf, minus},
		{dtype.Float8E5M2FNUZ, 57344, 61440, false, nan, 0},
	} {
		values := []float64{0, minus, nan, inf, -inf, c.most, -c.most, 2 * c.most, -2 * c.most, c.tie, c.tie * (1 - 0x1p-20), c.tie * (1 + 0x1p-20), 1.0625, 1.1875}
		tie := c.over
		if c.even {
			tie = c.most
		}
		free := []float64{0, c.zero, nan, c.over, -c.over, c.most, -c.most, c.over, -c.over, tie, c.most, c.over, 1, 1.25}
		full := []float64{0, c.zero, nan, c.most, -c.most, c.most, -c.most, c.most, -c.most, c.most, c.most, c.most, 1, 1.25}
		to := func(saturate ...int64) []wire.Attribute {
			a := attrs(attrInt("to", int64(wireType(c.to))))
			for _, s := range saturate {
				a = append(a, attrInt("saturate", s))
			}
			return a
		}
		n := len(values)
		f32, f64 := tensorOf(dtype.Float32, values, n), tensorOf(dtype.Float64, values, n)
		like := tensorOf(c.to, []float64{0}, 1)
		wantFree, wantFull := tensorOf(c.to, free, n), tensorOf(c.to, full, n)
		wide := []float64{1 << 40, -1 << 40, 3}
		runNodeTests(t, []nodeTest{
			{c.to.String() + " by default", "Cast", 19, to(), in{f32}, in{wantFull}, ""},
			{c.to.String() + " saturated", "Cast", 25, to(1), in{f64}, in{wantFull}, ""},
			{c.to.String() + " not saturated", "Cast", 21, to(0), in{f32}, in{wantFree}, ""},
			{c.to.String() + " not saturated, float64", "Cast", 24, to(0), in{f64}, in{wantFree}, ""},
			{c.to.String() + " like another", "CastLike", 19, nil, in{f32, like}, in{wantFull}, ""},
			{c.to.String() + " like another, not saturated", "CastLike", 25, attrs(attrInt("saturate", 0)), in{f32, like}, in{wantFree}, ""},
			{c.to.String() + " of integers", "Cast", 25, to(), in{tensorOf(dtype.Int64, wide, 3)}, in{tensorOf(c.to, []float64{c.most, -c.most, 3}, 3)}, ""},
			{c.to.String() + " of integers, not saturated", "Cast", 25, to(0), in{tensorOf(dtype.Int64, wide, 3)}, in{tensorOf(c.to, []float64{c.over, -c.over, 3}, 3)}, ""},
			{c.to.String() + " of bfloat16", "Cast", 25, to(), in{tensorOf(dtype.BFloat16, []float64{inf, 1e30, -1}, 3)}, in{tensorOf(c.to, []float64{c.most, c.most, -1}, 3)}, ""},
			{c.to.String() + " of its own", "Cast", 25, to(), in{wantFree}, in{wantFree}, ""},
			{c.to.String() + " too early", "Cast", 18, to(1), in{f32}, nil, "attribute saturate does not exist before version 19"},
		})
	}
}

// TestRoundMode converts to powers of 2 in every mode.
func TestRoundMode(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	values := []float64{0, nan, inf, 1, 1.25, 1.5, 1.75, 0x1.8p126, 0x1.8p127, 0x1p-127, 0x1.8p-127, 0x1p-130}
	for _, c := range []struct {
		mode string
		want []float64 // those from 0x1.8p126 on with and without saturation
		full []float64
		free []float64
	}{
		{"down", []float64{1, 1, 1, 1, 0x1p126}, []float64{0x1p127, 0x1p-127, 0x1p-127, 0x1p-127}, []float64{0x1p127, 0x1p-127, 0x1p-127, nan}},
		{"nearest", []float64{1, 1, 2, 2, 0x1p127}, []float64{0x1p127, 0x1p-127, 0x1p-126, 0x1p-127}, []float64{nan, 0x1p-127, 0x1p-126, nan}},
		{"up", []float64{1, 2, 2, 2, 0x1p127}, []float64{0x1p127, 0x1p-127, 0x1p-126, 0x1p-127}, []float64{nan, 0x1p-127, 0x1p-126, nan}},
	} {
		n := len(values)
		full := append(append([]float64{0x1p-127, nan, 0x1p127}, c.want...), c.full...)
		free := append(append([]float64{nan, nan, nan}, c.want...), c.free...)
		to := attrInt("to", int64(wire.Float8E8M0))
		mode := attrText("round_mode", c.mode)
		x := tensorOf(dtype.Float32, values, n)
		like := tensorOf(dtype.Float8E8M0, []float64{1}, 1)
		runNodeTests(t, []nodeTest{
			{c.mode, "Cast", 24, attrs(to, mode), in{x}, in{tensorOf(dtype.Float8E8M0, full, n)}, ""},
			{c.mode + ", not saturated", "Cast", 25, attrs(to, mode, attrInt("saturate", 0)), in{x}, in{tensorOf(dtype.Float8E8M0, free, n)}, ""},
			{c.mode + ", like another", "CastLike", 25, attrs(mode), in{x, like}, in{tensorOf(dtype.Float8E8M0, full, n)}, ""},
		})
	}
	x := tensorOf(dtype.Float16, []float64{1.25, 6e4}, 2)
	to := attrInt("to", int64(wire.Float8E8M0))
	runNodeTests(t, []nodeTest{
		{"up by default, halves beyond their range", "Cast", 24, attrs(to), in{x}, in{tensorOf(dtype.Float8E8M0, []float64{2, 65536}, 2)}, ""},
		{"no such mode", "Cast", 24, attrs(to, attrText("round_mode", "even")), in{x}, nil, `attribute "round_mode" is "even"`},
		{"too early", "Cast", 23, attrs(to, attrText("round_mode", "up")), in{x}, nil, "attribute round_mode does not exist before version 24"},
	})
}

// TestCastLow converts to and from integers of few bits, which wrap, and numbers
// of 4 bits, which do not.
func TestCastLow(t *testing.T) {
	to := func(d wire.DataType) []wire.Attribute { return attrs(attrInt("to", int64(d))) }
	inf := math.Inf(1)
	values := []float64{-9, -8, -1.75, 7.9, 8, 255, 16}
	x := tensorOf(dtype.Float32, values, 7)
	wide := tensorOf(dtype.Int32, []float64{1<<25 + 5, -1, 8}, 3)
	runNodeTests(t, []nodeTest{
		{"int4", "Cast", 21, to(wire.Int4), in{x}, in{tensorOf(dtype.Int4, []float64{7, -8, -1, 7, -8, -1, 0}, 7)}, ""},
		{"uint4", "Cast", 21, to(wire.Uint4), in{x}, in{tensorOf(dtype.Uint4, []float64{7, 8, 15, 7, 8, 15, 0}, 7)}, ""},
		{"int2", "Cast", 25, to(wire.Int2), in{x}, in{tensorOf(dtype.Int2, []float64{-1, 0, -1, -1, 0, -1, 0}, 7)}, ""},
		{"uint2", "Cast", 25, to(wire.Uint2), in{x}, in{tensorOf(dtype.Uint2, []float64{3, 0, 3, 3, 0, 3, 0}, 7)}, ""},
		{"of integers", "Cast", 21, to(wire.Int4), in{wide}, in{tensorOf(dtype.Int4, []float64{5, -1, -8}, 3)}, ""},
		{"to integers", "Cast", 21, to(wire.Uint16), in{tensorOf(dtype.Int4, []float64{-1, 7}, 2)}, in{tensorOf(dtype.Uint16, []float64{65535, 7}, 2)}, ""},
		{"to truth values", "Cast", 25, to(wire.Bool), in{tensorOf(dtype.Int2, []float64{-2, 0, 1}, 3)}, in{truth([]float64{1, 0, 1})}, ""},
		{"float4", "Cast", 23, to(wire.Float4E2M1), in{tensorOf(dtype.Float32, []float64{0.25, 0.75, 2.5, 5, 100, -inf, math.NaN()}, 7)},
			in{tensorOf(dtype.Float4E2M1, []float64{0, 1, 2, 4, 6, -6, math.Copysign(0, -1)}, 7)}, ""},
		{"float4 like another", "CastLike", 25, nil, in{tensorOf(dtype.Float4E2M1, []float64{-1.5, 3}, 2), scalarOf(dtype.Float16, 0)}, in{tensorOf(dtype.Float16, []float64{-1.5, 3}, 2)}, ""},
		{"between types of 8 bits", "Cast", 19, to(wire.Float8E4M3FN), in{tensorOf(dtype.Float8E5M2, []float64{57344, 1.75, inf}, 3)}, in{tensorOf(dtype.Float8E4M3FN, []float64{448, 1.75, 448}, 3)}, ""},
	})
}

// TestStoredTypes moves elements of low precision about.
func TestStoredTypes(t *testing.T) {
	for _, d := range dtype.All() {
		if !d.IsLowPrecision() {
			continue
		}
		x := tensorOf(d, []float64{1, 0.5, 1, 0.5, 1, 1}, 2, 3)
		turned := tensorOf(d, []float64{1, 0.5, 0.5, 1, 1, 1}, 3, 2)
		row := tensorOf(d, []float64{0.5, 1, 1}, 1, 3)
		runNodeTests(t, []nodeTest{
			{d.String(), "Identity", 25, nil, in{x}, in{x}, ""},
			{d.String(), "Reshape", 25, nil, in{x, i64([]float64{3, -1})}, in{tensorOf(d, []float64{1, 0.5, 1, 0.5, 1, 1}, 3, 2)}, ""},
			{d.String(), "Flatten", 25, nil, in{x}, in{x}, ""},
			{d.String(), "Squeeze", 25, nil, in{row}, in{tensorOf(d, []float64{0.5, 1, 1}, 3)}, ""},
			{d.String(), "Unsqueeze", 25, nil, in{tensorOf(d, []float64{0.5, 1, 1}, 3), i64([]float64{0})}, in{row}, ""},
			{d.String(), "Transpose", 25, nil, in{x}, in{turned}, ""},
			{d.String(), "Shape", 25, nil, in{x}, in{i64([]float64{2, 3})}, ""},
			{d.String(), "Size", 25, nil, in{x}, in{scalarOf(dtype.Int64, 6)}, ""},
			{d.String(), "Concat", 13, attrs(attrInt("axis", 0)), in{x, row}, in{tensorOf(d, []float64{1, 0.5, 1, 0.5, 1, 1, 0.5, 1, 1}, 3, 3)}, ""},
			{d.String(), "Gather", 13, nil, in{x, i64([]float64{1})}, in{row}, ""},
			{d.String(), "Slice", 13, nil, in{x, i64([]float64{1}), i64([]float64{2})}, in{row}, ""},
			{d.String(), "Expand", 13, nil, in{row, i64([]float64{2, 1})}, in{tensorOf(d, []float64{0.5, 1, 1, 0.5, 1, 1}, 2, 3)}, ""},
			{d.String(), "Constant", 25, attrs(attrTensor("value", packed(x))), nil, in{x}, ""},
			{d.String(), "ConstantOfShape", 25, attrs(attrTensor("value", packed(tensorOf(d, []float64{1}, 1)))), in{i64([]float64{1, 3})}, in{tensorOf(d, []float64{1, 1, 1}, 1, 3)}, ""},
			{d.String(), "Relu", 14, nil, in{x}, nil, d.String()},
			{d.String(), "ReduceMax", 20, nil, in{x}, nil, "low precision"},
			{d.String(), "Softmax", 13, nil, in{x}, nil, d.String()},
			{d.String(), "MatMul", 13, nil, in{x, turned}, nil, d.String()},
		})
	}
}

// packed returns a tensor as files have it.
func packed(x *berth.Tensor) wire.Tensor {
	data, err := AppendTensor(nil, "", x)
	if err != nil {
		panic(err)
	}
	proto, err := wire.DecodeTensor(data, nil)
	if err != nil {
		panic(err)
	}
	return *proto
}

// TestAppendTensor writes and reads tensors of every type, dense and not.
func TestAppendTensor(t *testing.T) {
	for _, d := range dtype.All() {
		for _, dims := range [][]int{{}, {1}, {0, 3}, {2, 3}, {5, 1, 3}} {
			n := 1
			for _, d := range dims {
				n *= d
			}
			data := make([]float64, n)
			for i := range data {
				data[i] = float64(i % 2)
			}
			x := tensorOf(d, data, dims...)
			if len(dims) > 1 {
				var err error
				if x, err = x.Transpose(); err != nil {
					t.Fatal(err)
				}
			}
			file, err := AppendTensor([]byte{}, "x", x)
			if err != nil {
				t.Fatal(err)
			}
			name, back, err := ReadTensor(file)
			if err != nil || name != "x" || !berth.Equal(back, x) {
				t.Errorf("%v comes back as %q, %v, error %v", x, name, back, err)
			}
		}
	}
	if _, err := AppendTensor(nil, "x", nil); err == nil {
		t.Error("no tensor is written")
	}
}

// TestLowText converts single elements of low precision to strings and back.
func TestLowText(t *testing.T) {
	element := func(d dtype.Type, v float64) kernel.Scalar { return kernel.Float64Scalar(v).Cast(d) }
	for _, c := range []struct {
		element kernel.Scalar
		text    string
	}{
		{element(dtype.Int4, -3), "-3"}, {element(dtype.Uint2, 3), "3"}, {element(dtype.Float8E4M3FN, 1.5), "1.5"},
		{element(dtype.Float8E5M2, math.Inf(-1)), "-INF"}, {element(dtype.Float8E8M0, math.NaN()), "NaN"},
	} {
		if got := textOf(c.element); got != c.text {
			t.Errorf("%v is %q, want %q", c.element, got, c.text)
		}
	}
	for _, c := range []struct {
		text string
		want kernel.Scalar
	}{
		{"-9", element(dtype.Int4, 7)}, {"1.5", element(dtype.Float4E2M1, 1.5)},
		{"1e9", element(dtype.Float8E4M3FN, 448)}, {"-INF", element(dtype.Float8E5M2, -57344)},
	} {
		if got, err := scalarFrom(c.text, c.want.DType); err != nil || got != c.want {
			t.Errorf("%q is %v, error %v, want %v", c.text, got, err, c.want)
		}
	}
}

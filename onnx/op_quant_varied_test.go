package onnx

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
)

// TestQuantVaried runs operators of 8-bit integers over dimensions, against what the
// numbers that these stand for give in float32: all sums are small and exact, and
// scales are powers of 2.
func TestQuantVaried(t *testing.T) {
	u8 := func(dims ...any) operand { return below(dtype.Uint8, 9, dims...) }
	s8 := func(dims ...any) operand {
		return operand{dtype.Int8, dims, func(rng *rand.Rand) float64 { return float64(rng.IntN(9) - 4) }}
	}
	power := func(dims ...any) operand {
		return operand{dtype.Float32, dims, func(rng *rand.Rand) float64 { return []float64{.5, 1, 2}[rng.IntN(3)] }}
	}
	real := func(x *berth.Tensor) *berth.Promise { return x.Promise().Cast(berth.Float32) }
	column := func(x *berth.Tensor) *berth.Promise { return real(x).Reshape(-1, 1) }
	// rounded is what a result of bytes has of p, with a scale and a zero point.
	rounded := func(p *berth.Promise, scale, zero *berth.Tensor) *berth.Tensor {
		return made(p.Div(scale.Promise()).Round().Add(real(zero)).Clip(0, 255).Cast(berth.Uint8))
	}
	only := func(x *berth.Tensor) []*berth.Tensor { return in{x} }
	vary := []berth.Dimension{berth.Dim("m", 1, 70), berth.Dim("w", 2, 9)}
	extents := []berth.Extents{{"m": 70, "w": 9}, {"m": 1, "w": 2}, {"m": 5, "w": 7}, {"m": 2, "w": 3}}
	for _, c := range []variedTest{
		{op: "MatMulInteger", opset: 10, outs: "y", in: []operand{u8("w", "m", 6), s8(6, 5), u8("m"), s8(5)},
			want: func(in []*berth.Tensor) []*berth.Tensor {
				return only(made(real(in[0]).Sub(column(in[2])).MatMul(real(in[1]).Sub(real(in[3]))).Cast(berth.Int32)))
			}},
		{op: "MatMulInteger", opset: 10, outs: "y", in: []operand{u8("w"), s8("m", "w", 3)},
			want: func(in []*berth.Tensor) []*berth.Tensor {
				return only(made(real(in[0]).MatMul(real(in[1])).Cast(berth.Int32)))
			}},
		{op: "QLinearMatMul", opset: 21, outs: "y", in: []operand{u8("m", "w"), power("m"), u8("m"), s8("w", 5), power(5), s8(5), power(), u8()},
			want: func(in []*berth.Tensor) []*berth.Tensor {
				a, b := real(in[0]).Sub(column(in[2])).Mul(column(in[1])), real(in[3]).Sub(real(in[5])).Mul(real(in[4]))
				return only(rounded(a.MatMul(b), in[6], in[7]))
			}},
		{op: "QLinearConv", opset: 10, outs: "y", attrs: attrs(attrInts("pads", 1, 0, 1, 1), attrInts("strides", 2, 1)),
			in: []operand{u8("m", 2, "w", "w"), power(), u8(), s8(3, 2, 3, 2), power(3), s8(3), power(), u8()},
			want: func(in []*berth.Tensor) []*berth.Tensor {
				x, w := real(in[0]).Sub(real(in[2])).Mul(real(in[1])), real(in[3]).Sub(real(in[5]).Reshape(3, 1, 1, 1)).Mul(real(in[4]).Reshape(3, 1, 1, 1))
				return only(rounded(x.Conv(w, nil, &berth.ConvOptions{Window: berth.Window{Strides: []int{2, 1}, Pads: []int{1, 0, 1, 1}}}), in[6], in[7]))
			}},
		{op: "com.microsoft.MatMulIntegerToFloat", opset: 1, outs: "y", in: []operand{u8("w", "m", 6), s8(6, 5), power(), power(5), u8(), s8(5), normal(5)},
			want: func(in []*berth.Tensor) []*berth.Tensor {
				a, b := real(in[0]).Sub(real(in[4])).Mul(real(in[2])), real(in[1]).Sub(real(in[5])).Mul(real(in[3]))
				return only(made(a.MatMul(b).Add(real(in[6]))))
			}},
		{op: "com.microsoft.QGemm", opset: 1, outs: "y", attrs: attrs(attrInt("transA", 1)), in: []operand{u8(4, "m"), power(), u8(), s8(4, "w"), power("w"), s8("w"), {}, power(), u8()},
			want: func(in []*berth.Tensor) []*berth.Tensor {
				a, b := real(in[0]).Sub(real(in[2])).Mul(real(in[1])).Permute(1, 0), real(in[3]).Sub(real(in[5])).Mul(real(in[4]))
				return only(rounded(a.MatMul(b), in[7], in[8]))
			}},
		{op: "com.microsoft.QLinearConcat", opset: 1, outs: "y", attrs: attrs(attrInt("axis", 1)), in: []operand{power(), u8(), u8("m", "w"), power(), u8(), u8("m", 3), power(), u8()},
			want: func(in []*berth.Tensor) []*berth.Tensor {
				a, b := real(in[2]).Sub(real(in[4])).Mul(real(in[3])), real(in[5]).Sub(real(in[7])).Mul(real(in[6]))
				return only(rounded(berth.Concat(1, a, b), in[0], in[1]))
			}},
		{op: "com.microsoft.QLinearAveragePool", opset: 1, outs: "y", attrs: attrs(attrInt("channels_last", 1), attrInts("kernel_shape", 2)), in: []operand{u8("m", "w", 2), power(), u8(), power(), u8()},
			want: func(in []*berth.Tensor) []*berth.Tensor {
				x := real(in[0]).Sub(real(in[2])).Mul(real(in[1])).Permute(0, 2, 1)
				return only(rounded(x.AveragePool([]int{2}, nil).Permute(0, 2, 1), in[3], in[4]))
			}},
	} {
		t.Run(c.op, func(t *testing.T) {
			c.vary, c.extents = vary, extents
			c.run(t)
		})
	}
}

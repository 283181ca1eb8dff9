package onnx

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/wire"
)

func codesOf(t dtype.Type, data []float64, dims ...int) *berth.Tensor {
	if dims == nil {
		dims = []int{len(data)}
	}
	return tensorOf(t, data, dims...)
}

func TestQuantizeLinear(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	x := f32([]float64{-3, -1, 0, 1, 3, 5, 1000, -1000, inf, -inf, nan})
	half := scalarOf(dtype.Float32, 2)
	like := func(d dtype.Type, zero float64) *berth.Tensor { return scalarOf(d, zero) }
	to := func(d wire.DataType) []wire.Attribute { return attrs(attrInt("output_dtype", int64(d))) }
	matrix := f32([]float64{2, 4, 6, 8, 10, 12, 14, 16}, 2, 4)
	runNodeTests(t, []nodeTest{
		// -3/2 and 5/2 are ties, rounded to even before the zero point is added.
		{"uint8 by default", "QuantizeLinear", 10, nil, in{x, half}, in{codesOf(dtype.Uint8, []float64{0, 0, 0, 0, 2, 2, 255, 0, 255, 0, 0})}, ""},
		{"zero point", "QuantizeLinear", 10, nil, in{x, half, like(dtype.Uint8, 5)}, in{codesOf(dtype.Uint8, []float64{3, 5, 5, 5, 7, 7, 255, 0, 255, 0, 0})}, ""},
		{"int8", "QuantizeLinear", 13, nil, in{x, half, like(dtype.Int8, -1)}, in{codesOf(dtype.Int8, []float64{-3, -1, -1, -1, 1, 1, 127, -128, 127, -128, -128})}, ""},
		{"int16", "QuantizeLinear", 21, nil, in{x, half, like(dtype.Int16, 1)}, in{codesOf(dtype.Int16, []float64{-1, 1, 1, 1, 3, 3, 501, -499, 32767, -32768, -32768})}, ""},
		{"uint16", "QuantizeLinear", 21, to(wire.Uint16), in{x, half}, in{codesOf(dtype.Uint16, []float64{0, 0, 0, 0, 2, 2, 500, 0, 65535, 0, 0})}, ""},
		{"int4", "QuantizeLinear", 21, to(wire.Int4), in{x, half}, in{codesOf(dtype.Int4, []float64{-2, 0, 0, 0, 2, 2, 7, -8, 7, -8, -8})}, ""},
		{"uint4", "QuantizeLinear", 21, nil, in{x, half, like(dtype.Uint4, 8)}, in{codesOf(dtype.Uint4, []float64{6, 8, 8, 8, 10, 10, 15, 0, 15, 0, 0})}, ""},
		{"int2", "QuantizeLinear", 25, to(wire.Int2), in{x, half}, in{codesOf(dtype.Int2, []float64{-2, 0, 0, 0, 1, 1, 1, -2, 1, -2, -2})}, ""},
		{"uint2", "QuantizeLinear", 25, nil, in{x, half, like(dtype.Uint2, 1)}, in{codesOf(dtype.Uint2, []float64{0, 1, 1, 1, 3, 3, 3, 0, 3, 0, 0})}, ""},
		{"float8", "QuantizeLinear", 19, nil, in{x, half, like(dtype.Float8E4M3FN, 0)}, in{codesOf(dtype.Float8E4M3FN, []float64{-1.5, -.5, 0, .5, 1.5, 2.5, 448, -448, 448, -448, nan})}, ""},
		{"float8, not saturated", "QuantizeLinear", 23, append(to(wire.Float8E5M2), attrInt("saturate", 0)), in{f32([]float64{2, 2e6, -inf}), half}, in{codesOf(dtype.Float8E5M2, []float64{1, inf, -inf})}, ""},
		{"float4", "QuantizeLinear", 23, to(wire.Float4E2M1), in{x, half}, in{codesOf(dtype.Float4E2M1, []float64{-1.5, -.5, 0, .5, 1.5, 2, 6, -6, 6, -6, math.Copysign(0, -1)})}, ""},
		{"integers", "QuantizeLinear", 10, nil, in{tensorOf(dtype.Int32, []float64{-7, 7, 9}, 3), half, like(dtype.Int8, 1)}, in{codesOf(dtype.Int8, []float64{-3, 5, 5})}, ""},
		{"for each column", "QuantizeLinear", 13, nil, in{matrix, f32([]float64{1, 2, 4, 8}), codesOf(dtype.Uint8, []float64{0, 1, 2, 3})}, in{codesOf(dtype.Uint8, []float64{2, 3, 4, 4, 10, 7, 6, 5}, 2, 4)}, ""},
		{"for each row", "QuantizeLinear", 13, attrs(attrInt("axis", -2)), in{matrix, f32([]float64{1, 2})}, in{codesOf(dtype.Uint8, []float64{2, 4, 6, 8, 5, 6, 7, 8}, 2, 4)}, ""},
		{"a list of one", "QuantizeLinear", 13, nil, in{x, f32([]float64{2}), like(dtype.Uint8, 5)}, in{codesOf(dtype.Uint8, []float64{3, 5, 5, 5, 7, 7, 255, 0, 255, 0, 0})}, ""},
		{"blocks", "QuantizeLinear", 21, attrs(attrInt("block_size", 2)), in{matrix, f32([]float64{1, 2, 4, 8}, 2, 2), codesOf(dtype.Int8, []float64{0, 1, 2, 3}, 2, 2)}, in{codesOf(dtype.Int8, []float64{2, 4, 4, 5, 4, 5, 5, 5}, 2, 4)}, ""},
		{"blocks, the last one cut off", "QuantizeLinear", 21, attrs(attrInt("block_size", 3)), in{matrix, f32([]float64{1, 2, 2, 4}, 2, 2)}, in{codesOf(dtype.Uint8, []float64{2, 4, 6, 4, 5, 6, 7, 4}, 2, 4)}, ""},
		{"blocks of rows", "QuantizeLinear", 21, attrs(attrInt("block_size", 2), attrInt("axis", 0)), in{matrix, f32([]float64{1, 2, 1, 2}, 1, 4)}, in{codesOf(dtype.Uint8, []float64{2, 2, 6, 4, 10, 6, 14, 8}, 2, 4)}, ""},
		{"powers of 2", "QuantizeLinear", 24, attrs(attrInt("block_size", 4)), in{tensorOf(dtype.Float16, []float64{2, 4, 6, 8, 10, 12, 14, 16}, 2, 4), tensorOf(dtype.Float8E8M0, []float64{2, 4}, 2, 1)}, in{codesOf(dtype.Uint8, []float64{1, 2, 3, 4, 2, 3, 4, 4}, 2, 4)}, ""},
		// 2049 is no float16, and 257 no bfloat16.
		{"precision of the scale", "QuantizeLinear", 23, to(wire.Int16), in{f32([]float64{2049}), scalarOf(dtype.Float16, 1)}, in{codesOf(dtype.Int16, []float64{2048})}, ""},
		{"precision of its own", "QuantizeLinear", 23, append(to(wire.Int16), attrInt("precision", int64(wire.Float))), in{f32([]float64{2049}), scalarOf(dtype.Float16, 1)}, in{codesOf(dtype.Int16, []float64{2049})}, ""},
		{"precision of less", "QuantizeLinear", 23, append(to(wire.Int16), attrInt("precision", int64(wire.BFloat16))), in{f32([]float64{257}), scalarOf(dtype.Float32, 1)}, in{codesOf(dtype.Int16, []float64{256})}, ""},
		{"no elements", "QuantizeLinear", 21, attrs(attrInt("block_size", 2)), in{f32(nil, 2, 0), f32(nil, 2, 0)}, in{codesOf(dtype.Uint8, nil, 2, 0)}, ""},

		{"types that differ", "QuantizeLinear", 21, to(wire.Int8), in{x, half, like(dtype.Uint8, 0)}, nil, "output_dtype is int8, and the zero point of type uint8"},
		{"no codes", "QuantizeLinear", 21, to(wire.Int32), in{x, half}, nil, "int32 is not a type to quantize to"},
		{"no precision", "QuantizeLinear", 23, attrs(attrInt("precision", int64(wire.Int32))), in{x, half}, nil, "the precision int32"},
		{"shapes that differ", "QuantizeLinear", 13, nil, in{matrix, f32([]float64{1, 2, 4, 8}), codesOf(dtype.Uint8, []float64{0, 1})}, nil, "the scale has the shape [4], and the zero point [2]"},
		{"too few scales", "QuantizeLinear", 13, nil, in{matrix, f32([]float64{1, 2, 4})}, nil, "the scale has the shape [3], not [4]: an element for each index of axis 1 of [2 4]"},
		{"too few blocks", "QuantizeLinear", 21, attrs(attrInt("block_size", 3)), in{matrix, f32([]float64{1, 2, 3, 4, 5, 6}, 2, 3)}, nil, "the scale has the shape [2 3], not [2 2]: an element for each block of 3 of axis 1 of [2 4]"},
		{"no block", "QuantizeLinear", 21, attrs(attrInt("block_size", -1)), in{matrix, half}, nil, "block_size is -1"},
		{"no axis", "QuantizeLinear", 21, attrs(attrInt("axis", 2)), in{matrix, f32([]float64{1, 2})}, nil, "axis 2"},
		{"scales too early", "QuantizeLinear", 10, nil, in{matrix, f32([]float64{1, 2, 3, 4})}, nil, "before version 13"},
		{"axis too early", "QuantizeLinear", 10, attrs(attrInt("axis", 1)), in{matrix, half}, nil, "axis does not exist before version 13"},
		{"saturate too early", "QuantizeLinear", 13, attrs(attrInt("saturate", 1)), in{matrix, half}, nil, "saturate does not exist before version 19"},
		{"blocks too early", "QuantizeLinear", 19, attrs(attrInt("block_size", 2)), in{matrix, half}, nil, "block_size does not exist before version 21"},
		{"type too early", "QuantizeLinear", 19, to(wire.Int8), in{matrix, half}, nil, "output_dtype does not exist before version 21"},
		{"precision too early", "QuantizeLinear", 21, attrs(attrInt("precision", 1)), in{matrix, half}, nil, "precision does not exist before version 23"},
	})
}

func TestDequantizeLinear(t *testing.T) {
	half := scalarOf(dtype.Float32, 0.5)
	to := func(d wire.DataType) []wire.Attribute { return attrs(attrInt("output_dtype", int64(d))) }
	matrix := codesOf(dtype.Int4, []float64{-8, -1, 0, 7, 1, 2, 3, 4}, 2, 4)
	runNodeTests(t, []nodeTest{
		{"uint8", "DequantizeLinear", 10, nil, in{codesOf(dtype.Uint8, []float64{0, 3, 255}), half, scalarOf(dtype.Uint8, 128)}, in{f32([]float64{-64, -62.5, 63.5})}, ""},
		{"int8", "DequantizeLinear", 13, nil, in{codesOf(dtype.Int8, []float64{-128, 3, 127}), half}, in{f32([]float64{-64, 1.5, 63.5})}, ""},
		{"int16", "DequantizeLinear", 21, nil, in{codesOf(dtype.Int16, []float64{-32768, 32767}), half, scalarOf(dtype.Int16, 32767)}, in{f32([]float64{-32767.5, 0})}, ""},
		{"uint16 as halves", "DequantizeLinear", 21, nil, in{codesOf(dtype.Uint16, []float64{65535, 2051}), scalarOf(dtype.Float16, 0.5), scalarOf(dtype.Uint16, 1)}, in{tensorOf(dtype.Float16, []float64{32767, 1025}, 2)}, ""},
		{"int32", "DequantizeLinear", 10, nil, in{tensorOf(dtype.Int32, []float64{-5, 1 << 20}, 2), half}, in{f32([]float64{-2.5, 1 << 19})}, ""},
		{"float8", "DequantizeLinear", 19, nil, in{codesOf(dtype.Float8E5M2, []float64{57344, math.Inf(-1), -0.5}), half, scalarOf(dtype.Float8E5M2, 0)}, in{f32([]float64{28672, math.Inf(-1), -0.25})}, ""},
		{"float8 as bfloat16", "DequantizeLinear", 23, to(wire.BFloat16), in{codesOf(dtype.Float8E4M3FNUZ, []float64{240, -1.75}), half}, in{tensorOf(dtype.BFloat16, []float64{120, -.875}, 2)}, ""},
		{"float4 by powers of 2", "DequantizeLinear", 24, append(to(wire.Float), attrInt("block_size", 2)), in{codesOf(dtype.Float4E2M1, []float64{6, -0.5, 1.5, 4}), tensorOf(dtype.Float8E8M0, []float64{0x1p-20, 8}, 2)}, nil, "axis 1"},
		{"float4 by powers of 2, axis 0", "DequantizeLinear", 24, append(to(wire.Float), attrInt("block_size", 2), attrInt("axis", 0)), in{codesOf(dtype.Float4E2M1, []float64{6, -0.5, 1.5, 4}), tensorOf(dtype.Float8E8M0, []float64{0x1p-20, 8}, 2)}, in{f32([]float64{0x6p-20, -0x1p-21, 12, 32})}, ""},
		{"int2", "DequantizeLinear", 25, nil, in{codesOf(dtype.Int2, []float64{-2, -1, 0, 1}), half, scalarOf(dtype.Int2, -1)}, in{f32([]float64{-.5, 0, .5, 1})}, ""},
		{"uint2", "DequantizeLinear", 25, nil, in{codesOf(dtype.Uint2, []float64{0, 1, 2, 3}), half, scalarOf(dtype.Uint2, 1)}, in{f32([]float64{-.5, 0, .5, 1})}, ""},
		{"for each column", "DequantizeLinear", 21, nil, in{matrix, f32([]float64{1, 2, 4, 8}), codesOf(dtype.Int4, []float64{0, 1, 0, -1})}, in{f32([]float64{-8, -4, 0, 64, 1, 2, 12, 40}, 2, 4)}, ""},
		{"for each row", "DequantizeLinear", 21, attrs(attrInt("axis", 0)), in{matrix, f32([]float64{1, 2})}, in{f32([]float64{-8, -1, 0, 7, 2, 4, 6, 8}, 2, 4)}, ""},
		{"blocks", "DequantizeLinear", 21, attrs(attrInt("block_size", 2)), in{matrix, f32([]float64{1, 2, 4, 8}, 2, 2)}, in{f32([]float64{-8, -1, 0, 14, 4, 8, 24, 32}, 2, 4)}, ""},
		{"blocks, the last one cut off", "DequantizeLinear", 21, attrs(attrInt("block_size", 3)), in{matrix, f32([]float64{1, 2, 4, 8}, 2, 2), codesOf(dtype.Int4, []float64{0, 1, 1, 0}, 2, 2)}, in{f32([]float64{-8, -1, 0, 12, 0, 4, 8, 32}, 2, 4)}, ""},

		{"types that differ", "DequantizeLinear", 21, nil, in{matrix, half, scalarOf(dtype.Uint4, 0)}, nil, "the input is of type int4, and the zero point of type uint4"},
		{"no codes", "DequantizeLinear", 21, nil, in{f32([]float64{1}), half}, nil, "float32 is not a type to dequantize"},
		{"no result", "DequantizeLinear", 24, nil, in{matrix, scalarOf(dtype.Float8E8M0, 1)}, nil, "float8_e8m0fnu is not a type to dequantize to"},
	})
}

// TestQuantizeRandom compares both operators with their formulas on single elements,
// for all types and ways to share scales.
func TestQuantizeRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 3))
	codes := []dtype.Type{dtype.Float4E2M1}
	for _, d := range dtype.All() {
		if isCode(d) && d != dtype.Float4E2M1 {
			codes = append(codes, d)
		}
	}
	rounds := 8
	if testing.Short() {
		rounds = 1
	}
	for _, code := range codes {
		for range rounds {
			dims := []int{1 + rng.IntN(3), 1 + rng.IntN(9), 1 + rng.IntN(4)}
			axis, block := rng.IntN(3), 1+rng.IntN(4)
			granules := slices.Clone(dims)
			granules[axis] = (dims[axis] + block - 1) / block
			extra := attrs(attrInt("axis", int64(axis-3*rng.IntN(2))))
			granule := func(i []int) int { return (i[0]*granules[1]+i[1])*granules[2] + i[2] }
			shared := func(i []int) int { // of the scale of an element
				i = slices.Clone(i)
				i[axis] /= block
				return granule(i)
			}
			switch rng.IntN(3) {
			case 0: // for each index
				granules, shared = []int{dims[axis]}, func(i []int) int { return i[axis] }
			case 1:
				granules, shared = []int{}, func(i []int) int { return 0 }
			default:
				extra = append(extra, attrInt("block_size", int64(block)))
			}
			number := []dtype.Type{dtype.Float32, dtype.Float16, dtype.BFloat16}[rng.IntN(3)]
			drawn := func(d dtype.Type, dims []int, f func() float64) []float64 {
				n := 1
				for _, d := range dims {
					n *= d
				}
				data := make([]float64, n)
				for i := range data {
					data[i] = rounded(d, f())
				}
				return data
			}
			scales := drawn(number, granules, func() float64 { return math.Exp2(rng.Float64()*6 - 3) })
			limits, integer := codeRanges[code]
			zeros := drawn(code, granules, func() float64 {
				if !integer {
					return 0
				}
				return limits[0] + float64(rng.IntN(int(limits[1]-limits[0])+1))
			})
			x := drawn(number, dims, func() float64 {
				return []float64{rng.NormFloat64(), 8 * rng.NormFloat64(), float64(rng.IntN(9)) / 2, 1e5 * rng.NormFloat64(), math.Inf(rng.IntN(2)*2 - 1), 0}[rng.IntN(6)]
			})
			var quantized, back []float64
			for flat := range x {
				i := []int{flat / dims[2] / dims[1], flat / dims[2] % dims[1], flat % dims[2]}
				s, z := scales[shared(i)], zeros[shared(i)]
				y := rounded(number, x[flat]/s)
				if integer {
					y = math.Min(math.Max(math.RoundToEven(y)+z, limits[0]), limits[1])
				} else if most := greatest[code]; most != 0 {
					y = math.Min(math.Max(y, -most), most)
				}
				y = rounded(code, y)
				quantized = append(quantized, y)
				back = append(back, rounded(number, float64(float32((y-z)*s))))
			}
			name := fmt.Sprintf("%v of %v in %v", code, number, granules)
			scale, zero := tensorOf(number, scales, granules...), tensorOf(code, zeros, granules...)
			q := tensorOf(code, quantized, dims...)
			runNodeTests(t, []nodeTest{
				{name, "QuantizeLinear", 25, extra, in{tensorOf(number, x, dims...), scale, zero}, in{q}, ""},
				{name, "DequantizeLinear", 25, extra, in{q, scale, zero}, in{tensorOf(number, back, dims...)}, ""},
			})
		}
	}
}

// TestContribQuantize has attributes and types that the standard operators took later.
func TestContribQuantize(t *testing.T) {
	x, codes := f32([]float64{2, 4, 6, 8}, 1, 4), codesOf(dtype.Uint16, []float64{3, 5, 4, 5}, 1, 4)
	scale, zero := f32([]float64{1, 2}, 1, 2), codesOf(dtype.Uint16, []float64{1, 1}, 1, 2)
	runNodeTests(t, []nodeTest{
		{"blocks", "com.microsoft.QuantizeLinear", 1, attrs(attrInt("block_size", 2)), in{x, scale, zero}, in{codes}, ""},
		{"blocks", "com.microsoft.DequantizeLinear", 1, attrs(attrInt("block_size", 2)), in{codes, scale, zero}, in{x}, ""},
		{"no such attribute", "com.microsoft.DequantizeLinear", 1, attrs(attrInt("blocks", 2)), in{codes, scalarOf(dtype.Float32, 1)}, nil, `no attribute "blocks"`},
	})
}

// rounded returns v rounded to a type.
func rounded(t dtype.Type, v float64) float64 { return kernel.Float64Scalar(v).Cast(t).Float64() }

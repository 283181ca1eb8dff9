package onnx

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

// TestMatMulNBits compares products with sums over weights unpacked one by one.
func TestMatMulNBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	code := func(bytes []float64, from, i, bits int) float64 { // code i of the bytes that begin at from
		return float64(int(bytes[from+i*bits/8]) >> (i * bits % 8) & (1<<bits - 1))
	}
	draw := func(n int, f func() float64) []float64 {
		data := make([]float64, n)
		for i := range data {
			data[i] = f()
		}
		return data
	}
	octet := func() float64 { return float64(rng.IntN(256)) }
	small := func() float64 { return float64(rng.IntN(17)-8) / 8 } // sums of these are exact
	for _, bits := range []int{2, 4, 8} {
		for _, zeros := range []string{"none", "packed", "numbers"} {
			const rows, n, block = 3, 5, 16
			k := 40 - 8*rng.IntN(2)
			blocks := (k + block - 1) / block
			blob, width := block*bits/8, (blocks*bits+7)/8
			a, b, scales, bias := draw(rows*k, small), draw(n*blocks*blob, octet), draw(n*blocks, small), draw(n, small)
			packed, numbers := draw(n*width, octet), draw(n*blocks, small)
			want := make([]float64, rows*n)
			for i := range want {
				row, col := i/n, i%n
				want[i] = bias[col]
				for j := range k {
					at := col*blocks + j/block
					zero := float64(int(1) << (bits - 1))
					switch zeros {
					case "packed":
						zero = code(packed, col*width, j/block, bits)
					case "numbers":
						zero = numbers[at]
					}
					want[i] += a[row*k+j] * (code(b, at*blob, j%block, bits) - zero) * scales[at]
				}
			}
			var zero *berth.Tensor
			switch zeros {
			case "packed":
				zero = codesOf(dtype.Uint8, packed, n, width)
			case "numbers":
				zero = f32(numbers, n, blocks)
			}
			sizes := attrs(attrInt("K", int64(k)), attrInt("N", n), attrInt("block_size", block), attrInt("bits", int64(bits)), attrInt("accuracy_level", 4))
			inputs := in{f32(a, 1, rows, k), codesOf(dtype.Uint8, b, n, blocks, blob), f32(scales, n, blocks), zero, nil, f32(bias)}
			flat := in{f32(a, rows, k), inputs[1], f32(scales, n*blocks), zero, nil, f32(bias)}
			name := fmt.Sprintf("%d bits, zero points: %s", bits, zeros)
			runNodeTests(t, []nodeTest{
				{name, "com.microsoft.MatMulNBits", 1, sizes, inputs, in{f32(want, 1, rows, n)}, ""},
				{name + ", a list of scales", "com.microsoft.MatMulNBits", 1, sizes, flat, in{f32(want, rows, n)}, ""},
			})
		}
	}
	sizes := func(k, n, block, bits int64) []wire.Attribute {
		return attrs(attrInt("K", k), attrInt("N", n), attrInt("block_size", block), attrInt("bits", bits))
	}
	a, b, scales := f32(make([]float64, 32), 2, 16), codesOf(dtype.Uint8, make([]float64, 8), 1, 1, 8), f32([]float64{1}, 1, 1)
	halves := tensorOf(dtype.Float16, make([]float64, 32), 2, 16)
	runNodeTests(t, []nodeTest{
		{"halves", "com.microsoft.MatMulNBits", 1, sizes(16, 1, 16, 4), in{halves, b, tensorOf(dtype.Float16, []float64{1}, 1, 1)}, in{tensorOf(dtype.Float16, []float64{0, 0}, 2, 1)}, ""},
		{"odd block", "com.microsoft.MatMulNBits", 1, sizes(16, 1, 24, 4), in{a, b, scales}, nil, "block_size is 24"},
		{"small block", "com.microsoft.MatMulNBits", 1, sizes(16, 1, 8, 4), in{a, b, scales}, nil, "block_size is 8"},
		{"three bits", "com.microsoft.MatMulNBits", 1, sizes(16, 1, 16, 3), in{a, b, scales}, nil, "codes of 3 bits"},
		{"no columns", "com.microsoft.MatMulNBits", 1, sizes(16, 0, 16, 4), in{a, b, scales}, nil, "16 rows and 0 columns"},
		{"other rows", "com.microsoft.MatMulNBits", 1, sizes(17, 1, 16, 4), in{a, b, scales}, nil, "with 17 columns, which is K"},
		{"other blocks", "com.microsoft.MatMulNBits", 1, sizes(16, 2, 16, 4), in{a, b, scales}, nil, "not uint8[2 1 8]"},
		{"other scales", "com.microsoft.MatMulNBits", 1, sizes(16, 1, 16, 4), in{a, b, f32([]float64{1, 2})}, nil, "the scales have the shape [2], not [1 1]"},
		{"other zero points", "com.microsoft.MatMulNBits", 1, sizes(16, 1, 16, 4), in{a, b, scales, f32([]float64{1, 2})}, nil, "the zero points have the shape [2], not [1 1]"},
		{"other bias", "com.microsoft.MatMulNBits", 1, sizes(16, 1, 16, 4), in{a, b, scales, nil, nil, f32([]float64{1, 2})}, nil, "the bias has the shape [2], not [1]"},
		{"order of groups", "com.microsoft.MatMulNBits", 1, sizes(16, 1, 16, 4), in{a, b, scales, nil, tensorOf(dtype.Int32, make([]float64, 16), 16)}, nil, "g_idx"},
		{"packed for another engine", "com.microsoft.MatMulNBits", 1, append(sizes(16, 1, 16, 4), attrInt("weight_prepacked", 1)), in{a, b, scales}, nil, "weight_prepacked"},
	})
}

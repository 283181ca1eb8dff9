package linear

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
)

func benchmarkGemm(b *testing.B, m, n, k int, transB, prepacked bool) {
	benchmarkProduct(b, dtype.Float32, []int{m, n, k}, transB, prepacked)
}

// benchmarkProduct takes extents m, n and k, and those of a batch before them.
func benchmarkProduct(b *testing.B, t dtype.Type, extents []int, transB, prepacked bool) {
	rng := rand.New(rand.NewPCG(3, 4))
	batch, flops := extents[:len(extents)-3], 2
	for _, d := range extents {
		flops *= d
	}
	m, n, k := extents[len(batch)], extents[len(batch)+1], extents[len(batch)+2]
	dense := func(rows, cols int) *kernel.Operand {
		return kerneltest.Dense(t, append(slices.Clone(batch), rows, cols)...)
	}
	x, y, out := dense(m, k), dense(k, n), dense(m, n)
	if transB {
		y = dense(n, k)
	}
	kerneltest.Randomize(rng, x)
	kerneltest.Randomize(rng, y)
	for set := range kerneltest.Sets() {
		kern := newProduct(t, params{transB: transB})
		b.Run(set, func(b *testing.B) {
			kerneltest.BenchmarkTasks(b, kern, []*kernel.Operand{x, y}, []*kernel.Operand{out}, prepacked, flops)
		})
	}
}

// BenchmarkMatMul reports the rate on one core. A core's peak is its clock
// times 2 times the lanes of a register times the fused multiply-adds it
// starts in a cycle: 8 lanes and 2 starts with AVX2, so 32 float32 operations a
// cycle, 112 GFLOP/s at 3.5 GHz.
func BenchmarkMatMul(b *testing.B) {
	for _, n := range []int{64, 128, 256, 512, 1024} {
		b.Run(fmt.Sprintf("square/%d", n), func(b *testing.B) { benchmarkGemm(b, n, n, n, false, false) })
	}
	b.Run("square/512prepacked", func(b *testing.B) { benchmarkGemm(b, 512, 512, 512, false, true) })
	for _, m := range []int{1, 4, 16} {
		b.Run(fmt.Sprintf("skinny/%dx768x3072", m), func(b *testing.B) { benchmarkGemm(b, m, 3072, 768, false, false) })
		b.Run(fmt.Sprintf("skinny/%dx768x3072transposed", m), func(b *testing.B) { benchmarkGemm(b, m, 3072, 768, true, false) })
		b.Run(fmt.Sprintf("skinny/%dx768x3072prepacked", m), func(b *testing.B) { benchmarkGemm(b, m, 3072, 768, false, true) })
	}
	b.Run("skinny/1x768x3072broadcast", func(b *testing.B) {
		one := kerneltest.Dense(dtype.Float32, 1)
		y := &kernel.Operand{DType: dtype.Float32, Shape: []int{768, 3072}, Strides: []int{0, 0}, Data: one.Data}
		in, out := []*kernel.Operand{kerneltest.Dense(dtype.Float32, 1, 768), y}, []*kernel.Operand{kerneltest.Dense(dtype.Float32, 1, 3072)}
		kerneltest.BenchmarkTasks(b, newProduct(dtype.Float32, params{}), in, out, false, 2*768*3072)
	})
	for _, t := range []dtype.Type{dtype.Float32, dtype.Float64} {
		b.Run(fmt.Sprintf("vector/%v/3072x768", t), func(b *testing.B) { benchmarkProduct(b, t, []int{3072, 1, 768}, false, false) })
		b.Run(fmt.Sprintf("vector/%v/768x3072rows", t), func(b *testing.B) { benchmarkProduct(b, t, []int{1, 3072, 768}, false, false) })
	}
	for _, s := range [][]int{{128, 384, 384}, {128, 1536, 384}, {128, 384, 1536}, {12, 128, 128, 32}, {12, 128, 32, 128}} {
		b.Run(fmt.Sprint("transformer/", s), func(b *testing.B) { benchmarkProduct(b, dtype.Float32, s, false, false) })
	}
	for _, s := range [][]int{{96, 12544, 16}, {24, 3136, 96}, {384, 196, 64}, {96, 196, 384}, {320, 49, 960}} {
		b.Run(fmt.Sprint("image/", s), func(b *testing.B) { benchmarkProduct(b, dtype.Float32, s, false, false) })
	}
}

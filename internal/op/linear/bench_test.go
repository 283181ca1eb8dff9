package linear

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
)

func benchmarkGemm(b *testing.B, m, n, k int, transB, prepacked bool) {
	rng := rand.New(rand.NewPCG(3, 4))
	x, y, out := kerneltest.Dense(dtype.Float32, m, k), kerneltest.Dense(dtype.Float32, k, n), kerneltest.Dense(dtype.Float32, m, n)
	if transB {
		y = kerneltest.Dense(dtype.Float32, n, k)
	}
	kerneltest.Randomize(rng, x)
	kerneltest.Randomize(rng, y)
	for set := range kerneltest.Sets() {
		kern := newProduct(dtype.Float32, params{transB: transB})
		b.Run(set, func(b *testing.B) {
			kerneltest.BenchmarkTasks(b, kern, []*kernel.Operand{x, y}, []*kernel.Operand{out}, prepacked, 2*m*n*k)
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
	b.Run("column/3072x768x1", func(b *testing.B) { benchmarkGemm(b, 3072, 1, 768, false, false) })
}

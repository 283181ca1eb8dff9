package reduce

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
)

func TestArgReduce(t *testing.T) {
	for _, dt := range kerneltest.Halfless() {
		rng := rand.New(rand.NewPCG(7, uint64(dt)))
		for range kerneltest.Rounds(40) {
			dims := kerneltest.LineShape(rng, 1)
			axis := rng.IntN(len(dims))
			if dims[axis] == 0 {
				dims[axis] = 1
			}
			largest, last, keep := rng.IntN(2) == 0, rng.IntN(2) == 0, rng.IntN(2) == 0
			in := kerneltest.StridedInput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...)
			if rng.IntN(2) == 0 {
				kerneltest.FewValues(rng, in)
			}
			outDims := kerneltest.Without(dims, []int{axis}, keep)
			out := kerneltest.StridedOutput(rng, dtype.Int64, kerneltest.SomeDense(rng, len(outDims)), outDims...)
			k := newArgReduce(dt, axis, largest, last)
			if err := kerneltest.SameBits(rng, k, []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
				t.Fatalf("%v%v over %d: %v", dt, dims, axis, err)
			}
			if dt == dtype.Int64 || dt == dtype.Uint64 {
				narrow(in)
				if err := kerneltest.Run(rng, k, []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
					t.Fatal(err)
				}
			}
			x, got := kerneltest.Floats(in), kerneltest.Values[int64](out)
			for i, line := range kerneltest.LinesOf(dims, axis) {
				values := []float64{}
				for _, e := range line {
					values = append(values, x[e])
				}
				if want := kerneltest.ArgReduced(values, largest, last); int(got[i]) != want {
					t.Fatalf("%v%v over %d (largest %v, last %v): output %d is %d, want %d of %v", dt, dims, axis, largest, last, i, got[i], want, values)
				}
			}
		}
	}
}

// narrow shortens 64-bit integers to what float64 holds exactly.
func narrow(o *kernel.Operand) {
	s := kernel.Slice[int64](o)
	for i := range s {
		s[i] >>= 12
	}
}

func TestArgReduceAllocatesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	dims := []int{30, 40, 20}
	for axis := range dims {
		in := kerneltest.StridedInput(rng, dtype.Float32, 3, dims...)
		out := kerneltest.Dense(dtype.Int64, kerneltest.Without(dims, []int{axis}, false)...)
		kerneltest.CheckAllocs(t, newArgReduce(dtype.Float32, axis, true, false), []*kernel.Operand{in}, []*kernel.Operand{out})
	}
}

func BenchmarkArgReduce(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	in := kerneltest.StridedInput(rng, dtype.Float32, 2, 1000, 1000)
	out := []*kernel.Operand{kerneltest.Dense(dtype.Int64, 1000)}
	b.Run("rows", func(b *testing.B) {
		kerneltest.Benchmark(b, newArgReduce(dtype.Float32, 1, true, false), []*kernel.Operand{in}, out)
	})
	b.Run("columns", func(b *testing.B) {
		kerneltest.Benchmark(b, newArgReduce(dtype.Float32, 0, true, false), []*kernel.Operand{in}, out)
	})
}

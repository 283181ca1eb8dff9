package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
)

// fewValues makes ties and, in floating-point types, NaN frequent.
func fewValues(rng *rand.Rand, o *kernel.Operand) {
	switch o.DType {
	case dtype.Float32:
		s := kernel.Slice[float32](o)
		for i := range s {
			s[i] = float32(rng.IntN(5) - 2)
			if rng.IntN(30) == 0 {
				s[i] = float32(math.NaN())
			}
		}
	case dtype.Float64:
		s := kernel.Slice[float64](o)
		for i := range s {
			s[i] = float64(rng.IntN(5)-2) * math.Copysign(1, float64(rng.IntN(2))-.5)
			if rng.IntN(30) == 0 {
				s[i] = math.NaN()
			}
		}
	}
}

// argWanted is the plain definition: the first (last) NaN, or else the first
// (last) extreme.
func argWanted(x []float64, largest, last bool) int {
	found := -1
	for i, v := range x {
		switch {
		case found < 0:
			found = i
		case v != v && (x[found] == x[found] || last):
			found = i
		case x[found] != x[found]:
		case largest && v > x[found], !largest && v < x[found], last && v == x[found]:
			found = i
		}
	}
	return found
}

func TestArgReduce(t *testing.T) {
	for _, dt := range halfless() {
		rng := rand.New(rand.NewPCG(7, uint64(dt)))
		for range 40 {
			dims := lineShape(rng, 1)
			axis := rng.IntN(len(dims))
			if dims[axis] == 0 {
				dims[axis] = 1
			}
			largest, last, keep := rng.IntN(2) == 0, rng.IntN(2) == 0, rng.IntN(2) == 0
			in := kerneltest.StridedInput(rng, dt, someDense(rng, len(dims)), dims...)
			if rng.IntN(2) == 0 {
				fewValues(rng, in)
			}
			outDims := without(dims, []int{axis}, keep)
			out := kerneltest.StridedOutput(rng, dtype.Int64, someDense(rng, len(outDims)), outDims...)
			k := kernel.NewArgReduce(dt, axis, largest, last)
			if err := sameBits(rng, k, []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
				t.Fatalf("%v%v over %d: %v", dt, dims, axis, err)
			}
			if dt == dtype.Int64 || dt == dtype.Uint64 {
				narrow(in)
				if err := kerneltest.Run(rng, k, []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
					t.Fatal(err)
				}
			}
			x, got := floats(in), kerneltest.Values[int64](out)
			for i, line := range linesOf(dims, axis) {
				values := []float64{}
				for _, e := range line {
					values = append(values, x[e])
				}
				if want := argWanted(values, largest, last); int(got[i]) != want {
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
		out := kerneltest.Dense(dtype.Int64, without(dims, []int{axis}, false)...)
		kerneltest.CheckAllocs(t, kernel.NewArgReduce(dtype.Float32, axis, true, false), []*kernel.Operand{in}, []*kernel.Operand{out})
	}
}

func BenchmarkArgReduce(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	in := kerneltest.StridedInput(rng, dtype.Float32, 2, 1000, 1000)
	out := []*kernel.Operand{kerneltest.Dense(dtype.Int64, 1000)}
	b.Run("rows", func(b *testing.B) {
		benchmarkKernel(b, kernel.NewArgReduce(dtype.Float32, 1, true, false), []*kernel.Operand{in}, out)
	})
	b.Run("columns", func(b *testing.B) {
		benchmarkKernel(b, kernel.NewArgReduce(dtype.Float32, 0, true, false), []*kernel.Operand{in}, out)
	})
}

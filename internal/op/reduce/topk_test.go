package reduce

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
)

// ordered returns the elements of o as numbers that compare as the elements
// do, exactly; NaN as more than infinity.
func ordered(o *kernel.Operand) []float64 {
	var x []float64
	switch o.DType {
	case dtype.Float16, dtype.BFloat16:
		for _, b := range kerneltest.Values[uint16](o) {
			bits := 10
			if o.DType == dtype.BFloat16 {
				bits = 7
			}
			exponent, mantissa := int(b>>bits)&(1<<(15-bits)-1), float64(b&(1<<bits-1))/float64(int(1)<<bits)
			v := math.Ldexp(1+mantissa, exponent)
			switch {
			case exponent == 1<<(15-bits)-1 && mantissa != 0:
				v = math.NaN()
			case exponent == 0:
				v = math.Ldexp(mantissa, 1)
			}
			if b>>15 != 0 {
				v = -v
			}
			x = append(x, v)
		}
	default:
		x = kerneltest.Floats(o)
	}
	for i, v := range x {
		if v != v {
			x[i] = math.Inf(1)
		}
	}
	return x
}

func TestTopK(t *testing.T) {
	for _, dt := range kerneltest.Arithmetic() {
		rng := rand.New(rand.NewPCG(14, uint64(dt)))
		for range kerneltest.Rounds(35) {
			dims := kerneltest.LineShape(rng, 1)
			axis := rng.IntN(len(dims))
			n := rng.IntN(dims[axis] + 1)
			if rng.IntN(2) == 0 {
				n = min(n, 1+rng.IntN(5))
			}
			largest, sorted := rng.IntN(2) == 0, rng.IntN(4) != 0
			in := kerneltest.StridedInput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...)
			switch {
			case dt == dtype.Int64 || dt == dtype.Uint64:
				narrow(in)
			case dt.Size() == 2 && dt.IsFloat() && rng.IntN(2) == 0:
				for i := range in.Data { // any bits, NaN and subnormal ones too
					in.Data[i] = byte(rng.Uint32())
				}
			case rng.IntN(2) == 0:
				kerneltest.FewValues(rng, in)
			}
			outDims := slices.Clone(dims)
			outDims[axis] = n
			values := kerneltest.StridedOutput(rng, dt, kerneltest.SomeDense(rng, len(dims)), outDims...)
			indices := kerneltest.StridedOutput(rng, dtype.Int64, kerneltest.SomeDense(rng, len(dims)), outDims...)
			k := newTopK(dt, axis, n, largest, sorted)
			if err := kerneltest.SameBits(rng, k, []*kernel.Operand{in}, []*kernel.Operand{values, indices}); err != nil {
				t.Fatalf("%d of %v%v along %d: %v", n, dt, dims, axis, err)
			}
			x, got := ordered(in), kerneltest.Values[int64](indices)
			w := dt.Size()
			from, to := kerneltest.Bytes(in), kerneltest.Bytes(values)
			outLines := kerneltest.LinesOf(outDims, axis)
			for l, line := range kerneltest.LinesOf(dims, axis) {
				order := make([]int, len(line))
				for i := range order {
					order[i] = i
				}
				slices.SortStableFunc(order, func(a, b int) int {
					va, vb := x[line[a]], x[line[b]]
					if largest {
						va, vb = vb, va
					}
					switch {
					case va < vb:
						return -1
					case va > vb:
						return 1
					}
					return 0
				})
				order = order[:n]
				if n == 0 {
					continue
				}
				found := []int{}
				for i, e := range outLines[l] {
					at := line[got[e]]
					if string(to[e*w:(e+1)*w]) != string(from[at*w:(at+1)*w]) {
						t.Fatalf("%d of %v%v along %d: value %d is not the element at index %d", n, dt, dims, axis, i, got[e])
					}
					found = append(found, int(got[e]))
				}
				if !sorted {
					slices.Sort(found)
					slices.Sort(order)
				}
				if !slices.Equal(found, order) {
					t.Fatalf("%d of %v%v along %d (largest %v, sorted %v): indices %v, want %v", n, dt, dims, axis, largest, sorted, found, order)
				}
			}
		}
	}
}

func TestTopKOrdersNaNHighest(t *testing.T) {
	nan := float32(math.NaN())
	in := kerneltest.Of(dtype.Float32, []float32{1, nan, float32(math.Inf(1)), nan, 0, float32(math.Copysign(0, -1))}, 6)
	for largest, want := range map[bool][]int64{true: {1, 3, 2, 0, 4, 5}, false: {4, 5, 0, 2, 1, 3}} {
		values, indices := kerneltest.Dense(dtype.Float32, 6), kerneltest.Dense(dtype.Int64, 6)
		k := newTopK(dtype.Float32, 0, 6, largest, true)
		if err := kerneltest.Run(rand.New(rand.NewPCG(1, 1)), k, []*kernel.Operand{in}, []*kernel.Operand{values, indices}); err != nil {
			t.Fatal(err)
		}
		if got := kerneltest.Values[int64](indices); !slices.Equal(got, want) {
			t.Errorf("largest %v: indices %v, want %v", largest, got, want)
		}
	}
}

func TestTopKAllocatesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 15))
	for _, n := range []int{1, 5, 500} {
		in := kerneltest.StridedInput(rng, dtype.Float32, 2, 100, 500)
		values, indices := kerneltest.Dense(dtype.Float32, 100, n), kerneltest.Dense(dtype.Int64, 100, n)
		kerneltest.CheckAllocs(t, newTopK(dtype.Float32, 1, n, true, true), []*kernel.Operand{in}, []*kernel.Operand{values, indices})
	}
}

func BenchmarkTopK(b *testing.B) {
	for _, n := range []int{1, 50, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			in := kerneltest.StridedInput(rng, dtype.Float32, 1, 100000)
			values, indices := kerneltest.Dense(dtype.Float32, n), kerneltest.Dense(dtype.Int64, n)
			kerneltest.Benchmark(b, newTopK(dtype.Float32, 0, n, true, true), []*kernel.Operand{in}, []*kernel.Operand{values, indices})
		})
	}
}

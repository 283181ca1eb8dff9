package reduce

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
)

func TestCumulative(t *testing.T) {
	t.Run("uint8", testCumulative[uint8](dtype.Uint8))
	t.Run("uint16", testCumulative[uint16](dtype.Uint16))
	t.Run("uint32", testCumulative[uint32](dtype.Uint32))
	t.Run("uint64", testCumulative[uint64](dtype.Uint64))
	t.Run("int8", testCumulative[int8](dtype.Int8))
	t.Run("int16", testCumulative[int16](dtype.Int16))
	t.Run("int32", testCumulative[int32](dtype.Int32))
	t.Run("int64", testCumulative[int64](dtype.Int64))
	t.Run("float32", testCumulative[float32](dtype.Float32))
	t.Run("float64", testCumulative[float64](dtype.Float64))
}

func testCumulative[T kernel.Number](dt dtype.Type) func(*testing.T) {
	return func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, uint64(dt)))
		for range kerneltest.Rounds(40) {
			dims := kerneltest.LineShape(rng, 1)
			axis := rng.IntN(len(dims))
			product, exclusive, reverse := rng.IntN(2) == 0, rng.IntN(2) == 0, rng.IntN(2) == 0
			in := kerneltest.StridedInput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...)
			out := kerneltest.StridedOutput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...)
			k := newCumulative(dt, axis, product, exclusive, reverse)
			if err := kerneltest.SameBits(rng, k, []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
				t.Fatalf("%v%v along %d: %v", dt, dims, axis, err)
			}
			if err := kerneltest.OverInput(rng, k, []*kernel.Operand{in}, out); err != nil {
				t.Fatal(err)
			}
			x, got := kerneltest.Values[T](in), kerneltest.Values[T](out)
			for _, line := range kerneltest.LinesOf(dims, axis) {
				for i, e := range line {
					var want T
					if product {
						want = 1
					}
					// The elements up to this one, or from it to the end.
					for step := range line {
						j := step
						if reverse {
							j = len(line) - 1 - step
						}
						if reverse && j < i || !reverse && j > i || exclusive && j == i {
							continue
						}
						if product {
							want *= x[line[j]]
						} else {
							want += x[line[j]]
						}
					}
					if got[e] != want {
						t.Fatalf("%v%v along %d (product %v, exclusive %v, reverse %v): element %d is %v, want %v", dt, dims, axis, product, exclusive, reverse, e, got[e], want)
					}
				}
			}
		}
	}
}

func TestCumulativeAllocatesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	dims := []int{30, 40, 20}
	for axis := range dims {
		in, out := kerneltest.StridedInput(rng, dtype.Float32, 3, dims...), kerneltest.Dense(dtype.Float32, dims...)
		kerneltest.CheckAllocs(t, newCumulative(dtype.Float32, axis, false, false, true), []*kernel.Operand{in}, []*kernel.Operand{out})
	}
}

package norm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/race"
)

func TestSoftmax(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.Float32, dtype.Float64} {
		rng := rand.New(rand.NewPCG(11, uint64(dt)))
		for range kerneltest.Rounds(150) {
			dims := kerneltest.LineShape(rng, 1)
			axis, log := rng.IntN(len(dims)), rng.IntN(2) == 0
			in := kerneltest.StridedInput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...)
			out := kerneltest.StridedOutput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...)
			k := newSoftmax(dt, axis, log)
			if err := kerneltest.SameBits(rng, k, []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
				t.Fatalf("%v%v along %d: %v", dt, dims, axis, err)
			}
			if err := kerneltest.OverInput(rng, k, []*kernel.Operand{in}, out); err != nil {
				t.Fatal(err)
			}
			x, got := kerneltest.Floats(in), kerneltest.Floats(out)
			for _, line := range kerneltest.LinesOf(dims, axis) {
				sum := 0.
				for _, e := range line {
					sum += math.Exp(x[e])
				}
				for _, e := range line {
					want := math.Exp(x[e]) / sum
					scale := want
					if log {
						want = math.Log(want)
						scale = math.Abs(want) + 1
					}
					if !kerneltest.Near(got[e], want, scale*kerneltest.Slack(dt)) {
						t.Fatalf("%v%v along %d (log %v): element %d is %v, want %v", dt, dims, axis, log, e, got[e], want)
					}
				}
			}
		}
	}
}

func TestSoftmaxSpecialValues(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct{ x, want, log []float32 }{
		{[]float32{1e30, -1e30, 0}, []float32{1, 0, 0}, []float32{0, -inf, -1e30}},
		{[]float32{-inf, 0, 0}, []float32{0, .5, .5}, []float32{-inf, -math.Ln2, -math.Ln2}},
		{[]float32{-inf, -inf}, []float32{nan, nan}, []float32{nan, nan}},
		{[]float32{inf, 0}, []float32{nan, nan}, []float32{nan, nan}},
		{[]float32{nan, 0}, []float32{nan, nan}, []float32{nan, nan}},
		{[]float32{7}, []float32{1}, []float32{0}},
		{[]float32{-200, 0}, []float32{0, 1}, []float32{-200, 0}},
	} {
		for log, want := range map[bool][]float32{false: c.want, true: c.log} {
			for _, columns := range []int{1, 2} {
				in, out := kerneltest.Dense(dtype.Float32, len(c.x), columns), kerneltest.Dense(dtype.Float32, len(c.x), columns)
				for i := range len(c.x) * columns {
					kernel.Slice[float32](in)[i] = c.x[i/columns]
				}
				if err := kerneltest.Run(rand.New(rand.NewPCG(1, 1)), newSoftmax(dtype.Float32, 0, log), []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
					t.Fatal(err)
				}
				for i, got := range kerneltest.Floats(out) {
					if w := float64(want[i/columns]); !kerneltest.Near(got, w, math.Abs(w)*1e-6) && !(math.IsInf(w, -1) && got < -1e30) {
						t.Errorf("softmax (log %v) of %v in %d columns: element %d is %v, want %v", log, c.x, columns, i, got, w)
					}
				}
			}
		}
	}
}

func TestHardmax(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.Float32, dtype.Float64} {
		rng := rand.New(rand.NewPCG(12, uint64(dt)))
		for range kerneltest.Rounds(80) {
			dims := kerneltest.LineShape(rng, 1)
			axis := rng.IntN(len(dims))
			in := kerneltest.StridedInput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...)
			if rng.IntN(2) == 0 {
				kerneltest.FewValues(rng, in)
			}
			out := kerneltest.StridedOutput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...)
			k := newHardmax(dt, axis)
			if err := kerneltest.SameBits(rng, k, []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
				t.Fatalf("%v%v along %d: %v", dt, dims, axis, err)
			}
			if err := kerneltest.OverInput(rng, k, []*kernel.Operand{in}, out); err != nil {
				t.Fatal(err)
			}
			x, got := kerneltest.Floats(in), kerneltest.Floats(out)
			for _, line := range kerneltest.LinesOf(dims, axis) {
				values := []float64{}
				for _, e := range line {
					values = append(values, x[e])
				}
				top := kerneltest.ArgReduced(values, true, false)
				for i, e := range line {
					if want := i == top; got[e] != map[bool]float64{true: 1}[want] {
						t.Fatalf("%v%v along %d: element %d of %v is %v", dt, dims, axis, i, values, got[e])
					}
				}
			}
		}
	}
}

// TestExponential checks the exponential that softmax is made of over all of
// its range, by sums of a single element.
func TestExponential(t *testing.T) {
	race.SkipSequential(t)
	const n = 1 << 19
	in, out := kerneltest.Dense(dtype.Float32, n, 2), kerneltest.Dense(dtype.Float32, n, 2)
	x := kernel.Slice[float32](in)
	for i := range n {
		x[2*i+1] = -float32(i) * (104. / n) // against 0, the maximum
	}
	if err := kerneltest.Run(rand.New(rand.NewPCG(1, 1)), newSoftmax(dtype.Float32, 1, false), []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		e := math.Exp(float64(x[2*i+1]))
		want := e / (1 + e)
		got := kernel.Slice[float32](out)[2*i+1]
		unit := float64(math.Nextafter32(float32(want), 1)) - float64(float32(want))
		if off := math.Abs(float64(got)-want) / unit; off > 2.5 {
			t.Fatalf("softmax of {0, %v} is off by %.2f units in the last place", x[2*i+1], off)
		}
	}
}

func TestSoftmaxAllocatesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 13))
	dims := []int{30, 40, 20}
	for axis := range dims {
		for _, log := range []bool{false, true} {
			in, out := kerneltest.StridedInput(rng, dtype.Float32, axis, dims...), kerneltest.Dense(dtype.Float32, dims...)
			kerneltest.CheckAllocs(t, newSoftmax(dtype.Float32, axis, log), []*kernel.Operand{in}, []*kernel.Operand{out})
			kerneltest.CheckAllocs(t, newHardmax(dtype.Float32, axis), []*kernel.Operand{in}, []*kernel.Operand{out})
		}
	}
}

func BenchmarkSoftmax(b *testing.B) {
	for _, c := range []struct {
		dims []int
		axis int
	}{{[]int{1536, 128}, 1}, {[]int{20000, 10}, 1}, {[]int{4, 21, 2500}, 1}, {[]int{4, 50257}, 1}} {
		b.Run(fmt.Sprintf("%v_axis_%d", c.dims, c.axis), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			in, out := kerneltest.StridedInput(rng, dtype.Float32, len(c.dims), c.dims...), kerneltest.Dense(dtype.Float32, c.dims...)
			kerneltest.Benchmark(b, newSoftmax(dtype.Float32, c.axis, false), []*kernel.Operand{in}, []*kernel.Operand{out})
		})
	}
}

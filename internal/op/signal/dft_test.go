package signal

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/optest"
)

// sums returns the transform of x as its definition says.
func sums(x []complex128) []complex128 {
	y := make([]complex128, len(x))
	for k := range y {
		for j, v := range x {
			y[k] += v * cmplx.Exp(complex(0, -2*math.Pi*float64(j*k%len(x))/float64(len(x))))
		}
	}
	return y
}

// TestTransform takes lengths of every kind: 1, primes with and without a stage
// of their own, powers, and products.
func TestTransform(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 12, 31, 32, 37, 49, 60, 62, 74, 97, 128, 400, 509, 1024} {
		x := make([]complex128, n)
		for i := range x {
			x[i] = complex(rng.NormFloat64(), rng.NormFloat64())
		}
		want := sums(x)
		buffer, work := make([]complex128, workLength(n)), make([]complex128, workLength(n))
		copy(buffer, x)
		for i := range work {
			work[i] = cmplx.NaN()
		}
		for k, got := range newTransform(n).run(buffer, work) {
			if cmplx.Abs(got-want[k]) > 1e-12*float64(n) {
				t.Fatalf("length %d: element %d is %v, want %v", n, k, got, want[k])
			}
		}
	}
}

// TestDFT compares with sums over the lines of strided operands, cut and
// continued.
func TestDFT(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	for range kerneltest.Rounds(300) {
		dims := append(kerneltest.Shape(rng, 3, 5), 1+rng.IntN(2))
		if len(dims) == 1 {
			dims = []int{6, dims[0]}
		}
		last := len(dims) - 1
		o := DFT{Axis: rng.IntN(last), Length: 1 + rng.IntN(45), Inverse: rng.IntN(2) == 0}
		o.OneSided = (dims[last] == 2) == o.Inverse && rng.IntN(2) == 0
		dt := []dtype.Type{dtype.Float32, dtype.Float64}[rng.IntN(2)]
		types := []graph.Type{optest.Type(dt, dims...)}
		outs, err := o.Infer(types)
		if err != nil {
			t.Fatal(err)
		}
		x := kerneltest.StridedInput(rng, dt, 0, dims...)
		y := kerneltest.StridedOutput(rng, dt, 0, outs[0].Shape...)
		k := o.Kernel(types, outs)
		if err := kerneltest.All(rng, k, []*kernel.Operand{x}, []*kernel.Operand{y}); err != nil {
			t.Fatal(err)
		}
		kerneltest.CheckAllocs(t, k, []*kernel.Operand{x}, []*kernel.Operand{y})
		compare(t, o, x, y)
	}
}

func compare(t *testing.T, o DFT, x, y *kernel.Operand) {
	t.Helper()
	values, got := kerneltest.Floats(x), kerneltest.Floats(y)
	last := len(x.Shape) - 1
	at := func(dims, index []int, i, part int) int {
		full := append([]int{}, index...)
		full[o.Axis], full[last] = i, part
		return kerneltest.Flat(dims, full)
	}
	starts := append([]int{}, x.Shape...)
	starts[o.Axis], starts[last] = 1, 1
	kerneltest.ForEachIndex(starts, func(index []int) {
		line := make([]complex128, o.Length)
		half := o.Length/2 + 1
		for i := range min(o.Length, x.Shape[o.Axis]) {
			if o.OneSided && o.Inverse && i >= half {
				break
			}
			line[i] = complex(values[at(x.Shape, index, i, 0)], 0)
			if x.Shape[last] == 2 {
				line[i] += complex(0, values[at(x.Shape, index, i, 1)])
			}
		}
		if o.OneSided && o.Inverse {
			line[0] = complex(real(line[0]), 0)
			for i := 1; i < half; i++ {
				if 2*i == o.Length {
					line[i] = complex(real(line[i]), 0)
				}
				line[o.Length-i] = cmplx.Conj(line[i])
			}
		}
		if o.Inverse {
			for i, v := range line {
				line[i] = cmplx.Conj(v)
			}
		}
		want := sums(line)
		for k := range y.Shape[o.Axis] {
			w := want[k]
			if o.Inverse {
				w = cmplx.Conj(w) / complex(float64(o.Length), 0)
			}
			parts := []float64{real(w), imag(w)}
			for part := range y.Shape[last] {
				if g := got[at(y.Shape, index, k, part)]; math.Abs(g-parts[part]) > 1e-4 {
					t.Fatalf("%+v of %v: part %d of element %d is %v, want %v", o, x.Shape, part, k, g, parts[part])
				}
			}
		}
	})
}

// TestImaginaryPartsNotLookedAt: of what is a real signal transformed back, the first
// element is real and, where the length is even, the last.
func TestImaginaryPartsNotLookedAt(t *testing.T) {
	nan := float32(math.NaN())
	x := kerneltest.Of(dtype.Float32, []float32{6, nan, 0, 1, 2, nan}, 3, 2)
	y := optest.Compute(t, DFT{Length: 4, Inverse: true, OneSided: true}, x)[0]
	optest.WantValues(t, "the signal", y, 2, .5, 2, 1.5)
}

func TestDFTInfer(t *testing.T) {
	one := func(dt dtype.Type, dims ...int) []graph.Type { return []graph.Type{optest.Type(dt, dims...)} }
	optest.Infers(t, DFT{Axis: -2, Length: 5}, one(dtype.Float32, 2, 7, 1), "float32[2 5 2]")
	optest.Infers(t, DFT{Axis: 1, Length: 5, OneSided: true}, one(dtype.Float64, 2, 7, 1), "float64[2 3 2]")
	optest.Infers(t, DFT{Axis: 0, Length: 6, OneSided: true}, one(dtype.Float16, 2, 7, 1), "float16[4 7 2]")
	optest.Infers(t, DFT{Axis: 1, Length: 6, OneSided: true, Inverse: true}, one(dtype.Float32, 2, 4, 2), "float32[2 6 1]")
	optest.Refuses(t, DFT{Axis: 1, Length: 6, OneSided: true}, one(dtype.Float32, 2, 4, 2), "takes real numbers")
	optest.Refuses(t, DFT{Axis: 1, Length: 6, OneSided: true, Inverse: true}, one(dtype.Float32, 2, 4, 1), "its inverse complex ones")
	optest.Refuses(t, DFT{Axis: -1, Length: 6}, one(dtype.Float32, 4, 2), "axis 1 has the parts of numbers")
	optest.Refuses(t, DFT{Axis: 0, Length: 6}, one(dtype.Float32, 4, 3), "numbers have 3 parts")
	optest.Refuses(t, DFT{Axis: 0}, one(dtype.Float32, 4, 1), "length 0 is not in [1, 16777216]")
	optest.Refuses(t, DFT{Axis: 0, Length: 1 << 40}, one(dtype.Float32, 4, 1), "length 1099511627776")
	optest.Refuses(t, DFT{Axis: 2, Length: 4}, one(dtype.Float32, 4, 1), "axis 2 is out of range")
	optest.Refuses(t, DFT{Axis: 0, Length: 4}, one(dtype.Int32, 4, 1), "not of a floating-point type")
}

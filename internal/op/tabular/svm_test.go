package tabular

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/optest"
)

func TestSquaredDistance(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.Float32, dtype.Float64} {
		rng := rand.New(rand.NewPCG(5, uint64(dt)))
		for i := range kerneltest.Rounds(40) {
			rows, others, features := rng.IntN(5), rng.IntN(5), rng.IntN(6)
			if i == 0 {
				rows, others = 300, 200 // several tasks
			}
			a := kerneltest.StridedInput(rng, dt, 0, rows, features)
			b := kerneltest.StridedInput(rng, dt, 0, others, features)
			few(rng, a)
			few(rng, b)
			y := kerneltest.StridedOutput(rng, dt, 0, rows, others)
			k := SquaredDistance{}.Kernel([]graph.Type{{DType: dt}}, nil)
			if err := kerneltest.All(rng, k, []*kernel.Operand{a, b}, []*kernel.Operand{y}); err != nil {
				t.Fatal(err)
			}
			x, z, got := kerneltest.Floats(a), kerneltest.Floats(b), kerneltest.Floats(y)
			for i := range rows {
				for k := range others {
					want := 0.0
					for f := range features {
						want += math.Pow(x[i*features+f]-z[k*features+f], 2)
					}
					if g := got[i*others+k]; g != want && !(g != g && want != want) {
						t.Fatalf("from row %d to row %d it is %v, want %v", i, k, g, want)
					}
				}
			}
		}
	}

	// Sums of many features are rounded once.
	rng := rand.New(rand.NewPCG(5, 9))
	a, b := kerneltest.Dense(dtype.Float32, 20, 1000), kerneltest.Dense(dtype.Float32, 20, 1000)
	kerneltest.Randomize(rng, a)
	kerneltest.Randomize(rng, b)
	y := kerneltest.Dense(dtype.Float32, 20, 20)
	k := SquaredDistance{}.Kernel([]graph.Type{{DType: dtype.Float32}}, nil)
	if err := kerneltest.Run(rng, k, []*kernel.Operand{a, b}, []*kernel.Operand{y}); err != nil {
		t.Fatal(err)
	}
	x, z := kerneltest.Floats(a), kerneltest.Floats(b)
	want := make([]float64, 20*20)
	for i := range want {
		for f := range 1000 {
			want[i] += math.Pow(x[i/20*1000+f]-z[i%20*1000+f], 2)
		}
	}
	if r := kerneltest.Rounding(y, want); r > 1 {
		t.Errorf("rounding errors of %.2f units, want at most 1", r)
	}
	optest.Infers(t, SquaredDistance{}, []graph.Type{optest.Float32(2, 3), optest.Float32(5, 3)}, "float32[2 5]")
	optest.Refuses(t, SquaredDistance{}, []graph.Type{optest.Float32(2, 3), optest.Float32(5, 4)}, "as many features")
	optest.Refuses(t, SquaredDistance{}, []graph.Type{optest.Type(dtype.Int32, 2, 3), optest.Type(dtype.Int32, 2, 3)}, "not of a floating-point type")
}

// TestCouple wants the classes back from whose probabilities those of pairs were made:
// r[i, j] = p[i] / (p[i] + p[j]), where the method is exact.
func TestCouple(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.Float32, dtype.Float64} {
		rng := rand.New(rand.NewPCG(6, uint64(dt)))
		for range kerneltest.Rounds(40) {
			rows, n := rng.IntN(4), 2+rng.IntN(4)
			pairs := n * (n - 1) / 2
			r := kerneltest.StridedOutput(rng, dt, 0, rows, pairs) // which no stride repeats
			p := kerneltest.StridedOutput(rng, dt, 0, rows, n)
			want := make([]float64, 0, rows*n)
			for row := range rows {
				classes, sum := make([]float64, n), 0.0
				for i := range classes {
					classes[i] = 0.05 + rng.Float64()
					sum += classes[i]
				}
				at := r.Offset + row*r.Strides[0]
				for i, a := range classes {
					want = append(want, a/sum)
					for _, b := range classes[i+1:] {
						kernel.Float64Scalar(a / (a + b)).Cast(dt).Put(r.Data[at*dt.Size():])
						at += r.Strides[1]
					}
				}
			}
			if err := kerneltest.All(rng, Couple{n}.Kernel([]graph.Type{{DType: dt}}, nil), []*kernel.Operand{r}, []*kernel.Operand{p}); err != nil {
				t.Fatal(err)
			}
			for i, got := range kerneltest.Floats(p) {
				if math.Abs(got-want[i]) > 0.03 {
					t.Fatalf("%d classes: got %v, want %v", n, kerneltest.Floats(p), want)
				}
			}
		}
	}
	in := []*kernel.Operand{kerneltest.Of(dtype.Float32, []float32{.9, .5, .2}, 1, 3)}
	kerneltest.CheckAllocs(t, Couple{3}.Kernel([]graph.Type{{DType: dtype.Float32}}, nil), in, []*kernel.Operand{kerneltest.Dense(dtype.Float32, 1, 3)})
	optest.Infers(t, Couple{3}, []graph.Type{optest.Float32(7, 3)}, "float32[7 3]")
	optest.Refuses(t, Couple{3}, []graph.Type{optest.Float32(7, 4)}, "not rows of the pairs of 3 classes")
	optest.Refuses(t, Couple{1}, []graph.Type{optest.Float32(7, 0)}, "there are 1 classes")
	optest.Refuses(t, Couple{math.MaxInt}, []graph.Type{optest.Float32(7, 0)}, "classes")
	optest.Refuses(t, Couple{2}, []graph.Type{optest.Type(dtype.Int8, 7, 1)}, "not of a floating-point type")
}

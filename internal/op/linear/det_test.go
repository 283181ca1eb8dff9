package linear

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

// expanded returns the determinant by expansion along the first row.
func expanded(a []float64, n int) float64 {
	if n == 0 {
		return 1
	}
	sum, sign := 0.0, 1.0
	for col := range n {
		var minor []float64
		for i, v := range a[n:] {
			if i%n != col {
				minor = append(minor, v)
			}
		}
		sum += sign * a[col] * expanded(minor, n-1)
		sign = -sign
	}
	return sum
}

func TestDet(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range kerneltest.Rounds(200) {
		batch, n := kerneltest.Shape(rng, 2, 4), rng.IntN(6)
		dims := append(batch, n, n)
		dt := []dtype.Type{dtype.Float32, dtype.Float64}[rng.IntN(2)]
		x, y := kerneltest.StridedInput(rng, dt, 0, dims...), kerneltest.StridedOutput(rng, dt, 0, batch...)
		if rng.IntN(3) == 0 {
			kerneltest.FewValues(rng, x)
		}
		k := Det{}.Kernel([]graph.Type{optest.Type(dt, dims...)}, nil)
		if err := kerneltest.All(rng, k, []*kernel.Operand{x}, []*kernel.Operand{y}); err != nil {
			t.Fatal(err)
		}
		kerneltest.CheckAllocs(t, k, []*kernel.Operand{x}, []*kernel.Operand{y})
		values := kerneltest.Floats(x)
		for i, got := range kerneltest.Floats(y) {
			want := expanded(values[i*n*n:(i+1)*n*n], n)
			size := 1.0
			for _, v := range values[i*n*n : (i+1)*n*n] {
				size = max(size, math.Abs(v))
			}
			if math.IsNaN(want) {
				continue // where a column is 0, the result is as well
			}
			if !(math.Abs(got-want) <= 1e-6*math.Pow(size*float64(n+1), float64(n))) {
				t.Fatalf("the determinant of %v is %v, want %v", values[i*n*n:(i+1)*n*n], got, want)
			}
		}
	}
	matrix := func(v ...float32) *kernel.Operand { return kerneltest.Of(dtype.Float32, v, 2, 2) }
	nan := float32(math.NaN())
	optest.WantValues(t, "the determinant with a zero first", optest.Compute(t, Det{}, matrix(0, 1, 1, 0))[0], -1)
	optest.WantValues(t, "the determinant of a singular matrix", optest.Compute(t, Det{}, matrix(0, 1, 0, 2))[0], 0)
	if got := kerneltest.Floats(optest.Compute(t, Det{}, matrix(1, nan, 1, 2))[0]); !math.IsNaN(got[0]) {
		t.Errorf("the determinant of NaN is %v", got)
	}
}

func TestDetInfer(t *testing.T) {
	one := func(x graph.Type) []graph.Type { return []graph.Type{x} }
	optest.Infers(t, Det{}, one(optest.Float32(2, 3, 3)), "float32[2]")
	optest.Infers(t, Det{}, one(optest.Type(dtype.BFloat16, 0, 0)), "bfloat16[]")
	optest.Refuses(t, Det{}, one(optest.Float32(2, 3)), "of float32[2 3], want square matrices")
	optest.Refuses(t, Det{}, one(optest.Float32(3)), "want square matrices")
	optest.Refuses(t, Det{}, one(optest.Type(dtype.Int32, 3, 3)), "of a floating-point type")
}

package random

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/optest"
)

// TestTwister has the ten-thousandth number that the C++ standard gives for
// std::mt19937, whose seed is 5489.
func TestTwister(t *testing.T) {
	tw := newTwister(5489, make([]uint32, stateLen))
	for range 9999 {
		tw.bits()
	}
	if v := tw.bits(); v != 4123659995 {
		t.Errorf("the 10000th number is %d, want 4123659995", v)
	}
}

// TestAsNumPy has the well-known first numbers of numpy.random.RandomState(0).
func TestAsNumPy(t *testing.T) {
	uniform, normal := newTwister(0, make([]uint32, stateLen)), newTwister(0, make([]uint32, stateLen))
	for i, want := range []float64{0.5488135039273248, 0.7151893663724195, 0.6027633760716439, 0.5448831829968969} {
		if got := uniform.uniform(); got != want {
			t.Errorf("uniform number %d is %v, want %v", i, got, want)
		}
	}
	for i, want := range []float64{1.764052345967664, 0.4001572083672233, 0.9787379841057392, 2.240893199201458} {
		if got := normal.normal(); math.Abs(got-want) > 1e-15 {
			t.Errorf("normal number %d is %v, want %v", i, got, want)
		}
	}
}

func TestDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	run := func(o interface {
		Kernel(_, _ []graph.Type) kernel.Kernel
	}, out *kernel.Operand) []float64 {
		k := o.Kernel(nil, nil)
		if err := kerneltest.All(rng, k, nil, []*kernel.Operand{out}); err != nil {
			t.Fatal(err)
		}
		kerneltest.CheckAllocs(t, k, nil, []*kernel.Operand{out})
		return kerneltest.Floats(out)
	}
	got := run(Uniform{DType: dtype.Float64, Low: 2, High: 4}, kerneltest.Dense(dtype.Float64, 2, 1))
	if want := []float64{2 + 2*0.5488135039273248, 2 + 2*0.7151893663724195}; !slices.Equal(got, want) {
		t.Errorf("uniform numbers are %v, want %v", got, want)
	}
	got = run(Normal{DType: dtype.Float32, Mean: 1, Scale: 2}, kerneltest.Dense(dtype.Float32, 2))
	if want := []float64{float64(1 + 2*float32(1.764052345967664)), float64(1 + 2*float32(0.4001572083672233))}; !slices.Equal(got, want) {
		t.Errorf("normal numbers are %v, want %v", got, want)
	}
	run(Normal{DType: dtype.Float32}, kerneltest.Dense(dtype.Float32, 0, 3))
}

// TestDistributions holds means and variances of many numbers to those of the
// distributions.
func TestDistributions(t *testing.T) {
	const n = 100000
	tw := newTwister(7, make([]uint32, stateLen))
	for _, c := range []struct {
		name           string
		next           func() float64
		mean, variance float64
	}{{"uniform", tw.uniform, .5, 1. / 12}, {"normal", tw.normal, 0, 1}} {
		sum, squares := 0.0, 0.0
		for range n {
			v := c.next()
			sum += v
			squares += v * v
		}
		mean := sum / n
		if variance := squares/n - mean*mean; math.Abs(mean-c.mean) > .01 || math.Abs(variance-c.variance) > .02 {
			t.Errorf("%s: mean %v and variance %v, want %v and %v", c.name, mean, variance, c.mean, c.variance)
		}
	}
}

func TestInfer(t *testing.T) {
	optest.Infers(t, Uniform{Shape: []int{2, 0}, DType: dtype.Float32}, nil, "float32[2 0]")
	optest.Infers(t, Normal{DType: dtype.Float64, Seed: 1<<32 - 1}, nil, "float64[]")
	optest.Refuses(t, Uniform{DType: dtype.Float16}, nil, "of type float16")
	optest.Refuses(t, Uniform{DType: dtype.Float32, Seed: -1}, nil, "seed -1 is not in")
	optest.Refuses(t, Normal{DType: dtype.Float32, Seed: 1 << 32}, nil, "seed 4294967296")
	optest.Refuses(t, Normal{DType: dtype.Float32, Shape: []int{-1}}, nil, "negative")
}

package norm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/shape"
)

// normalised is the plain definition of a normalisation of x, before scale
// and bias.
func normalised(kind normKind, epsilon float64, x []float64) (y []float64, mean, variance, factor float64) {
	n := float64(len(x))
	square, abs := 0., 0.
	for _, v := range x {
		mean += v / n
		square += v * v
		abs += math.Abs(v)
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / n
	}
	shift := mean
	switch kind {
	case normDeviation:
		factor = 1 / math.Sqrt(variance+epsilon)
	case normVariance:
		factor = 1 / (math.Sqrt(variance) + epsilon)
	case normRMS:
		factor, shift = 1/math.Sqrt(square/n+epsilon), 0
	case normL1:
		factor, shift = 1/abs, 0
	case normL2:
		factor, shift = 1/math.Sqrt(square), 0
	}
	if math.IsInf(factor, 0) {
		factor = 0
	}
	for _, v := range x {
		y = append(y, (v-shift)*factor)
	}
	return y, mean, variance, factor
}

// broadcastAt returns the number of the element of a tensor of shape small
// that is broadcast to element e of a tensor of shape dims.
func broadcastAt(e int, dims, small []int) int {
	at, weight := 0, 1
	for i := range dims {
		a, b := len(dims)-1-i, len(small)-1-i
		if b >= 0 {
			if small[b] != 1 {
				at += e % dims[a] * weight
			}
			weight *= small[b]
		}
		e /= dims[a]
	}
	return at
}

// someBroadcast returns a random shape that broadcasts to dims.
func someBroadcast(rng *rand.Rand, dims []int) []int {
	small := append([]int{}, dims[rng.IntN(len(dims)+1):]...)
	for i := range small {
		if rng.IntN(3) == 0 {
			small[i] = 1
		}
	}
	return small
}

func checkNear(what string, dt dtype.Type, got, want, scale float64) error {
	if off := (scale + math.Abs(want)) * kerneltest.Slack(dt) * 16; !kerneltest.Near(got, want, off) {
		return fmt.Errorf("%s is %v, want %v", what, got, want)
	}
	return nil
}

func TestNorm(t *testing.T) {
	kinds := []normKind{normDeviation, normVariance, normRMS, normL1, normL2}
	for _, dt := range []dtype.Type{dtype.Float32, dtype.Float64} {
		rng := rand.New(rand.NewPCG(16, uint64(dt)))
		for range kerneltest.Rounds(180) {
			dims := kerneltest.LineShape(rng, 0)
			axes := kerneltest.SomeAxes(rng, len(dims))
			n := normParams{Kind: kinds[rng.IntN(len(kinds))], Epsilon: 1e-3, Axes: axes}
			in := []*kernel.Operand{kerneltest.StridedInput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...), nil, nil}
			for i := 1; i < 3; i++ {
				if rng.IntN(3) != 0 {
					d := dims
					if rng.IntN(2) == 0 {
						d = someBroadcast(rng, dims)
					}
					in[i] = kerneltest.StridedInput(rng, dt, kerneltest.SomeDense(rng, len(d)), d...)
				}
			}
			statDims := kerneltest.Without(dims, axes, true)
			out := []*kernel.Operand{kerneltest.StridedOutput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...)}
			if n.Kind == normDeviation && rng.IntN(2) == 0 {
				out = append(out, kerneltest.StridedOutput(rng, dt, kerneltest.SomeDense(rng, len(dims)), statDims...), kerneltest.Dense(dt, statDims...))
			}
			if in[2] == nil && rng.IntN(2) == 0 {
				in = in[:2]
			}
			what := fmt.Sprintf("%+v of %v%v", n, dt, dims)
			k := newNorm(dt, n)
			if err := kerneltest.SameBits(rng, k, in, out); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if err := kerneltest.OverInput(rng, k, in, out[0]); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			x, y := kerneltest.Floats(in[0]), kerneltest.Floats(out[0])
			params, stats := [3][]float64{}, [3][]float64{}
			for i, o := range in {
				if o != nil {
					params[i] = kerneltest.Floats(o)
				}
			}
			for i, o := range out {
				stats[i] = kerneltest.Floats(o)
			}
			for l, line := range kerneltest.LinesOf(dims, axes...) {
				values := []float64{}
				for _, e := range line {
					values = append(values, x[e])
				}
				norm, mean, _, factor := normalised(n.Kind, n.Epsilon, values)
				if len(out) > 1 && len(line) > 0 {
					if err := checkNear("mean", dt, stats[1][l], mean, 1); err != nil {
						t.Fatalf("%s: line %d: %v", what, l, err)
					}
					if err := checkNear("1/deviation", dt, stats[2][l], factor, 1); err != nil {
						t.Fatalf("%s: line %d: %v", what, l, err)
					}
				}
				for i, e := range line {
					want, size := norm[i], math.Abs(norm[i])+factor
					if in[1] != nil {
						s := params[1][broadcastAt(e, dims, in[1].Shape)]
						want, size = want*s, size*math.Abs(s)
					}
					if len(in) > 2 && in[2] != nil {
						want += params[2][broadcastAt(e, dims, in[2].Shape)]
					}
					if err := checkNear("element", dt, y[e], want, size); err != nil {
						t.Fatalf("%s: line %d, element %d: %v", what, l, i, err)
					}
				}
			}
		}
	}
}

// channelShape returns a random batch, channels and spatial axes.
func channelShape(rng *rand.Rand) []int {
	dims := []int{kerneltest.Extent(rng, 5), 1 + rng.IntN(12)}
	for range rng.IntN(3) {
		dims = append(dims, kerneltest.Extent(rng, 9))
	}
	if rng.IntN(6) == 0 {
		dims[1] = 300
	}
	return dims
}

// channelOf returns the index along axis 1 of element e.
func channelOf(e int, dims []int) int {
	return e / shape.Shape(dims[2:]).Elems() % dims[1]
}

func TestGroupNorm(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.Float32, dtype.Float64} {
		rng := rand.New(rand.NewPCG(17, uint64(dt)))
		for range kerneltest.Rounds(100) {
			groups := 1 + rng.IntN(4)
			dims := channelShape(rng)
			dims[1] *= groups
			size := dims[1] / groups
			axes := []int{2}
			for a := range dims[2:] {
				axes = append(axes, a+3)
			}
			params := dims[1]
			if rng.IntN(3) == 0 {
				params = groups
			}
			n := normParams{Epsilon: 1e-3, Axes: axes, Groups: groups, Channels: true}
			in := []*kernel.Operand{
				kerneltest.StridedInput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...),
				kerneltest.StridedInput(rng, dt, 0, params), kerneltest.StridedInput(rng, dt, 0, params),
			}
			out := []*kernel.Operand{kerneltest.StridedOutput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...)}
			k := newNorm(dt, n)
			if err := kerneltest.SameBits(rng, k, in, out); err != nil {
				t.Fatalf("%+v of %v%v: %v", n, dt, dims, err)
			}
			x, scale, bias, y := kerneltest.Floats(in[0]), kerneltest.Floats(in[1]), kerneltest.Floats(in[2]), kerneltest.Floats(out[0])
			split := append([]int{dims[0], groups, size}, dims[2:]...)
			for _, line := range kerneltest.LinesOf(split, axes...) {
				values := []float64{}
				for _, e := range line {
					values = append(values, x[e])
				}
				norm, _, _, factor := normalised(n.Kind, n.Epsilon, values)
				for i, e := range line {
					c := channelOf(e, dims)
					if params == groups {
						c /= size
					}
					if err := checkNear("an element", dt, y[e], norm[i]*scale[c]+bias[c], (math.Abs(norm[i])+factor)*math.Abs(scale[c])); err != nil {
						t.Fatalf("%+v of %v%v: %v", n, dt, dims, err)
					}
				}
			}
		}
	}
}

func TestBatchNormTraining(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.Float32, dtype.Float64} {
		rng := rand.New(rand.NewPCG(18, uint64(dt)))
		for range kerneltest.Rounds(100) {
			dims := channelShape(rng)
			axes := []int{0}
			for a := range dims[2:] {
				axes = append(axes, a+2)
			}
			n := normParams{Epsilon: 1e-3, Axes: axes, Channels: true, Running: true, Momentum: 0.75}
			in := []*kernel.Operand{kerneltest.StridedInput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...)}
			out := []*kernel.Operand{kerneltest.StridedOutput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...)}
			for range 4 {
				in = append(in, kerneltest.StridedInput(rng, dt, 0, dims[1]))
			}
			for range 2 {
				out = append(out, kerneltest.StridedOutput(rng, dt, 0, dims[1]))
			}
			k := newNorm(dt, n)
			if err := kerneltest.SameBits(rng, k, in, out); err != nil {
				t.Fatalf("%+v of %v%v: %v", n, dt, dims, err)
			}
			x, y := kerneltest.Floats(in[0]), kerneltest.Floats(out[0])
			scale, bias := kerneltest.Floats(in[1]), kerneltest.Floats(in[2])
			running := [][]float64{kerneltest.Floats(in[3]), kerneltest.Floats(in[4]), kerneltest.Floats(out[1]), kerneltest.Floats(out[2])}
			for c, line := range kerneltest.LinesOf(dims, axes...) {
				values := []float64{}
				for _, e := range line {
					values = append(values, x[e])
				}
				norm, mean, variance, factor := normalised(n.Kind, n.Epsilon, values)
				for i, want := range []float64{mean, variance} {
					want = running[i][c]*0.75 + want*0.25
					if len(line) == 0 {
						want = math.NaN()
					}
					if err := checkNear(fmt.Sprintf("statistic %d of channel %d", i, c), dt, running[2+i][c], want, 1); err != nil {
						t.Fatalf("%+v of %v%v: %v", n, dt, dims, err)
					}
				}
				for i, e := range line {
					if err := checkNear("an element", dt, y[e], norm[i]*scale[c]+bias[c], (math.Abs(norm[i])+factor)*math.Abs(scale[c])); err != nil {
						t.Fatalf("%+v of %v%v: %v", n, dt, dims, err)
					}
				}
			}
		}
	}
}

func TestBatchNorm(t *testing.T) {
	types := []dtype.Type{dtype.Float32, dtype.Float64}
	rng := rand.New(rand.NewPCG(19, 19))
	for range kerneltest.Rounds(400) {
		dt := types[rng.IntN(2)]
		dims := channelShape(rng)
		channels := dims[1]
		if rng.IntN(10) == 0 {
			dims, channels = dims[:1], 1
		}
		in := []*kernel.Operand{kerneltest.StridedInput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...)}
		for range 2 {
			param := types[rng.IntN(2)]
			in = append(in, kerneltest.StridedInput(rng, param, 0, channels), kerneltest.StridedInput(rng, param, 0, channels))
		}
		kerneltest.Positive(in[4])
		out := []*kernel.Operand{kerneltest.StridedOutput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...)}
		k := newBatchNorm(dt, 1e-3, nil)
		if err := kerneltest.SameBits(rng, k, in, out); err != nil {
			t.Fatalf("%v%v: %v", dt, dims, err)
		}
		if err := kerneltest.OverInput(rng, k, in, out[0]); err != nil {
			t.Fatal(err)
		}
		x, y := kerneltest.Floats(in[0]), kerneltest.Floats(out[0])
		scale, bias, mean, variance := kerneltest.Floats(in[1]), kerneltest.Floats(in[2]), kerneltest.Floats(in[3]), kerneltest.Floats(in[4])
		for e := range x {
			c := 0
			if len(dims) > 1 {
				c = channelOf(e, dims)
			}
			f := scale[c] / math.Sqrt(variance[c]+1e-3)
			want := (x[e]-mean[c])*f + bias[c]
			if err := checkNear("an element", dt, y[e], want, math.Abs(f*(math.Abs(x[e])+math.Abs(mean[c])))); err != nil {
				t.Fatalf("%v%v: %v", dt, dims, err)
			}
		}
	}
}

func TestLRN(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.Float32, dtype.Float64} {
		rng := rand.New(rand.NewPCG(20, uint64(dt)))
		for range kerneltest.Rounds(100) {
			dims := channelShape(rng)
			if rng.IntN(8) == 0 {
				dims = []int{1, 3, 600}
			}
			size := 1 + rng.IntN(6)
			alpha, beta, bias := rng.Float64(), []float64{0.75, 0.5, 1.3}[rng.IntN(3)], 0.5+rng.Float64()
			in := kerneltest.StridedInput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...)
			out := kerneltest.StridedOutput(rng, dt, kerneltest.SomeDense(rng, len(dims)), dims...)
			k := newLRN(dt, size, alpha, beta, bias)
			if err := kerneltest.SameBits(rng, k, []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
				t.Fatalf("%v%v: %v", dt, dims, err)
			}
			x, y := kerneltest.Floats(in), kerneltest.Floats(out)
			apart := shape.Shape(dims[2:]).Elems()
			for e := range x {
				c, sum := channelOf(e, dims), 0.
				for j := range dims[1] {
					if j >= c-int(math.Floor(float64(size-1)/2)) && j <= c+int(math.Ceil(float64(size-1)/2)) {
						v := x[e+(j-c)*apart]
						sum += v * v
					}
				}
				want := x[e] / math.Pow(bias+alpha/float64(size)*sum, beta)
				if err := checkNear("an element", dt, y[e], want, 0); err != nil {
					t.Fatalf("%v%v size %d: %v", dt, dims, size, err)
				}
			}
		}
	}
}

func TestNormOfZeros(t *testing.T) {
	for _, kind := range []normKind{normL1, normL2, normDeviation} {
		x, y := kerneltest.Dense(dtype.Float32, 2, 3), kerneltest.Dense(dtype.Float32, 2, 3)
		k := newNorm(dtype.Float32, normParams{Kind: kind, Epsilon: 1e-5, Axes: []int{1}})
		if err := kerneltest.Run(rand.New(rand.NewPCG(1, 1)), k, []*kernel.Operand{x}, []*kernel.Operand{y}); err != nil {
			t.Fatal(err)
		}
		for i, v := range kerneltest.Floats(y) {
			if v != 0 {
				t.Errorf("kind %d of zeros: element %d is %v, want 0", kind, i, v)
			}
		}
	}
}

func TestNormAllocatesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 21))
	dims := []int{6, 40, 300}
	x, y := kerneltest.StridedInput(rng, dtype.Float32, 3, dims...), kerneltest.Dense(dtype.Float32, dims...)
	c := []*kernel.Operand{}
	for range 6 {
		c = append(c, kerneltest.Dense(dtype.Float32, 40))
	}
	for _, n := range []normParams{
		{Axes: []int{2}}, {Axes: []int{1}}, {Axes: []int{0}}, {Axes: []int{2}, Channels: true},
		{Axes: []int{2, 3}, Groups: 4, Channels: true},
	} {
		in := []*kernel.Operand{x}
		if n.Channels {
			in = append(in, c[0], c[1])
		}
		kerneltest.CheckAllocs(t, newNorm(dtype.Float32, n), in, []*kernel.Operand{y})
	}
	training := normParams{Axes: []int{0, 2}, Channels: true, Running: true}
	kerneltest.CheckAllocs(t, newNorm(dtype.Float32, training), []*kernel.Operand{x, c[0], c[1], c[2], c[3]}, []*kernel.Operand{y, c[4], c[5]})
	kerneltest.CheckAllocs(t, newBatchNorm(dtype.Float32, 1e-5, nil), []*kernel.Operand{x, c[0], c[1], c[2], c[3]}, []*kernel.Operand{y})
	kerneltest.CheckAllocs(t, newLRN(dtype.Float32, 5, 1, .75, 1), []*kernel.Operand{x}, []*kernel.Operand{y})
}

func BenchmarkNorm(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, y := kerneltest.StridedInput(rng, dtype.Float32, 2, 1024, 384), kerneltest.Dense(dtype.Float32, 1024, 384)
	scale, bias := kerneltest.StridedInput(rng, dtype.Float32, 1, 384), kerneltest.StridedInput(rng, dtype.Float32, 1, 384)
	b.Run("layer", func(b *testing.B) {
		kerneltest.Benchmark(b, newNorm(dtype.Float32, normParams{Axes: []int{1}, Epsilon: 1e-5}), []*kernel.Operand{x, scale, bias}, []*kernel.Operand{y})
	})
	image, to := kerneltest.StridedInput(rng, dtype.Float32, 4, 1, 64, 56, 56), kerneltest.Dense(dtype.Float32, 1, 64, 56, 56)
	list := kerneltest.Dense(dtype.Float32, 64)
	b.Run("batch", func(b *testing.B) {
		kerneltest.Benchmark(b, newBatchNorm(dtype.Float32, 1e-5, nil), []*kernel.Operand{image, list, list, list, list}, []*kernel.Operand{to})
	})
	b.Run("lrn", func(b *testing.B) {
		kerneltest.Benchmark(b, newLRN(dtype.Float32, 5, 1e-4, .75, 1), []*kernel.Operand{image}, []*kernel.Operand{to})
	})
}

package resample

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

func TestPaddingText(t *testing.T) { optest.Enum(t, Reflection) }

// mirrored turns x back at the ends of an axis until it is between them.
func mirrored(x, low, high float64) float64 {
	for low < high && (x < low || x > high) {
		if x < low {
			x = 2*low - x
		} else {
			x = 2*high - x
		}
	}
	if low == high {
		return low
	}
	return x
}

// weights returns what each of n elements counts at a coordinate.
func (o GridSample) weights(coordinate float64, n int) []float64 {
	low, high := -0.5, float64(n)-0.5
	x := (coordinate+1)*float64(n)/2 - 0.5
	if o.AlignCorners {
		low, high = 0, float64(n-1)
		x = (coordinate + 1) * high / 2
	}
	if o.Mode == Nearest {
		x = math.RoundToEven(x)
	}
	if o.Padding == Border && (x < low || x > high) {
		x = min(max(x, 0), float64(n-1))
	}
	if o.Padding == Reflection {
		x = mirrored(x, low, high)
	}
	out := make([]float64, n)
	for e := -100; e < 100; e++ {
		d, w := math.Abs(float64(e)-x), 0.0
		switch {
		case o.Mode == Nearest && d == 0:
			w = 1
		case o.Mode == Linear && d < 1:
			w = 1 - d
		case o.Mode == Cubic && d <= 1:
			w = 1.25*d*d*d - 2.25*d*d + 1
		case o.Mode == Cubic && d < 2:
			w = -0.75 * (d*d*d - 5*d*d + 8*d - 4)
		}
		at := e
		switch o.Padding {
		case Border:
			at = min(max(e, 0), n-1)
		case Reflection:
			at = int(mirrored(float64(e), low, high))
		}
		if at >= 0 && at < n {
			out[at] += w
		}
	}
	return out
}

func TestGridSample(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	for range kerneltest.Rounds(1500) {
		o := GridSample{Mode: Mode(rng.IntN(3)), Padding: Padding(rng.IntN(3)), AlignCorners: rng.IntN(2) == 0}
		dt := []dtype.Type{dtype.Float32, dtype.Float64}[rng.IntN(2)]
		axes := 1 + rng.IntN(3)
		dims, to := []int{kerneltest.Extent(rng, 3), kerneltest.Extent(rng, 4)}, []int{}
		for range axes {
			dims, to = append(dims, 1+rng.IntN(5)), append(to, kerneltest.Extent(rng, 5))
		}
		x, grid := optest.Type(dt, dims...), optest.Type(dt, append(append(dims[:1:1], to...), axes)...)
		outs, err := o.Infer([]graph.Type{x, grid})
		if err != nil {
			t.Fatal(err)
		}
		in := []*kernel.Operand{kerneltest.StridedInput(rng, dt, 0, x.Shape...), kerneltest.StridedInput(rng, dt, 0, grid.Shape...)}
		eighths(rng, in[1])
		out := []*kernel.Operand{kerneltest.StridedOutput(rng, dt, 0, outs[0].Shape...)}
		k := o.Kernel([]graph.Type{x, grid}, outs)
		if err := kerneltest.All(rng, k, in, out); err != nil {
			t.Fatal(err)
		}
		kerneltest.CheckAllocs(t, k, in, out)
		data, places, got := kerneltest.Floats(in[0]), kerneltest.Floats(in[1]), kerneltest.Floats(out[0])
		at := 0
		kerneltest.ForEachIndex(outs[0].Shape, func(i []int) {
			place := kerneltest.Flat(grid.Shape, append(append([]int{i[0]}, i[2:]...), 0))
			counts := make([][]float64, axes)
			for a := range counts {
				counts[a] = o.weights(places[place+axes-1-a], dims[2+a])
			}
			sum, size := 0.0, 0.0
			kerneltest.ForEachIndex(dims[2:], func(e []int) {
				v := data[kerneltest.Flat(dims, append([]int{i[0], i[1]}, e...))]
				for a := range e {
					v *= counts[a][e[a]]
				}
				sum, size = sum+v, size+math.Abs(v)
			})
			if !kerneltest.Near(got[at], sum, 4*(size+1)*kerneltest.Slack(dt)) {
				t.Errorf("element %v is %v, want %v", i, got[at], sum)
			}
			at++
		})
		if t.Failed() {
			t.Fatalf("%+v of %v at %v", o, x, grid)
		}
	}
}

// eighths replaces the elements of o by eighths from -3 to 3, whose places are exact.
func eighths(rng *rand.Rand, o *kernel.Operand) {
	for i := range len(o.Data) / o.DType.Size() {
		kernel.Float64Scalar(float64(rng.IntN(49)-24) / 8).Cast(o.DType).Put(o.Data[i*o.DType.Size():])
	}
}

// Coordinates that are no numbers, or far away.
func TestGridSampleFar(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	x := kerneltest.Of(dtype.Float32, []float32{1, 2, 3}, 1, 1, 3)
	grid := kerneltest.Of(dtype.Float32, []float32{nan, inf, -inf, 1e38, -1e38}, 1, 5, 1)
	for _, c := range []struct {
		o    GridSample
		want []float32
	}{
		{GridSample{Mode: Linear, AlignCorners: true}, []float32{1, 0, 0, 0, 0}},
		{GridSample{Mode: Cubic}, []float32{.59375 - .09375*2, 0, 0, 0, 0}},
		{GridSample{Mode: Nearest, Padding: Border}, []float32{1, 3, 1, 3, 1}},
		{GridSample{Mode: Linear, Padding: Border}, []float32{1, 3, 1, 3, 1}},
	} {
		optest.WantValues(t, c.o.Mode.String(), optest.Compute(t, c.o, x, grid)[0], c.want...)
	}
	for _, mode := range []Mode{Nearest, Linear, Cubic} {
		for _, corners := range []bool{false, true} {
			out := optest.Compute(t, GridSample{Mode: mode, Padding: Reflection, AlignCorners: corners}, x, grid)[0]
			for i, v := range kerneltest.Values[float32](out) {
				if !(v >= 0.5 && v <= 3.5) {
					t.Errorf("mode %v, reflected: element %d is %v, outside the image", mode, i, v)
				}
			}
		}
	}
}

func TestGridSampleInfer(t *testing.T) {
	types := func(x ...graph.Type) []graph.Type { return x }
	x, grid := optest.Float32(2, 3, 4, 5), optest.Float32(2, 6, 7, 2)
	optest.Infers(t, GridSample{}, types(x, grid), "float32[2 3 6 7]")
	optest.Infers(t, GridSample{Mode: Cubic}, types(optest.Type(dtype.Float16, 1, 0, 4), optest.Type(dtype.Float16, 1, 2, 1)), "float16[1 0 2]")
	optest.Infers(t, GridSample{}, types(optest.Float32(2, 3, 0, 5), optest.Float32(2, 0, 7, 2)), "float32[2 3 0 7]")
	optest.Refuses(t, GridSample{}, types(optest.Float32(2, 3, 0, 5), grid), "has no elements to take")
	optest.Refuses(t, GridSample{}, types(x), "takes 2 inputs, got 1")
	optest.Refuses(t, GridSample{}, types(x, optest.Type(dtype.Float64, 2, 6, 7, 2)), "element types float32 and float64")
	optest.Refuses(t, GridSample{}, types(optest.Type(dtype.Int8, 2, 3, 4, 5), optest.Type(dtype.Int8, 2, 6, 7, 2)), "not of a floating-point type")
	optest.Refuses(t, GridSample{}, types(x, optest.Float32(2, 6, 7, 3)), "grid float32[2 6 7 3] does not hold places")
	optest.Refuses(t, GridSample{}, types(x, optest.Float32(1, 6, 7, 2)), "does not hold places in the 2 images")
	optest.Refuses(t, GridSample{}, types(optest.Float32(2, 3), optest.Float32(2, 0)), "has 0 spatial axes, want 1 to 5")
	optest.Refuses(t, GridSample{Mode: 9}, types(x, grid), "no mode 9")
	optest.Refuses(t, GridSample{Padding: 9}, types(x, grid), "no padding 9")
}

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

func TestTexts(t *testing.T) {
	optest.Enum(t, Cubic)
	optest.Enum(t, CropAndResize)
	optest.Enum(t, FloorOrCeil)
}

// counts returns what each of n elements counts for element i of out, by trying
// every one of them; none where the place is outside a region.
func (r Resize) counts(axis, n, out, i int) []float64 {
	scale := float64(out) / float64(n)
	if r.Scales != nil {
		scale = r.Scales[axis]
	}
	length := scale * float64(n)
	x := (float64(i)+0.5)/scale - 0.5
	switch r.Coordinates {
	case HalfPixelSymmetric:
		x += float64(n) / 2 * (1 - float64(out)/length)
	case PytorchHalfPixel:
		if out == 1 {
			x = 0
		}
	case AlignCorners:
		if x = 0; length != 1 {
			x = float64(i) * float64(n-1) / (length - 1)
		}
	case Asymmetric:
		x = float64(i) / scale
	case HalfPixelNearest:
		x = (float64(i) + 0.5) / scale
	case CropAndResize:
		start, end := r.Region[axis], r.Region[len(r.Region)/2+axis]
		if x = (start + end) / 2 * float64(n-1); out > 1 {
			x = (start + float64(i)/(length-1)*(end-start)) * float64(n-1)
		}
		if float32(x) < 0 || float32(x) > float32(n-1) {
			return nil
		}
	}
	weights := make([]float64, n)
	if r.Mode == Nearest {
		weights[r.chosen(float64(float32(x)), n, scale)] = 1
		return weights
	}
	stretch := 1.0
	if r.Antialias {
		stretch = min(scale, 1)
	}
	sum := 0.0
	for e := -200; e < n+200; e++ {
		d, a, w := math.Abs(float64(e)-x)*stretch, r.A, 0.0
		switch {
		case r.Mode == Linear && d < 1:
			w = 1 - d
		case r.Mode == Linear:
		case d <= 1:
			w = (a+2)*d*d*d - (a+3)*d*d + 1
		case d < 2:
			w = a*d*d*d - 5*a*d*d + 8*a*d - 4*a
		}
		if !r.ExcludeOutside || e >= 0 && e < n {
			weights[min(max(e, 0), n-1)] += w
			sum += w
		}
	}
	for e := range weights {
		weights[e] /= sum
	}
	if sum == 0 {
		clear(weights)
		weights[min(max(int(math.Floor(x)), 0), n-1)] = 1
	}
	return weights
}

// chosen returns the element that a rounding takes for place x.
func (r Resize) chosen(x float64, n int, scale float64) int {
	best, least := 0, math.Inf(1)
	for e := -30; e < n+30; e++ {
		d := math.Abs(float64(e) - x)
		ok := true
		switch r.Rounding {
		case PreferFloor:
		case PreferCeil:
			d -= float64(e) * 1e-9
		case Floor:
			ok = float64(e) <= x
		case Ceil:
			ok = float64(e) >= x
		case FloorOrCeil:
			ok = float64(e) <= x && scale >= 1 || float64(e) >= x && scale < 1
		}
		if ok && d < least {
			best, least = e, d
		}
	}
	return min(max(best, 0), n-1)
}

// drawn returns a random Resize of x.
func drawn(rng *rand.Rand, x graph.Type) Resize {
	r := Resize{
		Mode: Mode(rng.IntN(3)), Coordinates: Coordinates(rng.IntN(7)), Rounding: Rounding(rng.IntN(5)),
		A: -0.75 + 0.25*float64(rng.IntN(2)), ExcludeOutside: rng.IntN(2) == 0, Extrapolation: 3,
	}
	if x.DType == dtype.Bool {
		r.Mode, r.Extrapolation = Nearest, 1
	}
	r.Antialias = r.Mode != Nearest && rng.IntN(2) == 0
	scaled := rng.IntN(2) == 0
	var ends []float64
	for _, n := range x.Shape {
		size := min(n, 1) * (1 + rng.IntN(9))
		if rng.IntN(3) == 0 {
			size = n
		}
		if scaled {
			r.Scales = append(r.Scales, []float64{0.3, 0.5, 0.6, 1, 1, 2, 2.6}[rng.IntN(7)])
		} else {
			r.Sizes = append(r.Sizes, size)
		}
		r.Region, ends = append(r.Region, float64(rng.IntN(7)-1)/4), append(ends, float64(rng.IntN(7)-1)/4)
	}
	r.Region = append(r.Region, ends...)
	return r
}

func TestResize(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	types := append(kerneltest.Halfless(), dtype.Float32, dtype.Float32)
	for n := range 3000 {
		x := optest.Type(types[rng.IntN(len(types))], kerneltest.Shape(rng, 4, 6)...)
		if n%300 == 0 {
			x.Shape = []int{2, 1500 + rng.IntN(1000)}
		}
		r := drawn(rng, x)
		outs, err := r.Infer([]graph.Type{x})
		if err != nil {
			t.Fatalf("%+v of %v: %v", r, x, err)
		}
		in := kerneltest.StridedInput(rng, x.DType, 0, x.Shape...)
		out := kerneltest.StridedOutput(rng, x.DType, 0, outs[0].Shape...)
		k := r.Kernel([]graph.Type{x}, outs)
		if err := kerneltest.All(rng, k, []*kernel.Operand{in}, []*kernel.Operand{out}); err != nil {
			t.Fatal(err)
		}
		kerneltest.CheckAllocs(t, k, []*kernel.Operand{in}, []*kernel.Operand{out})
		if n%300 != 0 {
			r.compare(t, in, out)
		}
		if t.Failed() {
			t.Fatalf("%+v of %v", r, x)
		}
	}
}

func TestResizeLaysOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 6))
	types := append(kerneltest.Halfless(), dtype.Float32, dtype.Float32)
	for range 600 {
		x := optest.Type(types[rng.IntN(len(types))], append([]int{1 + rng.IntN(2), 1 + rng.IntN(5)}, kerneltest.Shape(rng, 3, 6)...)...)
		r := drawn(rng, x)
		if len(x.Shape) > 2 && r.Mode == Nearest {
			optest.LaysOut(t, rng, r, x)
		}
	}
}

// compare compares out with in resized, element by element.
func (r Resize) compare(t *testing.T, in, out *kernel.Operand) {
	data, got := kerneltest.Floats(in), kerneltest.Floats(out)
	counts := make([][][]float64, len(in.Shape))
	for a, n := range in.Shape {
		for i := range out.Shape[a] {
			counts[a] = append(counts[a], r.counts(a, n, out.Shape[a], i))
		}
	}
	at := 0
	kerneltest.ForEachIndex(out.Shape, func(i []int) {
		sum, size, outside := 0.0, 0.0, false
		for a := range i {
			outside = outside || counts[a][i[a]] == nil
		}
		if outside {
			sum = r.Extrapolation
		} else {
			from := 0
			kerneltest.ForEachIndex(in.Shape, func(e []int) {
				w := 1.0
				for a := range e {
					w *= counts[a][i[a]][e[a]]
				}
				if w != 0 {
					sum, size = sum+w*data[from], size+math.Abs(w*data[from])
				}
				from++
			})
		}
		off := size*kerneltest.Slack(in.DType) + 1e-300
		low, high := sum-off, sum+off
		if in.DType.IsInteger() {
			round := math.Trunc
			if r.Antialias {
				round = math.Round
			}
			least, most := ends(in.DType)
			low, high = max(round(min(low, most)), least), min(round(max(high, least)), most)
		}
		if g := got[at]; !(g >= low && g <= high) {
			t.Errorf("element %v is %v, want %v", i, g, sum)
		}
		at++
	})
}

// ends returns the least and the largest element of an integer type.
func ends(t dtype.Type) (least, most float64) {
	bits := 8 * t.Size()
	if t.Kind() == dtype.KindInt {
		return -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1) - 1
	}
	return 0, math.Ldexp(1, bits) - 1
}

// Values worked out by hand.
func TestResizeValues(t *testing.T) {
	x := kerneltest.Of(dtype.Float32, []float32{1, 2, 3, 4}, 1, 4)
	inf := kerneltest.Of(dtype.Float32, []float32{1, float32(math.Inf(1)), 3}, 3)
	for _, c := range []struct {
		what string
		r    Resize
		x    *kernel.Operand
		want []float32
	}{
		{"twice, middle to middle", Resize{Mode: Linear, Sizes: []int{1, 8}}, x, []float32{1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4}},
		{"twice, ends to ends", Resize{Mode: Linear, Sizes: []int{1, 7}, Coordinates: AlignCorners}, x, []float32{1, 1.5, 2, 2.5, 3, 3.5, 4}},
		{"half", Resize{Sizes: []int{1, 2}}, x, []float32{1, 3}},
		{"half, the later", Resize{Sizes: []int{1, 2}, Rounding: PreferCeil}, x, []float32{2, 4}},
		{"half, antialiased", Resize{Mode: Linear, Sizes: []int{1, 2}, Antialias: true, ExcludeOutside: true}, x, []float32{12. / 7, 23. / 7}},
		{"a place a little before an element", Resize{Scales: []float64{1, float64(float32(0.6))}, Coordinates: Asymmetric, Rounding: Floor}, kerneltest.Of(dtype.Float32, []float32{0, 1, 2, 3, 4, 5, 6}, 1, 7), []float32{0, 1, 3, 5}},
		{"an extent a little below a number", Resize{Scales: []float64{float64(float32(0.7))}, Coordinates: Asymmetric, Rounding: Floor}, kerneltest.Dense(dtype.Float32, 10), []float32{0, 0, 0, 0, 0, 0, 0}},
		{"an exact place", Resize{Sizes: []int{1, 1}, Coordinates: Asymmetric, Rounding: Ceil}, x, []float32{1}},
		{"a region", Resize{Sizes: []int{1, 3}, Coordinates: CropAndResize, Mode: Linear, Region: []float64{0, .5, 1, 1.5}, Extrapolation: 9}, x, []float32{2.5, 4, 9}},
		{"a region backwards", Resize{Sizes: []int{1, 4}, Coordinates: CropAndResize, Mode: Linear, Region: []float64{0, 1, 0, 0}}, x, []float32{4, 3, 2, 1}},
		{"infinity beside", Resize{Mode: Linear, Sizes: []int{5}, Coordinates: AlignCorners}, inf, []float32{1, float32(math.Inf(1)), float32(math.Inf(1)), float32(math.Inf(1)), 3}},
	} {
		out := optest.Compute(t, c.r, c.x)[0]
		for i, v := range kerneltest.Values[float32](out) {
			if !kerneltest.Near(float64(v), float64(c.want[i]), 1e-6) {
				t.Errorf("%s: element %d is %v, want %v", c.what, i, v, c.want[i])
			}
		}
		if n := len(kerneltest.Values[float32](out)); n != len(c.want) {
			t.Errorf("%s: %d elements, want %d", c.what, n, len(c.want))
		}
	}
}

func TestResizeInfer(t *testing.T) {
	types := func(x ...graph.Type) []graph.Type { return x }
	x := optest.Float32(2, 3)
	optest.Infers(t, Resize{Sizes: []int{4, 0}}, types(x), "float32[4 0]")
	optest.Infers(t, Resize{Scales: []float64{1, 1.5}}, types(x), "float32[2 4]")
	optest.Infers(t, Resize{Scales: []float64{1, 1.5}, Sizes: []int{2, 5}}, types(x), "float32[2 5]")
	optest.Infers(t, Resize{}, types(optest.Type(dtype.Bool)), "bool[]")
	optest.Infers(t, Resize{Mode: Cubic, Scales: []float64{2}}, types(optest.Type(dtype.BFloat16, 0)), "bfloat16[0]")
	optest.Refuses(t, Resize{Mode: 7}, types(x), "there is no mode 7")
	optest.Refuses(t, Resize{Coordinates: 7}, types(x), "there is no kind of coordinates 7")
	optest.Refuses(t, Resize{Rounding: 7}, types(x), "there is no way of rounding 7")
	optest.Refuses(t, Resize{}, types(x), "0 sizes and 0 scales for float32[2 3], want 2")
	optest.Refuses(t, Resize{Sizes: []int{1}, Scales: []float64{1, 1}}, types(x), "1 sizes and 2 scales")
	optest.Refuses(t, Resize{Sizes: []int{1, 1}, Scales: []float64{1}}, types(x), "2 sizes and 1 scales")
	optest.Refuses(t, Resize{Sizes: []int{1, -1}}, types(x), "axis 1 of float32[2 3]: an extent of -1")
	optest.Refuses(t, Resize{Sizes: []int{1, 1}}, types(optest.Float32(0, 3)), "axis 0 of float32[0 3]: there is no element to make 1 of")
	optest.Refuses(t, Resize{Sizes: []int{1, 1 << 30}}, types(x), "an extent of 1073741824")
	optest.Refuses(t, Resize{Mode: Cubic, Sizes: []int{1, 1 << 24}}, types(x), "made of up to 5 each")
	optest.Refuses(t, Resize{Mode: Cubic, Antialias: true, Sizes: []int{1, 2}, Scales: []float64{1, 1e-30}}, types(x), "are more than")
	optest.Refuses(t, Resize{Scales: []float64{1, 0}}, types(x), "0 is not a positive float32")
	optest.Refuses(t, Resize{Scales: []float64{math.NaN(), 1}}, types(x), "NaN is not a positive float32")
	optest.Refuses(t, Resize{Scales: []float64{1, 1e300}}, types(x), "1e+300 is not a positive float32")
	optest.Refuses(t, Resize{Scales: []float64{1, 1e30}}, types(x), "axis 1 of float32[2 3]: an extent")
	optest.Refuses(t, Resize{Coordinates: CropAndResize, Sizes: []int{1, 1}, Region: []float64{0, 1}}, types(x), "a region of 2 numbers for float32[2 3], want 4")
	optest.Refuses(t, Resize{Coordinates: CropAndResize, Sizes: []int{1, 1}, Region: []float64{0, 0, 1, math.Inf(1)}}, types(x), "+Inf is not finite")
	optest.Refuses(t, Resize{Antialias: true, Sizes: []int{1, 1}}, types(x), "nothing to antialias")
	optest.Refuses(t, Resize{Mode: Linear, Sizes: []int{1, 1}}, types(optest.Type(dtype.Bool, 2, 3)), "no arithmetic")
}

// A smaller image may have more elements that count than a larger one had.
func TestResizeBindsSmaller(t *testing.T) {
	r := Resize{Mode: Cubic, Antialias: true, Sizes: []int{90}}
	k := newResize(dtype.Float32, r)
	bind := func(n, out int) func() {
		x, y := []*kernel.Operand{kerneltest.Dense(dtype.Float32, n)}, []*kernel.Operand{kerneltest.Dense(dtype.Float32, out)}
		return func() { k.Bind(x, y) }
	}
	large, smaller := bind(100, 100), []func(){bind(99, 89), bind(99, 50), bind(99, 7), bind(99, 2), bind(50, 49)}
	first := true
	count := testing.AllocsPerRun(1, func() {
		if first {
			large()
			first = false
			return
		}
		for _, b := range smaller {
			b()
		}
	})
	if count != 0 {
		t.Errorf("to bind smaller images allocates %v times", count)
	}
}

// Places far outside the input take no time.
func TestResizeFarOutside(t *testing.T) {
	x := kerneltest.Of(dtype.Float32, []float32{1, 2}, 2)
	r := Resize{Mode: Linear, Sizes: []int{3}, Scales: []float64{1e-30}, Coordinates: Asymmetric}
	optest.WantValues(t, "out", optest.Compute(t, r, x)[0], 1, 2, 2)
}

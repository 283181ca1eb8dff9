package pool

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/slide"
)

// poolReference reduces window by window over a dense image, and returns the
// values and where the maxima are.
func poolReference(w slide.Window, p poolParams, lowest float64, x []float64, image, outputs []int) (y []float64, indices []int64) {
	axes := len(w.Taps)
	kerneltest.ForEachIndex(outputs, func(out []int) {
		best, index, sum, met, counted := lowest, int64(-1), 0.0, 0, 0
		kerneltest.ForEachIndex(w.Taps, func(tap []int) {
			at, padded := []int{out[0], out[1]}, true
			for i := range axes {
				c := out[2+i]*w.Strides[i] + tap[i]*w.Dilations[i] - w.Pads[i]
				at = append(at, c)
				padded = padded && c < image[2+i]+w.Pads[axes+i]
			}
			if padded {
				counted++
			}
			i := kerneltest.Flat(image, at)
			if i < 0 {
				return
			}
			met++
			if index < 0 || x[i] > best || math.IsNaN(x[i]) && !math.IsNaN(best) {
				best, index = x[i], int64(i)
				if p.ColumnMajor {
					index = int64(at[0]*image[1] + at[1])
					for _, d := range image[2:] {
						index *= int64(d)
					}
					size := 1
					for a, d := range image[2:] {
						index += int64(at[2+a] * size)
						size *= d
					}
				}
			}
			switch p.Kind {
			case Average:
				sum += x[i]
			case Lp:
				sum += math.Pow(math.Abs(x[i]), p.P)
			}
		})
		switch p.Kind {
		case Max:
			y, indices = append(y, best), append(indices, index)
		case Average:
			if p.CountIncludePad {
				met = counted
			}
			y = append(y, sum/float64(max(met, 1)))
		case Lp:
			y = append(y, math.Pow(sum, 1/p.P))
		}
	})
	return y, indices
}

func lowestOf(t dtype.Type) float64 {
	switch {
	case t.IsFloat():
		return math.Inf(-1)
	case t.Kind() == dtype.KindUint:
		return 0
	}
	return -math.Ldexp(1, 8*t.Size()-1)
}

// near reports whether v is want but for a few roundings; NaN is near NaN alone.
func near(v, want float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return v == want || math.IsNaN(v) && math.IsNaN(want)
	}
	return math.Abs(v-want) <= 1e-6*(1+math.Abs(want))
}

// someNaN makes some elements of one float32 operand in four NaN.
func someNaN(rng *rand.Rand, x *kernel.Operand) {
	if x.DType != dtype.Float32 || rng.IntN(4) != 0 {
		return
	}
	for i, s := 0, kernel.Slice[float32](x); i < len(s); i += 1 + rng.IntN(9) {
		s[i] = float32(math.NaN())
	}
}

func TestPool(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for i := range kerneltest.Rounds(1200) {
		p := poolParams{
			Kind:            Kind(rng.IntN(3)),
			CountIncludePad: rng.IntN(2) == 0,
			ColumnMajor:     rng.IntN(2) == 0,
			P:               []float64{1, 2, 3, 0.5}[rng.IntN(4)],
		}
		dt := kerneltest.NumberTypes[i%2]
		if p.Kind == Max {
			dt = kerneltest.NumberTypes[i%len(kerneltest.NumberTypes)]
		}
		axes := 1 + rng.IntN(3)
		w, in, out := optest.Window(rng, axes, []int{0, 60, 14, 6}[axes])
		for a := range axes {
			// A last window that reaches past the padding, as ceil_mode makes.
			if w.Auto == slide.NotSet && rng.IntN(3) == 0 && out[a]*w.Strides[a] < in[a]+w.Pads[a] {
				out[a]++
			}
		}
		lead := []int{kerneltest.Extent(rng, 4), kerneltest.Extent(rng, 5)}
		image, outputs := append(lead, in...), append(lead[:2:2], out...)
		x := kerneltest.StridedInput(rng, dt, axes+1, image...)
		someNaN(rng, x)
		y := kerneltest.StridedOutput(rng, dt, axes+1, outputs...)
		outs := []*kernel.Operand{y}
		if p.Kind == Max && rng.IntN(2) == 0 {
			outs = append(outs, kerneltest.StridedOutput(rng, dtype.Int64, axes+1, outputs...))
		}
		k := newPool(dt, optest.Unpadded(w), p)
		intact := kerneltest.Guard(y)
		if err := kerneltest.All(rng, k, []*kernel.Operand{x}, outs); err != nil {
			t.Fatal(err)
		}
		if err := intact(); err != nil {
			t.Fatal(err)
		}
		want, where := poolReference(w, p, lowestOf(dt), kerneltest.Floats(x), image, outputs)
		for j, v := range kerneltest.Floats(y) {
			if !near(v, want[j]) {
				t.Fatalf("%v %v to %v, %+v, %+v: element %d is %v, want %v", dt, image, outputs, w, p, j, v, want[j])
			}
		}
		if len(outs) > 1 && dt.Size() < 8 { // float64 does not tell wide integers apart
			for j, v := range kerneltest.Values[int64](outs[1]) {
				if v != where[j] {
					t.Fatalf("%v %v to %v, %+v, %+v: index %d is %v, want %v", dt, image, outputs, w, p, j, v, where[j])
				}
			}
		}
		kerneltest.CheckAllocs(t, k, []*kernel.Operand{x}, outs)
	}
}

// TestBlocks: poolings that take several blocks along either axis, or several planes in
// one, are what plain loops give.
func TestBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 4))
	for i, c := range []struct{ image, taps, strides, dilations, pads []int }{
		{[]int{5000}, []int{3}, []int{1}, []int{1}, []int{2, 2}},
		{[]int{45, 130}, []int{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1, 1, 1}},
		{[]int{91, 129}, []int{3, 3}, []int{2, 2}, []int{1, 1}, []int{2, 1, 1, 2}},
		{[]int{90, 133}, []int{2, 4}, []int{3, 3}, []int{2, 1}, []int{1, 3, 1, 2}},
		{[]int{6, 1501}, []int{3, 3}, []int{1, 2}, []int{1, 1}, []int{1, 1, 1, 1}},
		{[]int{7, 7}, []int{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1, 1, 1}},
	} {
		w := slide.Window{Taps: c.taps, Strides: c.strides, Dilations: c.dilations, Pads: c.pads}
		out, err := w.Positions(c.image, false)
		if err != nil {
			t.Fatal(err)
		}
		channels := 1
		if len(c.image) == 2 && c.image[0] == 7 {
			channels = 70
		}
		image, outputs := append([]int{2, channels}, c.image...), append([]int{2, channels}, out...)
		for _, p := range []poolParams{{Kind: Max}, {Kind: Average}, {Kind: Average, CountIncludePad: true}} {
			for set := range kerneltest.Sets() {
				x, y := kerneltest.Dense(kerneltest.NumberTypes[i%2], image...), kerneltest.Dense(kerneltest.NumberTypes[i%2], outputs...)
				kerneltest.Randomize(rng, x)
				someNaN(rng, x)
				if err := kerneltest.All(rng, newPool(x.DType, w, p), []*kernel.Operand{x}, []*kernel.Operand{y}); err != nil {
					t.Fatal(err)
				}
				want, _ := poolReference(w, p, math.Inf(-1), kerneltest.Floats(x), image, outputs)
				for j, v := range kerneltest.Floats(y) {
					if !near(v, want[j]) {
						t.Fatalf("%s %v %v to %v, %+v, %+v: element %d is %v, want %v", set, x.DType, image, outputs, w, p, j, v, want[j])
					}
				}
			}
		}
	}
}

func TestGlobalPool(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	for i := range kerneltest.Rounds(300) {
		dt := kerneltest.NumberTypes[i%2]
		kind, p := Kind(rng.IntN(3)), []float64{1, 2, 3}[rng.IntN(3)]
		image := []int{kerneltest.Extent(rng, 4), kerneltest.Extent(rng, 5)}
		whole := slide.Window{}
		outputs := image[:2:2]
		for range 1 + rng.IntN(3) {
			d := 1 + rng.IntN(9)
			image, outputs = append(image, d), append(outputs, 1)
			whole.Taps, whole.Strides, whole.Dilations = append(whole.Taps, d), append(whole.Strides, 1), append(whole.Dilations, 1)
			whole.Pads = append(whole.Pads, 0, 0)
		}
		x := kerneltest.StridedInput(rng, dt, len(image)-1, image...)
		someNaN(rng, x)
		y := kerneltest.StridedOutput(rng, dt, len(image)-1, outputs...)
		k := newGlobalPool(dt, poolParams{Kind: kind, P: p})
		intact := kerneltest.Guard(y)
		if err := kerneltest.All(rng, k, []*kernel.Operand{x}, []*kernel.Operand{y}); err != nil {
			t.Fatal(err)
		}
		if err := intact(); err != nil {
			t.Fatal(err)
		}
		want, _ := poolReference(whole, poolParams{Kind: kind, P: p}, math.Inf(-1), kerneltest.Floats(x), image, outputs)
		for j, v := range kerneltest.Floats(y) {
			if !near(v, want[j]) {
				t.Fatalf("%v %v kind %d: element %d is %v, want %v", dt, image, kind, j, v, want[j])
			}
		}
		kerneltest.CheckAllocs(t, k, []*kernel.Operand{x}, []*kernel.Operand{y})
	}
}

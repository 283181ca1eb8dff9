package pool

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/slide"
)

// copyAll copies the elements of one operand to another.
func copyAll(to, from *kernel.Operand) {
	k := kernel.NewCopy(from.DType.Size())
	k.Bind([]*kernel.Operand{from}, []*kernel.Operand{to})
	scratch := kernel.Alloc(k.Scratch())
	for task := range k.Tasks() {
		k.Run(task, scratch)
	}
}

// lastView returns o, an image, with its channels last.
func lastView(o *kernel.Operand) *kernel.Operand {
	v := *o
	v.Shape, v.Strides = op.ChannelsLast(o.Shape), op.ChannelsLast(o.Strides)
	return &v
}

// someZeros makes some elements of one float32 operand in four zeros of either sign.
func someZeros(rng *rand.Rand, x *kernel.Operand) {
	if x.DType != dtype.Float32 || rng.IntN(4) != 0 {
		return
	}
	for i, s := 0, kernel.Slice[float32](x); i < len(s); i += 1 + rng.IntN(3) {
		s[i] = float32(math.Copysign(0, float64(rng.IntN(2))-0.5))
	}
}

// agree fails unless two operands have the same elements, down to the sign of zeros.
func agree(t *testing.T, got, want *kernel.Operand, what ...any) {
	t.Helper()
	if !got.DType.IsFloat() {
		if string(kerneltest.Bytes(got)) != string(kerneltest.Bytes(want)) {
			t.Fatalf("%v: %v, want %v", what, kerneltest.Floats(got), kerneltest.Floats(want))
		}
		return
	}
	w := kerneltest.Floats(want)
	for i, v := range kerneltest.Floats(got) {
		if math.Float64bits(v) != math.Float64bits(w[i]) && !(math.IsNaN(v) && math.IsNaN(w[i])) {
			t.Fatalf("%v: element %d is %v, want %v", what, i, v, w[i])
		}
	}
}

// TestLast: poolings with channels last are those with channels first, to the last bit, in every
// set.
func TestLast(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range kerneltest.Rounds(400) {
		p := poolParams{Kind: Kind(i % 2), CountIncludePad: rng.IntN(2) == 0}
		dt := kerneltest.NumberTypes[i/2%2]
		if p.Kind == Max && rng.IntN(2) == 0 {
			dt = kerneltest.NumberTypes[rng.IntN(len(kerneltest.NumberTypes))]
		}
		axes := 1 + rng.IntN(3)
		w, in, out := optest.Window(rng, axes, []int{0, 60, 14, 6}[axes])
		for a := range axes {
			// A last window that reaches past the padding, as ceil_mode makes.
			if w.Auto == slide.NotSet && rng.IntN(3) == 0 && out[a]*w.Strides[a] < in[a]+w.Pads[a] {
				out[a]++
			}
		}
		lead := []int{kerneltest.Extent(rng, 3), kerneltest.Extent(rng, 70)}
		if rng.IntN(8) == 0 {
			lead[1] += 300
		}
		x, first := kerneltest.Dense(dt, append(lead[:2:2], in...)...), kerneltest.Dense(dt, append(lead[:2:2], out...)...)
		kerneltest.Randomize(rng, x)
		someZeros(rng, x)
		someNaN(rng, x)
		xLast := kerneltest.StridedOutput(rng, dt, 1, op.ChannelsLast(x.Shape)...)
		copyAll(xLast, lastView(x))
		y := kerneltest.StridedOutput(rng, dt, 1, op.ChannelsLast(first.Shape)...)
		for set := range kerneltest.Sets() {
			if err := kerneltest.Run(rng, newPool(dt, optest.Unpadded(w), p), []*kernel.Operand{x}, []*kernel.Operand{first}); err != nil {
				t.Fatal(err)
			}
			k := newLastPool(dt, optest.Unpadded(w), p)
			if err := kerneltest.All(rng, k, []*kernel.Operand{xLast}, []*kernel.Operand{y}); err != nil {
				t.Fatal(err)
			}
			agree(t, y, lastView(first), set, dt, x.Shape, w, p)
			kerneltest.CheckAllocs(t, k, []*kernel.Operand{xLast}, []*kernel.Operand{y})
		}
	}
}

// TestLastGlobal: global poolings with channels last are those with channels first, to the last
// bit, in every set.
func TestLastGlobal(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range kerneltest.Rounds(150) {
		p, dt := poolParams{Kind: Kind(i % 2)}, kerneltest.NumberTypes[i/2%2]
		lead := []int{kerneltest.Extent(rng, 3), kerneltest.Extent(rng, 70)}
		if rng.IntN(8) == 0 {
			lead[1] += 300
		}
		spatial := []int{80, 60}
		if rng.IntN(10) > 0 {
			spatial = spatial[:0]
			for range 1 + rng.IntN(3) {
				spatial = append(spatial, kerneltest.Extent(rng, 12))
			}
		}
		image, outputs := append(lead[:2:2], spatial...), append(lead[:2:2], slices.Repeat([]int{1}, len(spatial))...)
		x, first := kerneltest.Dense(dt, image...), kerneltest.Dense(dt, outputs...)
		kerneltest.Randomize(rng, x)
		someZeros(rng, x)
		someNaN(rng, x)
		last := op.ChannelsLast(x.Shape)
		xLast := kerneltest.StridedOutput(rng, dt, len(last)-1, last...)
		copyAll(xLast, lastView(x))
		y := kerneltest.StridedOutput(rng, dt, len(last)-1, op.ChannelsLast(first.Shape)...)
		for set := range kerneltest.Sets() {
			if err := kerneltest.Run(rng, newGlobalPool(dt, p), []*kernel.Operand{x}, []*kernel.Operand{first}); err != nil {
				t.Fatal(err)
			}
			k := newLastGlobalPool(dt, p)
			if err := kerneltest.All(rng, k, []*kernel.Operand{xLast}, []*kernel.Operand{y}); err != nil {
				t.Fatal(err)
			}
			agree(t, y, lastView(first), set, dt, x.Shape, p)
			kerneltest.CheckAllocs(t, k, []*kernel.Operand{xLast}, []*kernel.Operand{y})
		}
	}
}

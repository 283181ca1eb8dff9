package conv

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/slide"
	"github.com/berth-go/berth/shape"
)

// TestDeformColumns compares with the sum over all elements of the image, each times
// how near it is to the place.
func TestDeformColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range kerneltest.Rounds(200) {
		axes := 1 + rng.IntN(3)
		win, image, _ := optest.Window(rng, axes, 5)
		win.Auto = slide.NotSet
		positions, err := win.Positions(image, false)
		if err != nil {
			continue // the window does not fit
		}
		groups := 1 + rng.IntN(2)
		o := DeformColumns{KernelShape: win.Taps, Strides: win.Strides, Pads: win.Pads, Dilations: win.Dilations, Groups: groups}
		dt := []dtype.Type{dtype.Float32, dtype.Float64}[rng.IntN(2)]
		taps := shape.Shape(win.Taps).Elems()
		n, c := rng.IntN(3), groups*rng.IntN(3)
		dims := [][]int{
			append([]int{n, c}, image...),
			append([]int{n, groups * taps * axes}, positions...),
			append([]int{n, groups * taps}, positions...),
		}[:2+rng.IntN(2)]
		var types []graph.Type
		var in []*kernel.Operand
		for i, s := range dims {
			types = append(types, optest.Type(dt, s...))
			in = append(in, kerneltest.StridedInput(rng, dt, 0, s...))
			if i == 1 && rng.IntN(2) == 0 {
				kerneltest.FewValues(rng, in[1])
			}
		}
		outs, err := o.Infer(types)
		if err != nil {
			t.Fatal(err)
		}
		y := kerneltest.StridedOutput(rng, dt, 0, outs[0].Shape...)
		k := o.Kernel(types, outs)
		if err := kerneltest.All(rng, k, in, []*kernel.Operand{y}); err != nil {
			t.Fatalf("%+v of %v: %v", o, types, err)
		}
		kerneltest.CheckAllocs(t, k, in, []*kernel.Operand{y})
		x, offsets, got := kerneltest.Floats(in[0]), kerneltest.Floats(in[1]), kerneltest.Floats(y)
		kerneltest.ForEachIndex(outs[0].Shape, func(index []int) {
			image, channel, tap, position := index[0], index[1], index[2], index[3:]
			group := channel / max(c/groups, 1)
			moved := make([]float64, axes)
			rest := tap
			for a := axes - 1; a >= 0; a-- {
				start := position[a]*win.Strides[a] - win.Pads[a] + rest%win.Taps[a]*win.Dilations[a]
				rest /= win.Taps[a]
				at := append([]int{image, (group*taps+tap)*axes + a}, position...)
				moved[a] = float64(start) + offsets[kerneltest.Flat(dims[1], at)]
			}
			want := 0.0
			kerneltest.ForEachIndex(dims[0][2:], func(at []int) {
				near := 1.0
				for a, i := range at {
					near *= max(0, 1-math.Abs(moved[a]-float64(i)))
				}
				want += near * x[kerneltest.Flat(dims[0], append([]int{image, channel}, at...))]
			})
			if len(in) > 2 {
				want *= kerneltest.Floats(in[2])[kerneltest.Flat(dims[2], append([]int{image, group*taps + tap}, position...))]
			}
			if g := got[kerneltest.Flat(outs[0].Shape, index)]; math.Abs(g-want) > 1e-4*(1+math.Abs(want)) {
				t.Fatalf("%+v of %v: element %v is %v, want %v", o, types, index, g, want)
			}
		})
	}
}

func TestDeformColumnsInfer(t *testing.T) {
	o := DeformColumns{KernelShape: []int{2, 2}, Groups: 2}
	x, offsets, mask := optest.Float32(1, 4, 3, 5), optest.Float32(1, 16, 2, 4), optest.Float32(1, 8, 2, 4)
	optest.Infers(t, o, []graph.Type{x, offsets}, "float32[1 4 4 2 4]")
	optest.Infers(t, o, []graph.Type{x, offsets, mask}, "float32[1 4 4 2 4]")
	optest.Refuses(t, o, []graph.Type{x, mask}, "offsets are float32[1 8 2 4], want float32[1 16 2 4]")
	optest.Refuses(t, o, []graph.Type{x, offsets, offsets}, "masks are float32[1 16 2 4], want float32[1 8 2 4]")
	optest.Refuses(t, o, []graph.Type{optest.Float32(1, 3, 3, 5), offsets}, "2 groups of offsets do not divide 3 channels")
	optest.Refuses(t, o, []graph.Type{optest.Float32(1, 4, 3), offsets}, "2 numbers for 1 spatial axes")
	optest.Refuses(t, o, []graph.Type{optest.Float32(1, 4), offsets}, "1 to 6 spatial axes")
	optest.Refuses(t, o, []graph.Type{optest.Type(dtype.Int32, 1, 4, 3, 5), offsets}, "a floating-point type")
	o.KernelShape = []int{4, 2}
	optest.Refuses(t, o, []graph.Type{x, offsets}, "4")
}

package conv

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/optest"
)

// channelsFirst returns a dense copy of an image with its channels last, with them first.
func channelsFirst(o *kernel.Operand) *kernel.Operand {
	last := len(o.Shape) - 1
	view := *o
	view.Shape = append([]int{o.Shape[0], o.Shape[last]}, o.Shape[1:last]...)
	view.Strides = append([]int{o.Strides[0], o.Strides[last]}, o.Strides[1:last]...)
	return kerneltest.Of(o.DType, kerneltest.Values[float32](&view), view.Shape...)
}

// TestLastWinograd: with each set, with and without a bias and prepacked weights, over
// images with any strides of their pixels, the layout of images does not show in the bits.
func TestLastWinograd(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 16))
	for range kerneltest.Rounds(80) {
		c := aWinograd(rng)
		last := c.withChannelsLast()
		x := kerneltest.StridedInput(rng, dtype.Float32, 1, last.image...)
		w, bias := kerneltest.Dense(dtype.Float32, c.weights...), kerneltest.Dense(dtype.Float32, c.weights[0])
		kerneltest.Randomize(rng, w)
		kerneltest.Randomize(rng, bias)
		in := []*kernel.Operand{x, w, bias}[:2+rng.IntN(2)]
		first := append([]*kernel.Operand{channelsFirst(x)}, in[1:]...)
		types := make([]graph.Type, len(in))
		for i, o := range in {
			types[i] = graph.Type{DType: dtype.Float32, Shape: o.Shape}
		}
		outs := []*kernel.Operand{kerneltest.StridedOutput(rng, dtype.Float32, 1, last.outputs...)}
		want := kerneltest.Dense(dtype.Float32, c.outputs...)
		for set := range kerneltest.Sets() {
			if err := kerneltest.Run(rng, newWinograd(params{optest.Unpadded(c.window), nil, c.group, finishOf(nil, types, 2)}), first, []*kernel.Operand{want}); err != nil {
				t.Fatal(err)
			}
			k := newLastWinograd(params{optest.Unpadded(c.window), nil, c.group, finishOf(nil, types, 0)})
			check := func(bound []*kernel.Operand) {
				t.Helper()
				if err := kerneltest.All(rng, k, bound, outs); err != nil {
					t.Fatalf("%s %v: %v", set, c, err)
				}
				if !bytes.Equal(channelsFirst(outs[0]).Data, want.Data) {
					t.Fatalf("%s %v, strides %v and %v: other bits than with the channels first", set, c, x.Strides, outs[0].Strides)
				}
				kerneltest.CheckAllocs(t, k, bound, outs)
			}
			check(in)
			if without := kerneltest.Prepack(k, in, outs, 1); without != nil {
				check(without)
			}
		}
	}
}

// TestWinogradPays: whether minimal filtering pays does not depend on the layout of images.
func TestWinogradPays(t *testing.T) {
	for _, c := range []struct {
		channels, maps, height, width int
		pays                          bool
	}{
		{64, 64, 56, 56, true}, {16, 8, 12, 12, true}, {8, 16, 56, 56, false}, {16, 4, 56, 56, false},
		{512, 512, 7, 7, false}, {16, 16, 1, 200, false}, {16, 16, 200, 1, false},
	} {
		w := graph.Type{DType: dtype.Float32, Shape: []int{c.maps, c.channels, 3, 3}}
		for _, form := range winogradForms {
			op := Conv{ChannelsLast: form.trailing == 0, Pads: []int{1, 1, 1, 1}}
			x := graph.Type{DType: dtype.Float32, Shape: form.dims([]int{1, c.channels, c.height, c.width})}
			y := graph.Type{DType: dtype.Float32, Shape: form.dims([]int{1, c.maps, c.height, c.width})}
			if got := op.WinogradPays([]graph.Type{x, w}, y); got != c.pays {
				t.Errorf("%s, %v: pays is %v", form.name, c, got)
			}
		}
	}
}

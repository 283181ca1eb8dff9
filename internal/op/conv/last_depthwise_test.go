package conv

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/slide"
)

// moveLast copies an image to one with its channels last.
func moveLast(image, last *kernel.Operand) {
	k := kernel.NewCopy(image.DType.Size())
	moved := *image
	moved.Shape, moved.Strides = op.ChannelsLast(image.Shape), op.ChannelsLast(image.Strides)
	k.Bind([]*kernel.Operand{&moved}, []*kernel.Operand{last})
	scratch := kernel.Alloc(k.Scratch())
	for task := range k.Tasks() {
		k.Run(task, scratch)
	}
}

// TestLastDepthwise: depthwise convolutions with channels last have the bits of those with
// channels first, in every set, whatever the window, the strides of the operands and the
// blocks; also where weights are not finite, of which padding makes NaN.
func TestLastDepthwise(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 12))
	cases := kerneltest.Rounds(150)
	for i := range cases {
		dt := convTypes[i%len(convTypes)]
		axes := 1 + i/2%2
		w, in, out := optest.Window(rng, axes, []int{0, 90, 16}[axes])
		switch i % 5 {
		case 0: // windows of chains
			axes = 2
			w = slide.Window{Taps: []int{9, 8}, Strides: []int{1, 2}, Dilations: []int{1, 1}, Pads: []int{3, 4, 3, 4}}
			in = []int{3 + rng.IntN(9), 1 + rng.IntN(9)}
			out, _ = w.Positions(in, false)
		case 1: // lines
			for a := range w.Taps {
				w.Taps[a] = 3 + 2*rng.IntN(2)
				w.Strides[a] = w.Dilations[a] * (1 + rng.IntN(2))
				w.Pads[a], w.Pads[axes+a] = rng.IntN(3), rng.IntN(3)
				in[a] = w.Span(a) + rng.IntN(20)
			}
			w.Auto = slide.NotSet
			out, _ = w.Positions(in, false)
		}
		channels := 1 + rng.IntN(40)
		if rng.IntN(4) == 0 {
			channels += 300
		}
		lead := []int{1 + rng.IntN(2), channels}
		x := kerneltest.Dense(dt, append(lead[:2:2], in...)...)
		weights, bias := kerneltest.Dense(dt, append([]int{channels, 1}, w.Taps...)...), kerneltest.Dense(dt, channels)
		first := kerneltest.Dense(dt, append(lead[:2:2], out...)...)
		for _, o := range []*kernel.Operand{x, weights, bias} {
			kerneltest.Randomize(rng, o)
		}
		if dt == dtype.Float32 && rng.IntN(2) == 0 {
			f := kernel.Slice[float32](weights)
			for range 1 + len(f)/8 {
				f[rng.IntN(len(f))] = float32(math.Inf(1))
			}
		}
		types := []graph.Type{{DType: dt, Shape: x.Shape}, {DType: dt, Shape: weights.Shape}, {DType: dt, Shape: bias.Shape}}
		operands := []*kernel.Operand{x, weights, bias}[:2+rng.IntN(2)]
		xLast := kerneltest.StridedOutput(rng, dt, 1, op.ChannelsLast(x.Shape)...)
		moveLast(x, xLast)
		want, y := kerneltest.Dense(dt, op.ChannelsLast(first.Shape)...), kerneltest.StridedOutput(rng, dt, 1, op.ChannelsLast(first.Shape)...)
		lasts := append([]*kernel.Operand{xLast}, operands[1:]...)
		for set := range kerneltest.Sets() {
			build := func(make func(params) kernel.Kernel, trailing int) kernel.Kernel {
				return make(params{optest.Unpadded(w), nil, channels, finishOf(nil, types[:len(operands)], trailing)})
			}
			k := build(func(p params) kernel.Kernel { return newConv(dt, p) }, axes)
			if err := kerneltest.Run(rng, k, operands, []*kernel.Operand{first}); err != nil {
				t.Fatal(err)
			}
			moveLast(first, want)
			k = build(func(p params) kernel.Kernel { return newLast(dt, p) }, 0)
			intact := kerneltest.Guard(y)
			check := func(in []*kernel.Operand) {
				t.Helper()
				if err := kerneltest.All(rng, k, in, []*kernel.Operand{y}); err != nil {
					t.Fatal(err)
				}
				if err := intact(); err != nil {
					t.Fatal(err)
				}
				got, size := kerneltest.Bytes(y), dt.Size()
				for i := 0; i < len(got); i += size {
					if a, b := got[i:i+size], want.Data[i:i+size]; !bytes.Equal(a, b) {
						t.Fatalf("%s %v, image %v %+v: element %d is %x, want %x", set, dt, x.Shape, w, i/size, a, b)
					}
				}
				kerneltest.CheckAllocs(t, k, in, []*kernel.Operand{y})
			}
			check(lasts)
			if in := kerneltest.Prepack(k, lasts, []*kernel.Operand{y}, 1); in != nil {
				check(in)
			}
		}
	}
}

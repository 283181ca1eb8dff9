package conv

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/slide"
)

// toLast returns an image, dense and with its channels at axis 1, with them last.
func toLast(o *kernel.Operand) *kernel.Operand {
	last := kerneltest.Dense(o.DType, op.ChannelsLast(o.Shape)...)
	moveLast(o, last)
	return last
}

// TestLastEqualsFirst compares convolutions of images with their channels last and first to
// the last bit: random ones, and some whose blocks are of every kind. Their working memory
// does not grow with the image.
func TestLastEqualsFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 12))
	var cases []convCase
	for range 150 {
		cases = append(cases, aConv(rng))
	}
	for _, c := range []struct{ image, weights, strides, dilations, pads []int }{
		{[]int{3, 40, 9, 9}, []int{70, 40, 1, 1}, nil, nil, nil},                          // images that are one line
		{[]int{2, 40, 9, 9}, []int{70, 40, 1, 1}, []int{2, 2}, nil, nil},                  // lines of their own
		{[]int{1, 300, 7, 7}, []int{420, 300, 1, 1}, nil, nil, nil},                       // parts of the maps
		{[]int{1, 1024, 5, 30}, []int{33, 1024, 1, 1}, nil, nil, nil},                     // few rows a tile
		{[]int{1, 3, 61, 60}, []int{24, 3, 7, 7}, []int{2, 2}, nil, []int{3, 3, 3, 3}},    // more terms than a chain
		{[]int{1, 128, 20, 60}, []int{8, 128, 3, 3}, nil, nil, []int{1, 1, 1, 1}},         // parts of a plane
		{[]int{1, 2100, 6, 6}, []int{9, 2100, 3, 3}, nil, nil, []int{1, 1, 1, 1}},         // channels in turn
		{[]int{1, 300, 40, 40}, []int{8, 300, 3, 3}, nil, []int{17, 18}, []int{9, 9, 20}}, // taps apart
		{[]int{1, 96, 14, 14}, []int{96, 4, 3, 3}, nil, nil, []int{1, 1, 1, 1}},           // groups in a block
		{[]int{1, 40, 46, 46}, []int{2, 40, 3, 3}, nil, nil, []int{1, 1, 1, 1}},           // the fewest channels at a time
		{[]int{1, 80, 6000}, []int{7, 80, 3}, nil, []int{3000}, []int{3000, 3000}},        // taps farther apart than a band is long
		{[]int{2, 6, 5, 6, 7}, []int{40, 6, 3, 2, 3}, nil, nil, []int{1, 0, 1, 1, 1, 2}},  // planes of several axes
	} {
		axes := len(c.image) - 2
		w := slide.Window{Taps: c.weights[2:], Strides: c.strides, Dilations: c.dilations, Pads: c.pads}
		if len(c.pads) == 3 {
			w.Pads = append(w.Pads, 0)
		}
		w, err := w.Check(axes)
		if err != nil {
			t.Fatal(err)
		}
		positions, err := w.Positions(c.image[2:], false)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, convCase{window: w, group: c.image[1] / c.weights[1], image: c.image, weights: c.weights,
			outputs: append([]int{c.image[0], c.weights[0]}, positions...)})
	}
	for i, c := range cases {
		dt := convTypes[i%2]
		x, w, bias := kerneltest.Dense(dt, c.image...), kerneltest.Dense(dt, c.weights...), kerneltest.Dense(dt, c.weights[0])
		for _, o := range []*kernel.Operand{x, w, bias} {
			kerneltest.Randomize(rng, o)
		}
		types := []graph.Type{{DType: dt, Shape: x.Shape}, {DType: dt, Shape: w.Shape}, {DType: dt, Shape: bias.Shape}}
		for set := range kerneltest.Sets() {
			first, last := kerneltest.Dense(dt, c.outputs...), kerneltest.Dense(dt, op.ChannelsLast(c.outputs)...)
			k := newConv(dt, params{c.window, nil, c.group, finishOf(nil, types, len(c.image)-2)})
			if err := kerneltest.All(rng, k, []*kernel.Operand{x, w, bias}, []*kernel.Operand{first}); err != nil {
				t.Fatal(err)
			}
			k = newLast(dt, params{c.window, nil, c.group, finishOf(nil, types, 0)})
			for _, prepacked := range []bool{false, true} {
				in, out := []*kernel.Operand{toLast(x), w, bias}, []*kernel.Operand{last}
				if prepacked {
					if in = kerneltest.Prepack(k, in, out, 1); in == nil {
						continue
					}
				}
				if err := kerneltest.All(rng, k, in, out); err != nil {
					t.Fatalf("%s %v %v: %v", set, dt, c, err)
				}
				if n := k.Scratch(); n > 1<<20 {
					t.Errorf("%s %v %v, prepacked %v: %d bytes of working memory", set, dt, c, prepacked, n)
				}
				if !bytes.Equal(kerneltest.Bytes(last), kerneltest.Bytes(toLast(first))) {
					t.Fatalf("%s %v %v, prepacked %v: channels last and first differ", set, dt, c, prepacked)
				}
			}
		}
	}
}

// BenchmarkLast compares convolutions with channels last and first on one core.
func BenchmarkLast(b *testing.B) {
	for _, c := range []struct{ channels, maps, size, taps, stride int }{
		{16, 96, 112, 1, 1}, {144, 24, 56, 1, 1}, {960, 320, 7, 1, 1}, {256, 256, 14, 1, 1}, {512, 2048, 7, 1, 1}, {2048, 512, 7, 1, 1},
		{64, 256, 56, 1, 1}, {256, 512, 56, 1, 2}, {3, 32, 224, 3, 2}, {3, 64, 224, 7, 2}, {8, 8, 224, 3, 1}, {64, 64, 56, 3, 1}, {128, 128, 28, 3, 1},
		{256, 256, 14, 3, 1}, {512, 512, 7, 3, 1},
	} {
		rng := rand.New(rand.NewPCG(4, 13))
		pad, dt := c.taps/2, dtype.Float32
		window := slide.Window{Taps: []int{c.taps, c.taps}, Strides: []int{c.stride, c.stride}, Dilations: []int{1, 1}, Pads: []int{pad, pad, pad, pad}}
		out := (c.size+2*pad-c.taps)/c.stride + 1
		x, w, bias := kerneltest.Dense(dt, 1, c.channels, c.size, c.size), kerneltest.Dense(dt, c.maps, c.channels, c.taps, c.taps), kerneltest.Dense(dt, c.maps)
		y := kerneltest.Dense(dt, 1, c.maps, out, out)
		for _, o := range []*kernel.Operand{x, w, bias} {
			kerneltest.Randomize(rng, o)
		}
		types := []graph.Type{{DType: dt, Shape: x.Shape}, {DType: dt, Shape: w.Shape}, {DType: dt, Shape: bias.Shape}}
		flops := 2 * c.maps * out * out * c.channels * c.taps * c.taps
		name := fmt.Sprintf("%dx%dstride%d/%dto%d/%d", c.taps, c.taps, c.stride, c.channels, c.maps, c.size)
		b.Run(name+"/first", func(b *testing.B) {
			k := newConv(dt, params{window, nil, 1, finishOf(nil, types, 2)})
			kerneltest.BenchmarkTasks(b, k, []*kernel.Operand{x, w, bias}, []*kernel.Operand{y}, true, flops)
		})
		b.Run(name+"/last", func(b *testing.B) {
			k := newLast(dt, params{window, nil, 1, finishOf(nil, types, 0)})
			kerneltest.BenchmarkTasks(b, k, []*kernel.Operand{toLast(x), w, bias}, []*kernel.Operand{toLast(y)}, true, flops)
		})
	}
}

package conv

import (
	"bytes"
	"fmt"
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
	"github.com/berth-go/berth/internal/race"
)

// aWinograd draws a convolution with 3×3 taps at steps of 1.
func aWinograd(rng *rand.Rand) convCase {
	c := convCase{group: 1}
	if rng.IntN(4) == 0 {
		c.group = 1 + rng.IntN(3)
	}
	deep, maps := rng.IntN(8), rng.IntN(30)
	if rng.IntN(4) == 0 {
		deep, maps = 40+rng.IntN(300), 1+rng.IntN(3)
	}
	if rng.IntN(8) == 0 {
		deep, maps = 1, 2*winogradMaps+rng.IntN(60) // several tasks
	}
	ones := []int{1, 1}
	c.window = slide.Window{Taps: []int{3, 3}, Strides: ones, Dilations: ones, Pads: make([]int, 4)}
	if rng.IntN(4) == 0 {
		c.window.Auto = slide.SameUpper
		c.window.Pads = []int{1, 1, 1, 1}
	}
	n := kerneltest.Extent(rng, 4)
	c.image, c.outputs = []int{n, deep * c.group}, []int{n, maps * c.group}
	for i := range 2 {
		limit := 16
		if i == 1 && rng.IntN(2) == 0 && deep*maps < 30 {
			limit = 300
		}
		extent := rng.IntN(limit)
		if c.window.Auto == slide.NotSet {
			for end := range 2 {
				c.window.Pads[i+2*end] = rng.IntN(8) % 5
			}
			extent = max(extent, 3-c.window.Pads[i]-c.window.Pads[2+i])
		}
		c.image = append(c.image, extent)
		out := extent + c.window.Pads[i] + c.window.Pads[2+i] - 2
		if c.window.Auto != slide.NotSet {
			out = extent
		}
		c.outputs = append(c.outputs, out)
	}
	c.weights = []int{maps * c.group, deep, 3, 3}
	return c
}

// A winogradForm is minimal filtering for one layout of images.
type winogradForm struct {
	name     string
	new      func(params) kernel.Kernel
	dims     func(channelsFirst []int) []int // the shape of an image
	trailing int                             // axes behind the channels
}

var winogradForms = []winogradForm{
	{"channels first", newWinograd, func(dims []int) []int { return dims }, 2},
	{"channels last", newLastWinograd, op.ChannelsLast[int], 0},
}

// TestWinograd: with each set, with and without a bias and prepacked weights, over
// images in both layouts with any strides, minimal filtering is a convolution. Its errors are
// relative to the products of a whole tile.
func TestWinograd(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 11))
	for i := range kerneltest.Rounds(40) {
		c, form := aWinograd(rng), winogradForms[i%2]
		if form.trailing == 0 {
			c = c.withChannelsLast()
		}
		x := kerneltest.StridedInput(rng, dtype.Float32, form.trailing+1, c.image...)
		w, bias := kerneltest.Dense(dtype.Float32, c.weights...), kerneltest.Dense(dtype.Float32, c.weights[0])
		kerneltest.Randomize(rng, w)
		kerneltest.Randomize(rng, bias)
		in := []*kernel.Operand{x, w, bias}
		biases := kerneltest.Floats(bias)
		if rng.IntN(2) == 0 {
			in, biases = in[:2], nil
		}
		types := make([]graph.Type, len(in))
		for i, o := range in {
			types[i] = graph.Type{DType: dtype.Float32, Shape: o.Shape}
		}
		want := convReference(c, kerneltest.Floats(x), kerneltest.Floats(w), biases)
		largest := 1.0
		for _, v := range want {
			largest = max(largest, math.Abs(v))
		}
		out := kerneltest.StridedOutput(rng, dtype.Float32, form.trailing+1, c.outputs...)
		outs := []*kernel.Operand{out}
		for set := range kerneltest.Sets() {
			k := form.new(params{optest.Unpadded(c.window), nil, c.group, finishOf(nil, types, form.trailing)})
			check := func(bound []*kernel.Operand) {
				t.Helper()
				if err := kerneltest.All(rng, k, bound, outs); err != nil {
					t.Fatalf("%s %v: %v", set, c, err)
				}
				for i, v := range kerneltest.Floats(out) {
					if !(math.Abs(v-want[i]) <= 1e-5*largest) {
						t.Fatalf("%s %v: element %d is %v, want %v", set, c, i, v, want[i])
					}
				}
				kerneltest.CheckAllocs(t, k, bound, outs)
			}
			check(in)
			plain := kerneltest.Bytes(out)
			if without := kerneltest.Prepack(k, in, outs, 1); without != nil {
				check(without)
				if !bytes.Equal(plain, kerneltest.Bytes(out)) {
					t.Fatalf("%s %v: prepacking the weights changes the result", set, c)
				}
			}
		}
	}
}

// TestWinogradImages: the bits of an image do not depend on how many there are.
func TestWinogradImages(t *testing.T) {
	race.SkipSequential(t)
	rng := rand.New(rand.NewPCG(4, 12))
	for _, size := range []int{5, 14, 75} {
		c := convCase{group: 1, image: []int{5, 3, size, size}, weights: []int{2*winogradMaps + 5, 3, 3, 3}}
		c.window = slide.Window{Taps: []int{3, 3}, Strides: []int{1, 1}, Dilations: []int{1, 1}, Pads: []int{1, 1, 1, 1}}
		for _, form := range winogradForms {
			x, w := kerneltest.Dense(dtype.Float32, form.dims(c.image)...), kerneltest.Dense(dtype.Float32, c.weights...)
			kerneltest.Randomize(rng, x)
			kerneltest.Randomize(rng, w)
			types := []graph.Type{{DType: dtype.Float32, Shape: x.Shape}, {DType: dtype.Float32, Shape: w.Shape}}
			all := kerneltest.Dense(dtype.Float32, form.dims([]int{5, c.weights[0], size, size})...)
			for set := range kerneltest.Sets() {
				k := form.new(params{c.window, nil, 1, finishOf(nil, types, form.trailing)})
				if err := kerneltest.Run(rng, k, []*kernel.Operand{x, w}, []*kernel.Operand{all}); err != nil {
					t.Fatal(err)
				}
				for n := range 5 {
					one := *x
					one.Shape = append([]int{1}, x.Shape[1:]...)
					one.Offset = n * x.Strides[0]
					out := kerneltest.Dense(dtype.Float32, append([]int{1}, all.Shape[1:]...)...)
					if err := kerneltest.Run(rng, k, []*kernel.Operand{&one, w}, []*kernel.Operand{out}); err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(out.Data, all.Data[n*len(out.Data):(n+1)*len(out.Data)]) {
						t.Fatalf("%s, %s, %d×%d: image %d of 5 differs from the image alone", set, form.name, size, size, n)
					}
				}
			}
		}
	}
}

// TestWinogradNaN: a NaN reaches every result that reads it, and none beyond the tiles
// that do.
func TestWinogradNaN(t *testing.T) {
	const size, at = 40, 17
	const channels, maps = 2, 3
	window := slide.Window{Taps: []int{3, 3}, Strides: []int{1, 1}, Dilations: []int{1, 1}, Pads: []int{1, 1, 1, 1}}
	rng := rand.New(rand.NewPCG(4, 15))
	for _, form := range winogradForms {
		x, w := kerneltest.Dense(dtype.Float32, form.dims([]int{1, channels, size, size})...), kerneltest.Dense(dtype.Float32, maps, channels, 3, 3)
		kerneltest.Randomize(rng, x)
		kerneltest.Randomize(rng, w)
		pixel, next := 1, 1 // elements from one pixel to the next, of x and of the result
		if form.trailing == 0 {
			pixel, next = channels, maps
		}
		kernel.Slice[float32](x)[(at*size+at)*pixel] = float32(math.NaN())
		types := []graph.Type{{DType: dtype.Float32, Shape: x.Shape}, {DType: dtype.Float32, Shape: w.Shape}}
		for set := range kerneltest.Sets() {
			y := kerneltest.Dense(dtype.Float32, form.dims([]int{1, maps, size, size})...)
			k := form.new(params{window, nil, 1, finishOf(nil, types, form.trailing)})
			if err := kerneltest.Run(rng, k, []*kernel.Operand{x, w}, []*kernel.Operand{y}); err != nil {
				t.Fatal(err)
			}
			for i, v := range kernel.Slice[float32](y) {
				down, across := i/next/size%size-at, i/next%size-at
				reads, far := max(down, -down, across, -across) <= 1, max(down, -down, across, -across) > 4
				if reads && v == v || far && v != v {
					t.Errorf("%s, %s: %v at (%d, %d) from the NaN", set, form.name, v, down, across)
				}
			}
		}
	}
}

// winogradError returns the root of the mean square, and the largest, of the errors of
// a kernel, relative to the root of the mean square of the results.
func winogradError(o *kernel.Operand, want []float64) (mean, largest float64) {
	var all float64
	for _, v := range want {
		all += v * v
	}
	unit := math.Sqrt(all / float64(len(want)))
	for i, v := range kerneltest.Floats(o) {
		largest = max(largest, math.Abs(v-want[i])/unit)
	}
	return kerneltest.Rounding(o, want) * 0x1p-24, largest
}

// TestWinogradError: rounding errors are as [newWinograd] states.
func TestWinogradError(t *testing.T) {
	race.SkipSequential(t)
	rng := rand.New(rand.NewPCG(4, 13))
	for _, deep := range []int{16, 64, 256} {
		c := convCase{group: 1, image: []int{1, deep, 16, 16}, weights: []int{4, deep, 3, 3}, outputs: []int{1, 4, 16, 16}}
		c.window = slide.Window{Taps: []int{3, 3}, Strides: []int{1, 1}, Dilations: []int{1, 1}, Pads: []int{1, 1, 1, 1}}
		for _, positive := range []bool{false, true} {
			x, w := kerneltest.Dense(dtype.Float32, c.image...), kerneltest.Dense(dtype.Float32, c.weights...)
			kerneltest.Randomize(rng, x)
			kerneltest.Randomize(rng, w)
			if positive {
				kerneltest.Positive(x)
			}
			types := []graph.Type{{DType: dtype.Float32, Shape: x.Shape}, {DType: dtype.Float32, Shape: w.Shape}}
			want := convReference(c, kerneltest.Floats(x), kerneltest.Floats(w), nil)
			for set := range kerneltest.Sets() {
				var mean, largest [2]float64
				p := params{c.window, nil, 1, finishOf(nil, types, 2)}
				for i, k := range []kernel.Kernel{newConv(dtype.Float32, p), newWinograd(p)} {
					y := kerneltest.Dense(dtype.Float32, c.outputs...)
					if err := kerneltest.Run(rng, k, []*kernel.Operand{x, w}, []*kernel.Operand{y}); err != nil {
						t.Fatal(err)
					}
					mean[i], largest[i] = winogradError(y, want)
				}
				t.Logf("%s, %d channels, positive %v: mean %.2g / %.2g = %.1f, largest %.2g / %.2g = %.1f", set, deep, positive,
					mean[1], mean[0], mean[1]/mean[0], largest[1], largest[0], largest[1]/largest[0])
				if mean[1] > 5.5*mean[0] || largest[1] > 8e-6 {
					t.Errorf("%s, %d channels, positive %v: mean error %.2g, of the product %.2g; largest %.2g", set, deep, positive, mean[1], mean[0], largest[1])
				}
			}
		}
	}
}

// BenchmarkWinograd reports the rate on one core, counted in the operations of the
// direct form, beside the product.
func BenchmarkWinograd(b *testing.B) {
	for _, c := range []struct{ channels, maps, height, width int }{
		{64, 64, 224, 224}, {64, 64, 56, 56}, {128, 128, 28, 28}, {256, 256, 14, 14}, {512, 512, 7, 7},
		{64, 32, 224, 224}, {32, 32, 60, 80}, {16, 16, 120, 160}, {8, 8, 120, 160}, {64, 64, 15, 20}, {512, 512, 28, 28},
		{512, 512, 14, 14}, {256, 256, 10, 10}, {128, 128, 12, 12}, {64, 64, 8, 8}, {64, 64, 12, 12}, {16, 16, 12, 12}, {32, 32, 12, 12},
		{16, 16, 56, 56}, {8, 16, 56, 56}, {16, 8, 56, 56}, {8, 64, 56, 56}, {64, 8, 56, 56}, {8, 8, 56, 56}, {4, 32, 56, 56}, {12, 12, 56, 56},
	} {
		b.Run(fmt.Sprintf("%d-%d/%dx%d", c.channels, c.maps, c.height, c.width), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(4, 14))
			window := slide.Window{Taps: []int{3, 3}, Strides: []int{1, 1}, Dilations: []int{1, 1}, Pads: []int{1, 1, 1, 1}}
			x, w := kerneltest.Dense(dtype.Float32, 1, c.channels, c.height, c.width), kerneltest.Dense(dtype.Float32, c.maps, c.channels, 3, 3)
			y := kerneltest.Dense(dtype.Float32, 1, c.maps, c.height, c.width)
			kerneltest.Randomize(rng, x)
			kerneltest.Randomize(rng, w)
			types := []graph.Type{{DType: dtype.Float32, Shape: x.Shape}, {DType: dtype.Float32, Shape: w.Shape}}
			p := params{window, nil, 1, finishOf(nil, types, 2)}
			for set := range kerneltest.Sets() {
				flops := 2 * 9 * c.channels * c.maps * c.height * c.width
				for name, k := range map[string]kernel.Kernel{"product": newConv(dtype.Float32, p), "winograd": newWinograd(p)} {
					b.Run(set+"/"+name, func(b *testing.B) {
						kerneltest.BenchmarkTasks(b, k, []*kernel.Operand{x, w}, []*kernel.Operand{y}, true, flops)
					})
				}
				b.Run(set+"/last", func(b *testing.B) {
					x, y := kerneltest.Dense(dtype.Float32, op.ChannelsLast(x.Shape)...), kerneltest.Dense(dtype.Float32, op.ChannelsLast(y.Shape)...)
					kerneltest.Randomize(rng, x)
					p := p
					p.finish = finishOf(nil, types, 0)
					kerneltest.BenchmarkTasks(b, newLastWinograd(p), []*kernel.Operand{x, w}, []*kernel.Operand{y}, true, flops)
				})
			}
		})
	}
}

// TestWinogradScratch: a kernel takes the same working memory with weights that are prepacked
// and with those that are yet to be.
func TestWinogradScratch(t *testing.T) {
	for _, c := range [][4]int{{16, 16, 12, 12}, {64, 64, 56, 56}, {16, 13, 50, 40}, {48, 40, 9, 9}} {
		for _, form := range winogradForms {
			x, w := kerneltest.Dense(dtype.Float32, form.dims([]int{1, c[0], c[2], c[3]})...), kerneltest.Dense(dtype.Float32, c[1], c[0], 3, 3)
			y := kerneltest.Dense(dtype.Float32, form.dims([]int{1, c[1], c[2] - 2, c[3] - 2})...)
			op := Conv{Winograd: true, ChannelsLast: form.trailing == 0}
			k := op.Kernel([]graph.Type{{DType: dtype.Float32, Shape: x.Shape}, {DType: dtype.Float32, Shape: w.Shape}}, nil).(kernel.Prepacker)
			scratch := func(prepacked []byte) int {
				k.UsePrepacked(1, prepacked)
				k.Bind([]*kernel.Operand{x, w}, []*kernel.Operand{y})
				return k.Scratch()
			}
			scratch(nil)
			if made, later := scratch(kernel.Alloc(k.PrepackedBytes(1))), scratch([]byte{}); made != later {
				t.Errorf("%s, %v: %d bytes of working memory, and %d for weights that are yet to be prepacked", form.name, c, made, later)
			}
		}
	}
}

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
	"github.com/berth-go/berth/shape"
)

// A convCase is a random convolution.
type convCase struct {
	window                  slide.Window
	group                   int
	image, weights, outputs []int // shapes; image and outputs change roles when transposed
	last                    bool  // image and outputs have their channels last
}

// withChannelsLast returns the same convolution of images with their channels last.
func (c convCase) withChannelsLast() convCase {
	c.image, c.outputs, c.last = op.ChannelsLast(c.image), op.ChannelsLast(c.outputs), true
	return c
}

func (c convCase) String() string {
	return fmt.Sprintf("image %v weights %v outputs %v group %d %+v", c.image, c.weights, c.outputs, c.group, c.window)
}

func aConv(rng *rand.Rand) convCase {
	axes := 1 + rng.IntN(3)
	limit := []int{0, 60, 12, 5}[axes]
	w, in, out := optest.Window(rng, axes, limit)
	c := convCase{window: w, group: 1}
	deep, maps := 1+rng.IntN(5), 1+rng.IntN(8)
	switch rng.IntN(6) {
	case 0:
		c.group = 1 + rng.IntN(3)
	case 1, 2: // depthwise
		c.group, deep, maps = 1+rng.IntN(8), 1, 1+rng.IntN(3)
	case 3:
		deep, maps = 20+rng.IntN(20), 1+rng.IntN(30)
	case 4:
		deep = rng.IntN(2)
	}
	n := kerneltest.Extent(rng, 4)
	c.image = append([]int{n, deep * c.group}, in...)
	c.weights = append([]int{maps * c.group, deep}, w.Taps...)
	c.outputs = append([]int{n, maps * c.group}, out...)
	return c
}

// convReference is the convolution as plain loops over dense operands.
func convReference[N kerneltest.Ring](c convCase, x, w, bias []N) []N {
	y := make([]N, 0)
	axes := len(c.image) - 2
	maps := c.weights[0] / c.group
	kerneltest.ForEachIndex(c.outputs, func(out []int) {
		if c.last {
			out = append([]int{out[0], out[axes+1]}, out[1:axes+1]...)
		}
		var sum N
		if bias != nil {
			sum = bias[out[1]]
		}
		kerneltest.ForEachIndex(c.weights[1:], func(tap []int) {
			at := []int{out[0], out[1]/maps*c.weights[1] + tap[0]}
			for i := range axes {
				at = append(at, out[2+i]*c.window.Strides[i]+tap[1+i]*c.window.Dilations[i]-c.window.Pads[i])
			}
			if c.last {
				at = op.ChannelsLast(at)
			}
			if i := kerneltest.Flat(c.image, at); i >= 0 {
				sum += x[i] * w[kerneltest.Flat(c.weights, append([]int{out[1]}, tap...))]
			}
		})
		y = append(y, sum)
	})
	return y
}

var convTypes = []dtype.Type{dtype.Float32, dtype.Float64, dtype.Int32, dtype.Int64}

func TestConv(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for i := range kerneltest.Rounds(320) {
		dt := convTypes[i/2%len(convTypes)]
		c := aConv(rng)
		build := func(e finish) kernel.Kernel { return newConv(dt, params{optest.Unpadded(c.window), nil, c.group, e}) }
		if i%2 == 1 {
			c = c.withChannelsLast()
			build = func(e finish) kernel.Kernel { return newLast(dt, params{optest.Unpadded(c.window), nil, c.group, e}) }
		}
		reference := func(f [][]float64, n [][]int64) ([]float64, []int64) {
			if f != nil {
				return convReference(c, f[0], f[1], f[2]), nil
			}
			return nil, convReference(c, n[0], n[1], n[2])
		}
		testConv(t, rng, dt, c, c.weights[0], shape.Shape(c.weights[1:]).Elems(), build, reference)
	}
}

// testConv runs a convolution of terms products for each element with each tile
// kernel, with and without bias and prepacked weights, over images with any batch
// stride.
func testConv(t *testing.T, rng *rand.Rand, dt dtype.Type, c convCase, maps, terms int, build func(finish) kernel.Kernel,
	reference func([][]float64, [][]int64) ([]float64, []int64)) {
	t.Helper()
	dense, trailing := len(c.image)-1, len(c.image)-2
	if c.last {
		dense, trailing = 1, 0
	}
	x := kerneltest.StridedInput(rng, dt, dense, c.image...)
	w := kerneltest.Dense(dt, c.weights...)
	kerneltest.Randomize(rng, w)
	in := []*kernel.Operand{x, w, nil}
	switch rng.IntN(3) {
	case 0:
		in = in[:2]
	case 1:
		in[2] = kerneltest.Dense(dt, maps)
		kerneltest.Randomize(rng, in[2])
	}
	types := make([]graph.Type, len(in))
	for i, o := range in {
		if o != nil {
			types[i] = graph.Type{DType: dt, Shape: o.Shape}
		}
	}
	out := kerneltest.StridedOutput(rng, dt, dense, c.outputs...)
	outs := []*kernel.Operand{out}
	full := []*kernel.Operand{x, w, nil}
	copy(full, in)
	agrees := kerneltest.WantSums(dt, terms+1, full, reference) // the bias is one more
	for set := range kerneltest.Sets() {
		k := build(finishOf(nil, types, trailing))
		check := func(bound []*kernel.Operand) {
			t.Helper()
			intact := kerneltest.Guard(out)
			err := kerneltest.All(rng, k, bound, outs)
			if err == nil {
				err = intact()
			}
			if err == nil {
				err = agrees(out)
			}
			if err != nil {
				t.Fatalf("%s %v %v: %v", set, dt, c, err)
			}
			kerneltest.CheckAllocs(t, k, bound, outs)
		}
		check(in)
		if _, ok := k.(kernel.Prepacker); !ok {
			continue
		}
		plain := kerneltest.Bytes(out)
		if without := kerneltest.Prepack(k, in, outs, 1); without != nil {
			check(without)
			if !bytes.Equal(plain, kerneltest.Bytes(out)) {
				t.Fatalf("%s %v %v: prepacking the weights changes the result", set, dt, c)
			}
		}
	}
}

// transposedReference scatters every product of the transposed convolution
// over dense operands.
func transposedReference[N kerneltest.Ring](c convCase, x, w, bias []N) []N {
	size := 1
	for _, d := range c.outputs {
		size *= d
	}
	y := make([]N, size)
	maps, deep := c.weights[1], c.weights[0]/c.group
	if bias != nil {
		kerneltest.ForEachIndex(c.outputs, func(out []int) { y[kerneltest.Flat(c.outputs, out)] = bias[out[1]] })
	}
	kerneltest.ForEachIndex(c.image, func(in []int) {
		kerneltest.ForEachIndex(c.weights[1:], func(tap []int) {
			at := []int{in[0], in[1]/deep*maps + tap[0]}
			for i := range in[2:] {
				at = append(at, in[2+i]*c.window.Strides[i]+tap[1+i]*c.window.Dilations[i]-c.window.Pads[i])
			}
			if i := kerneltest.Flat(c.outputs, at); i >= 0 {
				y[i] += x[kerneltest.Flat(c.image, in)] * w[kerneltest.Flat(c.weights, append([]int{in[1]}, tap...))]
			}
		})
	})
	return y
}

func TestConvTranspose(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for i := range kerneltest.Rounds(160) {
		dt := convTypes[i%len(convTypes)]
		c := aConv(rng)
		c.window.Auto = slide.NotSet
		// The image of a convolution is the result of its transpose.
		c.image, c.outputs = c.outputs, c.image
		reference := func(f [][]float64, n [][]int64) ([]float64, []int64) {
			if f != nil {
				return transposedReference(c, f[0], f[1], f[2]), nil
			}
			return nil, transposedReference(c, n[0], n[1], n[2])
		}
		build := func(e finish) kernel.Kernel { return newConvTranspose(dt, params{c.window, nil, c.group, e}) }
		terms := c.weights[0] / c.group
		for _, d := range c.window.Taps {
			terms *= d
		}
		testConv(t, rng, dt, c, c.outputs[1], terms, build, reference)
	}
}

// TestConvTransposeBands has images that are cut into bands, whose windows overlap or lie
// apart.
func TestConvTransposeBands(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 6))
	for _, window := range []slide.Window{
		{Taps: []int{3, 2}, Strides: []int{2, 1}, Dilations: []int{1, 2}, Pads: []int{1, 0, 0, 1}},
		{Taps: []int{2, 2}, Strides: []int{2, 2}, Dilations: []int{1, 1}, Pads: []int{0, 0, 0, 0}},
		{Taps: []int{2, 3}, Strides: []int{5, 1}, Dilations: []int{2, 1}, Pads: []int{2, 2, 1, 1}},
	} {
		c := convCase{window: window, group: 2, image: []int{1, 6, 60, 90}, weights: []int{6, 4, window.Taps[0], window.Taps[1]}, outputs: []int{1, 8}}
		for axis, n := range c.image[2:] {
			c.outputs = append(c.outputs, (n-1)*window.Strides[axis]+(window.Taps[axis]-1)*window.Dilations[axis]+1-window.Pads[axis]-window.Pads[2+axis])
		}
		k := newConvTranspose(dtype.Float32, params{window, nil, c.group, finish{}}).(*convTranspose[float32])
		k.Bind([]*kernel.Operand{kerneltest.Dense(dtype.Float32, c.image...), kerneltest.Dense(dtype.Float32, c.weights...)}, []*kernel.Operand{kerneltest.Dense(dtype.Float32, c.outputs...)})
		if k.bands < 2 {
			t.Errorf("%v: one band", c)
		}
		build := func(e finish) kernel.Kernel { return newConvTranspose(dtype.Float32, params{window, nil, c.group, e}) }
		reference := func(f [][]float64, _ [][]int64) ([]float64, []int64) {
			return transposedReference(c, f[0], f[1], f[2]), nil
		}
		testConv(t, rng, dtype.Float32, c, c.outputs[1], 3*window.Taps[0]*window.Taps[1], build, reference)
	}
}

// TestBias compares a convolution with a bias, to the last bit, with one without to
// which it is added, also where the bias is summed among the taps.
func TestBias(t *testing.T) {
	race.SkipSequential(t)
	rng := rand.New(rand.NewPCG(4, 5))
	for i := range 200 {
		dt := convTypes[i%2]
		c := aConv(rng)
		x, w, b := kerneltest.Dense(dt, c.image...), kerneltest.Dense(dt, c.weights...), kerneltest.Dense(dt, c.weights[0])
		for _, o := range []*kernel.Operand{x, w, b} {
			kerneltest.Randomize(rng, o)
		}
		types := []graph.Type{{DType: dt, Shape: x.Shape}, {DType: dt, Shape: w.Shape}, {DType: dt, Shape: b.Shape}}
		for set := range kerneltest.Sets() {
			sum, biased := kerneltest.Dense(dt, c.outputs...), kerneltest.Dense(dt, c.outputs...)
			if err := kerneltest.Run(rng, newConv(dt, params{c.window, nil, c.group, finish{}}), []*kernel.Operand{x, w}, []*kernel.Operand{sum}); err != nil {
				t.Fatal(err)
			}
			if err := kerneltest.Run(rng, newConv(dt, params{c.window, nil, c.group, finishOf(nil, types, len(c.image)-2)}), []*kernel.Operand{x, w, b}, []*kernel.Operand{biased}); err != nil {
				t.Fatal(err)
			}
			plane, bias := shape.Shape(c.outputs[2:]).Elems(), kerneltest.Floats(b)
			got := kerneltest.Floats(biased)
			for j, v := range kerneltest.Floats(sum) {
				want := v + bias[j/plane%len(bias)]
				if dt == dtype.Float32 {
					want = float64(float32(want))
				}
				if math.Float64bits(got[j]) != math.Float64bits(want) {
					t.Fatalf("%s %v %v: element %d is %v, and the bias added to the sum %v", set, dt, c, j, got[j], want)
				}
			}
		}
	}
}

// TestImagesDoNotDependOnEachOther compares each image of a batch with a
// convolution of that image alone.
func TestImagesDoNotDependOnEachOther(t *testing.T) {
	race.SkipSequential(t)
	rng := rand.New(rand.NewPCG(4, 3))
	for i := range 60 {
		dt := convTypes[i%2]
		c := aConv(rng)
		c.image[0], c.outputs[0] = 5, 5
		x, w := kerneltest.Dense(dt, c.image...), kerneltest.Dense(dt, c.weights...)
		kerneltest.Randomize(rng, x)
		kerneltest.Randomize(rng, w)
		for set := range kerneltest.Sets() {
			k := newConv(dt, params{c.window, nil, c.group, finish{}})
			all := kerneltest.Dense(dt, c.outputs...)
			if err := kerneltest.Run(rng, k, []*kernel.Operand{x, w}, []*kernel.Operand{all}); err != nil {
				t.Fatal(err)
			}
			one := *x
			one.Shape = append([]int{1}, x.Shape[1:]...)
			for n := range 5 {
				one.Offset = n * x.Strides[0]
				out := kerneltest.Dense(dt, append([]int{1}, c.outputs[1:]...)...)
				if len(x.Data) == 0 {
					one.Offset = 0
				}
				if err := kerneltest.Run(rng, k, []*kernel.Operand{&one, w}, []*kernel.Operand{out}); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(out.Data, all.Data[n*len(out.Data):(n+1)*len(out.Data)]) {
					t.Fatalf("%s %v %v: image %d of 5 differs from the image alone", set, dt, c, n)
				}
			}
		}
	}
}

func benchmarkConv(b *testing.B, channels, maps, group, size, taps, stride int, prepacked, last bool) {
	rng := rand.New(rand.NewPCG(4, 4))
	pad := taps / 2
	w := slide.Window{Taps: []int{taps, taps}, Strides: []int{stride, stride}, Dilations: []int{1, 1}, Pads: []int{pad, pad, pad, pad}}
	out := (size+2*pad-taps)/stride + 1
	x := kerneltest.Dense(dtype.Float32, 1, channels, size, size)
	weights := kerneltest.Dense(dtype.Float32, maps, channels/group, taps, taps)
	bias := kerneltest.Dense(dtype.Float32, maps)
	y := kerneltest.Dense(dtype.Float32, 1, maps, out, out)
	build, trailing := newConv, 2
	if last {
		x, y = kerneltest.Dense(dtype.Float32, op.ChannelsLast(x.Shape)...), kerneltest.Dense(dtype.Float32, op.ChannelsLast(y.Shape)...)
		build, trailing = newLast, 0
	}
	for _, o := range []*kernel.Operand{x, weights, bias} {
		kerneltest.Randomize(rng, o)
	}
	types := []graph.Type{{DType: dtype.Float32, Shape: x.Shape}, {DType: dtype.Float32, Shape: weights.Shape}, {DType: dtype.Float32, Shape: bias.Shape}}
	for set := range kerneltest.Sets() {
		k := build(dtype.Float32, params{w, nil, group, finishOf(nil, types, trailing)})
		b.Run(set, func(b *testing.B) {
			kerneltest.BenchmarkTasks(b, k, []*kernel.Operand{x, weights, bias}, []*kernel.Operand{y}, prepacked, 2*maps*out*out*channels/group*taps*taps)
		})
	}
}

// BenchmarkConv reports the rate on one core; see BenchmarkMatMul of package linear for the
// peak.
func BenchmarkConv(b *testing.B) {
	for _, c := range []struct {
		name                                       string
		channels, maps, group, size, taps, strides int
	}{
		{"3x3/64x56x56", 64, 64, 1, 56, 3, 1},
		{"3x3/512x7x7", 512, 512, 1, 7, 3, 1},
		{"3x3stride2/128x56x56", 128, 128, 1, 56, 3, 2},
		{"3x3stride2/3x224x224", 3, 32, 1, 224, 3, 2},
		{"7x7stride2/3x224x224", 3, 64, 1, 224, 7, 2},
		{"3x3/8x224x224", 8, 8, 1, 224, 3, 1},
		{"3x3groups8/32x56x56", 32, 32, 8, 56, 3, 1},
		{"3x3/256x14x14", 256, 256, 1, 14, 3, 1},
		{"1x1/256x14x14", 256, 256, 1, 14, 1, 1},
		{"depthwise3x3/144x56x56", 144, 144, 144, 56, 3, 1},
		{"depthwise3x3stride2/144x56x56", 144, 144, 144, 56, 3, 2},
	} {
		b.Run(c.name, func(b *testing.B) {
			benchmarkConv(b, c.channels, c.maps, c.group, c.size, c.taps, c.strides, false, false)
		})
		if c.group == 1 {
			b.Run(c.name+"prepacked", func(b *testing.B) {
				benchmarkConv(b, c.channels, c.maps, c.group, c.size, c.taps, c.strides, true, false)
			})
		}
	}
}

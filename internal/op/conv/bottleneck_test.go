package conv_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/conv"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/slide"
)

// A bottleneckCase is a bottleneck with the convolutions that it does the work of.
type bottleneckCase struct {
	expand, filter, project *conv.Conv
	in                      []graph.Type // of the bottleneck
}

// aBottleneck returns a random one.
func aBottleneck(rng *rand.Rand, dt dtype.Type) bottleneckCase {
	program := func() (p elementwise.Program) {
		texts := []string{"", "t0=relu(x0)", "t0=add(x0,1:" + dt.String() + ");t1=mul(t0,x0)"}
		p.UnmarshalText([]byte(texts[rng.IntN(len(texts))]))
		return p
	}
	w, image, _ := optest.Window(rng, 2, 16)
	if rng.IntN(2) == 0 {
		for a := range w.Taps {
			w.Taps[a], w.Strides[a], w.Dilations[a] = 3+2*rng.IntN(2), 1+rng.IntN(2), 1
			w.Pads[a], w.Pads[2+a] = rng.IntN(3), rng.IntN(3)
			image[a] = w.Taps[a] + rng.IntN(30)
		}
		w.Auto = slide.NotSet
	}
	w = optest.Unpadded(w)
	if _, err := w.Positions(image, false); err != nil || min(image[0], image[1]) == 0 {
		return aBottleneck(rng, dt)
	}
	few := []int{1, 3, 8, 16, 40, 65, 130, 300}
	in, channels, out := few[rng.IntN(5)], few[rng.IntN(len(few))], few[rng.IntN(7)]
	c := bottleneckCase{filter: &conv.Conv{
		ChannelsLast: true, Group: channels, Strides: w.Strides, Pads: w.Pads, Dilations: w.Dilations, AutoPad: w.Auto, Epilogue: program(),
	}}
	c.in = make([]graph.Type, 7)
	set := func(i int, maps int, shape ...int) {
		c.in[i] = optest.Type(dt, append([]int{maps}, shape...)...)
		if rng.IntN(3) > 0 {
			c.in[i+1] = optest.Type(dt, maps)
		}
	}
	set(3, channels, 1, w.Taps[0], w.Taps[1])
	kind := rng.IntN(3)
	if kind == 2 {
		in = channels
	} else {
		c.expand = &conv.Conv{ChannelsLast: true, Epilogue: program()}
		set(1, channels, in, 1, 1)
	}
	if kind > 0 {
		c.project = &conv.Conv{ChannelsLast: true, Epilogue: program()}
		set(5, out, channels, 1, 1)
	}
	c.in[0] = optest.Type(dt, 1+rng.IntN(2), image[0], image[1], in)
	return c
}

// results computes the convolutions of a case one after the other.
func (c *bottleneckCase) results(t *testing.T, rng *rand.Rand, in []*kernel.Operand) *kernel.Operand {
	t.Helper()
	at, typ := in[0], c.in[0]
	for i, conv := range []*conv.Conv{c.expand, c.filter, c.project} {
		if conv == nil {
			continue
		}
		types := []graph.Type{typ, c.in[1+2*i], c.in[2+2*i]}
		if len(conv.Epilogue) == 0 && in[2+2*i] == nil {
			types = types[:2]
		}
		out, err := conv.Infer(types)
		if err != nil {
			t.Fatal(err)
		}
		y := kerneltest.Dense(typ.DType, out[0].Shape...)
		if err := kerneltest.Run(rng, conv.Kernel(types, out), []*kernel.Operand{at, in[1+2*i], in[2+2*i]}[:len(types)], []*kernel.Operand{y}); err != nil {
			t.Fatal(err)
		}
		at, typ = y, out[0]
	}
	return at
}

// TestBottleneck: a bottleneck has the bits of its convolutions one after the other, in
// every set, whatever the window, the bands and the strides of the operands, with weights
// that are prepacked and such that are not.
func TestBottleneck(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 31))
	for i := range kerneltest.Rounds(80) {
		dt := []dtype.Type{dtype.Float32, dtype.Float64}[i%2]
		c := aBottleneck(rng, dt)
		b, ok := conv.BottleneckOf(c.expand, c.filter, c.project)
		if !ok {
			t.Fatalf("no bottleneck of %+v", c)
		}
		out, err := b.Infer(c.in)
		if err != nil {
			t.Fatalf("%+v of %v: %v", b, c.in, err)
		}
		in := make([]*kernel.Operand, len(c.in))
		for j, typ := range c.in {
			switch {
			case j == 0:
				in[j] = kerneltest.StridedInput(rng, dt, 1, typ.Shape...)
			case typ.DType.Valid():
				in[j] = kerneltest.Dense(dt, typ.Shape...)
				kerneltest.Randomize(rng, in[j])
			}
		}
		y := kerneltest.StridedOutput(rng, dt, 1, out[0].Shape...)
		for set := range kerneltest.Sets() {
			want := c.results(t, rng, in)
			k := b.Kernel(c.in, out)
			intact := kerneltest.Guard(y)
			check := func(in []*kernel.Operand) {
				t.Helper()
				if err := kerneltest.All(rng, k, in, []*kernel.Operand{y}); err != nil {
					t.Fatal(err)
				}
				if err := intact(); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(kerneltest.Bytes(y), want.Data) {
					t.Fatalf("%s: %+v of %v differs from its convolutions", set, b, c.in)
				}
				kerneltest.CheckAllocs(t, k, in, []*kernel.Operand{y})
			}
			check(in)
			if k.Scratch() > 4<<20 {
				t.Errorf("%s: %+v of %v takes %d bytes of working memory", set, b, c.in, k.Scratch())
			}
			packed := in
			for _, j := range []int{1, 3, 5} {
				if in[j] != nil {
					packed = kerneltest.Prepack(k, packed, []*kernel.Operand{y}, j)
				}
			}
			check(packed)
		}
	}
}

// TestBottleneckBands: the working memory does not grow with the image, and images that are
// worth sharing are cut for several workers.
func TestBottleneckBands(t *testing.T) {
	for _, size := range []int{28, 224, 448} {
		types := []graph.Type{optest.Float32(1, size, size, 8), optest.Float32(96, 8, 1, 1), {}, optest.Float32(96, 1, 3, 3), {}, optest.Float32(8, 96, 1, 1)}
		b := conv.Bottleneck{}
		out, err := b.Infer(types)
		if err != nil {
			t.Fatal(err)
		}
		in := make([]*kernel.Operand, len(types))
		for i, typ := range types {
			if typ.DType.Valid() {
				in[i] = kerneltest.Dense(dtype.Float32, typ.Shape...)
			}
		}
		k := b.Kernel(types, out)
		k.Bind(in, []*kernel.Operand{kerneltest.Dense(dtype.Float32, out[0].Shape...)})
		if k.Scratch() > 2<<20 || k.Tasks() < 2 {
			t.Errorf("images of %d: %d tasks with %d bytes of working memory", size, k.Tasks(), k.Scratch())
		}
	}
}

// BenchmarkBottleneck measures bottlenecks of networks on one core, and their convolutions.
func BenchmarkBottleneck(b *testing.B) {
	relu6 := elementwise.Program{}
	relu6.UnmarshalText([]byte("t0=clip(x0,0:float32,6:float32)"))
	for _, c := range []struct{ in, channels, out, size, stride int }{
		{32, 32, 16, 112, 1}, {16, 96, 24, 112, 2}, {24, 144, 24, 56, 1}, {24, 144, 32, 56, 2}, {32, 192, 32, 28, 1}, {64, 384, 64, 14, 1},
	} {
		b.Run(fmt.Sprintf("%dto%dto%d/%d/stride%d", c.in, c.channels, c.out, c.size, c.stride), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(4, 32))
			o := conv.Bottleneck{Strides: []int{c.stride, c.stride}, Pads: []int{1, 1, 1, 1}, Expanded: relu6, Filtered: relu6}
			types := []graph.Type{
				optest.Float32(1, c.size, c.size, c.in), optest.Float32(c.channels, c.in, 1, 1), optest.Float32(c.channels), optest.Float32(c.channels, 1, 3, 3),
				optest.Float32(c.channels), optest.Float32(c.out, c.channels, 1, 1), optest.Float32(c.out),
			}
			if c.in == c.channels {
				types[1], types[2], o.Expanded = graph.Type{}, graph.Type{}, nil
			}
			in := make([]*kernel.Operand, len(types))
			for i, t := range types {
				if t.DType.Valid() {
					in[i] = kerneltest.Dense(t.DType, t.Shape...)
					kerneltest.Randomize(rng, in[i])
				}
			}
			out, err := o.Infer(types)
			if err != nil {
				b.Fatal(err)
			}
			y := []*kernel.Operand{kerneltest.Dense(dtype.Float32, out[0].Shape...)}
			k := o.Kernel(types, out)
			for _, i := range []int{1, 3, 5} {
				if in[i] != nil {
					in = kerneltest.Prepack(k, in, y, i)
				}
			}
			kerneltest.Benchmark(b, k, in, y)
			b.ReportMetric(2*float64(o.Products(types, out))*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

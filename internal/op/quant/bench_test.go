package quant

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op"
)

// benchmarkOp runs o over a and b, quantised with zero points, on one core, once for
// each set. It multiplies so many times.
func benchmarkOp(b *testing.B, o op.Computer, left, right *kernel.Operand, prepacked bool, times int) {
	rng := rand.New(rand.NewPCG(3, 4))
	zero := func(t dtype.Type) *kernel.Operand { return kerneltest.Of(t, []uint8{0}, 1) }
	in := []*kernel.Operand{left, right, kerneltest.Of(left.DType, []uint8{9}, 1), zero(right.DType), kerneltest.Of(dtype.Float32, []float32{1e-3}, 1), zero(dtype.Uint8)}
	for _, o := range in[:2] {
		kerneltest.Randomize(rng, o)
	}
	types := typesOf(in)
	out, err := o.Infer(types)
	if err != nil {
		b.Fatal(err)
	}
	y := kerneltest.Dense(out[0].DType, out[0].Shape...)
	for set := range kerneltest.Sets() {
		b.Run(set, func(b *testing.B) {
			kerneltest.BenchmarkTasks(b, o.Kernel(types, out), in, []*kernel.Operand{y}, prepacked, 2*times)
		})
	}
}

// BenchmarkMatMul reports the rate of products of [128, k] by prepacked weights. A core's
// peak with VNNI is its clock times 2 times 64 bytes times 2 starts in a cycle.
func BenchmarkMatMul(b *testing.B) {
	for _, s := range [][2]int{{384, 384}, {384, 1536}, {1536, 384}} {
		b.Run(fmt.Sprintf("128x%dx%d", s[0], s[1]), func(b *testing.B) {
			benchmarkOp(b, MatMul{To: dtype.Uint8}, kerneltest.Dense(dtype.Uint8, 128, s[0]), kerneltest.Dense(dtype.Int8, s[0], s[1]), true, 128*s[0]*s[1])
		})
	}
}

// BenchmarkConv reports the rate of convolutions of MobileNet: the first one, one of
// single elements, and two of single channels.
func BenchmarkConv(b *testing.B) {
	for _, c := range []struct{ channels, size, maps, taps, stride, group int }{
		{3, 224, 32, 3, 2, 1}, {96, 56, 24, 1, 1, 1}, {144, 56, 144, 3, 1, 144}, {960, 7, 960, 3, 1, 960},
	} {
		b.Run(fmt.Sprintf("%dx%d,%d,%dx%d", c.channels, c.size, c.maps, c.taps, c.taps), func(b *testing.B) {
			o := Conv{Strides: []int{c.stride, c.stride}, Pads: []int{c.taps / 2, c.taps / 2, c.taps / 2, c.taps / 2}, Group: c.group, To: dtype.Uint8}
			x, w := kerneltest.Dense(dtype.Uint8, 1, c.channels, c.size, c.size), kerneltest.Dense(dtype.Int8, c.maps, c.channels/c.group, c.taps, c.taps)
			positions := c.size * c.size / c.stride / c.stride
			benchmarkOp(b, o, x, w, c.taps == 1, positions*c.maps*c.channels/c.group*c.taps*c.taps)
		})
	}
}

// BenchmarkQuantize reports what it takes to quantise, and to add what is quantised.
func BenchmarkQuantize(b *testing.B) {
	const n = 1 << 16
	zero := kerneltest.Of(dtype.Uint8, []uint8{9}, 1)
	scale := kerneltest.Of(dtype.Float32, []float32{0.1}, 1)
	bytes := kerneltest.Dense(dtype.Uint8, n)
	for _, c := range []struct {
		o  op.Computer
		in []*kernel.Operand
	}{
		{Quantize{To: dtype.Uint8}, []*kernel.Operand{kerneltest.Dense(dtype.Float32, n), scale, zero}},
		{Dequantize{}, []*kernel.Operand{bytes, scale, zero}},
		{Add{}, []*kernel.Operand{bytes, scale, zero, bytes, scale, zero, scale, zero}},
	} {
		types := typesOf(c.in)
		out, err := c.o.Infer(types)
		if err != nil {
			b.Fatal(err)
		}
		y := kerneltest.Dense(out[0].DType, n)
		b.Run(c.o.(graph.Op).Name(), func(b *testing.B) {
			kerneltest.BenchmarkTasks(b, c.o.Kernel(types, out), c.in, []*kernel.Operand{y}, false, n)
		})
	}
}

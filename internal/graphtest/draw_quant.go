package graphtest

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/quant"
	"github.com/berth-go/berth/shape"
)

var eightBits = []dtype.Type{dtype.Int8, dtype.Uint8}

// quantised returns the inputs of an op of package quant: two operands, zero points of
// the given shapes, and what makes a result of type to.
func (b *builder) quantised(to dtype.Type, x, y graph.Value, zeroX, zeroY, scale shape.Shape) []graph.Value {
	in := []graph.Value{
		x, y,
		b.maybe(graph.Type{DType: x.Type().DType, Shape: zeroX}),
		b.maybe(graph.Type{DType: y.Type().DType, Shape: zeroY}),
		{}, {},
		b.maybe(graph.Type{DType: dtype.Int32, Shape: scale}),
	}
	if to != dtype.Invalid {
		in[4] = b.of(graph.Type{DType: dtype.Float32, Shape: scale})
		in[5] = b.maybe(graph.Type{DType: to, Shape: shape.Shape{}})
	}
	return in
}

// quantTo returns a type of results: one of 8 bits, or none for int32.
func (b *builder) quantTo() dtype.Type {
	if b.oneIn(3) {
		return dtype.Invalid
	}
	return b.typ(eightBits)
}

func quantMatMul(b *builder, x graph.Value) ([]graph.Value, error) {
	s := x.Type().Shape
	if len(s) < 2 {
		return nil, nil
	}
	x = b.cast(x, b.typ(eightBits))
	y := x
	if rows := s[len(s)-1]; b.oneIn(2) {
		y = b.of(graph.Type{DType: b.typ(eightBits), Shape: shape.Shape{rows, b.extent()}})
	} else {
		y = b.transposed(x)
	}
	m, n := s[len(s)-2], y.Type().Shape[len(y.Type().Shape)-1]
	to := b.quantTo()
	zeroX, zeroY := []shape.Shape{{}, {m, 1}}[b.rng.IntN(2)], []shape.Shape{{}, {n}}[b.rng.IntN(2)]
	scale := []shape.Shape{{}, {n}, {m, 1}}[b.rng.IntN(3)]
	return b.tame(ops.Apply(quant.MatMul{To: to}, b.quantised(to, x, y, zeroX, zeroY, scale)...))
}

func quantConv(b *builder, x graph.Value) ([]graph.Value, error) {
	x = b.cast(b.image(x), b.typ(eightBits))
	s := x.Type().Shape
	taps, strides, pads, dilations := b.sliding(len(s) - 2)
	group := 1
	if b.oneIn(3) {
		group = max(s[1], 1)
	}
	out := group * (1 + b.rng.IntN(3))
	weights := b.of(graph.Type{DType: b.typ(eightBits), Shape: append(shape.Shape{out, s[1] / group}, taps...)})
	to := b.quantTo()
	channels := []shape.Shape{{}, {out}}
	o := quant.Conv{Strides: strides, Pads: pads, Dilations: dilations, Group: group, To: to}
	return b.tame(ops.Apply(o, b.quantised(to, x, weights, shape.Shape{}, channels[b.rng.IntN(2)], channels[b.rng.IntN(2)])...))
}

// oneOrEach returns a shape that broadcasts to s: of one number, or of one for each index
// of the last axis.
func (b *builder) oneOrEach(s shape.Shape) shape.Shape {
	if len(s) == 0 || b.oneIn(2) {
		return shape.Shape{}
	}
	return shape.Shape{s[len(s)-1]}
}

func quantize(b *builder, x graph.Value) ([]graph.Value, error) {
	x = b.cast(x, dtype.Float32)
	to, each := b.typ(eightBits), b.oneOrEach(x.Type().Shape)
	scale, zero := b.of(graph.Type{DType: dtype.Float32, Shape: each}), b.maybe(graph.Type{DType: to, Shape: each})
	return b.tame(ops.Apply(quant.Quantize{To: to}, x, scale, zero))
}

func dequantize(b *builder, x graph.Value) ([]graph.Value, error) {
	x = b.cast(x, b.typ([]dtype.Type{dtype.Int8, dtype.Uint8, dtype.Int32}))
	each := b.oneOrEach(x.Type().Shape)
	scale, zero := b.of(graph.Type{DType: dtype.Float32, Shape: each}), b.maybe(graph.Type{DType: x.Type().DType, Shape: each})
	return b.tame(ops.Apply(quant.Dequantize{}, x, scale, zero))
}

func quantAdd(b *builder, x graph.Value) ([]graph.Value, error) {
	x = b.cast(x, b.typ(eightBits))
	t := x.Type().DType
	y := b.of(graph.Type{DType: t, Shape: b.oneOrEach(x.Type().Shape)})
	scale := func() graph.Value { return b.of(graph.Type{DType: dtype.Float32, Shape: shape.Shape{}}) }
	zero := func() graph.Value { return b.maybe(graph.Type{DType: t, Shape: shape.Shape{}}) }
	return b.tame(ops.Apply(quant.Add{}, x, scale(), zero(), y, scale(), zero(), scale(), zero()))
}

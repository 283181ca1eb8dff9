package main

import (
	"slices"

	"github.com/berth-go/berth/internal/wire"
)

var quantGenerators = map[string]generator{
	"QuantizeLinear": {10, quantize}, "DequantizeLinear": {10, dequantize}, "DynamicQuantizeLinear": {11, dynamicQuantize},
	"MatMulInteger": {10, matMulInteger}, "ConvInteger": {10, convInteger}, "QLinearConv": {10, qLinearConv}, "QLinearMatMul": {10, qLinearMatMul},

	"com.microsoft.DynamicQuantizeMatMul": {7, dynamicQuantizeMatMul}, "com.microsoft.MatMulIntegerToFloat": {7, matMulIntegerToFloat},
	"com.microsoft.QGemm":      {7, qGemm},
	"com.microsoft.QLinearAdd": {7, qLinearBinary}, "com.microsoft.QLinearMul": {7, qLinearBinary},
	"com.microsoft.QLinearAveragePool": {7, qLinearPool}, "com.microsoft.QLinearGlobalAveragePool": {7, qLinearGlobalPool},
	"com.microsoft.QLinearConcat": {7, qLinearConcat}, "com.microsoft.QLinearLeakyRelu": {7, qLinearUnary},
	"com.microsoft.QLinearSigmoid": {7, qLinearUnary}, "com.microsoft.QLinearSoftmax": {10, qLinearSoftmax}, "com.microsoft.QLinearWhere": {7, qLinearWhere},
}

// bytes are the types of 8-bit integers.
var bytes8 = []wire.DataType{wire.Uint8, wire.Int8}

// codes adds an input of integers over the whole range of their type.
func (d *draw) codes(t wire.DataType, dims []int64) {
	v := wire.Tensor{DataType: t, Dims: dims}
	for range elements(&v) {
		v.Raw = appendInt(v.Raw, t, int64(d.Uint64()))
	}
	d.add(v, false)
}

// scale adds a scale, of rank 0 or of n elements.
func (d *draw) scale(n int64) {
	dims := []int64{}
	if n > 0 {
		dims = []int64{n}
	}
	d.add(numbersOf(wire.Float, dims, func() float64 { return 0.01 + d.Float64()/10 }), true)
}

// zero adds a zero point.
func (d *draw) zero(t wire.DataType, n int64) {
	dims := []int64{}
	if n > 0 {
		dims = []int64{n}
	}
	v := wire.Tensor{DataType: t, Dims: dims}
	for range elements(&v) {
		v.Raw = appendInt(v.Raw, t, int64(d.IntN(60)))
	}
	d.add(v, true)
}

func quantize(d *draw) {
	t := one(d, wire.Float, wire.Float, wire.Float16)
	if d.opset < 19 { // from 19 to 22 the scale is of the type of the input
		t = one(d, t, wire.Int32)
	}
	u := one(d, wire.Uint8, wire.Int8)
	if d.opset >= 21 {
		u = one(d, wire.Uint8, wire.Int8, wire.Uint16, wire.Int16)
	}
	dims := d.shape(0, 4)
	var n int64
	if d.opset >= 13 && len(dims) > 0 && d.coin() {
		axis := d.IntN(len(dims))
		dims[axis] = max(dims[axis], 1)
		n = dims[axis]
		d.int("axis", int64(axis))
	}
	scaleType := wire.Float
	if d.opset < 19 && t == wire.Float16 {
		t = wire.Float
	}
	if t == wire.Float16 {
		scaleType = t
	}
	d.input(t, dims)
	s := []int64{}
	if n > 0 {
		s = []int64{n}
	}
	d.add(numbersOf(scaleType, s, func() float64 { return one(d, 0.25, 0.1, 1, 0.5) }), true)
	d.tol = tolerance{}
	if d.opset < 21 || d.coin() {
		d.zero(u, n)
	} else {
		d.int("output_dtype", int64(u))
	}
	d.output(u)
}

func dequantize(d *draw) {
	u := one(d, wire.Uint8, wire.Int8, wire.Int32)
	if d.opset >= 21 {
		u = one(d, u, wire.Uint16, wire.Int16)
	}
	dims := d.shape(0, 4)
	var n, block int64
	scales := []int64{}
	if d.opset >= 13 && len(dims) > 0 && d.coin() {
		axis := d.IntN(len(dims))
		dims[axis] = max(dims[axis], 1)
		n = dims[axis]
		scales = []int64{n}
		if d.opset >= 21 && d.coin() && !slices.Contains(dims, 0) {
			block = 2
			scales = slices.Clone(dims)
			scales[axis] = (dims[axis] + 1) / 2
			d.int("block_size", block)
		}
		d.int("axis", int64(axis))
	}
	d.codes(u, dims)
	d.add(numbersOf(wire.Float, scales, func() float64 { return 0.01 + d.Float64()/10 }), true)
	if u == wire.Int32 && block == 0 {
		d.maybe(func() { d.add(numbersOf(u, scales, func() float64 { return 0 }), true) })
	} else if u != wire.Int32 {
		d.maybe(func() { d.add(numbersOf(u, scales, func() float64 { return float64(d.IntN(60)) }), true) })
	}
	d.output(wire.Float)
}

func dynamicQuantize(d *draw) {
	d.wild = false
	d.input(wire.Float, d.solid(0, 3))
	d.output(wire.Uint8, wire.Float, wire.Uint8)
	d.tol = tolerance{epsilons: 1}
}

func matMulInteger(d *draw) {
	t, u := one(d, bytes8...), one(d, bytes8...)
	m, k, n := d.full(), d.full(), d.full()
	batch := d.shape(0, 2)
	d.codes(t, append(slices.Clone(batch), m, k))
	d.codes(u, append(d.subshape(batch), k, n))
	d.maybe(func() {
		d.zero(t, 0)
		d.maybe(func() { d.zero(u, 0) })
	})
	d.output(wire.Int32)
}

// qConv adds an image and the weights of a convolution, which f follows each with what
// belongs to it.
func qConv(d *draw, t, u wire.DataType, f func(i int, out int64)) {
	kernel := d.kernel(2)
	group := one[int64](d, 1, 1, 2)
	d.int("group", group)
	image := d.window(2, kernel, true)
	in, out := 1+d.Int64N(3), group*(1+d.Int64N(3))
	d.codes(t, append([]int64{d.full(), group * in}, image...))
	f(0, out)
	v := wire.Tensor{DataType: u, Dims: append([]int64{out, in}, kernel...)}
	for range elements(&v) {
		v.Raw = appendInt(v.Raw, u, int64(d.IntN(127)-63))
	}
	d.add(v, true)
	f(1, out)
}

func convInteger(d *draw) {
	u := one(d, wire.Uint8, wire.Int8)
	qConv(d, wire.Uint8, u, func(int, int64) {})
	d.maybe(func() {
		d.zero(wire.Uint8, 0)
		d.maybe(func() { d.zero(u, 0) })
	})
	d.output(wire.Int32)
}

func qLinearConv(d *draw) {
	t := one(d, bytes8...)
	u := one(d, wire.Int8, t)
	channels := int64(0)
	qConv(d, t, u, func(i int, out int64) {
		n := int64(0)
		if i == 1 {
			channels = out
			n = one(d, 0, out)
		}
		d.scale(n)
		if i == 0 {
			d.zero(t, 0)
		} else if u == wire.Int8 {
			dims := []int64{}
			if n > 0 {
				dims = []int64{n}
			}
			d.add(numbersOf(u, dims, func() float64 { return 0 }), true)
		} else {
			d.zero(u, 0)
		}
	})
	d.add(numbersOf(wire.Float, []int64{}, func() float64 { return 0.05 + d.Float64() }), true)
	d.zero(t, 0)
	d.maybe(func() {
		d.add(numbersOf(wire.Int32, []int64{channels}, func() float64 { return float64(d.IntN(2000) - 1000) }), true)
	})
	d.output(t)
	d.tol = step
}

func qLinearMatMul(d *draw) {
	t := one(d, bytes8...)
	u := one(d, wire.Int8, t)
	m, k, n := d.full(), d.full(), d.full()
	batch := d.solid(0, 2)
	d.codes(t, append(slices.Clone(batch), m, k))
	d.scale(0)
	d.zero(t, 0)
	d.codes(u, append(slices.Clone(batch), k, n))
	d.scale(0)
	d.zero(u, 0)
	d.add(numbersOf(wire.Float, []int64{}, func() float64 { return 0.1 + d.Float64() }), true)
	d.zero(t, 0)
	d.output(t)
	d.tol = step
}

func dynamicQuantizeMatMul(d *draw) {
	d.bounded()
	d.tol = tolerance{epsilons: 1 << 14, sums: true}
	u := one(d, bytes8...)
	k, n := d.full(), d.full()
	d.input(wire.Float, append(d.solid(1, 2), k))
	d.codes(u, []int64{k, n})
	channels := one(d, 0, n)
	d.scale(channels)
	if d.coin() {
		d.zero(u, channels)
	} else {
		d.absent()
	}
	d.maybe(func() { d.input(wire.Float, []int64{n}) })
	d.output(wire.Float)
}

func matMulIntegerToFloat(d *draw) {
	d.bounded()
	t, u := one(d, bytes8...), one(d, bytes8...)
	k, n := d.full(), d.full()
	d.codes(t, append(d.solid(1, 2), k))
	d.codes(u, []int64{k, n})
	d.scale(0)
	channels := one(d, 0, n)
	d.scale(channels)
	d.zero(t, 0)
	d.zero(u, channels)
	d.maybe(func() { d.input(wire.Float, []int64{n}) })
	d.output(wire.Float)
}

func qGemm(d *draw) {
	t := one(d, bytes8...)
	u := one(d, wire.Int8, t)
	m, k, n := d.full(), d.full(), d.full()
	a, b := []int64{m, k}, []int64{k, n}
	d.maybe(func() { d.int("transA", 1); a[0], a[1] = k, m })
	d.maybe(func() { d.int("transB", 1); b[0], b[1] = n, k })
	d.maybe(func() { d.float("alpha", 0.5) })
	d.codes(t, a)
	d.scale(0)
	d.zero(t, 0)
	d.codes(u, b)
	d.scale(0)
	d.zero(u, 0)
	if d.coin() {
		d.add(numbersOf(wire.Int32, []int64{n}, func() float64 { return float64(d.IntN(2000) - 1000) }), true)
	} else {
		d.absent()
	}
	if d.tol = step; d.coin() {
		d.add(numbersOf(wire.Float, []int64{}, func() float64 { return 0.1 + d.Float64() }), true)
		d.zero(t, 0)
		d.output(t)
	} else {
		d.output(wire.Float)
	}
}

func (d *draw) quantised(t wire.DataType, dims []int64) {
	d.codes(t, dims)
	d.scale(0)
	d.zero(t, 0)
}

func qLinearBinary(d *draw) {
	t := one(d, bytes8...)
	dims := d.solid(1, 4)
	d.quantised(t, dims)
	d.quantised(t, d.subshape(dims))
	d.scale(0)
	d.zero(t, 0)
	d.output(t)
	d.tol = step
}

func qLinearPool(d *draw) {
	t := one(d, bytes8...)
	kernel := d.kernel(2)
	d.ints("kernel_shape", kernel...)
	d.maybe(func() { d.int("count_include_pad", 1) })
	image := d.window(2, kernel, false)
	d.quantised(t, append([]int64{d.full(), d.full()}, image...))
	d.scale(0)
	d.zero(t, 0)
	d.output(t)
	d.tol = step
}

func qLinearGlobalPool(d *draw) {
	t := one(d, bytes8...)
	d.maybe(func() { d.int("channels_last", d.Int64N(2)) })
	d.quantised(t, []int64{d.full(), d.full(), d.full(), d.full()})
	d.scale(0)
	d.zero(t, 0)
	d.output(t)
	d.tol = step
}

func qLinearConcat(d *draw) {
	t := one(d, bytes8...)
	dims := d.solid(1, 4)
	axis := d.IntN(len(dims))
	d.int("axis", int64(axis))
	d.scale(0)
	d.zero(t, 0)
	for range 1 + d.IntN(3) {
		dims = slices.Clone(dims)
		dims[axis] = d.full()
		d.quantised(t, dims)
	}
	d.output(t)
	d.tol = step
}

func qLinearUnary(d *draw) {
	t := one(d, bytes8...)
	if d.node.OpType == "QLinearLeakyRelu" {
		d.maybe(func() { d.float("alpha", 0.2) })
	}
	d.quantised(t, d.solid(0, 4))
	d.add(numbersOf(wire.Float, []int64{}, func() float64 { return 1. / 256 }), true)
	d.zero(t, 0)
	d.output(t)
	d.tol = step
}

func qLinearSoftmax(d *draw) {
	t := one(d, bytes8...)
	dims := d.solid(1, 4)
	d.int("axis", int64(d.IntN(len(dims))))
	d.int("opset", d.opset)
	d.quantised(t, dims)
	d.add(numbersOf(wire.Float, []int64{}, func() float64 { return 1. / 256 }), true)
	d.zero(t, 0)
	d.output(t)
	d.tol = step
}

func qLinearWhere(d *draw) {
	t := one(d, bytes8...)
	dims := d.solid(1, 4)
	d.input(wire.Bool, d.subshape(dims))
	d.quantised(t, dims)
	d.quantised(t, d.subshape(dims))
	d.scale(0)
	d.zero(t, 0)
	d.output(t)
	d.tol = step
}

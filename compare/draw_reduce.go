package main

import "github.com/berth-go/berth/internal/wire"

var reduceGenerators = merged(
	reductions(18, "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSumSquare"),
	reductions(13, "ReduceSum"),
	map[string]generator{
		"ArgMax": {7, argReduce}, "ArgMin": {7, argReduce},
		"TopK": {7, topK}, "CumSum": {11, cumSum},
		"Hardmax": {7, alongAxis}, "Softmax": {7, alongAxis}, "LogSoftmax": {7, alongAxis},
	})

// reductions draws operators whose axes are an input since a version.
func reductions(input int64, names ...string) map[string]generator {
	all := make(map[string]generator)
	for _, name := range names {
		all[name] = generator{7, func(d *draw) { reduction(d, input) }}
	}
	return all
}

func reduction(d *draw, input int64) {
	t := one(d, wire.Float, wire.Float, wire.Double, wire.Float16, wire.Int32, wire.Int64, wire.Int8, wire.Uint8)
	if d.node.OpType[6:] == "Max" || d.node.OpType[6:] == "Min" {
		t = one(d, append([]wire.DataType{wire.Bool}, numeric...)...)
	}
	dims := d.shape(0, 4)
	axes := d.axes(len(dims), d.opset >= 11)
	d.maybe(func() { d.int("keepdims", d.Int64N(2)) })
	switch d.node.OpType {
	case "ReduceLogSum":
		d.positive(t, dims)
	default:
		d.wild = d.wild && isFloat(t)
		d.input(t, dims)
	}
	switch {
	case d.opset >= input:
		d.maybe(func() { d.int("noop_with_empty_axes", d.Int64N(2)) })
		d.maybe(func() { d.list(wire.Int64, axes...) })
	case len(axes) > 0:
		d.ints("axes", axes...)
	}
	d.output(t)
	d.tol = sums
}

func argReduce(d *draw) {
	t := one(d, wire.Float, wire.Float, wire.Double, wire.Float16, wire.Int32, wire.Int64, wire.Int8, wire.Uint8)
	dims := d.solid(1, 4)
	axis := d.Int64N(int64(len(dims)))
	if d.opset >= 11 {
		axis = d.axis(len(dims))
	}
	d.maybe(func() { d.int("axis", axis) })
	d.maybe(func() { d.int("keepdims", d.Int64N(2)) })
	if d.opset >= 12 {
		d.maybe(func() { d.int("select_last_index", d.Int64N(2)) })
	}
	d.add(numbersOf(t, dims, func() float64 { return float64(d.IntN(6)) }), false)
	d.output(wire.Int64)
}

func topK(d *draw) {
	t := one(d, wire.Float, wire.Double, wire.Int64, wire.Int32)
	dims := d.solid(1, 4)
	axis := d.IntN(len(dims))
	k := d.Int64N(dims[axis] + 1)
	if d.opset < 10 {
		t, k = wire.Float, max(k, 1)
		d.int("k", k)
	}
	d.int("axis", int64(axis))
	if d.opset >= 11 {
		d.maybe(func() { d.int("largest", d.Int64N(2)) })
		d.maybe(func() { d.int("sorted", 1) })
	}
	d.wild = false
	d.add(numbersOf(t, dims, func() float64 { return float64(d.IntN(9)) }), false)
	if d.opset >= 10 {
		d.list(wire.Int64, k)
	}
	d.output(t, wire.Int64)
}

func cumSum(d *draw) {
	t := one(d, wire.Float, wire.Double, wire.Int32, wire.Int64)
	dims := d.shape(1, 4)
	d.maybe(func() { d.int("exclusive", d.Int64N(2)) })
	d.maybe(func() { d.int("reverse", d.Int64N(2)) })
	d.input(t, dims)
	d.scalar(one(d, indices...), float64(d.axis(len(dims))))
	d.output(t)
	d.tol = sums
}

func alongAxis(d *draw) {
	t := one(d, floats...)
	dims := d.shape(1, 4)
	d.maybe(func() {
		if d.opset >= 11 {
			d.int("axis", d.axis(len(dims)))
		} else {
			d.int("axis", d.Int64N(int64(len(dims))))
		}
	})
	if len(dims) == 1 && len(d.node.Attributes) == 0 {
		d.int("axis", 0)
	}
	d.input(t, dims)
	d.output(t)
}

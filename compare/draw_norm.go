package main

import "github.com/berth-go/berth/internal/wire"

var normGenerators = map[string]generator{
	"BatchNormalization": {7, batchNorm}, "InstanceNormalization": {7, instanceNorm}, "GroupNormalization": {18, groupNorm},
	"LRN": {7, lrn}, "LayerNormalization": {17, layerNorm}, "LpNormalization": {7, lpNorm},
	"MeanVarianceNormalization": {9, meanVariance}, "RMSNormalization": {23, rmsNorm}, "SimplifiedLayerNormalization": {7, rmsNorm},
	"NegativeLogLikelihoodLoss": {12, loss}, "SoftmaxCrossEntropyLoss": {12, loss},
}

func (d *draw) epsilon() {
	d.maybe(func() { d.float("epsilon", one(d, 1e-3, 1e-1)) })
}

// channels adds an image with channels along axis 1, which it returns the number of.
func (d *draw) channels(t wire.DataType) int64 {
	d.bounded()
	d.tol = rough
	c := d.full()
	d.input(t, append([]int64{d.full(), c}, d.solid(1, 3)...))
	return c
}

func batchNorm(d *draw) {
	t := one(d, floats...)
	d.epsilon()
	c := d.channels(t)
	for range 3 {
		d.input(t, []int64{c})
	}
	d.positive(t, []int64{c})
	d.output(t)
}

func instanceNorm(d *draw) {
	t := one(d, wire.Float, wire.Float16)
	d.epsilon()
	c := d.channels(t)
	d.input(t, []int64{c})
	d.input(t, []int64{c})
	d.output(t)
}

func groupNorm(d *draw) {
	t := one(d, floats...)
	d.bounded()
	d.tol = rough
	d.epsilon()
	groups := 1 + d.Int64N(3)
	c := groups * (1 + d.Int64N(3))
	d.int("num_groups", groups)
	d.input(t, append([]int64{d.full(), c}, d.solid(1, 3)...))
	n := c
	if d.opset < 21 {
		n = groups
	}
	d.input(t, []int64{n})
	d.input(t, []int64{n})
	d.output(t)
}

func lrn(d *draw) {
	d.int("size", one[int64](d, 1, 3, 5))
	d.maybe(func() { d.float("alpha", one(d, 0.01, 1)) })
	d.maybe(func() { d.float("beta", one(d, 0.5, 1)) })
	d.maybe(func() { d.float("bias", one(d, 0.5, 2)) })
	d.bounded()
	d.input(wire.Float, []int64{d.full(), d.full(), d.full(), d.full()})
	d.output(wire.Float)
}

func layerNorm(d *draw) {
	t := one(d, floats...)
	d.bounded()
	d.tol = rough
	d.epsilon()
	dims := d.solid(1, 4)
	axis := len(dims) - 1
	d.maybe(func() {
		axis = d.IntN(len(dims))
		d.int("axis", int64(one(d, axis, axis-len(dims))))
	})
	d.input(t, dims)
	d.input(t, dims[axis:])
	d.maybe(func() { d.input(t, dims[axis:]) })
	d.output(t)
	if t != wire.Float16 {
		d.maybe(func() { d.output(wire.Float, wire.Float) })
	}
}

func rmsNorm(d *draw) {
	t := one(d, floats...)
	d.bounded()
	d.tol = rough
	d.epsilon()
	dims := d.solid(1, 4)
	axis := len(dims) - 1
	d.maybe(func() {
		axis = d.IntN(len(dims))
		d.int("axis", int64(axis))
	})
	d.input(t, dims)
	d.input(t, dims[axis:])
	d.output(t)
}

func lpNorm(d *draw) {
	t := one(d, singles...)
	d.bounded()
	dims := d.shape(1, 4)
	d.maybe(func() { d.int("axis", d.Int64N(int64(len(dims)))) })
	d.maybe(func() { d.int("p", 1+d.Int64N(2)) })
	d.input(t, dims)
	d.output(t)
}

func meanVariance(d *draw) {
	d.maybe(func() { d.ints("axes", one(d, []int64{0, 2, 3}, []int64{1, 2}, []int64{3})...) })
	d.bounded()
	d.tol = rough
	d.input(wire.Float, []int64{d.full(), d.full(), 2 + d.Int64N(3), 2 + d.Int64N(3)})
	d.output(wire.Float)
}

func loss(d *draw) {
	d.bounded()
	t := one(d, singles...)
	u := one(d, indices...)
	reduction := one(d, "mean", "sum", "none")
	d.maybe(func() { d.str("reduction", reduction) })
	d.maybe(func() { d.int("ignore_index", d.Int64N(3)) })
	n, c := d.full(), 1+d.full()
	rest := d.solid(0, 2)
	d.input(t, append([]int64{n, c}, rest...))
	d.index(u, append([]int64{n}, rest...), c, false)
	d.maybe(func() { d.positive(t, []int64{c}) })
	d.output(t)
	if d.node.OpType == "SoftmaxCrossEntropyLoss" {
		d.maybe(func() { d.output(t) })
	}
}

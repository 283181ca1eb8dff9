package onnx

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/pool"
	"github.com/berth-go/berth/internal/op/slide"
	"github.com/berth-go/berth/shape"
)

// poolOps are the reductions of windows and whole planes of images.
var poolOps = []row{
	{"", "MaxPool", 1, 1, 1, convertMaxPool},
	{"", "AveragePool", 1, 1, 1, convertAveragePool},
	{"", "LpPool", 1, 1, 1, convertLpPool},
	{"", "GlobalMaxPool", 1, 1, 1, convertGlobalPool(pool.Max)},
	{"", "GlobalAveragePool", 1, 1, 1, convertGlobalPool(pool.Average)},
	{"", "GlobalLpPool", 1, 1, 1, convertGlobalPool(pool.Lp)},
	{"", "MaxRoiPool", 1, 2, 2, opOf(maxRoiPool)},
	{"", "MaxUnpool", 9, 2, 3, convertMaxUnpool},
}

// pool returns the attributes that all poolings share. Rounding up changes
// nothing where the padding is automatic: the specification gives those
// outputs the same extent either way.
func (c *call) pool(kind pool.Kind) pool.Pool {
	c.require("kernel_shape")
	w := c.window()
	return pool.Pool{
		Kind:        kind,
		KernelShape: w.taps, Strides: w.strides, Pads: w.pads, Dilations: w.dilations, AutoPad: w.auto,
		CeilMode: c.flag("ceil_mode", false) && w.auto == slide.NotSet,
	}
}

func convertMaxPool(c *call) []graph.Value {
	c.attrSince(8, "storage_order")
	c.attrSince(10, "ceil_mode", "dilations")
	p := c.pool(pool.Max)
	p.StorageOrder = c.int("storage_order", 0)
	p.Indices = c.opset() >= 8 && c.wants(1)
	return c.all(p, c.in[0])
}

func convertAveragePool(c *call) []graph.Value {
	c.attrSince(7, "count_include_pad")
	c.attrSince(10, "ceil_mode")
	c.attrSince(19, "dilations")
	p := c.pool(pool.Average)
	p.CountIncludePad = c.flag("count_include_pad", false)
	return list(c.one(p, c.in[0]))
}

func convertLpPool(c *call) []graph.Value {
	c.attrSince(18, "ceil_mode", "dilations")
	p := c.pool(pool.Lp)
	p.P = c.exponent()
	return list(c.one(p, c.in[0]))
}

func convertGlobalPool(kind pool.Kind) converter {
	return func(c *call) []graph.Value {
		p := pool.GlobalPool{Kind: kind}
		if kind == pool.Lp {
			p.P = c.exponent()
		}
		return list(c.one(p, c.in[0]))
	}
}

func maxRoiPool(c *call) graph.Op {
	c.require("pooled_shape")
	bins := c.orAll("pooled_shape", 2, 1)
	return pool.MaxRoi{Height: bins[0], Width: bins[1], Scale: c.float("spatial_scale", 1)}
}

// exponent returns the attribute p of Lp poolings, which became an integer
// with version 2.
func (c *call) exponent() float64 {
	p := 2.0
	if c.opset() < 2 {
		p = c.float("p", 2)
	} else {
		p = float64(c.int("p", 2))
	}
	if p <= 0 {
		c.failf("attribute p is %v, want a positive number", p)
	}
	return p
}

// convertMaxUnpool puts elements where a MaxPool found them. The indices
// count the elements of the image that the attributes give; where the third
// input asks for a larger one, that image is padded at its end.
func convertMaxUnpool(c *call) []graph.Value {
	x, indices := c.in[0], c.in[1]
	taps := c.ints("kernel_shape")
	axes := c.rank(0) - 2
	if axes < 1 || len(taps) != axes {
		c.failf("kernel_shape %v does not fit input %v", taps, x.Type())
	}
	strides, pads := c.orAll("strides", axes, 1), c.orAll("pads", 2*axes, 0)
	image := c.shape(0).Clone()
	for i := range axes {
		check(shape.Shape{image[2+i], strides[i]}.Check())
		image[2+i] = (image[2+i]-1)*strides[i] + taps[i] - pads[i] - pads[axes+i]
	}
	check(image.Check())
	elems := image.Elems()
	flat := func(v graph.Value) graph.Value { return c.reshape(v, v.Type().Shape.Elems()) }
	zeros := c.one(move.Fill{Shape: []int{elems}, Value: zeroOf(x.Type().DType)})
	out := c.one(move.ScatterElements{}, zeros, flat(indices), flat(x))
	out = c.reshape(out, image...)
	if !c.has(2) {
		return list(out)
	}
	full := c.known(2)
	if len(full) != len(image) {
		c.failf("output shape %v has %d axes, the input %d", full, len(full), len(image))
	}
	more := make([]int, 2*len(image))
	for i, n := range full {
		if more[len(image)+i] = n - image[i]; n < image[i] {
			c.failf("output shape %v is less than %v", full, image)
		}
	}
	return list(c.one(move.Pad{Pads: more}, out))
}

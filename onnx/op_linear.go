package onnx

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/conv"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/slide"
	"github.com/berth-go/berth/shape"
)

// linearOps are the matrix products and convolutions.
var linearOps = []row{
	{"", "MatMul", 1, 2, 2, opOf(func(*call) graph.Op { return linear.MatMul{} })},
	{"", "Gemm", 1, 3, 3, convertGemm},
	{"", "Gemm", 11, 2, 3, convertGemm},
	{"", "Conv", 1, 2, 3, opOf(convolution)},
	{"", "ConvTranspose", 1, 2, 3, convertConvTranspose},
	{"", "DeformConv", 19, 3, 5, convertDeformConv},
	{"", "Det", 11, 1, 1, opOf(func(*call) graph.Op { return linear.Det{} })},
	{"", "Einsum", 12, 1, many, convertEinsum},
}

// convertGemm converts alpha*A*B + beta*C. Below version 7 the addend only
// broadcasts where the attribute says so.
func convertGemm(c *call) []graph.Value {
	g := linear.Gemm{
		Alpha:  c.float("alpha", 1),
		Beta:   c.float("beta", 1),
		TransA: c.flag("transA", false),
		TransB: c.flag("transB", false),
	}
	out := c.one(g, c.in...)
	if c.opset() < 7 && !c.flag("broadcast", false) && !c.shape(2).Equal(out.Type().Shape) {
		c.failf("addend %v and product %v differ, and attribute broadcast is not set", c.shape(2), out.Type().Shape)
	}
	return list(out)
}

func convolution(c *call) graph.Op {
	w := c.window()
	return conv.Conv{
		KernelShape: w.taps, Strides: w.strides, Pads: w.pads, Dilations: w.dilations, AutoPad: w.auto,
		Group: c.group(),
	}
}

func convertConvTranspose(c *call) []graph.Value {
	w := c.window()
	o := conv.ConvTranspose{
		KernelShape: w.taps, Strides: w.strides, Pads: w.pads, Dilations: w.dilations, AutoPad: w.auto,
		Group:         c.group(),
		OutputPadding: c.ints("output_padding"),
		OutputShape:   c.ints("output_shape"),
	}
	// Some exporters state batch and channels as well.
	if rank := c.rank(0); rank > 2 && len(o.OutputShape) == rank {
		want := shape.Shape(o.OutputShape)
		o.OutputShape = o.OutputShape[2:]
		out := c.one(o, c.in...)
		if !out.Type().Shape.Equal(want) {
			c.failf("output_shape %v does not agree with the result %v", want, out.Type().Shape)
		}
		return list(out)
	}
	return list(c.one(o, c.in...))
}

// convertDeformConv multiplies weights with the image at the taps that offsets
// move.
func convertDeformConv(c *call) []graph.Value {
	x, w, groups := c.shape(0), c.shape(1), c.group()
	if len(w) != len(x) || len(x) < 3 {
		c.failf("weights have the shape %v and the image %v, want as many axes, 3 at least", w, x)
	}
	win := c.window()
	switch {
	case w[0]%groups != 0 || w[1]*groups != x[1]:
		c.failf("weights of shape %v in %d groups do not go with the %d channels of %v", w, groups, x[1], x)
	case win.taps != nil && !w[2:].Equal(win.taps):
		c.failf("kernel_shape is %v, but the weights have the shape %v", win.taps, w)
	case c.has(3) && !c.shape(3).Equal(shape.Shape{w[0]}):
		c.failf("the bias has the shape %v, want [%d]", c.shape(3), w[0])
	}
	t := c.in[0].Type().DType
	in := make([]graph.Value, len(c.in))
	for i, v := range c.in {
		if !c.has(i) {
			continue
		}
		if v.Type().DType != t {
			c.failf("inputs 0 and %d are of the types %v and %v", i, t, v.Type().DType)
		}
		in[i] = c.castTo(v, wider(t))
	}
	o := conv.DeformColumns{
		KernelShape: w[2:], Strides: win.strides, Pads: win.pads, Dilations: win.dilations,
		Groups: c.int("offset_group", 1),
	}
	columns := list(in[0], in[2])
	if c.has(4) {
		columns = append(columns, in[4])
	}
	cols := c.one(o, columns...)
	positions := cols.Type().Shape[3:]
	terms := w[1:].Elems()
	cols = c.reshape(cols, x[0], groups, terms, positions.Elems())
	y := c.one(linear.MatMul{}, c.reshape(in[1], groups, w[0]/groups, terms), cols)
	y = c.reshape(y, append(shape.Shape{x[0], w[0]}, positions...)...)
	if c.has(3) {
		y = c.elementwise(elementwise.Add, nil, y, c.along(in[3], 0, len(x)-1))
	}
	return list(c.castTo(y, t))
}

// group returns how many groups a convolution's channels form.
func (c *call) group() int {
	n := c.int("group", 1)
	if n < 1 {
		c.failf("attribute group is %d, want at least 1", n)
	}
	return n
}

// window holds the attributes that slide a window over an image. Lists that
// are absent are nil, which ops take for their defaults.
type window struct {
	taps, strides, pads, dilations []int
	auto                           slide.AutoPad
}

// window returns the attributes of convolutions and poolings.
func (c *call) window() window {
	return window{
		taps:      c.ints("kernel_shape"),
		strides:   c.ints("strides"),
		pads:      c.ints("pads"),
		dilations: c.ints("dilations"),
		auto: choice(c, "auto_pad", "NOTSET", map[string]slide.AutoPad{
			"": slide.NotSet, "NOTSET": slide.NotSet, "SAME_UPPER": slide.SameUpper, "SAME_LOWER": slide.SameLower, "VALID": slide.Valid,
		}),
	}
}

// Package conv holds convolution in the sense of neural networks, and its
// transpose.
//
// # Where to find what
//
//	conv.go              the ops
//	kernel.go            what both kernels share
//	conv_kernel.go       the forms of convolution, and that as a product of package gemm
//	direct.go            the form that reads a padded image in place
//	depthwise.go         the form for groups of one channel, in blocks of positions
//	winograd.go          where minimal filtering does the work of a product, and pays
//	winograd_weights.go  what its kernels share, the transformed weights among it
//	winograd_kernel.go   that form
//	last.go              the forms of convolution of images with their channels last
//	last_product.go      that as a product of windows read in place
//	last_band.go         the padded image that it reads
//	last_cost.go         where channels last gain, and how much
//	last_depthwise.go    the form for groups of one channel and one map
//	last_winograd.go     minimal filtering of such images
//	bottleneck.go        an op for depthwise convolutions and those of single taps around them
//	bottleneck_kernel.go that by bands of rows
//	transpose_kernel.go  the transpose, as a product and a sum of its rows
//	deform.go            the columns of a convolution with taps that are moved
//	deform_kernel.go     the image read there
package conv

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/slide"
	"github.com/berth-go/berth/shape"
)

// Conv slides weights over an image: x [N, C, spatial...], weights
// [M, C/Group, taps...] and an optional bias [M] give [N, M, positions...]. Any
// number of spatial axes from 1 on is possible. Element types are the floats,
// int32 and int64. [newConv] states the sum.
type Conv struct {
	KernelShape []int // taps along each spatial axis; those of the weights if empty
	Strides     []int // one for each spatial axis; 1 if empty
	Pads        []int // before each spatial axis, then after each; 0 if empty
	Dilations   []int // one for each spatial axis; 1 if empty
	Group       int   // groups of channels; 0 means 1
	AutoPad     slide.AutoPad
	Epilogue    elementwise.Program // runs on the result
	// Winograd has 3×3 taps at steps of 1 over float32 images of two spatial axes computed
	// by minimal filtering, with a quarter of the multiplications and larger rounding errors;
	// [newWinograd] states them.
	Winograd bool
	// ChannelsLast has the channels of an image behind its spatial axes: x is
	// [N, spatial..., C] and the result [N, positions..., M]. Weights and bias stay as they are.
	ChannelsLast bool
}

// Name returns "conv".
func (Conv) Name() string { return "conv" }

// String prints the name, with the algorithm, and the epilogue behind it.
func (c Conv) String() string {
	name := c.Name()
	if c.Winograd {
		name = "winograd " + name
	}
	if c.ChannelsLast {
		name = "last " + name
	}
	return c.Epilogue.Title(name)
}

// Infer implements [graph.Op].
func (c Conv) Infer(in []graph.Type) ([]graph.Type, error) {
	in, extra := c.Epilogue.Own(in, ownInputs)
	if err := checkConvInputs(in); err != nil {
		return nil, err
	}
	x, w, group := c.channelsFirst(in[0].Shape), in[1].Shape, max(c.Group, 1)
	if c.Group < 0 || w[0]%group != 0 || x[1]%group != 0 {
		return nil, fmt.Errorf("%d groups do not divide %d input and %d output channels", c.Group, x[1], w[0])
	}
	if w[1] != x[1]/group {
		return nil, fmt.Errorf("input %v has %d channels in each of %d groups, weights %v have %d", x, x[1]/group, group, w, w[1])
	}
	if err := checkBias(in, w[0]); err != nil {
		return nil, err
	}
	win, err := c.window(w)
	if err != nil {
		return nil, err
	}
	if c.Winograd {
		if err := c.checkWinograd(in); err != nil {
			return nil, err
		}
	}
	spatial, err := win.Positions(x[2:], false)
	if err != nil {
		return nil, err
	}
	out := graph.Type{DType: in[0].DType, Shape: append(shape.Shape{x[0], w[0]}, spatial...)}
	if c.ChannelsLast {
		out.Shape = op.ChannelsLast(out.Shape)
	}
	return []graph.Type{out}, c.Epilogue.CheckEpilogue(out, extra)
}

// channelsFirst returns the shape of an image with the channels before the spatial axes.
func (c Conv) channelsFirst(image shape.Shape) shape.Shape {
	if !c.ChannelsLast {
		return image
	}
	return op.ChannelsFirst(image)
}

func (c Conv) window(weights shape.Shape) (slide.Window, error) {
	if err := checkKernelShape(c.KernelShape, weights); err != nil {
		return slide.Window{}, err
	}
	w := slide.Window{Taps: weights[2:], Strides: c.Strides, Dilations: c.Dilations, Pads: c.Pads, Auto: c.AutoPad}
	return w.Check(len(weights) - 2)
}

// Kernel implements [op.Computer].
func (c Conv) Kernel(in, _ []graph.Type) kernel.Kernel {
	win, _ := c.window(in[1].Shape)
	trailing := len(in[0].Shape) - 2 // axes behind the channels
	if c.ChannelsLast {
		trailing = 0
	}
	p := params{win, nil, max(c.Group, 1), finishOf(c.Epilogue, in, trailing)}
	switch {
	case c.Winograd && c.ChannelsLast:
		return newLastWinograd(p)
	case c.Winograd:
		return newWinograd(p)
	case c.ChannelsLast:
		return newLast(in[0].DType, p)
	}
	return newConv(in[0].DType, p)
}

// Finish implements [elementwise.Finisher].
func (c Conv) Finish() (elementwise.Program, int) { return c.Epilogue, ownInputs }

// Finished implements [elementwise.Finisher].
func (c Conv) Finished(p elementwise.Program) graph.Op {
	c.Epilogue = p
	return c
}

// DenseAxes implements [op.Strider].
func (c Conv) DenseAxes(operand, rank int) int {
	if c.ChannelsLast && operand <= 0 {
		return 1
	}
	return slide.DenseAxes(operand, rank, ownInputs)
}

// WithChannelsLast implements [op.Layouter]. An epilogue may read what is laid out otherwise.
func (c Conv) WithChannelsLast(int) (graph.Op, int) {
	if c.ChannelsLast || len(c.Epilogue) > 0 {
		return nil, 0
	}
	c.ChannelsLast = true
	return c, 1
}

// Products implements [op.Multiplier]: a weight meets every position of its map.
func (Conv) Products(in, out []graph.Type) int64 {
	return int64(out[0].Shape.Elems()) * int64(in[1].Shape[1:].Elems())
}

// ComputesInFloat32 implements [op.Widener].
func (Conv) ComputesInFloat32() {}

// ConvTranspose is the gradient of [Conv] with respect to its image: x
// [N, C, spatial...], weights [C, M/Group, taps...] and an optional bias [M]
// give [N, M, spatial...]. [newConvTranspose] states the sum.
//
// Without OutputShape, an axis of extent d becomes
// stride*(d-1) + OutputPadding + (taps-1)*dilation + 1 less its pads, or
// stride*d where AutoPad is same_upper or same_lower. With it, the pads follow
// from the shape, and an odd one goes to the end only under same_upper.
type ConvTranspose struct {
	KernelShape   []int // taps along each spatial axis; those of the weights if empty
	Strides       []int // one for each spatial axis; 1 if empty
	Pads          []int // before each spatial axis, then after each; 0 if empty
	Dilations     []int // one for each spatial axis; 1 if empty
	Group         int   // groups of channels; 0 means 1
	AutoPad       slide.AutoPad
	OutputPadding []int               // added at the end of each spatial axis of the result; 0 if empty
	OutputShape   []int               // spatial extents of the result, instead of Pads
	Epilogue      elementwise.Program // runs on the result
}

// Name returns "conv_transpose".
func (ConvTranspose) Name() string { return "conv_transpose" }

// String prints the name, and the epilogue behind it.
func (c ConvTranspose) String() string { return c.Epilogue.Title(c.Name()) }

// Infer implements [graph.Op].
func (c ConvTranspose) Infer(in []graph.Type) ([]graph.Type, error) {
	in, extra := c.Epilogue.Own(in, ownInputs)
	if err := checkConvInputs(in); err != nil {
		return nil, err
	}
	x, w, group := in[0].Shape, in[1].Shape, max(c.Group, 1)
	if c.Group < 0 || x[1]%group != 0 {
		return nil, fmt.Errorf("%d groups do not divide %d input channels", c.Group, x[1])
	}
	if w[0] != x[1] {
		return nil, fmt.Errorf("input %v has %d channels, weights %v have %d", x, x[1], w, w[0])
	}
	maps := shape.Shape{group, w[1]}
	if err := maps.Check(); err != nil {
		return nil, fmt.Errorf("%d maps in each of %d groups: %w", w[1], group, err)
	}
	if err := checkBias(in, maps.Elems()); err != nil {
		return nil, err
	}
	_, spatial, err := c.window(x, w)
	if err != nil {
		return nil, err
	}
	out := graph.Type{DType: in[0].DType, Shape: append(shape.Shape{x[0], maps.Elems()}, spatial...)}
	return []graph.Type{out}, c.Epilogue.CheckEpilogue(out, extra)
}

// window returns the window over the result, its pads found, and the spatial
// extents of the result.
func (c ConvTranspose) window(x, weights shape.Shape) (slide.Window, shape.Shape, error) {
	if err := checkKernelShape(c.KernelShape, weights); err != nil {
		return slide.Window{}, nil, err
	}
	axes := len(weights) - 2
	w := slide.Window{Taps: weights[2:], Strides: c.Strides, Dilations: c.Dilations, Pads: c.Pads, Auto: c.AutoPad}
	w, err := w.Check(axes)
	if err != nil {
		return slide.Window{}, nil, err
	}
	for _, list := range []struct {
		name   string
		values []int
	}{{"output padding", c.OutputPadding}, {"output shape", c.OutputShape}} {
		if len(list.values) != 0 && len(list.values) != axes {
			return slide.Window{}, nil, fmt.Errorf("%s %v: %d numbers for %d spatial axes", list.name, list.values, len(list.values), axes)
		}
		for _, v := range list.values {
			if v < 0 || v > slide.MaxAttribute {
				return slide.Window{}, nil, fmt.Errorf("%s %v: %d is not in [0, %d]", list.name, list.values, v, slide.MaxAttribute)
			}
		}
	}
	out := make(shape.Shape, axes)
	for i, d := range x[2:] {
		if d > slide.MaxAttribute {
			return slide.Window{}, nil, fmt.Errorf("input %v: extent %d is above %d", x, d, slide.MaxAttribute)
		}
		switch {
		case len(c.OutputShape) != 0:
			out[i] = c.OutputShape[i]
		case c.AutoPad.Same():
			out[i] = d * w.Strides[i]
		default:
			full := c.full(&w, i, d)
			if out[i] = full - w.Pads[i] - w.Pads[axes+i]; out[i] < 0 {
				return slide.Window{}, nil, fmt.Errorf("input %v: pads %v take more than the %d elements of the result at spatial axis %d", x, w.Pads, full, i)
			}
		}
	}
	w.Pads, w.Auto = slices.Clone(w.Pads), slide.NotSet
	c.pad(&w, x[2:], out)
	return w, out, out.Check()
}

// full returns the extent that d elements along a spatial axis become without pads.
func (c ConvTranspose) full(w *slide.Window, axis, d int) int {
	full := w.Strides[axis]*max(d-1, 0) + w.Span(axis)
	if len(c.OutputPadding) != 0 {
		full += c.OutputPadding[axis]
	}
	return full
}

// pad sets the pads of w that follow from the spatial extents of x and of the result.
func (c ConvTranspose) pad(w *slide.Window, x, out []int) {
	if len(c.OutputShape) == 0 && !c.AutoPad.Same() {
		return
	}
	for i, d := range x {
		w.Pads[i], w.Pads[len(x)+i] = c.AutoPad.Split(max(0, c.full(w, i, d)-out[i]))
	}
}

// Kernel implements [op.Computer].
func (c ConvTranspose) Kernel(in, _ []graph.Type) kernel.Kernel {
	win, _, _ := c.window(in[0].Shape, in[1].Shape)
	return newConvTranspose(in[0].DType, params{win, c.pad, max(c.Group, 1), finishOf(c.Epilogue, in, len(in[0].Shape)-2)})
}

// Finish implements [elementwise.Finisher].
func (c ConvTranspose) Finish() (elementwise.Program, int) { return c.Epilogue, ownInputs }

// Finished implements [elementwise.Finisher].
func (c ConvTranspose) Finished(p elementwise.Program) graph.Op {
	c.Epilogue = p
	return c
}

// DenseAxes implements [op.Strider].
func (ConvTranspose) DenseAxes(operand, rank int) int {
	return slide.DenseAxes(operand, rank, ownInputs)
}

// Products implements [op.Multiplier]: a weight meets every element of its channel.
func (ConvTranspose) Products(in, _ []graph.Type) int64 {
	return int64(in[0].Shape.Elems()) * int64(in[1].Shape[1:].Elems())
}

// ComputesInFloat32 implements [op.Widener].
func (ConvTranspose) ComputesInFloat32() {}

// ownInputs are the image, the weights and the bias, which may be absent. Those of
// the epilogue follow.
const ownInputs = 3

// A finish is what is done on the result of a convolution: the bias is added, and
// then the program runs. The zero finish does nothing.
type finish struct {
	epilogue *elementwise.Epilogue // both, with the operands after x and w
	rest     *elementwise.Epilogue // the program alone, with those after the bias
}

// finishOf returns the finish of results whose channels lie that many axes before the end.
func finishOf(p elementwise.Program, in []graph.Type, trailing int) finish {
	f := finish{rest: elementwise.EpilogueOf(p, in, ownInputs)}
	f.epilogue = f.rest
	if op.Given(in, 2) {
		f.epilogue = elementwise.EpilogueOf(p.After(elementwise.Addend, 2), in, 2)
		f.epilogue.Trail(1, trailing)
	}
	return f
}

// checkConvInputs checks the number, types and ranks of image, weights and
// optional bias.
func checkConvInputs(in []graph.Type) error {
	if err := op.SameNumbers(in, 2, 3); err != nil {
		return err
	}
	if t := in[0].DType; !t.IsFloat() && t != dtype.Int32 && t != dtype.Int64 {
		return fmt.Errorf("element type %v: want a float, int32 or int64", t)
	}
	x, w := in[0].Shape, in[1].Shape
	if len(x) < 3 {
		return fmt.Errorf("input %v: want batch, channels and at least one spatial axis", x)
	}
	if len(w) != len(x) {
		return fmt.Errorf("input %v has %d axes, weights %v have %d", x, len(x), w, len(w))
	}
	return nil
}

func checkBias(in []graph.Type, maps int) error {
	if op.Given(in, 2) && !in[2].Shape.Equal(shape.Shape{maps}) {
		return fmt.Errorf("bias %v: want [%d]", in[2].Shape, maps)
	}
	return nil
}

// checkKernelShape checks the attribute against the weights it repeats.
func checkKernelShape(attr []int, weights shape.Shape) error {
	if len(attr) != 0 && !weights[2:].Equal(attr) {
		return fmt.Errorf("kernel shape %v: weights %v have %v taps", attr, weights, weights[2:])
	}
	return nil
}

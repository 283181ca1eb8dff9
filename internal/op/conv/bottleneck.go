package conv

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/slide"
)

// Bottleneck is up to three convolutions in a row over images with their channels last,
// each with an elementwise program behind it, of which only the last result is ever
// stored: one of single taps that expands the channels of x [N, H, W, C] to E, a depthwise
// one, and one of single taps that projects to M channels. The first or the last may be
// absent:
//
//	expand [N, H, W, E] = expanded(x * w1 [E, C, 1, 1] + b1 [E])          // or x, with C = E
//	filter [N, P, Q, E] = filtered(expand * w2 [E, 1, taps...] + b2 [E])  // by the window
//	result [N, P, Q, M] = epilogue(filter * w3 [M, E, 1, 1] + b3 [M])
//
// Without w3 the result is filter, under the epilogue and without filtered. The inputs are
// x, w1, b1, w2, b2, w3 and b3, where the biases may be absent too. The element type is
// float32 or float64. Results have the bits of one [Conv] after the other.
//
// Source: M. Sandler and others, "MobileNetV2: Inverted Residuals and Linear Bottlenecks",
// 2018, section 5.1, keeps parts of the expanded image in memory in turn.
type Bottleneck struct {
	Strides   []int // of the depthwise convolution; 1 if empty
	Pads      []int // 0 if empty
	Dilations []int // 1 if empty
	AutoPad   slide.AutoPad
	Expanded  elementwise.Program // of one input
	Filtered  elementwise.Program // of one input
	Epilogue  elementwise.Program // runs on the result
}

// The inputs of a [Bottleneck], with those of the epilogue behind them.
const (
	expandInput, filterInput, projectInput = 1, 3, 5 // weights, each with a bias behind it
	bottleneckInputs                       = 7
)

// BottleneckOf returns the op that does the work of convolutions with channels last, the
// first and the last of which may be nil, and false where there is none.
func BottleneckOf(expand, filter, project *Conv) (b Bottleneck, ok bool) {
	pointwise := func(c *Conv) bool {
		slides := len(c.Strides) > 0 || len(c.Pads) > 0 || len(c.Dilations) > 0
		return c.ChannelsLast && !c.Winograd && max(c.Group, 1) == 1 && (!slides || c.single())
	}
	b = Bottleneck{Strides: filter.Strides, Pads: filter.Pads, Dilations: filter.Dilations, AutoPad: filter.AutoPad}
	ok = filter.ChannelsLast && (expand != nil || project != nil)
	if expand != nil {
		ok = ok && pointwise(expand)
		b.Expanded = expand.Epilogue
	}
	if b.Epilogue = filter.Epilogue; project != nil {
		ok = ok && pointwise(project)
		b.Filtered, b.Epilogue = filter.Epilogue, project.Epilogue
	}
	return b, ok
}

// single reports whether windows of single taps meet each element of an image.
func (c *Conv) single() bool {
	for _, s := range c.Strides {
		if s != 1 {
			return false
		}
	}
	for _, p := range c.Pads {
		if p != 0 {
			return false
		}
	}
	return true
}

// Name returns "bottleneck".
func (Bottleneck) Name() string { return "bottleneck" }

// String prints the name, and the epilogue behind it.
func (b Bottleneck) String() string { return b.Epilogue.Title(b.Name()) }

// parts returns the convolutions without the last epilogue.
func (b Bottleneck) parts(channels int) [3]Conv {
	return [3]Conv{
		{ChannelsLast: true, Epilogue: b.Expanded},
		{ChannelsLast: true, Epilogue: b.Filtered, Group: channels, Strides: b.Strides, Pads: b.Pads, Dilations: b.Dilations, AutoPad: b.AutoPad},
		{ChannelsLast: true},
	}
}

// Infer implements [graph.Op].
func (b Bottleneck) Infer(in []graph.Type) ([]graph.Type, error) {
	own, extra := b.Epilogue.Own(in, bottleneckInputs)
	_, out, err := b.between(own)
	if err != nil {
		return nil, err
	}
	return []graph.Type{out}, b.Epilogue.CheckEpilogue(out, extra)
}

// between returns the types of what the depthwise convolution reads, and of the result.
func (b Bottleneck) between(in []graph.Type) (expand, out graph.Type, err error) {
	if len(in) <= filterInput || len(in) > bottleneckInputs {
		return expand, out, fmt.Errorf("takes %d to %d inputs, got %d", filterInput+1, bottleneckInputs, len(in))
	}
	filter := in[filterInput]
	switch {
	case !op.Given(in, expandInput) && !op.Given(in, projectInput):
		return expand, out, fmt.Errorf("has neither weights that expand nor such that project")
	case !op.Given(in, projectInput) && len(b.Filtered) > 0:
		return expand, out, fmt.Errorf("has a program for what is projected, and no weights for that")
	case in[0].DType != dtype.Float32 && in[0].DType != dtype.Float64:
		return expand, out, fmt.Errorf("element type %v: want float32 or float64", in[0].DType)
	case len(in[0].Shape) != 4:
		return expand, out, fmt.Errorf("input %v: want batch, two spatial axes and channels", in[0].Shape)
	case len(filter.Shape) != 4 || filter.Shape[1] != 1 || filter.Shape[0] == 0:
		return expand, out, fmt.Errorf("depthwise weights %v: want [E 1 taps taps]", filter.Shape)
	}
	out = in[0]
	for i, c := range b.parts(filter.Shape[0]) {
		w := expandInput + 2*i
		if w == filterInput {
			expand = out
		}
		if !op.Given(in, w) {
			if op.Given(in, w+1) {
				return expand, out, fmt.Errorf("input %d is the bias of a convolution without weights", w+1)
			}
			continue
		}
		if s := in[w].Shape; w != filterInput && (len(s) != 4 || s[2] != 1 || s[3] != 1 || s.Elems() == 0) {
			return expand, out, fmt.Errorf("weights %v: want single taps of some channels", s)
		}
		ins := []graph.Type{out, in[w], {}}
		if op.Given(in, w+1) {
			ins[2] = in[w+1]
		}
		types, err := c.Infer(ins)
		if err != nil {
			return expand, out, err
		}
		out = types[0]
	}
	return expand, out, nil
}

// Kernel implements [op.Computer].
func (b Bottleneck) Kernel(in, _ []graph.Type) kernel.Kernel {
	window, _ := b.parts(in[filterInput].Shape[0])[1].window(in[filterInput].Shape)
	rest := elementwise.EpilogueOf(b.Epilogue, in, bottleneckInputs)
	if in[0].DType == dtype.Float64 {
		return newBottleneck[float64](b, in[0].DType, window, rest)
	}
	return newBottleneck[float32](b, in[0].DType, window, rest)
}

// Finish implements [elementwise.Finisher].
func (b Bottleneck) Finish() (elementwise.Program, int) { return b.Epilogue, bottleneckInputs }

// Finished implements [elementwise.Finisher].
func (b Bottleneck) Finished(p elementwise.Program) graph.Op {
	b.Epilogue = p
	return b
}

// DenseAxes implements [op.Strider].
func (Bottleneck) DenseAxes(operand, rank int) int {
	if operand <= 0 {
		return 1
	}
	return slide.DenseAxes(operand, rank, bottleneckInputs)
}

// Products implements [op.Multiplier].
func (b Bottleneck) Products(in, out []graph.Type) int64 {
	own, _ := b.Epilogue.Own(in, bottleneckInputs)
	expand, result, err := b.between(own)
	if err != nil {
		return 0
	}
	filter := in[filterInput].Shape
	positions := int64(result.Shape[:3].Elems())
	n := positions * int64(filter.Elems())
	if op.Given(in, expandInput) {
		n += int64(expand.Shape[:3].Elems()) * int64(in[expandInput].Shape.Elems())
	}
	if op.Given(in, projectInput) {
		n += positions * int64(in[projectInput].Shape.Elems())
	}
	return n
}

// Pays reports whether the op takes less time than the convolutions for themselves: where what it does not
// store is more than the caches keep from step to step, and more than the weights, which each
// band of rows reads anew.
func (b Bottleneck) Pays(in []graph.Type) bool {
	const (
		stored = 1 << 18 // elements
		most   = 1 << 16 // of the rows of the expanded image that a row of positions meets
	)
	own, _ := b.Epilogue.Own(in, bottleneckInputs)
	expand, out, err := b.between(own)
	if err != nil || !b.tapByTap(in, expand) {
		return false
	}
	channels, taps := in[filterInput].Shape[0], in[filterInput].Shape[2]
	images, weights := max(out.Shape[0], 1), 0
	row, elems := out.Shape[2]*channels, 0
	if op.Given(in, expandInput) {
		weights += in[expandInput].Shape.Elems()
		elems += expand.Shape.Elems()
		row += taps * expand.Shape[2] * bandChannels
	}
	if op.Given(in, projectInput) {
		weights += in[projectInput].Shape.Elems()
		elems += out.Shape[:3].Elems() * channels
	}
	return elems >= stored && elems/images >= weights && row <= most
}

// tapByTap reports whether [Conv] sums the depthwise convolution tap by tap, as the op does.
func (b Bottleneck) tapByTap(in []graph.Type, expand graph.Type) bool {
	c := b.parts(in[filterInput].Shape[0])[1]
	window, err := c.window(in[filterInput].Shape)
	if err != nil {
		return false
	}
	image := op.ChannelsFirst(expand.Shape)[2:]
	positions, err := window.Positions(image, false)
	if err != nil {
		return false
	}
	var s slide.Binding
	s.Bind(&window, image, positions)
	var blocks slide.Blocks
	return blocks.Bind(&s, expand.DType.Size())
}

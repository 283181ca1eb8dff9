package op

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// Conv slides weights over an image: x [N, C, spatial...], weights
// [M, C/Group, taps...] and an optional bias [M] give [N, M, positions...]. Any
// number of spatial axes from 1 on is possible. Element types are the floats,
// int32 and int64. [kernel.NewConv] states the sum.
type Conv struct {
	KernelShape []int // taps along each spatial axis; those of the weights if empty
	Strides     []int // one for each spatial axis; 1 if empty
	Pads        []int // before each spatial axis, then after each; 0 if empty
	Dilations   []int // one for each spatial axis; 1 if empty
	Group       int   // groups of channels; 0 means 1
	AutoPad     AutoPad
}

// Name returns "conv".
func (Conv) Name() string { return "conv" }

// Infer implements [graph.Op].
func (c Conv) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := checkConvInputs(in); err != nil {
		return nil, err
	}
	x, w, group := in[0].Shape, in[1].Shape, max(c.Group, 1)
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
	spatial, err := win.positions(x[2:], false)
	if err != nil {
		return nil, err
	}
	return []graph.Type{{DType: in[0].DType, Shape: append(shape.Shape{x[0], w[0]}, spatial...)}}, nil
}

func (c Conv) window(weights shape.Shape) (window, error) {
	if err := checkKernelShape(c.KernelShape, weights); err != nil {
		return window{}, err
	}
	return window{weights[2:], c.Strides, c.Dilations, c.Pads, c.AutoPad}.check(len(weights) - 2)
}

// Kernel implements [Computer].
func (c Conv) Kernel(in, _ []graph.Type) kernel.Kernel {
	win, err := c.window(in[1].Shape)
	if err != nil {
		return nil // Infer has refused it
	}
	return kernel.NewConv(in[0].DType, win.bound(), max(c.Group, 1))
}

// DenseAxes implements [Strider].
func (Conv) DenseAxes(operand, rank int) int { return imageDenseAxes(operand, rank) }

// ComputesInFloat32 implements [Widener].
func (Conv) ComputesInFloat32() {}

// ConvTranspose is the gradient of [Conv] with respect to its image: x
// [N, C, spatial...], weights [C, M/Group, taps...] and an optional bias [M]
// give [N, M, spatial...]. [kernel.NewConvTranspose] states the sum.
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
	AutoPad       AutoPad
	OutputPadding []int // added at the end of each spatial axis of the result; 0 if empty
	OutputShape   []int // spatial extents of the result, instead of Pads
}

// Name returns "conv_transpose".
func (ConvTranspose) Name() string { return "conv_transpose" }

// Infer implements [graph.Op].
func (c ConvTranspose) Infer(in []graph.Type) ([]graph.Type, error) {
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
	return []graph.Type{{DType: in[0].DType, Shape: append(shape.Shape{x[0], maps.Elems()}, spatial...)}}, nil
}

// window returns the window over the result, its pads found, and the spatial
// extents of the result.
func (c ConvTranspose) window(x, weights shape.Shape) (window, shape.Shape, error) {
	if err := checkKernelShape(c.KernelShape, weights); err != nil {
		return window{}, nil, err
	}
	axes := len(weights) - 2
	w, err := window{weights[2:], c.Strides, c.Dilations, c.Pads, c.AutoPad}.check(axes)
	if err != nil {
		return window{}, nil, err
	}
	for _, list := range []struct {
		name   string
		values []int
	}{{"output padding", c.OutputPadding}, {"output shape", c.OutputShape}} {
		if len(list.values) != 0 && len(list.values) != axes {
			return window{}, nil, fmt.Errorf("%s %v: %d numbers for %d spatial axes", list.name, list.values, len(list.values), axes)
		}
		for _, v := range list.values {
			if v < 0 || v > maxAttribute {
				return window{}, nil, fmt.Errorf("%s %v: %d is not in [0, %d]", list.name, list.values, v, maxAttribute)
			}
		}
	}
	same := w.auto == AutoPadSameUpper || w.auto == AutoPadSameLower
	pads := make([]int, 2*axes)
	out := make(shape.Shape, axes)
	for i, d := range x[2:] {
		if d > maxAttribute {
			return window{}, nil, fmt.Errorf("input %v: extent %d is above %d", x, d, maxAttribute)
		}
		full := w.strides[i]*max(d-1, 0) + w.span(i)
		if len(c.OutputPadding) != 0 {
			full += c.OutputPadding[i]
		}
		switch {
		case len(c.OutputShape) != 0:
			out[i] = c.OutputShape[i]
		case same:
			out[i] = d * w.strides[i]
		default:
			pads[i], pads[axes+i] = w.pads[i], w.pads[axes+i]
			if out[i] = full - pads[i] - pads[axes+i]; out[i] < 0 {
				return window{}, nil, fmt.Errorf("input %v: pads %v take more than the %d elements of the result at spatial axis %d", x, w.pads, full, i)
			}
			continue
		}
		total := max(0, full-out[i])
		pads[i] = total - total/2
		if w.auto == AutoPadSameUpper {
			pads[i] = total / 2
		}
		pads[axes+i] = total - pads[i]
	}
	w.pads, w.auto = pads, AutoPadNotSet
	return w, out, out.Check()
}

// Kernel implements [Computer].
func (c ConvTranspose) Kernel(in, _ []graph.Type) kernel.Kernel {
	win, _, err := c.window(in[0].Shape, in[1].Shape)
	if err != nil {
		return nil // Infer has refused it
	}
	return kernel.NewConvTranspose(in[0].DType, win.bound(), max(c.Group, 1))
}

// DenseAxes implements [Strider].
func (ConvTranspose) DenseAxes(operand, rank int) int { return imageDenseAxes(operand, rank) }

// ComputesInFloat32 implements [Widener].
func (ConvTranspose) ComputesInFloat32() {}

// imageDenseAxes is the [Strider] rule of ops over images: input 0 and the
// outputs may have any batch stride.
func imageDenseAxes(operand, rank int) int {
	if operand <= 0 {
		return max(rank-1, 0)
	}
	return rank
}

// checkConvInputs checks the number, types and ranks of image, weights and
// optional bias.
func checkConvInputs(in []graph.Type) error {
	if err := sameNumbers(in, 2, 3); err != nil {
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
	if len(in) < 3 || in[2].DType == dtype.Invalid {
		return nil
	}
	if b := in[2].Shape; len(b) != 1 || b[0] != maps {
		return fmt.Errorf("bias %v: want [%d]", b, maps)
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

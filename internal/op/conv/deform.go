package conv

import (
	"fmt"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/slide"
	"github.com/berth-go/berth/shape"
)

// DeformColumns reads an image at the taps of a sliding window, each moved by an
// offset of its own (Dai et al., Deformable Convolutional Networks, 2017). A product
// of weights with the result is a deformable convolution.
//
// The inputs, of one floating-point type, are the image [N, C, spatial...], the
// offsets [N, Groups*taps*axes, positions...], with the last factor innermost, and an
// optional mask [N, Groups*taps, positions...]. The channels are in so many groups,
// which have offsets and a mask of their own. The output is
// [N, C, taps, positions...]; see [newDeform].
type DeformColumns struct {
	KernelShape []int // taps along each spatial axis
	Strides     []int // one for each spatial axis; 1 if empty
	Pads        []int // before each spatial axis, then after each; 0 if empty
	Dilations   []int // one for each spatial axis; 1 if empty
	Groups      int   // 0 means 1
}

// mostDeformAxes bounds the spatial axes: 2 to that power are the elements around a
// place.
const mostDeformAxes = 6

// Name returns "deform_columns".
func (DeformColumns) Name() string { return "deform_columns" }

// Infer implements [graph.Op].
func (o DeformColumns) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 2, 3); err != nil {
		return nil, err
	}
	x := in[0]
	axes := len(x.Shape) - 2
	if !x.DType.IsFloat() || axes < 1 || axes > mostDeformAxes {
		return nil, fmt.Errorf("image is %v, want a floating-point type and 1 to %d spatial axes", x, mostDeformAxes)
	}
	if len(o.KernelShape) != axes {
		return nil, fmt.Errorf("kernel shape %v: %d numbers for %d spatial axes", o.KernelShape, len(o.KernelShape), axes)
	}
	groups := max(o.Groups, 1)
	if o.Groups < 0 || x.Shape[1]%groups != 0 {
		return nil, fmt.Errorf("%d groups of offsets do not divide %d channels", o.Groups, x.Shape[1])
	}
	win, err := o.window()
	if err != nil {
		return nil, err
	}
	positions, err := win.Positions(x.Shape[2:], false)
	if err != nil {
		return nil, err
	}
	taps := append(shape.Shape{groups}, win.Taps...)
	if err := taps.Check(); err != nil {
		return nil, err
	}
	for i, each := range [...]int{1: axes, 2: 1} {
		if i == 0 || !op.Given(in, i) {
			continue
		}
		want := graph.Type{DType: x.DType, Shape: append(shape.Shape{x.Shape[0], taps.Elems() * each}, positions...)}
		if !in[i].Equal(want) {
			return nil, fmt.Errorf("%s are %v, want %v", [...]string{1: "offsets", 2: "masks"}[i], in[i], want)
		}
	}
	y := graph.Type{DType: x.DType, Shape: append(shape.Shape{x.Shape[0], x.Shape[1], taps.Elems() / groups}, positions...)}
	return []graph.Type{y}, y.Check()
}

func (o DeformColumns) window() (slide.Window, error) {
	w := slide.Window{Taps: o.KernelShape, Strides: o.Strides, Pads: o.Pads, Dilations: o.Dilations}
	return w.Check(len(o.KernelShape))
}

// Kernel implements [op.Computer].
func (o DeformColumns) Kernel(in, _ []graph.Type) kernel.Kernel {
	win, _ := o.window()
	return newDeform(in[0].DType, deform{win: win, groups: max(o.Groups, 1)})
}

// DenseAxes returns 0: all strides will do.
func (DeformColumns) DenseAxes(_, _ int) int { return 0 }

// ComputesInFloat32 implements [op.Widener].
func (DeformColumns) ComputesInFloat32() {}

package resample

import (
	"fmt"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// A Padding says what stands outside an image.
type Padding uint8

// The ways of padding.
const (
	Zeros      Padding = iota // zeros
	Border                    // the nearest element
	Reflection                // the image, mirrored at its border over and over
)

var paddings = op.Enum{Kind: "padding", Names: []string{Zeros: "zeros", Border: "border", Reflection: "reflection"}}

// String returns the name of p.
func (p Padding) String() string { return paddings.Text(uint8(p)) }

// MarshalText implements [encoding.TextMarshaler].
func (p Padding) MarshalText() ([]byte, error) { return paddings.Marshal(uint8(p)) }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *Padding) UnmarshalText(text []byte) error { return op.UnmarshalEnum(paddings, text, p) }

// GridSample takes elements from any places of an image.
//
// The inputs are the image [N, C, D1, ..., Dr] and a grid of places
// [N, P1, ..., Pr, r], of one floating-point type; the output has the shape
// [N, C, P1, ..., Pr]. A place lists its coordinates from the last spatial axis to
// the first: (x, y) for a plane. The elements of an axis lie from -1 to 1; NaN counts
// as -1. Nearest takes the even element from the middle between two. Cubic has
// the coefficient -0.75.
type GridSample struct {
	Mode    Mode
	Padding Padding
	// AlignCorners says that -1 and 1 are the middles of the first and the last
	// element. They are their outer edges otherwise.
	AlignCorners bool
}

// Name returns "grid_sample".
func (GridSample) Name() string { return "grid_sample" }

// maxGridAxes bounds the spatial axes: a cubic place is a sum of 4^axes elements.
const maxGridAxes = 5

// Infer implements [graph.Op].
func (o GridSample) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.SameNumbers(in, 2, 2); err != nil {
		return nil, err
	}
	for _, err := range []error{modes.Check(uint8(o.Mode)), paddings.Check(uint8(o.Padding))} {
		if err != nil {
			return nil, err
		}
	}
	x, grid := in[0], in[1]
	rank := len(x.Shape)
	switch axes := rank - 2; {
	case !x.DType.IsFloat():
		return nil, fmt.Errorf("image %v is not of a floating-point type", x)
	case axes < 1 || axes > maxGridAxes:
		return nil, fmt.Errorf("image %v has %d spatial axes, want 1 to %d", x, axes, maxGridAxes)
	case len(grid.Shape) != rank || grid.Shape[rank-1] != axes || grid.Shape[0] != x.Shape[0]:
		return nil, fmt.Errorf("grid %v does not hold places in the %d images of %d spatial axes of %v", grid, x.Shape[0], axes, x)
	}
	out := append(shape.Shape{x.Shape[0], x.Shape[1]}, grid.Shape[1:rank-1]...)
	if out.Elems() > 0 && shape.Shape(x.Shape[2:]).Elems() == 0 {
		return nil, fmt.Errorf("image %v has no elements to take", x)
	}
	y := graph.Type{DType: x.DType, Shape: out}
	return []graph.Type{y}, y.Check()
}

// Kernel implements [op.Computer].
func (o GridSample) Kernel(in, _ []graph.Type) kernel.Kernel {
	return newGridSample(in[0].DType, o)
}

// DenseAxes returns 0: all strides will do.
func (GridSample) DenseAxes(_, _ int) int { return 0 }

// ComputesInFloat32 marks the op.
func (GridSample) ComputesInFloat32() {}

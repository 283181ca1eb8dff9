// Package resample holds the ops that read an image between its elements.
//
// # Where to find what
//
//	resize.go              Resize: attributes, shape rule
//	coordinate.go          which place of the input an element of the output comes from
//	table.go               the elements around that place, with their weights, for each axis
//	resize_kernel.go       the kernels of Resize: elements moved, and weighted sums
//	grid_sample.go         GridSample, for which data says the places
//	grid_sample_kernel.go  its kernel
//	roi_align.go           RoiAlign, which pools samples of regions of an image
package resample

import (
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// A Mode says what stands between the elements of an image.
type Mode uint8

// The modes. An axis at a time, an element of the output is
const (
	Nearest Mode = iota // the element that Rounding chooses
	Linear              // the sum of two elements, by how near they are
	Cubic               // the sum of four, weighted by a cubic convolution (Keys, 1981)
)

var modes = op.Enum{Kind: "mode", Names: []string{Nearest: "nearest", Linear: "linear", Cubic: "cubic"}}

// String returns the name of m.
func (m Mode) String() string { return modes.Text(uint8(m)) }

// MarshalText implements [encoding.TextMarshaler].
func (m Mode) MarshalText() ([]byte, error) { return modes.Marshal(uint8(m)) }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (m *Mode) UnmarshalText(text []byte) error { return op.UnmarshalEnum(modes, text, m) }

// Resize samples x so that its axes get other extents. The output has the element
// type of x; bool has no other mode than nearest. Axes are resampled independently
// of each other: an element is the sum, over the elements around its place on each
// axis, of their products with the weights on all axes. An element whose weight is
// 0 does not count, be it infinite.
type Resize struct {
	Mode Mode
	// Sizes are the extents of the output, one for each axis. If there are none,
	// they follow from Scales: floor(extent * scale), the product rounded to
	// float32, in which files state scales.
	Sizes []int
	// Scales are what extents are multiplied by, one for each axis. If there
	// are none, they are Sizes divided by the extents. Where both are given,
	// places follow from Scales.
	Scales      []float64
	Coordinates Coordinates
	Rounding    Rounding // nearest only
	// A is the coefficient of cubic.
	A float64
	// ExcludeOutside leaves elements out of the sum that would lie before the
	// first or behind the last of an axis. They count as these otherwise.
	ExcludeOutside bool
	// Antialias has every element count, for linear and cubic, that an element
	// of a smaller output covers. Sums of integers are rounded with it, and cut
	// off towards 0 without, as ONNX Runtime does.
	Antialias bool
	// Region is the part of x that [CropAndResize] samples: where it begins on
	// each axis, then where it ends. 0 is the first element, 1 the last.
	Region []float64
	// Extrapolation is what [CropAndResize] puts in place of elements outside x.
	Extrapolation float64
}

// Name returns "resize".
func (Resize) Name() string { return "resize" }

// maxPlaces bounds the elements that count on one axis, of all elements of the output
// together; kernels hold a table entry for each.
const maxPlaces = 1 << 24

// Infer returns the type of the resized input.
func (r Resize) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 1, 1); err != nil {
		return nil, err
	}
	if err := r.check(in[0]); err != nil {
		return nil, err
	}
	x := in[0]
	out := graph.Type{DType: x.DType, Shape: make(shape.Shape, len(x.Shape))}
	for a, d := range x.Shape {
		n, err := r.extent(a, d)
		if err != nil {
			return nil, fmt.Errorf("axis %d of %v: %w", a, x, err)
		}
		out.Shape[a] = n
	}
	if err := out.Check(); err != nil {
		return nil, err
	}
	if out.Shape.Elems() == 0 {
		return []graph.Type{out}, nil
	}
	for a, d := range x.Shape {
		p := r.placement(a, d, out.Shape[a])
		if n := float64(out.Shape[a]) * (2*p.reach() + 1); !(n <= maxPlaces) {
			return nil, fmt.Errorf("axis %d of %v: %d elements made of up to %.0f each are more than %d", a, x, out.Shape[a], 2*p.reach()+1, maxPlaces)
		}
	}
	return []graph.Type{out}, nil
}

// check reports attributes that do not go with x or with each other.
func (r Resize) check(x graph.Type) error {
	for _, err := range []error{modes.Check(uint8(r.Mode)), coordinates.Check(uint8(r.Coordinates)), roundings.Check(uint8(r.Rounding))} {
		if err != nil {
			return err
		}
	}
	rank := len(x.Shape)
	switch {
	case r.Mode != Nearest && (x.DType == dtype.Bool || x.DType.IsLowPrecision()):
		return fmt.Errorf("mode %v of %v: its elements have no arithmetic", r.Mode, x)
	case r.Mode == Nearest && r.Antialias:
		return fmt.Errorf("mode %v has nothing to antialias", r.Mode)
	case len(r.Sizes) == 0 && len(r.Scales) != rank, len(r.Sizes) != 0 && len(r.Sizes) != rank, len(r.Scales) != 0 && len(r.Scales) != rank:
		return fmt.Errorf("%d sizes and %d scales for %v, want %d of either", len(r.Sizes), len(r.Scales), x, rank)
	case r.Coordinates == CropAndResize && len(r.Region) != 2*rank:
		return fmt.Errorf("a region of %d numbers for %v, want %d", len(r.Region), x, 2*rank)
	}
	for _, v := range append(slices.Clone(r.Region), r.A) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("region %v and coefficient %v: %v is not finite", r.Region, r.A, v)
		}
	}
	for _, s := range r.Scales {
		if f := float32(s); !(f > 0 && f <= math.MaxFloat32) {
			return fmt.Errorf("scales %v: %v is not a positive float32", r.Scales, s)
		}
	}
	return nil
}

// extent returns the output's extent on an axis of n elements.
func (r Resize) extent(axis, n int) (int, error) {
	size := 0.0
	if len(r.Sizes) != 0 {
		size = float64(r.Sizes[axis])
	} else {
		size = math.Floor(float64(float32(float64(n) * r.Scales[axis])))
	}
	switch {
	case size < 0 || size > maxPlaces:
		return 0, fmt.Errorf("an extent of %.0f is not in [0, %d]", size, maxPlaces)
	case n == 0 && size > 0:
		return 0, fmt.Errorf("there is no element to make %.0f of", size)
	}
	return int(size), nil
}

// placement returns how n elements of x become out elements on an axis.
func (r Resize) placement(axis, n, out int) placement {
	p := placement{
		Mode: r.Mode, Coordinates: r.Coordinates, Rounding: r.Rounding,
		a: r.A, exclude: r.ExcludeOutside, antialias: r.Antialias,
		in: n, out: out, length: float64(out), num: float64(out), den: float64(n),
	}
	if len(r.Scales) != 0 {
		p.num, p.den = r.Scales[axis], 1
		p.length = float64(n) * r.Scales[axis]
	}
	if r.Coordinates == CropAndResize {
		p.start, p.end = r.Region[axis], r.Region[len(r.Region)/2+axis]
	}
	return p
}

// Kernel returns the resampling.
func (r Resize) Kernel(in, _ []graph.Type) kernel.Kernel {
	return newResize(in[0].DType, r)
}

// Tune implements [op.Tuner]. There is nothing to do: kernels take the sizes from the
// output that is bound.
func (Resize) Tune(kernel.Kernel) {}

// DenseAxes returns 0: all strides will do.
func (Resize) DenseAxes(_, _ int) int { return 0 }

// WithChannelsLast implements [op.Layouter]. Sums depend on which axis is the last.
func (r Resize) WithChannelsLast(int) (graph.Op, int) {
	if r.Mode != Nearest {
		return nil, 0
	}
	half := len(r.Region) / 2
	r.Sizes, r.Scales = op.ChannelsLast(r.Sizes), op.ChannelsLast(r.Scales)
	r.Region = append(op.ChannelsLast(r.Region[:half]), op.ChannelsLast(r.Region[half:])...)
	return r, 1
}

// ComputesInFloat32 marks the op.
func (Resize) ComputesInFloat32() {}

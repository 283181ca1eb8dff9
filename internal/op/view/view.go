// Package view holds the ops that only re-describe their input: another shape
// and other strides over the same bytes, or another element type.
//
// # Where to find what
//
//	view.go     reshape, permute, slice, broadcast, diagonal
//	bitcast.go  another element type of the same width
//	blocks.go   split, depth to space and back, out of the others
package view

import (
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// Reshape gives its input another shape with the same number of elements, in
// the same row-major order. It is a view where strides can express it; where
// they cannot, its kernel packs.
type Reshape struct {
	Shape []int // complete: every extent is stated
}

// Name returns "reshape".
func (Reshape) Name() string { return "reshape" }

// Infer checks the element count.
func (o Reshape) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 1, 1); err != nil {
		return nil, err
	}
	out := graph.Type{DType: in[0].DType, Shape: shape.Shape(o.Shape).Clone()}
	if err := out.Shape.Check(); err != nil {
		return nil, err
	}
	if out.Shape.Elems() != in[0].Shape.Elems() {
		return nil, fmt.Errorf("%v has %d elements, shape %v has %d", in[0], in[0].Shape.Elems(), out.Shape, out.Shape.Elems())
	}
	return []graph.Type{out}, nil
}

// View returns the layout of the reshaped input where one exists.
func (o Reshape) View(in shape.Layout) (shape.Layout, bool) { return in.Reshape(o.Shape) }

// Kernel returns a copy.
func (Reshape) Kernel(in, _ []graph.Type) kernel.Kernel {
	return kernel.NewCopy(in[0].DType.Size())
}

// DenseAxes returns 0: the copy takes any strides.
func (Reshape) DenseAxes(int, int) int { return 0 }

// Streams implements [op.Streamer].
func (Reshape) Streams() {}

// Permute is the view with its axes in another order.
type Permute struct {
	Perm []int // axis i of the output is axis Perm[i] of the input
}

// Name returns "permute".
func (Permute) Name() string { return "permute" }

// Infer permutes the extents.
func (o Permute) Infer(in []graph.Type) ([]graph.Type, error) { return inferView(o, in) }

// View permutes the strides.
func (o Permute) View(in shape.Layout) (shape.Layout, bool) { return viewed(o.view(in)) }

func (o Permute) view(in shape.Layout) (shape.Layout, error) { return in.Permute(o.Axes()) }

// Axes returns the permutation with every axis counted from 0.
func (o Permute) Axes() []int {
	perm := slices.Clone(o.Perm)
	for i, axis := range perm {
		if axis < 0 {
			perm[i] += len(perm)
		}
	}
	return perm
}

// SliceView is the view of N elements of one axis: Start, Start+Step, and so
// on, all of which must exist. [SliceRange] resolves NumPy's slice bounds.
type SliceView struct {
	Axis, Start, N, Step int
}

// Name returns "slice_view".
func (SliceView) Name() string { return "slice_view" }

// Infer replaces the extent of the axis by N.
func (o SliceView) Infer(in []graph.Type) ([]graph.Type, error) { return inferView(o, in) }

// View moves the offset to Start and multiplies the stride by Step.
func (o SliceView) View(in shape.Layout) (shape.Layout, bool) { return viewed(o.view(in)) }

func (o SliceView) view(in shape.Layout) (shape.Layout, error) {
	axis, err := shape.Axis(o.Axis, len(in.Shape))
	if err != nil {
		return shape.Layout{}, err
	}
	return in.Slice(axis, o.Start, o.N, o.Step)
}

// SliceRange resolves the slice start:end:step of an axis of the given extent
// by NumPy's rules: negative bounds count from the end, and bounds outside
// the axis are moved to its ends. It returns the first element and the number
// of elements. To run backwards through element 0, end must be below -extent.
func SliceRange(start, end, step, extent int) (first, n int, err error) {
	if step == 0 {
		return 0, 0, fmt.Errorf("slice %d:%d has step 0", start, end)
	}
	if start < 0 {
		start += extent
	}
	if end < 0 {
		end += extent
	}
	if step > 0 {
		start, end = min(max(start, 0), extent), min(max(end, 0), extent)
		if start >= end {
			return 0, 0, nil
		}
		return start, (end-start-1)/step + 1, nil
	}
	start, end = min(max(start, -1), extent-1), min(max(end, -1), extent-1)
	if start <= end {
		return 0, 0, nil
	}
	if step == math.MinInt {
		return start, 1, nil // it has no negative
	}
	return start, (start-end-1)/-step + 1, nil
}

// BroadcastTo is the view that repeats axes of extent 1 and adds outer axes
// to reach a shape.
type BroadcastTo struct {
	Shape []int
}

// Name returns "broadcast_to".
func (BroadcastTo) Name() string { return "broadcast_to" }

// Infer returns the stated shape.
func (o BroadcastTo) Infer(in []graph.Type) ([]graph.Type, error) { return inferView(o, in) }

// View gives the repeated axes the stride 0.
func (o BroadcastTo) View(in shape.Layout) (shape.Layout, bool) { return viewed(o.view(in)) }

func (o BroadcastTo) view(in shape.Layout) (shape.Layout, error) { return in.BroadcastTo(o.Shape) }

// Diagonal is the view of the elements whose indices on two axes are i and
// i+Offset, as in NumPy: the two axes are removed and i becomes the last axis.
type Diagonal struct {
	Axis1, Axis2, Offset int
}

// Name returns "diagonal".
func (Diagonal) Name() string { return "diagonal" }

// Infer replaces the two axes by their diagonal.
func (o Diagonal) Infer(in []graph.Type) ([]graph.Type, error) { return inferView(o, in) }

// View gives the diagonal the sum of the strides of its axes.
func (o Diagonal) View(in shape.Layout) (shape.Layout, bool) { return viewed(o.view(in)) }

func (o Diagonal) view(in shape.Layout) (shape.Layout, error) {
	rank := len(in.Shape)
	a, err := shape.Axis(o.Axis1, rank)
	if err != nil {
		return shape.Layout{}, err
	}
	b, err := shape.Axis(o.Axis2, rank)
	if err != nil {
		return shape.Layout{}, err
	}
	if a == b {
		return shape.Layout{}, fmt.Errorf("axes %d and %d are the same axis of shape %v", o.Axis1, o.Axis2, in.Shape)
	}
	// The first index on each axis; extents are far below the range of int,
	// so that only Offset itself could overflow.
	rows, cols := in.Shape[a], in.Shape[b]
	offset := min(max(o.Offset, -rows), cols)
	i, j := max(-offset, 0), max(offset, 0)
	n := max(min(rows-i, cols-j), 0)
	out := shape.Layout{Offset: in.Offset}
	for axis, d := range in.Shape {
		if axis != a && axis != b {
			out.Shape, out.Strides = append(out.Shape, d), append(out.Strides, in.Strides[axis])
		}
	}
	out.Shape, out.Strides = append(out.Shape, n), append(out.Strides, in.Strides[a]+in.Strides[b])
	if n > 0 {
		out.Offset += i*in.Strides[a] + j*in.Strides[b]
	}
	return out, nil
}

// A layoutView is a view that exists for every layout of its input's shape.
type layoutView interface {
	view(in shape.Layout) (shape.Layout, error)
}

// inferView derives the output type of a view from what it does to a layout.
func inferView(o layoutView, in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 1, 1); err != nil {
		return nil, err
	}
	out, err := o.view(shape.Dense(in[0].Shape))
	if err != nil {
		return nil, err
	}
	return []graph.Type{{DType: in[0].DType, Shape: out.Shape}}, nil
}

func viewed(l shape.Layout, err error) (shape.Layout, bool) { return l, err == nil }

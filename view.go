package berth

import (
	"fmt"

	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// The methods of this file return views of a tensor: other layouts of the
// storage that both then share. They copy nothing, but for Reshape where it
// says so. The methods of [Promise] of the same names are for expressions.

// view returns a tensor of another layout of the same storage.
func (t *Tensor) view(l shape.Layout) *Tensor { return &Tensor{t.dtype, l, t.data} }

// Reshape returns the elements in row-major order as another shape. One extent
// may be -1: it is what the others leave. The result is a view where strides
// can express it, always so when t is dense; elsewhere, as after a
// transposition, it is a dense copy.
func (t *Tensor) Reshape(dims ...int) (*Tensor, error) {
	s, err := inferDim(t.layout.Shape, dims)
	if err != nil {
		return nil, fmt.Errorf("berth: reshape of %s: %w", t.describe(), err)
	}
	if s.Elems() != t.Len() {
		return nil, fmt.Errorf("berth: reshape of %s: shape %v has %d elements, not %d", t.describe(), s, s.Elems(), t.Len())
	}
	if l, ok := t.layout.Reshape(s); ok {
		return t.view(l), nil
	}
	return &Tensor{t.dtype, shape.Dense(s), t.bytes()}, nil
}

// Slice returns the elements start, start+step, ... before end of one axis.
// Negative bounds count from the end and bounds outside the axis are moved to
// its ends, as in NumPy. To run backwards through element 0, give an end below
// minus the extent.
func (t *Tensor) Slice(axis, start, end, step int) (*Tensor, error) {
	at, err := shape.Axis(axis, t.Rank())
	if err != nil {
		return nil, fmt.Errorf("berth: slice of %s: %w", t.describe(), err)
	}
	first, n, err := view.SliceRange(start, end, step, t.layout.Shape[at])
	if err != nil {
		return nil, fmt.Errorf("berth: slice of %s: %w", t.describe(), err)
	}
	l, err := t.layout.Slice(at, first, n, step)
	if err != nil {
		return nil, fmt.Errorf("berth: slice of %s: %w", t.describe(), err)
	}
	return t.view(l), nil
}

// Index returns element i of an axis, without the axis. A negative i counts
// from the end.
func (t *Tensor) Index(axis, i int) (*Tensor, error) {
	at, err := shape.Axis(axis, t.Rank())
	if err != nil {
		return nil, fmt.Errorf("berth: index of %s: %w", t.describe(), err)
	}
	d := t.layout.Shape[at]
	if i < -d || i >= d {
		return nil, fmt.Errorf("berth: index %d is outside axis %d of %s", i, at, t.describe())
	}
	if i < 0 {
		i += d
	}
	l := shape.Layout{Offset: t.layout.Offset + i*t.layout.Strides[at]}
	for a, d := range t.layout.Shape {
		if a != at {
			l.Shape, l.Strides = append(l.Shape, d), append(l.Strides, t.layout.Strides[a])
		}
	}
	return t.view(l), nil
}

// Transpose returns t with its last two axes exchanged.
func (t *Tensor) Transpose() (*Tensor, error) {
	if t.Rank() < 2 {
		return nil, fmt.Errorf("berth: transpose: %s has fewer than 2 axes", t.describe())
	}
	return t.Permute(lastTwoSwapped(t.Rank())...)
}

// lastTwoSwapped returns the permutation of rank axes that exchanges the last
// two.
func lastTwoSwapped(rank int) []int {
	perm := make([]int, rank)
	for i := range perm {
		perm[i] = i
	}
	perm[rank-2], perm[rank-1] = rank-1, rank-2
	return perm
}

// Permute returns t with its axes in another order: axis i of the result is
// axis axes[i] of t.
func (t *Tensor) Permute(axes ...int) (*Tensor, error) {
	l, err := t.layout.Permute(axes)
	if err != nil {
		return nil, fmt.Errorf("berth: permute of %s: %w", t.describe(), err)
	}
	return t.view(l), nil
}

// BroadcastTo returns t repeated along axes of extent 1 and new outer axes, as
// strides of 0.
func (t *Tensor) BroadcastTo(dims ...int) (*Tensor, error) {
	if err := shape.Shape(dims).Check(); err != nil {
		return nil, fmt.Errorf("berth: broadcast of %s: %w", t.describe(), err)
	}
	l, err := t.layout.BroadcastTo(dims)
	if err != nil {
		return nil, fmt.Errorf("berth: broadcast of %s: %w", t.describe(), err)
	}
	return t.view(l), nil
}

// Contiguous returns t itself when it is dense, a dense copy otherwise.
func (t *Tensor) Contiguous() *Tensor {
	if t.IsDense() {
		return t
	}
	return &Tensor{t.dtype, shape.Dense(t.layout.Shape), t.bytes()}
}

// describe names a tensor in messages by its type and shape.
func (t *Tensor) describe() string { return t.dtype.String() + t.layout.Shape.String() }

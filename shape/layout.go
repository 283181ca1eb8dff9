package shape

import (
	"fmt"
	"slices"
)

// A Layout says where the elements of a tensor lie in its storage: the
// element at index (i0, i1, ...) is at Offset + i0*Strides[0] + i1*Strides[1]
// + ... Strides and Offset count elements, not bytes; a stride may be 0
// (broadcast) or negative (reversed). Layouts are values: no method changes
// its receiver or shares its slices with the result unless it says so.
type Layout struct {
	Shape   Shape
	Strides []int
	Offset  int
}

// Dense returns the row-major layout of s at offset 0. It keeps s.
func Dense(s Shape) Layout {
	return Layout{Shape: s, Strides: DenseStrides(make([]int, len(s)), s)}
}

// DenseStrides fills dst, which must have the length of s, with the
// row-major strides of s and returns it.
func DenseStrides(dst []int, s Shape) []int {
	n := 1
	for i := len(s) - 1; i >= 0; i-- {
		dst[i] = n
		n *= max(s[i], 1)
	}
	return dst
}

// IsDense reports whether the elements lie in row-major order without gaps,
// from wherever the layout starts. Axes of extent 1 may have any stride;
// an empty layout is dense.
func (l Layout) IsDense() bool { return l.DenseAxes() == len(l.Shape) }

// DenseAxes returns how many trailing axes, taken together, lie in row-major
// order without gaps.
func (l Layout) DenseAxes() int {
	if slices.Contains(l.Shape, 0) {
		return len(l.Shape)
	}
	n := 1
	for i := len(l.Shape) - 1; i >= 0; i-- {
		if l.Shape[i] != 1 && l.Strides[i] != n {
			return len(l.Shape) - 1 - i
		}
		n *= l.Shape[i]
	}
	return len(l.Shape)
}

// Equal reports whether l and m address the same elements in the same order;
// strides of axes of extent 1 do not count.
func (l Layout) Equal(m Layout) bool {
	if !l.Shape.Equal(m.Shape) {
		return false
	}
	if slices.Contains(l.Shape, 0) {
		return true
	}
	for i, d := range l.Shape {
		if d != 1 && l.Strides[i] != m.Strides[i] {
			return false
		}
	}
	return l.Offset == m.Offset
}

// Bounds returns the half-open range of storage elements that l touches;
// (0, 0) when it touches none.
func (l Layout) Bounds() (lo, hi int) {
	lo, hi = l.Offset, l.Offset
	for i, d := range l.Shape {
		if d == 0 {
			return 0, 0
		}
		if span := (d - 1) * l.Strides[i]; span < 0 {
			lo += span
		} else {
			hi += span
		}
	}
	return lo, hi + 1
}

// Within reports why l is not the layout of elements of a storage of n
// elements: no stride for an axis, an invalid shape, or an element outside.
// Unlike [Layout.Bounds] it is safe for any strides and offset.
func (l Layout) Within(n int) error {
	if len(l.Strides) != len(l.Shape) {
		return fmt.Errorf("layout of shape %v has %d strides, want %d", l.Shape, len(l.Strides), len(l.Shape))
	}
	if err := l.Shape.Check(); err != nil {
		return err
	}
	if slices.Contains(l.Shape, 0) {
		return nil
	}
	// Room is what is left of the storage behind and before the offset.
	before, behind := l.Offset, n-1-l.Offset
	inside := l.Offset >= 0 && l.Offset < n
	for i, d := range l.Shape {
		switch stride := l.Strides[i]; {
		case !inside || d == 1 || stride == 0:
		case stride > 0 && stride <= behind/(d-1):
			behind -= stride * (d - 1)
		case stride < 0 && stride >= -before/(d-1):
			before += stride * (d - 1)
		default:
			inside = false
		}
	}
	if !inside {
		return fmt.Errorf("layout %v leaves its storage of %d elements", l, n)
	}
	return nil
}

// At returns the storage element of the given index, which must be in range.
func (l Layout) At(index ...int) int {
	at := l.Offset
	for i, x := range index {
		at += x * l.Strides[i]
	}
	return at
}

// String prints shape, strides and offset, as in "[2 3]:[3 1]+0".
func (l Layout) String() string {
	return fmt.Sprintf("%v:%v%+d", l.Shape, l.Strides, l.Offset)
}

// Permute returns l with its axes in the order perm: axis i of the result is
// axis perm[i] of l.
func (l Layout) Permute(perm []int) (Layout, error) {
	if err := checkPermutation(perm, len(l.Shape)); err != nil {
		return Layout{}, err
	}
	out := Layout{Shape: make(Shape, len(perm)), Strides: make([]int, len(perm)), Offset: l.Offset}
	for i, p := range perm {
		out.Shape[i], out.Strides[i] = l.Shape[p], l.Strides[p]
	}
	return out, nil
}

// checkPermutation reports why perm does not name each axis of the rank once.
func checkPermutation(perm []int, rank int) error {
	if len(perm) != rank {
		return fmt.Errorf("permutation %v names %d axes, the tensor has %d", perm, len(perm), rank)
	}
	seen := make([]bool, rank)
	for _, p := range perm {
		if p < 0 || p >= rank || seen[p] {
			return fmt.Errorf("%v is not a permutation of %d axes", perm, rank)
		}
		seen[p] = true
	}
	return nil
}

// Slice returns the n elements start, start+step, ... of one axis. They must
// all exist; step may be negative but not 0.
func (l Layout) Slice(axis, start, n, step int) (Layout, error) {
	if axis < 0 || axis >= len(l.Shape) {
		return Layout{}, fmt.Errorf("axis %d is out of range for shape %v", axis, l.Shape)
	}
	d := l.Shape[axis]
	if step == 0 || n < 0 || n > d || n > 0 && (start < 0 || start >= d) {
		return Layout{}, fmt.Errorf("slice of %d elements from %d by %d does not lie in axis %d of shape %v", n, start, step, axis, l.Shape)
	}
	if n > 1 && (step > (d-1-start)/(n-1) || step < -start/(n-1)) {
		return Layout{}, fmt.Errorf("slice of %d elements from %d by %d leaves axis %d of shape %v", n, start, step, axis, l.Shape)
	}
	out := Layout{Shape: l.Shape.Clone(), Strides: slices.Clone(l.Strides), Offset: l.Offset}
	out.Shape[axis] = n
	if n > 0 {
		out.Offset += start * l.Strides[axis]
	}
	if n > 1 {
		out.Strides[axis] *= step
	}
	return out, nil
}

// BroadcastTo returns l extended to shape s by repeating axes of extent 1
// (stride 0) and adding outer axes.
func (l Layout) BroadcastTo(s Shape) (Layout, error) {
	lead := len(s) - len(l.Shape)
	if lead < 0 {
		return Layout{}, fmt.Errorf("shape %v does not broadcast to %v: it has more axes", l.Shape, s)
	}
	out := Layout{Shape: s.Clone(), Strides: make([]int, len(s)), Offset: l.Offset}
	for i, d := range l.Shape {
		switch {
		case d == s[lead+i]:
			out.Strides[lead+i] = l.Strides[i]
		case d != 1:
			return Layout{}, fmt.Errorf("shape %v does not broadcast to %v: %d against %d at axis %d", l.Shape, s, d, s[lead+i], lead+i)
		}
	}
	return out, s.Check()
}

// Reshape returns a layout of shape s over the same elements in the same
// row-major order. It reports false when strides cannot express that, when
// the element counts differ, or when s is not valid.
//
// Axes are walked from the innermost out; each maximal group of axes of l
// whose strides chain (outer stride = inner stride times inner extent) can be
// cut anew, and no axis of s may straddle two groups.
func (l Layout) Reshape(s Shape) (Layout, bool) {
	if s.Check() != nil || s.Elems() != l.Shape.Elems() {
		return Layout{}, false
	}
	out := Layout{Shape: s.Clone(), Strides: make([]int, len(s)), Offset: l.Offset}
	if s.Elems() == 0 || l.IsDense() {
		DenseStrides(out.Strides, s)
		return out, true
	}
	to := len(s) - 1
	for from := len(l.Shape) - 1; from >= 0; {
		if l.Shape[from] == 1 {
			from--
			continue
		}
		stride, group := l.Strides[from], l.Shape[from]
		for from--; from >= 0; from-- {
			if d := l.Shape[from]; d != 1 {
				if l.Strides[from] != stride*group {
					break
				}
				group *= d
			}
		}
		for n := 1; n < group; to-- {
			if to < 0 {
				return Layout{}, false
			}
			out.Strides[to] = stride * n
			n *= s[to]
			if group%n != 0 {
				return Layout{}, false
			}
		}
	}
	for ; to >= 0; to-- { // what is left are outer axes of extent 1
		out.Strides[to] = 1
	}
	return out, true
}

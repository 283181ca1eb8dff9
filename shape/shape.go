// Package shape is the algebra of tensor shapes and memory layouts: element
// counts that cannot overflow, NumPy broadcasting, and the views that
// re-describe storage without moving it.
package shape

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// MaxElems is the most elements a shape may have: their bytes, and a few
// times as many, fit an int whatever the element type.
const MaxElems = math.MaxInt / 64

// A Shape lists the extent of each axis, outermost first. A nil or empty
// Shape is a scalar; an extent of 0 is legal and makes the tensor empty.
type Shape []int

// Check reports a negative extent or an element count above [MaxElems].
func (s Shape) Check() error {
	n := uint64(1)
	for axis, d := range s {
		switch {
		case d < 0:
			return fmt.Errorf("shape %v: axis %d has the negative extent %d", s, axis, d)
		case d == 0: // legal: the tensor is empty
		default:
			hi, lo := bits.Mul64(n, uint64(d))
			if hi != 0 || lo > MaxElems {
				// An empty axis elsewhere does not excuse extents whose
				// strides would overflow.
				return fmt.Errorf("shape %v: more than %d elements", s, MaxElems)
			}
			n = lo
		}
	}
	return nil
}

// Elems returns the number of elements; 1 for a scalar. The shape must have
// passed [Shape.Check].
func (s Shape) Elems() int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// Equal reports whether s and t have the same rank and extents.
func (s Shape) Equal(t Shape) bool { return slices.Equal(s, t) }

// Clone returns a copy that shares nothing with s.
func (s Shape) Clone() Shape { return append(make(Shape, 0, len(s)), s...) }

// String prints s as in "[2 3]"; a scalar is "[]".
func (s Shape) String() string { return fmt.Sprint([]int(s)) }

// Axis returns axis as a number in [0, rank): a negative axis counts from the
// end.
func Axis(axis, rank int) (int, error) {
	if axis < -rank || axis >= rank {
		return 0, fmt.Errorf("axis %d is out of range for rank %d", axis, rank)
	}
	if axis < 0 {
		axis += rank
	}
	return axis, nil
}

// Axes returns axes normalised by [Axis], in ascending order; a repeated axis
// is an error. An empty list means every axis of the rank.
func Axes(axes []int, rank int) ([]int, error) {
	if len(axes) == 0 {
		all := make([]int, rank)
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	out := make([]int, 0, len(axes))
	for _, a := range axes {
		n, err := Axis(a, rank)
		if err != nil {
			return nil, err
		}
		if slices.Contains(out, n) {
			return nil, fmt.Errorf("axis %d is given twice in %v", a, axes)
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return out, nil
}

// Broadcast returns the shape that all of shapes extend to under NumPy's
// rules: aligned at the innermost axis, extents equal or 1.
func Broadcast(shapes ...Shape) (Shape, error) {
	rank := 0
	for _, s := range shapes {
		rank = max(rank, len(s))
	}
	out := make(Shape, rank)
	for i := range out {
		out[i] = 1
	}
	for _, s := range shapes {
		for i, d := range s {
			o := &out[rank-len(s)+i]
			switch {
			case d == *o || d == 1:
			case *o == 1:
				*o = d
			default:
				return nil, fmt.Errorf("shapes %s do not broadcast: %d against %d at axis %d of the result",
					join(shapes), d, *o, rank-len(s)+i)
			}
		}
	}
	return out, out.Check()
}

func join(shapes []Shape) string {
	words := make([]string, len(shapes))
	for i, s := range shapes {
		words[i] = s.String()
	}
	return strings.Join(words, " and ")
}

// Resolve returns the shape of dims, of which one may be -1: it becomes what the
// others leave of the elements of s.
func (s Shape) Resolve(dims []int) (Shape, error) {
	out, open := Shape(dims).Clone(), slices.Index(dims, -1)
	if open < 0 {
		return out, out.Check()
	}
	if slices.Contains(dims[open+1:], -1) {
		return nil, fmt.Errorf("shape %v has two extents of -1", Shape(dims))
	}
	out[open] = 1
	if err := out.Check(); err != nil {
		return nil, err
	}
	rest := out.Elems()
	if rest == 0 || s.Elems()%rest != 0 {
		return nil, fmt.Errorf("shape %v does not fit the %d elements of shape %v", Shape(dims), s.Elems(), s)
	}
	out[open] = s.Elems() / rest
	return out, nil
}

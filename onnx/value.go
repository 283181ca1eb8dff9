package onnx

import (
	"errors"
	"fmt"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// A Value is what an input or output of a model may be:
//
//	*Array    a tensor, also one of strings
//	Sequence  a list of values
//	*Map      values by keys
//	nil       an optional value that is empty; one that is not is the value itself
type Value interface {
	// Type names the type of the value, as in "FLOAT[2 3]".
	Type() string
}

// An Array is a tensor in memory that its owner may write: the elements in
// row-major order, which lie dense. A run that fills an Array uses its memory again
// where that suffices.
type Array struct {
	typ  dtype.Type // Invalid for strings
	dims shape.Shape
	data []byte   // of numbers
	text []string // of strings

	// ids says that the elements stand for strings, in a session alone; see texts.
	ids bool
	// frozen says that the elements never change any more.
	frozen bool
}

// NewArray returns an array over elements of the given shape. The memory is shared,
// not copied.
func NewArray[T dtype.Element](elems []T, dims ...int) (*Array, error) {
	s, err := shapeFor(len(elems), dims)
	if err != nil {
		return nil, err
	}
	return &Array{typ: dtype.Of[T](), dims: s, data: kernel.Bytes(elems)}, nil
}

// NewStrings returns an array over strings of the given shape. The memory is shared,
// not copied.
func NewStrings(text []string, dims ...int) (*Array, error) {
	s, err := shapeFor(len(text), dims)
	if err != nil {
		return nil, err
	}
	return &Array{dims: s, text: text}, nil
}

// shapeFor returns dims as the shape of n elements.
func shapeFor(n int, dims []int) (shape.Shape, error) {
	s := shape.Shape(slices.Clone(dims))
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	if n != s.Elems() {
		return nil, fmt.Errorf("onnx: %d elements for the shape %v, which takes %d", n, s, s.Elems())
	}
	return s, nil
}

// ArrayOf returns an array with the elements of a tensor. It shares the memory of one
// that is dense, and must not be written.
func ArrayOf(t *berth.Tensor) *Array {
	return arrayOf(t.DType(), inside.Leaf(t), false)
}

// arrayOf returns an array with the elements of a leaf.
func arrayOf(t dtype.Type, leaf graph.Leaf, ids bool) *Array {
	a := &Array{typ: t, dims: leaf.Layout.Shape, ids: ids, frozen: true}
	if size := t.Size(); leaf.Layout.IsDense() {
		at := leaf.Layout.Offset * size
		a.data = leaf.Data[at : at+a.dims.Elems()*size]
	} else {
		a.data = kernel.Compact(leaf.Data, leaf.Layout, size)
	}
	return a
}

// Elements returns the elements of an array, numbers, in row-major order. T is the Go
// type of its elements. The slice shares the memory of the array.
func Elements[T dtype.Element](a *Array) ([]T, error) {
	if t := dtype.Of[T](); a == nil || a.typ != t || a.ids {
		return nil, fmt.Errorf("onnx: the elements of %s are not %v", TypeOf(a), t)
	}
	return kernel.Cast[T](a.data), nil
}

// Strings returns the elements of an array of strings in row-major order. The slice is
// the array's own.
func (a *Array) Strings() ([]string, error) {
	if a == nil || a.typ != dtype.Invalid {
		return nil, fmt.Errorf("onnx: the elements of %s are not strings", TypeOf(a))
	}
	return a.text, nil
}

// DType returns the element type; dtype.Invalid for strings.
func (a *Array) DType() dtype.Type { return a.typ }

// Shape returns the extents, which must not be changed.
func (a *Array) Shape() []int { return a.dims }

// Type implements [Value].
func (a *Array) Type() string {
	if a == nil {
		return "nil"
	}
	return fmt.Sprintf("%s%v", a.elem(), a.dims)
}

func (a *Array) elem() string {
	if a.typ == dtype.Invalid || a.ids {
		return "string"
	}
	return a.typ.String()
}

// Tensor returns a tensor with the elements, numbers, in memory of its own.
func (a *Array) Tensor() (*berth.Tensor, error) {
	if a.typ == dtype.Invalid {
		return nil, fmt.Errorf("onnx: an array of strings is no tensor of package berth")
	}
	data := kernel.Alloc(len(a.data))
	copy(data, a.data)
	return a.over(data)
}

// over returns a tensor like the array, over its elements.
func (a *Array) over(data []byte) (*berth.Tensor, error) {
	return inside.Tensor(graph.Type{DType: a.typ, Shape: slices.Clone(a.dims)}, graph.Leaf{Layout: shape.Dense(slices.Clone(a.dims)), Data: data})
}

// become gives the array another type and shape, with elements that hold anything.
// Its memory serves again where it suffices.
func (a *Array) become(t dtype.Type, dims []int, ids bool) {
	a.typ, a.ids, a.text = t, ids, a.text[:0]
	a.dims = append(a.dims[:0], dims...)
	n := a.dims.Elems() * t.Size()
	if cap(a.data) < n {
		a.data = kernel.Alloc(n)
	}
	a.data = a.data[:n]
}

// assign makes the array a copy of another one.
func (a *Array) assign(from *Array) {
	if a == from {
		return
	}
	if from.typ == dtype.Invalid {
		a.typ, a.ids, a.data = dtype.Invalid, false, a.data[:0]
		a.dims = append(a.dims[:0], from.dims...)
		a.text = append(a.text[:0], from.text...)
		return
	}
	a.become(from.typ, from.dims, from.ids)
	copy(a.data, from.data)
}

// A Sequence is a list of values.
type Sequence []Value

// Type implements [Value].
func (s Sequence) Type() string {
	if len(s) == 0 {
		return "empty sequence"
	}
	return fmt.Sprintf("sequence of %d, the first %s", len(s), TypeOf(s[0]))
}

// A Map has as many keys, integers or strings, in ascending order, as values.
type Map struct{ Keys, Values *Array }

// Type implements [Value].
func (m *Map) Type() string {
	if m == nil || m.Keys == nil || m.Values == nil {
		return "nil"
	}
	return fmt.Sprintf("map of %d %s to %s", m.Keys.dims.Elems(), m.Keys.elem(), m.Values.elem())
}

// TypeOf names the type of a value, which may be nil.
func TypeOf(v Value) string {
	if v == nil {
		return "empty optional"
	}
	return v.Type()
}

// whole reports what a value that a caller gives lacks: a part that is nil, elements of an
// array that was never filled, or as many values as keys.
func whole(v Value) error {
	switch v := v.(type) {
	case nil:
		return nil
	case *Array:
		if v == nil || v.typ == dtype.Invalid && len(v.text) != v.dims.Elems() {
			return errors.New("an array is nil or has no elements yet")
		}
		return nil
	case Sequence:
		for i, item := range v {
			if err := whole(item); err != nil {
				return fmt.Errorf("item %d: %w", i, err)
			}
		}
		return nil
	case *Map:
		if v == nil {
			return errors.New("a map is nil")
		}
		if err := errors.Join(whole(v.Keys), whole(v.Values)); err != nil {
			return fmt.Errorf("a map: %w", err)
		}
		if k, n := v.Keys.dims.Elems(), v.Values.dims.Elems(); k != n {
			return fmt.Errorf("a map has %d keys and %d values", k, n)
		}
		return nil
	}
	return fmt.Errorf("values of Go type %T are not supported", v)
}

// overlaps reports whether arrays in v, or v itself, share memory with a, up to the
// capacity of that.
func overlaps(v Value, a *Array) bool {
	switch v := v.(type) {
	case *Array:
		return kernel.Overlap(v.data, a.data[:cap(a.data)])
	case Sequence:
		return slices.ContainsFunc(v, func(item Value) bool { return overlaps(item, a) })
	case *Map:
		return overlaps(v.Keys, a) || overlaps(v.Values, a)
	}
	return false
}

// frozenCopy returns a copy of v that never changes.
func frozenCopy(v Value) Value {
	switch v := v.(type) {
	case *Array:
		if v.frozen {
			return v
		}
		c := &Array{}
		c.assign(v)
		c.frozen = true
		return c
	case Sequence:
		c := make(Sequence, len(v))
		for i, item := range v {
			c[i] = frozenCopy(item)
		}
		return c
	}
	return v
}

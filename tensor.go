package berth

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// A DType is the element type of a tensor.
type DType = dtype.Type

// The element types. Float16 and BFloat16 are stored as such and computed
// through float32. Those from Int2 on are stored, moved and cast, but have no
// arithmetic; in memory each element takes a byte.
const (
	Bool     = dtype.Bool
	Uint8    = dtype.Uint8
	Uint16   = dtype.Uint16
	Uint32   = dtype.Uint32
	Uint64   = dtype.Uint64
	Int8     = dtype.Int8
	Int16    = dtype.Int16
	Int32    = dtype.Int32
	Int64    = dtype.Int64
	Float16  = dtype.Float16
	BFloat16 = dtype.BFloat16
	Float32  = dtype.Float32
	Float64  = dtype.Float64

	Int2           = dtype.Int2
	Uint2          = dtype.Uint2
	Int4           = dtype.Int4
	Uint4          = dtype.Uint4
	Float4E2M1     = dtype.Float4E2M1
	Float8E4M3FN   = dtype.Float8E4M3FN
	Float8E4M3FNUZ = dtype.Float8E4M3FNUZ
	Float8E5M2     = dtype.Float8E5M2
	Float8E5M2FNUZ = dtype.Float8E5M2FNUZ
	Float8E8M0     = dtype.Float8E8M0
)

// Element lists the Go types that tensors are made from and read as. Those that Go
// does not have itself are in package dtype, such as [dtype.F16], [dtype.I4] and
// [dtype.F8E4M3FN].
type Element = dtype.Element

// A Tensor is storage plus a layout: shape, strides and offset. It is
// immutable, so views and results share storage freely, and safe for
// concurrent use.
//
// A nil Tensor and the zero Tensor hold nothing. They have no element type, no
// axes and no elements, and whatever works on elements returns an error.
type Tensor struct {
	dtype  dtype.Type
	layout shape.Layout
	data   []byte // the whole storage, aligned to the element width
}

// usable returns an error about a tensor that holds nothing.
func (t *Tensor) usable() error {
	switch {
	case t == nil:
		return errors.New("berth: the tensor is nil")
	case t.dtype == dtype.Invalid:
		return errors.New("berth: the tensor is the zero Tensor, which holds nothing")
	}
	return nil
}

// maxBytes bounds storage, below what the Go runtime takes for a size that is
// none and above what machines have.
const maxBytes = 1 << 46

// newTensor returns a tensor with fresh zero storage for the given shape.
func newTensor(t dtype.Type, dims []int) (*Tensor, error) {
	typ := graph.Type{DType: t, Shape: shape.Shape(dims).Clone()}
	if err := typ.Check(); err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	if n := int64(typ.Bytes()); n > maxBytes {
		return nil, fmt.Errorf("berth: %v takes %d bytes, more than the %d that a tensor may", typ, n, int64(maxBytes))
	}
	return &Tensor{t, shape.Dense(typ.Shape), kernel.Alloc(typ.Bytes())}, nil
}

// FromSlice returns a tensor of the given shape over a copy of data, which
// lists the elements in row-major order. The number of elements must match.
func FromSlice[T Element](data []T, dims ...int) (*Tensor, error) {
	if err := shape.Shape(dims).Check(); err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	if n := shape.Shape(dims).Elems(); n != len(data) {
		return nil, fmt.Errorf("berth: %d elements for shape %v, which has %d", len(data), shape.Shape(dims), n)
	}
	t, err := newTensor(dtype.Of[T](), dims)
	if err != nil {
		return nil, err
	}
	copy(kernel.Cast[T](t.data), data)
	return t, nil
}

// Scalar returns a tensor of rank 0.
func Scalar[T Element](value T) *Tensor {
	t, _ := FromSlice([]T{value}) // the empty shape is always right
	return t
}

// Full returns a tensor of the given shape filled with value. It stores the
// value once, with strides of 0.
func Full[T Element](value T, dims ...int) (*Tensor, error) {
	one := Scalar(value)
	layout, err := one.layout.BroadcastTo(dims)
	if err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	return &Tensor{one.dtype, layout, one.data}, nil
}

// Zeros returns a tensor of the given type and shape filled with zero.
func Zeros(t DType, dims ...int) (*Tensor, error) { return newTensor(t, dims) }

// A Number is an element type that can be counted in.
type Number interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | float32 | float64
}

// maxRange bounds the elements of a Range, far above what fits in memory.
const maxRange = 1 << 48

// Range returns the numbers start, start+step, ... below limit (above it when
// step is negative), as a tensor of one axis. Step must not be 0.
func Range[T Number](start, limit, step T) (*Tensor, error) {
	if step == 0 || step != step {
		return nil, fmt.Errorf("berth: range from %v to %v with step %v", start, limit, step)
	}
	// In float64, which holds every count that fits in memory exactly.
	span := float64(limit) - float64(start)
	count := span / float64(step)
	if !(count < maxRange) {
		return nil, fmt.Errorf("berth: range from %v to %v with step %v has %.0f elements", start, limit, step, count)
	}
	n := max(int(count), 0)
	if float64(n) < count {
		n++
	}
	t, err := newTensor(dtype.Of[T](), []int{n})
	if err != nil {
		return nil, err
	}
	for i, out := 0, kernel.Cast[T](t.data); i < n; i++ {
		out[i] = start + T(i)*step
	}
	return t, nil
}

// Identity returns the n x n tensor with ones on the diagonal and zeros
// elsewhere.
func Identity[T Number](n int) (*Tensor, error) {
	t, err := newTensor(dtype.Of[T](), []int{n, n})
	if err != nil {
		return nil, err
	}
	out := kernel.Cast[T](t.data)
	for i := range n {
		out[i*n+i] = 1
	}
	return t, nil
}

// Uniform returns a tensor of independent numbers drawn evenly from [0, 1).
func Uniform[T float32 | float64](rng *rand.Rand, dims ...int) (*Tensor, error) {
	return draw[T](rng, dims, func() float64 {
		var v T
		for v = T(rng.Float64()); v >= 1; { // rounding to T may reach 1
			v = T(rng.Float64())
		}
		return float64(v)
	})
}

// Normal returns a tensor of independent numbers with mean 0 and standard
// deviation 1.
func Normal[T float32 | float64](rng *rand.Rand, dims ...int) (*Tensor, error) {
	return draw[T](rng, dims, func() float64 { return rng.NormFloat64() })
}

// draw returns a tensor of numbers that next draws from rng.
func draw[T float32 | float64](rng *rand.Rand, dims []int, next func() float64) (*Tensor, error) {
	if rng == nil {
		return nil, errors.New("berth: the source of random numbers is nil")
	}
	t, err := newTensor(dtype.Of[T](), dims)
	if err != nil {
		return nil, err
	}
	out := kernel.Cast[T](t.data)
	for i := range out {
		out[i] = T(next())
	}
	return t, nil
}

// DType returns the element type; Invalid if the tensor holds nothing.
func (t *Tensor) DType() DType {
	if t == nil {
		return dtype.Invalid
	}
	return t.dtype
}

// Shape returns a copy of the extents, outermost axis first.
func (t *Tensor) Shape() []int {
	if t == nil {
		return nil
	}
	return append([]int{}, t.layout.Shape...)
}

// Strides returns a copy of the distances, in elements, between neighbours
// along each axis.
func (t *Tensor) Strides() []int {
	if t == nil {
		return nil
	}
	return append([]int{}, t.layout.Strides...)
}

// Rank returns the number of axes.
func (t *Tensor) Rank() int {
	if t == nil {
		return 0
	}
	return len(t.layout.Shape)
}

// Len returns the number of elements.
func (t *Tensor) Len() int {
	if t.usable() != nil {
		return 0
	}
	return t.layout.Shape.Elems()
}

// IsDense reports whether the elements lie in row-major order without gaps.
func (t *Tensor) IsDense() bool { return t.usable() == nil && t.layout.IsDense() }

// Promise returns a promise of the tensor, at which an expression starts. Two
// promises of one tensor are different nodes of a graph.
func (t *Tensor) Promise() *Promise {
	if err := t.usable(); err != nil {
		return broken("a promise of nothing: %w", err)
	}
	n, err := graph.NewConstant(graph.Type{DType: t.dtype, Shape: t.layout.Shape}, graph.Leaf{Layout: t.layout, Data: t.data})
	if err != nil {
		return &Promise{err: fmt.Errorf("berth: %w", err)}
	}
	return &Promise{value: n.Output(0)}
}

// holds returns an error when the elements of t are not of type T.
func holds[T Element](t *Tensor) error {
	if err := t.usable(); err != nil {
		return err
	}
	if dtype.Of[T]() != t.dtype {
		return fmt.Errorf("berth: the elements are %v, not %v", t.dtype, dtype.Of[T]())
	}
	return nil
}

// Data returns the elements in row-major order. T must be the Go type of the
// element type. The slice is shared with the tensor when that is dense, and
// must not be changed then; it is a copy otherwise.
func Data[T Element](t *Tensor) ([]T, error) {
	if err := holds[T](t); err != nil {
		return nil, err
	}
	if t.Len() == 0 {
		return []T{}, nil
	}
	return kernel.Cast[T](t.bytes()), nil
}

// At returns the element at the given index, one number for each axis, of
// which negative ones count from the end.
func At[T Element](t *Tensor, index ...int) (T, error) {
	var zero T
	if err := holds[T](t); err != nil {
		return zero, err
	}
	if len(index) != t.Rank() {
		return zero, fmt.Errorf("berth: index %v for shape %v", index, t.layout.Shape)
	}
	at := t.layout.Offset
	for axis, i := range index {
		d := t.layout.Shape[axis]
		if i < -d || i >= d {
			return zero, fmt.Errorf("berth: index %v is outside shape %v", index, t.layout.Shape)
		}
		if i < 0 {
			i += d
		}
		at += i * t.layout.Strides[axis]
	}
	return kernel.Cast[T](t.data)[at], nil
}

// bytes returns the elements in row-major order as little-endian bytes, which
// may be shared.
func (t *Tensor) bytes() []byte {
	size, n := t.dtype.Size(), t.Len()
	if n == 0 {
		return nil
	}
	if t.IsDense() {
		return t.data[t.layout.Offset*size:][:n*size]
	}
	return kernel.Compact(t.data, t.layout, size)
}

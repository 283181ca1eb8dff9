package kernel

import "github.com/berth-go/berth/shape"

// NewCopy returns a kernel that copies its input to its output for elements
// of the given width in bytes: 1, 2, 4 or 8. Both may have any strides.
// With equal shapes it equals the loop
//
//	for each index i: out[i] = in[i]
//
// and with unequal shapes of one element count, element n of the input in
// row-major order becomes element n of the output. Where input and output are
// the same memory with the same strides, nothing is moved.
func NewCopy(width int) Kernel {
	return OfWidth(width, &copyKernel[uint8]{}, &copyKernel[uint16]{}, &copyKernel[uint32]{}, &copyKernel[uint64]{})
}

// A Word is an element that is only moved, never computed with.
type Word interface {
	uint8 | uint16 | uint32 | uint64
}

type copyKernel[T Word] struct {
	in, out *Operand
	move    Mover[T]

	// Unequal shapes of which neither lies dense: each side walks its own
	// rows, and pieces that are within a row on both sides are moved.
	pieces   bool
	from, to Walk
	elems    int
	tasks    int
	each     int // elements in each task but the last
	dense    []int
}

func (k *copyKernel[T]) Bind(in, out []*Operand) {
	k.in, k.out = in[0], out[0]
	from := shape.Layout{Shape: k.in.Shape, Strides: k.in.Strides}
	to := shape.Layout{Shape: k.out.Shape, Strides: k.out.Strides}
	k.pieces = false
	switch {
	case from.Shape.Equal(to.Shape):
		k.move.Bind(to.Shape, to.Strides, from.Strides)
	case to.IsDense():
		// Row-major order is what a dense layout has under any shape.
		k.move.Bind(from.Shape, k.denseStrides(from.Shape), from.Strides)
	case from.IsDense():
		k.move.Bind(to.Shape, to.Strides, k.denseStrides(to.Shape))
	default:
		k.pieces = true
		k.from.Bind(from.Shape, from.Strides)
		k.to.Bind(to.Shape, to.Strides)
		k.elems = to.Shape.Elems()
		k.tasks, k.each = Parts(k.elems, 1)
	}
}

func (k *copyKernel[T]) denseStrides(s shape.Shape) []int {
	k.dense = shape.DenseStrides(append(k.dense[:0], s...), s)
	return k.dense
}

func (k *copyKernel[T]) Tasks() int {
	if k.pieces {
		return k.tasks
	}
	return k.move.Tasks
}

func (k *copyKernel[T]) Scratch() int {
	if k.pieces {
		return 0
	}
	return k.move.Scratch()
}

func (k *copyKernel[T]) Run(task int, scratch []byte) error {
	dst, src := Slice[T](k.out), Slice[T](k.in)
	if !k.pieces {
		k.move.Run(task, dst, k.out.Offset, src, k.in.Offset, scratch)
		return nil
	}
	lo, hi := task*k.each, min((task+1)*k.each, k.elems)
	for lo < hi {
		var s, d [1]int
		n := min(k.from.Locate(lo, hi, s[:]), k.to.Locate(lo, hi, d[:]))
		MoveStrided(dst, k.out.Offset+d[0], k.to.Inner[0], src, k.in.Offset+s[0], k.from.Inner[0], n)
		lo += n
	}
	return nil
}

// Compact returns a copy of the elements of the given width that l addresses in
// data: in row-major order, in memory that [Alloc] gives.
func Compact(data []byte, l shape.Layout, width int) []byte {
	dense := shape.Dense(l.Shape)
	in := &Operand{Shape: l.Shape, Strides: l.Strides, Offset: l.Offset, Data: data}
	out := &Operand{Shape: dense.Shape, Strides: dense.Strides, Data: Alloc(l.Shape.Elems() * width)}
	k := NewCopy(width)
	k.Bind([]*Operand{in}, []*Operand{out})
	scratch := Alloc(k.Scratch())
	for task := range k.Tasks() {
		k.Run(task, scratch) // a copy does not fail
	}
	return out.Data
}

// MoveStrided copies n elements from src[s], src[s+fromStride] ... to dst[d],
// dst[d+toStride] ...
func MoveStrided[T Word](dst []T, d, toStride int, src []T, s, fromStride, n int) {
	if toStride == 1 && fromStride == 1 {
		copy(dst[d:d+n], src[s:s+n])
		return
	}
	for range n {
		dst[d] = src[s]
		d += toStride
		s += fromStride
	}
}

// OfWidth returns the one of four kernels that moves elements of the given
// width in bytes.
func OfWidth(width int, k1, k2, k4, k8 Kernel) Kernel {
	switch width {
	case 1:
		return k1
	case 2:
		return k2
	case 4:
		return k4
	}
	return k8
}

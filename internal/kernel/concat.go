package kernel

import (
	"slices"

	"github.com/berth-go/berth/shape"
)

// NewConcat returns a kernel that joins any number of inputs along one axis,
// for elements of the given width in bytes. All operands may have any
// strides. It equals the loop
//
//	at := 0
//	for each input in:
//		for each index i of in: out[i with i[axis]+at] = in[i]
//		at += extent of in at axis
//
// An input that is the memory of its part of the output already is left alone.
func NewConcat(width, axis int) Kernel {
	switch width {
	case 1:
		return &concatKernel[uint8]{axis: axis}
	case 2:
		return &concatKernel[uint16]{axis: axis}
	case 4:
		return &concatKernel[uint32]{axis: axis}
	}
	return &concatKernel[uint64]{axis: axis}
}

type concatKernel[T word] struct {
	axis int
	in   []*Operand
	out  *Operand

	movers []mover[T] // one for each input
	starts []int      // where each input begins in the output, in elements from its offset
	parts  []concatPart
	tasks  []int // the first part of each task, and the number of parts
}

// A concatPart is one task of the mover of one input. Parts of small inputs
// share a task of the kernel.
type concatPart struct{ input, task int }

func (k *concatKernel[T]) Bind(in, out []*Operand) {
	k.in, k.out = append(k.in[:0], in...), out[0]
	if len(k.movers) != len(in) {
		k.movers = make([]mover[T], len(in))
	}
	k.starts, k.parts, k.tasks = k.starts[:0], k.parts[:0], append(k.tasks[:0], 0)
	at, cost, most := 0, 0, 0
	for _, o := range in {
		// Blocks that are cut off at both ends of their axes make up to four
		// times the parts that whole ones would.
		most += 4 + 4*shape.Shape(o.Shape).Elems()/moveGrain
	}
	k.parts, k.tasks = slices.Grow(k.parts, most), slices.Grow(k.tasks, most)
	for i, o := range in {
		m := &k.movers[i]
		m.bind(o.Shape, k.out.Strides, o.Strides)
		k.starts = append(k.starts, at*k.out.Strides[k.axis])
		at += o.Shape[k.axis]
		for task := range m.tasks {
			k.parts = append(k.parts, concatPart{i, task})
			if cost += m.each * m.blockRows * m.blockCols; cost >= moveGrain {
				k.tasks = append(k.tasks, len(k.parts))
				cost = 0
			}
		}
	}
	if cost > 0 {
		k.tasks = append(k.tasks, len(k.parts))
	}
}

func (k *concatKernel[T]) Tasks() int { return len(k.tasks) - 1 }

func (k *concatKernel[T]) Scratch() int {
	n := 0
	for i := range k.movers {
		n = max(n, k.movers[i].scratch())
	}
	return n
}

func (k *concatKernel[T]) Run(task int, scratch []byte) error {
	dst := Slice[T](k.out)
	for _, p := range k.parts[k.tasks[task]:k.tasks[task+1]] {
		in := k.in[p.input]
		k.movers[p.input].run(p.task, dst, k.out.Offset+k.starts[p.input], Slice[T](in), in.Offset, scratch)
	}
	return nil
}

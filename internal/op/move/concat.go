// Package move holds the ops that put elements elsewhere, and those that make
// elements of nothing. Kernels move elements of a width, not of a type.
//
// # Where to find what
//
//	concat.go          tensors put beside each other
//	tile.go            a tensor repeated
//	pad.go             a tensor surrounded
//	gather.go          elements and slices picked by index
//	scatter.go         the other way round: elements written, or combined, by index
//	scatter_kernel.go  its kernels
//	scatter_row.go     their loops
//	index.go           one-hot, triangles, reversal
//	fill.go            a value, a range, the identity matrix
//	list.go            listed numbers
//
// Where no file has the kernel in its name, an op and its kernel share one.
package move

import (
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// Concat joins one or more inputs along an axis. They have one element type
// and the same extents on every other axis.
type Concat struct {
	Axis int
}

// Name returns "concat".
func (Concat) Name() string { return "concat" }

// Infer adds up the extents of the axis.
func (o Concat) Infer(in []graph.Type) ([]graph.Type, error) {
	if len(in) == 0 {
		return nil, fmt.Errorf("takes at least 1 input, got none")
	}
	if err := op.Takes(in, len(in), len(in)); err != nil {
		return nil, err
	}
	axis, err := shape.Axis(o.Axis, len(in[0].Shape))
	if err != nil {
		return nil, err
	}
	out := graph.Type{DType: in[0].DType, Shape: in[0].Shape.Clone()}
	for i, t := range in[1:] {
		if t.DType != out.DType || len(t.Shape) != len(out.Shape) {
			return nil, fmt.Errorf("input %d is %v, input 0 is %v", i+1, t, in[0])
		}
		for a, d := range t.Shape {
			if a != axis && d != out.Shape[a] {
				return nil, fmt.Errorf("input %d is %v, input 0 is %v: they differ at axis %d, which is not the axis %d they are joined along", i+1, t, in[0], a, axis)
			}
		}
		if out.Shape[axis] += t.Shape[axis]; out.Shape[axis] < 0 || out.Shape[axis] > shape.MaxElems {
			return nil, fmt.Errorf("axis %d has more than %d elements", axis, shape.MaxElems)
		}
	}
	return []graph.Type{out}, nil
}

// Kernel returns the concatenation.
func (o Concat) Kernel(in, _ []graph.Type) kernel.Kernel {
	return newConcat(in[0].DType.Size(), o.JoinAxis(len(in[0].Shape)))
}

// DenseAxes returns 0: every operand may have any strides.
func (Concat) DenseAxes(int, int) int { return 0 }

// JoinAxis implements [op.Joiner].
func (o Concat) JoinAxis(rank int) int {
	axis, err := shape.Axis(o.Axis, rank)
	if err != nil {
		panic("move: concat: " + err.Error()) // Infer has refused it
	}
	return axis
}

// Streams implements [op.Streamer].
func (Concat) Streams() {}

// WithChannelsLast implements [op.Layouter].
func (o Concat) WithChannelsLast(rank int) (graph.Op, int) {
	switch axis := o.JoinAxis(rank); axis {
	case 0:
	case 1:
		o.Axis = rank - 1
	default:
		o.Axis = axis - 1
	}
	return o, math.MaxInt
}

// newConcat returns a kernel that joins any number of inputs along one axis,
// for elements of the given width in bytes. All operands may have any
// strides. It equals the loop
//
//	at := 0
//	for each input in:
//		for each index i of in: out[i with i[axis]+at] = in[i]
//		at += extent of in at axis
//
// An input that is the memory of its part of the output already is left alone.
func newConcat(width, axis int) kernel.Kernel {
	return kernel.OfWidth(width, &concatKernel[uint8]{axis: axis}, &concatKernel[uint16]{axis: axis},
		&concatKernel[uint32]{axis: axis}, &concatKernel[uint64]{axis: axis})
}

type concatKernel[T kernel.Word] struct {
	axis int
	in   []*kernel.Operand
	out  *kernel.Operand

	movers []kernel.Mover[T] // one for each input
	starts []int             // where each input begins in the output, in elements from its offset
	parts  []concatPart
	tasks  []int // the first part of each task, and the number of parts
}

// A concatPart is one task of the mover of one input. Parts of small inputs
// share a task of the kernel.
type concatPart struct{ input, task int }

func (k *concatKernel[T]) Bind(in, out []*kernel.Operand) {
	k.in, k.out = append(k.in[:0], in...), out[0]
	if len(k.movers) != len(in) {
		k.movers = make([]kernel.Mover[T], len(in))
	}
	k.starts, k.parts, k.tasks = k.starts[:0], k.parts[:0], append(k.tasks[:0], 0)
	at, cost, most := 0, 0, 0
	for _, o := range in {
		// Blocks that are cut off at both ends of their axes make up to four
		// times the parts that whole ones would.
		most += 4 + 4*shape.Shape(o.Shape).Elems()/kernel.MoveGrain
	}
	k.parts, k.tasks = slices.Grow(k.parts, most), slices.Grow(k.tasks, most)
	for i, o := range in {
		m := &k.movers[i]
		m.Bind(o.Shape, k.out.Strides, o.Strides)
		k.starts = append(k.starts, at*k.out.Strides[k.axis])
		at += o.Shape[k.axis]
		for task := range m.Tasks {
			k.parts = append(k.parts, concatPart{i, task})
			if cost += m.Each * m.BlockRows * m.BlockCols; cost >= kernel.MoveGrain {
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
		n = max(n, k.movers[i].Scratch())
	}
	return n
}

func (k *concatKernel[T]) Run(task int, scratch []byte) error {
	dst := kernel.Slice[T](k.out)
	for _, p := range k.parts[k.tasks[task]:k.tasks[task+1]] {
		in := k.in[p.input]
		k.movers[p.input].Run(p.task, dst, k.out.Offset+k.starts[p.input], kernel.Slice[T](in), in.Offset, scratch)
	}
	return nil
}

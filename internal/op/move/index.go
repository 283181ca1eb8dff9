package move

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// OneHot makes each index of its first input (int32 or int64) a line of Depth
// elements along a new axis: the second of its second input's two values at
// the index, and the first everywhere else. Negative indices count from the
// end; one out of range makes a line without the second value.
type OneHot struct {
	Axis  int // of the output
	Depth int
}

// Name returns "one_hot".
func (OneHot) Name() string { return "one_hot" }

// Infer inserts the new axis and takes the element type of the values.
func (o OneHot) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 2, 2); err != nil {
		return nil, err
	}
	if err := isIndex(in[0]); err != nil {
		return nil, err
	}
	if !in[1].Shape.Equal(shape.Shape{2}) {
		return nil, fmt.Errorf("values are %v, want two elements: off and on", in[1])
	}
	if o.Depth < 0 {
		return nil, fmt.Errorf("depth %d is negative", o.Depth)
	}
	axis, err := shape.Axis(o.Axis, len(in[0].Shape)+1)
	if err != nil {
		return nil, err
	}
	return []graph.Type{{DType: in[1].DType, Shape: slices.Insert(in[0].Shape.Clone(), axis, o.Depth)}}, nil
}

// Kernel returns the expansion.
func (o OneHot) Kernel(in, _ []graph.Type) kernel.Kernel {
	axis, _ := shape.Axis(o.Axis, len(in[0].Shape)+1)
	return newOneHot(in[1].DType.Size(), axis, o.Depth)
}

// DenseAxes returns 0: every operand may have any strides.
func (OneHot) DenseAxes(int, int) int { return 0 }

// Trilu keeps one triangle of the matrices in the last two axes and sets the
// rest to zero: the elements (i, j) with j-i >= K in the upper one, and with
// j-i <= K in the lower one. It may work in place.
type Trilu struct {
	Upper bool
	K     int
}

// Name returns "trilu".
func (Trilu) Name() string { return "trilu" }

// Infer returns the type of the input.
func (Trilu) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 1, 1); err != nil {
		return nil, err
	}
	if len(in[0].Shape) < 2 {
		return nil, fmt.Errorf("%v has no matrices: it has fewer than 2 axes", in[0])
	}
	return []graph.Type{in[0]}, nil
}

// Kernel returns the masked copy.
func (o Trilu) Kernel(in, _ []graph.Type) kernel.Kernel {
	return newTrilu(in[0].DType.Size(), o.Upper, o.K)
}

// MayOverwrite returns true.
func (Trilu) MayOverwrite(in, out int) bool { return in == 0 && out == 0 }

// DenseAxes returns 0: both operands may have any strides.
func (Trilu) DenseAxes(int, int) int { return 0 }

// ReverseSequence reverses the beginning of each sequence of its first input.
// Its second input (int32 or int64, one number for each element of the batch
// axis) says how many elements of the time axis that is; a number outside of
// the axis is an error of the run.
type ReverseSequence struct {
	BatchAxis, TimeAxis int
}

// Name returns "reverse_sequence".
func (ReverseSequence) Name() string { return "reverse_sequence" }

// Infer returns the type of the first input.
func (o ReverseSequence) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 2, 2); err != nil {
		return nil, err
	}
	batch, time, err := o.axes(len(in[0].Shape))
	if err != nil {
		return nil, err
	}
	if batch == time {
		return nil, fmt.Errorf("axis %d of %v cannot be batch and time", batch, in[0])
	}
	if err := isIndex(in[1]); err != nil {
		return nil, err
	}
	if !in[1].Shape.Equal(shape.Shape{in[0].Shape[batch]}) {
		return nil, fmt.Errorf("lengths are %v, want one for each of the %d sequences of %v", in[1], in[0].Shape[batch], in[0])
	}
	return []graph.Type{in[0]}, nil
}

func (o ReverseSequence) axes(rank int) (batch, time int, err error) {
	if batch, err = shape.Axis(o.BatchAxis, rank); err != nil {
		return 0, 0, err
	}
	time, err = shape.Axis(o.TimeAxis, rank)
	return batch, time, err
}

// Kernel returns the reversal.
func (o ReverseSequence) Kernel(in, _ []graph.Type) kernel.Kernel {
	batch, time, _ := o.axes(len(in[0].Shape))
	return newReverseSequence(in[0].DType.Size(), batch, time)
}

// DenseAxes returns 0: every operand may have any strides.
func (ReverseSequence) DenseAxes(int, int) int { return 0 }

// newOneHot returns a kernel of inputs indices (int32 or int64) and values
// ([off, on], elements of the given width in bytes), whose output has an axis
// of extent depth inserted before the given axis of the indices. All operands
// may have any strides. It equals the loop
//
//	for each index i of indices, for d in [0, depth):
//		x := indices[i]; if x < 0 { x += depth }
//		out[i with d inserted] = values[1] if x == d, else values[0]
//
// so that an index out of range makes no element hot.
func newOneHot(width, axis, depth int) kernel.Kernel {
	return kernel.OfWidth(width,
		&oneHotKernel[uint8]{axis: axis, depth: depth}, &oneHotKernel[uint16]{axis: axis, depth: depth},
		&oneHotKernel[uint32]{axis: axis, depth: depth}, &oneHotKernel[uint64]{axis: axis, depth: depth})
}

type oneHotKernel[T kernel.Word] struct {
	axis, depth          int
	indices, values, out *kernel.Operand
	walk                 kernel.Walk // over the indices and the output at d = 0
	strides              []int       // of the output without the new axis
	elems, tasks, each   int
}

func (k *oneHotKernel[T]) Bind(in, out []*kernel.Operand) {
	k.indices, k.values, k.out = in[0], in[1], out[0]
	k.strides = append(append(k.strides[:0], k.out.Strides[:k.axis]...), k.out.Strides[k.axis+1:]...)
	k.walk.Bind(k.indices.Shape, k.indices.Strides, k.strides)
	k.elems = k.walk.Rows * k.walk.Len
	if k.depth == 0 {
		k.elems = 0 // the output has no element to write
	}
	k.tasks, k.each = kernel.Parts(k.elems, k.depth)
}

func (k *oneHotKernel[T]) Tasks() int   { return k.tasks }
func (k *oneHotKernel[T]) Scratch() int { return 0 }

func (k *oneHotKernel[T]) Run(task int, _ []byte) error {
	dst, indices := kernel.Slice[T](k.out), newIndexer(k.indices)
	values := kernel.Slice[T](k.values)
	off, on := values[k.values.Offset], values[k.values.Offset+k.values.Strides[0]]
	w := &k.walk
	step := k.out.Strides[k.axis]
	for lo, hi := task*k.each, min((task+1)*k.each, k.elems); lo < hi; {
		var at [2]int
		n := w.Locate(lo, hi, at[:])
		from, to := at[0], k.out.Offset+at[1]
		lo += n
		if step == 1 || n == 1 {
			for i := range n {
				x, ok := within(indices.at(from+i*w.Inner[0]), k.depth)
				column := to + i*w.Inner[1]
				kernel.FillStrided(dst, column, step, k.depth, off)
				if ok {
					dst[column+x*step] = on
				}
			}
			continue
		}
		for d := range k.depth {
			row := to + d*step
			for i := range n {
				x, v := indices.at(from+i*w.Inner[0]), off
				if x == d || x == d-k.depth {
					v = on
				}
				dst[row+i*w.Inner[1]] = v
			}
		}
	}
	return nil
}

// newTrilu returns a kernel that keeps one triangle of each matrix, the last
// two axes, and sets the rest to zero, for elements of the given width in
// bytes. Both operands may have any strides, and be the same. It equals
//
//	for each index (.., i, j): out[.., i, j] = in[.., i, j] if keep, else 0
//
// where keep is j-i >= diagonal for the upper triangle and j-i <= diagonal
// for the lower.
func newTrilu(width int, upper bool, diagonal int) kernel.Kernel {
	return kernel.OfWidth(width,
		&triluKernel[uint8]{upper: upper, diagonal: diagonal}, &triluKernel[uint16]{upper: upper, diagonal: diagonal},
		&triluKernel[uint32]{upper: upper, diagonal: diagonal}, &triluKernel[uint64]{upper: upper, diagonal: diagonal})
}

type triluKernel[T kernel.Word] struct {
	upper             bool
	diagonal          int
	in, out           *kernel.Operand
	walk              kernel.Walk // over the axes before the last
	matrix, cols      int         // rows of a matrix, and columns
	rows, tasks, each int
	fromCol, toCol    int
}

func (k *triluKernel[T]) Bind(in, out []*kernel.Operand) {
	k.in, k.out = in[0], out[0]
	last := len(k.in.Shape) - 1
	k.matrix, k.cols = k.in.Shape[last-1], k.in.Shape[last]
	k.fromCol, k.toCol = k.in.Strides[last], k.out.Strides[last]
	k.walk.Bind(k.in.Shape[:last], k.in.Strides[:last], k.out.Strides[:last])
	k.rows = k.walk.Rows * k.walk.Len
	if k.cols == 0 {
		k.rows = 0
	}
	k.tasks, k.each = kernel.Parts(k.rows, k.cols)
}

func (k *triluKernel[T]) Tasks() int   { return k.tasks }
func (k *triluKernel[T]) Scratch() int { return 0 }

func (k *triluKernel[T]) Run(task int, _ []byte) error {
	dst, src := kernel.Slice[T](k.out), kernel.Slice[T](k.in)
	// Bounds on the diagonal that change nothing, so that no sum overflows.
	diagonal := min(max(k.diagonal, -k.matrix-1), k.cols+1)
	var zero T
	for row := task * k.each; row < min((task+1)*k.each, k.rows); row++ {
		var at [2]int
		k.walk.Locate(row, row+1, at[:])
		s, d := k.in.Offset+at[0], k.out.Offset+at[1]
		lo, hi := 0, min(max(row%k.matrix+diagonal+1, 0), k.cols)
		if k.upper {
			lo, hi = min(max(row%k.matrix+diagonal, 0), k.cols), k.cols
		}
		kernel.FillStrided(dst, d, k.toCol, lo, zero)
		if lo < hi {
			kernel.MoveStrided(dst, d+lo*k.toCol, k.toCol, src, s+lo*k.fromCol, k.fromCol, hi-lo)
		}
		kernel.FillStrided(dst, d+hi*k.toCol, k.toCol, k.cols-hi, zero)
	}
	return nil
}

// newReverseSequence returns a kernel of inputs data and lengths (int32 or
// int64, one for each element of the batch axis) that reverses the beginning
// of every sequence, for elements of the given width in bytes. All operands
// may have any strides. It equals the loop
//
//	for each index i: b, t := i[batchAxis], i[timeAxis]
//		if t < lengths[b] { out[i] = data[i with lengths[b]-1-t at timeAxis] }
//		else { out[i] = data[i] }
//
// A length outside [0, extent of the time axis] is an error of Run.
func newReverseSequence(width, batchAxis, timeAxis int) kernel.Kernel {
	return kernel.OfWidth(width,
		&reverseKernel[uint8]{batchAxis: batchAxis, timeAxis: timeAxis}, &reverseKernel[uint16]{batchAxis: batchAxis, timeAxis: timeAxis},
		&reverseKernel[uint32]{batchAxis: batchAxis, timeAxis: timeAxis}, &reverseKernel[uint64]{batchAxis: batchAxis, timeAxis: timeAxis})
}

type reverseKernel[T kernel.Word] struct {
	batchAxis, timeAxis int
	in, lengths, out    *kernel.Operand
	step                kernel.Mover[T] // one time step of one sequence
	shape               []int
	times               int
	units, tasks, each  int
}

func (k *reverseKernel[T]) Bind(in, out []*kernel.Operand) {
	k.in, k.lengths, k.out = in[0], in[1], out[0]
	k.shape = append(k.shape[:0], k.in.Shape...)
	k.shape[k.batchAxis], k.shape[k.timeAxis] = 1, 1
	k.step.Bind(k.shape, k.out.Strides, k.in.Strides)
	k.times = k.in.Shape[k.timeAxis]
	k.units = k.in.Shape[k.batchAxis] * k.times
	k.tasks, k.each = kernel.Parts(k.units, shape.Shape(k.shape).Elems())
}

func (k *reverseKernel[T]) Tasks() int   { return k.tasks }
func (k *reverseKernel[T]) Scratch() int { return k.step.Scratch() }

func (k *reverseKernel[T]) Run(task int, scratch []byte) error {
	dst, src, lengths := kernel.Slice[T](k.out), kernel.Slice[T](k.in), newIndexer(k.lengths)
	batch, t := task*k.each/k.times, task*k.each%k.times
	for range min(k.each, k.units-task*k.each) {
		n := lengths.at(batch * k.lengths.Strides[0])
		if n < 0 || n > k.times {
			return fmt.Errorf("sequence %d has length %d, the time axis %d has %d elements", batch, n, k.timeAxis, k.times)
		}
		from := t
		if t < n {
			from = n - 1 - t
		}
		k.step.All(dst, k.out.Offset+batch*k.out.Strides[k.batchAxis]+t*k.out.Strides[k.timeAxis],
			src, k.in.Offset+batch*k.in.Strides[k.batchAxis]+from*k.in.Strides[k.timeAxis], scratch)
		if t++; t == k.times {
			batch, t = batch+1, 0
		}
	}
	return nil
}

package move

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// Gather takes slices of its first input along an axis, at the places that
// its second input lists: the indices' shape takes the place of the axis.
// Indices are int32 or int64; negative ones count from the end, and one out
// of range is an error of the run.
type Gather struct {
	Axis int
}

// Name returns "gather".
func (Gather) Name() string { return "gather" }

// Infer puts the shape of the indices in the place of the axis.
func (o Gather) Infer(in []graph.Type) ([]graph.Type, error) {
	axis, err := gathers(in, o.Axis)
	if err != nil {
		return nil, err
	}
	data, indices := in[0], in[1]
	out := graph.Type{DType: data.DType, Shape: make(shape.Shape, 0, len(data.Shape)-1+len(indices.Shape))}
	out.Shape = append(out.Shape, data.Shape[:axis]...)
	out.Shape = append(out.Shape, indices.Shape...)
	out.Shape = append(out.Shape, data.Shape[axis+1:]...)
	return []graph.Type{out}, nil
}

// Kernel returns the gather.
func (o Gather) Kernel(in, _ []graph.Type) kernel.Kernel {
	axis, _ := shape.Axis(o.Axis, len(in[0].Shape))
	return newGather(in[0].DType.Size(), axis)
}

// DenseAxes returns 0: every operand may have any strides.
func (Gather) DenseAxes(int, int) int { return 0 }

// Streams implements [op.Streamer].
func (Gather) Streams() {}

// GatherElements takes single elements of its first input: output element i
// is the one at index i but for the axis, where its second input says which.
// The indices have the rank of the data, and on other axes no more extent.
type GatherElements struct {
	Axis int
}

// Name returns "gather_elements".
func (GatherElements) Name() string { return "gather_elements" }

// Infer returns the data's element type in the shape of the indices.
func (o GatherElements) Infer(in []graph.Type) ([]graph.Type, error) {
	axis, err := gathers(in, o.Axis)
	if err != nil {
		return nil, err
	}
	if err := fitsBeside(in[0], in[1], axis); err != nil {
		return nil, err
	}
	return []graph.Type{{DType: in[0].DType, Shape: in[1].Shape.Clone()}}, nil
}

// Kernel returns the gather.
func (o GatherElements) Kernel(in, _ []graph.Type) kernel.Kernel {
	axis, _ := shape.Axis(o.Axis, len(in[0].Shape))
	return newGatherElements(in[0].DType.Size(), axis)
}

// DenseAxes returns 0: every operand may have any strides.
func (GatherElements) DenseAxes(int, int) int { return 0 }

// GatherND takes the parts of its first input that the index tuples along the
// last axis of its second input name. The first BatchDims axes of both are
// the same and go together.
type GatherND struct {
	BatchDims int
}

// Name returns "gather_nd".
func (GatherND) Name() string { return "gather_nd" }

// Infer returns the indices' shape but for the last axis, followed by the
// axes of the data that no index names.
func (o GatherND) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 2, 2); err != nil {
		return nil, err
	}
	if err := isIndex(in[1]); err != nil {
		return nil, err
	}
	data, indices := in[0].Shape, in[1].Shape
	last := len(indices) - 1
	if o.BatchDims < 0 || o.BatchDims > last || o.BatchDims > len(data) {
		return nil, fmt.Errorf("%d batch axes do not fit data %v and indices %v", o.BatchDims, in[0], in[1])
	}
	for a := range o.BatchDims {
		if data[a] != indices[a] {
			return nil, fmt.Errorf("data %v and indices %v differ at batch axis %d", in[0], in[1], a)
		}
	}
	tuple := indices[last]
	if tuple > len(data)-o.BatchDims {
		return nil, fmt.Errorf("tuples of %d indices do not fit data %v with %d batch axes", tuple, in[0], o.BatchDims)
	}
	out := indices[:last].Clone()
	return []graph.Type{{DType: in[0].DType, Shape: append(out, data[o.BatchDims+tuple:]...)}}, nil
}

// Kernel returns the gather.
func (o GatherND) Kernel(in, _ []graph.Type) kernel.Kernel {
	return newGatherND(in[0].DType.Size(), o.BatchDims)
}

// DenseAxes returns 0: every operand may have any strides.
func (GatherND) DenseAxes(int, int) int { return 0 }

// gathers checks data and indices and returns the axis, normalised.
func gathers(in []graph.Type, axis int) (int, error) {
	if err := op.Takes(in, 2, 2); err != nil {
		return 0, err
	}
	if err := isIndex(in[1]); err != nil {
		return 0, err
	}
	return shape.Axis(axis, len(in[0].Shape))
}

func isIndex(t graph.Type) error {
	if t.DType != dtype.Int32 && t.DType != dtype.Int64 {
		return fmt.Errorf("indices are %v, want int32 or int64", t)
	}
	return nil
}

// fitsBeside reports indices that address elements outside the data on
// another axis than the one they are about.
func fitsBeside(data, indices graph.Type, axis int) error {
	if len(indices.Shape) != len(data.Shape) {
		return fmt.Errorf("indices %v have %d axes, data %v has %d", indices, len(indices.Shape), data, len(data.Shape))
	}
	for a, d := range indices.Shape {
		if a != axis && d > data.Shape[a] {
			return fmt.Errorf("indices %v do not fit into data %v: %d against %d at axis %d", indices, data, d, data.Shape[a], a)
		}
	}
	return nil
}

// newGather returns a kernel of inputs data and indices (int32 or int64) that
// takes whole slices along an axis, for elements of the given width in bytes.
// All operands may have any strides. It equals the loop
//
//	for o over data.shape[:axis], for k over indices.shape, for i over data.shape[axis+1:]:
//		out[o, k, i] = data[o, indices[k], i]
//
// with negative indices counted from the end. An index out of range is an
// error of Run.
func newGather(width, axis int) kernel.Kernel {
	return kernel.OfWidth(width,
		&gatherKernel[uint8]{axis: axis}, &gatherKernel[uint16]{axis: axis},
		&gatherKernel[uint32]{axis: axis}, &gatherKernel[uint64]{axis: axis})
}

type gatherKernel[T kernel.Word] struct {
	axis               int
	data, indices, out *kernel.Operand

	outer              kernel.Walk     // data and output before the axis
	list               kernel.Walk     // indices and output
	slice              kernel.Mover[T] // the axes behind
	run                int             // elements of a slice that lies dense on both sides, else 0
	count              int             // indices
	units, tasks, each int             // a unit is one slice
}

func (k *gatherKernel[T]) Bind(in, out []*kernel.Operand) {
	k.data, k.indices, k.out = in[0], in[1], out[0]
	behind := k.axis + len(k.indices.Shape) // first axis of the output behind the indices
	k.outer.Bind(k.data.Shape[:k.axis], k.data.Strides[:k.axis], k.out.Strides[:k.axis])
	k.list.Bind(k.indices.Shape, k.indices.Strides, k.out.Strides[k.axis:behind])
	k.slice.Bind(k.data.Shape[k.axis+1:], k.out.Strides[behind:], k.data.Strides[k.axis+1:])
	cost := 1
	for _, d := range k.data.Shape[k.axis+1:] {
		cost *= d
	}
	k.run = k.slice.Line()
	k.count = k.list.Rows * k.list.Len
	k.units = k.outer.Rows * k.outer.Len * k.count
	k.tasks, k.each = kernel.Parts(k.units, cost)
}

func (k *gatherKernel[T]) Tasks() int   { return k.tasks }
func (k *gatherKernel[T]) Scratch() int { return k.slice.Scratch() }

func (k *gatherKernel[T]) Run(task int, scratch []byte) error {
	lo, hi := task*k.each, min((task+1)*k.each, k.units)
	for lo < hi {
		o, first := lo/k.count, lo%k.count
		n := min(k.count-first, hi-lo)
		var at [2]int
		k.outer.Seek(o/k.outer.Len, at[:])
		col := o % k.outer.Len
		from := k.data.Offset + at[0] + col*k.outer.Inner[0]
		to := k.out.Offset + at[1] + col*k.outer.Inner[1]
		if err := k.slices(from, to, first, n, scratch); err != nil {
			return err
		}
		lo += n
	}
	return nil
}

// slices moves the slices of n indices, those from number first on, with the
// data at from and the output at to for index 0.
func (k *gatherKernel[T]) slices(from, to, first, n int, scratch []byte) error {
	dst, src, indices := kernel.Slice[T](k.out), kernel.Slice[T](k.data), newIndexer(k.indices)
	extent, stride := k.data.Shape[k.axis], k.data.Strides[k.axis]
	w := &k.list
	for n > 0 {
		var at [2]int
		w.Seek(first/w.Len, at[:])
		col := first % w.Len
		i, d := at[0]+col*w.Inner[0], to+at[1]+col*w.Inner[1]
		m := min(n, w.Len-col)
		first += m
		n -= m
		for range m {
			x, ok := within(indices.at(i), extent)
			if !ok {
				return errIndex(indices.at(i), k.axis, extent)
			}
			switch s := from + x*stride; {
			case k.run == 1:
				dst[d] = src[s]
			case k.run > 0:
				copy(dst[d:d+k.run], src[s:s+k.run])
			default:
				k.slice.All(dst, d, src, s, scratch)
			}
			i += w.Inner[0]
			d += w.Inner[1]
		}
	}
	return nil
}

// newGatherElements returns a kernel of inputs data and indices (int32 or
// int64) of the same rank, for elements of the given width in bytes. The
// output has the shape of the indices, which on other axes than the given one
// is no larger than that of the data. All operands may have any strides. It
// equals the loop
//
//	for each index i of indices: out[i] = data[i with indices[i] at axis]
//
// with negative indices counted from the end. An index out of range is an
// error of Run.
func newGatherElements(width, axis int) kernel.Kernel {
	return kernel.OfWidth(width,
		&gatherElementsKernel[uint8]{axis: axis}, &gatherElementsKernel[uint16]{axis: axis},
		&gatherElementsKernel[uint32]{axis: axis}, &gatherElementsKernel[uint64]{axis: axis})
}

type gatherElementsKernel[T kernel.Word] struct {
	axis               int
	data, indices, out *kernel.Operand
	walk               kernel.Walk // indices, data at index 0 of the axis, output
	strides            []int       // of the data, 0 at the axis
	elems, tasks, each int
}

func (k *gatherElementsKernel[T]) Bind(in, out []*kernel.Operand) {
	k.data, k.indices, k.out = in[0], in[1], out[0]
	k.strides = append(k.strides[:0], k.data.Strides...)
	k.strides[k.axis] = 0
	k.walk.Bind(k.indices.Shape, k.indices.Strides, k.strides, k.out.Strides)
	k.elems = k.walk.Rows * k.walk.Len
	k.tasks, k.each = kernel.Parts(k.elems, 1)
}

func (k *gatherElementsKernel[T]) Tasks() int   { return k.tasks }
func (k *gatherElementsKernel[T]) Scratch() int { return 0 }

func (k *gatherElementsKernel[T]) Run(task int, _ []byte) error {
	dst, src, indices := kernel.Slice[T](k.out), kernel.Slice[T](k.data), newIndexer(k.indices)
	extent, stride := k.data.Shape[k.axis], k.data.Strides[k.axis]
	w := &k.walk
	for lo, hi := task*k.each, min((task+1)*k.each, k.elems); lo < hi; {
		var at [3]int
		w.Seek(lo/w.Len, at[:])
		col := lo % w.Len
		n := min(w.Len-col, hi-lo)
		i := at[0] + col*w.Inner[0]
		s := k.data.Offset + at[1] + col*w.Inner[1]
		d := k.out.Offset + at[2] + col*w.Inner[2]
		for range n {
			x, ok := within(indices.at(i), extent)
			if !ok {
				return errIndex(indices.at(i), k.axis, extent)
			}
			dst[d] = src[s+x*stride]
			i += w.Inner[0]
			s += w.Inner[1]
			d += w.Inner[2]
		}
		lo += n
	}
	return nil
}

// newGatherND returns a kernel of inputs data and indices (int32 or int64)
// whose last axis holds index tuples, for elements of the given width in
// bytes. The first batch axes of data and indices are the same and go
// together. All operands may have any strides. It equals the loop
//
//	for b over the batch axes, for k over the other axes of indices but the last:
//		out[b, k, ...] = data[b, indices[b, k, 0], indices[b, k, 1], ...]
//
// where the dots stand for the axes of data that no index of a tuple names.
// Negative indices are counted from the end; an index out of range is an
// error of Run.
func newGatherND(width, batch int) kernel.Kernel {
	return kernel.OfWidth(width,
		&gatherNDKernel[uint8]{batch: batch}, &gatherNDKernel[uint16]{batch: batch},
		&gatherNDKernel[uint32]{batch: batch}, &gatherNDKernel[uint64]{batch: batch})
}

type gatherNDKernel[T kernel.Word] struct {
	batch              int
	data, indices, out *kernel.Operand
	walk               kernel.Walk     // tuples: indices, output, data at tuple 0
	strides            []int           // of the data over the axes of the walk
	tuple              int             // indices in a tuple
	slice              kernel.Mover[T] // what a tuple names
	units, tasks, each int
}

func (k *gatherNDKernel[T]) Bind(in, out []*kernel.Operand) {
	k.data, k.indices, k.out = in[0], in[1], out[0]
	last := len(k.indices.Shape) - 1
	k.tuple = k.indices.Shape[last]
	k.strides = append(k.strides[:0], k.data.Strides[:k.batch]...)
	for range last - k.batch {
		k.strides = append(k.strides, 0)
	}
	k.walk.Bind(k.indices.Shape[:last], k.indices.Strides[:last], k.out.Strides[:last], k.strides)
	named := k.batch + k.tuple
	k.slice.Bind(k.data.Shape[named:], k.out.Strides[last:], k.data.Strides[named:])
	cost := 1
	for _, d := range k.data.Shape[named:] {
		cost *= d
	}
	k.units = k.walk.Rows * k.walk.Len
	k.tasks, k.each = kernel.Parts(k.units, cost)
}

func (k *gatherNDKernel[T]) Tasks() int   { return k.tasks }
func (k *gatherNDKernel[T]) Scratch() int { return k.slice.Scratch() }

func (k *gatherNDKernel[T]) Run(task int, scratch []byte) error {
	dst, src, indices := kernel.Slice[T](k.out), kernel.Slice[T](k.data), newIndexer(k.indices)
	next := k.indices.Strides[len(k.indices.Strides)-1]
	w := &k.walk
	for lo, hi := task*k.each, min((task+1)*k.each, k.units); lo < hi; {
		var at [3]int
		w.Seek(lo/w.Len, at[:])
		col := lo % w.Len
		n := min(w.Len-col, hi-lo)
		i := at[0] + col*w.Inner[0]
		d := k.out.Offset + at[1] + col*w.Inner[1]
		s := k.data.Offset + at[2] + col*w.Inner[2]
		for range n {
			from := s
			for j := range k.tuple {
				axis := k.batch + j
				x, ok := within(indices.at(i+j*next), k.data.Shape[axis])
				if !ok {
					return errIndex(indices.at(i+j*next), axis, k.data.Shape[axis])
				}
				from += x * k.data.Strides[axis]
			}
			k.slice.All(dst, d, src, from, scratch)
			i += w.Inner[0]
			d += w.Inner[1]
			s += w.Inner[2]
		}
		lo += n
	}
	return nil
}

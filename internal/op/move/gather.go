package move

import (
	"fmt"
	"math"

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
	return gatherOf(width, func(g *gather) {
		behind := axis + len(g.indices.Shape) // first axis of the output behind the indices
		g.shape = append(append(g.shape, g.data.Shape[:axis]...), g.indices.Shape...)
		g.fromIndices = append(zeros(g.fromIndices, axis), g.indices.Strides...)
		g.to = append(g.to, g.out.Strides[:behind]...)
		g.from = zeros(append(g.from, g.data.Strides[:axis]...), len(g.indices.Shape))
		g.first, g.tuple = axis, 1
		g.sliceShape, g.sliceTo, g.sliceFrom = g.data.Shape[axis+1:], g.out.Strides[behind:], g.data.Strides[axis+1:]
	})
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
	return gatherOf(width, func(g *gather) {
		g.shape = append(g.shape, g.indices.Shape...)
		g.fromIndices = append(g.fromIndices, g.indices.Strides...)
		g.to = append(g.to, g.out.Strides...)
		g.from = append(g.from, g.data.Strides...)
		g.from[axis] = 0
		g.first, g.tuple = axis, 1
		g.sliceShape, g.sliceTo, g.sliceFrom = nil, nil, nil
	})
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
	return gatherOf(width, func(g *gather) {
		last := len(g.indices.Shape) - 1
		g.shape = append(g.shape, g.indices.Shape[:last]...)
		g.fromIndices = append(g.fromIndices, g.indices.Strides[:last]...)
		g.to = append(g.to, g.out.Strides[:last]...)
		g.from = zeros(append(g.from, g.data.Strides[:batch]...), last-batch)
		g.first, g.tuple = batch, g.indices.Shape[last]
		named := batch + g.tuple
		g.sliceShape, g.sliceTo, g.sliceFrom = g.data.Shape[named:], g.out.Strides[last:], g.data.Strides[named:]
	})
}

// zeros appends n strides of 0 to s.
func zeros(s []int, n int) []int {
	for range n {
		s = append(s, 0)
	}
	return s
}

// gatherOf returns the kernel of a gather for elements of the given width in bytes.
func gatherOf(width int, lay func(g *gather)) kernel.Kernel {
	g := gather{lay: lay}
	return kernel.OfWidth(width, &gatherKernel[uint8]{gather: g}, &gatherKernel[uint16]{gather: g},
		&gatherKernel[uint32]{gather: g}, &gatherKernel[uint64]{gather: g})
}

// gather moves a slice of the data for each index, or tuple of indices.
type gather struct {
	// lay sets the fields of the next two groups once the operands are bound. It
	// appends to the lists of the first.
	lay func(g *gather)

	shape                 []int // of the indices, or tuples, and of what goes together with them
	fromIndices, to, from []int // strides along it: of the indices, the output, the data at index 0
	first, tuple          int   // indices name axes [first, first+tuple) of the data

	sliceShape, sliceTo, sliceFrom []int // what a tuple names, in the output and in the data

	data, indices, out *kernel.Operand
	walk               kernel.Walk // indices, output, data
	units, tasks, each int         // a unit is one slice
}

type gatherKernel[T kernel.Word] struct {
	gather
	slice kernel.Mover[T]
}

func (k *gatherKernel[T]) Bind(in, out []*kernel.Operand) {
	k.data, k.indices, k.out = in[0], in[1], out[0]
	k.shape, k.fromIndices, k.to, k.from = k.shape[:0], k.fromIndices[:0], k.to[:0], k.from[:0]
	k.lay(&k.gather)
	k.walk.Bind(k.shape, k.fromIndices, k.to, k.from)
	k.slice.Bind(k.sliceShape, k.sliceTo, k.sliceFrom)
	k.units = k.walk.Rows * k.walk.Len
	k.tasks, k.each = kernel.Parts(k.units, shape.Shape(k.sliceShape).Elems())
}

func (k *gatherKernel[T]) Tasks() int   { return k.tasks }
func (k *gatherKernel[T]) Scratch() int { return k.slice.Scratch() }

func (k *gatherKernel[T]) Run(task int, scratch []byte) error {
	dst, src, indices := kernel.Slice[T](k.out), kernel.Slice[T](k.data), newIndexer(k.indices)
	run := k.slice.Line()  // elements of a slice that lies dense on both sides, else 0
	single := k.tuple == 1 // apart, for a tuple takes longer than a short slice
	extent, stride := 0, 0
	if single {
		extent, stride = k.data.Shape[k.first], k.data.Strides[k.first]
	}
	step := k.walk.Inner
	for lo, hi := task*k.each, min((task+1)*k.each, k.units); lo < hi; {
		var at [3]int
		n := k.walk.Locate(lo, hi, at[:])
		lo += n
		i, d, from := at[0], k.out.Offset+at[1], k.data.Offset+at[2]
		for range n {
			s := from
			if single {
				x, ok := within(indices.at(i), extent)
				if !ok {
					return errIndex(indices.at(i), k.first, extent)
				}
				s += x * stride
			} else {
				offset, err := k.named(indices, i)
				if err != nil {
					return err
				}
				s += offset
			}
			switch {
			case run == 1:
				dst[d] = src[s]
			case run > 0:
				copy(dst[d:d+run], src[s:s+run])
			default:
				k.slice.All(dst, d, src, s, scratch)
			}
			i, d, from = i+step[0], d+step[1], from+step[2]
		}
	}
	return nil
}

// named returns where what the tuple at i names lies in the data, from where index 0
// of all named axes does.
func (k *gather) named(indices indexer, i int) (int, error) {
	offset := 0
	for axis := k.first; axis < k.first+k.tuple; axis++ {
		x, ok := within(indices.at(i), k.data.Shape[axis])
		if !ok {
			return 0, errIndex(indices.at(i), axis, k.data.Shape[axis])
		}
		offset += x * k.data.Strides[axis]
		i += k.indices.Strides[len(k.indices.Strides)-1]
	}
	return offset, nil
}

// An indexer reads an operand of indices, int32 or int64.
type indexer struct {
	narrow []int32
	wide   []int64
	offset int
}

func newIndexer(o *kernel.Operand) indexer {
	if o.DType == dtype.Int32 {
		return indexer{narrow: kernel.Slice[int32](o), offset: o.Offset}
	}
	return indexer{wide: kernel.Slice[int64](o), offset: o.Offset}
}

// at returns the index that lies at elements from the operand's offset.
func (x *indexer) at(at int) int {
	if x.wide != nil {
		// Where an int has 32 bits, what is beyond them must not become an
		// index that exists.
		return int(min(max(x.wide[x.offset+at], math.MinInt), math.MaxInt))
	}
	return int(x.narrow[x.offset+at])
}

// within returns index as a number in [0, extent), counting negative ones
// from the end, and whether it is one.
func within(index, extent int) (int, bool) {
	if index < 0 {
		index += extent
	}
	return index, uint(index) < uint(extent)
}

func errIndex(index, axis, extent int) error {
	return fmt.Errorf("index %d is out of range for axis %d, which has %d elements", index, axis, extent)
}

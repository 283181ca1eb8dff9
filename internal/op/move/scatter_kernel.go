package move

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// newScatterElements returns a kernel of inputs data, indices (int32 or
// int64) and updates; indices and updates have one shape, which on other axes
// than the given one is no larger than that of the data. All operands may
// have any strides, and the output may be the data. It equals the loop
//
//	out = data
//	for each index i of indices, in row-major order:
//		p := i with indices[i] at axis
//		out[p] = combine(out[p], updates[i])
//
// with negative indices counted from the end. An index out of range is an
// error of Run. Integers wrap; float16 and bfloat16 are combined in float32
// and rounded after each step; a NaN is the result of max and min.
// Bool can only be replaced.
func newScatterElements(t dtype.Type, axis int, how Reduction) kernel.Kernel {
	return &scatterElementsKernel{axis: axis, how: how, row: scatterLoopsOf(t, how).at, copy: newChunkCopier(t.Size())}
}

type scatterElementsKernel struct {
	axis                        int
	how                         Reduction
	data, indices, updates, out *kernel.Operand
	row                         func(scatterRow) error

	// A task is a range of one axis, so that elements that may be written
	// twice stay within one task and are written in order. cut is the axis,
	// -1 when there is only one task.
	cut, tasks  int
	copy        chunkCopier
	whole, rest kernel.Walk // over the indices that whole chunks and the last one see
	strides     []int
	shape       []int
}

func (k *scatterElementsKernel) Bind(in, out []*kernel.Operand) {
	k.data, k.indices, k.updates, k.out = in[0], in[1], in[2], out[0]
	k.cut = -1
	for a, d := range k.data.Shape {
		if a != k.axis && d > 1 {
			k.cut = a
			break
		}
	}
	k.tasks = k.copy.bind(k.cut, k.data, k.out)
	k.strides = append(k.strides[:0], k.out.Strides...)
	k.strides[k.axis] = 0
	k.shape = append(k.shape[:0], k.indices.Shape...)
	extent := 0
	if k.cut >= 0 {
		extent = k.shape[k.cut]
		k.shape[k.cut] = k.copy.each
	}
	k.whole.Bind(k.shape, k.indices.Strides, k.updates.Strides, k.strides)
	if k.cut >= 0 {
		k.shape[k.cut] = extent % k.copy.each
		k.rest.Bind(k.shape, k.indices.Strides, k.updates.Strides, k.strides)
	}
}

func (k *scatterElementsKernel) Tasks() int   { return k.tasks }
func (k *scatterElementsKernel) Scratch() int { return k.copy.scratch() }

func (k *scatterElementsKernel) Run(task int, scratch []byte) error {
	k.copy.run(task, scratch)
	w := &k.whole
	var start [3]int
	if k.cut >= 0 {
		first, extent := task*k.copy.each, k.indices.Shape[k.cut]
		switch {
		case first >= extent:
			return nil
		case extent-first < k.copy.each:
			w = &k.rest
		}
		start = [3]int{first * k.indices.Strides[k.cut], first * k.updates.Strides[k.cut], first * k.out.Strides[k.cut]}
	}
	r := scatterRow{
		how: k.how,
		dst: k.out.Data, updates: k.updates.Data, indices: newIndexer(k.indices),
		axis: k.axis, extent: k.out.Shape[k.axis], stride: k.out.Strides[k.axis],
	}
	for row := range w.Rows {
		var at [3]int
		w.Seek(row, at[:])
		r.index, r.indexStep = start[0]+at[0], w.Inner[0]
		r.update, r.updateStep = k.updates.Offset+start[1]+at[1], w.Inner[1]
		r.to, r.toStep = k.out.Offset+start[2]+at[2], w.Inner[2]
		r.n = w.Len
		if err := k.row(r); err != nil {
			return err
		}
	}
	return nil
}

// newScatterND returns a kernel of inputs data, indices (int32 or int64)
// whose last axis holds index tuples, and updates. All operands may have any
// strides, and the output may be the data. It equals the loop
//
//	out = data
//	for each index k of indices but for its last axis, in row-major order:
//		p := indices[k, 0], indices[k, 1], ...
//		out[p, ...] = combine(out[p, ...], updates[k, ...]) element by element
//
// under the rules of [newScatterElements].
func newScatterND(t dtype.Type, how Reduction) kernel.Kernel {
	return &scatterNDKernel{how: how, row: scatterLoopsOf(t, how).line, copy: newChunkCopier(t.Size())}
}

type scatterNDKernel struct {
	how                         Reduction
	data, indices, updates, out *kernel.Operand
	row                         func(combineRow)

	// A task is a range of the first axis: it looks at every tuple and
	// writes the ones of its own range.
	cut, tasks int
	copy       chunkCopier
	tuples     kernel.Walk // indices and updates
	slice      kernel.Walk // updates and output
	tuple      int         // indices in a tuple
}

func (k *scatterNDKernel) Bind(in, out []*kernel.Operand) {
	k.data, k.indices, k.updates, k.out = in[0], in[1], in[2], out[0]
	last := len(k.indices.Shape) - 1
	k.tuple = k.indices.Shape[last]
	k.tuples.Bind(k.indices.Shape[:last], k.indices.Strides[:last], k.updates.Strides[:last])
	k.slice.Bind(k.out.Shape[k.tuple:], k.updates.Strides[last:], k.out.Strides[k.tuple:])
	k.cut = -1
	if k.tuple > 0 && k.out.Shape[0] > 1 {
		k.cut = 0
	}
	// Every task reads all tuples, which has to stay a small part of the work.
	k.tasks = k.copy.bind(k.cut, k.data, k.out)
	tuples := k.tuples.Rows * k.tuples.Len
	elems := shape.Shape(k.out.Shape).Elems() + shape.Shape(k.updates.Shape).Elems()
	if most := max(1, elems/(4*(tuples*k.tuple+1))); k.tasks > most {
		k.copy.each = kernel.CeilDiv(k.out.Shape[0], most)
		k.tasks = k.copy.bindEach(k.cut, k.data, k.out)
	}
	if tuples > 0 {
		k.tasks = max(k.tasks, 1) // an empty output has no valid index
	}
}

func (k *scatterNDKernel) Tasks() int   { return k.tasks }
func (k *scatterNDKernel) Scratch() int { return k.copy.scratch() }

func (k *scatterNDKernel) Run(task int, scratch []byte) error {
	k.copy.run(task, scratch)
	lo, hi := 0, 1
	if k.tuple > 0 {
		hi = k.out.Shape[0]
	}
	if k.cut >= 0 {
		lo, hi = task*k.copy.each, min((task+1)*k.copy.each, hi)
	}
	indices := newIndexer(k.indices)
	next := k.indices.Strides[len(k.indices.Strides)-1]
	r := combineRow{how: k.how, dst: k.out.Data, updates: k.updates.Data}
	for row := range k.tuples.Rows {
		var at [2]int
		k.tuples.Seek(row, at[:])
		for range k.tuples.Len {
			to, first := k.out.Offset, 0
			for j := range k.tuple {
				x, ok := within(indices.at(at[0]+j*next), k.out.Shape[j])
				if !ok {
					return errIndex(indices.at(at[0]+j*next), j, k.out.Shape[j])
				}
				to += x * k.out.Strides[j]
				if j == 0 {
					first = x
				}
			}
			if first >= lo && first < hi {
				for s := range k.slice.Rows {
					var sliceAt [2]int
					k.slice.Seek(s, sliceAt[:])
					r.update, r.updateStep = k.updates.Offset+at[1]+sliceAt[0], k.slice.Inner[0]
					r.to, r.toStep = to+sliceAt[1], k.slice.Inner[1]
					r.n = k.slice.Len
					k.row(r)
				}
			}
			at[0] += k.tuples.Inner[0]
			at[1] += k.tuples.Inner[1]
		}
	}
	return nil
}

// A chunkCopier copies data to output in chunks along one axis.
type chunkCopier struct {
	each        int // extent of the axis in each chunk but the last
	cut         int
	data, out   *kernel.Operand
	whole, rest copier
	shape       []int
}

// bind returns the number of chunks; a negative cut means one chunk.
func (c *chunkCopier) bind(cut int, data, out *kernel.Operand) int {
	if cut >= 0 {
		rest := shape.Shape(data.Shape).Elems() / max(data.Shape[cut], 1)
		_, c.each = kernel.Parts(data.Shape[cut], rest)
	}
	return c.bindEach(cut, data, out)
}

// bindEach is bind with the size of the chunks given.
func (c *chunkCopier) bindEach(cut int, data, out *kernel.Operand) int {
	c.cut, c.data, c.out = cut, data, out
	c.shape = append(c.shape[:0], data.Shape...)
	if cut < 0 {
		c.whole.Bind(c.shape, out.Strides, data.Strides)
		return 1
	}
	extent := data.Shape[cut]
	c.each = min(c.each, extent)
	c.shape[cut] = c.each
	c.whole.Bind(c.shape, out.Strides, data.Strides)
	c.shape[cut] = extent % c.each
	c.rest.Bind(c.shape, out.Strides, data.Strides)
	return kernel.CeilDiv(extent, c.each)
}

func (c *chunkCopier) scratch() int { return c.whole.Scratch() }

func (c *chunkCopier) run(chunk int, scratch []byte) {
	if c.cut < 0 {
		c.whole.CopyAll(c.out, 0, c.data, 0, scratch)
		return
	}
	first, m := chunk*c.each, c.whole
	if c.data.Shape[c.cut]-first < c.each {
		m = c.rest
	}
	m.CopyAll(c.out, first*c.out.Strides[c.cut], c.data, first*c.data.Strides[c.cut], scratch)
}

// A copier is a mover of any element width.
type copier interface {
	Bind(shape, to, from []int)
	Scratch() int
	CopyAll(out *kernel.Operand, to int, in *kernel.Operand, from int, scratch []byte)
}

func newChunkCopier(width int) chunkCopier {
	switch width {
	case 1:
		return chunkCopier{whole: &kernel.Mover[uint8]{}, rest: &kernel.Mover[uint8]{}}
	case 2:
		return chunkCopier{whole: &kernel.Mover[uint16]{}, rest: &kernel.Mover[uint16]{}}
	case 4:
		return chunkCopier{whole: &kernel.Mover[uint32]{}, rest: &kernel.Mover[uint32]{}}
	}
	return chunkCopier{whole: &kernel.Mover[uint64]{}, rest: &kernel.Mover[uint64]{}}
}

package kernel

// NewGather returns a kernel of inputs data and indices (int32 or int64) that
// takes whole slices along an axis, for elements of the given width in bytes.
// All operands may have any strides. It equals the loop
//
//	for o over data.shape[:axis], for k over indices.shape, for i over data.shape[axis+1:]:
//		out[o, k, i] = data[o, indices[k], i]
//
// with negative indices counted from the end. An index out of range is an
// error of Run.
func NewGather(width, axis int) Kernel {
	return ofWidth(width,
		&gatherKernel[uint8]{axis: axis}, &gatherKernel[uint16]{axis: axis},
		&gatherKernel[uint32]{axis: axis}, &gatherKernel[uint64]{axis: axis})
}

type gatherKernel[T word] struct {
	axis               int
	data, indices, out *Operand

	outer              Walk     // data and output before the axis
	list               Walk     // indices and output
	slice              mover[T] // the axes behind
	run                int      // elements of a slice that lies dense on both sides, else 0
	count              int      // indices
	units, tasks, each int      // a unit is one slice
}

func (k *gatherKernel[T]) Bind(in, out []*Operand) {
	k.data, k.indices, k.out = in[0], in[1], out[0]
	behind := k.axis + len(k.indices.Shape) // first axis of the output behind the indices
	k.outer.Bind(k.data.Shape[:k.axis], k.data.Strides[:k.axis], k.out.Strides[:k.axis])
	k.list.Bind(k.indices.Shape, k.indices.Strides, k.out.Strides[k.axis:behind])
	k.slice.bind(k.data.Shape[k.axis+1:], k.out.Strides[behind:], k.data.Strides[k.axis+1:])
	cost := 1
	for _, d := range k.data.Shape[k.axis+1:] {
		cost *= d
	}
	k.run = k.slice.line()
	k.count = k.list.Rows * k.list.Len
	k.units = k.outer.Rows * k.outer.Len * k.count
	k.tasks, k.each = Parts(k.units, cost)
}

func (k *gatherKernel[T]) Tasks() int   { return k.tasks }
func (k *gatherKernel[T]) Scratch() int { return k.slice.scratch() }

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
	dst, src, indices := Slice[T](k.out), Slice[T](k.data), newIndexer(k.indices)
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
				k.slice.all(dst, d, src, s, scratch)
			}
			i += w.Inner[0]
			d += w.Inner[1]
		}
	}
	return nil
}

// NewGatherElements returns a kernel of inputs data and indices (int32 or
// int64) of the same rank, for elements of the given width in bytes. The
// output has the shape of the indices, which on other axes than the given one
// is no larger than that of the data. All operands may have any strides. It
// equals the loop
//
//	for each index i of indices: out[i] = data[i with indices[i] at axis]
//
// with negative indices counted from the end. An index out of range is an
// error of Run.
func NewGatherElements(width, axis int) Kernel {
	return ofWidth(width,
		&gatherElementsKernel[uint8]{axis: axis}, &gatherElementsKernel[uint16]{axis: axis},
		&gatherElementsKernel[uint32]{axis: axis}, &gatherElementsKernel[uint64]{axis: axis})
}

type gatherElementsKernel[T word] struct {
	axis               int
	data, indices, out *Operand
	walk               Walk  // indices, data at index 0 of the axis, output
	strides            []int // of the data, 0 at the axis
	elems, tasks, each int
}

func (k *gatherElementsKernel[T]) Bind(in, out []*Operand) {
	k.data, k.indices, k.out = in[0], in[1], out[0]
	k.strides = append(k.strides[:0], k.data.Strides...)
	k.strides[k.axis] = 0
	k.walk.Bind(k.indices.Shape, k.indices.Strides, k.strides, k.out.Strides)
	k.elems = k.walk.Rows * k.walk.Len
	k.tasks, k.each = Parts(k.elems, 1)
}

func (k *gatherElementsKernel[T]) Tasks() int   { return k.tasks }
func (k *gatherElementsKernel[T]) Scratch() int { return 0 }

func (k *gatherElementsKernel[T]) Run(task int, _ []byte) error {
	dst, src, indices := Slice[T](k.out), Slice[T](k.data), newIndexer(k.indices)
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

// NewGatherND returns a kernel of inputs data and indices (int32 or int64)
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
func NewGatherND(width, batch int) Kernel {
	return ofWidth(width,
		&gatherNDKernel[uint8]{batch: batch}, &gatherNDKernel[uint16]{batch: batch},
		&gatherNDKernel[uint32]{batch: batch}, &gatherNDKernel[uint64]{batch: batch})
}

type gatherNDKernel[T word] struct {
	batch              int
	data, indices, out *Operand
	walk               Walk     // tuples: indices, output, data at tuple 0
	strides            []int    // of the data over the axes of the walk
	tuple              int      // indices in a tuple
	slice              mover[T] // what a tuple names
	units, tasks, each int
}

func (k *gatherNDKernel[T]) Bind(in, out []*Operand) {
	k.data, k.indices, k.out = in[0], in[1], out[0]
	last := len(k.indices.Shape) - 1
	k.tuple = k.indices.Shape[last]
	k.strides = append(k.strides[:0], k.data.Strides[:k.batch]...)
	for range last - k.batch {
		k.strides = append(k.strides, 0)
	}
	k.walk.Bind(k.indices.Shape[:last], k.indices.Strides[:last], k.out.Strides[:last], k.strides)
	named := k.batch + k.tuple
	k.slice.bind(k.data.Shape[named:], k.out.Strides[last:], k.data.Strides[named:])
	cost := 1
	for _, d := range k.data.Shape[named:] {
		cost *= d
	}
	k.units = k.walk.Rows * k.walk.Len
	k.tasks, k.each = Parts(k.units, cost)
}

func (k *gatherNDKernel[T]) Tasks() int   { return k.tasks }
func (k *gatherNDKernel[T]) Scratch() int { return k.slice.scratch() }

func (k *gatherNDKernel[T]) Run(task int, scratch []byte) error {
	dst, src, indices := Slice[T](k.out), Slice[T](k.data), newIndexer(k.indices)
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
			k.slice.all(dst, d, src, from, scratch)
			i += w.Inner[0]
			d += w.Inner[1]
			s += w.Inner[2]
		}
		lo += n
	}
	return nil
}

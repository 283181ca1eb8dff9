package kernel

import "github.com/berth-go/berth/dtype"

// NewArgReduce returns a kernel with one input of the given type and one
// int64 output, which has extent 1 along axis or lacks the axis:
//
//	for each index of the other axes:
//	    out[index] = the first i with x[index, i] the largest of all
//
// or the smallest when largest is false, or the last such i. If there is a
// NaN, the answer is the first (the last) NaN, as in NumPy. Both operands may
// have any strides. The axis must not be empty unless the output is.
func NewArgReduce(t dtype.Type, axis int, largest, last bool) Kernel {
	s := argScan{largest, last}
	switch t {
	case dtype.Float32:
		return &argReduceKernel[float32]{axis: axis, argScan: s}
	case dtype.Float64:
		return &argReduceKernel[float64]{axis: axis, argScan: s}
	case dtype.Int8:
		return &argReduceKernel[int8]{axis: axis, argScan: s}
	case dtype.Int16:
		return &argReduceKernel[int16]{axis: axis, argScan: s}
	case dtype.Int32:
		return &argReduceKernel[int32]{axis: axis, argScan: s}
	case dtype.Int64:
		return &argReduceKernel[int64]{axis: axis, argScan: s}
	case dtype.Uint8, dtype.Bool:
		return &argReduceKernel[uint8]{axis: axis, argScan: s}
	case dtype.Uint16:
		return &argReduceKernel[uint16]{axis: axis, argScan: s}
	case dtype.Uint32:
		return &argReduceKernel[uint32]{axis: axis, argScan: s}
	case dtype.Uint64:
		return &argReduceKernel[uint64]{axis: axis, argScan: s}
	}
	return nil
}

// An argScan is which extreme of a line is looked for. Looking for the last
// one is looking for the first one from the far end.
type argScan struct{ largest, last bool }

type argReduceKernel[T Number] struct {
	axis int
	argScan
	in, out *Operand
	lines   lines
	along   []bool
	strides []int
}

func (k *argReduceKernel[T]) Bind(in, out []*Operand) {
	k.in, k.out = in[0], out[0]
	rank := len(k.in.Shape)
	k.along = marks(k.along, rank, k.axis)
	k.strides = k.strides[:0]
	next := 0
	for a := range rank {
		switch {
		case a != k.axis:
			k.strides = append(k.strides, k.out.Strides[next])
			next++
		default:
			k.strides = append(k.strides, 0)
			if len(k.out.Shape) == rank {
				next++
			}
		}
	}
	k.lines.bind(k.in.Shape, k.along, k.in.Strides, k.strides)
}

func (k *argReduceKernel[T]) Tasks() int { return k.lines.tasks }

func (k *argReduceKernel[T]) Scratch() int {
	return carved[T](lineTile) + carved[int64](lineTile)
}

func (k *argReduceKernel[T]) Run(task int, scratch []byte) error {
	best, index := carve[T](&scratch, lineTile), carve[int64](&scratch, lineTile)
	src, dst := Slice[T](k.in), Slice[int64](k.out)
	l := &k.lines
	var at [lineOperands]int
	for unit, end := l.part(task); unit < end; {
		width, units := l.seek(unit, end, at[:])
		unit += units
		from, to := k.in.Offset+at[0], k.out.Offset+at[1]
		if l.cols {
			argTile(k.argScan, best, index[:width], src, from, l.inner.Inner[0], l.outer.Inner[0], l.length)
			for _, i := range index[:width] {
				dst[to] = i
				to += l.outer.Inner[1]
			}
			continue
		}
		for range width {
			dst[to] = int64(argLine(k.argScan, src, from, l.inner.Inner[0], l.length))
			from += l.outer.Inner[0]
			to += l.outer.Inner[1]
		}
	}
	return nil
}

// argLine finds the extreme of the n > 0 elements src[at], src[at+step] ...
func argLine[T Number](s argScan, src []T, at, step, n int) int {
	if s.last {
		at, step = at+(n-1)*step, -step
	}
	best, index := src[at], 0
	count := n
	if best != best {
		count = 1
	}
	if s.largest {
		for i := 1; i < count; i++ {
			at += step
			if v := src[at]; v > best {
				best, index = v, i
			} else if v != v {
				index = i
				break
			}
		}
	} else {
		for i := 1; i < count; i++ {
			at += step
			if v := src[at]; v < best {
				best, index = v, i
			} else if v != v {
				index = i
				break
			}
		}
	}
	if s.last {
		return n - 1 - index
	}
	return index
}

// argTile finds the extremes of neighbouring lines of n > 0 elements, where
// step leads along a line and across to the next line. best is working memory
// of the length of index.
func argTile[T Number](s argScan, best []T, index []int64, src []T, at, step, across, n int) {
	first := 0
	if s.last {
		first, at, step = n-1, at+(n-1)*step, -step
	}
	best = best[:len(index)]
	from := at
	for c := range index {
		best[c], index[c] = src[from], int64(first)
		from += across
	}
	for i := 1; i < n; i++ {
		at += step
		number := int64(i)
		if s.last {
			number = int64(first - i)
		}
		from := at
		if s.largest {
			for c, b := range best {
				if v := src[from]; v > b || v != v && b == b {
					best[c], index[c] = v, number
				}
				from += across
			}
		} else {
			for c, b := range best {
				if v := src[from]; v < b || v != v && b == b {
					best[c], index[c] = v, number
				}
				from += across
			}
		}
	}
}

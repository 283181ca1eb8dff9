package kernel

import "github.com/berth-go/berth/dtype"

// NewCumulative returns a kernel with one input of the given type and one
// output of the same type and shape: running sums, or products, along axis.
//
//	acc = 0 (or 1)
//	for i, in ascending order, or descending when reverse is set:
//	    exclusive: y[i] = acc; acc = acc + x[i]
//	    otherwise: acc = acc + x[i]; y[i] = acc
//
// Elements meet strictly in order; integers wrap. Both operands may have any
// strides, and the output may be the input.
func NewCumulative(t dtype.Type, axis int, product, exclusive, reverse bool) Kernel {
	s := scan{product, exclusive, reverse}
	switch t {
	case dtype.Float32:
		return &cumulativeKernel[float32]{axis: axis, scan: s}
	case dtype.Float64:
		return &cumulativeKernel[float64]{axis: axis, scan: s}
	case dtype.Int8:
		return &cumulativeKernel[int8]{axis: axis, scan: s}
	case dtype.Int16:
		return &cumulativeKernel[int16]{axis: axis, scan: s}
	case dtype.Int32:
		return &cumulativeKernel[int32]{axis: axis, scan: s}
	case dtype.Int64:
		return &cumulativeKernel[int64]{axis: axis, scan: s}
	case dtype.Uint8:
		return &cumulativeKernel[uint8]{axis: axis, scan: s}
	case dtype.Uint16:
		return &cumulativeKernel[uint16]{axis: axis, scan: s}
	case dtype.Uint32:
		return &cumulativeKernel[uint32]{axis: axis, scan: s}
	case dtype.Uint64:
		return &cumulativeKernel[uint64]{axis: axis, scan: s}
	}
	return nil
}

type scan struct{ product, exclusive, reverse bool }

type cumulativeKernel[T Number] struct {
	axis int
	scan
	in, out *Operand
	lines   lines
	along   []bool
}

func (k *cumulativeKernel[T]) Bind(in, out []*Operand) {
	k.in, k.out = in[0], out[0]
	k.along = marks(k.along, len(k.in.Shape), k.axis)
	k.lines.bind(k.in.Shape, k.along, k.in.Strides, k.out.Strides)
}

func (k *cumulativeKernel[T]) Tasks() int {
	if k.lines.length == 0 {
		return 0
	}
	return k.lines.tasks
}

func (k *cumulativeKernel[T]) Scratch() int { return carved[T](lineTile) }

func (k *cumulativeKernel[T]) Run(task int, scratch []byte) error {
	tile := carve[T](&scratch, lineTile)
	src, dst := Slice[T](k.in), Slice[T](k.out)
	l := &k.lines
	n, step, out := l.length, l.inner.Inner[0], l.inner.Inner[1]
	var at [lineOperands]int
	for unit, end := l.part(task); unit < end; {
		width, units := l.seek(unit, end, at[:])
		unit += units
		from, to, step, out := k.in.Offset+at[0], k.out.Offset+at[1], step, out
		if k.reverse {
			from, step = from+(n-1)*step, -step
			to, out = to+(n-1)*out, -out
		}
		if !l.cols {
			for range width {
				scanLine(k.scan, dst, to, out, src, from, step, n)
				from += l.outer.Inner[0]
				to += l.outer.Inner[1]
			}
			continue
		}
		acc := tile[:width]
		for i := range acc {
			acc[i] = k.start()
		}
		for range n {
			scanTile(k.scan, acc, dst, to, l.outer.Inner[1], src, from, l.outer.Inner[0])
			from += step
			to += out
		}
	}
	return nil
}

func (k *cumulativeKernel[T]) start() T {
	if k.product {
		return 1
	}
	return 0
}

// scanLine runs along one line of n elements.
func scanLine[T Number](s scan, dst []T, to, out int, src []T, from, step, n int) {
	var acc T
	switch {
	case s.product && s.exclusive:
		acc = 1
		for range n {
			v := src[from]
			dst[to] = acc
			acc *= v
			from, to = from+step, to+out
		}
	case s.product:
		acc = 1
		for range n {
			acc *= src[from]
			dst[to] = acc
			from, to = from+step, to+out
		}
	case s.exclusive:
		for range n {
			v := src[from]
			dst[to] = acc
			acc += v
			from, to = from+step, to+out
		}
	default:
		for range n {
			acc += src[from]
			dst[to] = acc
			from, to = from+step, to+out
		}
	}
}

// scanTile does one step of neighbouring lines.
func scanTile[T Number](s scan, acc, dst []T, to, out int, src []T, from, step int) {
	switch {
	case s.product && s.exclusive:
		for i, a := range acc {
			v := src[from]
			dst[to] = a
			acc[i] = a * v
			from, to = from+step, to+out
		}
	case s.product:
		for i, a := range acc {
			a *= src[from]
			dst[to], acc[i] = a, a
			from, to = from+step, to+out
		}
	case s.exclusive:
		for i, a := range acc {
			v := src[from]
			dst[to] = a
			acc[i] = a + v
			from, to = from+step, to+out
		}
	default:
		for i, a := range acc {
			a += src[from]
			dst[to], acc[i] = a, a
			from, to = from+step, to+out
		}
	}
}

package resample

import (
	"math"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/lines"
)

// newResize returns a kernel of one input x and one output y, which may have any
// strides. It equals the loop
//
//	for each index i of y:
//		y[i] = sum over one entry (element e, weight w) of table a at i[a], for every axis a,
//			of x[e...] times the product of all w
//	or the extrapolation value where a table has no entry at i[a]
//
// with sums over the last axis last, in float64 unless x is float32. Nearest has one entry everywhere.
func newResize(t dtype.Type, r Resize) kernel.Kernel {
	if r.Mode == Nearest {
		value := kernel.Float64Scalar(r.Extrapolation).Cast(t).Bits
		return kernel.OfWidth(t.Size(),
			&nearestKernel[uint8]{value: uint8(value), sampled: sampled[float32]{resize: r}},
			&nearestKernel[uint16]{value: uint16(value), sampled: sampled[float32]{resize: r}},
			&nearestKernel[uint32]{value: uint32(value), sampled: sampled[float32]{resize: r}},
			&nearestKernel[uint64]{value: value, sampled: sampled[float32]{resize: r}})
	}
	return kernel.OfNumber(t, r, integers[int8], integers[int16], integers[int32], integers[int64],
		integers[uint8], integers[uint16], integers[uint32], integers[uint64], floats[float32], floats[float64])
}

// sampled is what kernels of Resize share: the tables, and the output cut into
// pieces of its rows.
type sampled[A kernel.Float] struct {
	resize      Resize
	in, out     *kernel.Operand
	outer       []table[A]
	row         table[A] // of the last axis, in elements
	step        [2]int   // of the row, in the input and in the output
	length      int      // of the output's rows
	pieces      int      // of each row
	units       int
	tasks, each int
}

// piece is how many elements of a row are computed at a time.
const piece = 1024

func (k *sampled[A]) Tasks() int { return k.tasks }

func (k *sampled[A]) Bind(in, out []*kernel.Operand) {
	k.in, k.out = in[0], out[0]
	k.units, k.tasks = 0, 0
	if slices.Contains(k.out.Shape, 0) {
		return // the extents beside the 0 may be far too large for a table
	}
	last := len(k.out.Shape) - 1
	k.outer = slices.Grow(k.outer[:0], max(last, 0))[:max(last, 0)]
	rows := 1
	for a := range k.outer {
		p := k.resize.placement(a, k.in.Shape[a], k.out.Shape[a])
		k.outer[a].bind(&p, k.in.Strides[a])
		rows *= k.out.Shape[a]
	}
	p := placement{in: 1, out: 1, num: 1, den: 1}
	k.step = [2]int{1, 1}
	if last >= 0 {
		p = k.resize.placement(last, k.in.Shape[last], k.out.Shape[last])
		k.step = [2]int{k.in.Strides[last], k.out.Strides[last]}
	}
	k.row.bind(&p, 1)
	k.length = p.out
	k.pieces = kernel.CeilDiv(k.length, piece)
	k.units = rows * k.pieces
	k.tasks, k.each = kernel.Parts(k.units, k.cost())
}

// cost returns about how many elements a piece of a row is made of.
func (k *sampled[A]) cost() int {
	n := kernel.CeilDiv(len(k.row.at), k.pieces)
	for _, t := range k.outer {
		n *= kernel.CeilDiv(max(len(t.at), 1), len(t.first)-1)
	}
	return n
}

// unit returns the half-open range of a row's elements that a unit has, where the row
// begins in the output, and over how many rows of the input it is a sum.
func (k *sampled[A]) unit(unit int) (from, to, at, sums int) {
	from = unit % k.pieces * piece
	at, sums = k.out.Offset, 1
	row := unit / k.pieces
	for a := len(k.outer) - 1; a >= 0; a-- {
		t := &k.outer[a]
		j := row % (len(t.first) - 1)
		row /= len(t.first) - 1
		at += j * k.out.Strides[a]
		sums *= t.first[j+1] - t.first[j]
	}
	return from, min(from+piece, k.length), at, sums
}

// term returns where row number sum of those that a unit is a sum of begins in the
// input, and its weight.
func (k *sampled[A]) term(unit, sum int) (at int, weight A) {
	at, weight = k.in.Offset, 1
	row := unit / k.pieces
	for a := len(k.outer) - 1; a >= 0; a-- {
		t := &k.outer[a]
		j := row % (len(t.first) - 1)
		row /= len(t.first) - 1
		n := t.first[j+1] - t.first[j]
		e := t.first[j] + sum%n
		sum /= n
		at += t.at[e]
		weight *= t.weight[e]
	}
	return at, weight
}

type nearestKernel[T kernel.Word] struct {
	sampled[float32]
	value T
}

func (k *nearestKernel[T]) Scratch() int { return 0 }

func (k *nearestKernel[T]) Run(task int, _ []byte) error {
	dst, src := kernel.Slice[T](k.out), kernel.Slice[T](k.in)
	for unit := task * k.each; unit < min((task+1)*k.each, k.units); unit++ {
		from, to, d, sums := k.unit(unit)
		d += from * k.step[1]
		if sums == 0 {
			kernel.FillStrided(dst, d, k.step[1], to-from, k.value)
			continue
		}
		s, _ := k.term(unit, 0)
		if k.row.plain {
			kernel.MoveStrided(dst, d, k.step[1], src, s+from*k.step[0], k.step[0], to-from)
			continue
		}
		for j := from; j < to; j++ {
			if e := k.row.first[j]; e == k.row.first[j+1] {
				dst[d] = k.value
			} else {
				dst[d] = src[s+k.row.at[e]*k.step[0]]
			}
			d += k.step[1]
		}
	}
	return nil
}

// A sumKernel has elements of type T and sums of type A.
type sumKernel[T kernel.Number, A kernel.Float] struct {
	sampled[A]
	// store writes sums to dst[at], dst[at+step] ...
	store func(dst []T, at, step int, sums []A)
	spans [][2]int // the elements that each piece of a row reads, half open
	span  int      // the longest of them
}

func floats[T kernel.Float](r Resize) kernel.Kernel {
	return &sumKernel[T, T]{sampled: sampled[T]{resize: r}, store: func(dst []T, at, step int, sums []T) {
		for _, v := range sums {
			dst[at] = v
			at += step
		}
	}}
}

func integers[T kernel.Integer](r Resize) kernel.Kernel {
	round := math.Trunc
	if r.Antialias {
		round = math.Round
	}
	low, high := lines.Lowest[T](), lines.Highest[T]()
	return &sumKernel[T, float64]{sampled: sampled[float64]{resize: r}, store: func(dst []T, at, step int, sums []float64) {
		for _, v := range sums {
			switch v = round(v); {
			case !(v > float64(low)):
				dst[at] = low
			case v >= float64(high):
				dst[at] = high
			default:
				dst[at] = T(v)
			}
			at += step
		}
	}}
}

func (k *sumKernel[T, A]) Bind(in, out []*kernel.Operand) {
	k.sampled.Bind(in, out)
	k.spans, k.span = k.spans[:0], 0
	if k.units == 0 {
		return
	}
	for from := 0; from < k.length; from += piece {
		to := min(from+piece, k.length)
		var span [2]int
		if at := k.row.at[k.row.first[from]:k.row.first[to]]; len(at) > 0 {
			span = [2]int{slices.Min(at), slices.Max(at) + 1}
		}
		k.spans = append(k.spans, span)
		k.span = max(k.span, span[1]-span[0])
	}
}

func (k *sumKernel[T, A]) Scratch() int { return kernel.Carved[A](k.span) + kernel.Carved[A](piece) }

func (k *sumKernel[T, A]) Run(task int, scratch []byte) error {
	rows, sums := kernel.Carve[A](&scratch, k.span), kernel.Carve[A](&scratch, piece)
	dst, src := kernel.Slice[T](k.out), kernel.Slice[T](k.in)
	for unit := task * k.each; unit < min((task+1)*k.each, k.units); unit++ {
		from, to, d, terms := k.unit(unit)
		span := k.spans[unit%k.pieces]
		acc, line := rows[:span[1]-span[0]], sums[:to-from]
		if terms == 0 {
			kernel.Fill(line, A(k.resize.Extrapolation))
		} else {
			clear(acc)
			for i := range terms {
				at, weight := k.term(unit, i)
				addRow(acc, src, at+span[0]*k.step[0], k.step[0], weight)
			}
			k.along(line, acc, from, span[0])
		}
		k.store(dst, d+from*k.step[1], k.step[1], line)
	}
	return nil
}

// addRow adds a row of the input times its weight.
func addRow[T kernel.Number, A kernel.Float](acc []A, src []T, at, step int, weight A) {
	if step == 1 {
		for i, v := range src[at : at+len(acc)] {
			acc[i] += A(weight * A(v))
		}
		return
	}
	for i := range acc {
		acc[i] += A(weight * A(src[at]))
		at += step
	}
}

// along sets line to elements from on of a row of the output, given the elements
// low on of the row of the input.
func (k *sumKernel[T, A]) along(line, row []A, from, low int) {
	if k.row.plain {
		copy(line, row)
		return
	}
	first := k.row.first[from : from+len(line)+1]
	for j := range line {
		e, end := first[j], first[j+1]
		if e == end {
			line[j] = A(k.resize.Extrapolation)
			continue
		}
		sum := A(0)
		for ; e < end; e++ {
			sum += A(k.row.weight[e] * row[k.row.at[e]-low])
		}
		line[j] = sum
	}
}

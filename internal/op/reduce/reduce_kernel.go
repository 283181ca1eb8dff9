package reduce

import (
	"math"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/lines"
)

// newReduce returns a kernel with one input of the given type and one output:
//
//	for each index of the axes that are kept:
//	    out[index] = kind(all x with that index), in row-major order
//
// The output has either the rank of the input, with extent 1 along axes, or
// lacks these axes; which is seen at Bind. With no axes, each element is
// reduced on its own. Both operands may have any strides.
//
// Max and Min are NaN where an element is. Integers wrap, but for Mean, which
// sums in 64 bits and truncates, and for L2, LogSum and LogSumExp, which are
// computed in float64 and go to the nearest integer towards zero within the
// type. No elements at all give 0 for sums, norms and Any, 1 for Prod and
// All, the lowest value for Max, LogSum and LogSumExp, the highest for Min,
// and for Mean NaN, or 0 in integers.
//
// Floating-point sums follow the order that [lines.Operation] states. One output is
// the work of one task, so that a reduction to a single number uses a single
// worker: results of tasks cannot be joined by a later task.
func newReduce(kind Kind, t dtype.Type, axes []int) kernel.Kernel {
	return kernel.OfNumber(t, reduceParams{kind, reduction{axes: axes}},
		newReduceInt[int8, int64], newReduceInt[int16, int64], newReduceInt[int32, int64], newReduceInt[int64, int64],
		newReduceInt[uint8, uint64], newReduceInt[uint16, uint64], newReduceInt[uint32, uint64], newReduceInt[uint64, uint64],
		newReduceFloat[float32], newReduceFloat[float64])
}

type reduceParams struct {
	kind Kind
	reduction
}

func newReduceFloat[T kernel.Float](p reduceParams) kernel.Kernel {
	k := &reduceKernel[T, T, T]{reduction: p.reduction, finish: finishKeep[T, T]}
	k.Accumulator = lines.Plain(lines.Sum[T]())
	switch p.kind {
	case Mean:
		k.finish, k.empty = finishMean[T, T], T(math.NaN())
	case LogSum:
		k.finish, k.empty = finishLog[T, T], lines.Lowest[T]()
	case LogSumExp:
		k.Load, k.Plain = lines.ExpLoader[T](), false
		peak := lines.Plain(lines.Max[T]())
		k.peak = &peak
		k.finish, k.empty = finishLogShift[T, T], lines.Lowest[T]()
	default:
		return newReduceSame[T](p)
	}
	return k
}

// newReduceInt takes as W the widest type of the signedness of T.
func newReduceInt[T, W kernel.Integer](p reduceParams) kernel.Kernel {
	f := reduceKernel[T, float64, T]{reduction: p.reduction}
	f.Accumulator = lines.Accumulator[T, float64]{Operation: lines.Sum[float64](), Load: lines.LoadCast[T, float64]}
	switch p.kind {
	case Mean:
		k := &reduceKernel[T, W, T]{reduction: p.reduction, finish: finishMean[W, T]}
		k.Accumulator = lines.Accumulator[T, W]{Operation: lines.Sum[W](), Load: lines.LoadCast[T, W]}
		return k
	case L2:
		f.Load, f.finish = lines.LoadSquare[T, float64], finishSqrt[float64, T]
	case LogSum:
		f.finish, f.empty = finishLog[float64, T], lines.Lowest[T]()
	case LogSumExp:
		f.Load = lines.LoadExp[T, float64]
		f.peak = &lines.Accumulator[T, float64]{Operation: lines.Max[float64](), Load: lines.LoadCast[T, float64]}
		f.finish, f.empty = finishLogShift[float64, T], lines.Lowest[T]()
	default:
		return newReduceSame[T](p)
	}
	return &f
}

// newReduceSame makes the kinds whose arithmetic stays in the type of the elements,
// or in truth values.
func newReduceSame[T kernel.Number](p reduceParams) kernel.Kernel {
	k := &reduceKernel[T, T, T]{reduction: p.reduction, finish: finishKeep[T, T]}
	k.Accumulator = lines.Plain(lines.Sum[T]())
	switch p.kind {
	case Max:
		k.Operation, k.empty = lines.Max[T](), lines.Lowest[T]()
	case Min:
		k.Operation, k.empty = lines.Min[T](), lines.Highest[T]()
	case Prod:
		k.Operation, k.empty = lines.Prod[T](), 1
	case SumSquare:
		k.Load, k.Plain = lines.SquareLoader[T](), false
	case L1:
		k.Load, k.Plain = lines.LoadAbs[T, T], false
	case L2:
		k.Load, k.Plain, k.finish = lines.SquareLoader[T](), false, finishSqrt[T, T]
	case Any, All:
		b := &reduceKernel[T, uint8, uint8]{reduction: p.reduction, finish: finishKeep[uint8, uint8]}
		b.Accumulator = lines.Accumulator[T, uint8]{Operation: lines.Max[uint8](), Load: lines.LoadTruth[T]}
		if p.kind == All {
			b.Operation, b.empty = lines.Min[uint8](), 1
		}
		return b
	}
	return k
}

// reduction is the lines of an input that become an element each of an output.
type reduction struct {
	axes    []int
	in, out *kernel.Operand
	lines   lines.Lines
	strides []int // of the output along all axes of the input
}

func (k *reduction) Bind(in, out []*kernel.Operand) {
	k.in, k.out = in[0], out[0]
	rank := len(k.in.Shape)
	k.strides = k.strides[:0]
	next := 0 // axis of the output
	for axis := range rank {
		kept := !slices.Contains(k.axes, axis)
		if kept {
			k.strides = append(k.strides, k.out.Strides[next])
		} else {
			k.strides = append(k.strides, 0)
		}
		if kept || len(k.out.Shape) == rank {
			next++
		}
	}
	k.lines.Bind(k.in.Shape, k.axes, k.in.Strides, k.strides)
}

func (k *reduction) Tasks() int { return k.lines.Tasks }

// reduceKernel accumulates elements of type T by arithmetic in A into results of
// type O.
type reduceKernel[T, A, O kernel.Number] struct {
	reduction
	lines.Accumulator[T, A]
	// peak, when not nil, is accumulated first, and its result is the shift that
	// the elements are loaded with, unless it is infinite.
	peak *lines.Accumulator[T, A]
	// finish makes results of what n elements have been accumulated to.
	finish func(dst []O, at, step int, acc, shift []A, n int)
	empty  O // the result for no elements
}

func (k *reduceKernel[T, A, O]) Scratch() int {
	return 2*kernel.Carved[A](lines.Tile) + kernel.Carved[A](k.lines.Work())
}

func (k *reduceKernel[T, A, O]) Run(task int, scratch []byte) error {
	results, shifts := kernel.Carve[A](&scratch, lines.Tile), kernel.Carve[A](&scratch, lines.Tile)
	work := kernel.Carve[A](&scratch, k.lines.Work())
	src, dst := kernel.Slice[T](k.in), kernel.Slice[O](k.out)
	l := &k.lines
	var at [lines.MaxOperands]int
	for unit, end := l.Part(task); unit < end; {
		// A batch is a tile, or as many single lines at a constant step.
		width, units := l.Seek(unit, min(end, unit+lines.Tile), at[:])
		unit += units
		from, to, step := k.in.Offset+at[0], k.out.Offset+at[1], l.Outer.Inner[1]
		if l.Length == 0 {
			for range width {
				dst[to] = k.empty
				to += step
			}
			continue
		}
		acc, shift := results[:width], shifts[:0]
		if k.peak != nil {
			shift = shifts[:width]
			k.each(k.peak, shift, src, from, nil, work)
			for i, m := range shift {
				if math.IsInf(float64(m), 0) {
					shift[i] = 0
				}
			}
		}
		k.each(&k.Accumulator, acc, src, from, shift, work)
		k.finish(dst, to, step, acc, shift, l.Length)
	}
	return nil
}

// each accumulates a batch of lines: a tile at once, others one by one.
func (k *reduceKernel[T, A, O]) each(f *lines.Accumulator[T, A], acc []A, src []T, from int, shift, work []A) {
	if k.lines.Cols {
		f.Accumulate(acc, &k.lines, 0, src, from, shift, work)
		return
	}
	step := k.lines.Outer.Inner[0]
	for i := range acc {
		own := shift
		if len(shift) > 0 {
			own = shift[i : i+1]
		}
		acc[i] = f.Line(&k.lines, 0, src, from, own, work)
		from += step
	}
}

func finishKeep[A, O kernel.Number](dst []O, at, step int, acc, _ []A, _ int) {
	for _, v := range acc {
		dst[at] = O(v)
		at += step
	}
}

func finishMean[A, O kernel.Number](dst []O, at, step int, acc, _ []A, n int) {
	for _, v := range acc {
		dst[at] = O(v / A(n))
		at += step
	}
}

func finishSqrt[A, O kernel.Number](dst []O, at, step int, acc, _ []A, _ int) {
	for _, v := range acc {
		dst[at] = clamped[O](math.Sqrt(float64(v)))
		at += step
	}
}

func finishLog[A, O kernel.Number](dst []O, at, step int, acc, _ []A, _ int) {
	for _, v := range acc {
		dst[at] = clamped[O](math.Log(float64(v)))
		at += step
	}
}

func finishLogShift[A, O kernel.Number](dst []O, at, step int, acc, shift []A, _ int) {
	for i, v := range acc {
		dst[at] = clamped[O](float64(shift[i]) + math.Log(float64(v)))
		at += step
	}
}

// clamped converts v to O. To an integer type it truncates, takes the nearest
// value of the type, and makes 0 of NaN.
func clamped[O kernel.Number](v float64) O {
	if one := O(1); one/2 != 0 { // a floating-point type
		return O(v)
	}
	lo, hi := lines.Lowest[O](), lines.Highest[O]()
	switch {
	case v != v:
		return 0
	case v <= float64(lo):
		return lo
	case v >= float64(hi):
		return hi
	}
	return O(v)
}

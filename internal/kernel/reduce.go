package kernel

import (
	"math"

	"github.com/berth-go/berth/dtype"
)

// A ReduceKind says how a reduction folds elements into one.
type ReduceKind uint8

// The kinds of reductions of elements x.
const (
	ReduceSum       ReduceKind = iota // sum of x
	ReduceMean                        // sum of x, divided by their number
	ReduceMax                         // largest x
	ReduceMin                         // smallest x
	ReduceProd                        // product of x
	ReduceSumSquare                   // sum of x*x
	ReduceL1                          // sum of |x|
	ReduceL2                          // square root of the sum of x*x
	ReduceLogSum                      // natural logarithm of the sum of x
	ReduceLogSumExp                   // natural logarithm of the sum of exp(x)
	ReduceAny                         // whether any x is not zero
	ReduceAll                         // whether no x is zero
)

// NewReduce returns a kernel with one input of the given type and one output:
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
// Floating-point sums follow the order that [folding] states. One output is
// the work of one task, so that a reduction to a single number uses a single
// worker: results of tasks cannot be joined by a later task.
func NewReduce(kind ReduceKind, t dtype.Type, axes []int) Kernel {
	switch t {
	case dtype.Float32:
		return newReduceFloat[float32](kind, axes)
	case dtype.Float64:
		return newReduceFloat[float64](kind, axes)
	case dtype.Int8:
		return newReduceInt[int8, int64](kind, axes)
	case dtype.Int16:
		return newReduceInt[int16, int64](kind, axes)
	case dtype.Int32:
		return newReduceInt[int32, int64](kind, axes)
	case dtype.Int64:
		return newReduceInt[int64, int64](kind, axes)
	case dtype.Uint8, dtype.Bool:
		return newReduceInt[uint8, uint64](kind, axes)
	case dtype.Uint16:
		return newReduceInt[uint16, uint64](kind, axes)
	case dtype.Uint32:
		return newReduceInt[uint32, uint64](kind, axes)
	case dtype.Uint64:
		return newReduceInt[uint64, uint64](kind, axes)
	}
	return nil
}

func newReduceFloat[T Float](kind ReduceKind, axes []int) Kernel {
	k := &reduceKernel[T, T, T]{axes: axes, finish: finishKeep[T, T]}
	k.folder = folder[T, T]{sumFolding[T](), loadCast[T, T], true}
	switch kind {
	case ReduceMean:
		k.finish, k.empty = finishMean[T, T], T(math.NaN())
	case ReduceLogSum:
		k.finish, k.empty = finishLog[T, T], lowest[T]()
	case ReduceLogSumExp:
		k.load, k.plain = expLoader[T](), false
		k.peak = &folder[T, T]{maxFolding[T](), loadCast[T, T], true}
		k.finish, k.empty = finishLogShift[T, T], lowest[T]()
	default:
		return newReduceSame(k, kind)
	}
	return k
}

// newReduceInt takes as W the widest type of the signedness of T.
func newReduceInt[T, W Integer](kind ReduceKind, axes []int) Kernel {
	f := reduceKernel[T, float64, T]{axes: axes}
	f.folder = folder[T, float64]{sumFolding[float64](), loadCast[T, float64], false}
	switch kind {
	case ReduceMean:
		k := &reduceKernel[T, W, T]{axes: axes, finish: finishMean[W, T]}
		k.folder = folder[T, W]{sumFolding[W](), loadCast[T, W], false}
		return k
	case ReduceL2:
		f.load, f.finish = loadSquare[T, float64], finishSqrt[float64, T]
	case ReduceLogSum:
		f.finish, f.empty = finishLog[float64, T], lowest[T]()
	case ReduceLogSumExp:
		f.load = loadExp[T, float64]
		f.peak = &folder[T, float64]{maxFolding[float64](), loadCast[T, float64], false}
		f.finish, f.empty = finishLogShift[float64, T], lowest[T]()
	default:
		k := &reduceKernel[T, T, T]{axes: axes, finish: finishKeep[T, T]}
		k.folder = folder[T, T]{sumFolding[T](), loadCast[T, T], true}
		return newReduceSame(k, kind)
	}
	return &f
}

// newReduceSame makes of k, a sum, the kinds whose arithmetic stays in the
// type of the elements, or in truth values.
func newReduceSame[T Number](k *reduceKernel[T, T, T], kind ReduceKind) Kernel {
	switch kind {
	case ReduceMax:
		k.folding, k.empty = maxFolding[T](), lowest[T]()
	case ReduceMin:
		k.folding, k.empty = minFolding[T](), highest[T]()
	case ReduceProd:
		k.folding, k.empty = prodFolding[T](), 1
	case ReduceSumSquare:
		k.load, k.plain = loadSquare[T, T], false
	case ReduceL1:
		k.load, k.plain = loadAbs[T, T], false
	case ReduceL2:
		k.load, k.plain, k.finish = loadSquare[T, T], false, finishSqrt[T, T]
	case ReduceAny, ReduceAll:
		b := &reduceKernel[T, uint8, uint8]{axes: k.axes, finish: finishKeep[uint8, uint8]}
		b.folder = folder[T, uint8]{maxFolding[uint8](), loadTruth[T], false}
		if kind == ReduceAll {
			b.folding, b.empty = minFolding[uint8](), 1
		}
		return b
	}
	return k
}

// expLoader returns the fastest form of loadExp for T.
func expLoader[T Float]() func(dst, src []T, at, step int, shift []T) {
	if f, ok := any(loadExp32).(func(dst, src []T, at, step int, shift []T)); ok {
		return f
	}
	return loadExp[T, T]
}

// reduceKernel folds elements of type T by arithmetic in A into results of
// type O.
type reduceKernel[T, A, O Number] struct {
	axes []int
	folder[T, A]
	// peak, when not nil, is folded first, and its result is the shift that
	// the elements are loaded with, unless it is infinite.
	peak *folder[T, A]
	// finish makes results of what n elements have been folded to.
	finish func(dst []O, at, step int, acc, shift []A, n int)
	empty  O // the result for no elements

	in, out *Operand
	lines   lines
	along   []bool
	strides []int // of the output along all axes of the input
}

func (k *reduceKernel[T, A, O]) Bind(in, out []*Operand) {
	k.in, k.out = in[0], out[0]
	k.along = marks(k.along, len(k.in.Shape), k.axes...)
	k.strides = k.strides[:0]
	keep := len(k.out.Shape) == len(k.in.Shape)
	next := 0
	for _, along := range k.along {
		switch {
		case along && keep:
			k.strides = append(k.strides, 0)
			next++
		case along:
			k.strides = append(k.strides, 0)
		default:
			k.strides = append(k.strides, k.out.Strides[next])
			next++
		}
	}
	k.lines.bind(k.in.Shape, k.along, k.in.Strides, k.strides)
}

// marks returns, in dst's storage, a list of the given rank that is true at
// the given axes.
func marks(dst []bool, rank int, axes ...int) []bool {
	dst = dst[:0]
	for range rank {
		dst = append(dst, false)
	}
	for _, a := range axes {
		dst[a] = true
	}
	return dst
}

func (k *reduceKernel[T, A, O]) Tasks() int { return k.lines.tasks }

func (k *reduceKernel[T, A, O]) Scratch() int {
	return 2*carved[A](lineTile) + carved[A](k.lines.work())
}

func (k *reduceKernel[T, A, O]) Run(task int, scratch []byte) error {
	results, shifts := carve[A](&scratch, lineTile), carve[A](&scratch, lineTile)
	work := carve[A](&scratch, k.lines.work())
	src, dst := Slice[T](k.in), Slice[O](k.out)
	l := &k.lines
	var at [lineOperands]int
	for unit, end := l.part(task); unit < end; {
		// A batch is a tile, or as many single lines at a constant step.
		width, units := l.seek(unit, min(end, unit+lineTile), at[:])
		unit += units
		from, to, step := k.in.Offset+at[0], k.out.Offset+at[1], l.outer.Inner[1]
		if l.length == 0 {
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
		k.each(&k.folder, acc, src, from, shift, work)
		k.finish(dst, to, step, acc, shift, l.length)
	}
	return nil
}

// each folds a batch of lines: a tile at once, others one by one.
func (k *reduceKernel[T, A, O]) each(f *folder[T, A], acc []A, src []T, from int, shift, work []A) {
	if k.lines.cols {
		f.fold(acc, &k.lines, 0, src, from, shift, work)
		return
	}
	step := k.lines.outer.Inner[0]
	for i := range acc {
		own := shift
		if len(shift) > 0 {
			own = shift[i : i+1]
		}
		acc[i] = f.line(&k.lines, 0, src, from, own, work)
		from += step
	}
}

func finishKeep[A, O Number](dst []O, at, step int, acc, _ []A, _ int) {
	for _, v := range acc {
		dst[at] = O(v)
		at += step
	}
}

func finishMean[A, O Number](dst []O, at, step int, acc, _ []A, n int) {
	for _, v := range acc {
		dst[at] = O(v / A(n))
		at += step
	}
}

func finishSqrt[A, O Number](dst []O, at, step int, acc, _ []A, _ int) {
	for _, v := range acc {
		dst[at] = clamped[O](math.Sqrt(float64(v)))
		at += step
	}
}

func finishLog[A, O Number](dst []O, at, step int, acc, _ []A, _ int) {
	for _, v := range acc {
		dst[at] = clamped[O](math.Log(float64(v)))
		at += step
	}
}

func finishLogShift[A, O Number](dst []O, at, step int, acc, shift []A, _ int) {
	for i, v := range acc {
		dst[at] = clamped[O](float64(shift[i]) + math.Log(float64(v)))
		at += step
	}
}

// clamped converts v to O. To an integer type it truncates, takes the nearest
// value of the type, and makes 0 of NaN.
func clamped[O Number](v float64) O {
	if one := O(1); one/2 != 0 { // a floating-point type
		return O(v)
	}
	lo, hi := lowest[O](), highest[O]()
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

package kernel

import (
	"math"

	"github.com/berth-go/berth/dtype"
)

// NewSoftmax returns a kernel with one floating-point input and one output of
// the same type and shape. Along axis, for each index of the other axes,
//
//	m = max over i of x[i]
//	s = sum over i of exp(x[i] - m)
//	softmax:     y[i] = exp(x[i] - m) / s
//	log softmax: y[i] = x[i] - m - log(s)
//
// so that no finite input overflows. A NaN, an infinity, or nothing but
// negative infinities along the axis makes all of its outputs NaN; single
// negative infinities give 0 (or -Inf). The sum follows the order that
// [folding] states. Both operands may have any strides, and the output may be
// the input.
func NewSoftmax(t dtype.Type, axis int, log bool) Kernel {
	switch t {
	case dtype.Float32:
		return newSoftmax[float32](axis, log)
	case dtype.Float64:
		return newSoftmax[float64](axis, log)
	}
	return nil
}

func newSoftmax[T Float](axis int, log bool) Kernel {
	k := &softmaxKernel[T]{axis: axis, log: log, exp: expLoader[T]()}
	k.max = folder[T, T]{maxFolding[T](), loadCast[T, T], true}
	k.sum = folder[T, T]{sumFolding[T](), loadCast[T, T], true}
	if log {
		k.sum.load, k.sum.plain = k.exp, false
	}
	return k
}

type softmaxKernel[T Float] struct {
	axis     int
	log      bool
	exp      func(dst, src []T, at, step int, shift []T)
	max, sum folder[T, T]

	in, out *Operand
	lines   lines
	along   []bool
}

func (k *softmaxKernel[T]) Bind(in, out []*Operand) {
	k.in, k.out = in[0], out[0]
	k.along = marks(k.along, len(k.in.Shape), k.axis)
	k.lines.bind(k.in.Shape, k.along, k.in.Strides, k.out.Strides)
}

func (k *softmaxKernel[T]) Tasks() int {
	if k.lines.length == 0 {
		return 0
	}
	return k.lines.tasks
}

func (k *softmaxKernel[T]) Scratch() int {
	return 2*carved[T](lineTile) + carved[T](max(lineTile, foldBlock)) + carved[T](k.lines.work())
}

func (k *softmaxKernel[T]) Run(task int, scratch []byte) error {
	t := softmaxTile[T]{
		softmaxKernel: k, x: Slice[T](k.in), y: Slice[T](k.out),
		peaks: carve[T](&scratch, lineTile), sums: carve[T](&scratch, lineTile),
		buf: carve[T](&scratch, max(lineTile, foldBlock)), work: carve[T](&scratch, k.lines.work()),
	}
	l := &k.lines
	var at [lineOperands]int
	for unit, end := l.part(task); unit < end; {
		width, units := l.seek(unit, end, at[:])
		unit += units
		at[0] += k.in.Offset
		at[1] += k.out.Offset
		if l.cols {
			t.run(at[:], width)
			continue
		}
		for range width {
			t.run(at[:], 1)
			l.advance(at[:])
		}
	}
	return nil
}

// softmaxTile is what one task works with.
type softmaxTile[T Float] struct {
	*softmaxKernel[T]
	x, y                   []T
	peaks, sums, buf, work []T
}

// run does the width lines that begin at at.
func (t *softmaxTile[T]) run(at []int, width int) {
	l := &t.lines
	m, s := t.peaks[:width], t.sums[:width]
	t.max.fold(m, l, 0, t.x, at[0], nil, t.work)
	if t.log {
		t.sum.fold(s, l, 0, t.x, at[0], m, t.work)
		for i, v := range s {
			s[i] = T(math.Log(float64(v)))
		}
		seg := l.segments(at, width)
		for seg.next() {
			t.logarithms(&seg, m, s)
		}
		return
	}
	seg := l.segments(at, width)
	for seg.next() {
		t.exponentials(&seg, m)
	}
	t.sum.fold(s, l, 1, t.y, at[1], nil, t.work)
	for i, v := range s {
		s[i] = 1 / v
	}
	seg = l.segments(at, width)
	for seg.next() {
		scale(t.y, seg.at[1], seg.step[1], seg.n, s)
	}
}

// exponentials sets the outputs of a stretch to exp(x - m).
func (t *softmaxTile[T]) exponentials(seg *segments, m []T) {
	from, to, step := seg.at[0], seg.at[1], seg.step[1]
	if step == 1 || seg.n == 1 {
		t.exp(t.y[to:to+seg.n], t.x, from, seg.step[0], m)
		return
	}
	for done := 0; done < seg.n; {
		buf := t.buf[:min(len(t.buf), seg.n-done)]
		t.exp(buf, t.x, from, seg.step[0], m)
		for _, v := range buf {
			t.y[to] = v
			to += step
		}
		from += len(buf) * seg.step[0]
		done += len(buf)
	}
}

// logarithms sets the outputs of a stretch to x - m - s.
func (t *softmaxTile[T]) logarithms(seg *segments, m, s []T) {
	from, to := seg.at[0], seg.at[1]
	if len(m) == 1 {
		m, s := m[0], s[0]
		for range seg.n {
			t.y[to] = t.x[from] - m - s
			from, to = from+seg.step[0], to+seg.step[1]
		}
		return
	}
	for i, m := range m {
		t.y[to] = t.x[from] - m - s[i]
		from, to = from+seg.step[0], to+seg.step[1]
	}
}

// scale multiplies n elements by one factor, or each by its own.
func scale[T Float](y []T, at, step, n int, by []T) {
	switch {
	case len(by) == 1 && step == 1:
		f := by[0]
		y = y[at : at+n]
		for i := range y {
			y[i] *= f
		}
	case len(by) == 1:
		f := by[0]
		for range n {
			y[at] *= f
			at += step
		}
	default:
		for _, f := range by {
			y[at] *= f
			at += step
		}
	}
}

// NewHardmax returns a kernel with one input of the given type and one output
// of the same type and shape: along axis, 1 at the first of the largest
// elements, by the rules of [NewArgReduce], and 0 elsewhere. Both operands may
// have any strides, and the output may be the input.
func NewHardmax(t dtype.Type, axis int) Kernel {
	switch t {
	case dtype.Float32:
		return &hardmaxKernel[float32]{axis: axis}
	case dtype.Float64:
		return &hardmaxKernel[float64]{axis: axis}
	}
	return nil
}

type hardmaxKernel[T Float] struct {
	axis    int
	in, out *Operand
	lines   lines
	along   []bool
}

func (k *hardmaxKernel[T]) Bind(in, out []*Operand) {
	k.in, k.out = in[0], out[0]
	k.along = marks(k.along, len(k.in.Shape), k.axis)
	k.lines.bind(k.in.Shape, k.along, k.in.Strides, k.out.Strides)
}

func (k *hardmaxKernel[T]) Tasks() int {
	if k.lines.length == 0 {
		return 0
	}
	return k.lines.tasks
}

func (k *hardmaxKernel[T]) Scratch() int {
	return carved[T](lineTile) + carved[int64](lineTile)
}

func (k *hardmaxKernel[T]) Run(task int, scratch []byte) error {
	best, index := carve[T](&scratch, lineTile), carve[int64](&scratch, lineTile)
	src, dst := Slice[T](k.in), Slice[T](k.out)
	l := &k.lines
	scan := argScan{largest: true}
	var at [lineOperands]int
	for unit, end := l.part(task); unit < end; {
		width, units := l.seek(unit, end, at[:])
		unit += units
		at[0] += k.in.Offset
		at[1] += k.out.Offset
		step := l.inner.Inner
		if l.cols {
			argTile(scan, best, index[:width], src, at[0], step[0], l.outer.Inner[0], l.length)
			seg := l.segments(at[:], width)
			for seg.next() {
				fillStrided(dst, seg.at[1], seg.step[1], seg.n, 0)
			}
			for c, i := range index[:width] {
				dst[at[1]+c*l.outer.Inner[1]+int(i)*step[1]] = 1
			}
			continue
		}
		for range width {
			i := argLine(scan, src, at[0], step[0], l.length)
			fillStrided(dst, at[1], step[1], l.length, 0)
			dst[at[1]+i*step[1]] = 1
			l.advance(at[:])
		}
	}
	return nil
}

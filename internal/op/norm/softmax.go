package norm

import (
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/kernel/lines"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/shape"
)

// Softmax scales the exponentials of the elements along an axis so that they
// add up to 1; with Log it returns the logarithms of that, computed without
// the detour. It takes floating-point types. [newSoftmax] states the
// arithmetic and what becomes of infinities and NaN.
type Softmax struct {
	Axis int // negative: from the end
	Log  bool
}

// Name returns "softmax".
func (Softmax) Name() string { return "softmax" }

// Infer returns the type of the input.
func (s Softmax) Infer(in []graph.Type) ([]graph.Type, error) { return in, checkAlong(in, s.Axis) }

// Kernel returns the softmax.
func (s Softmax) Kernel(in, _ []graph.Type) kernel.Kernel {
	axis, _ := shape.Axis(s.Axis, len(in[0].Shape))
	return newSoftmax(in[0].DType, axis, s.Log)
}

// DenseAxes returns 0: all strides will do.
func (Softmax) DenseAxes(_, _ int) int { return 0 }

// MayOverwrite reports true: a line is written after its last read.
func (Softmax) MayOverwrite(in, out int) bool { return in == 0 && out == 0 }

// ComputesInFloat32 marks the op.
func (Softmax) ComputesInFloat32() {}

// Hardmax is 1 at the first of the largest elements along an axis and 0
// elsewhere; a NaN counts as the largest. It takes floating-point types.
type Hardmax struct {
	Axis int // negative: from the end
}

// Name returns "hardmax".
func (Hardmax) Name() string { return "hardmax" }

// Infer returns the type of the input.
func (h Hardmax) Infer(in []graph.Type) ([]graph.Type, error) { return in, checkAlong(in, h.Axis) }

// Kernel returns the hardmax.
func (h Hardmax) Kernel(in, _ []graph.Type) kernel.Kernel {
	axis, _ := shape.Axis(h.Axis, len(in[0].Shape))
	return newHardmax(in[0].DType, axis)
}

// DenseAxes returns 0: all strides will do.
func (Hardmax) DenseAxes(_, _ int) int { return 0 }

// MayOverwrite reports true: a line is written after its last read.
func (Hardmax) MayOverwrite(in, out int) bool { return in == 0 && out == 0 }

// ComputesInFloat32 marks the op.
func (Hardmax) ComputesInFloat32() {}

// newSoftmax returns a kernel with one floating-point input and one output of
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
// [lines.Operation] states. Both operands may have any strides, and the output may be
// the input.
func newSoftmax(t dtype.Type, axis int, log bool) kernel.Kernel {
	return kernel.OfFloat(t, softmax{lines.Along{Axis: axis}, log}, softmaxOf[float32], softmaxOf[float64])
}

func softmaxOf[T kernel.Float](s softmax) kernel.Kernel {
	k := &softmaxKernel[T]{softmax: s, exp: lines.ExpLoader[T](), mul: byLineOf("mul", mul[T]), sub: byLineOf("sub", sub[T])}
	k.max = lines.Plain(lines.Peak[T]())
	k.sum = lines.Plain(lines.Sum[T]())
	if k.log {
		k.sum.Load, k.sum.Plain = k.exp, false
	}
	return k
}

type softmax struct {
	lines.Along
	log bool
}

type softmaxKernel[T kernel.Float] struct {
	softmax
	exp      func(dst, src []T, at, step int, shift []T)
	max, sum lines.Accumulator[T, T]
	mul, sub byLine[T]
}

func (k *softmaxKernel[T]) Scratch() int {
	return 2*kernel.Carved[T](lines.Tile) + kernel.Carved[T](max(lines.Tile, lines.BlockLen)) + kernel.Carved[T](k.Lines.Work())
}

func (k *softmaxKernel[T]) Run(task int, scratch []byte) error {
	t := softmaxTile[T]{
		softmaxKernel: k, x: kernel.Slice[T](k.In), y: kernel.Slice[T](k.Out),
		peaks: kernel.Carve[T](&scratch, lines.Tile), sums: kernel.Carve[T](&scratch, lines.Tile),
		buf: kernel.Carve[T](&scratch, max(lines.Tile, lines.BlockLen)), work: kernel.Carve[T](&scratch, k.Lines.Work()),
	}
	b, blocks := k.Lines.Batches(task, k.In, k.Out), !k.log && k.Lines.Blocks(2)
	for b.Next() {
		if blocks {
			t.block(b.At[0], b.At[1])
		} else {
			t.run(b.At[:], b.Width)
		}
	}
	return nil
}

// softmaxTile is what one task works with.
type softmaxTile[T kernel.Float] struct {
	*softmaxKernel[T]
	x, y                   []T
	peaks, sums, buf, work []T
	seg                    lines.Segments
}

// run does the width lines that begin at at.
func (t *softmaxTile[T]) run(at []int, width int) {
	l, seg := &t.Lines, &t.seg
	m, s := t.peaks[:width], t.sums[:width]
	t.max.Accumulate(m, l, 0, t.x, at[0], nil, t.work)
	if t.log {
		t.sum.Accumulate(s, l, 0, t.x, at[0], m, t.work)
		for i, v := range s {
			s[i] = T(math.Log(float64(v)))
		}
		seg.Start(l, at, width)
		for seg.Next() {
			t.sub.run(t.y, t.x, seg.At[1], seg.At[0], seg.Step[1], seg.Step[0], seg.N, m)
			t.sub.run(t.y, t.y, seg.At[1], seg.At[1], seg.Step[1], seg.Step[1], seg.N, s)
		}
		return
	}
	seg.Start(l, at, width)
	for seg.Next() {
		t.exponentials(seg, m)
	}
	t.sum.Accumulate(s, l, 1, t.y, at[1], nil, t.work)
	for i, v := range s {
		s[i] = 1 / v
	}
	seg.Start(l, at, width)
	for seg.Next() {
		t.mul.run(t.y, t.y, seg.At[1], seg.At[1], seg.Step[1], seg.Step[1], seg.N, s)
	}
}

// block is run for one line that is a block, of which softmax is asked for.
func (t *softmaxTile[T]) block(from, to int) {
	x, y, m := t.x[from:from+t.Lines.Length], t.y[to:to+t.Lines.Length], t.peaks[:1]
	m[0] = t.max.Block(x)
	t.exp(y, x, 0, 1, m)
	m[0] = 1 / t.sum.Block(y)
	t.mul.run(y, y, 0, 0, 1, 1, len(y), m)
}

// exponentials sets the outputs of a stretch to exp(x - m).
func (t *softmaxTile[T]) exponentials(seg *lines.Segments, m []T) {
	from, to, step := seg.At[0], seg.At[1], seg.Step[1]
	if step == 1 || seg.N == 1 {
		t.exp(t.y[to:to+seg.N], t.x, from, seg.Step[0], m)
		return
	}
	for done := 0; done < seg.N; {
		buf := t.buf[:min(len(t.buf), seg.N-done)]
		t.exp(buf, t.x, from, seg.Step[0], m)
		for _, v := range buf {
			t.y[to] = v
			to += step
		}
		from += len(buf) * seg.Step[0]
		done += len(buf)
	}
}

// A byLine joins elements with a number of their line.
type byLine[T kernel.Float] struct {
	one, each isa.Map // the loops of the active instruction set, or nil: of one line, of one element of each
	plain     func(x, by T) T
}

// byLineOf returns the elementwise function of that name, which is plain for a pair of
// elements.
func byLineOf[T kernel.Float](function string, plain func(x, by T) T) byLine[T] {
	return byLine[T]{isa.MapOf[T](function, 0b10), isa.MapOf[T](function, 0), plain}
}

func mul[T kernel.Float](x, by T) T { return x * by }
func sub[T kernel.Float](x, by T) T { return x - by }

// run sets n elements of y, from number to on and so many apart, to those of x with the one
// number in by, or each with its own.
func (f *byLine[T]) run(y, x []T, to, from, stepY, stepX, n int, by []T) {
	loop := f.one
	if len(by) > 1 {
		loop = f.each
	}
	if loop != nil && (stepY == 1 && stepX == 1 || n == 1) {
		loop(kernel.Bytes(y[to:to+n]), kernel.Bytes(x[from:from+n]), kernel.Bytes(by), nil, nil)
		return
	}
	for i := range n {
		y[to] = f.plain(x[from], by[min(i, len(by)-1)])
		to, from = to+stepY, from+stepX
	}
}

// newHardmax returns a kernel with one input of the given type and one output
// of the same type and shape: along axis, 1 at the first of the largest
// elements, by the rules of [reduce.ArgReduce], and 0 elsewhere. Both operands may
// have any strides, and the output may be the input.
func newHardmax(t dtype.Type, axis int) kernel.Kernel {
	return kernel.OfFloat(t, lines.Along{Axis: axis}, hardmaxOf[float32], hardmaxOf[float64])
}

func hardmaxOf[T kernel.Float](a lines.Along) kernel.Kernel { return &hardmaxKernel[T]{a} }

type hardmaxKernel[T kernel.Float] struct{ lines.Along }

func (k *hardmaxKernel[T]) Scratch() int {
	return kernel.Carved[T](lines.Tile) + kernel.Carved[int64](lines.Tile)
}

func (k *hardmaxKernel[T]) Run(task int, scratch []byte) error {
	best, index := kernel.Carve[T](&scratch, lines.Tile), kernel.Carve[int64](&scratch, lines.Tile)
	src, dst := kernel.Slice[T](k.In), kernel.Slice[T](k.Out)
	l := &k.Lines
	step := l.Inner.Inner
	scan := reduce.ArgScan{Largest: true}
	b := l.Batches(task, k.In, k.Out)
	for b.Next() {
		if l.Cols {
			reduce.ArgTile(scan, best, index[:b.Width], src, b.At[0], step[0], l.Outer.Inner[0], l.Length)
		} else {
			index[0] = int64(reduce.ArgLine(scan, src, b.At[0], step[0], l.Length))
		}
		seg := l.Segments(b.At[:], b.Width)
		for seg.Next() {
			kernel.FillStrided(dst, seg.At[1], seg.Step[1], seg.N, 0)
		}
		for c, i := range index[:b.Width] {
			dst[b.At[1]+c*l.Outer.Inner[1]+int(i)*step[1]] = 1
		}
	}
	return nil
}

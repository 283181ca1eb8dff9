package norm

import (
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/kernel/lines"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/shape"
)

// A normKind says what the elements of a line are divided by.
type normKind uint8

// The kinds of normalisation of the n elements x of a line, with e the
// epsilon, mean the sum of x divided by n, and var the sum of (x-mean)^2
// divided by n.
const (
	normDeviation normKind = iota // (x - mean) / sqrt(var + e)
	normVariance                  // (x - mean) / (sqrt(var) + e)
	normRMS                       // x / sqrt(sum of x*x / n + e)
	normL1                        // x / sum of |x|, or 0 when that is 0
	normL2                        // x / sqrt(sum of x*x), or 0 when that is 0
)

// A normParams describes a kernel that normalises lines of elements, then scales
// and shifts them:
//
//	y = normalised(x) * scale + bias
type normParams struct {
	Kind    normKind
	Epsilon float64
	// Axes are those along a line. When Groups is not 0, axis 1 of x counts
	// as two axes, of extents Groups and the rest.
	Axes   []int
	Groups int
	// Channels says that scale and bias have one axis, which is axis 1 of
	// x; or one element for each of the Groups. Otherwise they are broadcast
	// to x.
	Channels bool
	// Momentum, for a kernel with running statistics, is how much of the
	// old ones to keep.
	Running  bool
	Momentum float64
	// Epilogue, where there is one, runs on y, with the operands after the
	// first Own inputs.
	Epilogue *elementwise.Epilogue
	Own      int
}

// newNorm returns a kernel that does n for operands of one floating-point
// type. The inputs are x and, where present, scale and bias; the outputs are
// y, of the shape of x, and optionally mean and 1/sqrt(var + e), which have
// extent 1 along the axes. Mean is not there to be had from kinds without it.
//
// With Running, the lines are the channels, axis 1 of x; inputs 3 and 4 and
// outputs 1 and 2 are the running mean and variance of each channel:
//
//	out = in * Momentum + (mean or var) * (1 - Momentum)
//
// All operands may have any strides, and y may be x. Mean and variance are
// taken in two passes, each in the order that [lines.Operation] states.
func newNorm(t dtype.Type, n normParams) kernel.Kernel {
	return kernel.OfFloat(t, n, normOf[float32], normOf[float64])
}

func normOf[T kernel.Float](n normParams) kernel.Kernel {
	k := &normKernel[T]{normParams: n}
	for i, scalars := range [...]int{0, 0b100, 0b110} {
		k.row[i] = isa.MapOf[T]("normalized", scalars)
	}
	k.sum = lines.Plain(lines.Sum[T]())
	k.power = lines.Accumulator[T, T]{Operation: lines.Sum[T](), Load: lines.DeviationLoader[T]()}
	switch n.Kind {
	case normRMS, normL2:
		k.power.Load = lines.SquareLoader[T]()
	case normL1:
		k.power.Load = lines.LoadAbs[T, T]
	default:
		k.centred = true
	}
	return k
}

// The operands of a normKernel, as numbered in its lines.
const (
	normX = iota
	normY
	normScale
	normBias
	normMeanOut
	normDevOut
	normMeanIn
	normVarIn
	normPlace // no operand: the number of an element of y in row-major order
)

type normKernel[T kernel.Float] struct {
	normParams
	centred    bool // the mean is taken away
	sum, power lines.Accumulator[T, T]
	row        [3]isa.Map // the loops of the active instruction set, by the number of scale and bias that are scalars

	ops     [lines.MaxOperands]*kernel.Operand // nil: absent
	lines   lines.Lines
	shape   []int // of x, axis 1 split into groups
	strides [lines.MaxOperands][]int
}

func (k *normKernel[T]) Bind(in, out []*kernel.Operand) {
	clear(k.ops[:])
	k.ops[normX], k.ops[normY] = in[0], out[0]
	if k.Epilogue != nil {
		k.Epilogue.Bind(out[0], in[k.Own:]...)
		in = in[:k.Own]
	}
	copy(k.ops[normScale:normMeanOut], in[1:min(len(in), 3)])
	copy(k.ops[normMeanOut:normMeanIn], out[1:])
	if k.Running {
		copy(k.ops[normMeanIn:], in[3:])
	}
	x := in[0]
	k.shape = k.shape[:0]
	for axis, d := range x.Shape {
		if axis == 1 && k.Groups != 0 {
			k.shape = append(k.shape, k.Groups)
			d /= k.Groups
		}
		k.shape = append(k.shape, d)
	}
	for i, o := range k.ops {
		k.strides[i] = append(k.strides[i][:0], k.shape...)
		clear(k.strides[i])
		switch {
		case o == nil:
		case len(o.Shape) == 1 && (i >= normMeanOut && k.Running || k.Channels && (i == normScale || i == normBias)):
			k.channelStrides(k.strides[i], o)
		default:
			k.broadcastStrides(k.strides[i], o)
		}
	}
	if k.Epilogue != nil {
		shape.DenseStrides(k.strides[normPlace], k.shape)
	}
	s := &k.strides
	k.lines.Bind(k.shape, k.Axes, s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8])
}

// channelStrides lays a list with an element for each channel, or for each
// group, along axis 1 of x. The strides are 0 elsewhere.
func (k *normKernel[T]) channelStrides(strides []int, o *kernel.Operand) {
	strides[1] = o.Strides[0]
	if k.Groups != 0 && o.Shape[0] != k.Groups {
		strides[1], strides[2] = o.Strides[0]*k.shape[2], o.Strides[0]
	}
}

// broadcastStrides lays o over x, aligned at the innermost axis. The strides are 0
// where o has extent 1 or no axis.
func (k *normKernel[T]) broadcastStrides(strides []int, o *kernel.Operand) {
	first := len(k.ops[normX].Shape) - len(o.Shape)
	for a, d := range o.Shape {
		if d == 1 {
			continue
		}
		axis := first + a
		if axis > 0 && k.Groups != 0 {
			if axis == 1 {
				strides[1] = o.Strides[a] * k.shape[2]
			}
			axis++
		}
		strides[axis] = o.Strides[a]
	}
}

func (k *normKernel[T]) Tasks() int { return k.lines.Tasks }

func (k *normKernel[T]) Scratch() int {
	return 2*kernel.Carved[T](lines.Tile) + kernel.Carved[float64](2) + 2*kernel.Carved[T](1) + kernel.Carved[T](k.lines.Work()) + k.Epilogue.Scratch()
}

func (k *normKernel[T]) Run(task int, scratch []byte) error {
	t := normTile[T]{
		normKernel: k,
		mean:       kernel.Carve[T](&scratch, lines.Tile), dev: kernel.Carve[T](&scratch, lines.Tile),
		attrs: kernel.Carve[float64](&scratch, 2), one: kernel.Carve[T](&scratch, 1), nothing: kernel.Carve[T](&scratch, 1),
		work: kernel.Carve[T](&scratch, k.lines.Work()),
	}
	t.one[0], t.nothing[0] = 1, negativeZero[T]()
	t.rest = scratch
	for i, o := range k.ops {
		if o != nil {
			t.data[i] = kernel.Slice[T](o)
		}
	}
	b, blocks := k.lines.Batches(task, k.ops[:]...), k.lines.Blocks(2) && !k.Running && k.Epilogue == nil
	for b.Next() {
		if blocks && t.block(b.At[:]) {
			continue
		}
		if err := t.run(b.At[:], b.Width); err != nil {
			return err
		}
	}
	return nil
}

// normTile is what one task works with.
type normTile[T kernel.Float] struct {
	*normKernel[T]
	data            [lines.MaxOperands][]T
	mean, dev, work []T
	attrs           []float64 // of a row's loop
	one, nothing    []T       // a factor and an addend that change nothing
	rest            []byte    // working memory of the epilogue
}

// run does the width lines that begin at at.
func (t *normTile[T]) run(at []int, width int) error {
	l := &t.lines
	mean, dev := t.mean[:width], t.dev[:width]
	n := T(l.Length)
	if t.centred {
		t.sum.Accumulate(mean, l, normX, t.data[normX], at[normX], nil, t.work)
		for i := range mean {
			mean[i] /= n
		}
	} else {
		clear(mean)
	}
	t.power.Accumulate(dev, l, normX, t.data[normX], at[normX], mean, t.work)
	if t.Kind != normL1 && t.Kind != normL2 {
		for i := range dev {
			dev[i] /= n
		}
	}
	if t.Running {
		t.blend(normMeanOut, normMeanIn, at, mean)
		t.blend(normDevOut, normVarIn, at, dev)
	}
	for i, v := range dev {
		dev[i] = T(t.factor(float64(v)))
	}
	if !t.Running {
		t.put(normMeanOut, at, mean)
		t.put(normDevOut, at, dev)
	}
	seg := l.Segments(at, width)
	for seg.Next() {
		t.apply(&seg, mean, dev)
		if err := t.Epilogue.Run(seg.At[normPlace], seg.N, seg.Step[normPlace], 1, t.rest); err != nil {
			return err
		}
	}
	return nil
}

// block is run for one line that is a block. It reports false, with nothing done, if scale or bias
// lie in a way that has no loop.
func (t *normTile[T]) block(at []int) bool {
	loop, scale, bias := t.rowLoop(at, t.lines.Inner.Inner, t.lines.Length)
	if loop < 0 {
		return false
	}
	n := t.lines.Length
	x, y, m := t.data[normX][at[normX]:][:n], t.data[normY][at[normY]:][:n], t.mean[:1]
	m[0] = 0
	if t.centred {
		m[0] = t.sum.Block(x) / T(n)
	}
	t.power.Load(t.work[:n], x, 0, 1, m)
	v := t.power.Block(t.work[:n])
	if t.Kind != normL1 && t.Kind != normL2 {
		v /= T(n)
	}
	t.dev[0] = T(t.factor(float64(v)))
	t.put(normMeanOut, at, m)
	t.put(normDevOut, at, t.dev[:1])
	t.attrs[0], t.attrs[1] = float64(m[0]), float64(t.dev[0])
	t.dense(loop, y, x, scale, bias)
	return true
}

// rowLoop returns the loop for n elements of a line in which scale and bias begin at and have
// steps as given, and these as it reads them; -1 if there is none.
func (t *normTile[T]) rowLoop(at, step []int, n int) (loop int, scale, bias []T) {
	scale, bias = t.data[normScale], t.data[normBias]
	as, ab := at[normScale], at[normBias]
	switch {
	case scale != nil && step[normScale] == 1 && bias != nil && step[normBias] == 1:
		return 0, scale[as : as+n], bias[ab : ab+n]
	case scale != nil && step[normScale] == 1 && bias == nil:
		return 1, scale[as : as+n], t.nothing
	case (scale == nil || step[normScale] == 0) && (bias == nil || step[normBias] == 0):
		f, b := t.one, t.nothing
		if scale != nil {
			f = scale[as : as+1]
		}
		if bias != nil {
			b = bias[ab : ab+1]
		}
		return 2, f, b
	}
	return -1, nil, nil
}

// factor returns what elements are multiplied by, given the sum of their
// powers.
func (k *normKernel[T]) factor(v float64) float64 {
	switch k.Kind {
	case normVariance:
		return 1 / (math.Sqrt(v) + k.Epsilon)
	case normL1, normL2:
		if v == 0 {
			return 0
		}
		if k.Kind == normL2 {
			v = math.Sqrt(v)
		}
		return 1 / v
	}
	return 1 / math.Sqrt(v+k.Epsilon)
}

// put writes one number for each line to an output that may be absent.
func (t *normTile[T]) put(out int, at []int, values []T) {
	if t.ops[out] == nil {
		return
	}
	to := at[out]
	for _, v := range values {
		t.data[out][to] = v
		to += t.lines.Outer.Inner[out]
	}
}

// blend writes running statistics.
func (t *normTile[T]) blend(out, in int, at []int, values []T) {
	to, from := at[out], at[in]
	keep, take := T(t.Momentum), T(1-t.Momentum)
	for _, v := range values {
		t.data[out][to] = T(t.data[in][from]*keep) + T(v*take)
		to += t.lines.Outer.Inner[out]
		from += t.lines.Outer.Inner[in]
	}
}

// apply normalises, scales and shifts the elements of a stretch.
func (t *normTile[T]) apply(seg *lines.Segments, mean, dev []T) {
	x, y, scale, bias := t.data[normX], t.data[normY], t.data[normScale], t.data[normBias]
	n, step := seg.N, seg.Step
	ax, ay, as, ab := seg.At[normX], seg.At[normY], seg.At[normScale], seg.At[normBias]
	if len(mean) == 1 && step[normX] == 1 && step[normY] == 1 {
		if loop, scale, bias := t.rowLoop(seg.At[:], step, n); loop >= 0 {
			t.attrs[0], t.attrs[1] = float64(mean[0]), float64(dev[0])
			t.dense(loop, y[ay:ay+n], x[ax:ax+n], scale, bias)
			return
		}
	}
	m, d := mean[0], dev[0]
	for i := range n {
		if len(mean) > 1 {
			m, d = mean[i], dev[i]
		}
		v := T((x[ax] - m) * d)
		if scale != nil {
			v = T(v * scale[as])
		}
		if bias != nil {
			v += bias[ab]
		}
		y[ay] = v
		ax, ay, as, ab = ax+step[normX], ay+step[normY], as+step[normScale], ab+step[normBias]
	}
}

// dense is apply for a row that lies dense, with its mean and factor in attrs. The last scalars
// of scale and bias have one element for all of the row.
func (t *normTile[T]) dense(scalars int, y, x, scale, bias []T) {
	if f := t.row[scalars]; f != nil {
		f(kernel.Bytes(y), kernel.Bytes(x), kernel.Bytes(scale), kernel.Bytes(bias), (*[2]float64)(t.attrs))
		return
	}
	m, d := T(t.attrs[0]), T(t.attrs[1])
	y = y[:len(x)]
	switch scalars {
	case 0:
		for i, v := range x {
			y[i] = T(T((v-m)*d)*scale[i]) + bias[i]
		}
	case 1:
		b := bias[0]
		for i, v := range x {
			y[i] = T(T((v-m)*d)*scale[i]) + b
		}
	default:
		f, b := scale[0], bias[0]
		for i, v := range x {
			y[i] = T(T((v-m)*d)*f) + b
		}
	}
}

// negativeZero returns the number that added to any other changes nothing.
func negativeZero[T kernel.Float]() T {
	var zero T
	return -zero
}

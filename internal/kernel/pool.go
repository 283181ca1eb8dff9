package kernel

import (
	"math"

	"github.com/berth-go/berth/dtype"
)

// A PoolKind is what a pooling window computes of the elements it covers.
type PoolKind uint8

// The kinds of pooling.
const (
	PoolMax     PoolKind = iota
	PoolAverage          // floats only
	PoolLp               // floats only: the p-th root of the sum of p-th powers of magnitudes
)

// PoolParams are the attributes of [NewPool].
type PoolParams struct {
	Kind            PoolKind
	CountIncludePad bool // an average counts taps in the padding, as zeros
	ColumnMajor     bool // indices count the first spatial axis fastest
	P               float64
}

// NewPool returns the kernel that reduces each window over each plane of x
// [N, C, spatial...] to one element of y [N, C, positions...]:
//
//	max      the largest element, NaN if there is one
//	average  the sum divided by the number of elements, or of all taps up to
//	         the end of the padding with CountIncludePad
//	lp       (sum of |element|^P) ^ (1/P)
//
// Taps in the padding meet no element. A window without any gives the lowest
// value, 0 and 0. A second output of max, int64, holds where the first of the
// largest elements is in a dense x, -1 for a window without any. Sums are
// float64. The batch axes of x and the outputs may have any stride. It returns
// nil for an element type that the kind does not take.
func NewPool(t dtype.Type, w Window, p PoolParams) Kernel {
	switch t {
	case dtype.Float32:
		return newFloatPool[float32](w, p)
	case dtype.Float64:
		return newFloatPool[float64](w, p)
	}
	if p.Kind != PoolMax {
		return nil
	}
	switch t {
	case dtype.Int8:
		return &maxPool[int8]{pool: pool{window: w, params: p}, lowest: math.MinInt8}
	case dtype.Int16:
		return &maxPool[int16]{pool: pool{window: w, params: p}, lowest: math.MinInt16}
	case dtype.Int32:
		return &maxPool[int32]{pool: pool{window: w, params: p}, lowest: math.MinInt32}
	case dtype.Int64:
		return &maxPool[int64]{pool: pool{window: w, params: p}, lowest: math.MinInt64}
	case dtype.Uint8:
		return &maxPool[uint8]{pool: pool{window: w, params: p}}
	case dtype.Uint16:
		return &maxPool[uint16]{pool: pool{window: w, params: p}}
	case dtype.Uint32:
		return &maxPool[uint32]{pool: pool{window: w, params: p}}
	case dtype.Uint64:
		return &maxPool[uint64]{pool: pool{window: w, params: p}}
	}
	return nil
}

func newFloatPool[T Float](w Window, p PoolParams) Kernel {
	if p.Kind == PoolMax {
		return &maxPool[T]{pool: pool{window: w, params: p}, lowest: T(math.Inf(-1))}
	}
	return &meanPool[T]{pool: pool{window: w, params: p}}
}

// pool is what the poolings share: planes cut into tasks.
type pool struct {
	window   Window
	params   PoolParams
	x, y     *Operand
	slide    sliding
	channels int
	planes   int
	each     int // planes in a task
}

func (k *pool) bind(x, y *Operand) {
	k.x, k.y = x, y
	k.slide.bind(&k.window, x.Shape[2:], y.Shape[2:])
	k.channels = x.Shape[1]
	k.planes = x.Shape[0] * x.Shape[1]
	_, k.each = Parts(k.planes, k.slide.rows*k.slide.width*k.slide.outerTaps*k.slide.innerTaps)
}

// Tasks implements [Kernel].
func (k *pool) Tasks() int {
	if k.planes == 0 || k.slide.rows*k.slide.width == 0 {
		return 0
	}
	return ceilDiv(k.planes, k.each)
}

// at returns where a plane of o, of size elements, begins in its memory.
func (k *pool) at(o *Operand, plane, size int) int {
	if size == 0 {
		return 0 // an empty tensor has no place of its own
	}
	return o.Offset + plane/k.channels*o.Strides[0] + plane%k.channels*size
}

type maxPool[T Number] struct {
	pool
	lowest  T
	indices *Operand // nil if not asked for
}

// Bind implements [Kernel].
func (k *maxPool[T]) Bind(in, out []*Operand) {
	k.bind(in[0], out[0])
	k.indices = nil
	if len(out) > 1 {
		k.indices = out[1]
	}
}

// Scratch implements [Kernel].
func (k *maxPool[T]) Scratch() int { return 0 }

// Run implements [Kernel].
func (k *maxPool[T]) Run(task int, _ []byte) error {
	s := &k.slide
	positions := s.rows * s.width
	for plane := task * k.each; plane < min((task+1)*k.each, k.planes); plane++ {
		at := k.at(k.x, plane, s.planeIn)
		x := Slice[T](k.x)[at : at+s.planeIn]
		at = k.at(k.y, plane, positions)
		y := Slice[T](k.y)[at : at+positions]
		var indices []int64
		if k.indices != nil {
			at = k.at(k.indices, plane, positions)
			indices = Slice[int64](k.indices)[at : at+positions]
		}
		for row := range s.rows {
			if indices == nil {
				k.row(y[row*s.width:(row+1)*s.width], x, row)
			} else {
				k.rowIndexed(y[row*s.width:(row+1)*s.width], indices[row*s.width:(row+1)*s.width], x, row, plane*s.planeIn)
			}
		}
	}
	return nil
}

func (k *maxPool[T]) row(y, x []T, row int) {
	s := &k.slide
	fill(y, k.lowest)
	for outer := range s.outerTaps {
		base := s.row(outer, row)
		if base < 0 {
			continue
		}
		for inner := range s.innerTaps {
			if lo, hi := s.lo[inner], s.hi[inner]; lo < hi {
				maxTap(y[lo:hi], x[base+s.from[inner]+lo*s.step:], s.step)
			}
		}
	}
}

// maxTap is y[i] = max(y[i], x[i*step]), NaN winning.
func maxTap[T Number](y, x []T, step int) {
	if step == 1 {
		for i, v := range x[:len(y)] {
			y[i] = max(y[i], v)
		}
		return
	}
	at := 0
	for i, v := range y {
		y[i] = max(v, x[at])
		at += step
	}
}

func (k *maxPool[T]) rowIndexed(y []T, indices []int64, x []T, row, first int) {
	s := &k.slide
	fill(y, k.lowest)
	fill(indices, -1)
	for outer := range s.outerTaps {
		base := s.row(outer, row)
		if base < 0 {
			continue
		}
		for inner := range s.innerTaps {
			if s.lo[inner] >= s.hi[inner] {
				continue
			}
			from, step := s.from[inner], s.step
			index, indexStep := first+base, 1
			if k.params.ColumnMajor {
				index, indexStep = k.columnMajor(base)
				index += first
			}
			for c := s.lo[inner]; c < s.hi[inner]; c++ {
				i := from + c*step
				if v := x[base+i]; v > y[c] || indices[c] < 0 || v != v && y[c] == y[c] {
					y[c], indices[c] = v, int64(index+i*indexStep)
				}
			}
		}
	}
}

// columnMajor returns the index, counted with the first axis fastest, of the
// image row that begins at element base, and the step from column to column.
func (k *maxPool[T]) columnMajor(base int) (index, step int) {
	in := k.slide.in
	last := len(in) - 1
	row := base / in[last]
	size := k.slide.planeIn / in[last]
	step = size
	for axis := last - 1; axis >= 0; axis-- {
		size /= in[axis]
		index += row % in[axis] * size
		row /= in[axis]
	}
	return index, step
}

// meanPool is the poolings that sum.
type meanPool[T Float] struct {
	pool
	end []int // padding after each axis
}

// Bind implements [Kernel].
func (k *meanPool[T]) Bind(in, out []*Operand) {
	k.bind(in[0], out[0])
	k.end = k.end[:0]
	for axis := range k.slide.in {
		k.end = append(k.end, k.window.End(axis, k.slide.in[axis], k.slide.out[axis]))
	}
}

// Scratch implements [Kernel]: sums and divisors of a row.
func (k *meanPool[T]) Scratch() int { return 16 * k.slide.width }

// Run implements [Kernel].
func (k *meanPool[T]) Run(task int, scratch []byte) error {
	s := &k.slide
	sums := Cast[float64](scratch)[:s.width]
	counts := Cast[float64](scratch)[s.width : 2*s.width]
	last := len(s.in) - 1
	for c := range counts {
		counts[c] = float64(s.meets(last, c, k.params.CountIncludePad, k.end[last]))
	}
	for plane := task * k.each; plane < min((task+1)*k.each, k.planes); plane++ {
		at := k.at(k.x, plane, s.planeIn)
		x := Slice[T](k.x)[at : at+s.planeIn]
		at = k.at(k.y, plane, s.rows*s.width)
		y := Slice[T](k.y)[at : at+s.rows*s.width]
		for row := range s.rows {
			k.sum(sums, x, row)
			k.finish(y[row*s.width:(row+1)*s.width], sums, counts, row)
		}
	}
	return nil
}

// sum adds up the windows of a row of positions.
func (k *meanPool[T]) sum(sums []float64, x []T, row int) {
	s := &k.slide
	clear(sums)
	for outer := range s.outerTaps {
		base := s.row(outer, row)
		if base < 0 {
			continue
		}
		for inner := range s.innerTaps {
			if s.lo[inner] >= s.hi[inner] {
				continue
			}
			to := sums[s.lo[inner]:s.hi[inner]]
			from := x[base+s.from[inner]+s.lo[inner]*s.step:]
			switch {
			case k.params.Kind == PoolAverage && s.step == 1:
				for i, v := range from[:len(to)] {
					to[i] += float64(v)
				}
			case k.params.Kind == PoolAverage:
				for i := range to {
					to[i] += float64(from[i*s.step])
				}
			default:
				for i := range to {
					to[i] += power(float64(from[i*s.step]), k.params.P)
				}
			}
		}
	}
}

// finish turns the sums of a row of positions into results.
func (k *meanPool[T]) finish(y []T, sums, counts []float64, row int) {
	if k.params.Kind == PoolLp {
		for i, v := range sums {
			y[i] = T(root(v, k.params.P))
		}
		return
	}
	outer := 1
	for axis := len(k.slide.in) - 2; axis >= 0; axis-- {
		outer *= k.slide.meets(axis, row%k.slide.out[axis], k.params.CountIncludePad, k.end[axis])
		row /= k.slide.out[axis]
	}
	for i, v := range sums {
		if n := counts[i] * float64(outer); n > 0 {
			v /= n
		}
		y[i] = T(v)
	}
}

// power returns |v|^p.
func power(v, p float64) float64 {
	switch p {
	case 1:
		return math.Abs(v)
	case 2:
		return v * v
	}
	return math.Pow(math.Abs(v), p)
}

// root returns the p-th root of v.
func root(v, p float64) float64 {
	switch p {
	case 1:
		return v
	case 2:
		return math.Sqrt(v)
	}
	return math.Pow(v, 1/p)
}

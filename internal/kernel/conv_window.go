package kernel

// Same says where automatic padding goes that keeps extent/stride positions.
type Same uint8

// The kinds of automatic padding.
const (
	NotSame   Same = iota // pads are given
	SameUpper             // an odd pad is put at the end
	SameLower             // an odd pad is put at the beginning
)

// A Window is how a block of taps slides over spatial axes. Each list has an
// entry for every such axis; Pads has the beginnings, then the ends.
type Window struct {
	Taps, Strides, Dilations, Pads []int
	Same                           Same // unless NotSame, Pads is not read
}

// Begin returns the padding before the first element of an axis that has in
// elements and out window positions.
func (w *Window) Begin(axis, in, out int) int {
	if w.Same == NotSame {
		return w.Pads[axis]
	}
	total := max(0, (out-1)*w.Strides[axis]+(w.Taps[axis]-1)*w.Dilations[axis]+1-in)
	if w.Same == SameLower {
		return total - total/2
	}
	return total / 2
}

// End returns the padding after the last element of an axis.
func (w *Window) End(axis, in, out int) int {
	if w.Same == NotSame {
		return w.Pads[len(w.Taps)+axis]
	}
	total := max(0, (out-1)*w.Strides[axis]+(w.Taps[axis]-1)*w.Dilations[axis]+1-in)
	return total - w.Begin(axis, in, out)
}

// A sliding is a Window bound to the extents of an image plane, dense in
// memory, and of the plane of window positions. The innermost spatial axis is
// apart: positions form rows along it, and the taps of the other axes together
// are the outer taps.
type sliding struct {
	in, out, taps, stride, dilation, begin []int

	rows, width          int   // positions: rows of the innermost axis, and their length
	planeIn              int   // elements of an image plane
	outerTaps, innerTaps int   // taps of all axes but the innermost, and of that
	lo, hi               []int // for each inner tap, the columns [lo, hi) where it meets the image
	from                 []int // for each inner tap, the image column it meets at column 0
	step                 int   // image columns from one column to the next
}

// bind lays w over planes of the given extents. It keeps nothing of them.
func (s *sliding) bind(w *Window, in, out []int) {
	last := len(in) - 1
	s.in, s.out = append(s.in[:0], in...), append(s.out[:0], out...)
	s.taps, s.stride = append(s.taps[:0], w.Taps...), append(s.stride[:0], w.Strides...)
	s.dilation, s.begin = append(s.dilation[:0], w.Dilations...), s.begin[:0]
	s.rows, s.planeIn, s.outerTaps = 1, 1, 1
	for axis := range in {
		s.begin = append(s.begin, w.Begin(axis, in[axis], out[axis]))
		s.planeIn *= in[axis]
		if axis < last {
			s.rows *= out[axis]
			s.outerTaps *= w.Taps[axis]
		}
	}
	s.width, s.innerTaps, s.step = out[last], w.Taps[last], s.stride[last]
	s.lo, s.hi, s.from = s.lo[:0], s.hi[:0], s.from[:0]
	for t := range s.innerTaps {
		from := t*s.dilation[last] - s.begin[last]
		s.from = append(s.from, from)
		s.lo = append(s.lo, firstAtLeast(-from, s.step, s.width))
		s.hi = append(s.hi, firstAtLeast(in[last]-from, s.step, s.width))
	}
}

// firstAtLeast returns the first multiple of step that is at least v, as a
// number of steps in [0, limit].
func firstAtLeast(v, step, limit int) int {
	if v <= 0 {
		return 0
	}
	return min((v+step-1)/step, limit)
}

// row returns where in an image plane the row begins that an outer tap meets
// at a row of positions; -1 where that row is padding.
func (s *sliding) row(tap, row int) int {
	at, size := 0, s.in[len(s.in)-1]
	for axis := len(s.in) - 2; axis >= 0; axis-- {
		t, r := tap, row
		if axis > 0 { // the outermost axis takes what is left
			t, tap = tap%s.taps[axis], tap/s.taps[axis]
			r, row = row%s.out[axis], row/s.out[axis]
		}
		i := r*s.stride[axis] + t*s.dilation[axis] - s.begin[axis]
		if i < 0 || i >= s.in[axis] {
			return -1
		}
		at += i * size
		size *= s.in[axis]
	}
	return at
}

// meets returns how many taps of an axis meet the image at a position, or its
// padding too, of end elements after the image.
func (s *sliding) meets(axis, position int, padding bool, end int) int {
	at := position*s.stride[axis] - s.begin[axis]
	lo, hi := 0, s.in[axis]
	if padding {
		lo, hi = -s.begin[axis], hi+end
	}
	d, n := s.dilation[axis], s.taps[axis]
	return firstAtLeast(hi-at, d, n) - firstAtLeast(lo-at, d, n)
}

// pointwise reports whether every window is the one element at its position.
func (s *sliding) pointwise() bool {
	for axis := range s.in {
		if s.taps[axis] != 1 || s.stride[axis] != 1 || s.begin[axis] != 0 || s.in[axis] != s.out[axis] {
			return false
		}
	}
	return true
}

package slide

import "github.com/berth-go/berth/internal/kernel"

// A Binding is a Window bound to the extents of an image plane, dense in
// memory, and of the plane of window positions. The innermost spatial axis is
// apart: positions form rows along it, and the taps of the other axes together
// are the outer taps.
type Binding struct {
	In, Out, Taps, Stride, Dilation, Begin, End []int

	Rows, Width          int   // positions: rows of the innermost axis, and their length
	PlaneIn              int   // elements of an image plane
	OuterTaps, InnerTaps int   // taps of all axes but the innermost, and of that
	Lo, Hi               []int // for each inner tap, the columns [lo, hi) where it meets the image
	From                 []int // for each inner tap, the image column it meets at column 0
	Step                 int   // image columns from one column to the next
}

// Bind lays w over planes of the given extents. It keeps nothing of them.
func (s *Binding) Bind(w *Window, in, out []int) {
	last := len(in) - 1
	s.In, s.Out = append(s.In[:0], in...), append(s.Out[:0], out...)
	s.Taps, s.Stride = append(s.Taps[:0], w.Taps...), append(s.Stride[:0], w.Strides...)
	s.Dilation, s.Begin, s.End = append(s.Dilation[:0], w.Dilations...), s.Begin[:0], s.End[:0]
	s.Rows, s.PlaneIn, s.OuterTaps = 1, 1, 1
	for axis := range in {
		begin, end := w.padding(axis, in[axis], out[axis])
		s.Begin, s.End = append(s.Begin, begin), append(s.End, end)
		s.PlaneIn *= in[axis]
		if axis < last {
			s.Rows *= out[axis]
			s.OuterTaps *= w.Taps[axis]
		}
	}
	s.Width, s.InnerTaps, s.Step = out[last], w.Taps[last], s.Stride[last]
	s.Lo, s.Hi, s.From = s.Lo[:0], s.Hi[:0], s.From[:0]
	for t := range s.InnerTaps {
		from := t*s.Dilation[last] - s.Begin[last]
		s.From = append(s.From, from)
		s.Lo = append(s.Lo, FirstAtLeast(-from, s.Step, s.Width))
		s.Hi = append(s.Hi, FirstAtLeast(in[last]-from, s.Step, s.Width))
	}
}

// FirstAtLeast returns the first multiple of step that is at least v, as a
// number of steps in [0, limit].
func FirstAtLeast(v, step, limit int) int {
	if v <= 0 {
		return 0
	}
	return min(kernel.CeilDiv(v, step), limit)
}

// Row returns where in an image plane the row begins that an outer tap meets
// at a row of positions; -1 where that row is padding.
func (s *Binding) Row(tap, row int) int {
	at, size := 0, s.In[len(s.In)-1]
	for axis := len(s.In) - 2; axis >= 0; axis-- {
		t, r := tap, row
		if axis > 0 { // the outermost axis takes what is left
			t, tap = tap%s.Taps[axis], tap/s.Taps[axis]
			r, row = row%s.Out[axis], row/s.Out[axis]
		}
		i := r*s.Stride[axis] + t*s.Dilation[axis] - s.Begin[axis]
		if i < 0 || i >= s.In[axis] {
			return -1
		}
		at += i * size
		size *= s.In[axis]
	}
	return at
}

// Meets returns how many taps of an axis meet the image at a position, or its
// padding too.
func (s *Binding) Meets(axis, position int, padding bool) int {
	at := position*s.Stride[axis] - s.Begin[axis]
	lo, hi := 0, s.In[axis]
	if padding {
		lo, hi = -s.Begin[axis], hi+s.End[axis]
	}
	d, n := s.Dilation[axis], s.Taps[axis]
	return FirstAtLeast(hi-at, d, n) - FirstAtLeast(lo-at, d, n)
}

// Pointwise reports whether every window is the one element at its position.
func (s *Binding) Pointwise() bool {
	for axis := range s.In {
		if s.Taps[axis] != 1 || s.Stride[axis] != 1 || s.Begin[axis] != 0 || s.In[axis] != s.Out[axis] {
			return false
		}
	}
	return true
}

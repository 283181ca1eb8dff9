package kernel

import "unsafe"

const (
	// lineTile is how many neighbouring lines are worked on together where
	// the elements of one line lie further apart than those of its neighbour.
	lineTile = 256
	// lineOperands is the most operands that a kernel cuts into lines.
	lineOperands = 8
)

// lines cuts the elements of several operands into lines: the elements along
// some of the axes, one line for each index of the other axes. Reductions,
// softmax and the normalisations work line by line. An operand that is
// broadcast, or that lacks an axis, has stride 0 along it.
//
// Where the neighbours of an element across lines lie nearer in memory than
// those along its line, a tile of neighbouring lines is walked together, so
// that memory is read in rows either way. Which way is taken never changes a
// result.
type lines struct {
	length int  // elements of a line, in row-major order of its axes
	outer  Walk // over the lines
	inner  Walk // along a line
	cols   bool // tiles of neighbouring lines are walked together

	tiles int // tiles in each row of outer, when cols
	units int // tiles when cols, else lines
	tasks int
	each  int // units in each task but the last

	shapes  [2][]int // of the axes across, along
	strides [2][lineOperands][]int
}

// bind cuts operands of the given shape into lines along the marked axes,
// with one list of strides for each operand. Operand 0 decides how memory is
// walked. Nothing of the arguments is kept.
func (l *lines) bind(shape []int, along []bool, strides ...[]int) {
	for side := range l.shapes {
		l.shapes[side] = l.shapes[side][:0]
		for k := range strides {
			l.strides[side][k] = l.strides[side][k][:0]
		}
	}
	l.length = 1
	for axis, d := range shape {
		side := 0
		if along[axis] {
			side = 1
			l.length *= d
		}
		l.shapes[side] = append(l.shapes[side], d)
		for k, s := range strides {
			l.strides[side][k] = append(l.strides[side][k], s[axis])
		}
	}
	l.outer.Bind(l.shapes[0], l.strides[0][:len(strides)]...)
	l.inner.Bind(l.shapes[1], l.strides[1][:len(strides)]...)

	across := magnitude(l.outer.Inner[0])
	l.cols = l.outer.Len > 1 && l.length > 1 && across != 0 && across < magnitude(l.inner.Inner[0])
	if l.cols {
		l.tiles = (l.outer.Len + lineTile - 1) / lineTile
		l.units = l.outer.Rows * l.tiles
		l.tasks, l.each = Parts(l.units, l.length*min(l.outer.Len, lineTile))
	} else {
		l.tiles = 1
		l.units = l.outer.Rows * l.outer.Len
		l.tasks, l.each = Parts(l.units, l.length)
	}
}

func magnitude(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// part returns the half-open range of units of a task.
func (l *lines) part(task int) (unit, end int) {
	unit = task * l.each
	return unit, min(unit+l.each, l.units)
}

// seek finds the lines that begin at a unit: at[k] becomes where the first
// of them begins in operand k, counted from the operand's offset, and width
// the number of lines that follow it by a constant step, outer.Inner, before
// end. They are the given number of units.
func (l *lines) seek(unit, end int, at []int) (width, units int) {
	var row, col int
	if l.cols {
		row, col = unit/l.tiles, unit%l.tiles*lineTile
		width, units = min(lineTile, l.outer.Len-col), 1
	} else {
		row, col = unit/l.outer.Len, unit%l.outer.Len
		width = min(l.outer.Len-col, end-unit)
		units = width
	}
	l.outer.Seek(row, at)
	for k, s := range l.outer.Inner {
		at[k] += col * s
	}
	return width, units
}

// advance moves at on by one line.
func (l *lines) advance(at []int) {
	for k, s := range l.outer.Inner {
		at[k] += s
	}
}

// offsets sets dst to where the elements of a line from number pos on lie in
// operand k, counted from where the line begins.
func (l *lines) offsets(dst []int, k, pos int) {
	step := l.inner.Inner[k]
	var at [lineOperands]int
	for len(dst) > 0 {
		row, col := pos/l.inner.Len, pos%l.inner.Len
		l.inner.Seek(row, at[:])
		n := min(len(dst), l.inner.Len-col)
		o := at[k] + col*step
		for i := range dst[:n] {
			dst[i] = o
			o += step
		}
		dst, pos = dst[n:], pos+n
	}
}

// segments steps through all elements of one line, or of a tile of them, in
// stretches with a constant step: pieces of the one line, or the elements
// of one number in all lines of the tile.
type segments struct {
	n    int               // elements in the stretch
	at   [lineOperands]int // where it begins in each operand
	step []int             // from one element to the next, in each operand

	l    *lines
	base [lineOperands]int
	row  int // of l.inner, the next one
	left int // stretches left in the current row, when walking a tile
}

// segments starts at the first element of the width lines that begin at at.
// When lines are not walked in tiles, width is 1.
func (l *lines) segments(at []int, width int) segments {
	s := segments{l: l, n: l.inner.Len, step: l.inner.Inner}
	if l.cols {
		s.n, s.step = width, l.outer.Inner
	}
	copy(s.base[:], at[:len(l.inner.Inner)])
	return s
}

// next moves to the next stretch; it reports false when there is none.
func (s *segments) next() bool {
	if s.left > 0 {
		s.left--
		for k, d := range s.l.inner.Inner {
			s.at[k] += d
		}
		return true
	}
	if s.row == s.l.inner.Rows {
		return false
	}
	s.l.inner.Seek(s.row, s.at[:])
	s.row++
	for k := range s.l.inner.Inner {
		s.at[k] += s.base[k]
	}
	if s.l.cols {
		s.left = s.l.inner.Len - 1
	}
	return true
}

// carved returns the bytes that [carve] uses for n elements of type T.
func carved[T any](n int) int {
	var zero T
	return (n*int(unsafe.Sizeof(zero)) + Align - 1) / Align * Align
}

// carve cuts n elements off the front of scratch memory.
func carve[T any](scratch *[]byte, n int) []T {
	size := carved[T](n)
	s := Cast[T]((*scratch)[:size])[:n:n]
	*scratch = (*scratch)[size:]
	return s
}

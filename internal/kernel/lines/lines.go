// Package lines cuts the elements of operands into lines along some of their
// axes, and accumulates lines in a fixed order. Reductions, softmax and
// normalisations work line by line.
//
// # Where to find what
//
//	lines.go         lines for any axes and strides
//	batches.go       the lines of a task, one after the other
//	along.go         what kernels share that make one line of another
//	accumulate.go    the order in which the elements of a line meet
//	sum.go, max.go   the operations: sum and product, maximum and minimum
//	load.go          what is accumulated: elements as they are, squares, ...
package lines

import (
	"slices"

	"github.com/berth-go/berth/internal/kernel"
)

const (
	// Tile is how many neighbouring lines are worked on together where
	// the elements of one line lie further apart than those of its neighbour.
	Tile = 256
	// Lines of so few elements are walked together where there are so many of them.
	// Measured, for softmax: lines of 2 in an eighth of the time, lines of 8 in four fifths.
	shortLine, manyLines = 8, 64
	// MaxOperands is the most operands that a kernel cuts into lines.
	MaxOperands = 9
)

// Lines cuts the elements of several operands into lines: the elements along
// some of the axes, one line for each index of the other axes. Reductions,
// softmax and the normalisations work line by line. An operand that is
// broadcast, or that lacks an axis, has stride 0 along it.
//
// Where the neighbours of an element across lines lie nearer in memory than
// those along its line, a tile of neighbouring lines is walked together, so
// that memory is read in rows either way. So are many lines that are so short that to
// begin with one takes longer than all that is done with it. Which way is taken never changes
// a result.
type Lines struct {
	Length int         // elements of a line, in row-major order of its axes
	Outer  kernel.Walk // over the lines
	Inner  kernel.Walk // along a line
	Cols   bool        // tiles of neighbouring lines are walked together

	tiles int // tiles in each row of Outer, when Cols
	units int // tiles when Cols, else lines
	Tasks int
	each  int // units in each task but the last

	shapes  [2][]int // of the axes across, along
	strides [2][MaxOperands][]int
}

// Bind cuts operands of the given shape into lines along some axes, in any order,
// with one list of strides for each operand. Operand 0 decides how memory is
// walked. Nothing of the arguments is kept.
func (l *Lines) Bind(shape, along []int, strides ...[]int) {
	for side := range l.shapes {
		l.shapes[side] = l.shapes[side][:0]
		for k := range strides {
			l.strides[side][k] = l.strides[side][k][:0]
		}
	}
	l.Length = 1
	for axis, d := range shape {
		side := 0
		if slices.Contains(along, axis) {
			side = 1
			l.Length *= d
		}
		l.shapes[side] = append(l.shapes[side], d)
		for k, s := range strides {
			l.strides[side][k] = append(l.strides[side][k], s[axis])
		}
	}
	l.Outer.Bind(l.shapes[0], l.strides[0][:len(strides)]...)
	l.Inner.Bind(l.shapes[1], l.strides[1][:len(strides)]...)

	across := Magnitude(l.Outer.Inner[0])
	short := l.Length <= shortLine && l.Outer.Len >= manyLines
	l.Cols = l.Outer.Len > 1 && l.Length > 1 && across != 0 && (short || across < Magnitude(l.Inner.Inner[0]))
	if l.Cols {
		l.tiles = kernel.CeilDiv(l.Outer.Len, Tile)
		l.units = l.Outer.Rows * l.tiles
		l.Tasks, l.each = kernel.Parts(l.units, l.Length*min(l.Outer.Len, Tile))
	} else {
		l.tiles = 1
		l.units = l.Outer.Rows * l.Outer.Len
		l.Tasks, l.each = kernel.Parts(l.units, l.Length)
	}
}

// Blocks reports whether the lines are walked one by one, each of them one block that lies dense
// in the first so many operands. There is little to be done then for a line, so that kernels do
// it by itself.
func (l *Lines) Blocks(operands int) bool {
	if l.Cols || l.Inner.Rows != 1 || l.Length == 0 || l.Length > BlockLen {
		return false
	}
	for _, step := range l.Inner.Inner[:operands] {
		if step != 1 && l.Length > 1 {
			return false
		}
	}
	return true
}

// Magnitude returns n without its sign.
func Magnitude(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// Part returns the half-open range of units of a task.
func (l *Lines) Part(task int) (unit, end int) {
	unit = task * l.each
	return unit, min(unit+l.each, l.units)
}

// Seek finds the lines that begin at a unit: at[k] becomes where the first
// of them begins in operand k, counted from the operand's offset, and width
// the number of lines that follow it by a constant step, Outer.Inner, before
// end. They are the given number of units.
func (l *Lines) Seek(unit, end int, at []int) (width, units int) {
	if !l.Cols {
		width = l.Outer.Locate(unit, end, at)
		return width, width
	}
	first := unit/l.tiles*l.Outer.Len + unit%l.tiles*Tile
	return l.Outer.Locate(first, first+Tile, at), 1
}

// offsets sets dst to where the elements of a line from number pos on lie in
// operand k, counted from where the line begins.
func (l *Lines) offsets(dst []int, k, pos int) {
	step := l.Inner.Inner[k]
	var at [MaxOperands]int
	for len(dst) > 0 {
		n := l.Inner.Locate(pos, pos+len(dst), at[:])
		o := at[k]
		for i := range dst[:n] {
			dst[i] = o
			o += step
		}
		dst, pos = dst[n:], pos+n
	}
}

// Segments steps through all elements of one line, or of a tile of them, in
// stretches with a constant step: pieces of the one line, or the elements
// of one number in all lines of the tile.
type Segments struct {
	N    int              // elements in the stretch
	At   [MaxOperands]int // where it begins in each operand
	Step []int            // from one element to the next, in each operand

	l    *Lines
	base [MaxOperands]int
	row  int // of l.Inner, the next one
	left int // stretches left in the current row, when walking a tile
}

// Segments starts at the first element of the width lines that begin at at.
// When lines are not walked in tiles, width is 1.
func (l *Lines) Segments(at []int, width int) (s Segments) {
	s.Start(l, at, width)
	return s
}

// Start is [Lines.Segments] over s, which takes less time than a new one for short lines.
func (s *Segments) Start(l *Lines, at []int, width int) {
	s.l, s.N, s.Step = l, l.Inner.Len, l.Inner.Inner
	if l.Cols {
		s.N, s.Step = width, l.Outer.Inner
	}
	copy(s.base[:], at[:len(l.Inner.Inner)])
	s.row, s.left = 0, 0
}

// Next moves to the next stretch; it reports false when there is none.
func (s *Segments) Next() bool {
	if s.left > 0 {
		s.left--
		for k, d := range s.l.Inner.Inner {
			s.At[k] += d
		}
		return true
	}
	if s.row == s.l.Inner.Rows {
		return false
	}
	s.l.Inner.Seek(s.row, s.At[:])
	s.row++
	for k := range s.l.Inner.Inner {
		s.At[k] += s.base[k]
	}
	if s.l.Cols {
		s.left = s.l.Inner.Len - 1
	}
	return true
}

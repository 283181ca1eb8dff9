package lines

import "github.com/berth-go/berth/internal/kernel"

// Batches steps through the lines of one task: tile by tile where lines are walked
// in tiles, else line by line.
type Batches struct {
	At    [MaxOperands]int // where the first line begins in the memory of each operand
	Width int              // neighbouring lines; 1 where lines are not walked in tiles

	l         *Lines
	offsets   [MaxOperands]int
	unit, end int
	left      int // lines at a constant step behind this one
}

// Batches starts before the first line of a task. The operands are those of Bind, in
// the same order; one that is absent is nil.
func (l *Lines) Batches(task int, operands ...*kernel.Operand) Batches {
	b := Batches{l: l}
	b.unit, b.end = l.Part(task)
	for k, o := range operands {
		if o != nil {
			b.offsets[k] = o.Offset
		}
	}
	return b
}

// Next moves to the next tile or line; it reports false when there is none.
func (b *Batches) Next() bool {
	if b.left > 0 {
		b.left--
		for k, s := range b.l.Outer.Inner {
			b.At[k] += s
		}
		return true
	}
	if b.unit == b.end {
		return false
	}
	width, units := b.l.Seek(b.unit, b.end, b.At[:])
	b.unit += units
	if b.Width = width; !b.l.Cols {
		b.Width, b.left = 1, width-1
	}
	for k := range b.l.Outer.Inner {
		b.At[k] += b.offsets[k]
	}
	return true
}

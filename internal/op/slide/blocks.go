package slide

import (
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// Blocks is how windows over planes with one or two axes are reduced tap by tap. The
// positions of a plane are cut into blocks, and what a block reads of the image is
// copied to a padded patch that stays in the nearest cache. The lines of a patch are
// split into phases by the remainder of the column divided by the stride, so that a
// tap meets consecutive positions at consecutive elements.
type Blocks struct {
	Rows, Cols   int    // of positions in a block; those at the end may have fewer
	Down, Across int    // blocks in a plane
	Planes       int    // in a block: some where one is small, and otherwise 1
	Pitch        int    // elements of a line of a patch
	Stride       int    // lines from a row of positions to the next
	Offsets      []int  // in a patch, of each tap from its position
	Square       bool   // the taps are 3x3, of lines that follow each other
	Columns      [3]int // if so, the offsets of a row of these

	lines, phase   int // lines of a patch, and elements of a phase of one
	strideW        int // image columns from a position to the next
	spanH, spanW   int // image lines and columns that the taps reach over
	beginH, beginW int // padding before the image
	height, width  int // of the image
}

// patchBytes is about how large a patch is. It leaves most of a nearest cache to
// the image and to what is written; a smaller one would copy more lines twice.
const patchBytes = 16 << 10

// Bind cuts planes of elements of size bytes. It reports false where there are more
// axes, no positions, or much more padding and stride than image, so that a patch would
// take memory out of proportion.
func (b *Blocks) Bind(s *Binding, size int) bool {
	last := len(s.In) - 1
	if last > 1 || s.Rows*s.Width == 0 {
		return false
	}
	tapsH, dilationH := 1, 1
	b.Stride, b.beginH, b.height = 1, 0, 1
	if last == 1 {
		tapsH, dilationH = s.Taps[0], s.Dilation[0]
		b.Stride, b.beginH, b.height = s.Stride[0], s.Begin[0], s.In[0]
	}
	tapsW, dilationW := s.Taps[last], s.Dilation[last]
	b.strideW, b.beginW, b.width = s.Step, s.Begin[last], s.In[last]
	b.spanH, b.spanW = (tapsH-1)*dilationH+1, (tapsW-1)*dilationW+1

	const least, multiple = 256, 16 // columns in a block of several, and what they are a multiple of
	limit, more := patchBytes/size, (b.spanW-1)/b.strideW
	b.Across = kernel.CeilDiv(s.Width, max(limit/b.strideW/b.spanH-more, least))
	b.Cols = min(kernel.CeilDiv(kernel.CeilDiv(s.Width, b.Across), multiple)*multiple, s.Width)
	b.phase = b.Cols + more
	b.Pitch = b.phase * b.strideW
	b.Rows = max((limit/b.Pitch-b.spanH)/b.Stride+1, 1)
	if b.Rows > isa.TapRows {
		b.Rows -= b.Rows % isa.TapRows
	}
	b.Rows = min(b.Rows, s.Rows)
	b.Down, b.Across = kernel.CeilDiv(s.Rows, b.Rows), kernel.CeilDiv(s.Width, b.Cols)
	b.Planes = 1
	b.lines = (b.Rows-1)*b.Stride + b.spanH
	if b.Down*b.Across == 1 {
		b.Planes = max(limit/b.Pitch/b.lines, 1)
	}
	if float64(b.lines)*float64(b.Pitch) > 4*float64(s.PlaneIn+s.Rows*s.Width+limit) {
		return false
	}
	b.Offsets = b.Offsets[:0]
	for h := range tapsH {
		for w := range tapsW {
			b.Offsets = append(b.Offsets, h*dilationH*b.Pitch+b.at(w*dilationW))
		}
	}
	b.Square = tapsH == 3 && tapsW == 3 && dilationH == 1 && b.Stride <= 2
	if b.Square {
		copy(b.Columns[:], b.Offsets)
	}
	return true
}

// at returns where in a line of a patch column i of it in the image is.
func (b *Blocks) at(i int) int { return i%b.strideW*b.phase + i/b.strideW }

// A Block is a part of the positions of some planes of an image: Rows by Cols
// positions from row Row and column Col on in each of the planes from Plane on.
type Block struct{ Plane, Planes, Row, Rows, Col, Cols int }

// Count returns the blocks of an image of so many planes.
func (b *Blocks) Count(planes int) int { return kernel.CeilDiv(planes, b.Planes) * b.Down * b.Across }

// A Patch is the working memory for the blocks of a task.
type Patch[T kernel.Number] struct {
	Elems []T
	Grid  *isa.Grid // the positions of the block filled last: y is planes of positions, and x is Elems

	blocks *Blocks
	slide  *Binding
	tile   *isa.Tile[T]
	pad    T
	col    int // of the blocks whose padding is there; -1 before the first
}

// PatchScratch returns the bytes that [NewPatch] uses.
func PatchScratch[T kernel.Number](b *Blocks, tile *isa.Tile[T]) int {
	return kernel.Carved[T](b.elems(tile.Cols)) + kernel.Carved[isa.Grid](1)
}

// elems returns the elements of a patch, and of what a loop may read behind it.
func (b *Blocks) elems(behind int) int { return b.Planes*b.lines*b.Pitch + behind }

// NewPatch cuts a patch off the front of scratch. The image is padded by pad.
func NewPatch[T kernel.Number](scratch *[]byte, b *Blocks, s *Binding, tile *isa.Tile[T], pad T) Patch[T] {
	elems := kernel.Carve[T](scratch, b.elems(tile.Cols))
	return Patch[T]{elems, &kernel.Carve[isa.Grid](scratch, 1)[0], b, s, tile, pad, -1}
}

// Block returns block i of an image of so many planes.
func (p *Patch[T]) Block(i, planes int) Block {
	b, s := p.blocks, p.slide
	each := b.Down * b.Across
	plane, row, col := i/each*b.Planes, i%b.Down*b.Rows, i%each/b.Down*b.Cols
	return Block{plane, min(b.Planes, planes-plane), row, min(b.Rows, s.Rows-row), col, min(b.Cols, s.Width-col)}
}

// Fill copies what a block reads of x, where its first plane begins. What is padding in
// every block of the same columns is written at the first.
func (p *Patch[T]) Fill(x []T, at *Block) {
	b, s, patch := p.blocks, p.slide, p.Elems
	if p.col != at.Col {
		kernel.Fill(patch, p.pad)
		p.col = at.Col
	}
	// Lines [from, to) of the patch are in the image, and so are elements [a, z) of
	// each, counted in the order of the image.
	top, lines := at.Row*b.Stride-b.beginH, (at.Rows-1)*b.Stride+b.spanH
	from := min(max(-top, 0), lines)
	to := max(min(b.height-top, lines), from)
	if b.Down > 1 {
		kernel.Fill(patch[:from*b.Pitch], p.pad)
		kernel.Fill(patch[to*b.Pitch:lines*b.Pitch], p.pad)
	}
	left := at.Col*b.strideW - b.beginW
	a, z := max(-left, 0), min(b.width-left, b.Pitch)
	if from < to && a < z {
		*p.Grid = isa.Grid{
			Planes: at.Planes, Rows: to - from, Cols: z - a,
			PlaneY: b.lines * b.Pitch, RowY: b.Pitch, PlaneX: s.PlaneIn, RowX: b.width,
		}
		p.copy(patch[from*b.Pitch:], x[(top+from)*b.width+left+a:], a)
	}
	*p.Grid = isa.Grid{
		Planes: at.Planes, Rows: at.Rows, Cols: at.Cols,
		PlaneY: s.Rows * s.Width, RowY: s.Width, PlaneX: b.lines * b.Pitch, RowX: b.Stride * b.Pitch,
	}
}

// copy copies the grid from x to column a of a patch, phase by phase.
func (p *Patch[T]) copy(patch, x []T, a int) {
	b := p.blocks
	switch b.strideW {
	case 1:
		p.tile.CopyRows(patch[a:], x, p.Grid)
		return
	case 2:
		p.tile.Split(patch[b.at(a):], patch[b.at(a+1):], x, p.Grid)
		return
	}
	for plane := range p.Grid.Planes {
		for r := range p.Grid.Rows {
			to, from := plane*p.Grid.PlaneY+r*p.Grid.RowY, x[plane*p.Grid.PlaneX+r*p.Grid.RowX:][:p.Grid.Cols]
			for phase := range min(b.strideW, len(from)) {
				dst := patch[to+b.at(a+phase):]
				for i, c := 0, phase; c < len(from); i, c = i+1, c+b.strideW {
					dst[i] = from[c]
				}
			}
		}
	}
}

package kernel

import "slices"

// A Mover copies between two strided layouts of one shape. Since the order in
// which elements are moved does not matter, it is free to reorder and merge
// axes in Bind, and ends with a matrix of two axes, moved by the loop that
// suits its strides, inside any number of outer axes. The zero Mover is ready
// for Bind and reuses its slices.
type Mover[T Word] struct {
	Tasks int
	rank  int

	loop         moveLoop
	rows, cols   int // the matrix
	toRow, toCol int // strides in the destination
	fromRow      int // strides in the source
	fromCol      int
	outer        []moveAxis // around the matrix, whose axes are among them during Bind
	BlockRows    int        // the matrix is moved in blocks
	BlockCols    int
	rowBlocks    int
	colBlocks    int
	units        int // blocks in all matrices
	Each         int // units in each task but the last
	sameStrides  bool
}

// A moveAxis is an axis with its strides in the destination and the source.
type moveAxis struct{ extent, to, from int }

// A moveLoop is the way a matrix is moved.
type moveLoop uint8

const (
	moveRuns      moveLoop = iota // columns have stride 1 on both sides
	moveFill                      // all columns of a row are one source element
	moveTranspose                 // columns are dense in the destination, rows in the source
	moveAny
)

// MoveGrain is the number of elements in a block.
const MoveGrain = 1 << 15

// Bind lays the Mover over shape; nothing of the arguments is kept. No two
// elements of the destination may be one.
func (m *Mover[T]) Bind(shape, to, from []int) {
	m.Tasks, m.units, m.rank = 0, 0, len(shape)
	m.outer = m.outer[:0]
	if slices.Contains(shape, 0) {
		return
	}
	m.sameStrides = true
	for a, d := range shape {
		if d == 1 {
			continue
		}
		m.sameStrides = m.sameStrides && to[a] == from[a]
		// Insert by descending stride in the destination.
		i := len(m.outer)
		for i > 0 && m.outer[i-1].to < to[a] {
			i--
		}
		m.outer = slices.Insert(m.outer, i, moveAxis{d, to[a], from[a]})
	}
	m.merge()
	m.chooseMatrix()
	m.cut()
}

// merge joins neighbouring axes that are one axis on both sides.
func (m *Mover[T]) merge() {
	n := 0
	for _, a := range m.outer {
		if n > 0 && m.outer[n-1].to == a.to*a.extent && m.outer[n-1].from == a.from*a.extent {
			a.extent *= m.outer[n-1].extent
			n--
		}
		m.outer[n] = a
		n++
	}
	m.outer = m.outer[:n]
}

// chooseMatrix takes two of the axes out as the matrix: the columns are the
// axis that is densest in the destination; the rows the axis that is densest
// in the source where that is another one, or else the next.
func (m *Mover[T]) chooseMatrix() {
	m.rows, m.toRow, m.fromRow = 1, 0, 0
	m.cols, m.toCol, m.fromCol = 1, 1, 1
	last := len(m.outer) - 1
	if last < 0 {
		m.loop = moveRuns
		return
	}
	m.cols, m.toCol, m.fromCol = m.remove(last)
	m.loop = moveAny
	switch {
	case m.toCol == 1 && m.fromCol == 1:
		m.loop = moveRuns
	case m.fromCol == 0:
		m.loop = moveFill
	}
	row := last - 1
	if m.loop == moveAny {
		for i, a := range m.outer {
			if a.from == 1 && m.toCol == 1 {
				row = i
				m.loop = moveTranspose
			}
		}
	}
	if row >= 0 {
		m.rows, m.toRow, m.fromRow = m.remove(row)
	}
}

// remove takes outer axis i out.
func (m *Mover[T]) remove(i int) (extent, to, from int) {
	a := m.outer[i]
	m.outer = slices.Delete(m.outer, i, i+1)
	return a.extent, a.to, a.from
}

func (m *Mover[T]) cut() {
	m.BlockCols = min(m.cols, MoveGrain)
	if m.loop == moveTranspose {
		m.BlockCols = min(m.cols, transposeCols)
	}
	m.BlockRows = min(m.rows, max(1, MoveGrain/m.BlockCols))
	m.colBlocks = CeilDiv(m.cols, m.BlockCols)
	m.rowBlocks = CeilDiv(m.rows, m.BlockRows)
	m.units = m.rowBlocks * m.colBlocks
	for _, a := range m.outer {
		m.units *= a.extent
	}
	m.Tasks, m.Each = Parts(m.units, m.BlockRows*m.BlockCols)
}

// Scratch returns the bytes that Run needs: by the rank alone, so that smaller
// shapes never need more.
func (m *Mover[T]) Scratch() int { return 8 * m.rank }

// Run does one task: from the operand that starts at src[from] into the one
// that starts at dst[to].
func (m *Mover[T]) Run(task int, dst []T, to int, src []T, from int, scratch []byte) {
	m.move(task*m.Each, min((task+1)*m.Each, m.units), dst, to, src, from, scratch)
}

// Line returns the number of elements when all of them are one dense run on
// both sides, else 0.
func (m *Mover[T]) Line() int {
	if m.units == 1 && m.rows == 1 && m.loop == moveRuns {
		return m.cols
	}
	return 0
}

// All does the work of every task.
func (m *Mover[T]) All(dst []T, to int, src []T, from int, scratch []byte) {
	switch {
	case m.units == 0 || m.sameStrides && &dst[to] == &src[from]:
	case m.units == 1:
		m.block(dst, to, src, from, m.rows, m.cols)
	default:
		m.move(0, m.units, dst, to, src, from, scratch)
	}
}

func (m *Mover[T]) move(unit, end int, dst []T, to int, src []T, from int, scratch []byte) {
	if m.sameStrides && &dst[to] == &src[from] {
		return
	}
	index := Cast[int](scratch)[:len(m.outer)]
	rest := unit
	colBlock := rest % m.colBlocks
	rest /= m.colBlocks
	rowBlock := rest % m.rowBlocks
	rest /= m.rowBlocks
	for i, a := range slices.Backward(m.outer) {
		index[i] = rest % a.extent
		rest /= a.extent
		to += index[i] * a.to
		from += index[i] * a.from
	}
	for ; unit < end; unit++ {
		row, col := rowBlock*m.BlockRows, colBlock*m.BlockCols
		m.block(dst, to+row*m.toRow+col*m.toCol, src, from+row*m.fromRow+col*m.fromCol,
			min(m.BlockRows, m.rows-row), min(m.BlockCols, m.cols-col))
		if colBlock++; colBlock < m.colBlocks {
			continue
		}
		colBlock = 0
		if rowBlock++; rowBlock < m.rowBlocks {
			continue
		}
		rowBlock = 0
		for i, a := range slices.Backward(m.outer) {
			to += a.to
			from += a.from
			if index[i]++; index[i] < a.extent {
				break
			}
			to -= a.extent * a.to
			from -= a.extent * a.from
			index[i] = 0
		}
	}
}

// block moves rows x cols elements of the matrix, from src[s] to dst[d] on.
func (m *Mover[T]) block(dst []T, d int, src []T, s, rows, cols int) {
	switch m.loop {
	case moveRuns:
		m.runs(dst, d, src, s, rows, cols)
	case moveFill:
		for range rows {
			FillStrided(dst, d, m.toCol, cols, src[s])
			d += m.toRow
			s += m.fromRow
		}
	case moveTranspose:
		m.transpose(dst, d, src, s, rows, cols)
	case moveAny:
		for range rows {
			to, from := d, s
			for range cols {
				dst[to] = src[from]
				to += m.toCol
				from += m.fromCol
			}
			d += m.toRow
			s += m.fromRow
		}
	}
}

func (m *Mover[T]) runs(dst []T, d int, src []T, s, rows, cols int) {
	const short = 8 // elements, below which a call of memmove costs more than it saves
	for range rows {
		if cols < short {
			to, from := dst[d:d+cols], src[s:s+cols]
			for i := range to {
				to[i] = from[i]
			}
		} else {
			copy(dst[d:d+cols], src[s:s+cols])
		}
		d += m.toRow
		s += m.fromRow
	}
}

// transposeCols is the width of a block that is transposed. The cache lines
// of the source that a strip of eight rows reads, one for each column, are
// read again by the next strip while they are still in the first-level cache.
const transposeCols = 128

// A Transpose is, for each l < lanes and p < depth,
//
//	dst[p*width+l] = src[l*lane+p]
//
// where lanes <= width and lane >= 0.
type Transpose[T any] func(dst, src []T, lanes, lane, depth, width int)

// transposes are those of the instruction set; nil without one.
var transposes struct {
	of32 Transpose[uint32]
	of64 Transpose[uint64]
}

// UseTransposes sets what elements of 4 and 8 bytes are transposed by. Package isa calls it before
// anything is moved.
func UseTransposes(of32 Transpose[uint32], of64 Transpose[uint64]) {
	transposes.of32, transposes.of64 = of32, of64
}

// transposeOf returns the transposition of elements of type T; nil where there is none.
func transposeOf[T Word]() Transpose[T] {
	for _, f := range [...]any{transposes.of32, transposes.of64} {
		if f, ok := f.(Transpose[T]); ok {
			return f
		}
	}
	return nil
}

// transposeRows is how many rows are transposed at a time: two cache lines of the source for each
// column, whose lines in the destination stay in the first-level cache until they are full.
const transposeRows = 32

// transpose moves a block whose columns have stride 1 in the destination and
// whose rows have stride 1 in the source.
func (m *Mover[T]) transpose(dst []T, d int, src []T, s, rows, cols int) {
	w, step := m.toRow, m.fromCol
	if loop := transposeOf[T](); loop != nil && w >= cols && step >= 0 {
		for ; rows > 0; rows -= transposeRows {
			loop(dst[d:], src[s:], cols, step, min(rows, transposeRows), w)
			d += transposeRows * w
			s += transposeRows
		}
		return
	}
	m.transposeStrips(dst, d, src, s, rows, cols)
}

// transposeStrips is transpose in strips of eight rows.
func (m *Mover[T]) transposeStrips(dst []T, d int, src []T, s, rows, cols int) {
	w, step := m.toRow, m.fromCol
	for ; rows >= 8; rows -= 8 {
		d0, d1, d2, d3 := dst[d:][:cols], dst[d+w:][:cols], dst[d+2*w:][:cols], dst[d+3*w:][:cols]
		d4, d5, d6, d7 := dst[d+4*w:][:cols], dst[d+5*w:][:cols], dst[d+6*w:][:cols], dst[d+7*w:][:cols]
		from := s
		for j := range d0 {
			f := (*[8]T)(src[from:])
			d0[j], d1[j], d2[j], d3[j] = f[0], f[1], f[2], f[3]
			d4[j], d5[j], d6[j], d7[j] = f[4], f[5], f[6], f[7]
			from += step
		}
		d += 8 * w
		s += 8
	}
	for range rows {
		to := dst[d:][:cols]
		from := s
		for j := range to {
			to[j] = src[from]
			from += step
		}
		d += w
		s++
	}
}

// CopyAll moves everything from in to out, with both operands beginning the
// given number of elements behind their offset.
func (m *Mover[T]) CopyAll(out *Operand, to int, in *Operand, from int, scratch []byte) {
	m.All(Slice[T](out), to+out.Offset, Slice[T](in), from+in.Offset, scratch)
}

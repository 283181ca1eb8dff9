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
	outer        []int
	to, from     []int // strides of the outer axes; the matrix axes follow them during Bind
	BlockRows    int   // the matrix is moved in blocks
	BlockCols    int
	rowBlocks    int
	colBlocks    int
	units        int // blocks in all matrices
	Each         int // units in each task but the last
	sameStrides  bool
}

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
	m.outer, m.to, m.from = m.outer[:0], m.to[:0], m.from[:0]
	if slices.Contains(shape, 0) {
		return
	}
	m.sameStrides = true
	for a, d := range shape {
		if d == 1 {
			continue
		}
		m.sameStrides = m.sameStrides && to[a] == from[a]
		t, f := to[a], from[a]
		// Insert by descending stride in the destination.
		i := len(m.outer)
		for i > 0 && m.to[i-1] < t {
			i--
		}
		m.outer = slices.Insert(m.outer, i, d)
		m.to = slices.Insert(m.to, i, t)
		m.from = slices.Insert(m.from, i, f)
	}
	m.merge()
	m.chooseMatrix()
	m.cut()
}

// merge joins neighbouring axes that are one axis on both sides.
func (m *Mover[T]) merge() {
	n := 0
	for a, d := range m.outer {
		if n > 0 && m.to[n-1] == m.to[a]*d && m.from[n-1] == m.from[a]*d {
			m.outer[n-1] *= d
			m.to[n-1], m.from[n-1] = m.to[a], m.from[a]
			continue
		}
		m.outer[n], m.to[n], m.from[n] = d, m.to[a], m.from[a]
		n++
	}
	m.outer, m.to, m.from = m.outer[:n], m.to[:n], m.from[:n]
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
	m.cols, m.toCol, m.fromCol = m.outer[last], m.to[last], m.from[last]
	m.loop = moveAny
	switch {
	case m.toCol == 1 && m.fromCol == 1:
		m.loop = moveRuns
	case m.fromCol == 0:
		m.loop = moveFill
	}
	m.remove(last)
	row := last - 1
	if m.loop == moveAny {
		for a, f := range m.from {
			if f == 1 && m.toCol == 1 {
				row = a
				m.loop = moveTranspose
			}
		}
	}
	if row >= 0 {
		m.rows, m.toRow, m.fromRow = m.outer[row], m.to[row], m.from[row]
		m.remove(row)
	}
}

func (m *Mover[T]) remove(axis int) {
	m.outer = slices.Delete(m.outer, axis, axis+1)
	m.to = slices.Delete(m.to, axis, axis+1)
	m.from = slices.Delete(m.from, axis, axis+1)
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
	for _, d := range m.outer {
		m.units *= d
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
	switch m.units {
	case 0:
	case 1:
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
	for a := len(m.outer) - 1; a >= 0; a-- {
		i := rest % m.outer[a]
		rest /= m.outer[a]
		index[a] = i
		to += i * m.to[a]
		from += i * m.from[a]
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
		for a := len(m.outer) - 1; a >= 0; a-- {
			to += m.to[a]
			from += m.from[a]
			if index[a]++; index[a] < m.outer[a] {
				break
			}
			to -= m.outer[a] * m.to[a]
			from -= m.outer[a] * m.from[a]
			index[a] = 0
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

// transpose moves a block whose columns have stride 1 in the destination and
// whose rows have stride 1 in the source, in strips of eight rows.
func (m *Mover[T]) transpose(dst []T, d int, src []T, s, rows, cols int) {
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
	dst, src := Slice[T](out), Slice[T](in)
	to += out.Offset
	from += in.Offset
	if m.units == 0 || m.sameStrides && &dst[to] == &src[from] {
		return
	}
	m.All(dst, to, src, from, scratch)
}

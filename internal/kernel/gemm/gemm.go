// Package gemm multiplies matrices block by block, out of operands that are
// read where they lie or packed into strips.
//
// # Where to find what
//
//	gemm.go  the cut of a product into tasks; packing; halves; a task
//
// The inner loops are those of package isa.
package gemm

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// BlockK is how many terms of a dot product are packed at a time: whole chains, so
// that every product in this package adds up
//
//	c[i,j] = ((s0 + s1) + s2) + ...   s_b = sum of a[i,k]*b[k,j] for k in [b*isa.Chain, (b+1)*isa.Chain), in order
//
// whatever the number of rows, columns and tasks, so that an element does not
// depend on what is computed beside it.
const BlockK = 4 * isa.Chain

// A Matrix is a strided view of typed memory: element (i, j) lies at
// Data[At + i*Row + j*Col].
type Matrix[T kernel.Number] struct {
	Data         []T
	At, Row, Col int
}

// Transposed returns the matrix whose element (i, j) is element (j, i) of m.
func (m Matrix[T]) Transposed() Matrix[T] {
	m.Row, m.Col = m.Col, m.Row
	return m
}

// A Product is the cut of a product of an m×k matrix by a k×n one into tasks,
// each of which computes one block of the result. The blocking is Goto and
// van de Geijn's ("Anatomy of High-Performance Matrix Multiplication", 2008):
// a block of the left matrix and one of the right are packed into strips of
// the tile's height and width, and a tile kernel multiplies strip by strip. What
// is used so little that packing it would not pay is read where it lies.
type Product[T kernel.Number] struct {
	Tile    isa.Tile[T]
	M, N, K int // extents of the product

	BlockM, BlockN int // rows and columns of a task, but for the last ones
	tasksM, tasksN int
	Halves         bool // the right operand is one of them
	// What is read where it lies, if its strides allow that.
	leftInPlace, rightInPlace bool
}

// New returns a product with the inner loops of the active instruction set.
func New[T kernel.Number]() Product[T] { return Product[T]{Tile: isa.TileOf[T]()} }

// The largest block of a task, in strips. A packed left block then takes
// 288 KiB of float32 with the widest tile, and a right one 384 KiB: together
// they stay in the second-level cache of current cores.
const (
	maxStripsM = 24
	maxStripsN = 12
)

// maxInPlace is how many strips of a right matrix at most are multiplied by a left
// one that is read in place, and a fourth of how many strips of a left one are if it
// and the right one are read in place. Measured: with more of them it is worth
// having them side by side in the cache.
const maxInPlace = 12

// Plan cuts the product of m×k by k×n. The cut depends on the extents and the
// tile alone.
func (g *Product[T]) Plan(m, n, k int) {
	const enough = 12 // tasks, for the workers to share evenly
	// Multiplications in a task worth handing out: few rows wait for what they read.
	grain := min(max(m, 1), 4) << 18
	g.M, g.N, g.K = m, n, k
	g.leftInPlace = m <= 4*maxInPlace*g.Tile.Rows || n <= maxInPlace*g.Tile.Cols
	g.rightInPlace = m <= 4*maxInPlace*g.Tile.Rows
	sm, sn := kernel.CeilDiv(m, g.Tile.Rows), kernel.CeilDiv(n, g.Tile.Cols)
	bm, bn := even(sm, maxStripsM), even(sn, maxStripsN)
	for kernel.CeilDiv(sm, bm)*kernel.CeilDiv(sn, bn) < enough && float64(bm*g.Tile.Rows)*float64(bn*g.Tile.Cols)*float64(k) > float64(2*grain) {
		// Halve the side that costs less to pack twice.
		if (bn*g.Tile.Cols >= bm*g.Tile.Rows || g.leftInPlace && !g.rightInPlace && bn > 2) && bn > 1 || bm == 1 {
			if bn == 1 {
				break
			}
			bn = (bn + 1) / 2
		} else {
			bm = (bm + 1) / 2
		}
	}
	g.BlockM, g.BlockN = bm*g.Tile.Rows, bn*g.Tile.Cols
	g.tasksM, g.tasksN = kernel.CeilDiv(sm, bm), kernel.CeilDiv(sn, bn)
}

// even returns the size of equal parts, each at most limit, that n falls into.
func even(n, limit int) int { return max(1, kernel.CeilDiv(n, max(1, kernel.CeilDiv(n, limit)))) }

// Tasks returns the number of blocks.
func (g *Product[T]) Tasks() int { return g.tasksM * g.tasksN }

// Scratch returns the working memory of a task, in bytes.
func (g *Product[T]) Scratch() int {
	k := min(g.K, BlockK)
	n := kernel.Carved[T](g.BlockM*k) + kernel.Carved[T](g.BlockN*k)
	if g.Halves {
		n += kernel.Carved[uint16](g.Tile.Cols * k)
	}
	return n
}

// A Right is the right operand of a product, in the form in which it is at
// hand: prepacked, windows over an image, or a matrix.
type Right[T kernel.Number] struct {
	Matrix[T]
	Prepacked []T
	Image     ImagePacker[T] // when set, Matrix holds an image, and what this packs of it is the operand
	Halves    Halves         // when set, they are the elements, in place of those of Matrix and Prepacked
}

// Halves are elements of a half type, which lie where a matrix of float32 says or are
// prepacked. They are widened a strip at a time, so that memory is read at half the bytes.
type Halves struct {
	Widen     kernel.Conversion
	Row       isa.HalfRow // nil where the active instruction set has none
	Data      []uint16
	Prepacked []uint16
}

// HalvesOf returns what widens elements of a half type.
func HalvesOf(t dtype.Type) Halves {
	return Halves{Widen: isa.Converting(t, dtype.Float32, kernel.Widening(t)), Row: isa.Active().HalfRows[t]}
}

// strip widens rows [k0, k1) of columns [j0, j1) of m, a strip of an operand of n columns, to
// dst. It packs them in spare unless they are prepacked.
func (h *Halves) strip(dst []byte, spare []uint16, at, row, col, n, j0, j1, k0, k1, cols int) {
	size := cols * (k1 - k0)
	strip := spare[:size]
	if h.Prepacked != nil {
		strip = h.Prepacked[Prepacked(n, k0, cols)+j0*(k1-k0):][:size]
	} else {
		Pack(strip, Matrix[uint16]{h.Data, at, col, row}, j0, j1, k0, k1, cols)
	}
	h.Widen(dst, kernel.Bytes(strip))
}

// An ImagePacker packs a right operand that is made of an image and never held
// as a whole.
type ImagePacker[T kernel.Number] interface {
	// PackImage packs columns [j0, j1) and rows [k0, k1) of the operand that
	// the image x makes into strips of t: element (k, j) of a strip of t.Cols
	// columns at [k*t.Cols + j].
	PackImage(dst, x []T, j0, j1, k0, k1 int, t *isa.Tile[T])
}

// A Left is the left operand of a product: a matrix, or prepacked.
type Left[T kernel.Number] struct {
	Matrix[T]
	Prepacked []T
}

// Run computes one task: c[i*ldc+j] = sum_k a[i,k]*b[k,j] over the task's
// block.
func (g *Product[T]) Run(task int, scratch []byte, a *Left[T], b *Right[T], c []T, ldc int) {
	i0, i1, j0, j1 := g.Block(task)
	g.Multiply(i0, i1, j0, j1, scratch, a, b, c[i0*ldc+j0:], ldc)
}

// Multiply computes rows [i0, i1) and columns [j0, j1), no more than a task
// has, of the product. c starts at element (i0, j0). Prepacked operands want
// i0 and j0 at the start of a strip.
func (g *Product[T]) Multiply(i0, i1, j0, j1 int, scratch []byte, a *Left[T], b *Right[T], c []T, ldc int) {
	if b.Col == 0 && b.Prepacked == nil && b.Image == nil && j1-j0 > 1 {
		// All columns are the same.
		g.Multiply(i0, i1, j0, j0+1, scratch, a, b, c, ldc)
		for i := range i1 - i0 {
			kernel.Fill(c[i*ldc:i*ldc+j1-j0], c[i*ldc])
		}
		return
	}
	rows, cols := g.Tile.Rows, g.Tile.Cols
	packA := kernel.Carve[T](&scratch, g.BlockM*min(g.K, BlockK))
	packB := kernel.Carve[T](&scratch, g.BlockN*min(g.K, BlockK))
	var spare []uint16
	if g.Halves {
		spare = kernel.Carve[uint16](&scratch, cols*min(g.K, BlockK))
	}
	if g.K == 0 {
		for i := range i1 - i0 {
			clear(c[i*ldc : i*ldc+j1-j0])
		}
	}
	if g.vector(j0, j1, a, b, c, packB) {
		return
	}
	for k0 := 0; k0 < g.K; k0 += BlockK {
		k1 := min(k0+BlockK, g.K)
		depth := k1 - k0
		// Row i of the left block is left[i*rowA:], a strip left[i*stripA:].
		left, rowA, colA, stripA := packA, 1, rows, depth
		switch {
		case a.Prepacked != nil:
			left = a.Prepacked[Prepacked(g.M, k0, rows)+i0*depth:]
		case g.leftInPlace && a.Row >= 0 && a.Col >= 0:
			left, rowA, colA, stripA = a.Data[a.At+i0*a.Row+k0*a.Col:], a.Row, a.Col, a.Row
		default:
			pack(&g.Tile, left, a.Matrix, i0, i1, k0, k1, rows)
		}
		pb, ldb, inPlace := packB, cols, false
		switch {
		case g.Halves:
		case b.Prepacked != nil:
			pb = b.Prepacked[Prepacked(g.N, k0, cols)+j0*depth:]
		case b.Image != nil:
			b.Image.PackImage(pb, b.Data[b.At:], j0, j1, k0, k1, &g.Tile)
		case g.rightInPlace && b.Col == 1 && b.Row >= 0:
			inPlace = true
		default:
			pack(&g.Tile, pb, b.Transposed(), j0, j1, k0, k1, cols)
		}
		for j := j0; j < j1; {
			strip, next := pb, cols*depth
			w, height := g.Tile.Columns(j1 - j)
			if inPlace && w > cols && w < 2*cols {
				w, height = cols, rows
			}
			switch {
			case g.Halves:
				for n := 0; n < w; n += cols {
					b.Halves.strip(kernel.Bytes(pb[n*depth:][:cols*depth]), spare, b.At, b.Row, b.Col, g.N, j+n, min(j+n+cols, j1), k0, k1, cols)
				}
			case !inPlace:
				strip = pb[(j-j0)*depth:]
			case w >= cols:
				strip, ldb, next = b.Data[b.At+k0*b.Row+j:], b.Row, cols
			default:
				pack(&g.Tile, pb, b.Transposed(), j, j1, k0, k1, cols)
				ldb = cols
			}
			tile, right := 0, isa.Strips[T]{Data: strip, Row: ldb, Next: next}
			for i := 0; i < i1-i0; i += rows {
				end := min(i+rows, i1-i0)
				for r := i; r < end; r += height {
					h := min(height, end-r)
					at := r*ldc + j - j0
					if b.Prepacked != nil && w > cols { // else strips are in the cache, for they have been packed
						right.Ahead = isa.Ahead(strip[min(2*next, len(strip)):], next, tile, depth)
						tile++
					}
					g.Tile.MulFrom(h, w, depth, left[i*stripA+(r-i)*rowA:], rowA, colA, right, c[at:at+(h-1)*ldc+w], ldc, k0 > 0)
				}
			}
			j += w
		}
	}
}

// ReadsRow reports whether a product by b is one of a row a and reads both along rows
// or columns of b, at the speed of memory, so that prepacking b would gain nothing.
func (g *Product[T]) ReadsRow(a, b Matrix[T]) bool {
	return g.M == 1 && g.K > 0 && a.Col == 1 && (b.Row == 1 && b.Col >= 0 || b.Col == 1 && b.Row >= 0)
}

// vector computes columns [j0, j1) of a product of one row, if [Product.ReadsRow] says
// that this is what it is, and reports whether it has. Spare is working memory.
func (g *Product[T]) vector(j0, j1 int, a *Left[T], b *Right[T], c, spare []T) bool {
	if a.Prepacked != nil || b.Prepacked != nil || b.Halves.Prepacked != nil || b.Image != nil || !g.ReadsRow(a.Matrix, b.Matrix) {
		return false
	}
	row := a.Data[a.At:]
	switch {
	case g.Halves && b.Row == 1:
		return g.halfDots(j0, j1, row, b, c, spare)
	case b.Row == 1:
		g.Tile.Dots(j1-j0, g.K, row, b.Data[b.At+j0*b.Col:], b.Col, c)
		return true
	}
	// Chain by chain, so that what is read at a time is near.
	for k0 := 0; k0 < g.K; k0 += isa.Chain {
		n := min(isa.Chain, g.K-k0)
		if g.Halves {
			g.halfRows(j0, j1, k0, n, row, b, c, spare)
		} else {
			g.Tile.MulRow(j1-j0, n, row[k0:], b.Data[b.At+k0*b.Row+j0:], b.Row, c, k0 > 0)
		}
	}
	return true
}

// halfRows adds up n terms, from k0 on, of columns [j0, j1) of a product of one row by halves
// whose rows lie dense. Columns for which there is no loop are widened in the nearest cache, some
// at a time.
func (g *Product[T]) halfRows(j0, j1, k0, n int, row []T, b *Right[T], c, spare []T) {
	const each = 128
	at := b.At + k0*b.Row
	j := j0
	if b.Halves.Row != nil {
		j += b.Halves.Row(j1-j0, n, kernel.Cast[float32](kernel.Bytes(row[k0:])), b.Halves.Data[at+j0:], b.Row, kernel.Cast[float32](kernel.Bytes(c)), k0 > 0)
	}
	for ; j < j1; j += each {
		cols := min(each, j1-j)
		wide := spare[:n*cols]
		for k := range n {
			b.Halves.Widen(kernel.Bytes(wide[k*cols:][:cols]), kernel.Bytes(b.Halves.Data[at+k*b.Row+j:][:cols]))
		}
		g.Tile.MulRow(cols, n, row[k0:], wide, cols, c[j-j0:], k0 > 0)
	}
}

// halfDots computes columns [j0, j1) of a product of one row by halves whose columns lie dense:
// as many at a time as find room, widened. It reports false if none does.
func (g *Product[T]) halfDots(j0, j1 int, row []T, b *Right[T], c, spare []T) bool {
	each := min(len(spare)/g.K, 8)
	for j := j0; j < j1 && each > 0; j += each {
		cols := min(each, j1-j)
		wide := spare[:cols*g.K]
		for i := range cols {
			half := b.Halves.Data[b.At+(j+i)*b.Col:][:g.K]
			b.Halves.Widen(kernel.Bytes(wide[i*g.K:][:g.K]), kernel.Bytes(half))
		}
		g.Tile.Dots(cols, g.K, row, wide, g.K, c[j-j0:])
	}
	return each > 0
}

// Block returns the rows [i0, i1) and columns [j0, j1) of the result that a
// task computes.
func (g *Product[T]) Block(task int) (i0, i1, j0, j1 int) {
	i0, j0 = task%g.tasksM*g.BlockM, task/g.tasksM*g.BlockN
	return i0, min(i0+g.BlockM, g.M), j0, min(j0+g.BlockN, g.N)
}

// Prepacked returns how many elements a matrix of the given rows and columns
// takes, packed into strips of the given height.
func Prepacked(rows, cols, height int) int { return kernel.CeilDiv(rows, height) * height * cols }

// Form names the form of a prepacked operand: how high its strips are, and in how many
// matrices of their own its rows are packed, or, transposed, its columns.
func Form(height, matrices int, transposed bool) string {
	by := "rows"
	if transposed {
		by = "columns"
	}
	return fmt.Sprintf("%d matrices in strips of %d %s", matrices, height, by)
}

// Prepack packs every strip of m, a matrix of the given rows and columns, block
// of columns by block. It is for the left of tiles that have as many rows as the
// strips are high; a matrix for the right is packed transposed, and its strips
// are as high as tiles have columns.
func Prepack[T kernel.Number](dst []T, m Matrix[T], rows, cols, height int) {
	for k0 := 0; k0 < cols; k0 += BlockK {
		Pack(dst[Prepacked(rows, k0, height):], m, 0, rows, k0, min(k0+BlockK, cols), height)
	}
}

// pack lays rows [i0, i1) and columns [k0, k1) of m out as strips of the given
// width in rows, by the loops of tile. A row is a lane: lane i, element k goes to
// dst[i/width*width*depth + k*width + i%width], where depth is the number of
// columns. Missing lanes of the last strip become 0.
func pack[T kernel.Number](tile *isa.Tile[T], dst []T, m Matrix[T], i0, i1, k0, k1, width int) {
	data, at, lane, step := m.Data, m.At+i0*m.Row+k0*m.Col, m.Row, m.Col
	n, depth := i1-i0, k1-k0
	if n == 0 || depth == 0 {
		return
	}
	if lane == 1 && step >= 0 && width <= tile.Cols && n <= 2*width {
		// Strips are few: a call for each of them, not for each column.
		for j := 0; j < n; j += width {
			tile.Spread(dst[j*depth:], data[at+j:], depth, width, step, 0, min(width, n-j), width)
		}
		return
	}
	if lane == 1 && width <= tile.Cols {
		// Rows are read from end to end, which is what memory is fast at.
		whole := n / width
		rest := n - whole*width
		for k := range depth {
			from, to := data[at+k*step:], dst[k*width:]
			if whole > 0 {
				tile.Spread(to, from, whole, depth*width, width, 0, width, width)
			}
			if rest > 0 {
				tile.Spread(to[whole*depth*width:], from[whole*width:], 1, 0, 0, 0, rest, width)
			}
		}
		return
	}
	for j := 0; j < n; j += width {
		w := min(width, n-j)
		strip := dst[j*depth : (j+width)*depth]
		from := at + j*lane
		if step == 1 && lane > 0 {
			tile.Transpose(strip, data[from:], w, lane, depth, width)
		} else {
			for k := range depth {
				f := from + k*step
				for l := range w {
					strip[k*width+l] = data[f+l*lane]
				}
			}
		}
		if w < width {
			for k := range depth {
				clear(strip[k*width+w : k*width+width])
			}
		}
	}
}

// Pack is pack by the loops of the active set.
func Pack[T kernel.Number](dst []T, m Matrix[T], i0, i1, k0, k1, width int) {
	tile := isa.TileOf[T]()
	pack(&tile, dst, m, i0, i1, k0, k1, width)
}

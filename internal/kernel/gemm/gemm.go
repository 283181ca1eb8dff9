// Package gemm multiplies matrices block by block, out of operands that are
// packed into strips.
//
// # Where to find what
//
//	gemm.go  the cut of a product into tasks; packing; a task
//
// The inner loops are those of package isa.
package gemm

import (
	"fmt"

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
// the tile's height and width, and a tile kernel multiplies strip by strip.
type Product[T kernel.Number] struct {
	Tile    isa.Tile[T]
	M, N, K int // extents of the product

	BlockM, BlockN int // rows and columns of a task, but for the last ones
	tasksM, tasksN int
	direct         bool // there is so little on the left that packing the right does not pay
}

// New returns a product with the inner loops of the active instruction set.
func New[T kernel.Number]() Product[T] { return Product[T]{Tile: isa.TileOf[T]()} }

// The largest block of a task, in strips. A packed left block then takes
// 144 KiB of float32 with the widest tile, and a right one 384 KiB: together
// they stay in the second-level cache of current cores.
const (
	maxStripsM = 12
	maxStripsN = 12
)

// Plan cuts the product of m×k by k×n. The cut depends on the extents and the
// tile alone.
func (g *Product[T]) Plan(m, n, k int) {
	const (
		enough = 12      // tasks, for the workers to share evenly
		grain  = 1 << 20 // multiplications in a task worth handing out
	)
	g.M, g.N, g.K = m, n, k
	g.direct = m <= 3*g.Tile.Rows
	sm, sn := kernel.CeilDiv(m, g.Tile.Rows), kernel.CeilDiv(n, g.Tile.Cols)
	bm, bn := even(sm, maxStripsM), even(sn, maxStripsN)
	for kernel.CeilDiv(sm, bm)*kernel.CeilDiv(sn, bn) < enough && float64(bm*g.Tile.Rows)*float64(bn*g.Tile.Cols)*float64(k) > 2*grain {
		// Halve the side that costs less to pack twice.
		if bn*g.Tile.Cols >= bm*g.Tile.Rows && bn > 1 || bm == 1 {
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
	return kernel.Carved[T](g.BlockM*k) + kernel.Carved[T](g.BlockN*k)
}

// A Right is the right operand of a product, in the form in which it is at
// hand: prepacked, windows over an image, or a matrix.
type Right[T kernel.Number] struct {
	Matrix[T]
	Prepacked []T
	Image     ImagePacker[T] // when set, Matrix holds an image, and what this packs of it is the operand
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
	rows, cols := g.Tile.Rows, g.Tile.Cols
	packA := kernel.Carve[T](&scratch, g.BlockM*min(g.K, BlockK))
	packB := kernel.Carve[T](&scratch, g.BlockN*min(g.K, BlockK))
	if g.K == 0 {
		for i := range i1 - i0 {
			clear(c[i*ldc : i*ldc+j1-j0])
		}
	}
	for k0 := 0; k0 < g.K; k0 += BlockK {
		k1 := min(k0+BlockK, g.K)
		depth := k1 - k0
		pa := packA
		if a.Prepacked != nil {
			pa = a.Prepacked[Prepacked(g.M, k0, rows)+i0*depth:]
		} else {
			Pack(pa, a.Matrix, i0, i1, k0, k1, rows)
		}
		pb, ldb, inPlace := packB, cols, false
		switch {
		case b.Prepacked != nil:
			pb = b.Prepacked[Prepacked(g.N, k0, cols)+j0*depth:]
		case b.Image != nil:
			b.Image.PackImage(pb, b.Data[b.At:], j0, j1, k0, k1, &g.Tile)
		case g.direct && b.Col == 1 && b.Row >= 0:
			inPlace = true
		default:
			Pack(pb, b.Transposed(), j0, j1, k0, k1, cols)
		}
		for j := j0; j < j1; j += cols {
			strip := pb
			switch {
			case !inPlace:
				strip = pb[(j-j0)*depth:]
			case j+cols <= j1:
				strip, ldb = b.Data[b.At+k0*b.Row+j:], b.Row
			default:
				Pack(pb, b.Transposed(), j, j1, k0, k1, cols)
				ldb = cols
			}
			w := min(cols, j1-j)
			for i := i0; i < i1; i += rows {
				h := min(rows, i1-i)
				at := (i-i0)*ldc + j - j0
				g.Tile.Mul(h, w, depth, pa[(i-i0)*depth:], strip, ldb, c[at:at+(h-1)*ldc+w], ldc, k0 > 0)
			}
		}
	}
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

// Pack lays rows [i0, i1) and columns [k0, k1) of m out as strips of the given
// width in rows. A row is a lane: lane i, element k goes to
// dst[i/width*width*depth + k*width + i%width], where depth is the number of
// columns. Missing lanes of the last strip become 0.
func Pack[T kernel.Number](dst []T, m Matrix[T], i0, i1, k0, k1, width int) {
	data, at, lane, step := m.Data, m.At+i0*m.Row+k0*m.Col, m.Row, m.Col
	n, depth := i1-i0, k1-k0
	whole := n / width * width
	if lane == 1 {
		// Rows are read from end to end, which is what memory is fast at.
		for k := range depth {
			f := at + k*step
			from := data[f : f+n]
			to := k * width
			for j := 0; j < whole; j += width {
				copy(dst[to:to+width], from[j:j+width])
				to += depth * width
			}
			if whole < n {
				w := copy(dst[to:], from[whole:])
				clear(dst[to+w : to+width])
			}
		}
		return
	}
	for j := 0; j < n; j += width {
		w := min(width, n-j)
		strip := dst[j*depth : (j+width)*depth]
		from := at + j*lane
		if step == 1 {
			transpose(strip, data, from, lane, w, depth, width)
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

// transpose writes n lanes of depth consecutive elements, lane apart, to
// dst[k*width + lane], eight lanes at a time.
func transpose[T kernel.Number](dst, data []T, at, lane, n, depth, width int) {
	if depth == 0 {
		return
	}
	l := 0
	for ; l+8 <= n; l += 8 {
		f := at + l*lane
		r0 := data[f : f+depth]
		r1 := data[f+lane:][:len(r0)]
		r2 := data[f+2*lane:][:len(r0)]
		r3 := data[f+3*lane:][:len(r0)]
		r4 := data[f+4*lane:][:len(r0)]
		r5 := data[f+5*lane:][:len(r0)]
		r6 := data[f+6*lane:][:len(r0)]
		r7 := data[f+7*lane:][:len(r0)]
		to := l
		for k, v := range r0 {
			d := dst[to : to+8 : to+8]
			d[0], d[1], d[2], d[3] = v, r1[k], r2[k], r3[k]
			d[4], d[5], d[6], d[7] = r4[k], r5[k], r6[k], r7[k]
			to += width
		}
	}
	for ; l+2 <= n; l += 2 {
		f := at + l*lane
		r0 := data[f : f+depth]
		r1 := data[f+lane:][:len(r0)]
		to := l
		for k, v := range r0 {
			d := dst[to : to+2 : to+2]
			d[0], d[1] = v, r1[k]
			to += width
		}
	}
	if l < n {
		f := at + l*lane
		for k, v := range data[f : f+depth] {
			dst[k*width+l] = v
		}
	}
}

package quant

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/gemm"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// A product computes, for matrices a and b of 8-bit numbers,
//
//	s[i,j] = bias[i,j] + sum over k of (a[i,k]-zeroA[i]) * (b[k,j]-zeroB[j])
//	y[i,j] = s[i,j], or saturate(round(float32(s[i,j])*scale[i,j]) + zeroY[i,j])
//
// where sums are of int32 and wrap, and round takes halves to even. NaN becomes the
// least number.
//
// The loops of the instruction set multiply int8 by uint8. An operand that is of the
// other type has the highest bit of its bytes flipped where it is packed, and its zero
// point likewise, which makes both less or greater by 128. Zero points are taken off
// in the end, out of the sums of rows of a and columns of b:
//
//	s[i,j] = bias[i,j] + sum of a[i,k]*b[k,j] - zeroA[i]*sumB[j] - zeroB[j]*(sumA[i] - K*zeroA[i])
//
// so that a zero point which is 0 as the loops see it costs nothing. That is the rule for
// weights, which are int8 around 0 or uint8 around 128, as they are the signed operand:
// the right one of matrices, the left one of convolutions.
type product struct {
	cut                 gemm.Product[uint8] // into tasks
	tile                *isa.IntegerTile
	mul                 isa.IntegerMul
	typeA, typeB, typeY dtype.Type
	flipA, flipB        uint8   // of each byte
	signedLeft          bool    // a is int8 to the loops, and b uint8, or else the other way round
	prepacked           []uint8 // an operand as [prepack] has it: b of matrices, a of convolutions
}

// blockK is how many terms are packed at a time, whole quads: a strip of each operand
// then stays in the first-level cache.
const blockK = 512

func newProduct(a, b, y dtype.Type, signedLeft bool) product {
	p := product{cut: gemm.New[uint8](), tile: &isa.Active().Integer, typeA: a, typeB: b, typeY: y, signedLeft: signedLeft}
	p.cut.Tile.Rows, p.cut.Tile.Cols, p.cut.Tile.Spread = p.tile.Rows, p.tile.Cols, spread
	p.mul = p.tile.SignedRight
	if signedLeft {
		p.mul = p.tile.SignedLeft
	}
	if (a == dtype.Int8) != signedLeft {
		p.flipA = flip
	}
	if (b == dtype.Int8) == signedLeft {
		p.flipB = flip
	}
	return p
}

// flip is the bit by which a byte of int8 becomes one of uint8 that is greater by 128.
const flip = 0x80

// spread is [isa.Tile.Spread].
func spread(dst, src []uint8, count, dstStep, srcStep, a, b, n int) {
	for r := range count {
		to := dst[r*dstStep : r*dstStep+n]
		clear(to[:a])
		copy(to[a:b], src[r*srcStep:])
		clear(to[b:])
	}
}

// factors are the operands of one product. Of the matrices after a and b one that is
// absent has no data, and one that does not change along rows or columns has a stride
// of 0 there.
type factors struct {
	a            gemm.Left[uint8]
	b            gemm.Right[uint8]
	sumA, sumB   []int32 // of the rows of a, and columns of b, where they are known
	zeroA, zeroB gemm.Matrix[uint8]
	bias         gemm.Matrix[int32]
	scale        gemm.Matrix[float32]
	zeroY        gemm.Matrix[uint8]
}

// working is the memory of a task.
type working struct {
	packA, packB, windows []uint8
	sumA, sumB            []int32 // of the block's rows and columns
	add                   []int32 // to a row of sums
	scale                 []float32
	c                     []int32 // sums of a result that is quantised
}

// depth returns the terms of a block, in whole quads.
func (p *product) depth() int { return quads(min(p.cut.K, blockK)) * 4 }

// quads returns how many quads n terms take.
func quads(n int) int { return kernel.CeilDiv(n, 4) }

// Scratch returns the working memory of a task, in bytes.
func (p *product) Scratch() int {
	m, n, depth := p.cut.BlockM, p.cut.BlockN, p.depth()
	size := kernel.Carved[uint8](m*depth) + kernel.Carved[uint8](n*depth) + kernel.Carved[uint8](depth*p.tile.Cols) +
		kernel.Carved[int32](m) + 2*kernel.Carved[int32](n) + kernel.Carved[float32](n)
	if p.typeY != dtype.Int32 {
		size += kernel.Carved[int32](m * n)
	}
	return size
}

func (p *product) carve(scratch []byte) working {
	m, n, depth := p.cut.BlockM, p.cut.BlockN, p.depth()
	w := working{
		packA: kernel.Carve[uint8](&scratch, m*depth), packB: kernel.Carve[uint8](&scratch, n*depth),
		windows: kernel.Carve[uint8](&scratch, depth*p.tile.Cols),
		sumA:    kernel.Carve[int32](&scratch, m), sumB: kernel.Carve[int32](&scratch, n),
		add: kernel.Carve[int32](&scratch, n), scale: kernel.Carve[float32](&scratch, n),
	}
	if p.typeY != dtype.Int32 {
		w.c = kernel.Carve[int32](&scratch, m*n)
	}
	return w
}

// run computes one task. Y is the memory of the result, whose first element lies at
// element at and whose rows are ldy elements apart.
func (p *product) run(task int, scratch []byte, f *factors, y *kernel.Operand, at, ldy int) {
	i0, i1, j0, j1 := p.cut.Block(task)
	w := p.carve(scratch)
	at += i0*ldy + j0
	c, ldc := w.c, j1-j0
	if p.typeY == dtype.Int32 {
		c, ldc = kernel.Slice[int32](y)[at:], ldy
	}
	zeros := p.zeros(f, i0, i1, j0, j1)
	p.sums(i0, i1, j0, j1, &w, f, &zeros, c, ldc)
	for i := i0; i < i1; i++ {
		row := c[(i-i0)*ldc:][:j1-j0]
		p.finish(row, i, i0, j0, &w, f, &zeros)
		if p.typeY != dtype.Int32 {
			scale := rowOf(&f.scale, i, j0, w.scale[:len(row)])
			p.round(kernel.Slice[uint8](y)[at+(i-i0)*ldy:][:len(row)], row, w.add[:max(1, zeros.added)], zeros.base, scale, &f.zeroY, i, j0)
		}
	}
}

// sums computes the sums of a[i,k]*b[k,j] for rows [i0, i1) and columns [j0, j1), as
// c[(i-i0)*ldc + j-j0], and those of the rows of a and the columns of b alone, where
// zero points ask for them.
func (p *product) sums(i0, i1, j0, j1 int, w *working, f *factors, z *zeroPoints, c []int32, ldc int) {
	g, rows, cols := &p.cut, p.tile.Rows, p.tile.Cols
	if g.K == 0 {
		clear(w.sumA)
		clear(w.sumB)
		for i := range i1 - i0 {
			clear(c[i*ldc : i*ldc+j1-j0])
		}
	}
	for k0 := 0; k0 < g.K; k0 += blockK {
		n := quads(min(blockK, g.K-k0))
		a, row, step := p.left(i0, i1, k0, w, f)
		b := p.right(j0, j1, k0, w, f)
		stripA := rows * row // from one strip of a to the next
		if row == 4 && step == 4*rows {
			stripA = n * step
		}
		for j := j0; j < j1; j += cols {
			strip, width := b[(j-j0)*4*n:], min(cols, j1-j)
			for i := i0; i < i1; i += rows {
				p.mul(min(rows, i1-i), width, n, a[(i-i0)/rows*stripA:], row, step, strip, 4*cols, c[(i-i0)*ldc+j-j0:], ldc, k0 > 0)
			}
			if z.wantB && f.sumB == nil {
				p.mul(1, width, n, ones[:], 0, 0, strip, 4*cols, w.sumB[j-j0:], 0, k0 > 0)
			}
		}
		if z.wantA && f.sumA == nil {
			for i := i0; i < i1; i += rows {
				p.mul(min(rows, i1-i), 1, n, a[(i-i0)/rows*stripA:], row, step, ones[:], 0, w.sumA[i-i0:], 1, k0 > 0)
			}
		}
	}
	if f.sumA != nil {
		copy(w.sumA, f.sumA[i0:i1])
	}
	if f.sumB != nil {
		copy(w.sumB, f.sumB[j0:j1])
	}
}

// ones is a row of quads that sums what it is multiplied by.
var ones = func() (q [4 * 64]uint8) {
	for i := range q {
		q[i] = 1
	}
	return q
}()

// left returns the rows [i0, i1) of a block of terms as the loops take them: with the
// steps from row to row of a strip and from quad to quad. Whole quads of the right sign
// are read where they lie.
func (p *product) left(i0, i1, k0 int, w *working, f *factors) (a []uint8, row, step int) {
	k1, rows, m := min(k0+blockK, p.cut.K), p.tile.Rows, &f.a
	switch {
	case m.Prepacked != nil:
		a = m.Prepacked[prepackedAt(p.cut.M, k0, rows)+i0*4*quads(k1-k0):]
	case m.Col == 1 && m.Row >= 0 && p.flipA == 0 && (k1-k0)%4 == 0:
		return m.Data[m.At+i0*m.Row+k0:], m.Row, 4
	default:
		a = w.packA
		packQuads(p.tile, a, m.Matrix, i0, i1, k0, k1, rows, p.flipA)
	}
	return a, 4, 4 * rows
}

// right returns the columns [j0, j1) of a block of terms in strips.
func (p *product) right(j0, j1, k0 int, w *working, f *factors) []uint8 {
	k1, cols, m := min(k0+blockK, p.cut.K), p.tile.Cols, &f.b
	n := quads(k1 - k0)
	switch {
	case m.Prepacked != nil:
		return m.Prepacked[prepackedAt(p.cut.N, k0, cols)+j0*4*n:]
	case m.Image != nil:
		for j := j0; j < j1; j += cols {
			m.Image.PackImage(w.windows, m.Data[m.At:], j, min(j+cols, j1), k0, k1, &p.cut.Tile)
			rows := gemm.Matrix[uint8]{Data: w.windows, Row: 1, Col: cols}
			packQuads(p.tile, w.packB[(j-j0)*4*n:], rows, 0, min(cols, j1-j), 0, k1-k0, cols, p.flipB)
		}
	default:
		packQuads(p.tile, w.packB, m.Transposed(), j0, j1, k0, k1, cols, p.flipB)
	}
	return w.packB
}

// round computes elements of row i of the result, from column j0 on, out of its sums.
func (p *product) round(y []uint8, s, add []int32, base int32, scale []float32, zeroY *gemm.Matrix[uint8], i, j0 int) {
	signed := p.typeY == dtype.Int8
	if zeroY.Data == nil || zeroY.Col == 0 {
		p.tile.Requantize(y, s, add, base, scale, zeroAt(zeroY, i, 0, 0, signed), signed)
		return
	}
	for j := range y {
		zero := zeroAt(zeroY, i, j0+j, 0, signed)
		p.tile.Requantize(y[j:j+1], s[j:j+1], add[min(j, len(add)-1):][:1], base, scale[min(j, len(scale)-1):][:1], zero, signed)
	}
}

// rowOf returns elements of row i of m from column j0 on, as many as buffer has, or one
// that serves all. They may lie in buffer.
func rowOf[T int32 | float32](m *gemm.Matrix[T], i, j0 int, buffer []T) []T {
	at := m.At + i*m.Row + j0*m.Col
	switch m.Col {
	case 0:
		return m.Data[at : at+1]
	case 1:
		return m.Data[at : at+len(buffer)]
	}
	for j := range buffer {
		buffer[j] = m.Data[at+j*m.Col]
	}
	return buffer
}

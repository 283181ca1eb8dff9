package quant

import (
	"math"

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
// least number. Zero points are taken off at the end, out of the sums of rows of
// a and columns of b, so that bytes are multiplied as they are.
//
// They are multiplied as float32, block by block, by the tile of the instruction set:
// the terms of a block are so few that each of its sums is a whole number that float32
// has. Bytes become float32 where they are packed for a task; what is prepacked
// remains bytes.
type product struct {
	cut                 gemm.Product[uint8] // into tasks
	tile                isa.Tile[float32]
	typeA, typeB, typeY dtype.Type
	prepacked           []uint8 // an operand as [prepack] has it: b of matrices, a of convolutions
}

// The greatest sum of a block, and all below it, are whole numbers of float32.
const _ = uint(1<<24 - gemm.BlockK*math.MaxUint8*math.MaxUint8)

func newProduct(a, b, y dtype.Type) product {
	p := product{cut: gemm.New[uint8](), tile: isa.TileOf[float32](), typeA: a, typeB: b, typeY: y}
	p.cut.Tile.Rows, p.cut.Tile.Cols = p.tile.Rows, p.tile.Cols
	return p
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

// Scratch returns the working memory of a task, in bytes.
func (p *product) Scratch() int {
	k := min(p.cut.K, gemm.BlockK)
	n := kernel.Carved[int32](p.cut.BlockM) + kernel.Carved[int32](p.cut.BlockN) + kernel.Carved[float32](p.tile.Rows*p.tile.Cols)
	for _, lanes := range [...]int{p.cut.BlockM, p.cut.BlockN} {
		n += kernel.Carved[uint8](lanes*k) + kernel.Carved[float32](lanes*k)
	}
	if p.typeY != dtype.Int32 {
		n += kernel.Carved[int32](p.cut.BlockM * p.cut.BlockN)
	}
	return n
}

// run computes one task. Y is the memory of the result, whose first element lies at
// element at and whose rows are ldy elements apart.
func (p *product) run(task int, scratch []byte, f *factors, y *kernel.Operand, at, ldy int) {
	i0, i1, j0, j1 := p.cut.Block(task)
	at += i0*ldy + j0
	n := j1 - j0
	c, ldc := []int32(nil), ldy
	if p.typeY == dtype.Int32 {
		c = kernel.Slice[int32](y)[at:]
	} else {
		c, ldc = kernel.Carve[int32](&scratch, p.cut.BlockM*p.cut.BlockN), n
	}
	p.sums(i0, i1, j0, j1, scratch, f, c, ldc)
	for i := i0; i < i1; i++ {
		first := (i - i0) * ldc
		p.store(y, at, c[first:first+n], f, i, j0)
		at += ldy
	}
}

// store writes y[i,j] for columns from j0 on to the memory of y, from element at on.
// Sums has s[i,j] without the bias; it may be the place itself.
func (p *product) store(y *kernel.Operand, at int, sums []int32, f *factors, i, j0 int) {
	if m := &f.bias; m.Data != nil {
		from := m.At + i*m.Row + j0*m.Col
		for j := range sums {
			sums[j] += m.Data[from+j*m.Col]
		}
	}
	switch p.typeY {
	case dtype.Int8:
		requantize(kernel.Slice[int8](y)[at:at+len(sums)], sums, f, i, j0)
	case dtype.Uint8:
		requantize(kernel.Slice[uint8](y)[at:at+len(sums)], sums, f, i, j0)
	default:
		copy(kernel.Slice[int32](y)[at:], sums)
	}
}

// sums computes s[i,j] without the bias for rows [i0, i1) and columns [j0, j1), as
// c[(i-i0)*ldc + j-j0].
func (p *product) sums(i0, i1, j0, j1 int, scratch []byte, f *factors, c []int32, ldc int) {
	g, rows, cols := &p.cut, p.tile.Rows, p.tile.Cols
	k := min(g.K, gemm.BlockK)
	packA, packB := kernel.Carve[uint8](&scratch, g.BlockM*k), kernel.Carve[uint8](&scratch, g.BlockN*k)
	floatA, floatB := kernel.Carve[float32](&scratch, g.BlockM*k), kernel.Carve[float32](&scratch, g.BlockN*k)
	sumA, sumB := kernel.Carve[int32](&scratch, g.BlockM)[:i1-i0], kernel.Carve[int32](&scratch, g.BlockN)[:j1-j0]
	tile := kernel.Carve[float32](&scratch, rows*cols)
	clear(sumA)
	clear(sumB)
	for i := range i1 - i0 {
		clear(c[i*ldc : i*ldc+j1-j0])
	}
	for k0 := 0; k0 < g.K; k0 += gemm.BlockK {
		k1 := min(k0+gemm.BlockK, g.K)
		depth := k1 - k0
		pa, pb := packA, packB
		if f.a.Prepacked != nil {
			pa = f.a.Prepacked[gemm.Prepacked(g.M, k0, rows)+i0*depth:]
		} else {
			gemm.Pack(pa, f.a.Matrix, i0, i1, k0, k1, rows)
		}
		switch {
		case f.b.Prepacked != nil:
			pb = f.b.Prepacked[gemm.Prepacked(g.N, k0, cols)+j0*depth:]
		case f.b.Image != nil:
			f.b.Image.PackImage(pb, f.b.Data[f.b.At:], j0, j1, k0, k1, &g.Tile)
		default:
			gemm.Pack(pb, f.b.Transposed(), j0, j1, k0, k1, cols)
		}
		if f.zeroB.Data != nil && f.sumA == nil {
			addLanes(sumA, pa, depth, rows, p.typeA)
		}
		if f.zeroA.Data != nil && f.sumB == nil {
			addLanes(sumB, pb, depth, cols, p.typeB)
		}
		floats(floatA[:gemm.Prepacked(i1-i0, depth, rows)], pa, p.typeA)
		floats(floatB[:gemm.Prepacked(j1-j0, depth, cols)], pb, p.typeB)
		for j := j0; j < j1; j += cols {
			w := min(cols, j1-j)
			for i := i0; i < i1; i += rows {
				h := min(rows, i1-i)
				p.tile.Mul(h, w, depth, floatA[(i-i0)*depth:], floatB[(j-j0)*depth:], cols, tile, cols, false)
				for r := range h {
					row := c[(i-i0+r)*ldc+j-j0:]
					for l, v := range tile[r*cols : r*cols+w] {
						row[l] += int32(v)
					}
				}
			}
		}
	}
	if f.sumA != nil {
		copy(sumA, f.sumA[i0:i1])
	}
	if f.sumB != nil {
		copy(sumB, f.sumB[j0:j1])
	}
	for i := i0; i < i1; i++ {
		row := c[(i-i0)*ldc : (i-i0)*ldc+j1-j0]
		p.takeZeros(row, f, i, j0, sumA[i-i0], sumB)
	}
}

// takeZeros makes sums of a[i,k]*b[k,j], for columns from j0 on, into those without the
// zero points. SumA is the sum of row i of a, and sumB has those of the columns of b.
func (p *product) takeZeros(row []int32, f *factors, i, j0 int, sumA int32, sumB []int32) {
	zeroA := zeroAt(&f.zeroA, i, 0, p.typeA)
	if zeroA != 0 {
		for j, s := range sumB {
			row[j] -= zeroA * s
		}
	}
	if f.zeroB.Data != nil {
		s := sumA - int32(p.cut.K)*zeroA
		for j := range row {
			row[j] -= zeroAt(&f.zeroB, 0, j0+j, p.typeB) * s
		}
	}
}

// floats sets dst to the first bytes of src, which are of type t.
func floats(dst []float32, src []uint8, t dtype.Type) {
	table := &unsigned
	if t == dtype.Int8 {
		table = &signed
	}
	// Eight at a time, as a lookup takes no longer than the end of a loop.
	for ; len(dst) >= 8 && len(src) >= 8; dst, src = dst[8:], src[8:] {
		dst[0], dst[1], dst[2], dst[3] = table[src[0]], table[src[1]], table[src[2]], table[src[3]]
		dst[4], dst[5], dst[6], dst[7] = table[src[4]], table[src[5]], table[src[6]], table[src[7]]
	}
	for i := range dst {
		dst[i] = table[src[i]]
	}
}

// signed and unsigned have for each byte the number that it is.
var signed, unsigned = numbers[int8](), numbers[uint8]()

func numbers[T int8 | uint8]() (table [256]float32) {
	for b := range table {
		table[b] = float32(T(b))
	}
	return table
}

// addLanes adds to sums[i] the elements of lane i of strips of the given depth and
// width, as [gemm.Pack] lays them out, which are of type t.
func addLanes(sums []int32, strips []uint8, depth, width int, t dtype.Type) {
	for i := 0; i < len(sums); i += width {
		lanes := sums[i:min(i+width, len(sums))]
		for k := range depth {
			row := strips[i*depth+k*width:][:len(lanes)]
			if t == dtype.Int8 {
				kernel.Each2(lanes, lanes, row, func(s int32, b uint8) int32 { return s + int32(int8(b)) })
			} else {
				kernel.Each2(lanes, lanes, row, func(s int32, b uint8) int32 { return s + int32(b) })
			}
		}
	}
}

// prepackedBytes returns the size of a matrix of the given rows and columns as
// [prepack] writes it.
func prepackedBytes(rows, cols, height int) int {
	return kernel.Carved[int32](rows) + kernel.Carved[uint8](gemm.Prepacked(rows, cols, height))
}

// prepack writes the sums of the rows of a matrix of elements of type t, and behind
// these its rows in strips of the given height. That for the right of a product is
// transposed.
func prepack(dst []byte, m gemm.Matrix[uint8], rows, cols, height int, t dtype.Type) {
	strips, sums := prepacked(dst, rows)
	gemm.Prepack(strips, m, rows, cols, height)
	clear(sums)
	for k0 := 0; k0 < cols; k0 += gemm.BlockK {
		addLanes(sums, strips[gemm.Prepacked(rows, k0, height):], min(gemm.BlockK, cols-k0), height, t)
	}
}

// prepacked returns what [prepack] has written of so many rows, nil where it has not.
func prepacked(data []byte, rows int) (strips []uint8, sums []int32) {
	if data == nil {
		return nil, nil
	}
	sums = kernel.Carve[int32](&data, rows)
	return data, sums
}

// zeroAt returns element (i, j) of zero points of type t, 0 where there are none.
func zeroAt(m *gemm.Matrix[uint8], i, j int, t dtype.Type) int32 {
	if m.Data == nil {
		return 0
	}
	return number(m.Data[m.At+i*m.Row+j*m.Col], t)
}

// number returns the number that the byte b is in the type t, int8 or uint8.
func number(b uint8, t dtype.Type) int32 {
	if t == dtype.Int8 {
		return int32(int8(b))
	}
	return int32(b)
}

// requantize computes y[i,j] of row i, from column j0 on, out of its sums.
func requantize[Y int8 | uint8](y []Y, sums []int32, f *factors, i, j0 int) {
	least, most, t := float32(0), float32(math.MaxUint8), dtype.Uint8
	if ^Y(0) < 0 {
		least, most, t = math.MinInt8, math.MaxInt8, dtype.Int8
	}
	scale := f.scale.At + i*f.scale.Row + j0*f.scale.Col
	for j, s := range sums[:len(y)] {
		zero := float32(zeroAt(&f.zeroY, i, j0+j, t))
		v := float32(s) * f.scale.Data[scale]
		scale += f.scale.Col
		// Saturated first, as the bounds are whole.
		switch {
		case v >= most-zero:
			v = most
		case v > least-zero:
			v = float32(math.RoundToEven(float64(v))) + zero
		default: // NaN as well
			v = least
		}
		y[j] = Y(v)
	}
}

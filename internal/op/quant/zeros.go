package quant

import (
	"github.com/berth-go/berth/internal/kernel/gemm"

	"github.com/berth-go/berth/dtype"
)

// zeroPoints says what is to be added to the sums of a block: its zero points times sums
// of rows and columns, and the bias. What goes with columns is the same for all rows in
// most products, and is computed once.
type zeroPoints struct {
	a, b         int32 // of the block's first row and column
	sameA, sameB bool  // of all rows, and all columns
	wantA, wantB bool  // sums of the rows of a, and of the columns of b

	base  int32 // to be added to all sums of a row
	added int   // how many numbers are to be added to them one by one; 0 for none
}

// zeros looks at the zero points of a block of the product.
func (p *product) zeros(f *factors, i0, i1, j0, j1 int) zeroPoints {
	var z zeroPoints
	z.a, z.b = p.zeroA(f, i0), p.zeroB(f, j0)
	z.sameA, z.sameB = true, true
	if f.zeroA.Row != 0 {
		for i := i0; i < i1; i++ {
			z.sameA = z.sameA && p.zeroA(f, i) == z.a
		}
	}
	if f.zeroB.Col != 0 {
		for j := j0; j < j1; j++ {
			z.sameB = z.sameB && p.zeroB(f, j) == z.b
		}
	}
	z.wantA, z.wantB = !z.sameB || z.b != 0, !z.sameA || z.a != 0
	return z
}

func (p *product) zeroA(f *factors, i int) int32 {
	return zeroAt(&f.zeroA, i, 0, p.flipA, p.signedLeft)
}

func (p *product) zeroB(f *factors, j int) int32 {
	return zeroAt(&f.zeroB, 0, j, p.flipB, !p.signedLeft)
}

// zeroAt returns element (i, j) of zero points, 0 where there are none, with its bytes
// flipped to be signed or not.
func zeroAt(m *gemm.Matrix[uint8], i, j int, flip uint8, signed bool) int32 {
	b := flip
	if m.Data != nil {
		b ^= m.Data[m.At+i*m.Row+j*m.Col]
	}
	return number(b, signed)
}

// number returns the number that the byte b is, of int8 or uint8.
func number(b uint8, signed bool) int32 {
	if signed {
		return int32(int8(b))
	}
	return int32(b)
}

// finish finds what is to be added to row i of the sums of a block that begins at row i0
// and column j0: w.add and z.base. Sums that are the result are given it.
func (p *product) finish(row []int32, i, i0, j0 int, w *working, f *factors, z *zeroPoints) {
	zeroA, sumA := p.zeroA(f, i), w.sumA[i-i0]
	bias := &f.bias
	z.base = 0
	if z.sameB && z.b != 0 {
		z.base = -z.b * (sumA - int32(p.cut.K)*zeroA)
	}
	if bias.Data != nil && bias.Col == 0 {
		z.base += bias.Data[bias.At+i*bias.Row]
	}
	columns := bias.Data != nil && bias.Col != 0
	same := z.sameA && z.sameB && (!columns || bias.Row == 0)
	if i == i0 || !same {
		p.addColumns(w.add[:len(row)], i, j0, zeroA, sumA, w, f, z, columns)
	}
	if p.typeY == dtype.Int32 && (z.base != 0 || z.added > 0) {
		p.tile.ShiftSums(row, w.add[:max(1, z.added)], z.base)
	}
}

// addColumns sets add to what is to be added to the sums of row i one by one, and
// z.added to how many they are. Where there is nothing, add[0] is 0.
func (p *product) addColumns(add []int32, i, j0 int, zeroA, sumA int32, w *working, f *factors, z *zeroPoints, bias bool) {
	z.added = 0
	if zeroA == 0 && z.sameB && !bias {
		add[0] = 0
		return
	}
	z.added = len(add)
	for j := range add {
		add[j] = -zeroA * w.sumB[j]
	}
	if !z.sameB {
		s := sumA - int32(p.cut.K)*zeroA
		for j := range add {
			add[j] -= p.zeroB(f, j0+j) * s
		}
	}
	if bias {
		at := f.bias.At + i*f.bias.Row + j0*f.bias.Col
		for j := range add {
			add[j] += f.bias.Data[at+j*f.bias.Col]
		}
	}
}

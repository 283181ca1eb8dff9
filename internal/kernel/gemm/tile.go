package gemm

import "github.com/berth-go/berth/internal/kernel"

// A Tile multiplies one strip of a packed left matrix by one strip of a right
// one. With the loops beside it, which convolutions add, it is the only code
// of products that is written for an instruction set.
type Tile[T kernel.Number] struct {
	Name       string
	Rows, Cols int // of a full tile: the height of left strips, the width of right ones
	// Mul is, for i < h <= rows and j < w <= cols,
	//
	//	s := 0; for p < k { s += a[p*rows+i] * b[p*ldb+j] }
	//	c[i*ldc+j] += s	// or = s, where add is false
	//
	// with k > 0. Full rows of cols elements of b may be read. An element's
	// value does not depend on h and w.
	Mul func(h, w, k int, a, b []T, ldb int, c []T, ldc int, add bool)
	// Spread is, for each r < count, where 0 <= a < b <= n <= cols,
	//
	//	dst[r*dstStep+i] = src[r*srcStep+i-a] if a <= i < b, or else 0, for i < n
	Spread func(dst, src []T, count, dstStep, srcStep, a, b, n int)
	// TapSum is, for each i < len(y),
	//
	//	y[i] = bias; for t { y[i] += weights[t] * x[i+offsets[t]] }
	TapSum func(y, x []T, offsets []int, weights []T, bias T)
}

// Tiles returns the tile kernels that this processor can run, the fastest
// first and the portable one last.
func Tiles[T kernel.Number]() []Tile[T] {
	return append(nativeTiles[T](), Tile[T]{"go", 4, 4, mulTile4x4[T], spreadLanes[T], sumTaps[T]})
}

// BestTile returns the fastest tile kernel for T.
func BestTile[T kernel.Number]() Tile[T] { return Tiles[T]()[0] }

// mulTile4x4 is the portable tile kernel.
func mulTile4x4[T kernel.Number](h, w, k int, a, b []T, ldb int, c []T, ldc int, add bool) {
	var s [4][4]T
	half4x2(&s, 0, k, a, b, ldb)
	if w > 2 {
		half4x2(&s, 2, k, a, b[2:], ldb)
	}
	for i := range min(h, 4) {
		row := c[i*ldc : i*ldc+w]
		sums := s[i][:w]
		if add {
			for j, v := range sums {
				row[j] += v
			}
		} else {
			copy(row, sums)
		}
	}
}

// half4x2 sums columns at and at+1 of a 4×4 tile. Eight sums and their
// operands fit the registers of every 64-bit processor; sixteen do not.
func half4x2[T kernel.Number](s *[4][4]T, at, k int, a, b []T, ldb int) {
	var s00, s01, s10, s11, s20, s21, s30, s31 T
	a = a[:4*k]
	for p := 0; len(a) >= 4; p += ldb {
		bp := b[p : p+2 : p+2]
		b0, b1 := bp[0], bp[1]
		a0, a1, a2, a3 := a[0], a[1], a[2], a[3]
		s00 += a0 * b0
		s01 += a0 * b1
		s10 += a1 * b0
		s11 += a1 * b1
		s20 += a2 * b0
		s21 += a2 * b1
		s30 += a3 * b0
		s31 += a3 * b1
		a = a[4:]
	}
	s[0][at], s[0][at+1] = s00, s01
	s[1][at], s[1][at+1] = s10, s11
	s[2][at], s[2][at+1] = s20, s21
	s[3][at], s[3][at+1] = s30, s31
}

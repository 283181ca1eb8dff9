package quant

import "github.com/berth-go/berth/dtype"

// side is how many rows and columns a tile has: the height of left strips, and the
// width of right ones.
const side = 4

// A tileLoop is, for i < h <= side and j < side,
//
//	s := 0; for p < k { s += a[p*side+i] * b[p*side+j] }
//	c[i*side+j] = s
//
// where k, which is at most 1<<15, is the length of the strips a and b. It may set the
// rows of c after these to anything.
type tileLoop func(h int, c []int32, a, b []uint8)

// tileOf returns the loop that takes the bytes of strips for elements of the types a
// and b.
func tileOf(a, b dtype.Type) tileLoop {
	switch {
	case a == dtype.Int8 && b == dtype.Int8:
		return mulTile[int8, int8]
	case a == dtype.Int8:
		return mulTile[int8, uint8]
	case b == dtype.Int8:
		return mulTile[uint8, int8]
	}
	return mulTile[uint8, uint8]
}

// mulTile is a [tileLoop]. A multiplication of 64 bits does two columns at once: the
// sum of a*(b0 + b1<<32) is s0 + s1<<32, of which s0 is known by its low 32 bits,
// as it fits these for strips that are short enough.
func mulTile[A, B int8 | uint8](h int, c []int32, a, b []uint8) {
	if h == 1 {
		mulRow[A, B](c, a, b)
		return
	}
	var s00, s01, s10, s11, s20, s21, s30, s31 int64
	for len(a) >= side && len(b) >= side {
		b0 := int64(B(b[0])) + int64(B(b[1]))<<32
		b1 := int64(B(b[2])) + int64(B(b[3]))<<32
		a0, a1, a2, a3 := int64(A(a[0])), int64(A(a[1])), int64(A(a[2])), int64(A(a[3]))
		s00 += a0 * b0
		s01 += a0 * b1
		s10 += a1 * b0
		s11 += a1 * b1
		s20 += a2 * b0
		s21 += a2 * b1
		s30 += a3 * b0
		s31 += a3 * b1
		a, b = a[side:], b[side:]
	}
	for i, s := range [...]int64{s00, s01, s10, s11, s20, s21, s30, s31} {
		c[2*i], c[2*i+1] = columns(s)
	}
}

// mulRow is mulTile of one row.
func mulRow[A, B int8 | uint8](c []int32, a, b []uint8) {
	var s0, s1 int64
	for len(a) >= side && len(b) >= side {
		v := int64(A(a[0]))
		s0 += v * (int64(B(b[0])) + int64(B(b[1]))<<32)
		s1 += v * (int64(B(b[2])) + int64(B(b[3]))<<32)
		a, b = a[side:], b[side:]
	}
	c[0], c[1] = columns(s0)
	c[2], c[3] = columns(s1)
}

// columns returns the two sums of which s is the first plus the second times 1<<32.
func columns(s int64) (first, second int32) {
	first = int32(s)
	return first, int32((s - int64(first)) >> 32)
}

package isa

import "math"

// An IntegerTile has the inner loops of products of bytes, whose sums are of int32 and
// wrap. Terms lie in quads, four that follow one another in memory. One operand of a
// product is of int8 and the other of uint8, as the instructions of processors have it;
// bytes with their highest bit flipped are those of the other type, by 128 apart. All
// sets compute the same.
type IntegerTile struct {
	Rows, Cols int // of a full tile: the most rows, and the width of right strips
	// SignedLeft is, for i < h <= Rows and j < w <= Cols,
	//
	//	s := 0; for q < quads, e < 4 { s += a[i*row+q*step+e] * b[q*ldb+4*j+e] }
	//	c[i*ldc+j] += s	// or = s, where add is false
	//
	// with quads > 0, a of int8, and b of uint8. Full rows of Cols quads of b may be
	// read. Steps may be 0.
	SignedLeft IntegerMul
	// SignedRight is the same with a of uint8 and b of int8.
	SignedRight IntegerMul
	// Interleave is, for g < count, i < n and e < 4,
	//
	//	dst[g*dstStep+4*i+e] = src[(4*g+e)*srcStep+i] ^ flip
	Interleave func(dst, src []uint8, n, count, dstStep, srcStep int, flip uint8)
	// TapQuads is, for each i < len(y),
	//
	//	s := 0; for t, e < 4 { s += weights[4*t+e] * x[i*stride+offsets[t]+e] }
	//	y[i] = s
	//
	// with x of uint8 and weights of int8. [TapSlack] bytes of x behind the last one
	// that counts may be read.
	TapQuads func(y []int32, x []uint8, stride int, offsets []int, weights []uint8)
	// ShiftSums is, for each i < len(s),
	//
	//	s[i] += add[i] + base
	//
	// where one number to add serves all.
	ShiftSums func(s, add []int32, base int32)
	// Requantize is, for each i < len(y),
	//
	//	y[i] = saturate(round(float32(s[i]+add[i]+base)*scale[i]) + zero)
	//
	// where one number to add, or one scale, serves all. Halves are rounded to even.
	// Y is of int8 where signed is true, else of uint8, and holds the least number for
	// NaN. Zero is a number of y.
	Requantize func(y []uint8, s, add []int32, base int32, scale []float32, zero int32, signed bool)
	// Quantize is, for each i < len(y),
	//
	//	y[i] = saturate(round(x[i]/scale) + zero)
	//
	// rounded and saturated as by Requantize.
	Quantize func(y []uint8, x []float32, scale float32, zero int32, signed bool)
	// Dequantize is, for each i < len(y), with x of int8 where signed is true,
	//
	//	y[i] = float32(x[i]-zero) * scale
	Dequantize func(y []float32, x []uint8, scale float32, zero int32, signed bool)
	// AddQuantized is the sum of what a and b stand for, quantised as y is: for each
	// i < len(y),
	//
	//	y[i] = saturate(round((float32(a[i]-zeroA)*scaleA + float32(b[i]-zeroB)*scaleB) / scaleY) + zeroY)
	//
	// with each operation rounded, all of int8 where signed is true. Y may be a or b.
	AddQuantized func(y, a, b []uint8, scaleA, scaleB, scaleY float32, zeroA, zeroB, zeroY int32, signed bool)
}

// An IntegerMul is a product of bytes as [IntegerTile] states it.
type IntegerMul func(h, w, quads int, a []uint8, row, step int, b []uint8, ldb int, c []int32, ldc int, add bool)

// TapSlack is how many bytes [IntegerTile.TapQuads] may read beyond those that count.
const TapSlack = 64

var genericInteger = IntegerTile{
	Rows: 4, Cols: 4,
	SignedLeft: mulQuads[int8, uint8], SignedRight: mulQuads[uint8, int8],
	Interleave: interleave, TapQuads: tapQuads, ShiftSums: shiftSums, Requantize: requantize,
	Quantize: quantize, Dequantize: dequantize, AddQuantized: addQuantized,
}

func mulQuads[A, B int8 | uint8](h, w, quads int, a []uint8, row, step int, b []uint8, ldb int, c []int32, ldc int, add bool) {
	var s [4][4]int32
	quads4x2[A, B](&s, 0, h, quads, a, row, step, b, ldb)
	if w > 2 {
		quads4x2[A, B](&s, 2, h, quads, a, row, step, b, ldb)
	}
	for i := range h {
		sums := c[i*ldc : i*ldc+w]
		if !add {
			clear(sums)
		}
		for j := range sums {
			sums[j] += s[i][j]
		}
	}
}

// quads4x2 sums columns at and at+1 of a 4×4 tile. Rows from h on are the last one again.
func quads4x2[A, B int8 | uint8](s *[4][4]int32, at, h, quads int, a []uint8, row, step int, b []uint8, ldb int) {
	var s00, s01, s10, s11, s20, s21, s30, s31 int32
	row1, row2, row3 := min(1, h-1)*row, min(2, h-1)*row, min(3, h-1)*row
	for q := range quads {
		a0, a1, a2, a3 := a[q*step:][:4], a[q*step+row1:][:4], a[q*step+row2:][:4], a[q*step+row3:][:4]
		b0, b1 := b[q*ldb+4*at:][:4], b[q*ldb+4*at+4:][:4]
		for e := range 4 {
			v, w := int32(B(b0[e])), int32(B(b1[e]))
			x0, x1, x2, x3 := int32(A(a0[e])), int32(A(a1[e])), int32(A(a2[e])), int32(A(a3[e]))
			s00 += x0 * v
			s01 += x0 * w
			s10 += x1 * v
			s11 += x1 * w
			s20 += x2 * v
			s21 += x2 * w
			s30 += x3 * v
			s31 += x3 * w
		}
	}
	s[0][at], s[0][at+1] = s00, s01
	s[1][at], s[1][at+1] = s10, s11
	s[2][at], s[2][at+1] = s20, s21
	s[3][at], s[3][at+1] = s30, s31
}

func interleave(dst, src []uint8, n, count, dstStep, srcStep int, flip uint8) {
	for g := range count {
		rows := src[4*g*srcStep:]
		r0, r1, r2, r3 := rows[:n], rows[srcStep:][:n], rows[2*srcStep:][:n], rows[3*srcStep:][:n]
		to := dst[g*dstStep : g*dstStep+4*n]
		for i := range r0 {
			d := to[4*i : 4*i+4 : 4*i+4]
			d[0], d[1], d[2], d[3] = r0[i]^flip, r1[i]^flip, r2[i]^flip, r3[i]^flip
		}
	}
}

func tapQuads(y []int32, x []uint8, stride int, offsets []int, weights []uint8) {
	clear(y)
	for t, at := range offsets {
		w := weights[4*t : 4*t+4]
		w0, w1, w2, w3 := int32(int8(w[0])), int32(int8(w[1])), int32(int8(w[2])), int32(int8(w[3]))
		for i := range y {
			v := x[at : at+4 : at+4]
			y[i] += w0*int32(v[0]) + w1*int32(v[1]) + w2*int32(v[2]) + w3*int32(v[3])
			at += stride
		}
	}
}

func shiftSums(s, add []int32, base int32) {
	if len(add) == 1 {
		base += add[0]
	} else {
		for i, v := range add[:len(s)] {
			s[i] += v
		}
	}
	if base != 0 {
		for i := range s {
			s[i] += base
		}
	}
}

func requantize(y []uint8, s, add []int32, base int32, scale []float32, zero int32, signed bool) {
	least, most := bounds(zero, signed)
	a, f := add[0], scale[0]
	for i, v := range s[:len(y)] {
		if len(add) > 1 {
			a = add[i]
		}
		if len(scale) > 1 {
			f = scale[i]
		}
		y[i] = roundToByte(float32(v+a+base)*f, least, most, zero)
	}
}

// roundToByte returns x, rounded to a whole number within the bounds, and zero more.
// The bounds are whole, so that saturating first is the same.
func roundToByte(x, least, most float32, zero int32) uint8 {
	switch {
	case x >= most:
		x = most
	case x > least:
		x = float32(math.RoundToEven(float64(x)))
	default: // NaN as well
		x = least
	}
	return uint8(int32(x) + zero)
}

func quantize(y []uint8, x []float32, scale float32, zero int32, signed bool) {
	least, most := bounds(zero, signed)
	for i, v := range x[:len(y)] {
		y[i] = roundToByte(v/scale, least, most, zero)
	}
}

func dequantize(y []float32, x []uint8, scale float32, zero int32, signed bool) {
	for i, v := range x[:len(y)] {
		y[i] = standsFor(v, scale, zero, signed)
	}
}

// standsFor returns the number that the byte v stands for.
func standsFor(v uint8, scale float32, zero int32, signed bool) float32 {
	n := int32(v)
	if signed {
		n = int32(int8(v))
	}
	return float32(float32(n-zero) * scale)
}

func addQuantized(y, a, b []uint8, scaleA, scaleB, scaleY float32, zeroA, zeroB, zeroY int32, signed bool) {
	least, most := bounds(zeroY, signed)
	for i, v := range a[:len(y)] {
		sum := standsFor(v, scaleA, zeroA, signed) + standsFor(b[i], scaleB, zeroB, signed)
		y[i] = roundToByte(sum/scaleY, least, most, zeroY)
	}
}

// bounds returns the extreme numbers of int8 or uint8, less zero.
func bounds(zero int32, signed bool) (least, most float32) {
	least = float32(-zero)
	if signed {
		least += math.MinInt8
	}
	return least, least + math.MaxUint8
}

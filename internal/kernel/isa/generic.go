package isa

import "github.com/berth-go/berth/internal/kernel"

// Generic is the portable set. Each multiplication is rounded before it is
// added, on every processor: the conversions forbid fused multiply-adds.
var Generic = Loops{
	Name:     "generic",
	Float32:  genericTile[float32](),
	Float64:  genericTile[float64](),
	Winograd: genericWinograd,
	Exp:      exp,
	ExpShift: expShift,
}

// TileOf returns the loops of the active set for T, and the portable ones for
// integers.
func TileOf[T kernel.Number]() Tile[T] {
	for _, of := range [...]any{active.Float32, active.Float64} {
		if t, ok := of.(Tile[T]); ok {
			return t
		}
	}
	return genericTile[T]()
}

func genericTile[T kernel.Number]() Tile[T] {
	return Tile[T]{Rows: 4, Cols: 4, Mul: mulTile4x4[T], Spread: spreadLanes[T], TapSum: sumTaps[T]}
}

func mulTile4x4[T kernel.Number](h, w, k int, a, b []T, ldb int, c []T, ldc int, add bool) {
	for from := 0; from < k; from += Chain {
		n := min(Chain, k-from)
		a, b := a[4*from:], b[from*ldb:]
		var s [4][4]T
		half4x2(&s, 0, n, a, b, ldb)
		if w > 2 {
			half4x2(&s, 2, n, a, b[2:], ldb)
		}
		for i := range min(h, 4) {
			row := c[i*ldc : i*ldc+w]
			sums := s[i][:w]
			if add || from > 0 {
				for j, v := range sums {
					row[j] += v
				}
			} else {
				copy(row, sums)
			}
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
		s00 += T(a0 * b0)
		s01 += T(a0 * b1)
		s10 += T(a1 * b0)
		s11 += T(a1 * b1)
		s20 += T(a2 * b0)
		s21 += T(a2 * b1)
		s30 += T(a3 * b0)
		s31 += T(a3 * b1)
		a = a[4:]
	}
	s[0][at], s[0][at+1] = s00, s01
	s[1][at], s[1][at+1] = s10, s11
	s[2][at], s[2][at+1] = s20, s21
	s[3][at], s[3][at+1] = s30, s31
}

func spreadLanes[T kernel.Number](dst, src []T, count, dstStep, srcStep, a, b, n int) {
	for r := range count {
		to, from := dst[r*dstStep:r*dstStep+n], src[r*srcStep:r*srcStep+b-a]
		for i := range a {
			to[i] = 0
		}
		for i, v := range from {
			to[a+i] = v
		}
		for i := b; i < n; i++ {
			to[i] = 0
		}
	}
}

func sumTaps[T kernel.Number](y, x []T, offsets []int, weights []T, add bool) {
	for len(y) > 0 {
		var buf [256]T
		sums := buf[:min(len(y), len(buf))]
		for t, at := range offsets {
			w := weights[t]
			for i, v := range x[at : at+len(sums)] {
				sums[i] += T(w * v)
			}
		}
		if add {
			for i, s := range sums {
				y[i] += s
			}
		} else {
			copy(y, sums)
		}
		y, x = y[len(sums):], x[len(sums):]
	}
}

package isa

import "github.com/berth-go/berth/internal/kernel"

func mulTaps4x4[T kernel.Number](h, w int, a, b []T, taps Taps, c []T, ldc int, add bool) {
	for from := 0; from < taps.Len(); from += Chain {
		offsets := taps.offsets[from:min(from+Chain, taps.Len())]
		a := a[4*from : 4*(from+len(offsets))]
		var s [4][4]T
		taps4x2(&s, 0, a, b, offsets)
		if w > 2 {
			taps4x2(&s, 2, a, b[2:], offsets)
		}
		addTile(c, &s, h, w, ldc, add || from > 0)
	}
}

// taps4x2 is half4x2 of rows that begin at the offsets.
func taps4x2[T kernel.Number](s *[4][4]T, at int, a, b []T, offsets []int) {
	var s00, s01, s10, s11, s20, s21, s30, s31 T
	for p, t := range offsets {
		bp := b[t : t+2 : t+2]
		b0, b1 := bp[0], bp[1]
		ap := a[4*p : 4*p+4 : 4*p+4]
		a0, a1, a2, a3 := ap[0], ap[1], ap[2], ap[3]
		s00 += T(a0 * b0)
		s01 += T(a0 * b1)
		s10 += T(a1 * b0)
		s11 += T(a1 * b1)
		s20 += T(a2 * b0)
		s21 += T(a2 * b1)
		s30 += T(a3 * b0)
		s31 += T(a3 * b1)
	}
	s[0][at], s[0][at+1] = s00, s01
	s[1][at], s[1][at+1] = s10, s11
	s[2][at], s[2][at+1] = s20, s21
	s[3][at], s[3][at+1] = s30, s31
}

func pickEvens[T kernel.Number](dst, src []T, count, dstStep, srcStep, n int) {
	for r := range count {
		to, from := dst[r*dstStep:r*dstStep+n], src[r*srcStep:r*srcStep+2*n-1]
		for i := range to {
			to[i] = from[2*i]
		}
	}
}

func mulWindows4x4[T kernel.Number](h, tiles, w int, left []T, row int, taps Taps, strip Strips[T], bias, c []T, ldc int, add bool) {
	for t := range tiles {
		mulWindowTile4x4(h, w, left[t*h*row:], row, taps, strip, bias, c[t*h*ldc:], ldc, add)
	}
}

func mulWindowTile4x4[T kernel.Number](h, w int, left []T, row int, taps Taps, strip Strips[T], bias, c []T, ldc int, add bool) {
	// Rows that are not there stand for the last one that is.
	var rows [4][]T
	for i := range rows {
		rows[i] = left[min(i, h-1)*row:]
	}
	for from := 0; from < taps.Len(); from += Chain {
		offsets := taps.offsets[from:min(from+Chain, taps.Len())]
		b := strip.Data[4*from : 4*(from+len(offsets))]
		var s [4][4]T
		windows4x2(&s, 0, &rows, b, offsets)
		if w > 2 {
			windows4x2(&s, 2, &rows, b, offsets)
		}
		addTile(c, &s, h, w, ldc, add || from > 0)
	}
	if len(bias) > 0 {
		for i := range h {
			for j, v := range bias[:w] {
				c[i*ldc+j] += v
			}
		}
	}
}

// windows4x2 is half4x2 of rows whose columns are at the offsets.
func windows4x2[T kernel.Number](s *[4][4]T, at int, rows *[4][]T, b []T, offsets []int) {
	var s00, s01, s10, s11, s20, s21, s30, s31 T
	r0, r1, r2, r3 := rows[0], rows[1], rows[2], rows[3]
	for p, t := range offsets {
		bp := b[4*p+at : 4*p+at+2 : 4*p+at+2]
		b0, b1 := bp[0], bp[1]
		a0, a1, a2, a3 := r0[t], r1[t], r2[t], r3[t]
		s00 += T(a0 * b0)
		s01 += T(a0 * b1)
		s10 += T(a1 * b0)
		s11 += T(a1 * b1)
		s20 += T(a2 * b0)
		s21 += T(a2 * b1)
		s30 += T(a3 * b0)
		s31 += T(a3 * b1)
	}
	s[0][at], s[0][at+1] = s00, s01
	s[1][at], s[1][at+1] = s10, s11
	s[2][at], s[2][at+1] = s20, s21
	s[3][at], s[3][at+1] = s30, s31
}

package isa

import "github.com/berth-go/berth/internal/kernel"

func tapRows[T kernel.Number](y []T, ldy, rows, n int, x []T, step int, offsets []int, weights, bias []T, add bool) {
	for r := range rows {
		to, from := y[r*ldy:r*ldy+n], x[r*step:]
		for len(to) > 0 {
			var buf [256]T
			sums := buf[:min(len(to), len(buf))]
			for t, at := range offsets {
				w := weights[t]
				for i, v := range from[at : at+len(sums)] {
					sums[i] += T(w * v)
				}
			}
			if add {
				for i, s := range sums {
					to[i] += s
				}
			} else {
				copy(to, sums)
			}
			to, from = to[len(sums):], from[len(sums):]
		}
		for _, b := range bias {
			for i := range y[r*ldy : r*ldy+n] {
				y[r*ldy+i] += b
			}
		}
	}
}

func tap3x3[T kernel.Number](y []T, ldy, rows, n int, x []T, pitch, step int, offsets *[3]int, weights, bias []T) {
	var taps [9]int
	for t := range taps {
		taps[t] = t/3*pitch + offsets[t%3]
	}
	tapRows(y, ldy, rows, n, x, step*pitch, taps[:], weights, bias, false)
}

func copyRows[T any](dst, src []T, rows, dstStep, srcStep, n int) {
	for r := range rows {
		copy(dst[r*dstStep:r*dstStep+n], src[r*srcStep:r*srcStep+n])
	}
}

func split[T any](even, odd, x []T, rows, dstStep, srcStep, n int) {
	for r := range rows {
		from := x[r*srcStep : r*srcStep+n]
		for i := 0; i < n; i += 2 {
			even[r*dstStep+i/2] = from[i]
		}
		for i := 1; i < n; i += 2 {
			odd[r*dstStep+i/2] = from[i]
		}
	}
}

func maxRows[T kernel.Number](y []T, ldy, rows, n int, x []T, step int, offsets []int) {
	for r := range rows {
		to, from := y[r*ldy:r*ldy+n], x[r*step:]
		copy(to, from[offsets[0]:])
		for _, at := range offsets[1:] {
			for i, v := range from[at : at+n] {
				if m := to[i]; v > m || v != v && m == m {
					to[i] = v
				}
			}
		}
	}
}

func meanRow[T kernel.Number](y, x []T, offsets []int, counts []float64, lines float64) {
	for len(y) > 0 {
		var buf [256]float64
		sums := buf[:min(len(y), len(buf))]
		for _, at := range offsets {
			for i, v := range x[at : at+len(sums)] {
				sums[i] += float64(v)
			}
		}
		for i, s := range sums {
			y[i] = T(s / (counts[i] * lines))
		}
		y, x, counts = y[len(sums):], x[len(sums):], counts[len(sums):]
	}
}

package isa

import "github.com/berth-go/berth/internal/kernel"

// each calls do with each plane and row, and where that begins in y and in x.
func (g *Grid) each(do func(plane, row, y, x int)) {
	for p := range g.Planes {
		for r := range g.Rows {
			do(p, r, p*g.PlaneY+r*g.RowY, p*g.PlaneX+r*g.RowX)
		}
	}
}

func tapRows[T kernel.Number](y, x []T, g *Grid, offsets []int, weights []T, planeW int, bias []T, add bool) {
	g.each(func(plane, _, atY, atX int) {
		to, from := y[atY:atY+g.Cols], x[atX:]
		for len(to) > 0 {
			var buf [256]T
			sums := buf[:min(len(to), len(buf))]
			for t, at := range offsets {
				w := weights[plane*planeW+t]
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
		if len(bias) > 0 {
			for i := range g.Cols {
				y[atY+i] += bias[plane]
			}
		}
	})
}

func tap3x3[T kernel.Number](y, x []T, g *Grid, pitch, _ int, offsets *[3]int, weights, bias []T) {
	taps := taps3x3(pitch, offsets)
	tapRows(y, x, g, taps[:], weights, len(taps), bias, false)
}

// taps3x3 returns the offsets of the taps of [Tile.Tap3x3].
func taps3x3(pitch int, offsets *[3]int) (taps [9]int) {
	for t := range taps {
		taps[t] = t/3*pitch + offsets[t%3]
	}
	return taps
}

func copyRows[T any](y, x []T, g *Grid) {
	g.each(func(_, _, atY, atX int) { copy(y[atY:atY+g.Cols], x[atX:atX+g.Cols]) })
}

func split[T any](even, odd, x []T, g *Grid) {
	g.each(func(_, _, atY, atX int) {
		from := x[atX : atX+g.Cols]
		for i := 0; i < len(from); i += 2 {
			even[atY+i/2] = from[i]
		}
		for i := 1; i < len(from); i += 2 {
			odd[atY+i/2] = from[i]
		}
	})
}

func maxRows[T kernel.Number](y, x []T, g *Grid, offsets []int) {
	g.each(func(_, _, atY, atX int) {
		to, from := y[atY:atY+g.Cols], x[atX:]
		copy(to, from[offsets[0]:])
		for _, at := range offsets[1:] {
			for i, v := range from[at : at+len(to)] {
				if m := to[i]; v > m || v != v && m == m {
					to[i] = v
				}
			}
		}
	})
}

func meanRows[T kernel.Number](y, x []T, g *Grid, offsets []int, counts, lines []float64) {
	g.each(func(_, row, atY, atX int) {
		to, from, counts := y[atY:atY+g.Cols], x[atX:], counts
		for len(to) > 0 {
			var buf [256]float64
			sums := buf[:min(len(to), len(buf))]
			for _, at := range offsets {
				for i, v := range from[at : at+len(sums)] {
					sums[i] += float64(v)
				}
			}
			for i, s := range sums {
				to[i] = T(s / (counts[i] * lines[row]))
			}
			to, from, counts = to[len(sums):], from[len(sums):], counts[len(sums):]
		}
	})
}

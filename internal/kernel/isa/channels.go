package isa

import (
	"math"

	"github.com/berth-go/berth/internal/kernel"
)

// Channels are the loops of a [Tile] over images with their channels last. The planes of a
// grid are rows of positions, its rows positions, and its columns channels. For each tap of
// each plane there is an offset, which is below 0 where that is padding:
//
//	taps := len(offsets) / Planes
//	tap(p, r, t, i) = x[atX+p*PlaneX+r*RowX+offsets[p*taps+t]+i]
//
// Planes and rows may follow one another in any direction.
type Channels[T any] struct {
	// LastTaps is, for each p, r and i of the grid, where a tap in the padding is 0,
	//
	//	s := 0; for t { s += weights[t*pitch+i] * tap(p, r, t, i) }
	//	y[atY+p*PlaneY+r*RowY+i] += s	// or = s, where add is false
	//	y[atY+p*PlaneY+r*RowY+i] += bias[i]	// unless bias is empty
	LastTaps func(y []T, atY int, x []T, atX int, g *Grid, offsets []int, weights []T, pitch int, bias []T, add bool)
	// LastLines is LastTaps, without add, of up to [Chain] taps in lines of 3 or 5 taps. There
	// are offsets of the first tap of each line; the others follow, within elements apart. RowX
	// is once or twice as much.
	LastLines func(y []T, atY int, x []T, atX int, g *Grid, offsets []int, taps, within int, weights []T, pitch int, bias []T)
	// LastMax is, for each p, r and i of the grid,
	//
	//	m := the lowest value; for t not in the padding { v := tap(p, r, t, i); if v > m { m = v } }
	//	y[atY+p*PlaneY+r*RowY+i] = m // NaN if there was one
	LastMax func(y []T, atY int, x []T, atX int, g *Grid, offsets []int)
	// LastMean is, for each p, r and i of the grid,
	//
	//	s := 0.0; for t not in the padding { s += float64(tap(p, r, t, i)) }
	//	y[atY+p*PlaneY+r*RowY+i] = T(s / (counts[r]*lines[p]))
	LastMean func(y []T, atY int, x []T, atX int, g *Grid, offsets []int, counts, lines []float64)
	// LastPlane is, for each i < len(y),
	//
	//	var s [4]float64; for p < positions { s[k] += float64(x[p*step+i]) }
	//	y[i] = T(((s[0] + s[1]) + (s[2] + s[3])) / positions)
	//
	// where k is p%4, and 0 for what is left of p after the last whole four.
	LastPlane func(y, x []T, positions, step int)
}

func genericChannels[T kernel.Number]() Channels[T] {
	return Channels[T]{LastTaps: lastTaps[T], LastLines: lastLines[T], LastMax: lastMax[T], LastMean: lastMean[T], LastPlane: lastPlane[T]}
}

func lastTaps[T kernel.Number](y []T, atY int, x []T, atX int, g *Grid, offsets []int, weights []T, pitch int, bias []T, add bool) {
	taps := len(offsets) / g.Planes
	g.each(func(plane, _, toY, fromX int) {
		to := y[atY+toY:][:g.Cols]
		for from := 0; from < len(to); from += 256 {
			var buf [256]T
			sums := buf[:min(len(to)-from, len(buf))]
			for t, offset := range offsets[plane*taps:][:taps] {
				w := weights[t*pitch+from:][:len(sums)]
				if offset < 0 {
					for i, w := range w {
						sums[i] += T(w * 0)
					}
					continue
				}
				for i, v := range x[atX+fromX+offset+from:][:len(sums)] {
					sums[i] += T(w[i] * v)
				}
			}
			for i, s := range sums {
				if add {
					s += to[from+i]
				}
				if len(bias) > 0 {
					s += bias[from+i]
				}
				to[from+i] = s
			}
		}
	})
}

func lastLines[T kernel.Number](y []T, atY int, x []T, atX int, g *Grid, offsets []int, taps, within int, weights []T, pitch int, bias []T) {
	lines, one := len(offsets)/g.Planes, *g
	one.Planes = 1
	back := min((taps-1)*within, 0) // what taps behind the first of a line are at
	for p := range g.Planes {
		var all [Chain]int
		for i := range lines * taps {
			all[i] = offsets[p*lines+i/taps]
			if all[i] >= 0 {
				all[i] += i%taps*within - back
			}
		}
		lastTaps(y, atY+p*g.PlaneY, x, atX+back+p*g.PlaneX, &one, all[:lines*taps], weights, pitch, bias, false)
	}
}

func lastMax[T kernel.Number](y []T, atY int, x []T, atX int, g *Grid, offsets []int) {
	taps, lowest := len(offsets)/g.Planes, lowestOf[T]()
	g.each(func(plane, _, toY, fromX int) {
		to := y[atY+toY:][:g.Cols]
		kernel.Fill(to, lowest)
		for _, offset := range offsets[plane*taps:][:taps] {
			if offset < 0 {
				continue
			}
			for i, v := range x[atX+fromX+offset:][:len(to)] {
				if m := to[i]; v > m || v != v && m == m {
					to[i] = v
				}
			}
		}
	})
}

// lowestOf returns the lowest value of a type.
func lowestOf[T kernel.Number]() T {
	var zero T
	if T(1)/2 != 0 {
		return T(math.Inf(-1))
	}
	if zero-1 > zero {
		return zero
	}
	low := T(1)
	for low > 0 {
		low *= 2 // which wraps
	}
	return low
}

func lastMean[T kernel.Number](y []T, atY int, x []T, atX int, g *Grid, offsets []int, counts, lines []float64) {
	taps := len(offsets) / g.Planes
	g.each(func(plane, row, toY, fromX int) {
		to := y[atY+toY:][:g.Cols]
		for i := range to {
			sum := 0.0
			for _, offset := range offsets[plane*taps:][:taps] {
				if offset >= 0 {
					sum += float64(x[atX+fromX+offset+i])
				}
			}
			to[i] = T(sum / (counts[row] * lines[plane]))
		}
	})
}

func lastPlane[T kernel.Number](y, x []T, positions, step int) {
	for i := range y {
		var s [4]float64
		for p := range positions {
			k := p % 4
			if p >= positions&^3 {
				k = 0
			}
			s[k] += float64(x[p*step+i])
		}
		y[i] = T(((s[0] + s[1]) + (s[2] + s[3])) / float64(positions))
	}
}

// channelLoops are those of [Channels] in assembly, as [tapLoops] are.
type channelLoops[T kernel.Number] struct {
	taps           func(y, x *T, g *Grid, offsets *int, weights *T, taps, pitch int, bias *T, add bool, atX int)
	lines3, lines5 func(y, x *T, g *Grid, offsets *int, weights *T, lines, pitch int, bias *T, within, step, atX int)
	max            func(y, x *T, g *Grid, offsets *int, atX, taps int)
	mean           func(y, x *T, g *Grid, offsets *int, atX, taps int, counts, lines *float64)
	plane          func(y, x *T, channels, positions, step int)
}

// checked returns the loops, which read and write what slices hold alone.
func (l channelLoops[T]) checked() Channels[T] {
	return Channels[T]{
		LastTaps: func(y []T, atY int, x []T, atX int, g *Grid, offsets []int, weights []T, pitch int, bias []T, add bool) {
			if g.Planes <= 0 || g.Rows <= 0 || g.Cols <= 0 {
				return
			}
			taps := len(offsets) / g.Planes
			checkTapped(y, atY, x, atX, g, offsets, 0)
			checkWeights(g.Cols, taps, weights, pitch, bias)
			l.taps(&y[atY], first(x), g, &offsets[0], &weights[0], taps, pitch, first(bias), add, atX)
		},
		LastLines: func(y []T, atY int, x []T, atX int, g *Grid, offsets []int, taps, within int, weights []T, pitch int, bias []T) {
			if g.Planes <= 0 || g.Rows <= 0 || g.Cols <= 0 {
				return
			}
			step, loop := 1, l.lines3
			if g.RowX != within {
				step = 2
			}
			if taps == 5 {
				loop = l.lines5
			}
			lines := len(offsets) / g.Planes
			if taps != 3 && taps != 5 || lines*taps > Chain || g.RowX != step*within {
				panic("isa: lines out of range")
			}
			checkTapped(y, atY, x, atX, g, offsets, (taps-1)*within)
			checkWeights(g.Cols, lines*taps, weights, pitch, bias)
			loop(&y[atY], first(x), g, &offsets[0], &weights[0], lines, pitch, first(bias), within, step, atX)
		},
		LastMax: func(y []T, atY int, x []T, atX int, g *Grid, offsets []int) {
			if g.Planes <= 0 || g.Rows <= 0 || g.Cols <= 0 {
				return
			}
			checkTapped(y, atY, x, atX, g, offsets, 0)
			l.max(&y[atY], first(x), g, &offsets[0], atX, len(offsets)/g.Planes)
		},
		LastMean: func(y []T, atY int, x []T, atX int, g *Grid, offsets []int, counts, lines []float64) {
			if g.Planes <= 0 || g.Rows <= 0 || g.Cols <= 0 {
				return
			}
			checkTapped(y, atY, x, atX, g, offsets, 0)
			_, _ = counts[g.Rows-1], lines[g.Planes-1]
			l.mean(&y[atY], first(x), g, &offsets[0], atX, len(offsets)/g.Planes, &counts[0], &lines[0])
		},
		LastPlane: func(y, x []T, positions, step int) {
			if positions <= 0 || step < 0 {
				panic("isa: plane out of range")
			}
			if len(y) > 0 {
				_ = x[(positions-1)*step+len(y)-1]
				l.plane(&y[0], &x[0], len(y), positions, step)
			}
		},
	}
}

// checkTapped panics unless y and x hold what the grid writes and reads. A tap reads as far as
// beyond elements on.
func checkTapped[T any](y []T, atY int, x []T, atX int, g *Grid, offsets []int, beyond int) {
	taps := len(offsets) / g.Planes
	if taps == 0 || len(offsets) != g.Planes*taps {
		panic("isa: taps out of range")
	}
	low, high := reach(g.PlaneY*(g.Planes-1), g.RowY*(g.Rows-1))
	_, _ = y[atY+low], y[atY+high+g.Cols-1]
	low, high = reach(g.RowX*(g.Rows-1), beyond)
	for i, offset := range offsets {
		if offset >= 0 {
			offset += atX + i/taps*g.PlaneX
			_, _ = x[offset+low], x[offset+high+g.Cols-1]
		}
	}
}

// reach returns how far two steps, in any directions, lead back and forth.
func reach(a, b int) (low, high int) { return min(a, 0) + min(b, 0), max(a, 0) + max(b, 0) }

// checkWeights panics unless weights and bias hold those of so many channels and taps.
func checkWeights[T any](channels, taps int, weights []T, pitch int, bias []T) {
	_, _ = weights[channels-1], weights[(taps-1)*pitch+channels-1]
	if pitch < 0 || len(bias) > 0 && len(bias) < channels {
		panic("isa: weights out of range")
	}
}

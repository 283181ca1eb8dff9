package isa

import "github.com/berth-go/berth/internal/kernel"

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
}

func genericChannels[T kernel.Number]() Channels[T] {
	return Channels[T]{LastTaps: lastTaps[T], LastLines: lastLines[T]}
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

// channelLoops are those of [Channels] in assembly, as [tapLoops] are.
type channelLoops[T kernel.Number] struct {
	taps           func(y, x *T, g *Grid, offsets *int, weights *T, taps, pitch int, bias *T, add bool, atX int)
	lines3, lines5 func(y, x *T, g *Grid, offsets *int, weights *T, lines, pitch int, bias *T, within, step, atX int)
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

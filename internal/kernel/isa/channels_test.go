package isa

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/internal/kernel"
)

// TestChannels: the loops over images with their channels last equal the plain loops that
// they state, in any direction, and read and write nothing else. Elements are small integers,
// so that no set rounds.
func TestChannels(t *testing.T) {
	for _, s := range Sets() {
		testChannels(t, s.Name, s.Float32)
		testChannels(t, s.Name, s.Float64)
	}
}

func testChannels[T kernel.Float](t *testing.T, name string, tile Tile[T]) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 8))
	some := func(n int) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = T(rng.IntN(9) - 4)
		}
		return x[:n:n]
	}
	for range 1000 {
		c := someChannels(rng)
		g, taps, within, lines := c.Grid, 1, 0, rng.IntN(2) == 0
		if lines {
			taps, within = 3+2*rng.IntN(2), rng.IntN(60)-20
			g.RowX = (1 + rng.IntN(2)) * within
		}
		each := 1 + rng.IntN(4) // offsets of a plane
		offsets := make([]int, each*g.Planes)
		for i := range offsets {
			offsets[i] = rng.IntN(60) - 10
		}
		// tap is where a tap meets the first channel of a position, unless that is padding.
		tap := func(p, r, t int) (at int, inside bool) {
			o := offsets[p*each+t/taps]
			return o + p*g.PlaneX + r*g.RowX + t%taps*within, o >= 0
		}
		low, high := 0, 0
		for p := range g.Planes {
			for t := range each * taps {
				for _, r := range []int{0, g.Rows - 1} {
					if at, inside := tap(p, r, t); inside {
						low, high = min(low, at), max(high, at)
					}
				}
			}
		}
		atX := -low
		x, y := some(high-low+g.Cols), some(c.sizeY)
		add, pitch := !lines && rng.IntN(2) == 0, g.Cols+rng.IntN(3)
		weights, bias := some((each*taps-1)*pitch+g.Cols), some(g.Cols*rng.IntN(2))
		want := slices.Clone(y)
		for p := range g.Planes {
			for r := range g.Rows {
				for i := range g.Cols {
					at := c.atY + p*g.PlaneY + r*g.RowY + i
					var sum T
					if add {
						sum = y[at]
					}
					for t := range each * taps {
						if from, inside := tap(p, r, t); inside {
							sum += weights[t*pitch+i] * x[atX+from+i]
						}
					}
					if len(bias) > 0 {
						sum += bias[i]
					}
					want[at] = sum
				}
			}
		}
		if lines {
			tile.LastLines(y, c.atY, x, atX, &g, offsets, taps, within, weights, pitch, bias)
		} else {
			tile.LastTaps(y, c.atY, x, atX, &g, offsets, weights, pitch, bias, add)
		}
		if !slices.Equal(y, want) {
			t.Fatalf("%s, %T: %+v, %d taps in lines of %d: %v, want %v", name, y, g, each*taps, taps, y, want)
		}
		if lines {
			continue
		}

		counts, divisors := make([]float64, g.Rows), make([]float64, g.Planes)
		for _, list := range [][]float64{counts, divisors} {
			for i := range list {
				list[i] = float64(1 + rng.IntN(4))
			}
		}
		for i := range x {
			if rng.IntN(30) == 0 {
				x[i] = T(math.NaN())
			}
		}
		maxima := slices.Clone(y)
		copy(want, y)
		wantMaxima := slices.Clone(want)
		for p := range g.Planes {
			for r := range g.Rows {
				for i := range g.Cols {
					m, sum := T(math.Inf(-1)), 0.0
					for t := range each {
						if from, inside := tap(p, r, t); inside {
							v := x[atX+from+i]
							if v > m || v != v {
								m = v
							}
							sum += float64(v)
						}
					}
					at := c.atY + p*g.PlaneY + r*g.RowY + i
					wantMaxima[at], want[at] = m, T(sum/(counts[r]*divisors[p]))
				}
			}
		}
		tile.LastMax(maxima, c.atY, x, atX, &g, offsets)
		tile.LastMean(y, c.atY, x, atX, &g, offsets, counts, divisors)
		for i := range y {
			if !equalOrNaN(maxima[i], wantMaxima[i]) || !equalOrNaN(y[i], want[i]) {
				t.Fatalf("%s, %T: %+v, %d taps: element %d has the maximum %v and the mean %v, want %v and %v",
					name, y, g, each, i, maxima[i], y[i], wantMaxima[i], want[i])
			}
		}
	}
}

// equalOrNaN reports whether two elements are equal, or both NaN.
func equalOrNaN[T kernel.Float](a, b T) bool { return a == b || a != a && b != b }

// TestPlaneMeans: the means of planes with channels last are the sums of the portable set, to the
// last bit.
func TestPlaneMeans(t *testing.T) {
	for _, s := range Sets() {
		testPlaneMeans(t, s.Name, s.Float32)
		testPlaneMeans(t, s.Name, s.Float64)
	}
}

func testPlaneMeans[T kernel.Float](t *testing.T, name string, tile Tile[T]) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 10))
	for channels := range 80 {
		positions, step := 1+rng.IntN(40), channels+rng.IntN(3)
		x := make([]T, (positions-1)*step+channels)
		for i := range x {
			x[i] = T(rng.NormFloat64())
		}
		y, want := make([]T, channels), make([]T, channels)
		lastPlane(want, x, positions, step)
		tile.LastPlane(y, x, positions, step)
		if !slices.Equal(y, want) {
			t.Fatalf("%s, %T, %d channels, %d positions: %v, want %v", name, y, channels, positions, y, want)
		}
	}
}

// someGrid is a grid, and where its first position is in sizeY elements of y.
type someGrid struct {
	Grid
	atY, sizeY int
}

// someChannels returns a random grid whose positions in y have no element in common.
func someChannels(rng *rand.Rand) someGrid {
	g := someGrid{Grid: Grid{Planes: 1 + rng.IntN(3), Rows: 1 + rng.IntN(20), Cols: 1 + rng.IntN(70)}}
	g.RowY, g.RowX, g.PlaneX = g.Cols+rng.IntN(3), rng.IntN(80)-20, rng.IntN(80)-20
	g.PlaneY = g.Rows*g.RowY + rng.IntN(3)
	g.sizeY = g.Planes*g.PlaneY + 8
	if rng.IntN(3) == 0 {
		g.atY, g.RowY = g.atY+(g.Rows-1)*g.RowY, -g.RowY
	}
	if rng.IntN(3) == 0 {
		g.atY, g.PlaneY = g.atY+(g.Planes-1)*g.PlaneY, -g.PlaneY
	}
	return g
}

// TestChannelRounding: taps of channels have the roundings of taps of rows, with a plane and a
// weight for each channel, in lines and not.
func TestChannelRounding(t *testing.T) {
	for _, s := range Sets() {
		testChannelRounding(t, s.Name, s.Float32)
		testChannelRounding(t, s.Name, s.Float64)
	}
}

func testChannelRounding[T kernel.Float](t *testing.T, name string, tile Tile[T]) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 9))
	normal := func(n int) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = T(rng.NormFloat64())
		}
		return x
	}
	for channels := 1; channels < 70; channels++ {
		const positions = 11
		taps := 3 + 2*rng.IntN(2)
		x, weights, bias := normal((positions+taps)*channels), normal(taps*channels), normal(channels)
		inRows := make([]T, positions*channels)
		for c := range channels {
			line, w := make([]T, positions+taps), make([]T, taps)
			for i := range line {
				line[i] = x[i*channels+c]
			}
			offsets := make([]int, taps)
			for i := range w {
				w[i], offsets[i] = weights[i*channels+c], i
			}
			out := make([]T, positions)
			tile.TapRows(out, line, &Grid{Planes: 1, Rows: 1, Cols: positions}, offsets, w, 0, bias[c:c+1], false)
			for i, v := range out {
				inRows[i*channels+c] = v
			}
		}
		g := Grid{Planes: 1, Rows: positions, Cols: channels, RowY: channels, RowX: channels}
		offsets := make([]int, taps)
		for i := range offsets {
			offsets[i] = i * channels
		}
		any, lines := make([]T, positions*channels), make([]T, positions*channels)
		tile.LastTaps(any, 0, x, 0, &g, offsets, weights, channels, bias, false)
		tile.LastLines(lines, 0, x, 0, &g, offsets[:1], taps, channels, weights, channels, bias)
		if !slices.Equal(any, inRows) || !slices.Equal(lines, inRows) {
			t.Fatalf("%s, %T, %d channels, %d taps: rows give %v, channels %v, and lines %v", name, x, channels, taps, inRows, any, lines)
		}
	}
}

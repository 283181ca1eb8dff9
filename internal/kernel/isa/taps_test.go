package isa

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/internal/kernel"
)

// TestTaps: the loops of depthwise convolutions equal the plain loops that they
// state, and read and write nothing else. Elements are small integers, so that no
// set rounds.
func TestTaps(t *testing.T) {
	for _, s := range Sets() {
		testTaps(t, s.Name, s.Float32)
		testTaps(t, s.Name, s.Float64)
	}
}

func testTaps[T kernel.Float](t *testing.T, name string, tile Tile[T]) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 6))
	some := func(n int) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = T(rng.IntN(9) - 4)
		}
		return x[:n:n]
	}
	check := func(what string, got, want []T, args ...int) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Fatalf("%s, %T: %s %v gives %v, want %v", name, got, what, args, got, want)
		}
	}
	for range 1000 {
		g := Grid{Planes: rng.IntN(4), Rows: rng.IntN(12), Cols: rng.IntN(40)}
		if rng.IntN(8) == 0 {
			g.Cols += rng.IntN(300)
		}
		g.RowY, g.RowX = g.Cols+rng.IntN(3), rng.IntN(g.Cols+3)
		g.PlaneY, g.PlaneX = g.Rows*g.RowY+rng.IntN(3), rng.IntN(400)
		offsets, add := make([]int, 1+rng.IntN(12)), rng.IntN(2) == 0
		for i := range offsets {
			offsets[i] = rng.IntN(50)
		}
		planeW := len(offsets) + rng.IntN(3)
		weights, bias := some(g.Planes*planeW), some(g.Planes*rng.IntN(2))
		x := func(behind int) []T { // no longer than what may be read
			return some(max((g.Planes-1)*g.PlaneX, 0) + max((g.Rows-1)*g.RowX, 0) + g.Cols + behind)
		}
		y := some(g.Planes*g.PlaneY + 8)
		want := slices.Clone(y)
		sum := func(x, weights []T, offsets []int, planeW int, add bool) {
			copy(want, y)
			g.each(func(plane, _, atY, atX int) {
				for i := range g.Cols {
					var sum T
					for t, at := range offsets {
						sum += weights[plane*planeW+t] * x[atX+at+i]
					}
					if add {
						sum += want[atY+i]
					}
					if len(bias) > 0 {
						sum += bias[plane]
					}
					want[atY+i] = sum
				}
			})
		}
		image := x(slices.Max(offsets))
		sum(image, weights, offsets, planeW, add)
		tile.TapRows(y, image, &g, offsets, weights, planeW, bias, add)
		check("rows of taps", y, want, g.Planes, g.Rows, g.Cols, len(offsets), len(bias))

		image = x(slices.Max(offsets))
		for i := range image {
			if rng.IntN(30) == 0 {
				image[i] = T(math.NaN())
			}
		}
		copy(want, y)
		g.each(func(_, _, atY, atX int) {
			for i := range g.Cols {
				m := T(math.Inf(-1))
				for _, at := range offsets {
					if v := image[atX+at+i]; v > m || v != v {
						m = v
					}
				}
				want[atY+i] = m
			}
		})
		got := slices.Clone(y)
		tile.MaxRows(got, image, &g, offsets)
		for i := range got {
			if got[i] != want[i] && (got[i] == got[i] || want[i] == want[i]) {
				t.Fatalf("%s, %T: maxima of %+v: %v, want %v", name, got, g, got, want)
			}
		}

		image = x(slices.Max(offsets))
		counts, lines := make([]float64, g.Cols), make([]float64, g.Rows)
		for _, divisors := range [][]float64{counts, lines} {
			for i := range divisors {
				divisors[i] = float64(1 + rng.IntN(4))
			}
		}
		copy(want, y)
		g.each(func(_, row, atY, atX int) {
			for i := range g.Cols {
				sum := 0.0
				for _, at := range offsets {
					sum += float64(image[atX+at+i])
				}
				want[atY+i] = T(sum / (counts[i] * lines[row]))
			}
		})
		tile.MeanRows(y, image, &g, offsets, counts, lines)
		check("means", y, want, g.Planes, g.Rows, g.Cols, len(offsets))

		image = x(0)
		copy(want, y)
		even, odd := some(len(y)), some(len(y))
		wantEven, wantOdd := slices.Clone(even), slices.Clone(odd)
		g.each(func(_, _, atY, atX int) {
			copy(want[atY:], image[atX:atX+g.Cols])
			for i := range g.Cols {
				to := wantEven
				if i%2 == 1 {
					to = wantOdd
				}
				to[atY+i/2] = image[atX+i]
			}
		})
		tile.CopyRows(y, image, &g)
		check("copied rows", y, want, g.Planes, g.Rows, g.Cols)
		tile.Split(even, odd, image, &g)
		check("even elements", even, wantEven, g.Planes, g.Rows, g.Cols)
		check("odd elements", odd, wantOdd, g.Planes, g.Rows, g.Cols)

		step, pitch := 1+rng.IntN(2), rng.IntN(g.Cols+3)
		g.RowX = step * pitch
		columns := [3]int{rng.IntN(40), rng.IntN(40), rng.IntN(40)}
		var all [9]int
		for i := range all {
			all[i] = i/3*pitch + columns[i%3]
		}
		image, weights = x(2*pitch+slices.Max(columns[:])+tile.Cols), some(9*g.Planes)
		sum(image, weights, all[:], 9, false)
		tile.Tap3x3(y, image, &g, pitch, step, &columns, weights, bias)
		check("3x3 taps", y, want, g.Planes, g.Rows, g.Cols, step, len(bias))
	}
}

// TestTapRounding: 3x3 taps have the roundings of any taps, which are the same at
// each position.
func TestTapRounding(t *testing.T) {
	for _, s := range Sets() {
		testTapRounding(t, s.Name, s.Float32)
		testTapRounding(t, s.Name, s.Float64)
	}
}

func testTapRounding[T kernel.Float](t *testing.T, name string, tile Tile[T]) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 7))
	normal := func(n int) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = T(rng.NormFloat64())
		}
		return x
	}
	const pitch, columns = 150, 70
	for rows := 1; rows < 9; rows++ {
		for step := 1; step <= 2; step++ {
			x, weights, bias := normal(20*pitch), normal(9), normal(1)
			var offsets [9]int
			for i := range offsets {
				offsets[i] = i/3*pitch + i%3
			}
			g := Grid{1, rows, columns, 0, columns, 0, step * pitch}
			whole, single, of3x3 := make([]T, rows*columns), make([]T, rows*columns), make([]T, rows*columns)
			tile.TapRows(whole, x, &g, offsets[:], weights, 0, bias, false)
			tile.Tap3x3(of3x3, x, &g, pitch, step, &[3]int{0, 1, 2}, weights, bias)
			for i := range single {
				tile.TapRows(single[i:], x[i/columns*step*pitch+i%columns:], &Grid{Planes: 1, Rows: 1, Cols: 1}, offsets[:], weights, 0, bias, false)
			}
			if !slices.Equal(whole, single) || !slices.Equal(of3x3, single) {
				t.Fatalf("%s, %T: %d rows of step %d: together %v, as 3x3 %v, each alone %v", name, x, rows, step, whole, of3x3, single)
			}
		}
	}
}

// BenchmarkTaps reports the rates of the loops on windows in the nearest cache.
func BenchmarkTaps(b *testing.B) {
	for _, c := range []struct{ rows, columns, step int }{{7, 7, 1}, {14, 14, 1}, {28, 28, 1}, {32, 112, 1}, {7, 7, 2}, {28, 28, 2}} {
		pitch := c.step * (c.columns + 2)
		offsets := [3]int{0, (c.step - 1) * (c.columns + 2), 1}
		if c.step == 1 {
			offsets = [3]int{0, 1, 2}
		}
		var all [9]int
		for i := range all {
			all[i] = i/3*pitch + offsets[i%3]
		}
		x, y := make([]float32, (c.rows+2)*c.step*pitch+64), make([]float32, c.rows*c.columns)
		weights := make([]float32, 9)
		g := Grid{1, c.rows, c.columns, 0, c.columns, 0, c.step * pitch}
		for _, s := range Sets() {
			rate := func(name string, f func()) {
				b.Run(fmt.Sprintf("%s/%dx%d,%d/%s", name, c.rows, c.columns, c.step, s.Name), func(b *testing.B) {
					for b.Loop() {
						f()
					}
					b.ReportMetric(float64(b.N*18*len(y))/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				})
			}
			rate("3x3", func() {
				s.Float32.Tap3x3(y, x, &g, pitch, c.step, &offsets, weights, weights[:1])
			})
			rate("any", func() {
				s.Float32.TapRows(y, x, &g, all[:], weights, 0, weights[:1], false)
			})
		}
	}
}

// TestMaxima: the maximum of taps is NaN if one is, and the first of equal zeros, whatever its sign, with
// channels first and last.
func TestMaxima(t *testing.T) {
	for _, s := range Sets() {
		testMaxima(t, s.Name, s.Float32)
		testMaxima(t, s.Name, s.Float64)
	}
}

func testMaxima[T kernel.Float](t *testing.T, name string, tile Tile[T]) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 9))
	numbers := []T{0, T(math.Copysign(0, -1)), -1, T(math.Inf(-1)), T(math.NaN())}
	for range 300 {
		some := numbers
		if rng.IntN(4) > 0 {
			some = numbers[:4]
		}
		g := Grid{Planes: 1, Rows: 1, Cols: 1 + rng.IntN(80)}
		offsets := make([]int, 1+rng.IntN(5))
		for i := range offsets {
			offsets[i] = rng.IntN(20)
		}
		x, first, last := make([]T, g.Cols+20), make([]T, g.Cols), make([]T, g.Cols)
		for i := range x {
			x[i] = some[rng.IntN(len(some))]
		}
		tile.MaxRows(first, x, &g, offsets)
		tile.LastMax(last, 0, x, 0, &g, offsets)
		for i := range g.Cols {
			want := math.Inf(-1)
			for _, at := range offsets {
				if v := float64(x[at+i]); v > want || v != v {
					want = v
				}
				if want != want {
					break
				}
			}
			for _, got := range []T{first[i], last[i]} {
				if math.Float64bits(float64(got)) != math.Float64bits(want) && (got == got || want == want) {
					t.Fatalf("%s, %T: element %d is %v with channels first and %v last, want %v", name, got, i, first[i], last[i], want)
				}
			}
		}
	}
}

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
		rows, n, step := rng.IntN(12), rng.IntN(40), 1+rng.IntN(2)
		if rng.IntN(8) == 0 {
			n += rng.IntN(300)
		}
		ldy, add := n+rng.IntN(3), rng.IntN(2) == 0
		bias := some(rng.IntN(2))

		// Any taps, at the very end of x.
		pitch := rng.IntN(n + 3)
		weights := some(1 + rng.IntN(12))
		offsets := make([]int, len(weights))
		for i := range offsets {
			offsets[i] = rng.IntN(50)
		}
		x, y := some(max(rows-1, 0)*pitch+slices.Max(offsets)+n), some((rows+1)*ldy)
		want := slices.Clone(y)
		for r := range rows {
			for i := range n {
				var sum T
				for tap, at := range offsets {
					sum += weights[tap] * x[r*pitch+at+i]
				}
				if add {
					sum += want[r*ldy+i]
				}
				for _, b := range bias {
					sum += b
				}
				want[r*ldy+i] = sum
			}
		}
		tile.TapRows(y, ldy, rows, n, x, pitch, offsets, weights, bias, add)
		check("rows of taps", y, want, rows, n, len(weights), len(bias))

		weights = some(9)
		columns := [3]int{rng.IntN(40), rng.IntN(40), rng.IntN(40)}
		x = some((max(rows-1, 0)*step+2)*pitch + slices.Max(columns[:]) + n + tile.Cols)
		want = slices.Clone(y)
		for r := range rows {
			for i := range n {
				var sum T
				for tap, w := range weights {
					sum += w * x[(r*step+tap/3)*pitch+columns[tap%3]+i]
				}
				for _, b := range bias {
					sum += b
				}
				want[r*ldy+i] = sum
			}
		}
		tile.Tap3x3(y, ldy, rows, n, x, pitch, step, &columns, weights, bias)
		check("3x3 taps", y, want, rows, n, step, len(bias))

		// Maxima with a NaN here and there, at the very end of x.
		pitch = rng.IntN(n + 3)
		x = some(max(rows-1, 0)*pitch + slices.Max(offsets) + n)
		for i := range x {
			if rng.IntN(30) == 0 {
				x[i] = T(math.NaN())
			}
		}
		copy(want, y)
		for r := range rows {
			for i := range n {
				m := T(math.Inf(-1))
				for _, at := range offsets {
					if v := x[r*pitch+at+i]; v > m || v != v {
						m = v
					}
				}
				want[r*ldy+i] = m
			}
		}
		got := slices.Clone(y)
		tile.MaxRows(got, ldy, rows, n, x, pitch, offsets)
		for i := range got {
			if got[i] != want[i] && (got[i] == got[i] || want[i] == want[i]) {
				t.Fatalf("%s, %T: maxima of %d rows of %d: %v, want %v", name, got, rows, n, got, want)
			}
		}

		counts, lines := make([]float64, n), float64(1+rng.IntN(3))
		for i := range counts {
			counts[i] = float64(1 + rng.IntN(4))
		}
		x = some(slices.Max(offsets) + n)
		copy(want, y)
		for i := range min(n, len(y)) {
			sum := 0.0
			for _, at := range offsets {
				sum += float64(x[at+i])
			}
			want[i] = T(sum / (counts[i] * lines))
		}
		copy(got, y)
		tile.MeanRow(got[:min(n, len(y))], x, offsets, counts, lines)
		check("means", got, want, n, len(offsets))

		pitch = n + rng.IntN(3)
		x = some(max(rows-1, 0)*pitch + n)
		want = slices.Clone(y)
		for r := range rows {
			copy(want[r*ldy:], x[r*pitch:r*pitch+n])
		}
		tile.CopyRows(y, x, rows, ldy, pitch, n)
		check("copied rows", y, want, rows, n)

		even, odd := some(len(y)), some(len(y))
		wantEven, wantOdd := slices.Clone(even), slices.Clone(odd)
		for r := range rows {
			for i := range n {
				to := wantEven
				if i%2 == 1 {
					to = wantOdd
				}
				to[r*ldy+i/2] = x[r*pitch+i]
			}
		}
		tile.Split(even, odd, x, rows, ldy, pitch, n)
		check("even elements", even, wantEven, rows, n)
		check("odd elements", odd, wantOdd, rows, n)
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
			whole, single, of3x3 := make([]T, rows*columns), make([]T, rows*columns), make([]T, rows*columns)
			tile.TapRows(whole, columns, rows, columns, x, step*pitch, offsets[:], weights, bias, false)
			tile.Tap3x3(of3x3, columns, rows, columns, x, pitch, step, &[3]int{0, 1, 2}, weights, bias)
			for i := range single {
				tile.TapRows(single[i:], columns, 1, 1, x[i/columns*step*pitch+i%columns:], step*pitch, offsets[:], weights, bias, false)
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
				s.Float32.Tap3x3(y, c.columns, c.rows, c.columns, x, pitch, c.step, &offsets, weights, weights[:1])
			})
			rate("any", func() {
				s.Float32.TapRows(y, c.columns, c.rows, c.columns, x, c.step*pitch, all[:], weights, weights[:1], false)
			})
		}
	}
}

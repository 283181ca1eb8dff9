package isa

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestWinograd: every set gives the bits of the portable loops, and writes nothing else.
func TestWinograd(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	some := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			if x[i] = float32(rng.NormFloat64()); rng.IntN(100) == 0 {
				x[i] = math.Float32frombits(rng.Uint32()) // any number, NaN or infinity
			}
		}
		return x
	}
	for _, s := range Sets() {
		for range 300 {
			n := 1 + rng.IntN(70)
			step, other, lines, planes := n+rng.IntN(4), 4*n+2+rng.IntN(4), 1+rng.IntN(4), 1+rng.IntN(3)
			between := 36*step + rng.IntN(4) // planes
			same := 6*other + rng.IntN(4)    // planes in place
			for name, loop := range map[string]func(w *Winograd, x, y []float32){
				"InRows":           func(w *Winograd, x, y []float32) { w.InRows(y, x, planes, between, same, step, other, n) },
				"InCols":           func(w *Winograd, x, y []float32) { w.InCols(y, x, planes, between, step, other, n) },
				"OutRows":          func(w *Winograd, x, y []float32) { w.OutRows(y, x, planes, between, same, step, other, n, lines) },
				"OutRows in place": func(w *Winograd, _, y []float32) { w.OutRows(y, y, planes, between, between, step, step, n, lines) },
				"OutCols":          func(w *Winograd, x, y []float32) { w.OutCols(y, x, lines, step, other, n) },
			} {
				x, want := some(24*other+3*same+WinogradBeyond+2), some(3*between+36*step+2)
				got := append([]float32(nil), want...)
				loop(&s.Winograd, x, got)
				loop(&Generic.Winograd, x, want)
				for i, v := range got {
					if math.Float32bits(v) != math.Float32bits(want[i]) && (v == v || want[i] == want[i]) {
						t.Fatalf("%s, %s, n %d, steps %d and %d: element %d is %v, want %v", s.Name, name, n, step, other, i, v, want[i])
					}
				}
			}
		}
	}
}

// TestWinogradTile: the transforms make a tile of results out of an image and
// weights, to a few units of float32.
func TestWinogradTile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for range 100 {
		image, weights, v, rows := make([]float32, 36+WinogradBeyond+2), make([]float32, 9), make([]float32, 36), make([]float32, 36+WinogradBeyond+2)
		for i := range 36 {
			image[i] = float32(rng.NormFloat64())
		}
		for i := range weights {
			weights[i] = float32(rng.NormFloat64())
		}
		var u [36]float32
		WinogradWeights(&u, weights)
		for _, s := range Sets() {
			w := &s.Winograd
			w.InRows(rows, image, 1, 0, 0, 6, 6, 6)
			w.InCols(v, rows, 1, 0, 1, 6, 1)
			m := make([]float32, 36+WinogradBeyond)
			for i := range u {
				m[i] = u[i] * v[i]
			}
			w.OutRows(m, m, 1, 0, 0, 6, 6, 6, 4)
			var got [16]float32
			w.OutCols(got[:], m, 4, 4, 1, 4)
			for i, y := range got {
				want, scale := 0.0, 0.0
				for tap, by := range weights {
					p := float64(by) * float64(image[(i/4+tap/3)*6+i%4+tap%3])
					want += p
					scale += math.Abs(p)
				}
				if off := math.Abs(float64(y) - want); !(off <= 40*0x1p-24*max(scale, 1)) {
					t.Fatalf("%s: result %d is %v, want %v", s.Name, i, y, want)
				}
			}
		}
	}
}

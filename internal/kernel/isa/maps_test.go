package isa

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/internal/kernel"
)

// TestSingles: every set gives the bits of the plain functions, for numbers of any kind, and
// writes nothing else.
func TestSingles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	const n = 1 << 12
	x, got := make([]float32, n), make([]float32, n+1)
	rounds := 200
	if testing.Short() {
		rounds = 9
	}
	for name, f := range singles {
		for round := range rounds {
			for i := range x {
				switch round % 3 {
				case 0:
					x[i] = math.Float32frombits(rng.Uint32())
				case 1:
					x[i] = float32(rng.NormFloat64() * 2)
				default:
					x[i] = float32(rng.NormFloat64() * 60)
				}
			}
			p := &[2]float64{[]float64{1, 1.702, -3, 1e-20}[rng.IntN(4)], rng.NormFloat64()}
			size := rng.IntN(n)
			if rng.IntN(2) == 0 {
				size = rng.IntN(40)
			}
			for _, s := range Sets() {
				loop := s.Maps[MapKey{name, 32, 0}]
				if loop == nil {
					t.Errorf("%s has no %s", s.Name, name)
					continue
				}
				got[size] = 7
				loop(kernel.Bytes(got[:size]), kernel.Bytes(x), nil, nil, p)
				for i, y := range got[:size] {
					if want := f(x[i], p); math.Float32bits(y) != math.Float32bits(want) && (y == y || want == want) {
						t.Fatalf("%s: %s(%v) is %v, the plain function gives %v", s.Name, name, x[i], y, want)
					}
				}
				if got[size] != 7 {
					t.Fatalf("%s: %s wrote beyond the end", s.Name, name)
				}
				copy(got, x)
				loop(kernel.Bytes(got[:size]), kernel.Bytes(got[:size]), nil, nil, p)
				if size > 0 && math.Float32bits(got[size-1]) != math.Float32bits(f(x[size-1], p)) && got[size-1] == got[size-1] {
					t.Fatalf("%s: %s over its operand gives %v", s.Name, name, got[size-1])
				}
			}
		}
	}
}

// TestFMA: fma is the exact sum rounded once, and NaN and infinities are those of
// the plain sum.
func TestFMA(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	check := func(a, b, c float32) {
		t.Helper()
		exact := new(big.Float).SetPrec(1000)
		exact.Mul(exact.SetFloat64(float64(a)), big.NewFloat(float64(b)))
		exact.Add(exact, new(big.Float).SetPrec(1000).SetFloat64(float64(c)))
		if want, _ := exact.Float32(); fma(a, b, c) != want {
			t.Fatalf("%v*%v + %v is %v, want %v", a, b, c, fma(a, b, c), want)
		}
	}
	// Close to midpoints, where the rounding in float64 alone would decide.
	check(1+0x1p-12, 1+0x1p-12, 0x1p-60)
	check(1+0x1p-12, 1+0x1p-12, -0x1p-60)
	check(-1-0x1p-12, 1+0x1p-12, 0x1p-60)
	for range 100_000 {
		draw := func() float32 {
			return float32(math.Ldexp(float64(rng.IntN(1<<25)-1<<24), -24+rng.IntN(80)-40))
		}
		check(draw(), draw(), draw())
	}
	inf := float32(math.Inf(1))
	for _, c := range [][3]float32{{inf, 1, 1}, {-1, inf, 1}, {inf, -1, inf}, {1, 1, -inf}, {0, inf, 1}, {math.MaxFloat32, -2, 0}} {
		got, want := fma(c[0], c[1], c[2]), c[0]*c[1]+c[2]
		if got != want && (got == got || want == want) {
			t.Errorf("%v*%v + %v is %v, want %v", c[0], c[1], c[2], got, want)
		}
	}
}

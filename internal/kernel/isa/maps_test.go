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
			p := &[2]float64{[]float64{1, 1.702, -3, 1e-20}[rng.IntN(4)]}
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

func exact(x float32) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(float64(x)) }

// TestFMA compares with a fused multiply-add of exact numbers, where the sum of float64
// comes to lie halfway between two float32 and elsewhere.
func TestFMA(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	rounds := 1 << 20
	if testing.Short() {
		rounds = 1 << 14
	}
	for range rounds {
		x, y := float32(1+math.Ldexp(float64(rng.IntN(1<<8)), -8)), float32(1+math.Ldexp(float64(rng.IntN(1<<8)), -8))
		z := math.Float32frombits(rng.Uint32()%(1<<23) + uint32(rng.IntN(60)+70)<<23)
		if rng.IntN(2) == 0 {
			z = -z
		}
		sum := new(big.Float).SetPrec(300).Mul(exact(x), exact(y))
		want, _ := sum.Add(sum, exact(z)).Float32()
		if got := fma(x, y, z); got != want {
			t.Fatalf("%v*%v + %v is %v, want %v", x, y, z, got, want)
		}
	}
}

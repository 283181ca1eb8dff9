package elementwise

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/internal/race"
)

// TestFastPow compares the powers of float32 with the exact ones of float64, for bases of any
// kind and exponents that are products, roots and others: within 0.51 units in the last place.
func TestFastPow(t *testing.T) {
	race.SkipSequential(t)
	rng := rand.New(rand.NewPCG(1, 8))
	const n = 300
	x, y, z := make([]float32, n), make([]float32, n), make([]float32, n)
	exponents := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3, -5, -8, 0.5, -0.5, 1.5, 2.7, -3.1, 1. / 3, 0, math.Inf(1), math.Inf(-1), math.NaN()}
	for range 40 {
		for i := range x {
			switch rng.IntN(3) {
			case 0:
				x[i] = math.Float32frombits(rng.Uint32())
			case 1:
				x[i] = float32(rng.NormFloat64())
			default:
				x[i] = []float32{0, float32(math.Copysign(0, -1)), 1, -1, 2, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}[rng.IntN(8)]
			}
		}
		for _, e := range exponents {
			each := make([]float64, n)
			for i := range each {
				each[i] = e
			}
			fastPowScalar(y, x, e)
			fastPow(z, x, each)
			for i, v := range x {
				want := pow(float64(v), e)
				for _, got := range []float32{y[i], z[i]} {
					if u := ulpError(got, want); u > 0.51 || got == 0 && math.Signbit(float64(got)) != math.Signbit(want) {
						t.Fatalf("%v to the power of %v is %v, want %v", v, e, got, want)
					}
				}
			}
		}
	}
}

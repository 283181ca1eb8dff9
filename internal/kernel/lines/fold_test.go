package lines

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// TestFolds: the folds of every instruction set give the bits of the plain ones, and so do the
// joins of rows.
func TestFolds(t *testing.T) {
	for _, set := range isa.Sets() {
		testFolds[float32](t, set)
		testFolds[float64](t, set)
	}
}

func testFolds[A kernel.Float](t *testing.T, set *isa.Loops) {
	t.Helper()
	defer isa.Use(isa.Use(set))
	rng := rand.New(rand.NewPCG(1, 9))
	operations := map[string]func() Operation[A]{"sum": Sum[A], "max": Max[A], "min": Min[A]}
	for name, of := range operations {
		isa.Use(set)
		fast := of()
		isa.Use(&isa.Generic)
		plain := of()
		rounds := 2000
		if testing.Short() {
			rounds = 100
		}
		for range rounds {
			x := make([]A, 1+rng.IntN(BlockLen))
			if rng.IntN(2) == 0 {
				x = x[:1+rng.IntN(min(len(x), 30))]
			}
			zeros, sign := rng.IntN(10) == 0, float64(2*rng.IntN(2)-1)
			for i := range x {
				switch {
				case zeros:
					x[i] = A(math.Copysign(0, sign)) // nearly all of them
					if rng.IntN(len(x)) == 0 {
						x[i] = -x[i]
					}
				case rng.IntN(1000) == 0:
					x[i] = A([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)])
				default:
					x[i] = A(rng.NormFloat64())
				}
			}
			same(t, set.Name+" "+name, fast.block(x), plain.block(x))
			if max := plain.block(x); name == "max" && max == max {
				isa.Use(set)
				if peak := Peak[A]().block(x); peak != max {
					t.Fatalf("%s: the peak of %T is %v, want %v", set.Name, max, peak, max)
				}
			}
			n := len(x) / 2
			got, want := append([]A(nil), x[:n]...), append([]A(nil), x[:n]...)
			fast.join(got, x[n:])
			plain.join(want, x[n:])
			for i := range want {
				same(t, set.Name+" join of "+name, got[i], want[i])
			}
		}
	}
}

func same[A kernel.Float](t *testing.T, what string, got, want A) {
	t.Helper()
	if math.Float64bits(float64(got)) != math.Float64bits(float64(want)) && (got == got || want == want) {
		t.Fatalf("%s of %T is %v, want %v", what, got, got, want)
	}
}

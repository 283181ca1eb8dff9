package circuit

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
)

// A layout is honoured exactly when brute force over single bytes finds that it
// can be, and then the checker accepts the plan.
func TestRandomLayoutsAgainstBruteForce(t *testing.T) {
	kinds := make(map[Kind]int)
	planned := 0
	for seed := range uint64(10000) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := randomSample(r, 4+r.IntN(12), 1+r.IntN(7))
		want, whole := feasible(s)
		got, err := PlanBuffersWith(context.Background(), s.c, s.p, s.l, s.rows, &Options{Budget: 100})
		if err != nil {
			var pe *PlanError
			if !errors.As(err, &pe) {
				t.Fatalf("seed %d: %v is no PlanError", seed, err)
			}
			kinds[pe.Kind]++
			if want == nil && whole {
				t.Errorf("seed %d: possible, but: %v\n%+v", seed, err, *s.l)
			}
			continue
		}
		if want != nil && whole {
			t.Errorf("seed %d: planned, but: %v\n%+v", seed, want, *s.l)
			continue
		}
		planned++
		if err := Check(s.c, s.p, s.l, got); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	t.Logf("%d planned; impossible: %v", planned, kinds)
}

package schedule

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
)

// mustOrders returns the orders of p, checked.
func mustOrders(t *testing.T, p *Problem, opt *Options) []Order {
	t.Helper()
	orders, err := Orders(t.Context(), p, opt)
	if err != nil {
		t.Fatal(err)
	}
	checkOrders(t, p, orders)
	return orders
}

func checkOrders(t *testing.T, p *Problem, orders []Order) {
	t.Helper()
	seen := false
	for i, o := range orders {
		if err := Check(p, o.Steps); err != nil {
			t.Errorf("%s: %v", o.Name, err)
			return
		}
		if peak := Peak(p, o.Steps); peak != o.Peak {
			t.Errorf("%s: peak %d, said to be %d", o.Name, peak, o.Peak)
		}
		if i > 0 && o.Peak < orders[i-1].Peak {
			t.Errorf("%s, with peak %d, comes after one with %d", o.Name, o.Peak, orders[i-1].Peak)
		}
		if o.Optimal && o.Peak != orders[0].Peak {
			t.Errorf("%s is said to be optimal with peak %d; there is one with %d", o.Name, o.Peak, orders[0].Peak)
		}
		if o.Name == Seed {
			seen = slices.Equal(o.Steps, p.seed())
		}
		for _, q := range orders[:i] {
			if slices.Equal(o.Steps, q.Steps) {
				t.Errorf("%s is the same as %s", o.Name, q.Name)
			}
		}
	}
	if !seen {
		t.Error("the seed is not among the orders")
	}
}

func TestOptimalIsBruteForce(t *testing.T) {
	t.Parallel()
	steps := func(r *rand.Rand) int { return 2 + r.IntN(6) }
	each(t, 1000, steps, func(t *testing.T, r *rand.Rand, p *Problem) {
		best := mustOrders(t, p, nil)[0]
		if want := bruteForce(p); best.Peak != want {
			t.Errorf("peak %d (optimal: %v), brute force finds %d", best.Peak, best.Optimal, want)
		}
		if !best.Optimal {
			t.Errorf("%s with peak %d is not known to be optimal", best.Name, best.Peak)
		}
	})
}

func TestOptimalIsThatOverAllSets(t *testing.T) {
	t.Parallel()
	steps := func(r *rand.Rand) int { return 8 + r.IntN(6) }
	each(t, 400, steps, func(t *testing.T, r *rand.Rand, p *Problem) {
		best := mustOrders(t, p, nil)[0]
		if want := subsets(p); best.Peak != want {
			t.Errorf("peak %d (optimal: %v), over all sets %d", best.Peak, best.Optimal, want)
		}
		if !best.Optimal {
			t.Errorf("%s with peak %d is not known to be optimal", best.Name, best.Peak)
		}
	})
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := rand.New(rand.NewPCG(1, 2))
	p := random(r, "local", 300, largeSizes)
	orders, err := Orders(ctx, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkOrders(t, p, orders)
}

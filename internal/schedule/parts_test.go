package schedule

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomOrder returns a random valid order of g.
func randomOrder(r *rand.Rand, g *graph) []int32 {
	s := newState(g)
	for len(s.ready) > 0 {
		s.do(s.ready[r.IntN(len(s.ready))])
	}
	return s.trail
}

func named(p *Problem, order []int32) []int {
	var out []int
	for _, x := range order {
		out = append(out, p.seed()[x])
	}
	return out
}

func fewSteps(r *rand.Rand) int { return 2 + r.IntN(12) }

// The state that the algorithms share agrees with Profile, forwards and
// backwards, and can take everything back.
func TestState(t *testing.T) {
	t.Parallel()
	each(t, 300, fewSteps, func(t *testing.T, r *rand.Rand, p *Problem) {
		g := newGraph(p)
		order := randomOrder(r, g)
		want := Profile(p, named(p, order))
		if err := Check(p, named(p, order)); err != nil {
			t.Fatal(err)
		}
		for _, g := range []*graph{g, g.reverse()} {
			if g.reversed {
				slices.Reverse(order)
				slices.Reverse(want)
			}
			s := newState(g)
			start := s.live
			for range 2 {
				for i, x := range order {
					live := s.live
					during, after := s.cost(x)
					s.do(x)
					if during != want[i] || after != s.live || during < live {
						t.Fatalf("step %d: %d to %d bytes, then %d; %d to %d expected", i, live, during, s.live, want[i], after)
					}
				}
				s.rewind(0)
				if s.live != start {
					t.Fatalf("%d bytes after taking everything back, %d expected", s.live, start)
				}
			}
		}
	})
}

// A beam that is wide enough forgets no set: it finds an order if there is one.
// If there is none, the bound to try next is no higher than the least peak.
func TestBeam(t *testing.T) {
	t.Parallel()
	steps := func(r *rand.Rand) int { return 2 + r.IntN(8) }
	each(t, 200, steps, func(t *testing.T, r *rand.Rand, p *Problem) {
		best := subsets(p)
		for _, g := range []*graph{newGraph(p), newGraph(p).reverse()} {
			for _, bound := range []int64{best - 1, best, best + 3} {
				b := newBeam(g, bound, math.MaxInt)
				b.most = math.MaxInt
				order := b.run(t.Context(), math.MaxInt64)
				switch {
				case (order != nil) != (bound >= best):
					t.Errorf("bound %d, best %d: order %v", bound, best, order)
				case order == nil && (b.refused <= bound || b.refused > best):
					t.Errorf("bound %d, best %d: the next bound to try is %d", bound, best, b.refused)
				case order != nil:
					steps := named(p, g.forwards(order))
					if err := Check(p, steps); err != nil {
						t.Error(err)
					} else if peak := Peak(p, steps); peak > bound {
						t.Errorf("bound %d: peak %d", bound, peak)
					}
				}
			}
		}
	})
}

// Where narrow beams fail within a bound, they fail within every bound below the
// next one to try.
func TestSearchWithin(t *testing.T) {
	t.Parallel()
	steps := func(r *rand.Rand) int { return 10 + r.IntN(30) }
	each(t, 50, steps, func(t *testing.T, r *rand.Rand, p *Problem) {
		s := newSearch(t.Context(), newGraph(p), math.MaxInt64)
		s.work = math.MaxInt64
		low := s.ways[0].lowest()
		next := s.within(low, 2)
		if next == 0 {
			if s.peak != low || Peak(p, named(p, s.best)) != low {
				t.Errorf("an order with %d bytes within a bound of %d", s.peak, low)
			}
			return
		}
		for bound := low + 1; bound < next; bound++ {
			if again := s.within(bound, 2); again != next {
				t.Errorf("bound %d fails, and %d is next; after bound %d it is %d", low, next, bound, again)
			}
		}
		if s.best != nil {
			t.Errorf("there is an order within no bound: %v", s.best)
		}
	})
}

// A beam stops at the end of its work and of its context.
func TestBeamEnds(t *testing.T) {
	g := newGraph(random(rand.New(rand.NewPCG(1, 2)), "local", 300, largeSizes))
	whole := newBeam(g, math.MaxInt64, 16)
	if whole.run(t.Context(), math.MaxInt64) == nil {
		t.Fatal("no order without a bound")
	}
	b := newBeam(g, math.MaxInt64, 16)
	if order := b.run(t.Context(), whole.s.work/2); order != nil || b.s.work < whole.s.work/2 || b.s.work > whole.s.work*2/3 {
		t.Errorf("order %v after work %d, with %d allowed of %d", order, b.s.work, whole.s.work/2, whole.s.work)
	}
	if order := newBeam(g, math.MaxInt64, 16).run(&countdown{t.Context(), 100}, math.MaxInt64); order != nil {
		t.Error("an order after the end of the context")
	}
}

// No order goes below lowest, and most problems have one that goes as low.
func TestLowest(t *testing.T) {
	t.Parallel()
	reached := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		p := random(r, kinds[seed%uint64(len(kinds))], fewSteps(r), smallSizes)
		decorate(r, p)
		low, best := newGraph(p).lowest(), subsets(p)
		if low > best {
			t.Fatalf("lowest is %d, an order has %d: %+v", low, best, p)
		}
		if low == best {
			reached++
		}
	}
	if reached < 1080 {
		t.Errorf("reached by %d problems of 2000", reached)
	}
}

// Of all orders that finish one subtree of a tree before the next, the walk has
// the least peak.
func TestDepthFirst(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 4))
		p := random(r, "tree", 2+r.IntN(8), smallSizes)
		best := int64(math.MaxInt64)
		for _, order := range walks(newGraph(p), int32(p.Steps-1)) {
			best = min(best, Peak(p, named(p, order)))
		}
		if peak := Peak(p, named(p, depthFirst(newGraph(p)))); peak != best {
			t.Fatalf("peak %d, best %d: %+v", peak, best, p)
		}
	}
}

// Of the ready steps that one runs which leaves the fewest bytes alive; of equal
// ones that which takes fewer while it runs, then the first of the seed.
func TestMostFreed(t *testing.T) {
	t.Parallel()
	steps := func(r *rand.Rand) int { return 2 + r.IntN(30) }
	each(t, 200, steps, func(t *testing.T, _ *rand.Rand, p *Problem) {
		for _, g := range []*graph{newGraph(p), newGraph(p).reverse()} {
			s := newState(g)
			for len(s.ready) > 0 {
				s.do(slices.MinFunc(s.ready, func(x, y int32) int {
					xDuring, xAfter := s.cost(x)
					yDuring, yAfter := s.cost(y)
					return cmp.Or(cmp.Compare(xAfter, yAfter), cmp.Compare(xDuring, yDuring), cmp.Compare(g.rank(x), g.rank(y)))
				}))
			}
			if got := listSchedule(g, mostFreed); !slices.Equal(got, s.trail) {
				t.Errorf("%v, want %v", got, s.trail)
			}
		}
	})
}

// walks returns every depth-first order of the tree that ends with step x.
func walks(g *graph, x int32) [][]int32 {
	subtrees := make(map[int32][][]int32)
	for _, p := range g.pred.of(x) {
		subtrees[p] = walks(g, p)
	}
	var orders [][]int32
	var visit func(order, left []int32)
	visit = func(order, left []int32) {
		if len(left) == 0 {
			orders = append(orders, append(slices.Clone(order), x))
		}
		for i, p := range left {
			for _, subtree := range subtrees[p] {
				visit(slices.Concat(order, subtree), slices.Delete(slices.Clone(left), i, i+1))
			}
		}
	}
	visit(nil, g.pred.of(x))
	return orders
}

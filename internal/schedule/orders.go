package schedule

import (
	"cmp"
	"context"
	"slices"
)

// An Order is a valid order of the steps of a problem.
type Order struct {
	Name  string // how it was found
	Steps []int
	Peak  int64 // as [Peak] counts it
}

// Seed is the name of the order that was given.
const Seed = "seed"

// heuristics order a graph at once. Each is also tried on the graph turned
// round.
var heuristics = []struct {
	name  string
	order func(g *graph) []int32
}{
	{"depth first", depthFirst},
	{"list, most freed", func(g *graph) []int32 { return listSchedule(g, mostFreed) }},
	{"list, looking ahead", func(g *graph) []int32 { return listSchedule(g, lookingAhead) }},
}

// Orders returns orders of p, that of least peak first; of equal ones the seed
// comes before heuristics, and these before what a search has found. The seed is
// always among them. No two are the same. An error is about p; the end of ctx
// is none, but ends the search for more.
func Orders(ctx context.Context, p *Problem) ([]Order, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	seed := p.seed()
	var out []Order
	add := func(name string, order []int32) {
		steps := make([]int, len(order))
		for i, x := range order {
			steps[i] = seed[x]
		}
		if !slices.ContainsFunc(out, func(o Order) bool { return slices.Equal(o.Steps, steps) }) {
			out = append(out, Order{name, steps, Peak(p, steps)})
		}
	}
	g := newGraph(p)
	back := g.reverse()
	add(Seed, identity[int32](g.steps))
	for _, h := range heuristics {
		if ctx.Err() == nil {
			add(h.name, h.order(g))
		}
		if ctx.Err() == nil {
			add(h.name+", backwards", back.forwards(h.order(back)))
		}
	}
	byPeak := func(a, b Order) int { return cmp.Compare(a.Peak, b.Peak) }
	s := newSearch(ctx, g, slices.MinFunc(out, byPeak).Peak)
	if s.run(); s.best != nil {
		add("beam search", s.best)
	}
	slices.SortStableFunc(out, byPeak)
	return out, nil
}

// identity returns 0, 1, 2, ..., n-1.
func identity[T int | int32](n int) []T {
	order := make([]T, n)
	for i := range order {
		order[i] = T(i)
	}
	return order
}

package schedule

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// An Order is a valid order of the steps of a problem.
type Order struct {
	Name  string // how it was found
	Steps []int
	Peak  int64 // as [Peak] counts it
	// Optimal says that no order has a lower peak.
	Optimal bool
}

// Options steer the choice of orders. The zero value is the default.
type Options struct {
	// Budget bounds the search, in values and steps looked at, of which about a
	// hundred million take a second; 0 is a default of about a third of one,
	// below 0 is no search.
	Budget int64
}

const defaultBudget = 32 << 20

// The names of the orders that are not heuristics.
const (
	Seed   = "seed"   // the given order
	Mixed  = "mixed"  // put together of the others
	Search = "search" // found by the search
)

// Orders returns orders of p, that of least peak first; of equal ones the seed
// comes before heuristics, and these before what took a search. The seed is
// always among them. No two are the same. An error is about p; the end of ctx
// is none, but ends the search.
func Orders(ctx context.Context, p *Problem, opt *Options) ([]Order, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	m := &meter{ctx: ctx, budget: defaultBudget}
	if opt != nil && opt.Budget != 0 {
		m.budget = max(0, opt.Budget)
	}
	g := newGraph(p)
	c := &chooser{p: p, g: g, seen: make(map[sum]bool)}
	c.add(Seed, identity(g.steps))
	for _, h := range heuristics(g) {
		if ctx.Err() != nil {
			break
		}
		c.add(h.name, h.order())
	}
	if ctx.Err() == nil {
		c.add(Mixed, splice(g, 0, c.orders))
	}

	f := &found{peak: math.MaxInt64, least: g.lowest(0)}
	for i, o := range c.out {
		f.take(c.orders[i], o.Peak)
	}
	if m.budget > 0 {
		improve(m, g, 0, f)
		c.add(Search, f.order)
	}
	for i := range c.out {
		c.out[i].Optimal = c.out[i].Peak == f.least
	}
	slices.SortStableFunc(c.out, func(a, b Order) int { return cmp.Compare(a.Peak, b.Peak) })
	return c.out, nil
}

// chooser collects orders.
type chooser struct {
	p      *Problem
	g      *graph
	seen   map[sum]bool
	orders [][]int32 // of g
	out    []Order   // the same, of p
}

// add adds an order, unless it is there already.
func (c *chooser) add(name string, order []int32) {
	var h sum
	for _, x := range order {
		h[0] = mix(h[0] ^ uint64(x))
		h[1] = mix(h[1] ^ ^uint64(x))
	}
	if c.seen[h] {
		return
	}
	c.seen[h] = true
	seed := c.p.seed()
	steps := make([]int, len(order))
	for i, x := range order {
		steps[i] = seed[x]
	}
	c.orders = append(c.orders, order)
	c.out = append(c.out, Order{Name: name, Steps: steps, Peak: Peak(c.p, steps)})
}

// heuristic is a way to order a graph at once.
type heuristic struct {
	name  string
	order func() []int32
}

func heuristics(g *graph) []heuristic {
	var out []heuristic
	add := func(name string, order func(g *graph) []int32) {
		out = append(out,
			heuristic{name, func() []int32 { return order(g) }},
			heuristic{name + ", backwards", func() []int32 {
				o := order(g.reverse())
				slices.Reverse(o)
				return o
			}})
	}
	for _, w := range walks() {
		add("depth first, "+w.name, func(g *graph) []int32 { return depthFirst(g, w.keys(g)) })
	}
	for _, r := range rules() {
		add("list, "+r.name, func(g *graph) []int32 { return listSchedule(g, r) })
	}
	return out
}

func identity(n int) []int32 {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	return order
}

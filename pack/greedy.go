package pack

import (
	"cmp"
	"context"
	"slices"
)

// The work that [Greedy] spends on a component beyond one pass of everything.
const (
	maxPairs    = 1_000_000 // pairs of live rectangles up to which first fit tries other orders
	polishItems = 20_000    // items placed by polishing
)

// greedy tries the one-pass placements on a component, until one meets the goal.
// First fit has been tried.
func (c *contender) greedy(ctx context.Context, goal int64) {
	c.scores = newScorer(c.p)
	more := func() bool { return c.arena > max(goal, c.lower) && ctx.Err() == nil }
	for r := ranking(0); r < rankings && more(); r++ {
		c.polish() // without nudges yet: one for each ranking
	}
	if more() {
		c.offer(fitByStart(c.p, startThenSmaller(c.p)))
	}
	if c.p.pairs() <= maxPairs {
		for r := ranking(0); r < rankings && more(); r++ {
			c.offer(fitInOrder(c.p, ranked(c.scores.score(r, 0, 0))))
		}
	}
	for n := 0; n < polishItems && more(); n += len(c.p.items) {
		c.polish()
	}
}

// polish tries one more skyline. Two of three times what the last ones left
// sticking out above the lower bound is preferred the more the oftener it did,
// which is squeaky wheel optimisation (Joslin and Clements, 1999); the third
// time what decides is noise.
func (c *contender) polish() bool {
	if c.nudge == nil {
		c.nudge = make([][]int64, rankings)
		for r := range c.nudge {
			c.nudge[r] = make([]int64, len(c.p.items))
		}
	}
	r, turn := c.runs%int(rankings), c.runs/int(rankings)%3
	c.runs++
	if turn == 2 {
		return c.offerSkyline(ranked(c.scores.score(ranking(r), 3*fixedOne/2, uint64(c.runs))))
	}
	scores := c.scores.score(ranking(r), int64(turn)*fixedOne/2, uint64(c.runs))
	for i, n := range c.nudge[r] {
		scores[i] += n
	}
	better := c.offerSkyline(ranked(scores))
	for i, o := range c.skyline.offsets {
		if o+c.p.items[i].size > c.lower {
			c.nudge[r][i] += fixedOne / 2
		}
	}
	return better
}

// offerSkyline offers what a skyline makes of an order. Where it is not a
// placement, since it takes items for whole and free rectangles, the order in
// which it placed them still serves first fit.
func (c *contender) offerSkyline(order []int32) bool {
	if c.skyline == nil {
		c.skyline = newSkyline(c.p)
	}
	offsets := c.skyline.place(order)
	if c.p.plain {
		return c.offer(offsets)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(offsets[a], offsets[b]), cmp.Compare(a, b))
	})
	return c.offer(fitInOrder(c.p, order))
}

// startThenSmaller is first fit's order with smaller items first.
func startThenSmaller(p *problem) []int32 {
	order := identity(len(p.items))
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &p.items[a], &p.items[b]
		return cmp.Or(cmp.Compare(x.t0, y.t0), cmp.Compare(x.size, y.size), cmp.Compare(a, b))
	})
	return order
}

// pairs counts the pairs of rectangles that are live together.
func (p *problem) pairs() int64 {
	starts := make([]int64, p.sections+1) // rectangles that start before t
	ends := make([]int64, p.sections+1)   // rectangles that end at t or before
	var n int64
	for i := range p.items {
		for _, r := range p.items[i].rects {
			starts[min(int(r.t0)+1, p.sections)]++
			ends[r.t1]++
			n++
		}
	}
	for t := 1; t <= p.sections; t++ {
		starts[t] += starts[t-1]
		ends[t] += ends[t-1]
	}
	var met int64
	for i := range p.items {
		for _, r := range p.items[i].rects {
			met += starts[r.t1] - ends[r.t0] - 1
		}
	}
	return met / 2
}

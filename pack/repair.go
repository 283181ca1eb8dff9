package pack

import (
	"context"
	"slices"
)

// regionSizes are the numbers of items that regions are widened to, tried in
// turn. Beyond maxRegion items a region is too full of what reaches beyond it.
var regionSizes = [...]int{60, 250, 1000}

const (
	maxRegion    = 2000
	regionRounds = 3 // rounds of searches that one aim in a region is worth
)

// repair lowers the arena of a component too large to search, where it is highest:
// it takes a region of time around the item that ends at the top, leaves what
// reaches beyond the region where it is, and searches for a placement of the rest
// below. What that costs does not grow with the component.
//
// It returns the nodes spent and whether it got anywhere; as long as other items
// are as high the arena stays the same.
func (c *contender) repair(ctx context.Context, goal, budget int64, o *Options) (nodes int64, better bool) {
	if c.index == nil {
		c.index = newIndex(c.p.sections)
		for i := range c.p.items {
			c.index.add(&c.p.items[i], int32(i))
		}
	}
	highest := int32(0)
	for i := range c.p.items {
		if c.offsets[i]+c.p.items[i].size > c.offsets[highest]+c.p.items[highest].size {
			highest = int32(i)
		}
	}
	for _, size := range regionSizes {
		r := c.region(highest, size)
		if len(r.items) > maxRegion {
			break
		}
		n, ok := c.repairRegion(ctx, r, highest, goal, budget-nodes, o)
		nodes += n
		if ok {
			c.arena = c.p.arena(c.offsets)
			return nodes, true
		}
	}
	c.stuck = true
	return nodes, false
}

// A region is the sections [t0, t1) and the items live in some of them, in
// canonical order.
type region struct {
	t0, t1 int32
	items  []int32
}

// region widens the lifetime of an item until some number of items are met, or
// all.
func (c *contender) region(around int32, size int) region {
	r := region{t0: c.p.items[around].t0, t1: c.p.items[around].t1}
	for {
		r.items = c.index.overlapping(r.items[:0], r.t0, r.t1)
		if len(r.items) >= size || r.t0 == 0 && int(r.t1) == c.p.sections {
			slices.Sort(r.items)
			return r
		}
		by := max(1, (r.t1-r.t0)/4)
		r.t0, r.t1 = max(0, r.t0-by), min(int32(c.p.sections), r.t1+by)
	}
}

// repairRegion searches for a placement of a region in which nothing is as high
// as its highest item is, as low as possible first.
func (c *contender) repairRegion(ctx context.Context, r region, highest int32, goal, budget int64, o *Options) (nodes int64, ok bool) {
	p, items := c.cutOut(r)
	top := c.offsets[highest] + c.p.items[highest].size
	low := max(goal, p.lower)
	sub := &contender{p: p, lower: p.lower, scores: newScorer(p), net: newNetwork(p)}
	if sub.net == nil {
		return 0, false
	}
	for _, capacity := range []int64{low, low + (top-low)/2, top - c.p.grain} {
		if capacity >= top {
			continue
		}
		for range regionRounds {
			if budget-nodes < racers || ctx.Err() != nil {
				return nodes, false
			}
			n, hit := sub.race(ctx, capacity, capacity, budget-nodes, o)
			nodes += n
			if hit {
				for k, i := range items {
					c.offsets[i] = sub.offsets[k]
				}
				return nodes, true
			}
			if sub.lower > capacity {
				break
			}
		}
	}
	return nodes, false
}

// cutOut makes a problem of a region, and tells which items are in it. Items that
// reach beyond the region are fixed; those with a gap as long as it are left out.
func (c *contender) cutOut(r region) (p *problem, items []int32) {
	for _, i := range r.items {
		if slices.ContainsFunc(c.p.items[i].rects, func(q rect) bool { return q.t0 < r.t1 && r.t0 < q.t1 }) {
			items = append(items, i)
		}
	}
	p = c.p.part(items, r.t0, r.t1)
	for k, i := range items {
		if it := &c.p.items[i]; it.t0 < r.t0 || it.t1 > r.t1 {
			p.items[k].fixed = c.offsets[i]
		}
	}
	p.dropSections()
	p.summarise()
	return p, items
}

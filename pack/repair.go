package pack

import (
	"context"
	"slices"
)

// A repairer lowers the arena of a large component where it is highest: it takes
// a window of time around the item that ends at the top, leaves what reaches
// beyond the window where it is, and searches for a placement of the rest below.
// What it costs does not grow with the component.
type repairer struct {
	index *index
	stuck bool // the highest item resists in windows of every size
}

// The sizes of windows, in items, tried in turn, and when a window is too full of
// items that reach beyond it.
var windowSizes = [...]int{60, 250, 1000}

const maxWindow = 2000

// repair does one step. It returns the nodes spent and whether it got anywhere;
// as long as other items are as high the arena stays the same.
func (c *contender) repair(ctx context.Context, goal, budget int64, o *Options) (nodes int64, better bool) {
	if c.fix == nil {
		c.fix = &repairer{index: newIndex(c.p.sections)}
		for i := range c.p.items {
			c.fix.index.add(&c.p.items[i], int32(i))
		}
	}
	highest := int32(0)
	for i := range c.p.items {
		if c.offsets[i]+c.p.items[i].size > c.offsets[highest]+c.p.items[highest].size {
			highest = int32(i)
		}
	}
	for _, size := range windowSizes {
		w := c.window(highest, size)
		if len(w.items) > maxWindow {
			break
		}
		n, ok := c.repairWindow(ctx, w, highest, goal, budget-nodes, o)
		nodes += n
		if ok {
			c.arena = c.p.arena(c.offsets)
			return nodes, true
		}
	}
	c.fix.stuck = true
	return nodes, false
}

// A window is a range of sections and the items live in it.
type window struct {
	t0, t1 int32
	items  []int32
}

// window widens the lifetime of an item until some number of items are met.
func (c *contender) window(around int32, size int) window {
	w := window{t0: c.p.items[around].t0, t1: c.p.items[around].t1}
	for {
		w.items = c.fix.index.overlapping(w.items[:0], w.t0, w.t1)
		if len(w.items) >= size || w.t0 == 0 && int(w.t1) == c.p.sections {
			slices.Sort(w.items)
			return w
		}
		by := max(1, (w.t1-w.t0)/4)
		w.t0, w.t1 = max(0, w.t0-by), min(int32(c.p.sections), w.t1+by)
	}
}

// repairWindow searches for a placement of a window in which nothing is as high
// as its highest item is, as low as possible first.
func (c *contender) repairWindow(ctx context.Context, w window, highest int32, goal, budget int64, o *Options) (nodes int64, ok bool) {
	p, items := c.cutOut(w)
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
		for range windowRounds {
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

// windowRounds is how many rounds of searches a window is worth.
const windowRounds = 3

// cutOut makes a problem of a window, and tells which items are in it. Items that
// reach beyond the window are fixed; those with a gap as long as it are left out.
func (c *contender) cutOut(w window) (p *problem, items []int32) {
	p = &problem{buffers: c.p.buffers, sections: int(w.t1 - w.t0)}
	for _, i := range w.items {
		it := c.p.items[i]
		var rects []rect
		for _, r := range it.rects {
			if r.t0 < w.t1 && w.t0 < r.t1 {
				rects = append(rects, rect{max(r.t0, w.t0) - w.t0, min(r.t1, w.t1) - w.t0, r.lo, r.hi})
			}
		}
		if len(rects) == 0 {
			continue
		}
		if it.t0 < w.t0 || it.t1 > w.t1 {
			it.fixed = c.offsets[i]
		}
		it.rects = rects
		it.t0, it.t1 = max(it.t0, w.t0)-w.t0, min(it.t1, w.t1)-w.t0
		p.items = append(p.items, it)
		p.inputs = append(p.inputs, c.p.inputs[i])
		items = append(items, i)
	}
	p.dropSections()
	p.summarise()
	return p, items
}

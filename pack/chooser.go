package pack

import "math"

// A chooser finds, among the items left whose lifetime lies within a range of
// sections, the one of least rank. It is a k-d tree over lifetimes as points
// (start, end), each node with its bounding box and the least rank left below
// it, so that a query follows the better rank first and cuts off the rest.
type chooser struct {
	nodes []choice
	leaf  []int32 // node of each item
}

type choice struct {
	minT0, maxT0, minT1, maxT1 int32
	least                      int32 // least rank left below, or gone
}

// gone is the rank of no item.
const gone = math.MaxInt32

func newChooser(p *problem) *chooser {
	leaves := leavesFor(len(p.items))
	c := &chooser{make([]choice, 2*leaves), make([]int32, len(p.items))}
	for n := range c.nodes {
		c.nodes[n] = choice{math.MaxInt32, -1, math.MaxInt32, -1, gone}
	}
	c.build(p, 1, identity(len(p.items)), leaves, false)
	return c
}

// build makes node the root of a subtree with room for the given leaves.
func (c *chooser) build(p *problem, node int32, items []int32, leaves int, byEnd bool) {
	switch {
	case len(items) == 0:
		return
	case leaves == 1:
		it := &p.items[items[0]]
		c.nodes[node] = choice{it.t0, it.t0, it.t1, it.t1, gone}
		c.leaf[items[0]] = node
		return
	}
	half := (len(items) + 1) / 2
	halve(p, items, half, byEnd)
	c.build(p, 2*node, items[:half], leaves/2, !byEnd)
	c.build(p, 2*node+1, items[half:], leaves/2, !byEnd)
	l, r := &c.nodes[2*node], &c.nodes[2*node+1]
	c.nodes[node] = choice{min(l.minT0, r.minT0), max(l.maxT0, r.maxT0), min(l.minT1, r.minT1), max(l.maxT1, r.maxT1), gone}
}

// halve moves the n items of earliest start, or end, to the front. It is Hoare's
// quickselect: items of equal lifetime go to either side, by canonical order.
func halve(p *problem, items []int32, n int, byEnd bool) {
	before := func(a, b int32) bool {
		x, y := &p.items[a], &p.items[b]
		switch {
		case byEnd && x.t1 != y.t1:
			return x.t1 < y.t1
		case x.t0 != y.t0:
			return x.t0 < y.t0
		case x.t1 != y.t1:
			return x.t1 < y.t1
		}
		return a < b
	}
	for lo, hi := 0, len(items)-1; lo < hi; {
		a, pivot, b := items[lo], items[lo+(hi-lo)/2], items[hi]
		if before(b, a) {
			a, b = b, a
		}
		if before(pivot, a) { // the middle one of three
			pivot = a
		} else if before(b, pivot) {
			pivot = b
		}
		i, j := lo, hi
		for i <= j {
			for before(items[i], pivot) {
				i++
			}
			for before(pivot, items[j]) {
				j--
			}
			if i <= j {
				items[i], items[j] = items[j], items[i]
				i++
				j--
			}
		}
		switch { // items[lo:j+1] are before items[i:], with the pivot at most between
		case n <= j:
			hi = j
		case n > i:
			lo = i
		default:
			return
		}
	}
}

// fill puts all items back, with the given ranks.
func (c *chooser) fill(rank []int32) {
	for i, n := range c.leaf {
		c.nodes[n].least = rank[i]
	}
	for n := len(c.nodes)/2 - 1; n >= 1; n-- {
		c.nodes[n].least = min(c.nodes[2*n].least, c.nodes[2*n+1].least)
	}
}

// remove takes an item out.
func (c *chooser) remove(item int32) {
	n := c.leaf[item]
	c.nodes[n].least = gone
	for n /= 2; n >= 1; n /= 2 {
		c.nodes[n].least = min(c.nodes[2*n].least, c.nodes[2*n+1].least)
	}
}

// within returns the least rank of the items left within [a, b), or gone.
func (c *chooser) within(a, b int32) int32 { return c.search(1, a, b, gone) }

func (c *chooser) search(node, a, b, best int32) int32 {
	n := &c.nodes[node]
	if n.least >= best || n.maxT0 < a || n.minT1 > b {
		return best
	}
	if n.minT0 >= a && n.maxT1 <= b {
		return n.least
	}
	first, second := 2*node, 2*node+1
	if c.nodes[second].least < c.nodes[first].least {
		first, second = second, first
	}
	return c.search(second, a, b, c.search(first, a, b, best))
}

package pack

import "math"

// gapTree holds the free gaps between live buffers, by address, and finds the
// lowest gap in which a size fits. It is a treap: a search tree by lower edge,
// a heap by priorities hashed from a counter, each node with the longest gap below it.
// The topmost gap has no end.
type gapTree struct {
	nodes []gapNode
	root  int32
	spare []int32
	made  uint64
}

type gapNode struct {
	lo, hi      int64
	longest     int64 // of the gaps in this subtree
	priority    uint64
	left, right int32 // 0 is none
}

// endless is the upper edge of the topmost gap. No sum of sizes reaches it.
const endless = math.MaxInt64

func newGapTree() *gapTree {
	g := &gapTree{nodes: make([]gapNode, 1)}
	g.insert(0, endless)
	return g
}

// update restores the longest gap of a node after a change below it.
func (g *gapTree) update(n int32) {
	x := &g.nodes[n]
	x.longest = max(x.hi-x.lo, g.nodes[x.left].longest, g.nodes[x.right].longest)
}

func (g *gapTree) insert(lo, hi int64) {
	var n int32
	if k := len(g.spare); k > 0 {
		n, g.spare = g.spare[k-1], g.spare[:k-1]
	} else {
		n = int32(len(g.nodes))
		g.nodes = append(g.nodes, gapNode{})
	}
	g.made++
	g.nodes[n] = gapNode{lo: lo, hi: hi, longest: hi - lo, priority: mix(g.made)}
	g.root = g.insertAt(g.root, n)
}

// insertAt puts node n into the subtree at and returns its new root.
func (g *gapTree) insertAt(at, n int32) int32 {
	if at == 0 {
		return n
	}
	x, y := &g.nodes[at], &g.nodes[n]
	if y.priority > x.priority {
		y.left, y.right = g.cut(at, y.lo)
		g.update(n)
		return n
	}
	if y.lo < x.lo {
		x.left = g.insertAt(x.left, n)
	} else {
		x.right = g.insertAt(x.right, n)
	}
	g.update(at)
	return at
}

// cut divides a subtree into the gaps that begin below lo and the others.
func (g *gapTree) cut(at int32, lo int64) (below, above int32) {
	if at == 0 {
		return 0, 0
	}
	x := &g.nodes[at]
	if x.lo < lo {
		x.right, above = g.cut(x.right, lo)
		g.update(at)
		return at, above
	}
	below, x.left = g.cut(x.left, lo)
	g.update(at)
	return below, at
}

// join is the reverse of cut.
func (g *gapTree) join(below, above int32) int32 {
	if below == 0 {
		return above
	}
	if above == 0 {
		return below
	}
	if g.nodes[below].priority > g.nodes[above].priority {
		g.nodes[below].right = g.join(g.nodes[below].right, above)
		g.update(below)
		return below
	}
	g.nodes[above].left = g.join(below, g.nodes[above].left)
	g.update(above)
	return above
}

// remove takes out the gap that begins at lo, which must exist.
func (g *gapTree) remove(lo int64) { g.root = g.removeAt(g.root, lo) }

func (g *gapTree) removeAt(at int32, lo int64) int32 {
	x := &g.nodes[at]
	switch {
	case lo < x.lo:
		x.left = g.removeAt(x.left, lo)
	case lo > x.lo:
		x.right = g.removeAt(x.right, lo)
	default:
		g.spare = append(g.spare, at)
		return g.join(x.left, x.right)
	}
	g.update(at)
	return at
}

// around returns the gaps next to address lo: the last that begins below it and
// the first that does not; 0 for none.
func (g *gapTree) around(lo int64) (before, after int32) {
	for at := g.root; at != 0; {
		if x := &g.nodes[at]; x.lo < lo {
			before, at = at, x.right
		} else {
			after, at = at, x.left
		}
	}
	return before, after
}

// take occupies size bytes in the lowest gap that holds them at a multiple of
// align, and returns their offset.
func (g *gapTree) take(size, align int64) int64 {
	n := g.fit(g.root, size, align)
	lo, hi := g.nodes[n].lo, g.nodes[n].hi
	offset := alignUp(lo, align)
	g.remove(lo)
	if lo < offset {
		g.insert(lo, offset)
	}
	if offset+size < hi {
		g.insert(offset+size, hi)
	}
	return offset
}

// fit returns the lowest gap of a subtree that holds size bytes, or 0.
func (g *gapTree) fit(at int32, size, align int64) int32 {
	if at == 0 || g.nodes[at].longest < size {
		return 0
	}
	x := &g.nodes[at]
	if n := g.fit(x.left, size, align); n != 0 {
		return n
	}
	if x.hi-alignUp(x.lo, align) >= size {
		return at
	}
	return g.fit(x.right, size, align)
}

// free gives [lo, hi) back and joins it to the gaps it touches.
func (g *gapTree) free(lo, hi int64) {
	before, after := g.around(lo)
	if before != 0 && g.nodes[before].hi == lo {
		lo = g.nodes[before].lo
		g.remove(lo)
	}
	if after != 0 && g.nodes[after].lo == hi {
		hi = g.nodes[after].hi
		g.remove(g.nodes[after].lo)
	}
	g.insert(lo, hi)
}

// mix scrambles the bits of x: a fixed hash, for priorities, keys and noise that
// are the same in every run.
func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	return x
}

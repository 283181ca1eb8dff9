package circuit

import (
	"math"
	"slices"
)

// offsets are disjoint sets of small numbers that stand for positions known
// relative to each other: a set is what equations of the form "b lies d bytes after
// a" have joined (Galler and Fischer, An improved equivalence algorithm, 1964).
// Every number starts in a set of its own. Where only the sets matter, d is 0.
type offsets struct {
	parent []int   // the size of its set, negated, at a root
	delta  []int64 // from the parent; 0 at a root
	reach  int64   // no two joined positions are farther apart
}

// maxReach bounds positions, so that sums of a few of them cannot overflow.
const maxReach = math.MaxInt64 / 4

func newOffsets(n int) *offsets {
	return &offsets{parent: slices.Repeat([]int{-1}, n), delta: make([]int64, n)}
}

// root returns the number that stands for the set of x.
func (o *offsets) root(x int) int {
	root, _ := o.find(x)
	return root
}

// find returns the root of x and how many bytes x lies after it. It shortens the
// way there.
func (o *offsets) find(x int) (root int, after int64) {
	for root = x; o.parent[root] >= 0; root = o.parent[root] {
		after += o.delta[root]
	}
	for at, d := x, after; at != root; {
		at, o.parent[at], o.delta[at], d = o.parent[at], root, d, d-o.delta[at]
	}
	return root, after
}

// join adds the equation that b lies d bytes after a; d is not negative. If both
// are in one set already nothing changes, and known is where b lies; the equation
// holds if known is d. ok is false if positions could become larger than maxReach.
func (o *offsets) join(a, b int, d int64) (known int64, ok bool) {
	ra, da := o.find(a)
	rb, db := o.find(b)
	if ra == rb {
		return db - da, true
	}
	if d > maxReach-o.reach {
		return 0, false
	}
	o.reach += d
	step := da + d - db // from ra to rb
	if o.parent[ra] > o.parent[rb] {
		ra, rb, step = rb, ra, -step
	}
	o.parent[ra] += o.parent[rb]
	o.parent[rb] = ra
	o.delta[rb] = step
	return d, true
}

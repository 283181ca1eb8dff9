package circuit

import "math"

// sets are disjoint sets of small numbers (Galler and Fischer, An improved
// equivalence algorithm, 1964). Every number starts in a set of its own.
type sets []int

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = -1 // a root holds its set's size, negated
	}
	return s
}

// find returns the number that stands for the set of x.
func (s sets) find(x int) int {
	root := x
	for s[root] >= 0 {
		root = s[root]
	}
	for x != root {
		x, s[x] = s[x], root
	}
	return root
}

// join makes one set of the sets of a and b.
func (s sets) join(a, b int) {
	a, b = s.find(a), s.find(b)
	if a == b {
		return
	}
	if s[a] > s[b] {
		a, b = b, a
	}
	s[a] += s[b]
	s[b] = a
}

// offsets are disjoint sets of positions that are known relative to each other:
// a set is what equations of the form "b lies d bytes after a" have joined.
type offsets struct {
	sets
	delta []int64 // from the parent; 0 at a root
	reach int64   // no two joined positions are farther apart
}

// maxReach bounds positions, so that sums of a few of them cannot overflow.
const maxReach = math.MaxInt64 / 4

func newOffsets(n int) *offsets { return &offsets{sets: newSets(n), delta: make([]int64, n)} }

// find returns the root of x and how many bytes x lies after it. It shortens the
// way there.
func (o *offsets) find(x int) (root int, after int64) {
	for root = x; o.sets[root] >= 0; root = o.sets[root] {
		after += o.delta[root]
	}
	for at, d := x, after; at != root; {
		at, o.sets[at], o.delta[at], d = o.sets[at], root, d, d-o.delta[at]
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
	if o.sets[ra] > o.sets[rb] {
		ra, rb, step = rb, ra, -step
	}
	o.sets[ra] += o.sets[rb]
	o.sets[rb] = ra
	o.delta[rb] = step
	return d, true
}

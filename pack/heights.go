package pack

import "math/bits"

// heights keeps a height for each section, and answers for the greatest height
// in a range of sections, in time log n. It is a segment tree whose ranges are
// only ever raised, so that a raise is remembered where it covers a whole node
// and never pushed down.
type heights struct {
	leaves int
	peak   []int64 // greatest height anywhere below the node
	cover  []int64 // height that the whole node has at least
}

func newHeights(sections int) *heights {
	leaves := leavesFor(sections)
	return &heights{leaves, make([]int64, 2*leaves), make([]int64, 2*leaves)}
}

// leavesFor returns how many leaves a binary tree for n things has, a power of two.
func leavesFor(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }

// raise lifts every section of [t0, t1) to at least h.
func (s *heights) raise(t0, t1 int32, h int64) {
	a, b := int(t0)+s.leaves, int(t1)+s.leaves
	for l, r := a, b; l < r; l, r = l/2, r/2 {
		if l&1 == 1 {
			s.cover[l], s.peak[l] = max(s.cover[l], h), max(s.peak[l], h)
			l++
		}
		if r&1 == 1 {
			r--
			s.cover[r], s.peak[r] = max(s.cover[r], h), max(s.peak[r], h)
		}
	}
	for l := a / 2; l >= 1; l /= 2 {
		s.peak[l] = max(s.peak[l], s.peak[2*l], s.peak[2*l+1])
	}
	for r := (b - 1) / 2; r >= 1; r /= 2 {
		s.peak[r] = max(s.peak[r], s.peak[2*r], s.peak[2*r+1])
	}
}

// top returns the greatest height in [t0, t1).
func (s *heights) top(t0, t1 int32) int64 {
	var h int64
	a, b := int(t0)+s.leaves, int(t1)+s.leaves
	for l, r := a, b; l < r; l, r = l/2, r/2 {
		if l&1 == 1 {
			h = max(h, s.peak[l])
			l++
		}
		if r&1 == 1 {
			r--
			h = max(h, s.peak[r])
		}
	}
	for l := a / 2; l >= 1; l /= 2 {
		h = max(h, s.cover[l])
	}
	for r := (b - 1) / 2; r >= 1; r /= 2 {
		h = max(h, s.cover[r])
	}
	return h
}

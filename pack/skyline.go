package pack

import "math"

// A skyline places items bottom up: it keeps the height of what is placed as
// steps, always works on the lowest step, and puts on it the best ranked item
// that lies within the step's sections, or, when none does, fills the step up to
// its lower neighbour. Nothing is ever placed below something else, so each
// height is known at once; the method is the best-fit heuristic of strip packing
// (Burke, Kendall and Whitwell, "A New Placement Heuristic for the Orthogonal
// Stock-Cutting Problem", 2004) with time as the fixed axis. It takes time
// n log n and what [chooser] takes for n queries.
type skyline struct {
	p       *problem
	choose  *chooser
	offsets []int64
	steps   []step
	heap    []int32 // steps by height, then section
}

// A step is the height h over the sections [a, b). Steps form a list.
type step struct {
	a, b       int32
	h          int64
	prev, next int32 // none at the ends
	at         int32 // position in the heap
}

const none = -1

func newSkyline(p *problem) *skyline {
	return &skyline{p: p, choose: newChooser(p), offsets: make([]int64, len(p.items))}
}

// place places all items, preferring those that come early in order, and returns
// their offsets, which the next call overwrites. Parts and fixed offsets are not
// taken into account.
func (s *skyline) place(order []int32) []int64 {
	s.choose.fill(places(order))
	s.steps, s.heap = s.steps[:0], s.heap[:0]
	s.add(step{a: 0, b: int32(s.p.sections), prev: none, next: none})
	for left := len(s.p.items); left > 0; {
		k := s.heap[0]
		low := s.steps[k]
		rank := s.choose.within(low.a, low.b)
		if rank == gone {
			s.lift(k)
			continue
		}
		i := order[rank]
		s.choose.remove(i)
		left--
		it := &s.p.items[i]
		s.offsets[i] = alignUp(low.h, it.align)
		s.cover(k, it.t0, it.t1, s.offsets[i]+it.size)
	}
	return s.offsets
}

// lift fills step k up to its lower neighbour and joins it to it.
func (s *skyline) lift(k int32) {
	h := int64(math.MaxInt64)
	if n := s.steps[k].prev; n != none {
		h = min(h, s.steps[n].h)
	}
	if n := s.steps[k].next; n != none {
		h = min(h, s.steps[n].h)
	}
	s.grow(k, h)
}

// cover raises the part [t0, t1) of step k to h.
func (s *skyline) cover(k, t0, t1 int32, h int64) {
	old := s.steps[k]
	if old.a < t0 {
		n := s.add(step{a: old.a, b: t0, h: old.h, prev: old.prev, next: k})
		if old.prev != none {
			s.steps[old.prev].next = n
		}
		s.steps[k].prev = n
	}
	if t1 < old.b {
		n := s.add(step{a: t1, b: old.b, h: old.h, prev: k, next: old.next})
		if old.next != none {
			s.steps[old.next].prev = n
		}
		s.steps[k].next = n
	}
	s.steps[k].a, s.steps[k].b = t0, t1
	s.grow(k, h)
}

// grow raises step k to h and joins it to neighbours of that height.
func (s *skyline) grow(k int32, h int64) {
	s.steps[k].h = h
	s.sift(s.steps[k].at)
	if n := s.steps[k].prev; n != none && s.steps[n].h == h {
		s.drop(n)
		s.steps[k].a, s.steps[k].prev = s.steps[n].a, s.steps[n].prev
		if q := s.steps[k].prev; q != none {
			s.steps[q].next = k
		}
	}
	if n := s.steps[k].next; n != none && s.steps[n].h == h {
		s.drop(n)
		s.steps[k].b, s.steps[k].next = s.steps[n].b, s.steps[n].next
		if q := s.steps[k].next; q != none {
			s.steps[q].prev = k
		}
	}
	s.sift(s.steps[k].at)
}

// The heap is written out because container/heap would call through an
// interface several times for every item.

func (s *skyline) add(st step) int32 {
	k := int32(len(s.steps))
	st.at = int32(len(s.heap))
	s.steps = append(s.steps, st)
	s.heap = append(s.heap, k)
	s.sift(st.at)
	return k
}

// drop takes step k out of the heap.
func (s *skyline) drop(k int32) {
	at, last := s.steps[k].at, int32(len(s.heap)-1)
	s.heap[at] = s.heap[last]
	s.steps[s.heap[at]].at = at
	s.heap = s.heap[:last]
	if at < last {
		s.sift(at)
	}
}

func (s *skyline) less(i, j int32) bool {
	x, y := &s.steps[s.heap[i]], &s.steps[s.heap[j]]
	return x.h < y.h || x.h == y.h && x.a < y.a
}

func (s *skyline) swap(i, j int32) {
	s.heap[i], s.heap[j] = s.heap[j], s.heap[i]
	s.steps[s.heap[i]].at, s.steps[s.heap[j]].at = i, j
}

// sift moves the step at a heap position to where it belongs.
func (s *skyline) sift(at int32) {
	for at > 0 && s.less(at, (at-1)/2) {
		s.swap(at, (at-1)/2)
		at = (at - 1) / 2
	}
	for n := int32(len(s.heap)); 2*at+1 < n; {
		child := 2*at + 1
		if child+1 < n && s.less(child+1, child) {
			child++
		}
		if !s.less(child, at) {
			return
		}
		s.swap(at, child)
		at = child
	}
}

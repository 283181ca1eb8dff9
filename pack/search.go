package pack

import (
	"math"
	"math/bits"
)

// A searcher looks, depth first, for a placement within a capacity.
//
// It builds placements bottom up. Each item that is not placed has a floor: an
// offset below which it cannot lie any more. A step of the search takes an item
// that is ready (at its floor, everything else would have to lie above it) and
// tries two cases: the item lies at its floor; or it does not, and then rests on
// an item that is not placed yet, so that its floor rises to the least top that
// such an item can have. Every placement can be pushed down until each item
// rests on the bottom, a fixed item or another item, so one of the cases holds,
// and no placement is met twice. These are the canonical placements of MiniMalloc
// (Moffitt, ASPLOS 2023) with the branching of Le Pape's setTimes for schedules:
// bytes stand for time, sections for machines.
//
// What follows from floors in each section is in infer.go.
//
// Searches that fail are cut short by three things: items that no longer share
// sections, even indirectly, are searched apart; states found hopeless are
// remembered; and what a section has refused raises its weight, so that the
// search turns to trouble first.
//
// Items with gaps can interlock, so that none of them is ready. Then one of them
// is placed at its floor all the same, as an obstacle that others may pass below,
// or else lifted by the least step that can matter. For them an exhausted search
// is a proof only when alignments are equal: otherwise two items can hold each
// other up without either resting on a third.
type searcher struct {
	net      *network
	capacity int64
	rank     []int32 // items to try first have the least
	tight    bool    // choose the tightest section to work on, else the lowest

	floor    []int64
	placed   []bool
	spots    [][]spot
	sections []section
	dirty    []uint64 // sections to infer from, one bit each
	spanning []int32  // items not placed that are live on both sides of border t

	floors   []floorChange // what to undo
	changes  []sectionChange
	moves    []int32 // placed items, in order
	pool     []int32 // items of the parts being searched, as a stack
	tried    []int32 // items postponed at the nodes on the way down, as a stack
	stamps   []int64 // items tried at the current node have the latest stamp
	stamp    int64
	memo     []uint64
	salt     uint64
	nodes    int64
	limit    int64
	stop     func() bool
	complete bool // failed means that there is no placement
}

// A section is the state of one section: the entries of items not placed, and
// what infer found out about them.
type section struct {
	entries []entry // live[:live] are not placed; the others by placement, last first
	live    int
	remain  int64 // bytes of the live entries
	weight  int64 // 1 + contradictions met here
	summary
}

// A summary of the live entries of a section at their floors.
type summary struct {
	low    int64 // least bottom
	end    int64 // least top
	endBy  int32 // item with the least top
	second int64 // least top of the other items
	firsts int32 // entries that could be the lowest
}

type floorChange struct {
	item  int32
	floor int64
}

type sectionChange struct {
	section int32
	summary
}

// unbounded is greater than any offset or top.
const unbounded = math.MaxInt64

// A status is how a search ended.
type status int

const (
	solved  status = iota // all items are placed
	failed                // there is no way to place them
	aborted               // out of nodes, or told to stop
)

// maxMemo is the greatest number of states remembered.
const maxMemo = 1 << 16

func newSearcher(net *network) *searcher {
	n := len(net.p.items)
	s := &searcher{
		net:      net,
		floor:    make([]int64, n),
		placed:   make([]bool, n),
		spots:    make([][]spot, n),
		sections: make([]section, net.p.sections),
		dirty:    make([]uint64, (net.p.sections+63)/64),
		spanning: make([]int32, net.p.sections+1),
		stamps:   make([]int64, n),
		memo:     make([]uint64, min(maxMemo, 1<<bits.Len(uint(256*n)))),
	}
	return s
}

// run searches for a placement of all items within capacity, for at most limit
// nodes or until stop. When it is solved, floor holds the offsets.
func (s *searcher) run(capacity, limit int64, stop func() bool) status {
	s.reset(capacity)
	s.limit, s.stop = limit, stop
	s.markDirty(0, int32(s.net.p.sections))
	if !s.infer() {
		s.complete = true
		return failed
	}
	return s.split(identity(len(s.placed)), len(s.placed), 0, int32(s.net.p.sections))
}

func (s *searcher) reset(capacity int64) {
	s.capacity = capacity
	s.salt = mix(uint64(capacity) + 1)
	s.nodes = 0
	s.complete = s.net.p.provable
	s.floors, s.changes, s.moves, s.pool = s.floors[:0], s.changes[:0], s.moves[:0], s.pool[:0]
	s.tried = s.tried[:0]
	clear(s.dirty)
	clear(s.spanning)
	// Ties are broken by the order of entries, in which the last search, which may
	// have been stopped at any time, must leave no trace.
	for i, spots := range s.net.entries {
		s.spots[i] = append(s.spots[i][:0], spots...)
	}
	for t := range s.sections {
		sec := &s.sections[t]
		sec.entries = append(sec.entries[:0], s.net.sections[t]...)
		sec.live, sec.remain, sec.weight = len(sec.entries), 0, 1
		for _, e := range sec.entries {
			sec.remain += e.hi - e.lo
		}
	}
	for i := range s.placed {
		it := &s.net.p.items[i]
		s.placed[i] = false
		s.floor[i] = max(it.fixed, 0)
		for t := it.t0 + 1; t < it.t1; t++ {
			s.spanning[t]++
		}
	}
}

// solve places those of items that are not placed, which number left and lie
// within the sections [a, b).
func (s *searcher) solve(items []int32, left int, a, b int32) status {
	key := s.key(items)
	slot := &s.memo[key&uint64(len(s.memo)-1)]
	if *slot == key {
		s.nodes++
		return failed
	}
	base := len(s.tried)
	defer func() { s.tried = s.tried[:base] }()
	for {
		s.nodes++
		if s.nodes > s.limit || s.nodes&63 == 0 && s.stop() {
			return aborted
		}
		i, ready := s.pick(items, a, b)
		mark := s.mark()
		if s.put(i) && s.infer() {
			if st := s.split(items, left-1, a, b); st != failed {
				return st
			}
		}
		s.undo(mark)
		next := s.floor[i] + s.net.p.grain
		if ready {
			next = s.postponed(i)
		}
		s.tried = append(s.tried, i)
		if !s.raise(i, next) || !s.raiseTried(items, s.tried[base:]) || !s.infer() {
			*slot = key
			return failed
		}
	}
}

// raiseTried draws the conclusion of all the cases tried at a node together. The
// lowest of the items rests on what is placed, so it is none of those that have
// been tried: they lie above one that has not. Without this two items would go
// on postponing each other. It reports false when there is no such item.
func (s *searcher) raiseTried(items, tried []int32) bool {
	if s.net.p.gaps {
		return true // above does not mean higher up
	}
	s.stamp++
	for _, i := range tried {
		s.stamps[i] = s.stamp
	}
	least := int64(unbounded)
	for _, i := range items {
		if !s.placed[i] && s.stamps[i] != s.stamp {
			least = min(least, s.floor[i]+s.net.p.items[i].size)
		}
	}
	for _, i := range tried {
		if !s.raise(i, least) {
			return false
		}
	}
	return true
}

// split solves, one after the other, the parts into which the items not placed
// fall: they share no section with each other.
func (s *searcher) split(items []int32, left int, a, b int32) status {
	if left == 0 {
		return solved
	}
	cut := false
	for t := a + 1; t < b; t++ {
		cut = cut || s.spanning[t] == 0
	}
	if !cut && 2*left > len(items) {
		return s.solve(items, left, a, b) // not worth a list of their own
	}
	base := len(s.pool)
	st := solved
	for from, t := a, a+1; t <= b && st == solved; t++ {
		if t < b && s.spanning[t] > 0 {
			continue
		}
		start := len(s.pool)
		for _, i := range items {
			if it := &s.net.p.items[i]; !s.placed[i] && it.t0 >= from && it.t0 < t {
				s.pool = append(s.pool, i)
			}
		}
		if part := s.pool[start:]; len(part) > 0 {
			st = s.solve(part, len(part), from, t)
		}
		from = t
	}
	s.pool = s.pool[:base]
	return st
}

// key identifies the state of the items not placed, which is all that decides
// whether they can be: their floors.
func (s *searcher) key(items []int32) uint64 {
	h := s.salt
	for _, i := range items {
		if s.placed[i] {
			continue
		}
		h += mix(uint64(s.floor[i])*0x9e3779b97f4a7c15 + uint64(i)*0xc2b2ae3d27d4eb4f + s.salt)
	}
	return mix(h) | maxMemo // never the zero of an empty slot
}

package pack

import "math/bits"

// put places item i at its floor and lifts out of its way all others that meet
// it. It reports false when one of them cannot be lifted.
func (s *searcher) put(i int32) bool {
	it := &s.net.p.items[i]
	s.placed[i] = true
	s.moves = append(s.moves, i)
	for t := it.t0 + 1; t < it.t1; t++ {
		s.spanning[t]--
	}
	for k, sp := range s.spots[i] {
		sec := &s.sections[sp.section]
		sec.live--
		last := sec.entries[sec.live]
		mine := sec.entries[sp.at]
		sec.entries[sp.at], sec.entries[sec.live] = last, mine
		s.spots[last.item][last.nth].at = sp.at
		s.spots[i][k].at = int32(sec.live)
		sec.remain -= mine.hi - mine.lo
	}
	for _, r := range it.rects {
		s.markDirty(r.t0, r.t1)
	}
	f := s.floor[i]
	for _, a := range s.net.arcs[i] {
		least := f + a.up
		if s.placed[a.to] || s.floor[a.to] >= least {
			continue
		}
		if s.net.p.gaps { // it may also pass below
			least = s.clear(a.to, s.floor[a.to])
		}
		if !s.raise(a.to, least) {
			for _, r := range it.rects {
				for t := r.t0; t < r.t1; t++ {
					s.sections[t].weight++
				}
			}
			return false
		}
	}
	return true
}

// unput takes back the last placed item. Entries moved since then have moved
// back already.
func (s *searcher) unput() {
	i := s.moves[len(s.moves)-1]
	s.moves = s.moves[:len(s.moves)-1]
	s.placed[i] = false
	it := &s.net.p.items[i]
	for t := it.t0 + 1; t < it.t1; t++ {
		s.spanning[t]++
	}
	for k := len(s.spots[i]) - 1; k >= 0; k-- {
		sec := &s.sections[s.spots[i][k].section]
		e := &sec.entries[sec.live]
		sec.live++
		sec.remain += e.hi - e.lo
	}
}

// A mark is a state to come back to.
type mark struct{ floors, changes, moves int }

func (s *searcher) mark() mark { return mark{len(s.floors), len(s.changes), len(s.moves)} }

func (s *searcher) undo(m mark) {
	for k := len(s.floors) - 1; k >= m.floors; k-- {
		s.floor[s.floors[k].item] = s.floors[k].floor
	}
	for k := len(s.changes) - 1; k >= m.changes; k-- {
		s.sections[s.changes[k].section].summary = s.changes[k].summary
	}
	for len(s.moves) > m.moves {
		s.unput()
	}
	s.floors, s.changes = s.floors[:m.floors], s.changes[:m.changes]
	clear(s.dirty)
}

// markDirty notes the sections [a, b) for inference.
func (s *searcher) markDirty(a, b int32) {
	if a >= b {
		return
	}
	first, last := a>>6, (b-1)>>6
	from := ^uint64(0) << (a & 63)
	to := ^uint64(0) >> (63 - (b-1)&63)
	if first == last {
		s.dirty[first] |= from & to
		return
	}
	s.dirty[first] |= from
	for w := first + 1; w < last; w++ {
		s.dirty[w] = ^uint64(0)
	}
	s.dirty[last] |= to
}

// nextDirty takes the first dirty section.
func (s *searcher) nextDirty() (t int, ok bool) {
	for w, d := range s.dirty {
		if d != 0 {
			s.dirty[w] = d & (d - 1)
			return w<<6 + bits.TrailingZeros64(d), true
		}
	}
	return 0, false
}

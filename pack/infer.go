package pack

// raise lifts the floor of item i to at least f. It reports false when the item
// no longer fits.
func (s *searcher) raise(i int32, f int64) bool {
	it := &s.net.p.items[i]
	old := s.floor[i]
	if f <= old {
		return true
	}
	if f > s.capacity-it.size || it.fixed != free {
		return false
	}
	if f = alignUp(f, it.align); s.net.p.gaps {
		f = s.clear(i, f)
	}
	if f > s.capacity-it.size {
		return false
	}
	s.floors = append(s.floors, floorChange{i, old})
	s.floor[i] = f
	// A section has nothing to learn from an item that could not be its lowest
	// and whose top was above the two least.
	for _, r := range it.rects {
		for t := r.t0; t < r.t1; t++ {
			sec := &s.sections[t]
			if old+r.lo <= s.capacity-sec.remain || sec.endBy == i || old+r.hi <= sec.second {
				s.dirty[t>>6] |= 1 << (t & 63)
			}
		}
	}
	return true
}

// clear returns the least offset from f on at which item i collides with nothing
// that is placed.
func (s *searcher) clear(i int32, f int64) int64 {
	align := s.net.p.items[i].align
	for again := true; again; {
		again = false
		for _, a := range s.net.arcs[i] {
			if !s.placed[a.to] {
				continue
			}
			// The arc's differences are those of the other offset from this one.
			for k := len(a.barred) - 1; k >= 0; k-- {
				if d := s.floor[a.to] - f; d > a.barred[k].lo && d < a.barred[k].hi {
					f = alignUp(s.floor[a.to]-a.barred[k].lo, align)
					again = true
				}
			}
		}
	}
	return f
}

// infer draws what conclusions there are from the floors in dirty sections,
// until there are none left. It reports false on a contradiction.
//
// In each section, what is not placed is stacked, in some order, between the
// least floor and the capacity. So the lowest of the stack begins no higher than
// the capacity less all that remains: whatever has a floor above that limit is
// not lowest, and lies above the first top of those that could be.
func (s *searcher) infer() bool {
	for {
		t, ok := s.nextDirty()
		if !ok {
			return true
		}
		sec := &s.sections[t]
		live := sec.entries[:sec.live]
		now := s.summarise(live)
		if len(live) > 0 {
			limit := s.capacity - sec.remain
			if now.low > limit {
				sec.weight++
				return false
			}
			first := int64(unbounded) // least top of those that could be lowest
			rest := int64(unbounded)  // least bottom of the others
			for k := range live {
				e := &live[k]
				f := s.floor[e.item]
				if bottom := f + e.lo; bottom > limit {
					rest = min(rest, bottom)
				} else {
					now.firsts++
					first = min(first, f+e.hi)
				}
			}
			if rest < first {
				for k := range live {
					e := &live[k]
					bottom := s.floor[e.item] + e.lo
					if bottom > limit && bottom < first && !s.raise(e.item, first-e.lo) {
						sec.weight++
						return false
					}
				}
			}
		}
		if now != sec.summary {
			s.changes = append(s.changes, sectionChange{int32(t), sec.summary})
			sec.summary = now
		}
	}
}

// summarise finds the least bottom and the least tops of entries; not firsts.
func (s *searcher) summarise(live []entry) summary {
	sum := summary{low: unbounded, end: unbounded, endBy: none, second: unbounded}
	for k := range live {
		e := &live[k]
		f := s.floor[e.item]
		sum.low = min(sum.low, f+e.lo)
		switch top := f + e.hi; {
		case top < sum.end:
			if sum.endBy != e.item {
				sum.second = sum.end
			}
			sum.end, sum.endBy = top, e.item
		case top < sum.second && sum.endBy != e.item:
			sum.second = top
		}
	}
	return sum
}

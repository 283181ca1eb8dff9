package pack

// pick chooses the item to decide on, and says whether it is ready.
func (s *searcher) pick(items []int32, a, b int32) (item int32, ready bool) {
	sec := s.pickSection(a, b)
	limit := s.capacity - sec.remain
	if !s.tight {
		limit = sec.low
	}
	item = none
	for _, e := range sec.entries[:sec.live] {
		if s.floor[e.item]+e.lo <= limit && (item == none || s.rank[e.item] < s.rank[item]) && s.blocker(e.item) == none {
			item = e.item
		}
	}
	if item != none {
		return item, true
	}
	// Nothing that could be lowest in the section is ready. What lies in the way
	// of one of them elsewhere may be, or what lies in the way of that.
	item = sec.endBy
	for range items {
		next := s.blocker(item)
		if next == none {
			return item, true
		}
		item = next
	}
	item = none
	for _, i := range items {
		if s.placed[i] {
			continue
		}
		r := s.blocker(i) == none
		if item == none || r && !ready || r == ready && s.floor[i] < s.floor[item] {
			item, ready = i, r
		}
	}
	return item, ready
}

// pickSection chooses the section to work on: of tight searchers the one with
// the fewest entries that could be lowest, for its weight; of others the lowest.
func (s *searcher) pickSection(a, b int32) *section {
	var best *section
	for t := a; t < b; t++ {
		sec := &s.sections[t]
		if sec.live == 0 {
			continue
		}
		switch {
		case best == nil:
			best = sec
		case !s.tight && sec.low != best.low:
			if sec.low < best.low {
				best = sec
			}
		case int64(sec.firsts)*best.weight < int64(best.firsts)*sec.weight:
			best = sec
		}
	}
	return best
}

// blocker returns an item that could lie below i somewhere while i is at its
// floor, or none when i is ready.
func (s *searcher) blocker(i int32) int32 {
	f := s.floor[i]
	for _, r := range s.net.p.items[i].rects {
		for t := r.t0; t < r.t1; t++ {
			sec := &s.sections[t]
			if sec.endBy != i {
				if sec.end <= f+r.lo {
					return sec.endBy
				}
			} else if sec.second <= f+r.lo {
				for _, e := range sec.entries[:sec.live] {
					if e.item != i && s.floor[e.item]+e.hi == sec.second {
						return e.item
					}
				}
			}
		}
	}
	return none
}

// postponed returns the least offset of item i, which is ready, given that it is
// not its floor.
func (s *searcher) postponed(i int32) int64 {
	least := int64(unbounded)
	for _, r := range s.net.p.items[i].rects {
		for t := r.t0; t < r.t1; t++ {
			sec := &s.sections[t]
			if sec.endBy != i {
				least = min(least, sec.end-r.lo)
			} else {
				least = min(least, sec.second-r.lo)
			}
		}
	}
	if s.net.p.gaps { // there may be something placed higher up to rest on
		for _, a := range s.net.arcs[i] {
			if s.placed[a.to] {
				for _, b := range a.barred {
					if o := s.floor[a.to] - b.lo; o > s.floor[i] {
						least = min(least, o)
					}
				}
			}
		}
	}
	return least
}

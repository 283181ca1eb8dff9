package pack

import "slices"

// A network is what does not change while a component is searched: which items
// meet in which sections, and how far apart they then have to be. Searchers
// share it.
type network struct {
	p        *problem
	sections [][]entry // rectangles by section
	entries  [][]spot  // by item: its rectangles, section by section
	arcs     [][]arc   // by item: the items it meets
}

// An entry is the part of one rectangle that lies in one section.
type entry struct {
	item   int32
	nth    int32 // index among the item's spots
	lo, hi int64 // bytes relative to the item's offset
}

// A spot says in which section an entry lies, and where in the section's list.
type spot struct{ section, at int32 }

// An arc leads to an item that shares sections with the one it belongs to. When
// that item lies above, its offset is at least up bytes greater. When either has
// gaps, barred lists all differences of offsets at which the two collide, as
// open intervals, rising and apart.
type arc struct {
	to     int32
	up     int64
	barred []span
}

// The largest networks that are searched. Beyond, a node costs so much time that
// better greedy placements are the better use of it.
const (
	maxItems   = 5_000
	maxEntries = 1 << 20
	maxArcs    = 1 << 22
)

// newNetwork returns nil when the problem is too large to search.
func newNetwork(p *problem) *network {
	if len(p.items) > maxItems {
		return nil
	}
	total := 0
	for i := range p.items {
		for _, r := range p.items[i].rects {
			if total += int(r.t1 - r.t0); total > maxEntries {
				return nil
			}
		}
	}
	n := &network{
		p:        p,
		sections: make([][]entry, p.sections),
		entries:  make([][]spot, len(p.items)),
		arcs:     make([][]arc, len(p.items)),
	}
	for i := range p.items {
		for _, r := range p.items[i].rects {
			for t := r.t0; t < r.t1; t++ {
				e := entry{int32(i), int32(len(n.entries[i])), r.lo, r.hi}
				n.entries[i] = append(n.entries[i], spot{t, int32(len(n.sections[t]))})
				n.sections[t] = append(n.sections[t], e)
			}
		}
	}
	arcs := 0
	at := make([]int32, len(p.items)) // 1 + position of the arc to an item
	for i := range p.items {
		own := []arc{}
		for _, sp := range n.entries[i] {
			mine := &n.sections[sp.section][sp.at]
			for _, e := range n.sections[sp.section] {
				if e.item == int32(i) {
					continue
				}
				if at[e.item] == 0 {
					own = append(own, arc{to: e.item, up: mine.hi - e.lo})
					at[e.item] = int32(len(own))
				}
				a := &own[at[e.item]-1]
				a.up = max(a.up, mine.hi-e.lo)
				if p.gaps {
					a.barred = addSpan(a.barred, span{mine.lo - e.hi, mine.hi - e.lo})
				}
			}
		}
		for _, a := range own {
			at[a.to] = 0
		}
		n.arcs[i] = own
		if arcs += len(own); arcs > maxArcs {
			return nil
		}
	}
	return n
}

// addSpan adds an open interval to a union of them. Intervals that only touch
// stay apart: the point between them is free.
func addSpan(union []span, s span) []span {
	from := 0
	for from < len(union) && union[from].hi <= s.lo {
		from++
	}
	to := from
	for to < len(union) && union[to].lo < s.hi {
		s.lo, s.hi = min(s.lo, union[to].lo), max(s.hi, union[to].hi)
		to++
	}
	return slices.Replace(union, from, to, s)
}

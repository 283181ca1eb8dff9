package pack

// components divides a problem where no item is live across a section border:
// what lies on the two sides shares no time, so that each can be placed without
// regard to the other. Items that occupy nothing belong to none.
func (p *problem) components() []*problem {
	spanning := make([]int32, p.sections+1) // items live on both sides of border t
	for i := range p.items {
		if it := &p.items[i]; len(it.rects) > 0 {
			spanning[it.t0+1]++
			spanning[it.t1]--
		}
	}
	var first []int32     // first section of each component
	var members [][]int32 // items of each
	var across int32
	owner := make([]int, p.sections) // component of each section
	for t := range p.sections {
		across += spanning[t]
		if across == 0 {
			first = append(first, int32(t))
			members = append(members, nil)
		}
		owner[t] = len(first) - 1
	}
	first = append(first, int32(p.sections))
	for i := range p.items {
		if it := &p.items[i]; len(it.rects) > 0 {
			k := owner[it.t0]
			members[k] = append(members[k], int32(i))
		}
	}
	comps := make([]*problem, len(members))
	for k := range comps {
		comps[k] = p.part(members[k], first[k], first[k+1])
		comps[k].summarise()
	}
	return comps
}

// part returns the problem that some items are in the sections [a, b), in which
// each has a rectangle. It is not summarised.
func (p *problem) part(items []int32, a, b int32) *problem {
	rects := 0
	for _, i := range items {
		rects += len(p.items[i].rects)
	}
	store := make([]rect, 0, rects)
	q := &problem{
		buffers:  p.buffers,
		items:    make([]item, 0, len(items)),
		inputs:   make([]int, 0, len(items)),
		sections: int(b - a),
	}
	for _, i := range items {
		it, from := p.items[i], len(store)
		for _, r := range it.rects {
			if r.t0 < b && a < r.t1 {
				store = append(store, rect{max(r.t0, a) - a, min(r.t1, b) - a, r.lo, r.hi})
			}
		}
		it.rects = store[from:len(store):len(store)]
		it.t0, it.t1 = max(it.t0, a)-a, min(it.t1, b)-a
		q.items = append(q.items, it)
		q.inputs = append(q.inputs, p.inputs[i])
	}
	return q
}

// summarise sets what is known of a problem from its items.
func (p *problem) summarise() {
	p.lower = p.lowerBound()
	p.plain = true
	var align int64
	uniform := true
	for i := range p.items {
		it := &p.items[i]
		p.gaps = p.gaps || len(it.rects) > 0 && !it.whole()
		p.plain = p.plain && it.whole() && it.fixed == free && (i == 0 || p.items[i-1].t0 <= it.t0)
		p.grain = gcd(p.grain, it.size)
		if it.fixed != free {
			p.grain = gcd(p.grain, it.fixed)
		} else {
			uniform = uniform && (align == 0 || align == it.align)
			align = it.align
		}
		if it.align > 1 {
			p.grain = gcd(p.grain, it.align)
		}
		for _, r := range it.rects {
			p.grain = gcd(gcd(p.grain, r.lo), r.hi)
		}
	}
	p.grain = max(p.grain, 1)
	p.lower = alignUp(p.lower, p.grain)
	p.provable = !p.gaps || uniform
}

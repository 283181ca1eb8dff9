package pack

// components divides a problem where no item is live across a section border:
// what lies on the two sides shares no time, so that each can be placed without
// regard to the other. Items that occupy nothing belong to none.
func (p *problem) components() []*problem {
	spanning := make([]int32, p.sections+1) // items live on both sides of border t
	occupying := 0
	for i := range p.items {
		if it := &p.items[i]; len(it.rects) > 0 {
			spanning[it.t0+1]++
			spanning[it.t1]--
			occupying++
		}
	}
	owner := make([]int32, p.sections) // component of each section
	var first []int32                  // first section of each component
	var across int32
	for t := range p.sections {
		across += spanning[t]
		if across == 0 {
			first = append(first, int32(t))
		}
		owner[t] = int32(len(first) - 1)
	}
	first = append(first, int32(p.sections))

	count := make([]int, len(first))
	rects := 0
	for i := range p.items {
		if it := &p.items[i]; len(it.rects) > 0 {
			count[owner[it.t0]]++
			rects += len(it.rects)
		}
	}
	store := make([]rect, 0, rects)
	comps := make([]*problem, len(first)-1)
	for k := range comps {
		comps[k] = &problem{
			buffers:  p.buffers,
			items:    make([]item, 0, count[k]),
			inputs:   make([]int, 0, count[k]),
			sections: int(first[k+1] - first[k]),
		}
	}
	for i := range p.items {
		it := p.items[i]
		if len(it.rects) == 0 {
			continue
		}
		k := owner[it.t0]
		shift, from := first[k], len(store)
		for _, r := range it.rects {
			store = append(store, rect{r.t0 - shift, r.t1 - shift, r.lo, r.hi})
		}
		it.rects = store[from:len(store):len(store)]
		it.t0, it.t1 = it.t0-shift, it.t1-shift
		comps[k].items = append(comps[k].items, it)
		comps[k].inputs = append(comps[k].inputs, p.inputs[i])
	}
	for _, c := range comps {
		c.summarise()
	}
	return comps
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

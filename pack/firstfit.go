package pack

import (
	"cmp"
	"slices"
)

// firstFit places in canonical order, which is the rule of [FirstFit].
func firstFit(p *problem) []int64 { return fitByStart(p, identity(len(p.items))) }

// fitByStart is first fit in an order of rising start.
func fitByStart(p *problem, order []int32) []int64 {
	if p.plain {
		return sweepFit(p, order)
	}
	return fitInOrder(p, order)
}

// sweepFit is first fit in an order of rising start, for plain problems: what is
// in the way of an item is exactly what is live when it starts, so that the free
// gaps at one time are all there is to know. It takes time n log n.
func sweepFit(p *problem, order []int32) []int64 {
	ending := slices.Clone(order) // items by end
	slices.SortFunc(ending, func(a, b int32) int {
		return cmp.Or(cmp.Compare(p.items[a].t1, p.items[b].t1), cmp.Compare(a, b))
	})
	offsets := make([]int64, len(p.items))
	gaps := newGapTree()
	for _, i := range order {
		it := &p.items[i]
		for len(ending) > 0 && p.items[ending[0]].t1 <= it.t0 {
			e := ending[0]
			gaps.free(offsets[e], offsets[e]+p.items[e].size)
			ending = ending[1:]
		}
		offsets[i] = gaps.take(it.size, it.align)
	}
	return offsets
}

// fitInOrder is first fit in any order, for any problem. Fixed items are placed
// before all others. Time grows with the number of pairs of items that are live
// together.
func fitInOrder(p *problem, order []int32) []int64 {
	offsets := make([]int64, len(p.items))
	index := newIndex(p.sections)
	for i := range p.items {
		if it := &p.items[i]; it.fixed != free {
			offsets[i] = it.fixed
			index.add(it, int32(i))
		}
	}
	var hits []int32
	var barred []span
	for _, i := range order {
		it := &p.items[i]
		if it.fixed != free {
			continue
		}
		barred = barred[:0]
		hits = index.overlapping(hits[:0], it.t0, it.t1)
		for _, j := range hits {
			for _, h := range p.items[j].rects {
				for _, r := range it.rects {
					// Offsets strictly between these two make r and h collide.
					s := span{offsets[j] + h.lo - r.hi, offsets[j] + h.hi - r.lo}
					if r.t0 < h.t1 && h.t0 < r.t1 && s.hi > 0 {
						barred = append(barred, s)
					}
				}
			}
		}
		slices.SortFunc(barred, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
		var o int64
		for _, s := range barred {
			if s.lo >= o {
				break
			}
			if s.hi > o {
				o = alignUp(s.hi, it.align)
			}
		}
		offsets[i] = o
		index.add(it, i)
	}
	return offsets
}

// A span is an open interval (lo, hi) of offsets.
type span struct{ lo, hi int64 }

// An index finds the items that are live in a range of sections, from their
// first rectangle to their last: those that cover the first section of the range,
// from a segment tree in which each item lies on the few nodes that make it up,
// and those that start later within the range, from a list for each section.
type index struct {
	leaves int
	cover  [][]int32 // by node
	starts [][]int32 // by section
}

func newIndex(sections int) *index {
	leaves := leavesFor(sections)
	return &index{leaves, make([][]int32, 2*leaves), make([][]int32, sections)}
}

// add enters item i.
func (x *index) add(it *item, i int32) {
	if it.t0 == it.t1 {
		return
	}
	x.starts[it.t0] = append(x.starts[it.t0], i)
	for a, b := int(it.t0)+x.leaves, int(it.t1)+x.leaves; a < b; a, b = a/2, b/2 {
		if a&1 == 1 {
			x.cover[a] = append(x.cover[a], i)
			a++
		}
		if b&1 == 1 {
			b--
			x.cover[b] = append(x.cover[b], i)
		}
	}
}

// overlapping appends the items live somewhere in [t0, t1) to dst.
func (x *index) overlapping(dst []int32, t0, t1 int32) []int32 {
	if t0 == t1 {
		return dst
	}
	for n := int(t0) + x.leaves; n >= 1; n /= 2 {
		dst = append(dst, x.cover[n]...)
	}
	for t := t0 + 1; t < t1; t++ {
		dst = append(dst, x.starts[t]...)
	}
	return dst
}

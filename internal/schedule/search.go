package schedule

import "slices"

// found is the best order of a graph so far and what is known about others.
type found struct {
	order []int32
	peak  int64
	least int64 // no order has a lower peak
}

func (f *found) optimal() bool { return f.peak == f.least }

// take makes a better order the best one and reports whether it is better.
func (f *found) take(order []int32, peak int64) bool {
	if peak >= f.peak {
		return false
	}
	f.order, f.peak = order, peak
	return true
}

// improve lowers the peak of f, an order of g, until it is the least possible or
// the meter ends it. What it does up to there does not depend on the meter.
func improve(m *meter, g *graph, base int64, f *found) {
	for effort := int64(1 << 10); effort <= 1<<28 && !m.over; effort *= 4 {
		bisect(m, g, base, f, effort)
		if f.optimal() {
			return
		}
		windows(m, g, base, f, effort)
	}
}

// bisect looks for an order of g with a lower peak than that of f by deciding
// for one bound after another, with the given effort each.
func bisect(m *meter, g *graph, base int64, f *found, effort int64) {
	back := g.reverse()
	low := f.least // below it there is no order, or none that this effort finds
	for bound := low; low < f.peak && m.spend(4*g.size()); bound = low + (f.peak-low)/2 {
		d := newDecider(m, g, back, base, bound)
		switch d.run(effort) {
		case feasible:
			order := d.order()
			f.take(order, peakOf(g, base, order))
			continue
		case infeasible:
			f.least = min(f.peak, max(f.least, d.next))
		case unknown:
			if rescue(d, g, base, f, effort); f.peak <= bound {
				continue
			}
		}
		low = max(bound+1, d.next)
	}
}

// rescueMost is the most steps of a rest worth ordering by heuristics anew, once
// for every bound.
const rescueMost = 1 << 13

// rescue has heuristics order what a decider that got stuck has left between
// the ends.
func rescue(d *decider, g *graph, base int64, f *found, effort int64) {
	if g.steps-len(d.head.st.trail)-len(d.tail.st.trail) > rescueMost {
		return
	}
	steps, part, partBase := d.middle()
	all := heuristics(part)
	if !d.meter.spend(int64(len(all)) * 16 * part.size()) {
		return
	}
	try := func(order []int32) {
		middle := make([]int32, len(order))
		for i, x := range order {
			middle[i] = steps[x]
		}
		whole := d.join(middle)
		f.take(whole, peakOf(g, base, whole))
	}
	orders := make([][]int32, len(all))
	for i, h := range all {
		if d.meter.ctx.Err() != nil {
			return
		}
		orders[i] = h.order()
	}
	try(splice(part, partBase, orders))
	if part.steps > beamMost {
		return
	}
	for _, way := range []*graph{part, part.reverse()} {
		if f.peak <= d.bound {
			return
		}
		if order := beam(d.meter, way, partBase, d.bound, int(min(effort/256, 1<<12))); order != nil {
			if way.reversed {
				slices.Reverse(order)
			}
			try(order)
		}
	}
}

// windows looks for a better order of the steps around the first one of those
// with the most bytes alive, and goes on until it finds none.
func windows(m *meter, g *graph, base int64, f *found, effort int64) {
	for !f.optimal() && m.spend(4*g.size()) {
		if !improveHighest(m, g, base, f, effort) {
			return
		}
	}
}

// improveHighest improves a window around the first of the highest steps.
func improveHighest(m *meter, g *graph, base int64, f *found, effort int64) bool {
	t := trace(g, base, f.order)
	p := slices.Index(t.during, f.peak)
	for width := 8; width < g.steps; width *= 2 {
		for _, from := range []int{p - width/2, p - width + 2, p - 1} {
			from = max(0, min(from, g.steps-width))
			if t.window(m, g, f, from, from+width, effort) {
				f.peak = peakOf(g, base, f.order)
				return true
			}
			if m.over {
				return false
			}
		}
	}
	return false
}

// window replaces the steps of f from one position to another by a better order
// of them, and reports whether it has found one.
func (t *traced) window(m *meter, g *graph, f *found, from, to int, effort int64) bool {
	steps := f.order[from:to]
	part, base := g.sub(steps,
		func(v int32) bool { return int(t.first[v]) < from },
		func(v int32) bool { return int(t.last[v]) >= to },
		t.before[from])
	order := make([]int32, len(steps))
	for i := range order {
		order[i] = int32(i)
	}
	w := &found{order: order, peak: slices.Max(t.during[from:to]), least: part.lowest(base)}
	was := w.peak
	bisect(m, part, base, w, effort)
	if w.peak >= was {
		return false
	}
	whole := slices.Clone(f.order)
	for i, x := range w.order {
		whole[from+i] = steps[x]
	}
	f.order = whole
	return true
}

// traced is what happens along an order.
type traced struct {
	during      []int64 // bytes alive while the step at a position runs
	before      []int64 // and before it
	first, last []int32 // the positions at which a value is touched
}

func trace(g *graph, base int64, order []int32) *traced {
	t := &traced{
		during: make([]int64, g.steps), before: make([]int64, g.steps),
		first: make([]int32, len(g.bytes)), last: make([]int32, len(g.bytes)),
	}
	for v := range t.first {
		t.first[v] = -1
	}
	s := newState(g, base)
	for i, x := range order {
		t.before[i] = s.live
		t.during[i], _ = s.cost(x)
		for _, v := range g.vals.of(x) {
			if t.first[v] < 0 {
				t.first[v] = int32(i)
			}
			t.last[v] = int32(i)
		}
		s.do(x)
	}
	return t
}

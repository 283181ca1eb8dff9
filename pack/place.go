package pack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

func place(_ context.Context, buffers []Buffer, o Options) (*Placement, error) {
	p, err := newProblem(buffers)
	if err != nil {
		return nil, err
	}
	if o.Strategy == "" {
		o.Strategy = Auto
	}
	offsets := firstFit(p)
	if err := p.verify(offsets); err != nil {
		return nil, fmt.Errorf("pack: internal: %w", err)
	}
	pl := &Placement{Offsets: p.inputOrder(offsets), Arena: p.arena(offsets), LowerBound: p.lower, Strategy: o.Strategy}
	pl.Optimal = pl.Arena == pl.LowerBound
	if o.Capacity > 0 && pl.Arena > o.Capacity {
		return pl, &CapacityError{Required: pl.Arena, Capacity: o.Capacity, LowerBound: p.lower, Proven: o.Capacity < p.lower}
	}
	return pl, nil
}

func firstFit(p *problem) []int64 {
	offsets := make([]int64, len(p.items))
	var placed []int
	for i := range p.items {
		if p.items[i].fixed != free {
			offsets[i] = p.items[i].fixed
			placed = append(placed, i)
		}
	}
	for i := range p.items {
		it := &p.items[i]
		if it.fixed != free {
			continue
		}
		var bad [][2]int64
		for _, j := range placed {
			for _, a := range it.rects {
				for _, b := range p.items[j].rects {
					if a.t0 < b.t1 && b.t0 < a.t1 {
						bad = append(bad, [2]int64{offsets[j] + b.lo - a.hi, offsets[j] + b.hi - a.lo})
					}
				}
			}
		}
		slices.SortFunc(bad, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
		var o int64
		for _, f := range bad {
			if f[0] >= o {
				break
			}
			if f[1] > o {
				o = alignUp(f[1], it.align)
			}
		}
		offsets[i] = o
		placed = append(placed, i)
	}
	return offsets
}

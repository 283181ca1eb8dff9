package pack

import (
	"cmp"
	"fmt"
	"slices"
)

// verify is what every placement passes before it is returned, and what [Check]
// would say of it, in time n log n. Rectangles are taken by rising lower edge:
// two of them collide exactly when the highest top of those taken before is above
// the lower edge of one somewhere in its lifetime.
func (p *problem) verify(offsets []int64) error {
	type placed struct {
		t0, t1 int32
		lo, hi int64
		item   int32
	}
	rects := make([]placed, 0, len(p.items))
	for i := range p.items {
		it := &p.items[i]
		o := offsets[i]
		if o < 0 || o%it.align != 0 || it.fixed != free && o != it.fixed {
			return &BufferError{p.inputs[i], p.buffers[p.inputs[i]].ID,
				fmt.Sprintf("offset %d is negative, not aligned or not the fixed one", o)}
		}
		for _, r := range it.rects {
			rects = append(rects, placed{r.t0, r.t1, o + r.lo, o + r.hi, int32(i)})
		}
	}
	slices.SortFunc(rects, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.item, b.item))
	})
	sky := newHeights(p.sections)
	for _, r := range rects {
		if top := sky.top(r.t0, r.t1); top > r.lo {
			in := p.inputs[r.item]
			return &BufferError{in, p.buffers[in].ID, fmt.Sprintf("bytes [%d, %d) are taken up to %d", r.lo, r.hi, top)}
		}
		sky.raise(r.t0, r.t1, r.hi)
	}
	return nil
}

// checkFixed reports two fixed buffers that are in each other's way.
func (p *problem) checkFixed() error {
	fixed := problem{inputs: []int{}, buffers: p.buffers, sections: p.sections}
	var offsets []int64
	for i := range p.items {
		if p.items[i].fixed != free {
			fixed.items = append(fixed.items, p.items[i])
			fixed.inputs = append(fixed.inputs, p.inputs[i])
			offsets = append(offsets, p.items[i].fixed)
		}
	}
	if err := fixed.verify(offsets); err != nil {
		return fmt.Errorf("pack: fixed offsets contradict each other: %w", err)
	}
	return nil
}

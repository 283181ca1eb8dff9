package pack

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A problem is the validated input in the form the strategies work on: items in
// canonical order, so that nothing depends on the order of the input, and time
// compressed to sections between consecutive events.
type problem struct {
	items    []item
	inputs   []int // input index of each item
	buffers  []Buffer
	sections int // sections are numbered [0, sections)

	// What summarise finds out about the items.
	lower    int64 // lower bound on the arena, in bytes
	grain    int64 // all sizes, edges, alignments and fixed offsets are multiples of it
	gaps     bool  // some item is not one whole rectangle
	plain    bool  // every item is one whole rectangle, in order of t0, and none is fixed
	provable bool  // an exhausted search is a proof; see [searcher]
}

// An item is one buffer. Its rectangles do not overlap each other.
type item struct {
	size   int64
	align  int64 // at least 1
	fixed  int64 // given offset, or free
	t0, t1 int32 // sections [t0, t1) from the first rectangle to the last
	rects  []rect
}

// free is the fixed offset of an item whose offset is to be chosen.
const free = -1

// A rect is a piece of an item: the bytes [lo, hi) relative to the item's
// offset, over the sections [t0, t1).
type rect struct {
	t0, t1 int32
	lo, hi int64
}

// whole reports whether the item is a single rectangle as tall as its size.
func (it *item) whole() bool {
	return len(it.rects) == 1 && it.rects[0].lo == 0 && it.rects[0].hi == it.size
}

// alignUp rounds x up to a multiple of align. Callers keep x small enough:
// [newProblem] has checked that the sum of all sizes and alignments fits.
func alignUp(x, align int64) int64 {
	if align <= 1 {
		return x
	}
	if r := x % align; r != 0 {
		return x + align - r
	}
	return x
}

// newProblem validates buffers and brings them into canonical form.
func newProblem(buffers []Buffer) (*problem, error) {
	if len(buffers) > math.MaxInt32/4 {
		return nil, fmt.Errorf("pack: %d buffers are more than %d", len(buffers), math.MaxInt32/4)
	}
	var total int64 // what the worst placement could need
	rects := 0
	for i := range buffers {
		b := &buffers[i]
		if err := validate(i, b); err != nil {
			return nil, err
		}
		fixed := int64(0)
		if b.Fixed {
			fixed = b.Offset
		}
		for _, need := range [...]int64{b.Size, fixed, max(b.Align, 1) - 1} {
			if total > math.MaxInt64-need {
				return nil, &BufferError{i, b.ID, "the sum of sizes, alignments and fixed offsets up to this buffer overflows 64 bits"}
			}
			total += need
		}
		rects += max(1, len(b.Parts))
	}

	p := &problem{buffers: buffers, inputs: make([]int, len(buffers))}
	for i := range p.inputs {
		p.inputs[i] = i
	}
	slices.SortFunc(p.inputs, func(a, b int) int {
		return cmp.Or(compareBuffers(&buffers[a], &buffers[b]), cmp.Compare(a, b))
	})

	clock := newClock(buffers)
	p.sections = clock.sections()
	p.items = make([]item, len(buffers))
	store := make([]rect, 0, rects)
	for i, in := range p.inputs {
		b := &buffers[in]
		it := &p.items[i]
		it.size, it.align, it.fixed = b.Size, max(b.Align, 1), free
		if b.Fixed {
			it.fixed = b.Offset
		}
		from := len(store)
		store = appendRects(store, b, clock)
		it.rects = store[from:len(store):len(store)]
		if len(it.rects) > 0 {
			it.t0, it.t1 = it.rects[0].t0, it.rects[0].t1
			for _, r := range it.rects[1:] {
				it.t0, it.t1 = min(it.t0, r.t0), max(it.t1, r.t1)
			}
		}
	}
	p.dropSections()
	if err := p.checkFixed(); err != nil {
		return nil, err
	}
	p.summarise()
	return p, nil
}

// dropSections keeps only the sections whose set of live rectangles is not part
// of a neighbour's. Two rectangles share a kept section exactly when they share
// any, and the most live bytes are found in a kept one, so nothing is lost.
func (p *problem) dropSections() {
	starts := make([]bool, p.sections+1) // a rectangle starts at the lower edge of section t
	ends := make([]bool, p.sections+1)   // a rectangle ends there
	for i := range p.items {
		for _, r := range p.items[i].rects {
			starts[r.t0], ends[r.t1] = true, true
		}
	}
	// Going forward, a live set is greatest at the last section before an end,
	// provided something started since the previous one that was kept.
	kept := make([]int32, p.sections+1) // kept sections before t
	var n int32
	started := false
	for t := range p.sections {
		kept[t] = n
		started = started || starts[t]
		if started && ends[t+1] {
			n++
			started = false
		}
	}
	kept[p.sections] = n
	for i := range p.items {
		it := &p.items[i]
		for k, r := range it.rects {
			it.rects[k].t0, it.rects[k].t1 = kept[r.t0], kept[r.t1]
		}
		it.t0, it.t1 = kept[it.t0], kept[it.t1]
	}
	p.sections = int(n)
}

// validate checks one buffer on its own.
func validate(index int, b *Buffer) error {
	bad := func(format string, args ...any) error {
		return &BufferError{index, b.ID, fmt.Sprintf(format, args...)}
	}
	switch {
	case b.Start >= b.End:
		return bad("lifetime [%d, %d) is empty", b.Start, b.End)
	case b.Size < 0:
		return bad("size %d is negative", b.Size)
	case b.Align < 0:
		return bad("alignment %d is negative", b.Align)
	case b.Fixed && b.Offset < 0:
		return bad("fixed offset %d is negative", b.Offset)
	case b.Fixed && b.Offset%max(b.Align, 1) != 0:
		return bad("fixed offset %d is not a multiple of the alignment %d", b.Offset, b.Align)
	}
	for i, part := range b.Parts {
		switch {
		case part.Start >= part.End:
			return bad("part %d: lifetime [%d, %d) is empty", i, part.Start, part.End)
		case part.Start < b.Start || part.End > b.End:
			return bad("part %d: lifetime [%d, %d) is not within the buffer's [%d, %d)", i, part.Start, part.End, b.Start, b.End)
		case part.Lower < 0 || part.Lower > part.Upper || part.Upper > b.Size:
			return bad("part %d: bytes [%d, %d) are not a range within the buffer's %d bytes", i, part.Lower, part.Upper, b.Size)
		}
	}
	return nil
}

// compareBuffers is the canonical order: start, larger size first, ID, then the
// rest of the content. It is also the order in which first fit places. IDs that
// are decimal numbers without leading zeros compare as numbers.
func compareBuffers(a, b *Buffer) int {
	// In steps, because [cmp.Or] compares everything, and strings for nothing.
	if c := cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Size, a.Size), cmp.Compare(len(a.ID), len(b.ID))); c != 0 {
		return c
	}
	if c := cmp.Or(strings.Compare(a.ID, b.ID), cmp.Compare(b.End, a.End), cmp.Compare(b.Align, a.Align)); c != 0 {
		return c
	}
	if a.Fixed != b.Fixed {
		if a.Fixed {
			return -1
		}
		return 1
	}
	if a.Fixed && a.Offset != b.Offset {
		return cmp.Compare(a.Offset, b.Offset)
	}
	return slices.CompareFunc(a.Parts, b.Parts, func(p, q Part) int {
		return cmp.Or(cmp.Compare(p.Start, q.Start), cmp.Compare(p.End, q.End),
			cmp.Compare(p.Lower, q.Lower), cmp.Compare(p.Upper, q.Upper))
	})
}

// A clock maps times to section numbers: section k lies between the k-th and
// the next distinct time at which some buffer or part begins or ends.
type clock []int64

func newClock(buffers []Buffer) clock {
	times := make([]int64, 0, 2*len(buffers))
	for i := range buffers {
		b := &buffers[i]
		if len(b.Parts) == 0 {
			times = append(times, b.Start, b.End)
		}
		for _, part := range b.Parts {
			times = append(times, part.Start, part.End)
		}
	}
	slices.Sort(times)
	return clock(slices.Compact(times))
}

func (c clock) sections() int { return max(0, len(c)-1) }

func (c clock) index(time int64) int32 {
	i, _ := slices.BinarySearch(c, time)
	return int32(i)
}

// appendRects appends the rectangles that b occupies, none overlapping another.
func appendRects(dst []rect, b *Buffer, c clock) []rect {
	if len(b.Parts) == 0 {
		if b.Size == 0 {
			return dst
		}
		return append(dst, rect{c.index(b.Start), c.index(b.End), 0, b.Size})
	}
	from := len(dst)
	for _, part := range b.Parts {
		if part.Lower < part.Upper {
			dst = append(dst, rect{c.index(part.Start), c.index(part.End), part.Lower, part.Upper})
		}
	}
	own := dst[from:]
	slices.SortFunc(own, compareRects)
	if len(own) > 1 {
		merged := mergeRects(own)
		dst = append(dst[:from], merged...)
	}
	return dst
}

func compareRects(a, b rect) int {
	return cmp.Or(cmp.Compare(a.t0, b.t0), cmp.Compare(a.lo, b.lo),
		cmp.Compare(a.t1, b.t1), cmp.Compare(a.hi, b.hi))
}

// mergeRects returns rectangles that cover what rects cover, without overlap.
// It cuts time at every edge, joins the byte ranges of each slab, and glues
// equal ranges of neighbouring slabs: at worst the square of len(rects).
func mergeRects(rects []rect) []rect {
	cuts := make([]int32, 0, 2*len(rects))
	for _, r := range rects {
		cuts = append(cuts, r.t0, r.t1)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)

	var done, open []rect // open: rectangles that end at the current cut, by lo
	var slab, next, live []rect
	taken := 0
	for k := 0; k+1 < len(cuts); k++ {
		t0, t1 := cuts[k], cuts[k+1]
		live = slices.DeleteFunc(live, func(r rect) bool { return r.t1 <= t0 })
		for taken < len(rects) && rects[taken].t0 == t0 {
			live = append(live, rects[taken])
			taken++
		}
		slices.SortFunc(live, func(a, b rect) int {
			return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi))
		})
		slab = slab[:0]
		for _, r := range live {
			if n := len(slab); n > 0 && r.lo <= slab[n-1].hi {
				slab[n-1].hi = max(slab[n-1].hi, r.hi)
			} else {
				slab = append(slab, rect{t0, t1, r.lo, r.hi})
			}
		}
		next = next[:0]
		j := 0
		for _, s := range slab {
			for j < len(open) && open[j].lo < s.lo {
				done = append(done, open[j])
				j++
			}
			if j < len(open) && open[j].lo == s.lo && open[j].hi == s.hi {
				s.t0 = open[j].t0
				j++
			}
			next = append(next, s)
		}
		done = append(done, open[j:]...)
		open, next = next, open
	}
	done = append(done, open...)
	slices.SortFunc(done, compareRects)
	return done
}

// arena returns the bytes that a placement spans.
func (p *problem) arena(offsets []int64) int64 {
	var top int64
	for i := range p.items {
		top = max(top, offsets[i]+p.items[i].size)
	}
	return top
}

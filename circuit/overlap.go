package circuit

import (
	"cmp"
	"fmt"
	"slices"
)

// checkOverlaps checks that no two classes live at once share a byte, unless a
// packing lays one over the other.
//
// In most blocks that cannot happen: where each class is a member of one packing
// at most and has one over it at most, packings nest like a tree, in which what
// does not contain each other is apart. Only knotted blocks are looked at, class
// by class, which takes time in proportion to the pairs that share bytes.
func (s *solution) checkOverlaps() error {
	var o *overlay
	for i := range s.blocks {
		b := &s.blocks[i]
		if !b.knotted || len(b.classes) < 2 {
			continue
		}
		if o == nil {
			o = s.overlay()
		}
		if err := s.checkBlock(b, o); err != nil {
			return err
		}
	}
	return nil
}

func (s *solution) checkBlock(b *block, o *overlay) error {
	classes := slices.Clone(b.classes)
	slices.SortFunc(classes, func(x, y int) int { return cmp.Or(cmp.Compare(s.at[x], s.at[y]), cmp.Compare(x, y)) })
	var active []int // classes that reach beyond the current position
	for _, x := range classes {
		here := s.region(x)
		if here.isEmpty() {
			continue
		}
		active = slices.DeleteFunc(active, func(y int) bool { return s.region(y).end() <= here.at })
		var related map[int]bool // found when needed
		for _, y := range active {
			if s.span[x].Start > s.span[y].End || s.span[y].Start > s.span[x].End || !here.meets(s.region(y)) {
				continue
			}
			if related == nil {
				related = make(map[int]bool)
				collect(x, o.members, related)
				collect(x, o.over, related)
			}
			if !related[y] {
				return &PlanError{Kind: ErrLiveOverlap, Edge: s.name(EdgeID(y)), Other: s.name(EdgeID(x)),
					Detail: fmt.Sprintf("bytes [%d, %d) and [%d, %d) of one block, in groups %d to %d and %d to %d",
						s.at[y]-b.lo, s.region(y).end()-b.lo, here.at-b.lo, here.end()-b.lo,
						s.span[y].Start, s.span[y].End, s.span[x].Start, s.span[x].End)}
			}
		}
		active = append(active, x)
	}
	return nil
}

// An overlay says which classes lie over which because a packing does. These
// share bytes on purpose.
type overlay struct {
	members map[int][]int // by class: the members of the packings over it
	over    map[int][]int // by class: what the packings that it is a member of lie over
}

func (s *solution) overlay() *overlay {
	o := &overlay{make(map[int][]int), make(map[int][]int)}
	add := func(over, member EdgeID) {
		lower, upper := s.root(over), s.root(member)
		o.members[lower] = append(o.members[lower], upper)
		o.over[upper] = append(o.over[upper], lower)
	}
	for i := range s.packings {
		p := &s.packings[i]
		if p.over != noEdge {
			for _, m := range p.members {
				add(p.over, m)
			}
		}
		// A row pack that is a block of a pack lies, whole, over what that does.
		if p.block == none {
			continue
		}
		if outer := s.packings[p.block].over; outer != noEdge {
			for _, m := range p.members {
				add(outer, m)
			}
			if p.over != noEdge {
				add(outer, p.over)
			}
		}
	}
	return o
}

// collect adds to set what can be reached from x.
func collect(x int, graph map[int][]int, set map[int]bool) {
	for todo := []int{x}; len(todo) > 0; {
		x, todo = todo[len(todo)-1], todo[:len(todo)-1]
		for _, y := range graph[x] {
			if !set[y] {
				set[y] = true
				todo = append(todo, y)
			}
		}
	}
}

// A region is rows of width bytes, pitch bytes apart, from position at.
type region struct{ at, width, rows, pitch int64 }

func (s *solution) region(class int) region {
	size := s.size[class]
	if in := s.around[class]; in != none {
		return region{s.at[class], size.width, size.rows, s.packings[in].pitch}
	}
	return region{s.at[class], size.bytes, 1, size.bytes}
}

func (r region) isEmpty() bool { return r.rows == 0 || r.width == 0 }

// end returns the position after the last byte.
func (r region) end() int64 {
	if r.isEmpty() {
		return r.at
	}
	return r.at + (r.rows-1)*r.pitch + r.width
}

// meets reports whether two regions share a byte. Regions of different pitches,
// if both have more rows than one, are taken to share what lies between their
// ends.
func (r region) meets(q region) bool {
	if r.isEmpty() || q.isEmpty() || r.at >= q.end() || q.at >= r.end() {
		return false
	}
	pitch := r.pitch
	switch {
	case r.rows == 1:
		pitch = q.pitch
	case q.rows > 1 && q.pitch != r.pitch:
		return true
	}
	// Row i of r and row j of q share a byte if t = i-j has
	// d-r.width < t*pitch < d+q.width, where d is q.at-r.at.
	d := q.at - r.at
	least := floorDiv(d-r.width, pitch) + 1
	most := -floorDiv(-(d+q.width), pitch) - 1
	return max(least, -(q.rows-1)) <= min(most, r.rows-1)
}

// floorDiv returns a/b rounded down; b is positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

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
func (s *solution) checkOverlaps(over func() *overlay) error {
	for i := range s.blocks {
		if b := &s.blocks[i]; b.knotted && len(b.classes) > 1 {
			if err := s.checkBlock(b, over()); err != nil {
				return err
			}
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
		active = slices.DeleteFunc(active, func(y int) bool { return s.region(y).end() <= here.Offset })
		var related map[int]bool // found when needed
		for _, y := range active {
			if s.span[x].Start > s.span[y].End || s.span[y].Start > s.span[x].End || !here.meets(s.region(y)) {
				continue
			}
			if related == nil {
				related = o.related(x)
			}
			if !related[y] {
				return &PlanError{Kind: ErrLiveOverlap, Edge: s.name(EdgeID(y)), Other: s.name(EdgeID(x)),
					Detail: fmt.Sprintf("bytes [%d, %d) and [%d, %d) of one block, in groups %d to %d and %d to %d",
						s.at[y]-b.lo, s.region(y).end()-b.lo, here.Offset-b.lo, here.end()-b.lo,
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
		if p.over == noEdge {
			continue
		}
		for _, m := range p.pieces {
			add(p.over, m.edge)
		}
		// A row pack that is a block of a pack lies, whole, over what that does.
		if p.block != none {
			if outer := s.packings[p.block].over; outer != noEdge {
				add(outer, p.over)
			}
		}
	}
	return o
}

// related returns the classes that lie over x, or that x lies over, at any depth.
func (o *overlay) related(x int) map[int]bool {
	set := make(map[int]bool)
	for _, graph := range []map[int][]int{o.members, o.over} {
		for todo := []int{x}; len(todo) > 0; {
			last := len(todo) - 1
			from := todo[last]
			todo = todo[:last]
			for _, y := range graph[from] {
				if !set[y] {
					set[y] = true
					todo = append(todo, y)
				}
			}
		}
	}
	return set
}

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
	for i := range s.blocks {
		if b := &s.blocks[i]; b.knotted && len(b.classes) > 1 {
			if err := s.checkBlock(b); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *solution) checkBlock(b *block) error {
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
				related = s.related(x)
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

// related returns the classes that lie over class x because packings do, or that
// x lies over, at any depth. These share bytes on purpose.
func (k *constraints) related(x int) map[int]bool {
	set := make(map[int]bool)
	for _, next := range []func(class int) []EdgeID{k.above, k.below} {
		for todo := []int{x}; len(todo) > 0; {
			last := len(todo) - 1
			from := todo[last]
			todo = todo[:last]
			for _, e := range next(from) {
				if y := k.root(e); !set[y] {
					set[y] = true
					todo = append(todo, y)
				}
			}
		}
	}
	return set
}

// above returns the members of the packings over a class. A row pack that is a
// block of one of them brings along the edge that it lies over itself.
func (k *constraints) above(class int) (edges []EdgeID) {
	for _, id := range k.overs[class] {
		for _, m := range k.packings[id].pieces {
			edges = append(edges, m.edge)
			if in := &k.packings[k.memberOf[m.edge]]; in.block == id && in.over != noEdge {
				edges = append(edges, in.over)
			}
		}
	}
	return edges
}

// below returns the edges of which [constraints.above] returns one of a class.
func (k *constraints) below(class int) (edges []EdgeID) {
	packings := slices.Clone(k.homes[class])
	for _, id := range k.overs[class] {
		if block := k.packings[id].block; block != none {
			packings = append(packings, block)
		}
	}
	for _, id := range packings {
		if over := k.packings[id].over; over != noEdge {
			edges = append(edges, over)
		}
	}
	return edges
}

package circuit

import (
	"fmt"
	"slices"
)

// A write is an edge that got its value, in a group or outside the plan.
type write struct {
	edge  EdgeID
	group int // or outside
	order int // among all writes; 0 if there is none
}

// writes are, for some bytes, the last write and the last of another value than
// that of the former.
type writes [2]write

// checkOverwrites goes through the groups in their order and looks, for each edge
// read, at the writes of all that shares bytes with it: none that an earlier group
// made may have come after the edge's own, unless both hold one value.
//
// It takes time in proportion to the edges; where edges of one block hold different
// values, times the depth to which packs nest there.
func (s *solution) checkOverwrites() error {
	mixed := s.mixedBlocks()
	if !slices.Contains(mixed, true) {
		return nil
	}
	looksAt := func(e EdgeID) bool {
		return s.stored[e] && s.size[e].bytes > 0 && mixed[s.blockOf[s.root(e)]]
	}
	last := make([]writes, len(s.c.Edges)) // by class
	own := make([]int, len(s.c.Edges))     // by edge: the order of its write
	order := 0
	put := func(e EdgeID, group int) {
		if !looksAt(e) {
			return
		}
		order++
		own[e] = order
		class := s.root(e)
		last[class].add(write{e, group, order}, s.value)
		for x := range s.related(class) {
			last[x].add(write{e, group, order}, s.value)
		}
	}
	get := func(e EdgeID, group int) error {
		if !looksAt(e) {
			return nil
		}
		w := last[s.root(e)].other(e, s.value)
		if w.order <= own[e] {
			return nil
		}
		where := func(group int) string {
			if group == outside {
				return "outside the plan"
			}
			return "in " + s.groupName(group)
		}
		return &PlanError{Kind: ErrOverwritten, Edge: s.name(e), Other: s.name(w.edge),
			Detail: fmt.Sprintf("they share bytes, the latter is written %s, and then the former is read %s",
				where(w.group), where(group))}
	}
	// What comes from outside is there before the first group. Of two such edges
	// the order is not known: both have to be there if both are read.
	for e, group := range s.first {
		if group == outside && s.last[e] != never {
			put(EdgeID(e), outside)
		}
	}
	for g, group := range s.p.Groups {
		for _, n := range group.Nodes {
			for _, e := range s.c.Nodes[n].Inputs {
				if s.first[e] == g {
					continue // what a group reads of its own is the kernel's matter
				}
				if err := get(e, g); err != nil {
					return err
				}
			}
		}
		for _, n := range group.Nodes {
			for _, e := range s.c.Nodes[n].Outputs {
				put(e, g)
			}
		}
	}
	for e, group := range s.last {
		if group == outside {
			if err := get(EdgeID(e), outside); err != nil {
				return err
			}
		}
	}
	return nil
}

// mixedBlocks says of each block whether its edges hold different values.
func (s *solution) mixedBlocks() []bool {
	mixed := make([]bool, len(s.blocks))
	value := make([]int, len(s.blocks)) // of the first edge, plus one
	for e, stored := range s.stored {
		if !stored {
			continue
		}
		block, v := s.blockOf[s.class.root(e)], s.value.root(e)+1
		mixed[block] = mixed[block] || value[block] != 0 && value[block] != v
		value[block] = v
	}
	return mixed
}

// add notes a write that comes after all others.
func (w *writes) add(next write, value *offsets) {
	if w[0].order > 0 && value.root(int(w[0].edge)) != value.root(int(next.edge)) {
		w[1] = w[0]
	}
	w[0] = next
}

// other returns the last write of another value than that of e.
func (w *writes) other(e EdgeID, value *offsets) write {
	if w[0].order > 0 && value.root(int(w[0].edge)) == value.root(int(e)) {
		return w[1]
	}
	return w[0]
}

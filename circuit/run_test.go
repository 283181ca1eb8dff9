package circuit

import (
	"fmt"
	"slices"
)

// run executes a plan on bytes that remember which edge last wrote them, with the
// given number of rows and value of the dimension v. It returns an error if a group reads a byte that was last
// written as an edge that does not, by the layout, hold the value of the edge read,
// or if an output has such a byte in the end.
//
// A group's reads are looked at before it writes and again after: a kernel may do
// both at once, over what it reads.
func run(s sample, b *BufferPlan, rows, v int64) error {
	slots := make(map[EdgeID]Slot)
	buffer := make(map[EdgeID]EdgeID)
	for _, slot := range b.Slots {
		slots[slot.Edge], buffer[slot.Edge] = slot, noEdge
	}
	for _, bound := range b.Bound {
		slots[bound.Edge], buffer[bound.Edge] = bound.Slot, bound.External
	}
	type byteAt struct {
		buffer EdgeID
		at     int64
	}
	wrote := make(map[byteAt]EdgeID)
	value := lookupIn(map[string]int64{"n": rows, "k": 2, "v": v})
	each := func(e EdgeID, do func(byteAt) error) error {
		slot, stored := slots[e]
		if !stored {
			return nil
		}
		n, err := s.c.Edges[e].Rows.Eval(value)
		if err != nil {
			return err
		}
		dim, err := s.c.Edges[e].Dim.Eval(value)
		if err != nil {
			return err
		}
		width, err := s.c.Edges[e].Format.RowBytes(dim)
		if err != nil {
			return err
		}
		for i := range n {
			for k := int64(0); k < width; k += grain {
				if err := do(byteAt{buffer[e], slot.Offset + i*slot.RowStride + k}); err != nil {
					return err
				}
			}
		}
		return nil
	}
	joined, same := make(links), make(links)
	join := func(a, b EdgeID, one bool) {
		joined.both(a, b)
		if one {
			same.both(a, b)
		}
	}
	for _, a := range s.l.Aliases {
		join(a.Edge, a.Of, a.Same)
	}
	first := make(map[EdgeID]RowPack)
	for _, r := range s.l.RowPacks {
		first[r.Members[0]] = r
		if r.Over != nil {
			for _, m := range r.Members {
				join(m, *r.Over, r.Same)
			}
		}
	}
	for _, p := range s.l.Packs {
		if p.Over != nil {
			for _, m := range p.Members {
				join(m, *p.Over, p.Same)
				for _, q := range first[m].Members {
					join(q, *p.Over, p.Same)
				}
				if over := first[m].Over; over != nil {
					join(*over, *p.Over, p.Same)
				}
			}
		}
	}
	with := make(map[EdgeID]map[EdgeID]bool)  // what may have overwritten an edge
	holds := make(map[EdgeID]map[EdgeID]bool) // with the same value
	for e := range slots {
		with[e], holds[e] = make(map[EdgeID]bool), make(map[EdgeID]bool)
		for _, x := range follow(e, joined) {
			with[e][x] = true
		}
		for _, x := range follow(e, same) {
			holds[e][x] = true
		}
	}
	now := -1 // the group that runs
	write := func(e EdgeID) {
		_ = each(e, func(x byteAt) error {
			wrote[x] = e
			return nil
		})
	}
	read := func(e EdgeID, where string) error {
		return each(e, func(x byteAt) error {
			if w, ok := wrote[x]; !ok || !holds[e][w] && (!with[e][w] || s.first(w) != now || now < 0) {
				return fmt.Errorf("%s reads edge %d, whose byte %d was written as edge %d (%t)", where, e, x.at, w, ok)
			}
			return nil
		})
	}

	inside := make(map[EdgeID]bool)
	for _, n := range s.c.Nodes {
		for _, e := range n.Outputs {
			inside[e] = n.Section == s.p.Section
		}
	}
	isRead := make(map[EdgeID]bool)
	for _, n := range s.c.Nodes {
		for _, e := range n.Inputs {
			isRead[e] = isRead[e] || n.Section == s.p.Section
		}
	}
	for e := range s.c.Edges {
		if e := EdgeID(e); !inside[e] && (isRead[e] || slices.Contains(s.c.Outputs, e)) {
			write(e)
		}
	}
	for g, group := range s.p.Groups {
		now = g
		reads := func() error {
			for _, n := range group.Nodes {
				for _, e := range s.c.Nodes[n].Inputs {
					if s.first(e) == g {
						continue // written in this group
					}
					if err := read(e, fmt.Sprintf("group %d", g)); err != nil {
						return err
					}
				}
			}
			return nil
		}
		if err := reads(); err != nil {
			return err
		}
		for _, n := range group.Nodes {
			for _, e := range s.c.Nodes[n].Outputs {
				write(e)
			}
		}
		if err := reads(); err != nil {
			return err
		}
		for _, n := range group.Nodes {
			for _, e := range s.c.Nodes[n].Inputs {
				if err := read(e, fmt.Sprintf("group %d", g)); err != nil {
					return err
				}
			}
		}
	}
	now = -1
	for _, e := range s.c.Outputs {
		if inside[e] {
			if err := read(e, "the caller"); err != nil {
				return err
			}
		}
	}
	return nil
}

// first returns the group that writes an edge, or a negative number.
func (s sample) first(e EdgeID) int {
	for g, group := range s.p.Groups {
		for _, n := range group.Nodes {
			for _, out := range s.c.Nodes[n].Outputs {
				if out == e {
					return g
				}
			}
		}
	}
	return -1
}

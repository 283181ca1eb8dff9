package circuit

import "fmt"

// run executes a plan on bytes that remember which edge last wrote them, with the
// given number of rows. It returns an error if a group reads a byte that was last
// written as an edge that the layout does not join with the edge read, or if an
// output has such a byte in the end.
//
// A group's reads are looked at before it writes and again after: a kernel may do
// both at once.
func run(s sample, b *BufferPlan, rows int64) error {
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
	value := lookupIn(map[string]int64{"n": rows, "k": 2, "d": 64})
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
	joined := make(links)
	for _, a := range s.l.Aliases {
		joined.both(a.Edge, a.Of)
	}
	first := make(map[EdgeID]RowPack)
	for _, r := range s.l.RowPacks {
		first[r.Members[0]] = r
		if r.Over != nil {
			for _, m := range r.Members {
				joined.both(m, *r.Over)
			}
		}
	}
	for _, p := range s.l.Packs {
		if p.Over != nil {
			for _, m := range p.Members {
				joined.both(m, *p.Over)
				for _, q := range first[m].Members {
					joined.both(q, *p.Over)
				}
				if over := first[m].Over; over != nil {
					joined.both(*over, *p.Over)
				}
			}
		}
	}
	with := make(map[EdgeID]map[EdgeID]bool) // what may have overwritten an edge
	for e := range slots {
		with[e] = make(map[EdgeID]bool)
		for _, x := range follow(e, joined) {
			with[e][x] = true
		}
	}
	write := func(e EdgeID) {
		_ = each(e, func(x byteAt) error {
			wrote[x] = e
			return nil
		})
	}
	read := func(e EdgeID, where string) error {
		return each(e, func(x byteAt) error {
			if w, ok := wrote[x]; !ok || !with[e][w] {
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
	for e := range s.c.Edges {
		if !inside[EdgeID(e)] {
			write(EdgeID(e))
		}
	}
	for g, group := range s.p.Groups {
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

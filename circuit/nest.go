package circuit

import (
	"fmt"
	"slices"
)

// A spacing says how far apart the rows of a class are.
type spacing struct {
	stride int64  // bytes from row to row; 0 if they are in one piece
	like   EdgeID // the edge by which this is known
	by     int    // the packing that it is a piece of, or none
	outer  int    // where rows are apart: the outermost row pack around them
}

// nest places the pieces of every packing, after those of which the edge that it
// lies over is one.
func (k *constraints) nest() error {
	for id := range k.packings {
		p := &k.packings[id]
		if p.over == noEdge && p.block != none {
			p.pieces = nil // the pack that it is a block of has them
		}
		if p.over != noEdge {
			over := k.root(p.over)
			k.overs[over] = append(k.overs[over], id)
		}
		for i, m := range p.pieces {
			class := k.root(m.edge)
			if homes := k.homes[class]; len(homes) > 0 && homes[len(homes)-1] == id {
				first := slices.IndexFunc(p.pieces[:i], func(q piece) bool { return k.root(q.edge) == class })
				return &PlanError{Kind: ErrAliasInPack, Constraint: p.name,
					Edge: k.name(p.pieces[first].edge), Other: k.name(m.edge)}
			}
			k.homes[class] = append(k.homes[class], id)
		}
	}
	waits := make([]int, len(k.packings))
	var ready []int
	for id := range k.packings {
		if over := k.packings[id].over; over != noEdge {
			waits[id] = len(k.homes[k.root(over)])
		}
		if waits[id] == 0 {
			ready = append(ready, id)
		}
	}
	for i := 0; i < len(ready); i++ {
		id := ready[i]
		if err := k.place(id); err != nil {
			return err
		}
		for _, m := range k.packings[id].pieces {
			for _, above := range k.overs[k.root(m.edge)] {
				if waits[above]--; waits[above] == 0 {
					ready = append(ready, above)
				}
			}
		}
	}
	if len(ready) < len(k.packings) {
		return k.ring(waits)
	}
	for e, stored := range k.stored {
		if stored {
			if err := k.checkRows(EdgeID(e)); err != nil {
				return err
			}
		}
	}
	return nil
}

// place places the pieces of a packing, relative to the edge it lies over or to
// each other.
func (k *constraints) place(id int) error {
	p := &k.packings[id]
	frame := Region{0, 1, p.bytes, p.bytes}
	around := none
	at, before := int64(0), noEdge
	if p.over != noEdge {
		before = p.over
		if s := k.rows[k.root(p.over)]; s.stride > 0 {
			if err := k.checkRows(p.over); err != nil {
				return err
			}
			frame = Region{0, k.size[p.over].rows, k.size[p.over].width, s.stride}
			around = s.outer
		}
	}
	for _, m := range p.pieces {
		size := k.size[m.edge]
		part, ok := frame.Part(m.start, size.rows, size.width, m.stride)
		if !ok {
			return &PlanError{Kind: ErrInterleaved, Constraint: p.name, Edge: k.name(m.edge), Other: k.name(p.over),
				Detail: fmt.Sprintf("%d rows of %d bytes, %d apart from byte %d of the latter on, which is %d rows of %d bytes, %d apart",
					size.rows, size.width, m.stride, m.start, frame.Rows, frame.Width, frame.Stride)}
		}
		outer := around
		if outer == none {
			outer = k.memberOf[m.edge]
		}
		if err := k.space(part, spacing{like: m.edge, by: id, outer: outer}); err != nil {
			return err
		}
		if before != noEdge {
			if err := k.join(p, before, m.edge, part.Offset-at); err != nil {
				return err
			}
		}
		at, before = part.Offset, m.edge
	}
	return nil
}

// space notes how far apart the rows of a piece are.
func (k *constraints) space(part Region, s spacing) error {
	if !part.isWhole() {
		s.stride = part.Stride
	}
	known := &k.rows[k.root(s.like)]
	if known.by == none {
		*known = s
		return nil
	}
	if known.stride != s.stride {
		apart := func(stride int64) string {
			if stride == 0 {
				return "in one piece"
			}
			return fmt.Sprintf("%d bytes apart", stride)
		}
		return &PlanError{Kind: ErrContradiction, Constraint: k.packings[s.by].name, Edge: k.name(s.like), Other: k.name(known.like),
			Detail: fmt.Sprintf("rows are %s here, and %s in %s", apart(s.stride), apart(known.stride), k.packings[known.by].name)}
	}
	return nil
}

// join adds the equation that edge b lies d bytes after edge a.
func (k *constraints) join(p *packing, a, b EdgeID, d int64) error {
	known, ok := k.eq.join(k.root(a), k.root(b), d)
	if !ok {
		return &PlanError{Kind: ErrOverflow, Constraint: p.name, Edge: k.name(b), Detail: "the bytes of all packs together"}
	}
	if known != d {
		return &PlanError{Kind: ErrContradiction, Constraint: p.name, Edge: k.name(b), Other: k.name(a),
			Detail: fmt.Sprintf("the first lies %d bytes after the second here, and %d by other constraints", d, known)}
	}
	return nil
}

// checkRows checks that an edge has the rows of those of its aliases whose rows
// are apart.
func (k *constraints) checkRows(e EdgeID) error {
	s := k.rows[k.root(e)]
	if s.stride == 0 {
		return nil
	}
	if a, b := k.size[s.like], k.size[e]; a != b {
		return &PlanError{Kind: ErrAliasRows, Constraint: k.packings[s.by].name, Edge: k.name(s.like), Other: k.name(e),
			Detail: fmt.Sprintf("%d rows of %d bytes and %d rows of %d bytes", a.rows, a.width, b.rows, b.width)}
	}
	return nil
}

// ring names a packing that lies, by way of others, over a piece of its own: one
// of those that wait, each for another one.
func (k *constraints) ring(waits []int) error {
	home := make(map[int]int) // by class: a packing that waits and has it as a piece
	at := none
	for id, wait := range waits {
		if wait > 0 {
			at = id
			for _, m := range k.packings[id].pieces {
				home[k.root(m.edge)] = id
			}
		}
	}
	for seen := make(map[int]bool); !seen[at]; {
		seen[at] = true
		at = home[k.root(k.packings[at].over)]
	}
	p := &k.packings[at]
	return &PlanError{Kind: ErrContradiction, Constraint: p.name, Edge: k.name(p.over),
		Detail: "it lies over this edge, which by way of others lies over a member of it"}
}

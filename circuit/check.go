package circuit

import (
	"errors"
	"fmt"
	"slices"
)

// An Invariant is something that every buffer plan keeps.
type Invariant string

const (
	InvariantPlaced   Invariant = "every materialised edge is in one slot or bound, in ascending order"
	InvariantSize     Invariant = "a slot has the bytes of its edge and the distance of its rows"
	InvariantLive     Invariant = "an edge is live from the group that writes it to the last that reads it, aliases over the union"
	InvariantAlias    Invariant = "edges of an alias class share their bytes"
	InvariantPack     Invariant = "edges of a pack are back to back"
	InvariantRowPack  Invariant = "edges of a row pack share every row"
	InvariantOver     Invariant = "a pack over an edge occupies exactly its bytes"
	InvariantAligned  Invariant = "unpacked storage and the first edge of a pack are aligned"
	InvariantExternal Invariant = "external edges, and what shares their bytes, are bound and not placed"
	InvariantDisjoint Invariant = "edges live at once share no byte unless the layout joins them"
	InvariantTotals   Invariant = "the figures of a plan follow from its slots"
)

// A Violation says which edges of a buffer plan break which invariant.
type Violation struct {
	Invariant   Invariant
	Edge, Other string // Other is empty unless two edges are at fault
	Detail      string
}

func (v *Violation) Error() string {
	at := ""
	if v.Edge != "" {
		at = fmt.Sprintf(": edge %q", v.Edge)
	}
	if v.Other != "" {
		at += fmt.Sprintf(" and edge %q", v.Other)
	}
	return fmt.Sprintf("circuit: broken: %s%s: %s", v.Invariant, at, v.Detail)
}

// Check proves that b is a buffer plan of c, p and l. It returns nil, or an error
// that joins a [*Violation] for every invariant broken by every edge or pair of
// edges; or the error of [FusionPlan.Validate].
//
// It shares nothing with the planner but the sizes of edges, and is obvious
// rather than fast: it compares all pairs of edges that are live at once.
func Check(c *Circuit, p *FusionPlan, l *Layout, b *BufferPlan) error {
	if err := p.Validate(c); err != nil {
		return err
	}
	if l == nil {
		l = &Layout{}
	}
	k := &checker{c: c, p: p, l: l, b: b}
	if err := k.load(); err != nil {
		return err
	}
	for _, check := range []func(){
		k.checkPlaced, k.checkLive, k.checkAliases, k.checkPacks, k.checkRowPacks,
		k.checkStrides, k.checkAligned, k.checkExternal, k.checkDisjoint, k.checkTotals,
	} {
		check()
	}
	return errors.Join(k.faults...)
}

type checker struct {
	c      *Circuit
	p      *FusionPlan
	l      *Layout
	b      *BufferPlan
	faults []error

	edges map[EdgeID]*checked // the stored edges
	order []EdgeID            // their keys, ascending

	aliases links // joins aliases of each other
	down    links // aliases, and from an edge to the members of the packs over it
}

// checked is what the checker knows of a stored edge.
type checked struct {
	rows, width int64
	slot        Slot
	buffer      EdgeID // where the slot is: noEdge for the arena, or an external edge
	found       int    // slots and bindings of the edge
	rowPack     *RowPack
}

func (k *checker) fault(i Invariant, a, b EdgeID, format string, args ...any) {
	v := &Violation{Invariant: i, Detail: fmt.Sprintf(format, args...)}
	if a != noEdge {
		v.Edge = k.c.Edges[a].Name
	}
	if b != noEdge {
		v.Other = k.c.Edges[b].Name
	}
	k.faults = append(k.faults, v)
}

// load sizes the stored edges and finds their slots.
func (k *checker) load() error {
	k.edges = make(map[EdgeID]*checked, len(k.p.Stored))
	value := func(name string) (int64, bool) {
		if name == RowsName {
			return k.b.MaxRows, true
		}
		for _, d := range k.c.Dims {
			if d.Name == name {
				return d.Size, true
			}
		}
		return 0, false
	}
	for _, s := range k.p.Stored {
		e := k.c.Edges[s.Edge]
		if s.Format.Validate() == nil {
			e.Format = s.Format
		}
		rows, err := e.Rows.Eval(value)
		if err != nil {
			return err
		}
		dim, err := e.Dim.Eval(value)
		if err != nil {
			return err
		}
		width, err := e.Format.RowBytes(dim)
		if err != nil {
			return err
		}
		k.edges[s.Edge] = &checked{rows: rows, width: width, buffer: noEdge}
		k.order = append(k.order, s.Edge)
	}
	slices.Sort(k.order)
	for _, e := range k.l.everyEdge() {
		if k.edges[e] == nil {
			return fmt.Errorf("circuit: the layout names edge number %d, which is not stored", e)
		}
	}
	for i := range k.l.RowPacks {
		for _, m := range k.l.RowPacks[i].Members {
			k.edges[m].rowPack = &k.l.RowPacks[i]
		}
	}
	k.link()
	return nil
}

func (k *checker) checkPlaced() {
	take := func(s Slot, buffer, before EdgeID) {
		x := k.edges[s.Edge]
		if x == nil {
			k.fault(InvariantPlaced, noEdge, noEdge, "edge number %d has a slot and is not stored", s.Edge)
			return
		}
		if s.Edge <= before {
			k.fault(InvariantPlaced, s.Edge, noEdge, "it comes after edge number %d", before)
		}
		if s.Name != k.c.Edges[s.Edge].Name {
			k.fault(InvariantPlaced, s.Edge, noEdge, "its slot is named %q", s.Name)
		}
		x.slot, x.buffer = s, buffer
		x.found++
		if s.Bytes != x.rows*x.width {
			k.fault(InvariantSize, s.Edge, noEdge, "the slot has %d bytes, the edge %d rows of %d", s.Bytes, x.rows, x.width)
		}
		if s.Offset < 0 {
			k.fault(InvariantPlaced, s.Edge, noEdge, "its offset is %d", s.Offset)
		}
	}
	before := noEdge
	for _, s := range k.b.Slots {
		take(s, noEdge, before)
		before = s.Edge
	}
	before = noEdge
	for _, s := range k.b.Bound {
		take(s.Slot, s.External, before)
		before = s.Edge
	}
	for _, e := range k.order {
		if n := k.edges[e].found; n != 1 {
			k.fault(InvariantPlaced, e, noEdge, "it has %d slots", n)
		}
	}
}

// checkLive compares each slot with the groups that touch any alias of its edge.
func (k *checker) checkLive() {
	last := max(0, len(k.p.Groups)-1)
	touched := make(map[EdgeID][]int) // groups, ascending
	written := make(map[EdgeID]bool)  // by a group of the plan
	whole := make(map[EdgeID]bool)    // read outside the plan
	for g, group := range k.p.Groups {
		for _, n := range group.Nodes {
			for _, e := range k.c.Nodes[n].Inputs {
				touched[e] = append(touched[e], g)
			}
			for _, e := range k.c.Nodes[n].Outputs {
				touched[e] = append(touched[e], g)
				written[e] = true
			}
		}
	}
	for _, n := range k.c.Nodes {
		if n.Section != k.p.Section {
			for _, e := range n.Inputs {
				whole[e] = true
			}
		}
	}
	for _, e := range k.c.Outputs {
		whole[e] = true
	}
	done := make(map[EdgeID]bool)
	for _, e := range k.order {
		if done[e] {
			continue
		}
		class := follow(e, k.aliases)
		start, end := last, 0
		for _, x := range class {
			done[x] = true
			if whole[x] || !written[x] {
				start, end = 0, last
			} else {
				start, end = min(start, touched[x][0]), max(end, touched[x][len(touched[x])-1])
			}
		}
		for _, x := range class {
			if s := k.edges[x].slot; s.Start != start || s.End != end {
				k.fault(InvariantLive, x, noEdge, "the slot is live in groups %d to %d, the edge and its aliases in %d to %d", s.Start, s.End, start, end)
			}
		}
	}
}

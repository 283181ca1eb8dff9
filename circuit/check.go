package circuit

import (
	"cmp"
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
	InvariantKept     Invariant = "no edge is overwritten before a later group reads it, unless with the value it holds"
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
// edges; or a [*PlanError] if there is nothing to compare, because c, p or l are
// no problem.
//
// It shares with the planner what says whether c and p have a meaning, and how large
// one edge is; nothing of when edges are live and where they lie. It is obvious
// rather than fast: it compares all pairs of edges that are live at once.
func Check(c *Circuit, p *FusionPlan, l *Layout, b *BufferPlan) error {
	if err := p.Validate(c); err != nil {
		return err
	}
	if b == nil {
		return &PlanError{Kind: ErrMissing, Detail: "there is no buffer plan"}
	}
	if l == nil {
		l = &Layout{}
	}
	k := &checker{c: c, p: p, l: l, b: b}
	if err := k.load(); err != nil {
		return err
	}
	for _, check := range []func(){
		k.checkPlaced, k.checkLive, k.checkAliases, k.checkPackings, k.checkRows,
		k.checkAligned, k.checkExternal, k.checkDisjoint, k.checkKept, k.checkTotals,
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

	packings []checkedPack

	aliases links // joins aliases of each other
	over    links // from an edge to the members of the packs over it
	same    links // joins edges that hold one value
}

// checked is what the checker knows of a stored edge.
type checked struct {
	rows, width int64
	slot        Slot
	buffer      EdgeID // where the slot is: noEdge for the arena, or an external edge
	found       int    // slots and bindings of the edge

	writeGroup int // that writes it; -1 if it comes from outside
	writeOrder int // among all writes; -1 if it comes from outside
	lastRead   int // the last group that reads it; the number of groups if it is read outside; -1 if it is not read
}

func (x *checked) bytes() int64 { return x.rows * x.width }

// A checkedPack is a pack or row pack.
type checkedPack struct {
	over        EdgeID // or noEdge
	byRow, same bool
	pieces      []checkedPiece
	bytes       int64
	inside      bool     // a row pack whose bytes are those of the pack it is a block of, and no edge's
	blocks      []EdgeID // of a pack: what the row packs that are blocks of it lie over, or noEdge
}

// A checkedPiece is a member that has bytes: row i of it is the bytes of the pack
// from number start + i*apart on.
type checkedPiece struct {
	edge         EdgeID
	start, apart int64
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

// load sizes the stored edges, and finds out which of them the layout joins.
func (k *checker) load() error {
	k.edges = make(map[EdgeID]*checked, len(k.p.Stored))
	value := func(name string) (int64, bool) {
		if name == RowsName {
			return k.b.MaxRows, true
		}
		for _, d := range k.c.Dims {
			if d.Name == name {
				return d.Max, true
			}
		}
		return 0, false
	}
	for _, s := range k.p.Stored {
		e := &k.c.Edges[s.Edge]
		size, err := measure(e, cmp.Or(s.Format, e.Format), value)
		if err != nil {
			return err
		}
		k.edges[s.Edge] = &checked{rows: size.rows, width: size.width, buffer: noEdge,
			writeGroup: -1, writeOrder: -1, lastRead: -1}
		k.order = append(k.order, s.Edge)
	}
	slices.Sort(k.order)
	for _, e := range k.l.everyEdge() {
		switch {
		case !k.c.has(e):
			return &PlanError{Kind: ErrRange, Detail: k.c.rangeText("the layout names", e)}
		case k.edges[e] == nil:
			return &PlanError{Kind: ErrNotMaterialized, Edge: k.c.Edges[e].Name, Detail: "the layout names it"}
		}
	}
	if err := k.loadPackings(); err != nil {
		return err
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
		if s.Bytes != x.bytes() {
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

// checkLive finds where each edge is written and read, and compares each slot with
// the groups that touch any alias of its edge.
func (k *checker) checkLive() {
	groups := len(k.p.Groups)
	order := 0
	for g, group := range k.p.Groups {
		for _, n := range group.Nodes {
			for _, e := range k.c.Nodes[n].Inputs {
				if x := k.edges[e]; x != nil {
					x.lastRead = g
				}
			}
			for _, e := range k.c.Nodes[n].Outputs {
				if x := k.edges[e]; x != nil {
					x.writeGroup, x.writeOrder = g, order
					order++
				}
			}
		}
	}
	for _, n := range k.c.Nodes {
		if n.Section != k.p.Section {
			for _, e := range n.Inputs {
				if x := k.edges[e]; x != nil && x.writeGroup >= 0 {
					x.lastRead = groups
				}
			}
		}
	}
	for _, e := range k.c.Outputs {
		if x := k.edges[e]; x != nil {
			x.lastRead = groups
		}
	}
	last := max(0, groups-1)
	done := make(map[EdgeID]bool)
	for _, e := range k.order {
		if done[e] {
			continue
		}
		class := follow(e, k.aliases)
		start, end := last, 0
		for _, a := range class {
			done[a] = true
			if x := k.edges[a]; x.writeGroup < 0 || x.lastRead == groups {
				start, end = 0, last
			} else {
				start, end = min(start, x.writeGroup), max(end, x.writeGroup, x.lastRead)
			}
		}
		for _, a := range class {
			if s := k.edges[a].slot; s.Start != start || s.End != end {
				k.fault(InvariantLive, a, noEdge, "the slot is live in groups %d to %d, the edge and its aliases in %d to %d", s.Start, s.End, start, end)
			}
		}
	}
}

// checkKept looks at all pairs of edges that share bytes on purpose: the one that
// is written later must not be while the other has still to be read.
func (k *checker) checkKept() {
	seen := make(map[[2]EdgeID]bool)
	for _, a := range k.order {
		same := follow(a, k.same)
		for _, b := range follow(a, k.aliases, k.over) {
			pair := [2]EdgeID{min(a, b), max(a, b)}
			if _, one := slices.BinarySearch(same, b); one || seen[pair] {
				continue
			}
			seen[pair] = true
			first, second := k.edges[pair[0]], k.edges[pair[1]]
			if first.writeOrder > second.writeOrder {
				first, second = second, first
				pair[0], pair[1] = pair[1], pair[0]
			}
			switch {
			case first.bytes() == 0 || second.bytes() == 0:
			case second.writeGroup < 0:
				if first.lastRead >= 0 && second.lastRead >= 0 {
					k.fault(InvariantKept, pair[0], pair[1], "both come from outside the plan and are read")
				}
			case first.lastRead > second.writeGroup:
				k.fault(InvariantKept, pair[0], pair[1], "group %d writes the latter, and group %d reads the former", second.writeGroup, first.lastRead)
			}
		}
	}
}

package circuit

import (
	"fmt"
	"slices"
)

// A packing is a pack or a row pack, with what the planner finds out about it.
// Members without bytes are left out: nothing says where they lie.
type packing struct {
	name  string // as in errors: "pack 0", "row pack 1"
	first EdgeID // the first member of all
	lead  EdgeID // the first that has bytes
	over  EdgeID // noEdge for none
	byRow bool
	same  bool

	pieces    []piece // in the order of their bytes
	bytes     int64   // of all members
	rows, row int64   // of a row pack: its rows, and the bytes of a row of all members
	block     int     // the pack that a row pack is a block of, or none
}

// A piece is an edge in a packing: row i of it begins at byte start + i*stride of
// the bytes of the packing.
type piece struct {
	edge          EdgeID
	start, stride int64
}

// noEdge is no edge, none is no packing.
const noEdge EdgeID = -1

const none = -1

// constraints are a layout, and what it says of positions: equations between the
// places of alias classes, and how far apart their rows are. What is said of a class
// stands at the index of its root.
type constraints struct {
	*analysis
	size     []extent // by edge
	packings []packing
	memberOf []int // by edge: the packing it is a member of, or none

	class    *offsets    // alias classes of edges
	value    *offsets    // edges that hold one value
	span     []LiveRange // by class: the union of the ranges of its edges, without gaps
	external []EdgeID    // by class: the edge that the executor binds, or noEdge

	// Set by nest.
	homes [][]int   // by class: the packings that are placed and of which it is a piece
	overs [][]int   // by class: the packings over its edges
	eq    *offsets  // of classes
	rows  []spacing // by class
}

// constrain checks everything about a layout that does not need positions.
func (a *analysis) constrain(size []extent, l *Layout) (*constraints, error) {
	if l == nil {
		l = &Layout{}
	}
	n := len(a.c.Edges)
	k := &constraints{
		analysis: a,
		size:     size,
		packings: make([]packing, 0, len(l.RowPacks)+len(l.Packs)),
		memberOf: slices.Repeat([]int{none}, n),
		class:    newOffsets(n),
		value:    newOffsets(n),
		span:     make([]LiveRange, n),
		external: slices.Repeat([]EdgeID{noEdge}, n),
		homes:    make([][]int, n),
		overs:    make([][]int, n),
		eq:       newOffsets(n),
		rows:     slices.Repeat([]spacing{{by: none}}, n),
	}
	if err := k.joinAliases(l.Aliases); err != nil {
		return nil, err
	}
	if err := k.bindExternals(l.External); err != nil {
		return nil, err
	}
	// Row packs first: a pack may name one as a block.
	for i, r := range l.RowPacks {
		if err := k.addPacking(packing{name: fmt.Sprintf("row pack %d", i), byRow: true, same: r.Same}, r.Members, r.Over); err != nil {
			return nil, err
		}
	}
	for i, p := range l.Packs {
		if err := k.addPacking(packing{name: fmt.Sprintf("pack %d", i), same: p.Same}, p.Members, p.Over); err != nil {
			return nil, err
		}
	}
	return k, nil
}

func (k *constraints) name(e EdgeID) string { return k.c.Edges[e].Name }

// root returns the root of the alias class of an edge.
func (k *constraints) root(e EdgeID) int { return k.class.root(int(e)) }

// mustStore checks that a constraint names a stored edge.
func (k *constraints) mustStore(e EdgeID, constraint string) error {
	if !k.c.has(e) {
		return &PlanError{Kind: ErrRange, Constraint: constraint, Detail: k.c.rangeText("it names", e)}
	}
	if !k.stored[e] {
		return &PlanError{Kind: ErrNotMaterialized, Constraint: constraint, Edge: k.name(e)}
	}
	return nil
}

// joinAliases forms the alias classes. Each is live over the union of its edges,
// and over what lies between them: what one edge leaves in the bytes, another
// may come to read.
func (k *constraints) joinAliases(aliases []Alias) error {
	for i, alias := range aliases {
		constraint := fmt.Sprintf("alias %d", i)
		for _, e := range []EdgeID{alias.Edge, alias.Of} {
			if err := k.mustStore(e, constraint); err != nil {
				return err
			}
		}
		if a, b := k.size[alias.Edge].bytes, k.size[alias.Of].bytes; a != b {
			return &PlanError{Kind: ErrAliasSize, Constraint: constraint, Edge: k.name(alias.Edge), Other: k.name(alias.Of),
				Detail: fmt.Sprintf("%d bytes and %d bytes", a, b)}
		}
		k.class.join(int(alias.Edge), int(alias.Of), 0)
		if alias.Same {
			k.value.join(int(alias.Edge), int(alias.Of), 0)
		}
	}
	for e, stored := range k.stored {
		if stored {
			k.span[e] = k.live(EdgeID(e))
		}
	}
	for e, stored := range k.stored {
		if stored {
			s := &k.span[k.class.root(e)]
			s.Start, s.End = min(s.Start, k.span[e].Start), max(s.End, k.span[e].End)
		}
	}
	return nil
}

func (k *constraints) bindExternals(external []EdgeID) error {
	for i, e := range external {
		constraint := fmt.Sprintf("external %d", i)
		if err := k.mustStore(e, constraint); err != nil {
			return err
		}
		if other := k.external[k.root(e)]; other != noEdge && other != e {
			return &PlanError{Kind: ErrTwoExternals, Constraint: constraint, Edge: k.name(e), Other: k.name(other),
				Detail: "they are aliases of each other"}
		}
		k.external[k.root(e)] = e
	}
	return nil
}

// addPacking checks the members of one packing, and finds which of its bytes are
// whose.
func (k *constraints) addPacking(p packing, members []EdgeID, over *EdgeID) error {
	p.over, p.block = noEdge, none
	if over != nil {
		if err := k.mustStore(*over, p.name); err != nil {
			return err
		}
		p.over = *over
	}
	if len(members) == 0 {
		return &PlanError{Kind: ErrEmptyPack, Constraint: p.name}
	}
	p.first = members[0]
	for _, m := range members {
		if err := k.addMember(&p, m); err != nil {
			return err
		}
	}
	if len(p.pieces) > 0 {
		p.lead = p.pieces[0].edge
	}
	if p.byRow {
		var ok bool
		if p.bytes, ok = mul(p.rows, p.row); !ok {
			return &PlanError{Kind: ErrOverflow, Constraint: p.name, Detail: fmt.Sprintf("%d rows of %d bytes", p.rows, p.row)}
		}
		for i := range p.pieces {
			p.pieces[i].stride = p.row
		}
	}
	if p.over != noEdge && p.bytes != k.size[p.over].bytes {
		return &PlanError{Kind: ErrOverSize, Constraint: p.name, Edge: k.name(p.over),
			Detail: fmt.Sprintf("%d bytes over %d", p.bytes, k.size[p.over].bytes)}
	}
	if p.over != noEdge && p.same {
		for _, m := range p.pieces {
			k.value.join(int(p.over), int(m.edge), 0)
		}
	}
	k.packings = append(k.packings, p)
	return nil
}

// addMember adds a member to a packing that is not in the list yet.
func (k *constraints) addMember(p *packing, m EdgeID) error {
	if err := k.mustStore(m, p.name); err != nil {
		return err
	}
	id := len(k.packings)
	if in := k.memberOf[m]; in == none {
		k.memberOf[m] = id
	} else if in < id && !p.byRow && k.packings[in].byRow && k.packings[in].first == m && k.packings[in].block == none {
		return k.addBlock(p, in)
	} else {
		where := p.name
		if in < id {
			where = k.packings[in].name
		}
		return &PlanError{Kind: ErrPackedTwice, Constraint: p.name, Edge: k.name(m), Detail: "it is already a member of " + where}
	}
	size := k.size[m]
	if size.bytes == 0 {
		return nil
	}
	if ext := k.external[k.root(m)]; ext != noEdge {
		err := &PlanError{Kind: ErrExternalPacked, Constraint: p.name, Edge: k.name(m)}
		if ext != m {
			err.Other, err.Detail = k.name(ext), "the latter is external, and they are aliases of each other"
		}
		return err
	}
	if !p.byRow {
		p.pieces = append(p.pieces, piece{m, p.bytes, size.width})
		return k.grow(p, &p.bytes, size.bytes, m)
	}
	if len(p.pieces) == 0 {
		p.rows = size.rows
	}
	if size.rows != p.rows {
		return &PlanError{Kind: ErrRowCounts, Constraint: p.name, Edge: k.name(p.pieces[0].edge), Other: k.name(m),
			Detail: fmt.Sprintf("%d rows and %d rows", p.rows, size.rows)}
	}
	p.pieces = append(p.pieces, piece{edge: m, start: p.row})
	return k.grow(p, &p.row, size.width, m)
}

// addBlock adds a row pack to a pack.
func (k *constraints) addBlock(p *packing, block int) error {
	b := &k.packings[block]
	b.block = len(k.packings)
	for _, m := range b.pieces {
		p.pieces = append(p.pieces, piece{m.edge, p.bytes + m.start, m.stride})
	}
	if p.same && p.over != noEdge && b.over != noEdge {
		k.value.join(int(p.over), int(b.over), 0)
	}
	return k.grow(p, &p.bytes, b.bytes, b.first)
}

// grow adds the bytes of member m to those of a packing, or of a row of it.
func (k *constraints) grow(p *packing, total *int64, bytes int64, m EdgeID) (err error) {
	var ok bool
	if *total, ok = add(*total, bytes); !ok {
		err = &PlanError{Kind: ErrOverflow, Constraint: p.name, Edge: k.name(m), Detail: "the bytes of the members up to this one"}
	}
	return err
}

package circuit

import "fmt"

// A packing is a pack or a row pack, with what the planner finds out about it.
type packing struct {
	members []EdgeID
	over    EdgeID // noEdge for none
	index   int    // in its list in the layout
	bytes   int64  // of all members

	byRow bool
	rows  int64 // row count of a row pack
	row   int64 // bytes of a row of all its members
	pitch int64 // bytes from row to row: row, or the pitch of the row pack around it
	outer int   // the outermost row pack around it, itself if there is none; none until known
	block int   // the pack that a row pack is a block of, or none
}

// noEdge is no edge, none is no packing.
const noEdge EdgeID = -1

const none = -1

func (p *packing) String() string {
	if p.byRow {
		return fmt.Sprintf("row pack %d", p.index)
	}
	return fmt.Sprintf("pack %d", p.index)
}

// interleaves reports whether the rows of something width bytes wide within this
// row pack have other bytes between them.
func (p *packing) interleaves(width int64) bool {
	return p.rows > 1 && width > 0 && p.pitch != width
}

// constraints are a layout checked as far as that goes without offsets. What is
// said of an alias class stands at the index of its root.
type constraints struct {
	*analysis
	size     []extent // by edge
	packings []packing
	memberOf []int // by edge: the packing it is a member of, or none

	class    sets        // alias classes of edges
	span     []LiveRange // by class: the union of the ranges of its edges, without gaps
	external []EdgeID    // by class: the edge that the executor binds, or noEdge
	members  [][]EdgeID  // by class: its edges that are members of packings, once for each packing
	overs    []int       // by class: how many packings lie over its edges
	around   []int       // by class: the row pack that interleaves its rows, or none
}

// constrain checks everything about a layout that does not need offsets.
func (a *analysis) constrain(size []extent, l *Layout) (*constraints, error) {
	if l == nil {
		l = &Layout{}
	}
	n := len(a.c.Edges)
	k := &constraints{
		analysis: a,
		size:     size,
		memberOf: make([]int, n),
		class:    newSets(n),
		span:     make([]LiveRange, n),
		external: make([]EdgeID, n),
		members:  make([][]EdgeID, n),
		overs:    make([]int, n),
		around:   make([]int, n),
	}
	for e := range n {
		k.memberOf[e], k.external[e], k.around[e] = none, noEdge, none
	}
	if err := k.joinAliases(l.Aliases); err != nil {
		return nil, err
	}
	if err := k.bindExternals(l.External); err != nil {
		return nil, err
	}
	// Row packs first: a pack may name one as a block.
	k.packings = make([]packing, 0, len(l.RowPacks)+len(l.Packs))
	for i, r := range l.RowPacks {
		if err := k.addPacking(packing{members: r.Members, index: i, byRow: true}, r.Over); err != nil {
			return nil, err
		}
	}
	for i, p := range l.Packs {
		if err := k.addPacking(packing{members: p.Members, index: i}, p.Over); err != nil {
			return nil, err
		}
	}
	if err := k.sizeRowPacks(); err != nil {
		return nil, err
	}
	return k, k.sizePacks()
}

func (k *constraints) name(e EdgeID) string { return k.c.Edges[e].Name }

// root returns the root of the alias class of an edge.
func (k *constraints) root(e EdgeID) int { return k.class.find(int(e)) }

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
		k.class.join(int(alias.Edge), int(alias.Of))
	}
	for e, stored := range k.stored {
		if stored {
			k.span[e] = k.live(EdgeID(e))
		}
	}
	for e, stored := range k.stored {
		if stored {
			s := &k.span[k.class.find(e)]
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

// addPacking checks the members of one packing and registers them.
func (k *constraints) addPacking(p packing, over *EdgeID) error {
	id := len(k.packings)
	p.over, p.outer, p.block = noEdge, none, none
	if over != nil {
		if err := k.mustStore(*over, p.String()); err != nil {
			return err
		}
		p.over = *over
		k.overs[k.root(p.over)]++
	}
	if len(p.members) == 0 {
		return &PlanError{Kind: ErrEmptyPack, Constraint: p.String()}
	}
	for _, m := range p.members {
		if err := k.mustStore(m, p.String()); err != nil {
			return err
		}
		root := k.root(m)
		if ext := k.external[root]; ext != noEdge {
			err := &PlanError{Kind: ErrExternalPacked, Constraint: p.String(), Edge: k.name(m)}
			if ext != m {
				err.Other, err.Detail = k.name(ext), "the latter is external, and they are aliases of each other"
			}
			return err
		}
		switch in := k.memberOf[m]; {
		case in == none:
			k.memberOf[m] = id
		case in < id && !p.byRow && k.packings[in].byRow && k.packings[in].members[0] == m && k.packings[in].block == none:
			k.packings[in].block = id
		default:
			where := p.String()
			if in < id {
				where = k.packings[in].String()
			}
			return &PlanError{Kind: ErrPackedTwice, Constraint: p.String(), Edge: k.name(m),
				Detail: "it is already a member of " + where}
		}
		k.members[root] = append(k.members[root], m)
	}
	k.packings = append(k.packings, p)
	return nil
}

// sizeRowPacks finds the bytes of row packs, and how far apart their rows lie.
func (k *constraints) sizeRowPacks() error {
	for i := range k.packings {
		p := &k.packings[i]
		if !p.byRow {
			continue
		}
		p.rows = k.size[p.members[0]].rows
		for _, m := range p.members {
			if rows := k.size[m].rows; rows != p.rows {
				return &PlanError{Kind: ErrRowCounts, Constraint: p.String(), Edge: k.name(p.members[0]), Other: k.name(m),
					Detail: fmt.Sprintf("%d rows and %d rows", p.rows, rows)}
			}
			var ok bool
			if p.row, ok = add(p.row, k.size[m].width); !ok {
				return &PlanError{Kind: ErrOverflow, Constraint: p.String(), Edge: k.name(m), Detail: "the bytes of a row"}
			}
		}
		var kind Kind
		if p.bytes, kind = opMul.apply(p.rows, p.row); kind != "" {
			return &PlanError{Kind: kind, Constraint: p.String(), Detail: fmt.Sprintf("%d rows of %d bytes", p.rows, p.row)}
		}
	}
	// A row pack over an edge needs the row packs around that edge first.
	for i := range k.packings {
		path := []int{i}
		open := map[int]bool{i: true}
		for len(path) > 0 && k.packings[i].byRow {
			at := path[len(path)-1]
			wait := k.unsized(at)
			if wait != none && !open[wait] {
				open[wait] = true
				path = append(path, wait)
				continue
			}
			// A ring of row packs is possible if all of them have the same rows.
			if err := k.setPitch(at); err != nil {
				return err
			}
			path = path[:len(path)-1]
		}
	}
	return k.checkInterleaved()
}

// unsized returns a row pack whose pitch must be known before that of row pack p,
// or none.
func (k *constraints) unsized(p int) int {
	if over := k.packings[p].over; over != noEdge {
		for _, m := range k.members[k.root(over)] {
			home := k.memberOf[m]
			if h := &k.packings[home]; h.byRow && h.outer == none && h.rows > 1 && home != p {
				return home
			}
		}
	}
	return none
}

// setPitch finds how far apart the rows of a row pack lie.
func (k *constraints) setPitch(id int) error {
	p := &k.packings[id]
	p.pitch, p.outer = p.row, id
	if p.over == noEdge {
		return nil
	}
	size := k.size[p.over]
	for _, m := range k.members[k.root(p.over)] {
		home := k.memberOf[m]
		if h := &k.packings[home]; home != id && h.byRow && h.outer != none && h.interleaves(k.size[m].width) {
			if p.rows != size.rows {
				return &PlanError{Kind: ErrRowCounts, Constraint: p.String(), Edge: k.name(p.members[0]), Other: k.name(p.over),
					Detail: fmt.Sprintf("%d rows over %d rows of an edge whose rows are apart, in %s", p.rows, size.rows, h)}
			}
			if p.row != size.width {
				return &PlanError{Kind: ErrOverSize, Constraint: p.String(), Edge: k.name(p.over),
					Detail: fmt.Sprintf("rows of %d bytes over rows of %d", p.row, size.width)}
			}
			p.pitch, p.outer = h.pitch, h.outer
			return nil
		}
	}
	return k.checkOver(p)
}

func (k *constraints) checkOver(p *packing) error {
	if size := k.size[p.over].bytes; p.bytes != size {
		return &PlanError{Kind: ErrOverSize, Constraint: p.String(), Edge: k.name(p.over),
			Detail: fmt.Sprintf("%d bytes over %d", p.bytes, size)}
	}
	return nil
}

// checkInterleaved finds the classes whose rows are apart, and checks that all
// their edges have the same rows, at the same distance.
func (k *constraints) checkInterleaved() error {
	like := make([]EdgeID, len(k.c.Edges)) // by class: the member by which its rows are apart
	for e, in := range k.memberOf {
		if in != none && k.packings[in].interleaves(k.size[e].width) {
			if root := k.class.find(e); k.around[root] == none {
				k.around[root], like[root] = in, EdgeID(e)
			}
		}
	}
	for e, stored := range k.stored {
		root := k.class.find(e)
		if !stored || k.around[root] == none {
			continue
		}
		p := &k.packings[k.around[root]]
		fault := PlanError{Constraint: p.String(), Edge: k.name(like[root]), Other: k.name(EdgeID(e))}
		if a, b := k.size[like[root]], k.size[e]; a != b {
			fault.Kind = ErrAliasRows
			fault.Detail = fmt.Sprintf("%d rows of %d bytes and %d rows of %d bytes", a.rows, a.width, b.rows, b.width)
			return &fault
		}
		if in := k.memberOf[e]; in != none && k.packings[in].byRow && k.packings[in].pitch != p.pitch {
			fault.Kind = ErrContradiction
			fault.Detail = fmt.Sprintf("the rows of these aliases would be %d bytes apart, and %d in %s",
				p.pitch, k.packings[in].pitch, &k.packings[in])
			return &fault
		}
	}
	return nil
}

// sizePacks finds the bytes of packs and checks that their members, and the
// edges they lie over, are in one piece.
func (k *constraints) sizePacks() error {
	for i := range k.packings {
		p := &k.packings[i]
		if p.byRow {
			continue
		}
		for _, m := range p.members {
			bytes, whole := k.itemBytes(m)
			if !whole {
				return &PlanError{Kind: ErrInterleaved, Constraint: p.String(), Edge: k.name(m),
					Detail: "the rows of the member are apart"}
			}
			var ok bool
			if p.bytes, ok = add(p.bytes, bytes); !ok {
				return &PlanError{Kind: ErrOverflow, Constraint: p.String(), Edge: k.name(m), Detail: "the bytes of the members"}
			}
		}
		if p.over == noEdge {
			continue
		}
		if k.around[k.root(p.over)] != none {
			return &PlanError{Kind: ErrInterleaved, Constraint: p.String(), Edge: k.name(p.over),
				Detail: "the rows of the edge it lies over are apart"}
		}
		if err := k.checkOver(p); err != nil {
			return err
		}
	}
	return nil
}

// itemBytes returns the bytes that a member of a pack takes there: those of the
// row pack that it is the first edge of, if it is, otherwise its own. whole
// reports whether they are in one piece.
func (k *constraints) itemBytes(m EdgeID) (bytes int64, whole bool) {
	if p := &k.packings[k.memberOf[m]]; p.byRow {
		return p.bytes, !p.interleaves(p.row)
	}
	return k.size[m].bytes, k.around[k.root(m)] == none
}

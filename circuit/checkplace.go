package circuit

import (
	"cmp"
	"fmt"
	"slices"
)

// links say which edges can be reached from an edge in one step.
type links map[EdgeID][]EdgeID

func (n links) one(a, b EdgeID) { n[a] = append(n[a], b) }

func (n links) both(a, b EdgeID) {
	n.one(a, b)
	n.one(b, a)
}

// follow returns e and every edge that can be reached from it by any of the links,
// ascending.
func follow(e EdgeID, by ...links) []EdgeID {
	seen := map[EdgeID]bool{e: true}
	all := []EdgeID{e}
	for i := 0; i < len(all); i++ {
		for _, n := range by {
			for _, to := range n[all[i]] {
				if !seen[to] {
					seen[to] = true
					all = append(all, to)
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// loadPackings works out which bytes of each pack and row pack are whose.
func (k *checker) loadPackings() error {
	of := make(map[EdgeID]int) // by first member: its row pack
	for i, r := range k.l.RowPacks {
		if len(r.Members) == 0 {
			return &PlanError{Kind: ErrEmptyPack, Constraint: fmt.Sprintf("row pack %d", i)}
		}
		of[r.Members[0]] = len(k.packings)
		p := checkedPack{over: noEdge, byRow: true, same: r.Same}
		if r.Over != nil {
			p.over = *r.Over
		}
		var row int64
		for _, m := range r.Members {
			if x := k.edges[m]; x.bytes() > 0 {
				p.pieces = append(p.pieces, checkedPiece{m, row, 0})
				row += x.width
				p.bytes += x.bytes()
			}
		}
		for j := range p.pieces {
			p.pieces[j].apart = row
		}
		k.packings = append(k.packings, p)
	}
	for i, pack := range k.l.Packs {
		if len(pack.Members) == 0 {
			return &PlanError{Kind: ErrEmptyPack, Constraint: fmt.Sprintf("pack %d", i)}
		}
		p := checkedPack{over: noEdge, same: pack.Same}
		if pack.Over != nil {
			p.over = *pack.Over
		}
		for _, m := range pack.Members {
			if r, ok := of[m]; ok {
				block := k.packings[r]
				for _, q := range block.pieces {
					p.pieces = append(p.pieces, checkedPiece{q.edge, p.bytes + q.start, q.apart})
				}
				p.blocks = append(p.blocks, block.over)
				p.bytes += block.bytes
				k.packings[r].inside = block.over == noEdge
			} else if x := k.edges[m]; x.bytes() > 0 {
				p.pieces = append(p.pieces, checkedPiece{m, p.bytes, x.width})
				p.bytes += x.bytes()
			}
		}
		k.packings = append(k.packings, p)
	}
	return nil
}

// link finds which edges share bytes on purpose, and which of them hold one value.
func (k *checker) link() {
	k.aliases, k.over, k.same = make(links), make(links), make(links)
	for _, a := range k.l.Aliases {
		k.aliases.both(a.Edge, a.Of)
		if a.Same {
			k.same.both(a.Edge, a.Of)
		}
	}
	for _, p := range k.packings {
		if p.over == noEdge {
			continue
		}
		over := func(e EdgeID) {
			k.over.one(p.over, e)
			if p.same {
				k.same.both(p.over, e)
			}
		}
		for _, m := range p.pieces {
			over(m.edge)
		}
		for _, e := range p.blocks {
			if e != noEdge {
				over(e)
			}
		}
	}
}

// sameBuffer checks that two edges are in one buffer; if they are not, there is
// nothing to compare.
func (k *checker) sameBuffer(i Invariant, a, b EdgeID) bool {
	if x, y := k.edges[a], k.edges[b]; x.buffer != y.buffer {
		k.fault(i, a, b, "they are in different buffers")
		return false
	}
	return true
}

func (k *checker) checkAliases() {
	for _, a := range k.l.Aliases {
		x, y := k.edges[a.Edge].slot, k.edges[a.Of].slot
		if k.sameBuffer(InvariantAlias, a.Edge, a.Of) && (x.Offset != y.Offset || x.Bytes != y.Bytes) {
			k.fault(InvariantAlias, a.Edge, a.Of, "%d bytes at %d, and %d bytes at %d", x.Bytes, x.Offset, y.Bytes, y.Offset)
		}
	}
}

// apart reports whether the rows of an edge are not in one piece. Rows closer than
// they are wide are no rows, which other checks find.
func (x *checked) apart() bool {
	return x.rows > 1 && x.width > 0 && x.slot.RowStride > x.width
}

// byteAt returns the offset of byte number n of the edge, in the order of its rows.
func (x *checked) byteAt(n int64) int64 {
	if !x.apart() {
		return x.slot.Offset + n
	}
	return x.slot.Offset + n/x.width*x.slot.RowStride + n%x.width
}

// checkPackings compares the bytes of members with those of the edge they lie
// over, or with a piece of memory that begins with the first member.
func (k *checker) checkPackings() {
	for _, p := range k.packings {
		kind := InvariantPack
		if p.byRow {
			kind = InvariantRowPack
		}
		if p.over != noEdge && k.edges[p.over].bytes() != p.bytes {
			k.fault(InvariantOver, p.over, noEdge, "it has %d bytes, and what lies over it %d", k.edges[p.over].bytes(), p.bytes)
			continue
		}
		if p.inside || len(p.pieces) == 0 {
			continue // it has no bytes, or they are those of a pack
		}
		first := p.pieces[0].edge
		at := func(n int64) int64 { return k.edges[first].slot.Offset + n }
		if p.over != noEdge {
			if !k.sameBuffer(InvariantOver, p.over, first) {
				continue
			}
			at = k.edges[p.over].byteAt
			if from := at(0); k.edges[first].slot.Offset != from {
				k.fault(InvariantOver, p.over, first, "the former is at %d, the latter at %d", from, k.edges[first].slot.Offset)
			}
		}
		for _, m := range p.pieces {
			if p.byRow && k.edges[m.edge].rows != k.edges[first].rows {
				k.fault(kind, m.edge, first, "%d rows and %d rows", k.edges[m.edge].rows, k.edges[first].rows)
			} else if k.sameBuffer(kind, m.edge, first) {
				k.checkPiece(kind, m, first, at)
			}
		}
	}
}

// checkPiece compares rows of a member with the bytes that they must be, which are
// where at says. The first two rows and the last show all: the rows of the member
// are evenly apart by its slot, and among steps of one length in an edge whose rows
// are apart, those that cross from one row into the next are longer than those
// that do not, so that the sum is right only if all are.
func (k *checker) checkPiece(kind Invariant, m checkedPiece, first EdgeID, at func(int64) int64) {
	x := k.edges[m.edge]
	for _, row := range []int64{0, min(1, x.rows-1), x.rows - 1} {
		from := m.start + row*m.apart
		want, last := at(from), at(from+x.width-1)
		if last != want+x.width-1 {
			k.fault(kind, m.edge, first, "row %d of the former is bytes %d to %d, not in one piece", row, want, last)
			return
		}
		if got := x.slot.Offset + row*x.slot.RowStride; got != want {
			k.fault(kind, m.edge, first, "row %d of the former is at %d, and its place in the pack at %d", row, got, want)
			return
		}
	}
}

// checkRows checks that the rows of an edge are in one piece where they are of no
// use apart, and apart only if a pack says so of an alias of the same rows.
func (k *checker) checkRows() {
	packed := make(map[EdgeID]bool)
	for _, p := range k.packings {
		for _, m := range p.pieces {
			packed[m.edge] = true
		}
	}
	for _, e := range k.order {
		x := k.edges[e]
		if packed[e] && x.rows > 1 {
			continue // checkPackings has seen to it
		}
		want := x.width
		for _, a := range follow(e, k.aliases) {
			if y := k.edges[a]; packed[a] && y.apart() {
				want = y.slot.RowStride
				if x.rows != y.rows || x.width != y.width {
					k.fault(InvariantAlias, e, a, "%d rows of %d bytes and %d rows of %d bytes, which are apart", x.rows, x.width, y.rows, y.width)
				}
			}
		}
		if x.slot.RowStride != want {
			k.fault(InvariantSize, e, noEdge, "its row stride is %d, not %d", x.slot.RowStride, want)
		}
	}
}

func (k *checker) checkAligned() {
	// What begins where a member of a pack other than the first begins does not
	// have to be aligned.
	begin := make(links) // joins an edge and the first members of the packs over it
	var inner []EdgeID
	for _, p := range k.packings {
		for i, m := range p.pieces {
			if i > 0 {
				inner = append(inner, m.edge)
			} else if p.over != noEdge {
				begin.both(p.over, m.edge)
			}
		}
	}
	free := make(map[EdgeID]bool)
	for _, m := range inner {
		if !free[m] {
			for _, e := range follow(m, k.aliases, begin) {
				free[e] = true
			}
		}
	}
	for _, e := range k.order {
		if x := k.edges[e]; x.buffer == noEdge && x.bytes() > 0 && !free[e] && x.slot.Offset%Align != 0 {
			k.fault(InvariantAligned, e, noEdge, "its offset is %d", x.slot.Offset)
		}
	}
}

func (k *checker) checkExternal() {
	packed := make(links) // joins the members of a pack and the edge that it lies over
	for _, p := range k.packings {
		for _, m := range p.pieces {
			packed.both(m.edge, p.pieces[0].edge)
			if p.over != noEdge {
				packed.both(m.edge, p.over)
			}
		}
	}
	bound := make(map[EdgeID]EdgeID)
	for _, ext := range k.l.External {
		for _, e := range follow(ext, k.aliases, packed) {
			bound[e] = ext
		}
		if x := k.edges[ext]; x.buffer != ext || x.slot.Offset != 0 {
			k.fault(InvariantExternal, ext, noEdge, "it is external, and not bound to itself")
		}
	}
	for _, e := range k.order {
		x := k.edges[e]
		ext, is := bound[e]
		switch {
		case !is && x.buffer != noEdge:
			k.fault(InvariantExternal, e, noEdge, "it is bound to edge number %d, which shares nothing with it", x.buffer)
		case is && x.buffer != ext:
			k.fault(InvariantExternal, e, ext, "the former is not bound to the latter")
		case is && x.slot.Bytes > 0 && x.slot.Offset+(x.rows-1)*x.slot.RowStride+x.width > k.edges[ext].slot.Bytes:
			k.fault(InvariantExternal, e, ext, "the former ends beyond the latter")
		}
	}
}

func (k *checker) checkDisjoint() {
	byStart := slices.Clone(k.order)
	slices.SortStableFunc(byStart, func(a, b EdgeID) int {
		return cmp.Compare(k.edges[a].slot.Start, k.edges[b].slot.Start)
	})
	for i, a := range byStart {
		var below []EdgeID
		for _, b := range byStart[i+1:] {
			x, y := k.edges[a], k.edges[b]
			if y.slot.Start > x.slot.End {
				break
			}
			if x.buffer != y.buffer || !shareByte(x, y) {
				continue
			}
			if below == nil {
				below = follow(a, k.aliases, k.over)
			}
			if !slices.Contains(below, b) && !slices.Contains(follow(b, k.aliases, k.over), a) {
				k.fault(InvariantDisjoint, a, b, "%d bytes at %d, live in %d to %d, and %d bytes at %d, live in %d to %d",
					x.slot.Bytes, x.slot.Offset, x.slot.Start, x.slot.End, y.slot.Bytes, y.slot.Offset, y.slot.Start, y.slot.End)
			}
		}
	}
}

// shareByte goes through the rows of both slots side by side.
func shareByte(x, y *checked) bool {
	if x.slot.Bytes == 0 || y.slot.Bytes == 0 {
		return false
	}
	a, b := x.runs(), y.runs()
	if period := max(a.stride, b.stride); period%a.stride+period%b.stride == 0 {
		// Both repeat after a period: once both have begun, a few show all.
		a.skipTo(b.at)
		b.skipTo(a.at)
		a.left, b.left = min(a.left, 3*(period/a.stride)), min(b.left, 3*(period/b.stride))
	}
	for a.left > 0 && b.left > 0 {
		if a.at < b.at+b.width && b.at < a.at+a.width {
			return true
		}
		if a.at < b.at {
			a.next()
			a.skipTo(b.at)
		} else {
			b.next()
			b.skipTo(a.at)
		}
	}
	return false
}

// runs are pieces of width bytes, stride bytes apart, of which the first is at
// offset at.
type runs struct{ at, width, left, stride int64 }

func (x *checked) runs() runs {
	if x.apart() {
		return runs{x.slot.Offset, x.width, x.rows, x.slot.RowStride}
	}
	return runs{x.slot.Offset, x.slot.Bytes, 1, x.slot.Bytes}
}

func (r *runs) next() { r.at, r.left = r.at+r.stride, r.left-1 }

// skipTo leaves out pieces that are followed by one that begins at offset or
// before.
func (r *runs) skipTo(offset int64) {
	if skip := min((offset-r.at)/r.stride, r.left-1); skip > 0 {
		r.at, r.left = r.at+skip*r.stride, r.left-skip
	}
}

func (k *checker) checkTotals() {
	var arena, sum int64
	for _, s := range k.b.Slots {
		if x := k.edges[s.Edge]; x != nil {
			sum += (s.Bytes + Align - 1) / Align * Align
			end := s.Offset + s.Bytes
			if x.apart() {
				end = s.Offset + (x.rows-1)*s.RowStride + x.width
			}
			arena = max(arena, end)
		}
	}
	if k.b.Groups != len(k.p.Groups) {
		k.fault(InvariantTotals, noEdge, noEdge, "%d groups, not %d", k.b.Groups, len(k.p.Groups))
	}
	if k.b.Arena < arena || k.b.Arena-arena >= Align {
		k.fault(InvariantTotals, noEdge, noEdge, "an arena of %d bytes, where slots end at %d", k.b.Arena, arena)
	}
	if k.b.Materialized != sum {
		k.fault(InvariantTotals, noEdge, noEdge, "%d bytes materialised, not %d", k.b.Materialized, sum)
	}
	if k.b.LowerBound > k.b.Arena {
		k.fault(InvariantTotals, noEdge, noEdge, "a lower bound of %d above the arena of %d", k.b.LowerBound, k.b.Arena)
	}
}

package circuit

import (
	"cmp"
	"slices"
)

// links say which edges can be reached from an edge in one step.
type links map[EdgeID][]EdgeID

func (n links) one(a, b EdgeID) { n[a] = append(n[a], b) }

func (n links) both(a, b EdgeID) {
	n.one(a, b)
	n.one(b, a)
}

// follow returns e and every edge that can be reached from it, ascending.
func follow(e EdgeID, n links) []EdgeID {
	seen := map[EdgeID]bool{e: true}
	all := []EdgeID{e}
	for i := 0; i < len(all); i++ {
		for _, to := range n[all[i]] {
			if !seen[to] {
				seen[to] = true
				all = append(all, to)
			}
		}
	}
	slices.Sort(all)
	return all
}

// link finds which edges share bytes on purpose.
func (k *checker) link() {
	k.aliases, k.down = make(links), make(links)
	for _, a := range k.l.Aliases {
		k.aliases.both(a.Edge, a.Of)
		k.down.both(a.Edge, a.Of)
	}
	for _, r := range k.l.RowPacks {
		if r.Over != nil {
			for _, m := range r.Members {
				k.down.one(*r.Over, m)
			}
		}
	}
	for _, p := range k.l.Packs {
		if p.Over == nil {
			continue
		}
		for _, m := range p.Members {
			k.down.one(*p.Over, m)
			if r := k.blockOf(m); r != nil {
				for _, q := range r.Members {
					k.down.one(*p.Over, q)
				}
				if r.Over != nil {
					k.down.one(*p.Over, *r.Over)
				}
			}
		}
	}
}

// blockOf returns the row pack that a member of a pack stands for, or nil.
func (k *checker) blockOf(m EdgeID) *RowPack {
	if r := k.edges[m].rowPack; r != nil && r.Members[0] == m {
		return r
	}
	return nil
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

// apart reports whether the rows of an edge are not in one piece.
func (x *checked) apart() bool {
	return x.rows > 1 && x.width > 0 && x.slot.RowStride != x.width
}

func (k *checker) checkPacks() {
	for _, p := range k.l.Packs {
		first := p.Members[0]
		next := k.edges[first].slot.Offset
		for _, m := range p.Members {
			x := k.edges[m]
			if k.sameBuffer(InvariantPack, m, first) && x.slot.Offset != next {
				k.fault(InvariantPack, m, first, "the former is at %d, and the members before it end at %d", x.slot.Offset, next)
			}
			if r := k.blockOf(m); r != nil {
				for _, q := range r.Members {
					next += k.edges[q].rows * k.edges[q].width
				}
				continue
			}
			if x.apart() {
				k.fault(InvariantPack, m, noEdge, "its rows of %d bytes are %d bytes apart", x.width, x.slot.RowStride)
			}
			next += x.rows * x.width
		}
		if p.Over == nil || !k.sameBuffer(InvariantOver, *p.Over, first) {
			continue
		}
		x := k.edges[*p.Over]
		if from := k.edges[first].slot.Offset; x.apart() || x.slot.Offset != from || x.slot.Offset+x.rows*x.width != next {
			k.fault(InvariantOver, *p.Over, first, "the edge is %d rows, %d bytes apart, at %d; the pack is [%d, %d)",
				x.rows, x.slot.RowStride, x.slot.Offset, from, next)
		}
	}
}

func (k *checker) checkRowPacks() {
	for _, r := range k.l.RowPacks {
		first := k.edges[r.Members[0]]
		var row int64
		for _, m := range r.Members {
			x := k.edges[m]
			if x.rows != first.rows {
				k.fault(InvariantRowPack, m, r.Members[0], "%d rows and %d rows", x.rows, first.rows)
			}
			if k.sameBuffer(InvariantRowPack, m, r.Members[0]) && x.slot.Offset != first.slot.Offset+row {
				k.fault(InvariantRowPack, m, r.Members[0], "the former is at %d, not %d bytes after the latter at %d", x.slot.Offset, row, first.slot.Offset)
			}
			row += x.width
		}
		stride := row
		if r.Over != nil && k.sameBuffer(InvariantOver, *r.Over, r.Members[0]) {
			over := k.edges[*r.Over]
			same := over.slot.Offset == first.slot.Offset && over.rows*over.width == first.rows*row
			if over.apart() { // within the rows of another row pack
				stride = over.slot.RowStride
				same = same && over.rows == first.rows
			}
			if !same {
				k.fault(InvariantOver, *r.Over, r.Members[0], "the edge is %d rows of %d bytes at %d, the row pack %d rows of %d bytes at %d",
					over.rows, over.width, over.slot.Offset, first.rows, row, first.slot.Offset)
			}
		}
		for _, m := range r.Members {
			if got := k.edges[m].slot.RowStride; got != stride {
				k.fault(InvariantRowPack, m, noEdge, "its row stride is %d, the row of the pack %d", got, stride)
			}
		}
	}
}

// checkStrides checks the rows of edges that are members of no row pack: they are
// in one piece, unless an alias is a member of one.
func (k *checker) checkStrides() {
	for _, e := range k.order {
		x := k.edges[e]
		if x.rowPack != nil {
			continue
		}
		want := x.width
		for _, a := range follow(e, k.aliases) {
			if y := k.edges[a]; y.rowPack != nil && y.apart() {
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
	together := make(links)
	for _, a := range k.l.Aliases {
		together.both(a.Edge, a.Of)
	}
	var inner []EdgeID
	add := func(members []EdgeID, over *EdgeID) {
		inner = append(inner, members[1:]...)
		if over != nil {
			together.both(*over, members[0])
		}
	}
	for _, p := range k.l.Packs {
		add(p.Members, p.Over)
	}
	for _, r := range k.l.RowPacks {
		add(r.Members, r.Over)
	}
	free := make(map[EdgeID]bool)
	for _, m := range inner {
		if !free[m] {
			for _, e := range follow(m, together) {
				free[e] = true
			}
		}
	}
	for _, e := range k.order {
		if x := k.edges[e]; x.buffer == noEdge && !free[e] && x.slot.Offset%Align != 0 {
			k.fault(InvariantAligned, e, noEdge, "its offset is %d", x.slot.Offset)
		}
	}
}

func (k *checker) checkExternal() {
	joined := make(links)
	for _, a := range k.l.Aliases {
		joined.both(a.Edge, a.Of)
	}
	add := func(members []EdgeID, over *EdgeID) {
		for _, m := range members {
			joined.both(m, members[0])
		}
		if over != nil {
			joined.both(*over, members[0])
		}
	}
	for _, p := range k.l.Packs {
		add(p.Members, p.Over)
	}
	for _, r := range k.l.RowPacks {
		add(r.Members, r.Over)
	}
	bound := make(map[EdgeID]EdgeID)
	for _, ext := range k.l.External {
		for _, e := range follow(ext, joined) {
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
				below = follow(a, k.down)
			}
			if !slices.Contains(below, b) && !slices.Contains(follow(b, k.down), a) {
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
	if a.stride == b.stride {
		// Both repeat alike: once both have begun, a few rows show all.
		a.skipTo(b.at)
		b.skipTo(a.at)
		a.left, b.left = min(a.left, 3), min(b.left, 3)
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

package circuit

import (
	"errors"
	"fmt"
	"slices"
)

// grain is the number of bytes that brute force takes as one. All rows of random
// samples are a multiple of it.
const grain = 32

// feasible decides by brute force whether a layout can be honoured: it follows
// every grain of every edge. It returns nil if it can. Below, sizes are in grains,
// and are called bytes all the same.
//
// Each byte of each edge is a variable; a constraint says how far one byte lies
// from another; from the lowest edge of each component the addresses of all its
// bytes follow. What comes out must be consistent, have rows at one distance, be
// alignable, and have no byte shared between live edges that are not joined.
func feasible(s sample) (err error, whole bool) {
	b := &bruteForce{sample: s, size: make(map[EdgeID]extent), live: make(map[EdgeID]LiveRange)}
	ranges, err := LiveRanges(s.c, s.p)
	if err != nil {
		return err, false
	}
	a, _ := analyze(s.c, s.p)
	size, err := a.extents(s.rows)
	if err != nil {
		return err, false
	}
	for _, r := range ranges {
		b.live[r.Edge] = r
		b.size[r.Edge] = extent{size[r.Edge].rows, size[r.Edge].width / grain, size[r.Edge].bytes / grain}
		b.edges = append(b.edges, r.Edge)
	}
	whole = true
	for _, e := range s.l.everyEdge() {
		whole = whole && b.size[e].bytes > 0
	}
	for _, step := range []func() error{b.structure, b.address, b.rowsEven, b.aligned, b.externals, b.overlaps} {
		if err := step(); err != nil {
			return err, whole
		}
	}
	return nil, whole
}

type bruteForce struct {
	sample
	edges []EdgeID
	size  map[EdgeID]extent
	live  map[EdgeID]LiveRange

	aliases, joined, down links
	rowPackOf             map[EdgeID]*RowPack

	at   map[EdgeID][]int64 // address of each byte
	comp map[EdgeID]byteOf  // a byte of the component
}

type byteOf struct {
	e EdgeID
	k int64
}

// structure rejects what is wrong by the form of the layout alone.
func (b *bruteForce) structure() error {
	b.aliases, b.joined, b.down = make(links), make(links), make(links)
	b.rowPackOf = make(map[EdgeID]*RowPack)
	for _, a := range b.l.Aliases {
		if b.size[a.Edge].bytes != b.size[a.Of].bytes {
			return errors.New("alias sizes")
		}
		b.aliases.both(a.Edge, a.Of)
		b.down.both(a.Edge, a.Of)
	}
	external := func(e EdgeID) bool {
		return slices.ContainsFunc(follow(e, b.aliases), func(x EdgeID) bool { return slices.Contains(b.l.External, x) })
	}
	for i := range b.l.RowPacks {
		r := &b.l.RowPacks[i]
		for _, m := range r.Members {
			if b.rowPackOf[m] != nil || external(m) || b.size[m].rows != b.size[r.Members[0]].rows {
				return errors.New("row pack members")
			}
			b.rowPackOf[m] = r
			if r.Over != nil {
				b.down.one(*r.Over, m)
			}
		}
	}
	packed := make(map[EdgeID]bool)
	for _, p := range b.l.Packs {
		for _, m := range p.Members {
			r := b.rowPackOf[m]
			if packed[m] || external(m) || r != nil && r.Members[0] != m {
				return errors.New("pack members")
			}
			packed[m] = true
			if p.Over != nil {
				b.down.one(*p.Over, m)
				if r != nil {
					for _, q := range r.Members {
						b.down.one(*p.Over, q)
					}
					if r.Over != nil {
						b.down.one(*p.Over, *r.Over)
					}
				}
			}
		}
	}
	return nil
}

// address gives every byte an address within its component.
func (b *bruteForce) address() error {
	type step struct {
		to byteOf
		d  int64
	}
	next := make(map[byteOf][]step)
	say := func(x, y byteOf, d int64) {
		next[x] = append(next[x], step{y, d})
		next[y] = append(next[y], step{x, -d})
	}
	run := func(bytes []byteOf) {
		for i := 1; i < len(bytes); i++ {
			say(bytes[i-1], bytes[i], 1)
		}
	}
	all := func(e EdgeID) (bytes []byteOf) {
		for k := range b.size[e].bytes {
			bytes = append(bytes, byteOf{e, k})
		}
		return bytes
	}
	same := func(x, y []byteOf) error {
		if len(x) != len(y) {
			return errors.New("over size")
		}
		for i := range x {
			say(x[i], y[i], 0)
		}
		return nil
	}
	rowsOf := func(r *RowPack) (rows [][]byteOf) {
		for i := range b.size[r.Members[0]].rows {
			var row []byteOf
			for _, m := range r.Members {
				w := b.size[m].width
				for k := range w {
					row = append(row, byteOf{m, i*w + k})
				}
			}
			rows = append(rows, row)
		}
		return rows
	}
	inRowPack := func(e EdgeID, except *RowPack) bool {
		return slices.ContainsFunc(follow(e, b.aliases), func(x EdgeID) bool {
			return b.rowPackOf[x] != nil && b.rowPackOf[x] != except
		})
	}
	for _, e := range b.edges {
		if !inRowPack(e, nil) {
			run(all(e))
		}
	}
	for _, a := range b.l.Aliases {
		if err := same(all(a.Edge), all(a.Of)); err != nil {
			return err
		}
	}
	for i := range b.l.RowPacks {
		r := &b.l.RowPacks[i]
		rows := rowsOf(r)
		for _, row := range rows {
			run(row)
		}
		if r.Over == nil || !inRowPack(*r.Over, r) {
			run(slices.Concat(rows...))
		}
		if r.Over != nil {
			if err := same(all(*r.Over), slices.Concat(rows...)); err != nil {
				return err
			}
		}
	}
	for _, p := range b.l.Packs {
		var bytes []byteOf
		for _, m := range p.Members {
			if r := b.rowPackOf[m]; r != nil {
				bytes = append(bytes, slices.Concat(rowsOf(r)...)...)
			} else {
				bytes = append(bytes, all(m)...)
			}
		}
		run(bytes)
		if p.Over != nil {
			if err := same(all(*p.Over), bytes); err != nil {
				return err
			}
		}
	}

	for {
		address, root, err := propagate(b.edges, all, func(x byteOf, yield func(byteOf, int64)) {
			for _, st := range next[x] {
				yield(st.to, st.d)
			}
		})
		if err != nil {
			return err
		}
		b.at, b.comp = make(map[EdgeID][]int64), make(map[EdgeID]byteOf)
		loose := noEdge
		for _, e := range b.edges {
			for _, x := range all(e) {
				b.at[e] = append(b.at[e], address[x])
				if x.k == 0 {
					b.comp[e] = root[x]
				} else if b.comp[e] != root[x] {
					loose = e
				}
			}
		}
		if loose == noEdge {
			return nil
		}
		run(all(loose)) // nothing says how far its rows are apart: then they are not
	}
}

// propagate finds the address of each byte relative to the first byte of its
// component, the root.
func propagate(edges []EdgeID, all func(EdgeID) []byteOf, next func(byteOf, func(to byteOf, d int64))) (address map[byteOf]int64, root map[byteOf]byteOf, err error) {
	address, root = make(map[byteOf]int64), make(map[byteOf]byteOf)
	for _, e := range edges {
		for _, first := range all(e) {
			if _, ok := address[first]; ok {
				continue
			}
			address[first], root[first] = 0, first
			for todo := []byteOf{first}; len(todo) > 0; todo = todo[1:] {
				x := todo[0]
				next(x, func(to byteOf, d int64) {
					if was, ok := address[to]; !ok {
						address[to], root[to] = address[x]+d, first
						todo = append(todo, to)
					} else if was != address[x]+d {
						err = fmt.Errorf("byte %d of edge %d is in two places", to.k, to.e)
					}
				})
			}
		}
	}
	return address, root, err
}

// rowsEven checks that rows are in one piece and at one distance.
func (b *bruteForce) rowsEven() error {
	for _, e := range b.edges {
		at, size := b.at[e], b.size[e]
		for k := range size.bytes {
			row, col := k/size.width, k%size.width
			stride := size.width
			if size.rows > 1 {
				stride = at[size.width] - at[0]
			}
			if at[k] != at[0]+row*stride+col {
				return fmt.Errorf("rows of edge %d", e)
			}
		}
	}
	return nil
}

// aligned checks that what must be aligned can be, together with the lowest byte
// of the component.
func (b *bruteForce) aligned() error {
	together := make(links)
	for _, a := range b.l.Aliases {
		together.both(a.Edge, a.Of)
	}
	var inner []EdgeID
	add := func(members []EdgeID, over *EdgeID) {
		inner = append(inner, members[1:]...)
		if over != nil {
			together.both(*over, members[0])
		}
	}
	for _, p := range b.l.Packs {
		add(p.Members, p.Over)
	}
	for _, r := range b.l.RowPacks {
		add(r.Members, r.Over)
	}
	free := make(map[EdgeID]bool)
	for _, m := range inner {
		for _, e := range follow(m, together) {
			free[e] = true
		}
	}
	lowest := make(map[byteOf]int64)
	for _, e := range b.edges {
		if b.size[e].bytes > 0 {
			lowest[b.comp[e]] = min(lowest[b.comp[e]], b.at[e][0])
		}
	}
	for _, e := range b.edges {
		if !free[e] && b.size[e].bytes > 0 && (b.at[e][0]-lowest[b.comp[e]])%(Align/grain) != 0 {
			return fmt.Errorf("edge %d cannot be aligned", e)
		}
	}
	return nil
}

// externals checks that what is joined to an external edge lies within it.
func (b *bruteForce) externals() error {
	of := make(map[byteOf]EdgeID)
	for _, x := range b.l.External {
		if b.size[x].bytes == 0 {
			continue
		}
		if y, ok := of[b.comp[x]]; ok && y != x {
			return errors.New("two externals")
		}
		of[b.comp[x]] = x
	}
	for _, e := range b.edges {
		if x, ok := of[b.comp[e]]; ok && b.size[e].bytes > 0 {
			if slices.Min(b.at[e]) < b.at[x][0] || slices.Max(b.at[e]) > b.at[x][len(b.at[x])-1] {
				return errors.New("outside external")
			}
		}
	}
	return nil
}

// overlaps checks every pair of edges, byte by byte.
func (b *bruteForce) overlaps() error {
	span := make(map[EdgeID]LiveRange)
	below := make(map[EdgeID][]EdgeID)
	for _, e := range b.edges {
		s := b.live[e]
		for _, x := range follow(e, b.aliases) {
			s.Start, s.End = min(s.Start, b.live[x].Start), max(s.End, b.live[x].End)
		}
		span[e], below[e] = s, follow(e, b.down)
	}
	for i, x := range b.edges {
		bytes := make(map[int64]bool)
		for _, at := range b.at[x] {
			bytes[at] = true
		}
		for _, y := range b.edges[:i] {
			if b.size[x].bytes == 0 || b.size[y].bytes == 0 || b.comp[x] != b.comp[y] ||
				span[x].Start > span[y].End || span[y].Start > span[x].End ||
				slices.Contains(below[x], y) || slices.Contains(below[y], x) {
				continue
			}
			if slices.ContainsFunc(b.at[y], func(at int64) bool { return bytes[at] }) {
				return fmt.Errorf("edges %d and %d share a byte while live", x, y)
			}
		}
	}
	return nil
}

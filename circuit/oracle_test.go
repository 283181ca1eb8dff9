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
// alignable, have no byte shared between live edges that are not joined, and none
// overwritten that is still to be read.
func feasible(s sample) error {
	b := &bruteForce{sample: s, size: make(map[EdgeID]extent), live: make(map[EdgeID]LiveRange)}
	ranges, err := LiveRanges(s.c, s.p)
	if err != nil {
		return err
	}
	a, _ := analyze(s.c, s.p)
	size, err := a.extents(s.rows)
	if err != nil {
		return err
	}
	for _, r := range ranges {
		b.live[r.Edge] = r
		b.size[r.Edge] = extent{size[r.Edge].rows, size[r.Edge].width / grain, size[r.Edge].bytes / grain}
		b.edges = append(b.edges, r.Edge)
	}
	for _, step := range []func() error{b.structure, b.rings, b.address, b.rowsEven, b.aligned, b.externals, b.overlaps, b.kept} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

type bruteForce struct {
	sample
	edges []EdgeID
	size  map[EdgeID]extent
	live  map[EdgeID]LiveRange

	packs               []bytePack
	aliases, down, same links

	at   map[EdgeID][]int64 // address of each byte
	comp map[EdgeID]byteOf  // a byte of the component
}

type byteOf struct {
	e EdgeID
	k int64
}

// A bytePack is a pack or a row pack, byte by byte.
type bytePack struct {
	bytes  []byteOf
	over   EdgeID // or noEdge
	inside bool   // a block of a pack, over no edge
}

// members returns the edges that have bytes in a pack, in order.
func (p bytePack) members() (edges []EdgeID) {
	for _, x := range p.bytes {
		if !slices.Contains(edges, x.e) {
			edges = append(edges, x.e)
		}
	}
	return edges
}

// all lists the bytes of an edge.
func (b *bruteForce) all(e EdgeID) (bytes []byteOf) {
	for k := range b.size[e].bytes {
		bytes = append(bytes, byteOf{e, k})
	}
	return bytes
}

// structure rejects what is wrong by the form of the layout alone, and lists the
// bytes of packs.
func (b *bruteForce) structure() error {
	b.aliases, b.down, b.same = make(links), make(links), make(links)
	for _, a := range b.l.Aliases {
		if b.size[a.Edge].bytes != b.size[a.Of].bytes {
			return errors.New("alias sizes")
		}
		b.aliases.both(a.Edge, a.Of)
		b.down.both(a.Edge, a.Of)
		if a.Same {
			b.same.both(a.Edge, a.Of)
		}
	}
	external := func(e EdgeID) bool {
		return b.size[e].bytes > 0 &&
			slices.ContainsFunc(follow(e, b.aliases), func(x EdgeID) bool { return slices.Contains(b.l.External, x) })
	}
	add := func(p bytePack, over *EdgeID, same bool, more ...EdgeID) {
		p.over = noEdge
		if over != nil {
			p.over = *over
			for _, m := range append(p.members(), more...) {
				b.down.one(*over, m)
				if same {
					b.same.both(*over, m)
				}
			}
		}
		b.packs = append(b.packs, p)
	}
	packed := make(map[EdgeID]bool)
	first := make(map[EdgeID]int) // by first edge: the row pack
	for i, r := range b.l.RowPacks {
		var p bytePack
		rows := int64(0)
		for _, m := range r.Members {
			if packed[m] || external(m) {
				return errors.New("row pack members")
			}
			packed[m] = true
			if size := b.size[m]; size.bytes > 0 {
				if rows > 0 && rows != size.rows {
					return errors.New("row counts")
				}
				rows = size.rows
			}
		}
		for row := range rows {
			for _, m := range r.Members {
				if w := b.size[m].width; b.size[m].bytes > 0 {
					p.bytes = append(p.bytes, b.all(m)[row*w:(row+1)*w]...)
				}
			}
		}
		first[r.Members[0]] = i
		add(p, r.Over, r.Same)
	}
	blocks := make(map[int]bool)
	for _, q := range b.l.Packs {
		var p bytePack
		var more []EdgeID
		for _, m := range q.Members {
			if i, is := first[m]; is && !blocks[i] {
				blocks[i] = true
				p.bytes = append(p.bytes, b.packs[i].bytes...)
				if over := b.packs[i].over; over != noEdge {
					more = append(more, over)
				} else {
					b.packs[i].inside = true
				}
				continue
			}
			if packed[m] || external(m) {
				return errors.New("pack members")
			}
			packed[m] = true
			p.bytes = append(p.bytes, b.all(m)...)
		}
		add(p, q.Over, q.Same, more...)
	}
	for _, p := range b.packs {
		if p.over != noEdge && int64(len(p.bytes)) != b.size[p.over].bytes {
			return errors.New("over size")
		}
	}
	return nil
}

// rings rejects packs that lie over each other in a ring.
func (b *bruteForce) rings() error {
	up := make(links) // from a member to what it lies over
	for _, a := range b.l.Aliases {
		up.both(a.Edge, a.Of)
	}
	for _, p := range b.packs {
		for _, m := range p.members() {
			if p.over != noEdge && !p.inside {
				up.one(m, p.over)
			}
		}
	}
	for _, p := range b.packs {
		for _, m := range p.members() {
			if p.over != noEdge && slices.Contains(follow(p.over, up), m) {
				return errors.New("ring")
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
	same := func(x, y []byteOf) {
		for i := range x {
			say(x[i], y[i], 0)
		}
	}
	packed := make(map[EdgeID]bool)
	for _, p := range b.packs {
		switch {
		case p.inside:
		case p.over != noEdge:
			same(p.bytes, b.all(p.over))
		default:
			run(p.bytes)
		}
		for _, m := range p.members() {
			packed[m] = true
		}
	}
	for _, e := range b.edges {
		if !slices.ContainsFunc(follow(e, b.aliases), func(a EdgeID) bool { return packed[a] }) {
			run(b.all(e))
		}
	}
	for _, a := range b.l.Aliases {
		same(b.all(a.Edge), b.all(a.Of))
	}
	address, root, err := propagate(b.edges, b.all, func(x byteOf, yield func(byteOf, int64)) {
		for _, st := range next[x] {
			yield(st.to, st.d)
		}
	})
	if err != nil {
		return err
	}
	b.at, b.comp = make(map[EdgeID][]int64), make(map[EdgeID]byteOf)
	for _, e := range b.edges {
		for _, x := range b.all(e) {
			b.at[e] = append(b.at[e], address[x])
			if b.comp[e] = root[x]; root[x] != root[byteOf{e, 0}] {
				return fmt.Errorf("nothing holds edge %d together", e)
			}
		}
	}
	return nil
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
	for _, p := range b.packs {
		for i, m := range p.members() {
			if i > 0 {
				inner = append(inner, m)
			} else if p.over != noEdge {
				together.both(p.over, m)
			}
		}
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

// kept checks that no byte is overwritten with another value before it is read.
func (b *bruteForce) kept() error {
	type cell struct {
		comp byteOf
		at   int64
	}
	type event struct {
		edge         EdgeID
		group, order int // of the write; -1 for what comes from outside
	}
	history := make(map[cell][]event)
	own := make(map[EdgeID]int)
	write := func(e EdgeID, group, order int) {
		own[e] = order
		for _, at := range b.at[e] {
			c := cell{b.comp[e], at}
			history[c] = append(history[c], event{e, group, order})
		}
	}
	read := func(e EdgeID, group int) error {
		for _, at := range b.at[e] {
			for _, w := range history[cell{b.comp[e], at}] {
				later := w.order > own[e] || w.order < 0 && own[e] < 0
				if w.edge != e && later && w.group < group && !slices.Contains(follow(e, b.same), w.edge) {
					return fmt.Errorf("edge %d is written over edge %d", w.edge, e)
				}
			}
		}
		return nil
	}
	reads := func(group int) (edges []EdgeID) {
		for _, n := range b.p.Groups[group].Nodes {
			for _, e := range b.c.Nodes[n].Inputs {
				if b.first(e) != group {
					edges = append(edges, e)
				}
			}
		}
		return edges
	}
	isRead := make(map[EdgeID]bool)
	var outside []EdgeID // read after all groups
	for g := range b.p.Groups {
		for _, e := range reads(g) {
			isRead[e] = true
		}
	}
	for _, e := range b.edges {
		elsewhere := slices.ContainsFunc(b.c.Nodes, func(n Node) bool { return n.Section != b.p.Section && slices.Contains(n.Inputs, e) })
		if slices.Contains(b.c.Outputs, e) || elsewhere && b.first(e) >= 0 {
			outside = append(outside, e)
			isRead[e] = true
		}
	}
	for _, e := range b.edges {
		if b.first(e) < 0 && isRead[e] {
			write(e, -1, -1)
		}
	}
	order := 0
	for g, group := range b.p.Groups {
		for _, e := range reads(g) {
			if err := read(e, g); err != nil {
				return err
			}
		}
		for _, n := range group.Nodes {
			for _, e := range b.c.Nodes[n].Outputs {
				write(e, g, order)
				order++
			}
		}
	}
	for _, e := range outside {
		if err := read(e, len(b.p.Groups)); err != nil {
			return err
		}
	}
	return nil
}

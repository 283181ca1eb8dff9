package circuit

import (
	"cmp"
	"fmt"
	"slices"
)

// A block is alias classes whose places are known relative to each other, and
// which therefore get one place together. Most blocks are a single edge.
type block struct {
	classes  []int  // roots, in the order of their lowest edges
	edge     EdgeID // the lowest edge
	external EdgeID // the edge that the executor binds, or noEdge; then this is where the block lies
	lo, hi   int64  // the bytes it spans, as positions
	knotted  bool   // some class is in two packings, or under two: see checkOverlaps
}

// A solution is where classes lie, by class root. Positions are in bytes and mean
// something within one block only.
type solution struct {
	*constraints
	at      []int64
	blockOf []int
	blocks  []block // in the order of their lowest edges
}

// solve turns the constraints into equations between positions, and finds the
// blocks that these make.
func (k *constraints) solve() (*solution, error) {
	n := len(k.c.Edges)
	s := &solution{constraints: k, at: make([]int64, n), blockOf: make([]int, n)}
	eq := newOffsets(n)
	if err := k.equate(eq); err != nil {
		return nil, err
	}
	numbered := make([]int, n) // by root in eq: the number of its block plus one
	seen := make([]bool, n)    // by class
	for e, stored := range k.stored {
		class := k.class.find(e)
		if !stored || seen[class] {
			continue
		}
		seen[class] = true
		root, after := eq.find(class)
		if numbered[root] == 0 {
			s.blocks = append(s.blocks, block{edge: EdgeID(e), external: noEdge})
			numbered[root] = len(s.blocks)
		}
		s.at[class], s.blockOf[class] = after, numbered[root]-1
		b := &s.blocks[s.blockOf[class]]
		b.classes = append(b.classes, class)
		b.knotted = b.knotted || len(k.members[class]) > 1 || k.overs[class] > 1
	}
	for i := range s.blocks {
		if err := s.bound(&s.blocks[i]); err != nil {
			return nil, err
		}
	}
	return s, s.checkAligned()
}

// equate adds what packings say of positions.
func (k *constraints) equate(eq *offsets) error {
	in := make([]int, len(k.c.Edges)) // by class: the packing that last had it as a member, plus one
	member := make([]EdgeID, len(k.c.Edges))
	for id := range k.packings {
		p := &k.packings[id]
		join := func(a, b EdgeID, d int64) error {
			known, ok := eq.join(k.root(a), k.root(b), d)
			if !ok {
				return &PlanError{Kind: ErrOverflow, Constraint: p.String(), Edge: k.name(b), Detail: "the bytes of all packs together"}
			}
			if known != d {
				return &PlanError{Kind: ErrContradiction, Constraint: p.String(), Edge: k.name(b), Other: k.name(a),
					Detail: fmt.Sprintf("the first lies %d bytes after the second here, and %d by other constraints", d, known)}
			}
			return nil
		}
		for i, m := range p.members {
			class := k.root(m)
			if in[class] == id+1 && k.size[m].bytes > 0 {
				return &PlanError{Kind: ErrAliasInPack, Constraint: p.String(), Edge: k.name(member[class]), Other: k.name(m)}
			}
			in[class], member[class] = id+1, m
			if i == 0 {
				continue
			}
			before := p.members[i-1]
			d := k.size[before].width
			if !p.byRow {
				d, _ = k.itemBytes(before)
			}
			if err := join(before, m, d); err != nil {
				return err
			}
		}
		if p.over != noEdge {
			if err := join(p.over, p.members[0], 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// bytesOf returns the bytes that a class keeps from other blocks: from position
// lo on. Where rows are apart that is all of the outermost row pack: what lies
// between the rows of one member is of no use to others.
func (s *solution) bytesOf(class int) (lo, bytes int64) {
	if in := s.around[class]; in != none {
		p := &s.packings[s.packings[in].outer]
		return s.at[s.root(p.members[0])], p.bytes
	}
	return s.at[class], s.size[class].bytes
}

// bound finds the bytes that a block spans. If the executor binds an edge of it,
// the block must lie within that edge.
func (s *solution) bound(b *block) error {
	for i, class := range b.classes {
		lo, bytes := s.bytesOf(class)
		if len(b.classes) > 1 && bytes > maxReach {
			return &PlanError{Kind: ErrOverflow, Edge: s.name(EdgeID(class)), Detail: fmt.Sprintf("%d bytes in a pack", bytes)}
		}
		if i == 0 {
			b.lo, b.hi = lo, lo+bytes
		}
		b.lo, b.hi = min(b.lo, lo), max(b.hi, lo+bytes)
		if e := s.external[class]; e != noEdge {
			if b.external != noEdge {
				return &PlanError{Kind: ErrTwoExternals, Edge: s.name(b.external), Other: s.name(e),
					Detail: "packs place one relative to the other"}
			}
			b.external = e
		}
	}
	if b.external == noEdge {
		return nil
	}
	from, size := s.bytesOf(s.root(b.external))
	for _, class := range b.classes {
		if lo, bytes := s.bytesOf(class); lo < from || lo+bytes > from+size {
			return &PlanError{Kind: ErrOutsideExternal, Edge: s.name(EdgeID(class)), Other: s.name(b.external),
				Detail: fmt.Sprintf("%d bytes from byte %d of a buffer of %d", bytes, lo-from, size)}
		}
	}
	return nil
}

// checkAligned checks that in each block, everything that has to be aligned is,
// once the block is. What a pack places after its first member does not have to
// be, nor what lies over that, or is an alias of it.
func (s *solution) checkAligned() error {
	n := len(s.c.Edges)
	place := newSets(n) // classes that begin at one byte, because a constraint says so
	for i := range s.packings {
		if p := &s.packings[i]; p.over != noEdge {
			place.join(s.root(p.over), s.root(p.members[0]))
		}
	}
	inner := make([]bool, n) // by place
	for i := range s.packings {
		for _, m := range s.packings[i].members[1:] {
			inner[place.find(s.root(m))] = true
		}
	}
	for i := range s.blocks {
		b := &s.blocks[i]
		for _, class := range b.classes {
			if after := s.at[class] - b.lo; after%Align != 0 && !inner[place.find(class)] {
				return &PlanError{Kind: ErrMisaligned, Edge: s.name(EdgeID(class)), Other: s.name(s.lowest(b)),
					Detail: fmt.Sprintf("both have to be aligned to %d, and the first lies %d bytes after the second", Align, after)}
			}
		}
	}
	return nil
}

// lowest returns an edge at the lowest position of a block.
func (s *solution) lowest(b *block) EdgeID {
	class := slices.MinFunc(b.classes, func(x, y int) int { return cmp.Compare(s.at[x], s.at[y]) })
	return EdgeID(class)
}

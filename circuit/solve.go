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

// solve finds the blocks that the equations between positions make.
func (k *constraints) solve() (*solution, error) {
	n := len(k.c.Edges)
	s := &solution{constraints: k, at: make([]int64, n), blockOf: make([]int, n)}
	numbered := make([]int, n) // by root in eq: the number of its block plus one
	seen := make([]bool, n)    // by class
	for e, stored := range k.stored {
		class := k.class.root(e)
		if !stored || seen[class] {
			continue
		}
		seen[class] = true
		root, after := k.eq.find(class)
		if numbered[root] == 0 {
			s.blocks = append(s.blocks, block{edge: EdgeID(e), external: noEdge})
			numbered[root] = len(s.blocks)
		}
		s.at[class], s.blockOf[class] = after, numbered[root]-1
		b := &s.blocks[s.blockOf[class]]
		b.classes = append(b.classes, class)
		b.knotted = b.knotted || len(k.homes[class]) > 1 || len(k.overs[class]) > 1
	}
	for i := range s.blocks {
		if err := s.bound(&s.blocks[i]); err != nil {
			return nil, err
		}
	}
	return s, s.checkAligned()
}

// bytesOf returns the bytes that a class keeps from other blocks: from position
// lo on. Where rows are apart that is all of the outermost row pack: what lies
// between the rows of one member is of no use to others.
func (s *solution) bytesOf(class int) (lo, bytes int64) {
	if rows := s.rows[class]; rows.stride > 0 {
		p := &s.packings[rows.outer]
		return s.at[s.root(p.lead)], p.bytes
	}
	return s.at[class], s.size[class].bytes
}

// region returns where the rows of a class are.
func (s *solution) region(class int) Region {
	size := s.size[class]
	if stride := s.rows[class].stride; stride > 0 {
		return Region{s.at[class], size.rows, size.width, stride}
	}
	return Region{s.at[class], 1, size.bytes, size.bytes}
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
	place := newOffsets(n) // classes that begin at one byte, because a constraint says so
	for i := range s.packings {
		if p := &s.packings[i]; p.over != noEdge && len(p.pieces) > 0 {
			place.join(s.root(p.over), s.root(p.pieces[0].edge), 0)
		}
	}
	inner := make([]bool, n) // by place
	for i := range s.packings {
		for j, m := range s.packings[i].pieces {
			if j > 0 {
				inner[place.root(s.root(m.edge))] = true
			}
		}
	}
	for i := range s.blocks {
		b := &s.blocks[i]
		for _, class := range b.classes {
			if after := s.at[class] - b.lo; after%Align != 0 && !inner[place.root(class)] {
				lowest := slices.MinFunc(b.classes, func(x, y int) int { return cmp.Compare(s.at[x], s.at[y]) })
				return &PlanError{Kind: ErrMisaligned, Edge: s.name(EdgeID(class)), Other: s.name(EdgeID(lowest)),
					Detail: fmt.Sprintf("both have to be aligned to %d, and the first lies %d bytes after the second", Align, after)}
			}
		}
	}
	return nil
}

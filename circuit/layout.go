package circuit

import "slices"

// Align is the alignment of the offsets of unpacked storage and of the first
// edge of a pack, in bytes.
const Align = 256

// A Layout holds the constraints that an executor puts on where the stored edges
// of a plan lie. Every edge it names must be stored by the plan. The zero value,
// and nil, constrain nothing. An edge without bytes shares none, and no constraint
// says where it lies.
//
// Constraints combine. [PlanBuffersWith] honours every combination that some
// arrangement of bytes can honour, and names the constraint at fault otherwise.
// Written as in the text form (see [Problem]), with edges that are n rows unless
// said otherwise:
//
//	rowpack c d over e      a part of a part: c is a part of each row of e,
//	rowpack a b over c      and a and b are parts of each row of c
//
//	rowpack c d over e      rows of a part: a and b are the first and the last
//	pack a b over c         rows of c, as far apart as the rows of e
//
//	rowpack c d over e      parts of other rows: c is 2n rows, of which row i of
//	rowpack a b over c      a is number 2i and row i of b is number 2i+1
//
//	pack c d                a row-packed part of a pack: c is one piece of the
//	rowpack a b over c      pack, and a and b are parts of each row of that
//
//	rowpack a b             the same without an edge c: the first edge of a row
//	pack a d                pack stands, in a pack, for all of the row pack
//
//	external e              what lies over an external edge lies in its buffer, at
//	pack a b over e         any depth, and is bound and not placed; a or b may
//	                        themselves be inputs that the executor has put there
//
//	pack a b over c         one edge taken apart in two ways, one after the other:
//	rowpack d e over c      no group may touch both a member of the former and
//	                        one of the latter that shares a byte with it
//
// These cannot be said, whatever the sizes:
//
//   - Two packs of one edge, as when b is split off c and joined to d:
//     "pack a b over c" with "pack b d over e". An edge is a member of one pack or
//     row pack at most. An alias of it may be in another; then c and e share the
//     bytes of b, which they can while they are not live at once.
//   - An external edge as a member. It has a buffer of its own, in which nothing
//     lies beside it. A part of an external edge is a member of a pack over that
//     edge, and is not external itself.
//   - Packs over each other in a ring. Edges that are the same bytes are aliases.
//
// Of the sizes it depends where an edge has its rows apart, as a member of a row
// pack has. [Region.Part] is the rule: each row of a part must lie within one row of
// the edge, and these places must be evenly apart. So a part of several whole rows
// is an edge of as many rows of the same width: as a single long row, or as rows of
// half the width, its bytes would not be rows at one distance.
type Layout struct {
	// External are edges that the executor binds to buffers of its own, one for
	// each. They get no place in the arena, nor do edges whose bytes they share.
	External []EdgeID

	// Aliases join edges that share their bytes, such as an output that a kernel
	// writes over one of its inputs.
	Aliases []Alias

	// Packs are edges that lie back to back.
	Packs []Pack

	// RowPacks are edges that lie side by side within each row.
	RowPacks []RowPack
}

// An Alias says that two edges are the same bytes; their sizes in bytes must be
// equal. Aliases chain: edges joined by any number of them form one class.
//
// A write of one is then a write of the other, so it must not come between a write
// of the other and a group that reads that: in "alias y x", no group after the one
// that writes y may read x. A group may read x and write y: that the kernel reads
// before it writes is for the executor to see to.
//
// Same says that both edges hold one value, whichever was written last, so that
// no order of reads and writes can do harm. A kernel that appends to a cache x and
// calls the result y, with readers of x that look at the old entries only, is an
// example.
type Alias struct {
	Edge, Of EdgeID
	Same     bool
}

// A Pack is edges that lie back to back, in this order, with no byte between.
// The first is aligned to [Align], the others begin where their neighbour ends.
// Together they are rows times width of each, in bytes.
//
// An edge is a member of at most one pack. The first edge of a row pack may be
// named as a member, and then stands for all of that row pack as one block.
//
// With Over, the pack occupies the bytes of that edge, which must be exactly its
// size: a kernel rewrites the edge into the members, or the edge is the members
// taken as one. Then the pack begins where the edge does, which is aligned unless
// the edge is itself packed; and if the rows of the edge are apart, so are those
// of the members, each of which must be whole rows of the edge, or lie within one:
// see [Layout]. Several packs may lie over one edge, as when it is put together
// from some edges and later taken apart into others; but members of two of them
// that share a byte must not be live at once, which means that no group may touch
// both.
//
// A write of the edge is a write of its members and the other way round, as with an
// [Alias]. Same says that they hold one value: a concatenation whose parts are
// written in place, and which then moves no byte, changes none of its parts, and
// they may be read after it.
//
// There is no byte between members at the most rows only: see [Slot] for a run of
// fewer.
type Pack struct {
	Members []EdgeID
	Over    *EdgeID
	Same    bool
}

// A RowPack is edges that lie side by side within each row: row i holds row i of
// every member, in order. The members have one row count; the stride from row to
// row is the sum of the bytes of a row of each.
//
// With Over, the pack occupies the bytes of that edge, which must be exactly its
// size, though it may have other rows. If the rows of the edge are apart, because it
// is itself a member of a row pack, the members lie where [Region.Part] says. Over n
// rows of the edge, each row of which the members fill, the stride is that of the
// edge. Over 2n rows, each member lies in every second row of the edge, and the
// stride is twice that.
//
// Same is as in a [Pack].
type RowPack struct {
	Members []EdgeID
	Over    *EdgeID
	Same    bool
}

// everyEdge lists the edges that a layout names, with repeats.
func (l *Layout) everyEdge() []EdgeID {
	if l == nil {
		return nil
	}
	all := slices.Clone(l.External)
	for _, a := range l.Aliases {
		all = append(all, a.Edge, a.Of)
	}
	packs := slices.Clone(l.Packs)
	for _, r := range l.RowPacks {
		packs = append(packs, Pack(r))
	}
	for _, p := range packs {
		all = append(all, p.Members...)
		if p.Over != nil {
			all = append(all, *p.Over)
		}
	}
	return all
}

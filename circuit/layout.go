package circuit

import "slices"

// Align is the alignment of the offsets of unpacked storage and of the first
// edge of a pack, in bytes.
const Align = 256

// A Layout holds the constraints that an executor puts on where the stored edges
// of a plan lie. Every edge it names must be stored by the plan. The zero value,
// and nil, constrain nothing.
//
// Constraints combine: an edge of a pack may have aliases, a pack may lie over an
// edge of another pack, a pack may hold a row pack. [PlanBuffersWith] honours
// every combination that some arrangement of bytes can honour, and names the
// constraint at fault otherwise.
type Layout struct {
	// External are edges that the executor binds to buffers of its own. They
	// get no place in the arena, nor do edges whose bytes they share.
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
type Alias struct{ Edge, Of EdgeID }

// A Pack is edges that lie back to back, in this order, with no byte between.
// The first is aligned to [Align], the others begin where their neighbour ends.
//
// An edge is a member of at most one pack. The first edge of a row pack may be
// named as a member, and then stands for all of that row pack as one block.
//
// With Over, the pack occupies the bytes of that edge, which must be exactly its
// size: a kernel rewrites the edge into the members, or the edge is the members
// taken as one. Then the pack begins where the edge does, which is aligned unless
// the edge is itself packed. Several packs may lie over one edge, as when it is put
// together from some edges and later taken apart into others; but members of two
// of them that share a byte must not be live at once, which means that no group may
// touch both.
//
// There is no byte between members at the most rows only: see [Slot] for a run of
// fewer.
type Pack struct {
	Members []EdgeID
	Over    *EdgeID
}

// A RowPack is edges that lie side by side within each row: row i holds row i of
// every member, in order. The members have one row count; the stride from row to
// row is the sum of the bytes of a row of each.
//
// With Over, the pack occupies the bytes of that edge, which must be exactly its
// size. If the edge is itself a member of a row pack, its rows are not in one
// piece; then the members must have its row count and fill its rows, and the
// stride is that of the outer row pack.
type RowPack struct {
	Members []EdgeID
	Over    *EdgeID
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
	add := func(members []EdgeID, over *EdgeID) {
		all = append(all, members...)
		if over != nil {
			all = append(all, *over)
		}
	}
	for _, p := range l.Packs {
		add(p.Members, p.Over)
	}
	for _, r := range l.RowPacks {
		add(r.Members, r.Over)
	}
	return all
}

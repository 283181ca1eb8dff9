package circuit

import "github.com/berth-go/berth/pack"

// A BufferPlan says where every materialised edge of a fusion plan lies: in the
// arena, at an offset that holds for every run of up to MaxRows rows and any value
// of the circuit's dimensions, or in a buffer that the executor binds.
//
// A pack whose members are not live all at once takes whole units of [Align] bytes
// in the arena, so the last slot may end less than Align bytes before the arena.
type BufferPlan struct {
	MaxRows int64 `json:"max_rows"` // the rows that everything is sized for
	Groups  int   `json:"groups"`   // of the fusion plan

	Arena        int64 `json:"arena_bytes"`        // what the executor has to allocate, once
	LowerBound   int64 `json:"lower_bound_bytes"`  // no plan has a smaller arena
	Materialized int64 `json:"materialized_bytes"` // of all slots if nothing shared a byte, each rounded up to Align

	Strategy pack.Strategy `json:"strategy"`
	Optimal  bool          `json:"optimal"` // Arena is proven to be the smallest possible

	Slots []Slot    `json:"slots"` // edges in the arena, in ascending order
	Bound []Binding `json:"bound"` // the other edges, in ascending order
}

// A Slot is one placed edge: its rows begin at Offset and follow each other
// RowStride bytes apart.
//
// Offsets are for the most rows, and the largest value of every dimension, and stay
// the same in a run of fewer, where the edge fills the first rows of its slot. So the
// rows of a row pack lie side by side at any row count, but the members of a pack
// have no gap between them at the most rows only.
type Slot struct {
	Edge   EdgeID `json:"edge"`
	Name   string `json:"name"`   // of the edge
	Offset int64  `json:"offset"` // bytes, from the start of the arena
	Bytes  int64  `json:"bytes"`  // of the edge itself, at the most rows

	// Start and End are the first and last group, both included, in which the
	// slot is live: the live range of the edge or, if it has aliases, the union
	// of theirs.
	Start int `json:"start"`
	End   int `json:"end"`

	// RowStride is the bytes from one row to the next. It is the bytes of a row
	// unless the rows are apart, as those of a row pack of several rows are.
	RowStride int64 `json:"row_stride"`
}

// A Binding is an edge whose bytes belong to the executor: an external edge
// itself, at offset 0, or one that shares its bytes. The offset counts from the
// start of the buffer of the external edge.
type Binding struct {
	Slot
	External EdgeID `json:"external"`
}

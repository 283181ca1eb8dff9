package pack

import "context"

// A Buffer asks for a place: Size bytes at an offset that is a multiple of
// Align, over the half-open lifetime [Start, End). The unit of time is the
// caller's (a step, a cycle); only the order of the values matters.
type Buffer struct {
	ID         string // names the buffer in errors and files; breaks ties; need not be unique
	Start, End int64  // live over [Start, End), which must not be empty
	Size       int64  // bytes; zero is legal and occupies nothing
	Align      int64  // the offset is a multiple of Align; 0 means 1

	Fixed  bool  // the offset is given, not to be chosen
	Offset int64 // the given offset when Fixed

	// Parts says which bytes are occupied when, for a buffer that is not the
	// whole rectangle of its lifetime and its size; none means the whole
	// rectangle. All parts move together. What no part covers is free for
	// other buffers, though [offset, offset+Size) stays inside the arena.
	// Parts may overlap each other: a buffer is never in its own way.
	Parts []Part
}

// A Part occupies the bytes [Lower, Upper), relative to the offset of its
// buffer, over [Start, End). It lies within its buffer's lifetime and size.
type Part struct {
	Start, End   int64
	Lower, Upper int64
}

// A Strategy names a way to search.
type Strategy string

const (
	// FirstFit places in order of start, then larger size, then ID (shorter
	// first, so that decimal numbers sort as numbers), then the rest of the
	// content, each buffer at the lowest offset at which it fits. Fixed buffers
	// are there from the beginning. It is the baseline.
	FirstFit Strategy = "first-fit"
	// Greedy is the best of several one-pass placements.
	Greedy Strategy = "greedy"
	// Exact searches depth first over canonical placements until the best
	// placement is proven optimal or the budget ends. Buffers with gaps and of
	// unequal alignments are searched as well, but only the lower bound proves
	// their placements optimal.
	Exact Strategy = "exact"
	// Auto starts from Greedy, stops at once when that is known to be optimal or
	// to fit the capacity, and otherwise improves it until the budget ends.
	Auto Strategy = "auto"
)

// Options steers [Place]. The zero value, and nil, mean the defaults.
type Options struct {
	Strategy Strategy // empty means Auto
	Capacity int64    // bytes available; 0 means as few as possible
	Workers  int      // goroutines that search; 0 means 1. Results do not depend on it

	// Budget is the number of search nodes to spend at most. 0 means no limit
	// when the context has a deadline, and else a default: for Auto about a second's
	// worth, for Exact and for a capacity a few million.
	Budget int64

	// Progress, when not nil, is told whenever one of its figures has changed,
	// many times a second on small problems. Calls do not overlap.
	Progress func(Progress)
}

// Progress is what a running search has to tell.
type Progress struct {
	Arena      int64 // the best arena so far
	LowerBound int64
	Nodes      int64 // search nodes spent so far
}

// A Placement is an offset for each buffer, checked.
type Placement struct {
	Offsets    []int64  // bytes, by input index
	Arena      int64    // bytes: the largest offset plus size
	LowerBound int64    // bytes: no placement has a smaller arena
	Optimal    bool     // no placement has a smaller arena than Arena
	Strategy   Strategy // what was asked for
	Nodes      int64    // search nodes spent
}

// Place assigns an offset to every buffer.
//
// When ctx ends, Place returns the best placement found until then and no error.
// When opt.Capacity is set and no placement within it was found, the error is a
// [*CapacityError] and the placement returned beside it is the best one found.
// Any other error concerns the input and comes with no placement.
func Place(ctx context.Context, buffers []Buffer, opt *Options) (*Placement, error) {
	if opt == nil {
		opt = &Options{}
	}
	return place(ctx, buffers, *opt)
}

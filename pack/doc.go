// Package pack decides where bytes go: given when each buffer is live and how
// large it is, it assigns every buffer an offset in one arena, so that no two
// buffers that are live together share a byte and the arena is as small as it can
// be made. The package knows integers only: no tensors, no device, no files
// but a CSV form.
//
// # The problem
//
// Draw time to the right and addresses upwards. A [Buffer] is a rectangle whose
// horizontal place is given, its lifetime [Start, End), and whose vertical place
// is wanted. It may be aligned, or nailed to an offset, and it may have gaps: its
// parts say which of its bytes are occupied when. That is what buffers laid
// back to back or side by side, and buffers that take over each other's bytes,
// look like once they are glued together into one.
//
// To find the lowest arena is NP-hard (it is dynamic storage allocation, and
// strip packing with one axis fixed), but what compilers ask for has structure. The
// [LowerBound], the most bytes live at one time, is often reached.
//
// # The strategies
//
// [FirstFit] places in order of start. It takes time n log n when no buffer is
// fixed or has gaps, and is the baseline that nothing here is worse than.
//
// [Greedy] is the best of several one-pass placements: first fit in other orders,
// and above all a skyline that grows from the bottom, always at its lowest step,
// under five rankings of what to put there. On small problems that is repeated,
// with what stuck out at the top preferred.
//
// [Exact] decides buffer by buffer whether it lies at the lowest place it still
// can have, or not. Each section of time, a moment at which the set of live
// buffers is greatest, constrains its buffers like a machine does jobs; from
// that follows most of what has to be. The search follows the published
// MiniMalloc (Moffitt, ASPLOS 2023) in its canonical order, its sections and its
// decomposition, and goes its own way in how it branches, in what it remembers,
// and in starting over: which choice came first can make the difference between
// milliseconds and hours.
//
// [Auto], the default, is Greedy, and then Exact with a race of several aims between
// the lower bound and the best so far. Components too large to search as a whole are
// repaired region by region. It stops when its budget or its context ends, or at
// once when it meets the lower bound or fits the capacity.
//
// # What can be relied on
//
// Every placement has been checked as a whole before it is returned; [Check] says
// the same in an obvious way. The same buffers and budget give the same
// placement, whatever the order of the buffers (IDs and sizes break ties) and the
// number of workers: there is no clock, no random source and no floating point in
// the package. Only a context that ends makes an answer depend on time.
//
// # Where to read
//
//	problem.go components.go   the input, checked and brought into canonical form
//	bound.go                   the lower bound
//	firstfit.go gaps.go        first fit
//	skyline.go chooser.go      the skyline
//	rank.go greedy.go          rankings, and what greedy makes of them
//	network.go search.go       the exact search
//	pick.go infer.go state.go  its choices, its conclusions, and how to undo them
//	race.go repair.go          many searches, many regions
//	place.go                   all of it in order
//	verify.go check.go         the two checks
package pack

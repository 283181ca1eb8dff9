// Package circuit decides where every value of a computation lies in one block
// of memory, before it runs.
//
// A [Circuit] is nodes and the edges between them, each edge a matrix of rows x
// dim elements. A [FusionPlan] cuts it into groups that run as one kernel each,
// and says which edges are stored between groups. [PlanBuffers] gives each stored
// edge an offset in one arena, so that edges that are never live together share
// bytes. Sizes are those of the largest run: at the most rows, and at the largest
// value of every other dimension. No buffer moves or grows afterwards, and a run of
// fewer rows uses the first rows of each slot. So an executor can allocate once and
// bind its kernels once, as captured GPU graphs demand.
//
// An executor states what it needs in a [Layout], and [PlanBuffersWith] honours
// it: edges that it binds to buffers of its own, outputs that a kernel writes over
// an input, edges that lie back to back, edges that lie side by side within each
// row. A concatenation or a split whose parts lie that way moves no byte.
//
// # What every plan keeps
//
// [Check] proves these of a finished plan, and shares no code with the planner:
//
//   - Two edges whose live ranges overlap never share a byte, unless the layout
//     joins them: as aliases, or as an edge and the members of a pack over it.
//   - An edge is live from the group that writes it to the last group that reads
//     it; an edge that is read or written outside the plan is live in all of it. An
//     alias class is live over the union of its edges, and between them.
//   - No group reads an edge after an earlier one has written another edge into its
//     bytes, unless the layout says that both hold one value.
//   - The edges of a pack are back to back, in pack order, with no padding.
//   - The edges of a row pack share every row: row i of member j is at the pack's
//     base plus i pack rows plus the widths of the members before j, and the row
//     stride of each is the pack row.
//   - A pack or row pack over an edge occupies exactly its bytes, in their order. If
//     the rows of the edge are apart, so are those of the pack.
//   - Offsets of unpacked storage are multiples of [Align], and so is that of the
//     first edge of a pack.
//   - An external edge has no slot, nor has an edge that shares its bytes.
//
// # How it is done
//
// The planner validates the plan and finds live ranges; sizes each stored edge;
// forms alias classes; places the members of each pack relative to each other or to
// the edge that they lie over, outer packs first, which joins classes into blocks;
// and hands each block to package pack as one buffer, whose parts are the classes
// with their own live ranges. So the bytes of a pack's member are free for others
// before it is written and after it was last read. Two things are kept whole: an
// alias class, from its first group to its last, because what one edge leaves in
// the bytes another may come to read; and a row pack, while any member is live,
// because its rows interleave.
//
// The planner looks at groups as a whole: that a kernel reads an input before it
// writes an output over it is for the executor to see to.
//
// Everything up to the search takes time in proportion to n log n for n edges,
// nodes and constraints. More is spent on blocks in which packs overlap in more ways
// than one, and on those of different values in which packs nest deeply. See
// [github.com/berth-go/berth/pack] for the search.
//
// # From a file
//
// A circuit, its plan and its layout have a text form and a JSON form, see
// [Problem]. A [BufferPlan] has a JSON form too, so that an executor in another
// language can use the planner through files, and prints as text.
package circuit

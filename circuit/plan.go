package circuit

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/berth-go/berth/pack"
)

// Options steer where [PlanBuffersWith] looks, and may bound the arena by a
// capacity. The zero value, and nil, mean the defaults. Names of buffers are the
// numbers of edges: with [pack.FirstFit] storage is placed in order of start, then
// larger size, then edge.
type Options = pack.Options

// PlanBuffers places every materialised edge of p in one arena, sized for maxRows
// rows, with no constraints.
func PlanBuffers(ctx context.Context, c *Circuit, p *FusionPlan, maxRows int64) (*BufferPlan, error) {
	return PlanBuffersWith(ctx, c, p, nil, maxRows, nil)
}

// PlanBuffersWith places every materialised edge of p in one arena, but for those
// that the layout binds to buffers of the executor. Every edge is sized for
// maxRows rows, which must be at least 1, so that no place depends on the rows of
// a run.
//
// The error is a [*PlanError] about what cannot be planned, or a
// [*pack.CapacityError] where no arena within the capacity was found. When ctx ends
// during the search, the best plan found until then is returned and no error.
//
// The same arguments give the same plan, unless ctx ends.
func PlanBuffersWith(ctx context.Context, c *Circuit, p *FusionPlan, l *Layout, maxRows int64, opt *Options) (*BufferPlan, error) {
	if ctx == nil {
		return nil, &PlanError{Kind: ErrMissing, Detail: "there is no context"}
	}
	s, err := prepare(c, p, l, maxRows)
	if err != nil {
		return nil, err
	}
	buffers, err := s.buffers()
	if err != nil {
		return nil, err
	}
	placed, err := pack.Place(ctx, buffers, opt)
	if err != nil {
		return nil, err
	}
	return s.plan(placed, maxRows)
}

// prepare does all that comes before the search.
func prepare(c *Circuit, p *FusionPlan, l *Layout, maxRows int64) (*solution, error) {
	a, err := analyze(c, p)
	if err != nil {
		return nil, err
	}
	size, err := a.extents(maxRows)
	if err != nil {
		return nil, err
	}
	k, err := a.constrain(size, l)
	if err != nil {
		return nil, err
	}
	if err := k.nest(); err != nil {
		return nil, err
	}
	s, err := k.solve()
	if err != nil {
		return nil, err
	}
	if err := s.checkOverlaps(); err != nil {
		return nil, err
	}
	return s, s.checkOverwrites()
}

// buffers returns what the blocks that lie in the arena ask of it, in order.
func (s *solution) buffers() ([]pack.Buffer, error) {
	buffers := make([]pack.Buffer, 0, len(s.blocks))
	var total int64 // no arena can be larger
	for i := range s.blocks {
		b := &s.blocks[i]
		if b.external != noEdge {
			continue
		}
		bytes, ok := alignUp(b.hi - b.lo)
		if ok {
			total, ok = add(total, bytes)
		}
		if !ok || total > maxTotal {
			return nil, &PlanError{Kind: ErrOverflow, Edge: s.name(b.edge), Detail: "the bytes of all edges up to this one"}
		}
		buffers = append(buffers, s.buffer(b))
	}
	return buffers, nil
}

// plan turns places of blocks into places of edges.
func (s *solution) plan(placed *pack.Placement, maxRows int64) (*BufferPlan, error) {
	plan := &BufferPlan{
		MaxRows:    maxRows,
		Groups:     len(s.p.Groups),
		Arena:      placed.Arena,
		LowerBound: placed.LowerBound,
		Strategy:   placed.Strategy,
		Optimal:    placed.Optimal,
	}
	base := make([]int64, len(s.blocks)) // of blocks in the arena
	next := 0
	for i := range s.blocks {
		if s.blocks[i].external == noEdge {
			base[i] = placed.Offsets[next]
			next++
		}
	}
	for e, stored := range s.stored {
		if !stored {
			continue
		}
		class := s.class.root(e)
		i := s.blockOf[class]
		slot := Slot{
			Edge:      EdgeID(e),
			Name:      s.name(EdgeID(e)),
			Offset:    base[i] + s.at[class] - s.blocks[i].lo,
			Bytes:     s.size[e].bytes,
			Start:     s.span[class].Start,
			End:       s.span[class].End,
			RowStride: cmp.Or(s.rows[class].stride, s.size[e].width),
		}
		if ext := s.blocks[i].external; ext != noEdge {
			plan.Bound = append(plan.Bound, Binding{Slot: slot, External: ext})
			continue
		}
		plan.Slots = append(plan.Slots, slot)
		bytes, ok := alignUp(slot.Bytes)
		if ok {
			plan.Materialized, ok = add(plan.Materialized, bytes)
		}
		if !ok {
			return nil, &PlanError{Kind: ErrOverflow, Edge: slot.Name, Detail: "the bytes of all edges up to this one"}
		}
	}
	return plan, nil
}

// maxTotal bounds the bytes handed to the search, which adds alignments to them.
const maxTotal = 1 << 62

// buffer returns what a block asks of the arena. Each class keeps its bytes over
// its own range only, so what a member of a pack does not use before it is written
// and after it was read is free for others. A row pack keeps all its bytes while
// any member is live: its rows interleave.
//
// The bytes of a part are rounded outward to multiples of Align, as far as others
// could not begin there anyway: then all that the search moves lies on one grid.
func (s *solution) buffer(b *block) pack.Buffer {
	buf := pack.Buffer{ID: strconv.Itoa(int(b.edge)), Size: b.hi - b.lo, Align: Align}
	parts := make([]pack.Part, len(b.classes))
	for i, class := range b.classes {
		lo, bytes := s.bytesOf(class)
		span := s.span[class]
		parts[i] = pack.Part{Start: int64(span.Start), End: int64(span.End) + 1, Lower: lo - b.lo, Upper: lo - b.lo + bytes}
	}
	if used := joinParts(slices.Clone(parts)); len(used) > 0 {
		parts = used
	}
	buf.Start, buf.End = parts[0].Start, parts[0].End
	for _, p := range parts {
		buf.Start, buf.End = min(buf.Start, p.Start), max(buf.End, p.End)
	}
	if slices.Contains(parts, pack.Part{Start: buf.Start, End: buf.End, Upper: buf.Size}) {
		return buf // one rectangle; what else there is lies within it
	}
	for i := range parts {
		parts[i].Lower -= parts[i].Lower % Align
		parts[i].Upper, _ = alignUp(parts[i].Upper)
	}
	buf.Parts = joinParts(parts)
	buf.Size, _ = alignUp(buf.Size)
	return buf
}

// joinParts returns fewer parts that cover the same bytes at the same times: it
// drops empty ones, then joins neighbours in bytes of one range of time, then
// neighbours in time of one range of bytes.
func joinParts(parts []pack.Part) []pack.Part {
	parts = slices.DeleteFunc(parts, func(p pack.Part) bool { return p.Lower == p.Upper })
	slices.SortFunc(parts, func(p, q pack.Part) int {
		return cmp.Or(cmp.Compare(p.Start, q.Start), cmp.Compare(p.End, q.End), cmp.Compare(p.Lower, q.Lower))
	})
	parts = joinRuns(parts, func(last *pack.Part, next pack.Part) bool {
		if last.Start != next.Start || last.End != next.End || next.Lower > last.Upper {
			return false
		}
		last.Upper = max(last.Upper, next.Upper)
		return true
	})
	slices.SortFunc(parts, func(p, q pack.Part) int {
		return cmp.Or(cmp.Compare(p.Lower, q.Lower), cmp.Compare(p.Upper, q.Upper), cmp.Compare(p.Start, q.Start))
	})
	return joinRuns(parts, func(last *pack.Part, next pack.Part) bool {
		if last.Lower != next.Lower || last.Upper != next.Upper || next.Start > last.End {
			return false
		}
		last.End = max(last.End, next.End)
		return true
	})
}

// joinRuns calls join with the last part kept and the next one, and keeps the
// latter when join could not make them one.
func joinRuns(parts []pack.Part, join func(last *pack.Part, next pack.Part) bool) []pack.Part {
	kept := parts[:0]
	for _, p := range parts {
		if n := len(kept); n == 0 || !join(&kept[n-1], p) {
			kept = append(kept, p)
		}
	}
	return kept
}

package schedule

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// beamWidths are how many sets of each number of steps the beams of a search
// keep. The narrow ones get through large graphs.
var beamWidths = [...]int{4, 32}

// beamTries is how many steps a beam tries after each set.
const beamTries = 8

// searchWork is where a search ends, in values and steps looked at, of which
// some tens of millions take a second.
const searchWork = 16 << 20

// A search looks for better and better orders of a graph.
type search struct {
	ctx  context.Context
	ways [2]*graph // the graph and its reverse
	best []int32   // nil until there is a better one than what it began with
	peak int64     // the least so far
	work int64     // left to do
}

// newSearch returns a search for an order of g with fewer than peak bytes alive
// at once.
func newSearch(ctx context.Context, g *graph, peak int64) *search {
	return &search{ctx: ctx, ways: [2]*graph{g, g.reverse()}, peak: peak, work: searchWork}
}

// run bisects over the bound that beams have to keep.
func (s *search) run() {
	for _, width := range beamWidths {
		for low := s.ways[0].lowest(); low < s.peak && s.work > 0 && s.ctx.Err() == nil; {
			low = max(low, s.within(low+(s.peak-1-low)/2, width))
		}
	}
}

// within looks for an order within a bound. If it finds none, it returns the
// least bound that could make a difference.
func (s *search) within(bound int64, width int) (next int64) {
	next = math.MaxInt64
	for _, way := range s.ways {
		b := newBeam(way, bound, width)
		order := b.run(s.ctx, s.work)
		s.work -= b.s.work
		if order != nil {
			s.peak = peakOf(way, order)
			s.best = way.forwards(order)
			return 0
		}
		next = min(next, b.refused)
	}
	return next
}

// A beam looks for an order within a bound. It goes from the empty set of steps
// to larger ones, and keeps, of the sets of as many steps, those with the fewest
// bytes alive.
type beam struct {
	width int // sets kept of each number of steps
	most  int // steps tried after each
	bound int64
	// refused is the least number of bytes beyond bound that a step would have
	// taken. With any bound below it the beam would go the same way.
	refused int64

	s     *state
	at    []*partial // what the state has come through, from the empty set on
	tries []try      // scratch of expand
}

// A partial is a set of steps: another set, and one more step.
type partial struct {
	from *partial
	step int32
	size int
	live int64
	hash uint64
}

// A try is a step to run after a set, and the bytes alive after it. The least
// scores are preferred.
type try struct {
	step  int32
	after int64
	score score
}

func newBeam(g *graph, bound int64, width int) *beam {
	s := newState(g)
	return &beam{
		width: width, most: beamTries, bound: bound, refused: math.MaxInt64,
		s: s, at: []*partial{{live: s.live}},
	}
}

// run returns an order within the bound, or nil. It ends once it has done the
// given work.
func (b *beam) run(ctx context.Context, work int64) []int32 {
	level := []*partial{b.at[0]}
	for range b.s.g.steps {
		var next []*partial
		for _, p := range level[:min(b.width, len(level))] {
			if b.s.work >= work || ctx.Err() != nil {
				return nil
			}
			next = b.expand(next, p)
		}
		slices.SortFunc(next, func(p, q *partial) int {
			return cmp.Or(cmp.Compare(p.live, q.live), cmp.Compare(p.hash, q.hash))
		})
		level = slices.CompactFunc(next, func(p, q *partial) bool { return p.hash == q.hash })
		if len(level) == 0 {
			return nil
		}
	}
	b.visit(level[0])
	return b.s.trail
}

// visit takes the state to set p, back to the last set on the way to both and
// on from there.
func (b *beam) visit(p *partial) {
	var path []*partial
	for ; p.size >= len(b.at) || b.at[p.size] != p; p = p.from {
		path = append(path, p)
	}
	b.s.rewind(p.size)
	b.at = b.at[:p.size+1]
	for _, q := range slices.Backward(path) {
		b.s.do(q.step)
		b.at = append(b.at, q)
	}
}

// expand appends to next the sets of one step more than p, by the steps that
// look best. A step that leaves no more bytes alive than it found is the only
// one: whatever can be completed without it can be completed after it.
func (b *beam) expand(next []*partial, p *partial) []*partial {
	b.visit(p)
	s := b.s
	b.tries = b.tries[:0]
	for _, x := range s.ready {
		during, after := s.cost(x)
		if during > b.bound {
			b.refused = min(b.refused, during)
			continue
		}
		t := try{x, after, hillAndValley(during-s.live, after-s.live)}
		t.score[2] = int64(s.g.rank(x))
		i, _ := slices.BinarySearchFunc(b.tries, t, func(t, u try) int { return t.score.compare(u.score) })
		if i < b.most {
			b.tries = slices.Insert(b.tries[:min(len(b.tries), b.most-1)], i, t)
		}
	}
	if len(b.tries) > 0 && b.tries[0].after <= s.live {
		b.tries = b.tries[:1]
	}
	for _, t := range b.tries {
		next = append(next, &partial{p, t.step, p.size + 1, t.after, p.hash ^ mix(uint64(t.step)+1)})
	}
	return next
}

// mix returns fixed pseudo-random bits for x (SplitMix64). The hash of a set of
// steps is the exclusive or of those of its steps.
func mix(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

package schedule

import (
	"cmp"
	"slices"
)

// beamMost is the most steps of a graph worth a beam search, which copies the
// whole state of a program for each set it keeps.
const beamMost = 4096

// partial is a set of steps run, as another one and the steps run since.
type partial struct {
	from  *state
	added []int32
	live  int64
	sum   sum
}

// beam looks for an order of g within the bound, among the width sets with the
// fewest bytes alive of every number of steps. It returns nil if it finds none.
func beam(m *meter, g *graph, base, bound int64, width int) []int32 {
	start := newState(g, base)
	if start.live > bound {
		return nil
	}
	sets := make([][]partial, g.steps+1) // by number of steps run
	b := &beamer{m: m, bound: bound}
	sets[0] = []partial{{from: start, live: start.live}}
	for n, list := range sets {
		slices.SortFunc(list, func(a, b partial) int {
			return cmp.Or(cmp.Compare(a.live, b.live), cmp.Compare(a.sum[0], b.sum[0]), cmp.Compare(a.sum[1], b.sum[1]))
		})
		list = slices.CompactFunc(list, func(a, b partial) bool { return a.sum == b.sum })
		for _, p := range list[:min(width, len(list))] {
			if !m.spend(g.size()) {
				return nil
			}
			s := p.from.copy()
			for _, x := range p.added {
				s.do(x)
			}
			if n == g.steps {
				return s.trail
			}
			for _, q := range b.expand(s) {
				sets[n+len(q.added)] = append(sets[n+len(q.added)], q)
			}
		}
		sets[n] = nil
	}
	return nil
}

type beamer struct {
	m     *meter
	bound int64
	moves []move // scratch of expand
}

// settle runs steps that lose nothing, as long as one of those just run, the
// steps of the trail from n on, leads to some.
func (b *beamer) settle(s *state, n int) {
	for i := n; i < len(s.trail); i++ {
		for {
			best, least := int32(-1), score{}
			weigh := func(x int32) {
				if s.done[x] || s.need[x] > 0 {
					return
				}
				during, after := s.cost(x)
				if during > b.bound || after > s.live {
					return
				}
				if sc := (score{after, during, int64(s.g.rank(x))}); best < 0 || sc.compare(least) < 0 {
					best, least = x, sc
				}
			}
			for _, x := range s.g.succ.of(s.trail[i]) {
				weigh(x)
			}
			for _, v := range s.g.vals.of(s.trail[i]) {
				if s.left[v] == 1 {
					for _, x := range s.g.touch.of(v) {
						weigh(x)
					}
				}
			}
			if best < 0 {
				break
			}
			s.do(best)
		}
	}
}

// expand returns the sets that may come after that of s, those of the steps
// that look best.
func (b *beamer) expand(s *state) []partial {
	const most = 16
	b.moves = b.moves[:0]
	for _, x := range s.ready {
		if during, after := s.cost(x); during <= b.bound {
			m := move{step: x, score: hillAndValley(during-s.live, after-s.live)}
			m.score[2] = int64(s.g.rank(x))
			b.moves = append(b.moves, m)
		}
	}
	s.work += int64(len(s.ready))
	slices.SortFunc(b.moves, func(a, b move) int { return a.score.compare(b.score) })
	var out []partial
	n := len(s.trail)
	for _, m := range b.moves[:min(most, len(b.moves))] {
		s.do(m.step)
		b.settle(s, n)
		out = append(out, partial{s, slices.Clone(s.trail[n:]), s.live, s.sum})
		s.rewind(n)
	}
	b.m.spend(s.work + 32*int64(len(out)))
	s.work = 0
	return out
}

// copy returns a state that shares nothing with s that changes.
func (s *state) copy() *state {
	c := *s
	c.done, c.need, c.left = slices.Clone(s.done), slices.Clone(s.need), slices.Clone(s.left)
	c.ready, c.place = slices.Clone(s.ready), slices.Clone(s.place)
	c.trail = slices.Clone(s.trail)
	c.taken = nil
	return &c
}

package schedule

import (
	"cmp"
	"container/heap"
	"slices"
)

// A score says how good it is to run a step now: the least runs first.
type score [3]int64

func (a score) compare(b score) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]), cmp.Compare(a[2], b[2]))
}

// rule scores a step that is ready.
type rule func(s *state, x int32) score

// mostFreed prefers the step that leaves the fewest bytes alive.
func mostFreed(s *state, x int32) score {
	during, after := s.cost(x)
	return score{after - s.live, during - s.live}
}

// lookingAhead prefers the step that opens the best way down, of a few steps.
func lookingAhead(s *state, x int32) score { return hillAndValley(lookAhead(s, x, 6)) }

// hillAndValley scores a climb by hill bytes that ends valley bytes higher or,
// if that is negative, lower, in the order that is best for independent chains
// of such climbs (Liu 1987): what ends no higher first, by the hill; the rest by
// how far it comes down from the hill.
func hillAndValley(hill, valley int64) score {
	if valley <= 0 {
		return score{0, hill, valley}
	}
	return score{1, valley - hill, valley}
}

// lookAhead follows step x by up to depth steps that it enables, one after the
// other, and returns the hill and the valley of the lowest point it comes to.
func lookAhead(s *state, x int32, depth int) (hill, valley int64) {
	live, n := s.live, len(s.trail)
	during, after := s.cost(x)
	hill, valley = during-live, after-live
	top := hill
	for range depth {
		s.do(x)
		next, best := int32(-1), score{}
		s.work += int64(len(s.g.succ.of(x)))
		for _, y := range s.g.succ.of(x) {
			if s.need[y] > 0 {
				continue
			}
			during, after := s.cost(y)
			if sc := (score{after, during, int64(s.g.rank(y))}); next < 0 || sc.compare(best) < 0 {
				next, best = y, sc
			}
		}
		if next < 0 {
			break
		}
		x = next
		if top = max(top, best[1]-live); best[0]-live < valley {
			hill, valley = top, best[0]-live
		}
	}
	s.rewind(n)
	return hill, valley
}

// listSchedule runs, at each moment, the ready step with the least score, or
// the one of least rank among several. A score is taken when the step becomes
// ready and again whenever a value it touches begins or is left to it alone.
func listSchedule(g *graph, r rule) []int32 {
	s := newState(g)
	q := &queue{g: g, scores: make([]score, g.steps), place: make([]int32, g.steps)}
	for i := range q.place {
		q.place[i] = -1
	}
	for _, x := range slices.Clone(s.ready) { // scoring may shuffle it
		q.set(x, r(s, x))
	}
	for q.Len() > 0 {
		x := heap.Pop(q).(int32)
		s.do(x)
		for _, y := range g.succ.of(x) {
			if s.need[y] == 0 {
				q.set(y, r(s, y))
			}
		}
		for _, v := range g.vals.of(x) {
			touch := g.touch.of(v)
			if s.left[v] != 1 && int(s.left[v]) != len(touch)-1 {
				continue
			}
			for _, y := range touch {
				if q.place[y] >= 0 {
					q.set(y, r(s, y))
				}
			}
		}
	}
	return s.trail
}

// queue is a heap of steps by score and rank, for package heap.
type queue struct {
	g      *graph
	scores []score
	place  []int32 // in steps, by step; -1 if it is not there
	steps  []int32
}

// set adds step x with a score, or gives it another score.
func (q *queue) set(x int32, sc score) {
	q.scores[x] = sc
	if q.place[x] < 0 {
		heap.Push(q, x)
	} else {
		heap.Fix(q, int(q.place[x]))
	}
}

func (q *queue) Len() int { return len(q.steps) }

func (q *queue) Less(i, j int) bool {
	a, b := q.steps[i], q.steps[j]
	c := q.scores[a].compare(q.scores[b])
	return c < 0 || c == 0 && q.g.rank(a) < q.g.rank(b)
}

func (q *queue) Swap(i, j int) {
	q.steps[i], q.steps[j] = q.steps[j], q.steps[i]
	q.place[q.steps[i]], q.place[q.steps[j]] = int32(i), int32(j)
}

func (q *queue) Push(x any) {
	q.place[x.(int32)] = int32(len(q.steps))
	q.steps = append(q.steps, x.(int32))
}

func (q *queue) Pop() any {
	last := len(q.steps) - 1
	x := q.steps[last]
	q.steps, q.place[x] = q.steps[:last], -1
	return x
}

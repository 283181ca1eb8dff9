package schedule

import (
	"cmp"
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
	for q.len() > 0 {
		x := q.pop()
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

// queue is a binary heap of steps by score and rank.
type queue struct {
	g      *graph
	scores []score
	place  []int32 // in heap, by step; -1 if it is not there
	heap   []int32
}

func (q *queue) len() int { return len(q.heap) }

func (q *queue) less(a, b int32) bool {
	if c := q.scores[a].compare(q.scores[b]); c != 0 {
		return c < 0
	}
	return q.g.rank(a) < q.g.rank(b)
}

// set adds step x with a score, or gives it another score.
func (q *queue) set(x int32, sc score) {
	q.scores[x] = sc
	if q.place[x] < 0 {
		q.place[x] = int32(len(q.heap))
		q.heap = append(q.heap, x)
	}
	q.down(q.up(int(q.place[x])))
}

// pop removes and returns the step with the least score.
func (q *queue) pop() int32 {
	x, last := q.heap[0], len(q.heap)-1
	q.put(0, q.heap[last])
	q.heap, q.place[x] = q.heap[:last], -1
	if last > 0 {
		q.down(0)
	}
	return x
}

func (q *queue) put(i int, x int32) {
	q.heap[i], q.place[x] = x, int32(i)
}

func (q *queue) up(i int) int {
	for i > 0 {
		parent := (i - 1) / 2
		if !q.less(q.heap[i], q.heap[parent]) {
			break
		}
		a, b := q.heap[i], q.heap[parent]
		q.put(i, b)
		q.put(parent, a)
		i = parent
	}
	return i
}

func (q *queue) down(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(q.heap); c++ {
			if q.less(q.heap[c], q.heap[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		a, b := q.heap[i], q.heap[least]
		q.put(i, b)
		q.put(least, a)
		i = least
	}
}

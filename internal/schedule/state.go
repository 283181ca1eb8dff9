package schedule

// state is the set of steps run so far, with what it takes to run one more or
// take one back in time proportional to what the step touches.
type state struct {
	g     *graph
	need  []int32 // predecessors yet to run, by step
	left  []int32 // steps yet to touch it, by value
	ready []int32 // steps not run whose predecessors have, in no given order
	place []int32 // in ready, by step; -1 if it is not there
	trail []int32 // the steps run, in order
	live  int64   // bytes alive now
	taken []claim // scratch of cost
	work  int64   // values and successors looked at so far
}

// newState returns the state before the first step of g.
func newState(g *graph) *state {
	s := &state{
		g: g, need: make([]int32, g.steps), place: make([]int32, g.steps),
		left: make([]int32, len(g.bytes)), trail: make([]int32, 0, g.steps),
	}
	for v := range g.bytes {
		s.left[v] = g.touch.at[v+1] - g.touch.at[v]
		if g.before[v] {
			s.live += g.bytes[v]
		}
	}
	for x := range int32(g.steps) {
		s.need[x] = g.pred.at[x+1] - g.pred.at[x]
		s.place[x] = -1
		if s.need[x] == 0 {
			s.enter(x)
		}
	}
	return s
}

func (s *state) enter(x int32) {
	s.place[x] = int32(len(s.ready))
	s.ready = append(s.ready, x)
}

func (s *state) leave(x int32) {
	i, last := s.place[x], len(s.ready)-1
	y := s.ready[last]
	s.ready[i], s.place[y] = y, i
	s.ready, s.place[x] = s.ready[:last], -1
}

// started reports whether a step run so far touches v, or v was there before.
func (s *state) started(v int32) bool {
	return s.g.before[v] || s.left[v] < s.g.touch.at[v+1]-s.g.touch.at[v]
}

// dies reports whether v is freed after the next step that touches it.
func (s *state) dies(v int32) bool { return s.left[v] == 1 && !s.g.kept[v] }

// cost returns the bytes alive while step x runs next, and after it.
func (s *state) cost(x int32) (during, after int64) {
	vals := s.g.vals.of(x)
	s.work += 1 + int64(len(vals))
	var begun, freed int64
	for _, v := range vals {
		if !s.started(v) {
			begun += s.g.bytes[v]
		}
		if s.dies(v) {
			freed += s.g.bytes[v]
		}
	}
	during, after = s.live+begun, s.live+begun-freed
	s.taken = s.taken[:0]
claims:
	for _, c := range s.g.claimsOf(x) {
		if s.started(c.to) || !s.dies(c.from) {
			continue
		}
		for _, t := range s.taken {
			if t.from == c.from || t.to == c.to {
				continue claims
			}
		}
		during -= s.g.bytes[c.to]
		s.taken = append(s.taken, c)
	}
	return during, after
}

// do runs step x, which must be ready.
func (s *state) do(x int32) {
	for _, v := range s.g.vals.of(x) {
		if !s.started(v) {
			s.live += s.g.bytes[v]
		}
		if s.dies(v) {
			s.live -= s.g.bytes[v]
		}
		s.left[v]--
	}
	s.leave(x)
	for _, y := range s.g.succ.of(x) {
		if s.need[y]--; s.need[y] == 0 {
			s.enter(y)
		}
	}
	s.trail = append(s.trail, x)
	s.work += s.weight(x)
}

// undo takes back the last step.
func (s *state) undo() {
	x := s.trail[len(s.trail)-1]
	s.trail = s.trail[:len(s.trail)-1]
	for _, y := range s.g.succ.of(x) {
		if s.need[y] == 0 {
			s.leave(y)
		}
		s.need[y]++
	}
	s.enter(x)
	for _, v := range s.g.vals.of(x) {
		s.left[v]++
		if !s.started(v) {
			s.live -= s.g.bytes[v]
		}
		if s.dies(v) {
			s.live += s.g.bytes[v]
		}
	}
	s.work += s.weight(x)
}

// weight returns the work to run step x.
func (s *state) weight(x int32) int64 {
	return 1 + int64(len(s.g.vals.of(x))) + int64(len(s.g.succ.of(x)))
}

// rewind takes steps back until n are left.
func (s *state) rewind(n int) {
	for len(s.trail) > n {
		s.undo()
	}
}

// peakOf returns the most bytes alive at once in an order of g.
func peakOf(g *graph, order []int32) int64 {
	s := newState(g)
	peak := s.live
	for _, x := range order {
		during, _ := s.cost(x)
		peak = max(peak, during)
		s.do(x)
	}
	return peak
}

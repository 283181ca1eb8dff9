package schedule

// A sum is a hash of a set of steps: the exclusive or of the keys of its steps.
type sum [2]uint64

// key returns the key of step s, fixed pseudo-random bits (SplitMix64).
func key(s int32) sum {
	return sum{mix(2*uint64(s) + 1), mix(2*uint64(s) + 2)}
}

func mix(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// state is the set of steps run so far, with what it takes to run one more or
// take one back in time proportional to what the step touches.
type state struct {
	g     *graph
	done  []bool  // by step
	need  []int32 // predecessors yet to run, by step
	left  []int32 // steps yet to touch it, by value
	ready []int32 // steps not run whose predecessors have, in no given order
	place []int32 // in ready, by step; -1 if it is not there
	trail []int32 // the steps run, in order
	live  int64   // bytes alive now
	sum   sum
	taken []int32 // scratch of cost
	work  int64   // values and successors looked at since it was last set to 0
}

// newState returns the state before the first step of g, when base bytes are
// alive all the time.
func newState(g *graph, base int64) *state {
	s := &state{
		g: g, live: base,
		done: make([]bool, g.steps), need: make([]int32, g.steps), place: make([]int32, g.steps),
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
	var begun, freed int64
	s.work += 1 + int64(s.g.vals.at[x+1]-s.g.vals.at[x])
	for _, v := range s.g.vals.of(x) {
		if !s.started(v) {
			begun += s.g.bytes[v]
		}
		if s.dies(v) {
			freed += s.g.bytes[v]
		}
	}
	after = s.live + begun - freed
	during = s.live + begun
	claims := s.g.claimsOf(x)
	if len(claims) == 0 {
		return during, after
	}
	s.taken = s.taken[:0]
	for _, c := range claims {
		if s.started(c.to) || !s.dies(c.from) {
			continue
		}
		free := true
		for i := 0; i < len(s.taken); i += 2 {
			free = free && s.taken[i] != c.from && s.taken[i+1] != c.to
		}
		if free {
			during -= s.g.bytes[c.to]
			s.taken = append(s.taken, c.from, c.to)
		}
	}
	return during, after
}

// weight returns the work to run step x.
func (s *state) weight(x int32) int64 {
	g := s.g
	return 1 + int64(g.vals.at[x+1]-g.vals.at[x]) + int64(g.succ.at[x+1]-g.succ.at[x])
}

// do runs step x, which must be ready.
func (s *state) do(x int32) {
	s.work += s.weight(x)
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
	s.done[x] = true
	for _, y := range s.g.succ.of(x) {
		if s.need[y]--; s.need[y] == 0 {
			s.enter(y)
		}
	}
	k := key(x)
	s.sum[0] ^= k[0]
	s.sum[1] ^= k[1]
	s.trail = append(s.trail, x)
}

// undo takes back the last step.
func (s *state) undo() {
	x := s.trail[len(s.trail)-1]
	s.trail = s.trail[:len(s.trail)-1]
	s.work += s.weight(x)
	for _, y := range s.g.succ.of(x) {
		if s.need[y] == 0 {
			s.leave(y)
		}
		s.need[y]++
	}
	s.done[x] = false
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
	k := key(x)
	s.sum[0] ^= k[0]
	s.sum[1] ^= k[1]
}

// rewind takes steps back until n are left.
func (s *state) rewind(n int) {
	for len(s.trail) > n {
		s.undo()
	}
}

// peakOf returns the most bytes alive at once in an order of g.
func peakOf(g *graph, base int64, order []int32) int64 {
	s := newState(g, base)
	peak := s.live
	for _, x := range order {
		during, _ := s.cost(x)
		peak = max(peak, during)
		s.do(x)
	}
	return peak
}

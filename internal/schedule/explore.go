package schedule

import "slices"

// An outcome says how an exploration ended.
type outcome int

const (
	stuck     outcome = iota // the effort is spent; nothing has changed
	committed                // this end has more steps
	exhausted                // there is nothing to commit to
)

// explorer extends one end by depth-first search, up to a set with no more bytes
// alive than the end has.
//
// If it tries everything in vain, there is no order that continues this end.
// Where what lies between the ends falls into pieces, which share no value and no
// precedence, it searches piece by piece: what happens in one of them adds to the
// bytes alive whatever happens in the others. Say that some piece leaves no more
// bytes alive than it found. Then in any order some piece is the first to come
// down to what it found, after one or more of its steps. The others stand above
// what they found until then, so it would come there by itself, and is a
// commitment of the head. If no piece has one, there is no order. Likewise for the
// tail, if some piece leaves no fewer bytes than it found; one or the other holds.
type explorer struct {
	d      *decider
	st     *state
	other  *state // of the other end, whose steps are not to be run
	frames []frame
	search search
	dead   map[sum]struct{} // sets from which no order goes on
	tired  map[sum]struct{} // sets from which the present search finds nothing

	mark  []int32 // scratch of nearby, by step: the call that met it
	calls int32
	queue []int32
}

// A search says which steps to try.
type search struct {
	// near follows each step only by those that have to do with it, which
	// finds the commitments of chains and trees among many others with little
	// effort, but not all that there are.
	near bool
	// piece is the piece to stay in; nil is all there is.
	piece *piece
}

// A frame is a set of steps run, the first n of the trail, that leaves live
// bytes alive, with the steps to try from there, of which the first tried ones
// have been.
type frame struct {
	n     int
	live  int64
	moves []move
	tried int
}

// A move is a step to try. The least score is tried first.
type move struct {
	step  int32
	score score
}

func newExplorer(d *decider, g *graph, base int64) *explorer {
	return &explorer{
		d: d, st: newState(g, base),
		dead: make(map[sum]struct{}), tired: make(map[sum]struct{}),
		mark: make([]int32, g.steps),
	}
}

// single commits to the next step of this end if there is but one.
func (x *explorer) single() outcome {
	next := int32(-1)
	for _, s := range x.st.ready {
		if x.other.done[s] {
			continue
		}
		if next >= 0 {
			return stuck
		}
		next = s
	}
	if !x.follow([]int32{next}) {
		return exhausted
	}
	return committed
}

// mostRemembered is how many sets an end remembers, which bounds the memory of a
// search to some tens of megabytes.
const mostRemembered = 1 << 19

// explore looks for a set to commit to.
func (x *explorer) explore(effort int64, s search) outcome {
	x.search = s
	clear(x.tired)
	given := x.tired
	if !s.near && s.piece == nil {
		given = x.dead
	}
	limit := x.d.meter.spent + effort
	st := x.st
	root := len(st.trail)
	x.frames = x.frames[:0]
	x.push()
	for {
		top := &x.frames[len(x.frames)-1]
		if top.tried == len(top.moves) {
			if len(given) < mostRemembered {
				given[st.sum] = struct{}{}
			}
			x.frames = x.frames[:len(x.frames)-1]
			if len(x.frames) == 0 {
				return exhausted
			}
			st.rewind(x.frames[len(x.frames)-1].n)
			continue
		}
		if x.spend(0); x.d.meter.over || x.d.meter.spent >= limit {
			st.rewind(root)
			x.spend(0)
			return stuck
		}
		st.do(top.moves[top.tried].step)
		top.tried++
		if x.d.complete() {
			return committed
		}
		if x.hopeless() {
			st.rewind(top.n)
			continue
		}
		switch i := x.commit(); {
		case i == 0:
			return committed
		case i > 0:
			x.frames = x.frames[:i]
		}
		x.push()
	}
}

// spend adds work to what the state has done.
func (x *explorer) spend(work int64) {
	x.d.meter.spend(work + x.st.work)
	x.st.work = 0
}

// hopeless reports whether the current set has been tried before.
func (x *explorer) hopeless() bool {
	if _, ok := x.dead[x.st.sum]; ok {
		return true
	}
	_, ok := x.tired[x.st.sum]
	return ok
}

// commit looks for the lowest frame from which one may go for good to a set
// within the current one, goes there, and returns its index, or -1.
//
// The set is reached by the steps of the path that it holds, in their order: with
// fewer steps run, each of them finds no more bytes alive, or the set would not be
// the least. A step may no longer take over bytes that it did on the path, where
// some other step that needs them has been left out; then these are alive in the
// set and not in the union of it with what was run on the path, which makes up
// for them.
func (x *explorer) commit() int {
	st := x.st
	i := slices.IndexFunc(x.frames, func(f frame) bool { return f.live >= st.live })
	if i < 0 {
		return -1
	}
	from := x.frames[i].n
	path := st.trail[from:]
	if isChain(st.g, path) {
		return i // every set between is on the path, and none is lower
	}
	for _, s := range path {
		st.work += 16 * st.weight(s) // a guess at the flow
	}
	part := leastSet(st, path)
	if len(part) == len(path) {
		return i
	}
	st.rewind(from)
	if !x.follow(part) {
		panic("schedule: a least set that is out of reach")
	}
	return i
}

// follow runs the steps of path and reports whether they stay in the bound.
func (x *explorer) follow(path []int32) bool {
	for _, s := range path {
		during, _ := x.st.cost(s)
		if during > x.d.bound {
			x.d.next = min(x.d.next, during)
			return false
		}
		x.st.do(s)
	}
	return true
}

// isChain reports whether each step of path is a predecessor of the next.
func isChain(g *graph, path []int32) bool {
	for i := 1; i < len(path); i++ {
		if !slices.Contains(g.pred.of(path[i]), path[i-1]) {
			return false
		}
	}
	return true
}

// push adds a frame for the current set, with the steps that may come next:
// only one, if that one loses nothing.
func (x *explorer) push() {
	const ahead = 6
	st := x.st
	f := frame{n: len(st.trail), live: st.live}
	// The space of a frame that was here before serves again.
	if k := len(x.frames); k < cap(x.frames) {
		f.moves = x.frames[:k+1][k].moves[:0]
	}
	candidates := st.ready
	switch p := x.search.piece; {
	case x.search.near && len(x.frames) > 0:
		candidates = x.nearby(st.trail[x.frames[len(x.frames)-1].n:])
	case p != nil && len(p.steps) < len(candidates):
		candidates = p.steps
	}
	if !x.weigh(&f, candidates) && len(f.moves) > 1 {
		for i := range f.moves {
			m := &f.moves[i]
			hill, valley := lookAhead(st, m.step, ahead)
			m.score = hillAndValley(hill, valley)
			m.score[2] = int64(st.g.rank(m.step))
		}
		slices.SortFunc(f.moves, func(a, b move) int { return a.score.compare(b.score) })
	}
	x.frames = append(x.frames, f)
}

// weigh adds the moves among candidates to f. If there is one that loses
// nothing, it becomes the only one, and weigh returns true.
func (x *explorer) weigh(f *frame, candidates []int32) bool {
	st := x.st
	p := x.search.piece
	forced := move{step: -1}
	st.work += int64(len(candidates))
	for _, s := range candidates {
		if st.place[s] < 0 || x.other.done[s] || p != nil && x.d.pieceOf[s] != p.id {
			continue
		}
		during, after := st.cost(s)
		switch {
		case during > x.d.bound:
			x.d.next = min(x.d.next, during)
		case after <= st.live:
			m := move{s, score{after, during, int64(st.g.rank(s))}}
			if forced.step < 0 || m.score.compare(forced.score) < 0 {
				forced = m
			}
		case forced.step < 0:
			f.moves = append(f.moves, move{step: s})
		}
	}
	if forced.step < 0 {
		return false
	}
	f.moves = append(f.moves[:0], forced)
	return true
}

// nearby returns the ready steps that touch a value touched by one of last, or
// that a successor of one of last waits for, directly or not.
func (x *explorer) nearby(last []int32) []int32 {
	const most = 64 // steps looked at on the way
	st, g := x.st, x.st.g
	x.calls++
	x.queue = x.queue[:0]
	for _, s := range last {
		for _, y := range g.succ.of(s) {
			x.meet(y)
		}
		for _, v := range g.vals.of(s) {
			st.work += int64(len(g.touch.of(v)))
			for _, y := range g.touch.of(v) {
				x.meet(y)
			}
		}
	}
	ready := x.queue[:0:0]
	for i := 0; i < len(x.queue) && i < most; i++ {
		s := x.queue[i]
		if st.need[s] == 0 {
			ready = append(ready, s)
			continue
		}
		st.work += int64(len(g.pred.of(s)))
		for _, p := range g.pred.of(s) {
			x.meet(p)
		}
	}
	return ready
}

// meet queues a step between the ends, unless this call has already.
func (x *explorer) meet(s int32) {
	if x.mark[s] != x.calls && !x.st.done[s] && !x.other.done[s] {
		x.mark[s] = x.calls
		x.queue = append(x.queue, s)
	}
}

package schedule

import (
	"math"
	"slices"
)

// A verdict answers whether an order within a bound exists.
type verdict int

const (
	unknown verdict = iota
	feasible
	infeasible
)

// decider looks for an order of a graph with no more than bound bytes alive at
// once. It works from both ends: head is what runs first, tail, on the graph
// turned round, what runs last. Committing to more of either loses no solution.
type decider struct {
	meter      *meter
	bound      int64
	head, tail *explorer
	// next is the least number of bytes beyond bound that was refused: with any
	// bound below it, all would go the same way.
	next int64
}

// newDecider returns a decider for g, of which back is the reverse.
func newDecider(m *meter, g, back *graph, base, bound int64) *decider {
	d := &decider{meter: m, bound: bound, next: math.MaxInt64}
	d.head, d.tail = newExplorer(d, g, base), newExplorer(d, back, base)
	d.head.other, d.tail.other = d.tail.st, d.head.st
	return d
}

// run decides. From one commitment to the next it weighs no more than about
// effort steps.
func (d *decider) run(effort int64) verdict {
	if d.head.st.live > d.bound || d.tail.st.live > d.bound {
		d.next = min(d.next, max(d.head.st.live, d.tail.st.live))
		return infeasible
	}
	for !d.complete() {
		switch d.advance(effort) {
		case finished:
			return feasible
		case exhausted:
			return infeasible
		case stuck:
			return unknown
		}
	}
	return feasible
}

// advance commits to more of one end or the other, in turns of growing effort.
func (d *decider) advance(effort int64) outcome {
	for e := min(64, effort); ; e = min(4*e, effort) {
		for _, near := range []bool{true, false} {
			for _, x := range []*explorer{d.head, d.tail} {
				if out := x.explore(e, near); out != stuck {
					return out
				}
				if d.meter.over {
					return stuck
				}
			}
		}
		if e >= effort {
			return stuck
		}
	}
}

func (d *decider) complete() bool {
	return len(d.head.st.trail)+len(d.tail.st.trail) == d.head.st.g.steps
}

// order returns the order found, of a graph with nothing between the ends.
func (d *decider) order() []int32 { return d.join(nil) }

// join returns the order that runs middle between the two ends.
func (d *decider) join(middle []int32) []int32 {
	order := slices.Concat(d.head.st.trail, middle, d.tail.st.trail)
	slices.Reverse(order[len(order)-len(d.tail.st.trail):])
	return order
}

// middle returns the steps of neither end, in the order the graph came with,
// and the graph of them.
func (d *decider) middle() (steps []int32, part *graph, base int64) {
	head, tail := d.head.st, d.tail.st
	for x := range int32(head.g.steps) {
		if !head.done[x] && !tail.done[x] {
			steps = append(steps, x)
		}
	}
	part, base = head.g.sub(steps, head.started, tail.started, head.live)
	return steps, part, base
}

// An outcome says how an exploration ended.
type outcome int

const (
	stuck     outcome = iota // the effort is spent; nothing has changed
	committed                // this end has more steps
	finished                 // the two ends meet
	exhausted                // no order within the bound continues this end
)

// explorer extends one end by depth-first search. Its frames are the sets on
// the current path where a choice was made.
type explorer struct {
	d      *decider
	st     *state
	other  *state // of the other end, whose steps are not to be run
	frames []frame
	dead   map[sum]struct{} // sets from which no order within the bound goes on
	near   bool             // try only steps near the last ones
	failed map[sum]struct{} // sets from which that leads to no commitment
	mark   []int32          // scratch of nearby, by step: the call that met it
	calls  int32
	queue  []int32 // scratch of nearby
}

func newExplorer(d *decider, g *graph, base int64) *explorer {
	return &explorer{
		d: d, st: newState(g, base),
		dead: make(map[sum]struct{}), failed: make(map[sum]struct{}),
		mark: make([]int32, g.steps),
	}
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

// explore looks for a set to commit to. With near set it follows each step only
// by those that have to do with it, which finds the commitments of chains and
// trees among many others without trying all their mixtures, and proves nothing
// if it finds none.
func (x *explorer) explore(effort int64, near bool) outcome {
	x.near = near
	clear(x.failed)
	given := x.dead
	if near {
		given = x.failed
	}
	limit := x.d.meter.spent + effort
	st := x.st
	root := len(st.trail)
	x.frames = x.frames[:0]
	x.push()
	for {
		top := &x.frames[len(x.frames)-1]
		if top.tried == len(top.moves) {
			given[st.sum] = struct{}{}
			x.frames = x.frames[:len(x.frames)-1]
			if len(x.frames) == 0 {
				if near {
					return stuck
				}
				return exhausted
			}
			st.rewind(x.frames[len(x.frames)-1].n)
			continue
		}
		if x.d.meter.over || x.d.meter.spent >= limit {
			st.rewind(root)
			return stuck
		}
		st.do(top.moves[top.tried].step)
		top.tried++
		if x.d.complete() {
			return finished
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

// hopeless reports whether the current set has been tried before.
func (x *explorer) hopeless() bool {
	_, dead := x.dead[x.st.sum]
	if !dead && x.near {
		_, dead = x.failed[x.st.sum]
	}
	return dead
}

// commit looks for the lowest frame from which one may go for good to a set
// within the current one, goes there, and returns its index, or -1.
func (x *explorer) commit() int {
	st := x.st
	for i := range x.frames {
		f := &x.frames[i]
		if f.live < st.live {
			continue
		}
		path := st.trail[f.n:]
		if isChain(st.g, path) {
			return i // every set between is on the path, and none is lower
		}
		path = slices.Clone(path)
		x.d.meter.spend(int64(len(path)))
		part := leastSet(st, path)
		st.rewind(f.n)
		if x.follow(part) {
			return i
		}
		st.rewind(f.n)
		for _, s := range path {
			st.do(s)
		}
	}
	return -1
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
	st := x.st
	f := frame{n: len(st.trail), live: st.live}
	// The space of a frame that was here before serves again.
	if k := len(x.frames); k < cap(x.frames) {
		f.moves = x.frames[:k+1][k].moves[:0]
	}
	forced := move{step: -1}
	weighed := int64(0)
	candidates := st.ready
	if x.near && len(x.frames) > 0 {
		candidates = x.nearby(st.trail[x.frames[len(x.frames)-1].n:])
	}
	for _, s := range candidates {
		if x.other.done[s] {
			continue
		}
		weighed++
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
	if forced.step >= 0 {
		f.moves = append(f.moves[:0], forced)
	} else {
		for i := range f.moves {
			m := &f.moves[i]
			hill, valley := lookAhead(st, m.step, 6)
			m.score = hillAndValley(hill, valley)
			m.score[2] = int64(st.g.rank(m.step))
			weighed += 6
		}
		slices.SortFunc(f.moves, func(a, b move) int { return a.score.compare(b.score) })
	}
	x.d.meter.spend(weighed + 1)
	x.frames = append(x.frames, f)
}

// nearby returns the ready steps that touch a value touched by one of last, or
// that a successor of one of last waits for, directly or not.
func (x *explorer) nearby(last []int32) []int32 {
	const most = 64 // steps looked at on the way
	st, g := x.st, x.st.g
	x.calls++
	x.queue = x.queue[:0]
	meet := func(s int32) {
		if x.mark[s] != x.calls && !st.done[s] && !x.other.done[s] {
			x.mark[s] = x.calls
			x.queue = append(x.queue, s)
		}
	}
	for _, s := range last {
		for _, y := range g.succ.of(s) {
			meet(y)
		}
		for _, v := range g.vals.of(s) {
			for _, y := range g.touch.of(v) {
				meet(y)
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
		for _, p := range g.pred.of(s) {
			meet(p)
		}
	}
	x.d.meter.spend(int64(len(x.queue)))
	return ready
}

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
	next    int64
	pieceOf []int32 // by step, as pieces last found them
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
	ends := [2]*explorer{d.head, d.tail}
	for _, x := range ends {
		if out := x.single(); out != stuck {
			return out
		}
	}
	var pieces []piece
	var vain [2][]bool // which pieces an end has searched all in vain
	for e := min(256, effort); !d.meter.over; e = min(4*e, effort) {
		for _, x := range ends {
			if x.explore(e, search{near: true}) == committed {
				return committed
			}
		}
		if pieces == nil {
			pieces = d.pieces()
			vain = [2][]bool{make([]bool, len(pieces)), make([]bool, len(pieces))}
		}
		progress := false
		for k, x := range ends {
			for i := range pieces {
				if vain[k][i] || d.meter.over {
					continue
				}
				s := search{}
				if len(pieces) > 1 {
					s.piece = &pieces[i]
				}
				switch x.explore(e, s) {
				case committed:
					progress = true
					if d.complete() {
						return committed
					}
				case exhausted:
					vain[k][i] = true
				}
			}
		}
		if progress {
			return committed
		}
		if d.proven(pieces, vain) {
			return exhausted
		}
		if e >= effort {
			break
		}
	}
	return stuck
}

// proven reports whether there is no order, given which pieces the head and the
// tail have searched in vain; see explorer.
func (d *decider) proven(pieces []piece, vain [2][]bool) bool {
	for k := range vain {
		proof := len(pieces) == 1
		for _, p := range pieces {
			proof = proof || k == 0 && p.grown <= 0 || k == 1 && p.grown >= 0
		}
		if proof && !slices.Contains(vain[k], false) {
			return true
		}
	}
	return false
}

// A piece is steps between the ends that share no value and no precedence with
// the others there.
type piece struct {
	id    int32
	steps []int32
	grown int64 // bytes alive after them, less those before
}

// pieces returns the pieces between the ends. If there are too many steps they
// count as one piece.
func (d *decider) pieces() []piece {
	const most = 1 << 14
	head, tail := d.head.st, d.tail.st
	g := head.g
	if g.steps-len(head.trail)-len(tail.trail) > most {
		return make([]piece, 1)
	}
	d.meter.spend(g.size())
	if d.pieceOf == nil {
		d.pieceOf = make([]int32, g.steps)
	}
	for s := range d.pieceOf {
		d.pieceOf[s] = -1
	}
	seen := make([]bool, len(g.bytes))
	var all []piece
	var p piece
	meet := func(s int32) {
		if d.pieceOf[s] < 0 && !head.done[s] && !tail.done[s] {
			d.pieceOf[s] = p.id
			p.steps = append(p.steps, s)
		}
	}
	for first := range int32(g.steps) {
		p = piece{id: int32(len(all))}
		meet(first)
		for i := 0; i < len(p.steps); i++ {
			for _, y := range g.succ.of(p.steps[i]) {
				meet(y)
			}
			for _, y := range g.pred.of(p.steps[i]) {
				meet(y)
			}
			for _, v := range g.vals.of(p.steps[i]) {
				if seen[v] {
					continue
				}
				seen[v] = true
				for _, y := range g.touch.of(v) {
					meet(y)
				}
				if head.started(v) {
					p.grown -= g.bytes[v]
				}
				if tail.started(v) {
					p.grown += g.bytes[v]
				}
			}
		}
		if len(p.steps) > 0 {
			all = append(all, p)
		}
	}
	return all
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

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
	// lossy says that a search went on from where it could not commit, so
	// that finding nothing proves nothing.
	lossy   bool
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
		switch out := d.advance(effort); {
		case out == exhausted && !d.lossy:
			return infeasible
		case out != committed:
			return unknown
		}
	}
	return feasible
}

// advance commits to more of one end or the other, in turns of growing effort.
func (d *decider) advance(effort int64) outcome {
	ends := []*explorer{d.head, d.tail}
	for _, x := range ends {
		if out := x.single(); out != stuck {
			return out
		}
	}
	var pieces int
	var proof [2]bool // whether it is one that an end searches all in vain
	vain := make(map[search]bool)
	for e := min(64, effort); !d.meter.over; e = min(4*e, effort) {
		for _, x := range ends {
			if x.explore(e, search{near: true}) == committed {
				return committed
			}
		}
		if pieces == 0 {
			pieces, proof = d.pieces()
		}
		for k, x := range ends {
			left := pieces
			for i := range pieces {
				s := search{end: x, piece: int32(i), pieces: pieces}
				if !vain[s] {
					switch x.explore(e, s) {
					case committed:
						return committed
					case exhausted:
						vain[s] = true
					}
				}
				if vain[s] {
					left--
				}
			}
			if left == 0 && proof[k] {
				return exhausted
			}
		}
		if e >= effort {
			break
		}
	}
	return stuck
}

// pieces notes which steps between the ends are in which piece and returns how
// many there are. Proof says for either end whether there is no order if it
// searches all of them in vain; see explorer. If there are too many steps they
// count as one piece.
func (d *decider) pieces() (n int, proof [2]bool) {
	const most = 1 << 14
	head, tail := d.head.st, d.tail.st
	g := head.g
	if g.steps-len(head.trail)-len(tail.trail) > most {
		return 1, [2]bool{true, true}
	}
	if d.pieceOf == nil {
		d.pieceOf = make([]int32, g.steps)
	}
	for s := range d.pieceOf {
		d.pieceOf[s] = -1
	}
	seen := make([]bool, len(g.bytes))
	var piece []int32
	meet := func(s int32) {
		if d.pieceOf[s] < 0 && !head.done[s] && !tail.done[s] {
			d.pieceOf[s] = int32(n)
			piece = append(piece, s)
		}
	}
	for first := range int32(g.steps) {
		piece = piece[:0]
		meet(first)
		grown := int64(0) // bytes alive after the piece, less those before
		for i := 0; i < len(piece); i++ {
			for _, y := range g.succ.of(piece[i]) {
				meet(y)
			}
			for _, y := range g.pred.of(piece[i]) {
				meet(y)
			}
			for _, v := range g.vals.of(piece[i]) {
				if seen[v] {
					continue
				}
				seen[v] = true
				for _, y := range g.touch.of(v) {
					meet(y)
				}
				if head.started(v) {
					grown -= g.bytes[v]
				}
				if tail.started(v) {
					grown += g.bytes[v]
				}
			}
		}
		if len(piece) > 0 {
			n++
			proof[0] = proof[0] || grown <= 0
			proof[1] = proof[1] || grown >= 0
		}
	}
	if n == 1 {
		proof = [2]bool{true, true}
	}
	d.meter.spend(int64(g.steps / 8))
	return n, proof
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

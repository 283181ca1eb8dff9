package schedule

import (
	"cmp"
	"slices"
)

// graph is a problem in the form that the algorithms work on. Steps are numbered
// by their position in the seed, so that 0, 1, 2, ... is a valid order of it, or
// of a graph turned round the reverse of that. Values that cost nothing are left
// out.
type graph struct {
	steps      int
	pred, succ lists // of steps, by step
	touch      lists // the steps that touch a value, by value
	vals       lists // the values that a step touches, by step
	bytes      []int64
	before     []bool  // values alive before the first step
	kept       []bool  // values alive after the last step
	claims     []claim // by step, from claimAt[s] to claimAt[s+1]
	claimAt    []int32
	reversed   bool
}

// A claim is a chance for value to to take over the bytes of value from, which
// has as many, in a step that touches both.
type claim struct{ from, to int32 }

// lists are slices of numbers, back to back.
type lists struct{ at, all []int32 }

func (l *lists) of(i int32) []int32 { return l.all[l.at[i]:l.at[i+1]] }

// pair is an entry of lists: to belongs to the list of of.
type pair struct{ of, to int32 }

// makeLists returns n lists of what pairs say, each ascending, without
// duplicates. It reorders pairs.
func makeLists(n int, pairs []pair) lists {
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Or(cmp.Compare(a.of, b.of), cmp.Compare(a.to, b.to)) })
	l := lists{at: make([]int32, n+1)}
	for _, p := range slices.Compact(pairs) {
		l.at[p.of+1]++
		l.all = append(l.all, p.to)
	}
	for i := range n {
		l.at[i+1] += l.at[i]
	}
	return l
}

// inverse returns the lists that say for each of n numbers which lists hold it.
func (l *lists) inverse(n int) lists {
	pairs := make([]pair, 0, len(l.all))
	for i := range int32(len(l.at) - 1) {
		for _, x := range l.of(i) {
			pairs = append(pairs, pair{x, i})
		}
	}
	return makeLists(n, pairs)
}

// newGraph returns the graph of a valid problem, numbered by its seed.
func newGraph(p *Problem) *graph {
	position := make([]int32, p.Steps)
	for i, s := range p.seed() {
		position[s] = int32(i)
	}
	g := &graph{steps: p.Steps}
	var edges, touches []pair
	for s, list := range p.After {
		for _, b := range list {
			edges = append(edges, pair{position[b], position[s]})
		}
	}
	index := make([]int32, len(p.Values))
	for i := range p.Values {
		v := &p.Values[i]
		index[i] = -1
		if v.Writer < 0 {
			continue
		}
		w := position[v.Writer]
		for _, r := range v.Readers {
			edges = append(edges, pair{w, position[r]})
		}
		if v.Bytes == 0 {
			continue
		}
		index[i] = int32(len(g.bytes))
		g.bytes = append(g.bytes, v.Bytes)
		g.kept = append(g.kept, v.Kept)
		touches = append(touches, pair{index[i], w})
		for _, s := range slices.Concat(v.Readers, v.Also) {
			touches = append(touches, pair{index[i], position[s]})
		}
	}
	g.before = make([]bool, len(g.bytes))
	g.succ = makeLists(p.Steps, edges)
	g.pred = g.succ.inverse(p.Steps)
	g.touch = makeLists(len(g.bytes), touches)
	g.vals = g.touch.inverse(p.Steps)
	g.claim(p, index)
	return g
}

// claim sets the claims of g: those of Over that could ever come true.
func (g *graph) claim(p *Problem, index []int32) {
	var claims []claim
	var at []pair // a step, and the index of a claim
	for i := range p.Values {
		if index[i] < 0 {
			continue
		}
		for _, o := range p.Values[i].Over {
			c := claim{index[o], index[i]}
			if c.from < 0 || g.kept[c.from] || g.bytes[c.from] != g.bytes[c.to] {
				continue
			}
			for _, s := range g.touch.of(c.to) {
				if slices.Contains(g.touch.of(c.from), s) {
					at = append(at, pair{s, int32(len(claims))})
				}
			}
			claims = append(claims, c)
		}
	}
	byStep := makeLists(g.steps, at)
	g.claimAt = byStep.at
	for _, i := range byStep.all {
		g.claims = append(g.claims, claims[i])
	}
}

// claimsOf returns the claims of step s, in the order in which they are granted.
func (g *graph) claimsOf(s int32) []claim { return g.claims[g.claimAt[s]:g.claimAt[s+1]] }

// reverse returns g turned round in time. An order of it is an order of g read
// backwards, with the same bytes alive at every step.
func (g *graph) reverse() *graph {
	r := *g
	r.pred, r.succ = g.succ, g.pred
	r.before, r.kept = g.kept, g.before
	r.claims = make([]claim, len(g.claims))
	for i, c := range g.claims {
		r.claims[i] = claim{c.to, c.from}
	}
	r.reversed = !g.reversed
	return &r
}

// forwards returns an order of g as one of the graph that it was made from.
func (g *graph) forwards(order []int32) []int32 {
	if g.reversed {
		slices.Reverse(order)
	}
	return order
}

// rank returns the position of step s in the order that the graph came with,
// and the step at position s of it.
func (g *graph) rank(s int32) int32 {
	if g.reversed {
		return int32(g.steps) - 1 - s
	}
	return s
}

// lowest returns a number of bytes that no order of g can go below: those alive
// after the last step, and what each step takes by itself. It is for a graph that
// is not turned round.
func (g *graph) lowest() int64 {
	var low int64
	for v, b := range g.bytes {
		if g.kept[v] {
			low += b
		}
	}
	for s := range int32(g.steps) {
		var sum int64
		for _, v := range g.vals.of(s) {
			sum += g.bytes[v]
		}
		claims := g.claimsOf(s)
		for i, c := range claims {
			if !slices.ContainsFunc(claims[:i], func(d claim) bool { return d.to == c.to }) {
				sum -= g.bytes[c.to]
			}
		}
		low = max(low, sum)
	}
	return low
}

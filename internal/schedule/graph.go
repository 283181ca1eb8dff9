package schedule

import "slices"

// graph is a problem, or a part of one, in the form that the algorithms work
// on. Steps are numbered by their position in the order it was made from, so
// that 0, 1, 2, ... is a valid order of it, or of a graph turned round the
// reverse of that.
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

	stepIndex, valueIndex []int32 // scratch; -1 where not in use
}

// A claim is a chance for value to to take over the bytes of value from, which
// has as many, in a step that touches both.
type claim struct{ from, to int32 }

// lists are slices of numbers, back to back.
type lists struct{ at, all []int32 }

func (l *lists) of(i int32) []int32 { return l.all[l.at[i]:l.at[i+1]] }

// pair is an entry of lists: to belongs to the list of of.
type pair struct{ of, to int32 }

// makeLists sorts pairs into n lists, without duplicates, each in the order of
// the pairs.
func makeLists(n int, pairs []pair) lists {
	at := make([]int32, n+2)
	for _, p := range pairs {
		at[p.of+2]++
	}
	for i := 2; i < len(at); i++ {
		at[i] += at[i-1]
	}
	all := make([]int32, len(pairs))
	for _, p := range pairs {
		all[at[p.of+1]] = p.to
		at[p.of+1]++
	}
	// Entries move down over the duplicates before them.
	most := int32(-1)
	for _, x := range all {
		most = max(most, x)
	}
	seenIn := make([]int32, most+1) // the last list that held a number, plus one
	kept := int32(0)
	for i := range n {
		list := all[at[i]:at[i+1]]
		at[i] = kept
		for _, x := range list {
			if seenIn[x] != int32(i)+1 {
				seenIn[x] = int32(i) + 1
				all[kept] = x
				kept++
			}
		}
	}
	at[n] = kept
	return lists{at[:n+1], all[:kept]}
}

// inverse returns the lists that say for each of n numbers which lists hold it,
// in ascending order.
func (l *lists) inverse(n int) lists {
	at := make([]int32, n+2)
	for _, x := range l.all {
		at[x+2]++
	}
	for i := 2; i < len(at); i++ {
		at[i] += at[i-1]
	}
	all := make([]int32, len(l.all))
	for i := range len(l.at) - 1 {
		for _, x := range l.of(int32(i)) {
			all[at[x+1]] = int32(i)
			at[x+1]++
		}
	}
	return lists{at[:n+1], all}
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
		for _, list := range [][]int{v.Readers, v.Also} {
			for _, s := range list {
				touches = append(touches, pair{index[i], position[s]})
			}
		}
	}
	g.before = make([]bool, len(g.bytes))
	g.succ = makeLists(p.Steps, edges)
	g.pred = g.succ.inverse(p.Steps)
	g.succ = g.pred.inverse(p.Steps)
	g.touch = makeLists(len(g.bytes), touches)
	g.vals = g.touch.inverse(p.Steps)
	g.touch = g.vals.inverse(len(g.bytes))
	g.claim(p, index)
	return g
}

// claim sets the claims of g: those of Over that could ever come true.
func (g *graph) claim(p *Problem, index []int32) {
	type located struct {
		step int32
		claim
	}
	var all []located
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
					all = append(all, located{s, c})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b located) int { return int(a.step) - int(b.step) })
	g.claimAt = make([]int32, g.steps+1)
	for _, l := range all {
		g.claims = append(g.claims, l.claim)
		g.claimAt[l.step+1]++
	}
	for s := range g.steps {
		g.claimAt[s+1] += g.claimAt[s]
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
	r.stepIndex, r.valueIndex = nil, nil
	return &r
}

// rank returns the position of step s in the order that the graph came with,
// and the step at position s of it.
func (g *graph) rank(s int32) int32 {
	if g.reversed {
		return int32(g.steps) - 1 - s
	}
	return s
}

// needIndex sees to it that there are stepIndex and valueIndex.
func (g *graph) needIndex() {
	if g.stepIndex != nil {
		return
	}
	g.stepIndex, g.valueIndex = make([]int32, g.steps), make([]int32, len(g.bytes))
	for i := range g.stepIndex {
		g.stepIndex[i] = -1
	}
	for i := range g.valueIndex {
		g.valueIndex[i] = -1
	}
}

// sub returns the part of g that consists of the given steps, in a valid order,
// which becomes its numbering. All steps before them have run and none after.
// Started says whether one before touches a value, stays whether one after does.
// Live are the bytes alive at the beginning; base, of these, those of values
// that no step of the part touches.
func (g *graph) sub(steps []int32, started, stays func(v int32) bool, live int64) (part *graph, base int64) {
	g.needIndex()
	for i, s := range steps {
		g.stepIndex[s] = int32(i)
	}
	part = &graph{steps: len(steps), claimAt: make([]int32, 1, len(steps)+1)}
	base = live
	part.pred.at, part.vals.at = make([]int32, 1, len(steps)+1), make([]int32, 1, len(steps)+1)
	var values []int32
	for _, s := range steps {
		for _, p := range g.pred.of(s) {
			if i := g.stepIndex[p]; i >= 0 {
				part.pred.all = append(part.pred.all, i)
			}
		}
		part.pred.at = append(part.pred.at, int32(len(part.pred.all)))
		for _, v := range g.vals.of(s) {
			if g.valueIndex[v] < 0 {
				g.valueIndex[v] = int32(len(values))
				values = append(values, v)
				part.bytes = append(part.bytes, g.bytes[v])
				part.before = append(part.before, g.before[v] || started(v))
				part.kept = append(part.kept, g.kept[v] || stays(v))
				if part.before[len(values)-1] {
					base -= g.bytes[v]
				}
			}
			part.vals.all = append(part.vals.all, g.valueIndex[v])
		}
		part.vals.at = append(part.vals.at, int32(len(part.vals.all)))
		for _, c := range g.claimsOf(s) {
			part.claims = append(part.claims, claim{g.valueIndex[c.from], g.valueIndex[c.to]})
		}
		part.claimAt = append(part.claimAt, int32(len(part.claims)))
	}
	part.succ = part.pred.inverse(len(steps))
	part.pred = part.succ.inverse(len(steps))
	part.touch = part.vals.inverse(len(values))
	for _, s := range steps {
		g.stepIndex[s] = -1
	}
	for _, v := range values {
		g.valueIndex[v] = -1
	}
	return part, base
}

// size returns the work to go through all of g.
func (g *graph) size() int64 {
	return 1 + int64(g.steps) + int64(len(g.succ.all)) + int64(len(g.touch.all))
}

// lowest returns a number of bytes that no order of g can go below, when base
// bytes are alive all the time.
func (g *graph) lowest(base int64) int64 {
	atStart, atEnd := base, base
	for v, b := range g.bytes {
		if g.before[v] {
			atStart += b
		}
		if g.kept[v] {
			atEnd += b
		}
	}
	low := max(atStart, atEnd)
	for s := range int32(g.steps) {
		sum := base
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

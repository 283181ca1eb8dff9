package schedule

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomOrder returns a random valid order of g.
func randomOrder(r *rand.Rand, g *graph) []int32 {
	s := newState(g, 0)
	for len(s.ready) > 0 {
		s.do(s.ready[r.IntN(len(s.ready))])
	}
	return s.trail
}

func named(p *Problem, order []int32) []int {
	var out []int
	for _, x := range order {
		out = append(out, p.seed()[x])
	}
	return out
}

func fewSteps(r *rand.Rand) int { return 2 + r.IntN(12) }

// The state that the algorithms share agrees with Profile, forwards and
// backwards, and can take everything back.
func TestState(t *testing.T) {
	t.Parallel()
	each(t, 300, fewSteps, func(t *testing.T, r *rand.Rand, p *Problem) {
		g := newGraph(p)
		order := randomOrder(r, g)
		want := Profile(p, named(p, order))
		if err := Check(p, named(p, order)); err != nil {
			t.Fatal(err)
		}
		for _, g := range []*graph{g, g.reverse()} {
			if g.reversed {
				slices.Reverse(order)
				slices.Reverse(want)
			}
			s := newState(g, 0)
			start := s.live
			for range 2 {
				for i, x := range order {
					live := s.live
					during, after := s.cost(x)
					s.do(x)
					if during != want[i] || after != s.live || during < live {
						t.Fatalf("step %d: %d to %d bytes, then %d; %d to %d expected", i, live, during, s.live, want[i], after)
					}
				}
				s.rewind(0)
				if s.live != start || s.sum != (sum{}) {
					t.Fatalf("%d bytes after taking everything back, %d expected", s.live, start)
				}
			}
		}
	})
}

// A part of a graph has the bytes of the whole along the same order.
func TestSub(t *testing.T) {
	t.Parallel()
	each(t, 300, fewSteps, func(t *testing.T, r *rand.Rand, p *Problem) {
		g := newGraph(p)
		order := randomOrder(r, g)
		tr := trace(g, 0, order)
		from := r.IntN(len(order))
		to := from + 1 + r.IntN(len(order)-from)
		part, base := g.sub(order[from:to],
			func(v int32) bool { return int(tr.first[v]) < from },
			func(v int32) bool { return int(tr.last[v]) >= to },
			tr.before[from])
		got := trace(part, base, identity(part.steps)).during
		if !slices.Equal(got, tr.during[from:to]) {
			t.Errorf("steps %d to %d of %v: %v, want %v", from, to, order, got, tr.during[from:to])
		}
		if low := part.lowest(base); low > slices.Max(got) {
			t.Errorf("lowest is %d, an order has %d", low, slices.Max(got))
		}
	})
}

func TestLeastSet(t *testing.T) {
	t.Parallel()
	each(t, 300, fewSteps, func(t *testing.T, r *rand.Rand, p *Problem) {
		g := newGraph(p)
		order := randomOrder(r, g)
		from := r.IntN(len(order))
		path := order[from : from+1+r.IntN(min(10, len(order)-from))]
		start := func() *state {
			s := newState(g, 0)
			for _, x := range order[:from] {
				s.do(x)
			}
			return s
		}
		// Every set between, by the steps of path that it holds.
		least, most := int64(math.MaxInt64), 0
		for set := range 1 << len(path) {
			s := start()
			n := 0
			for i, x := range path {
				if set>>i&1 == 1 && s.need[x] == 0 {
					s.do(x)
					n++
				}
			}
			if s.live < least || s.live == least && n > most {
				least, most = s.live, n
			}
		}
		s := start()
		for _, x := range path {
			s.do(x)
		}
		part := leastSet(s, path)
		s = start()
		for _, x := range part {
			if s.need[x] != 0 {
				t.Fatalf("%v of %v is not closed", part, path)
			}
			s.do(x)
		}
		if s.live != least || len(part) != most {
			t.Errorf("%d steps with %d bytes; there are %d with %d", len(part), s.live, most, least)
		}
	})
}

func TestDecide(t *testing.T) {
	t.Parallel()
	each(t, 300, fewSteps, func(t *testing.T, r *rand.Rand, p *Problem) {
		best := subsets(p)
		g := newGraph(p)
		for _, bound := range []int64{0, best - 1, best, best + 3} {
			m := &meter{ctx: t.Context(), budget: math.MaxInt64}
			d := newDecider(m, g, g.reverse(), 0, bound)
			switch v := d.run(1 << 30); {
			case v == unknown:
				t.Errorf("bound %d is undecided", bound)
			case v == feasible:
				order := named(p, d.order())
				if err := Check(p, order); err != nil || Peak(p, order) > bound {
					t.Errorf("bound %d: an order with %d bytes (%v), best is %d", bound, Peak(p, order), err, best)
				}
			case v == infeasible && (bound >= best || d.next <= bound || d.next > best):
				t.Errorf("bound %d is said to be impossible, and any below %d; best is %d", bound, d.next, best)
			}
		}
	})
}

// From a set that a search has reached, steps are to be left out before it
// commits to the rest: with all of them these problems seem to have no order as
// good as the best.
func TestDecideCommitsToLeastSet(t *testing.T) {
	for i, p := range []*Problem{
		{Steps: 7, Values: []Value{
			{Bytes: 2, Writer: 1, Readers: []int{2}},
			{Bytes: 1, Writer: 1, Readers: []int{4, 5}},
			{Bytes: 3, Writer: 2, Readers: []int{3}, Kept: true},
			{Bytes: 2, Writer: 3, Also: []int{0}},
			{Bytes: 3, Writer: 4},
			{Bytes: 0, Writer: 5, Readers: []int{6}},
			{Bytes: 6, Writer: 6},
		}},
		{Steps: 10, Values: []Value{
			{Bytes: 1, Writer: 0, Readers: []int{1, 8}},
			{Bytes: 0, Writer: 1, Readers: []int{2, 5}},
			{Bytes: 2, Writer: 2, Readers: []int{3, 6}},
			{Bytes: 1, Writer: 4, Readers: []int{9}},
			{Bytes: 1, Writer: 5, Readers: []int{7}},
			{Bytes: 1, Writer: 6, Kept: true},
			{Bytes: 1, Writer: 7, Readers: []int{9}},
			{Bytes: 0, Writer: 7, Readers: []int{8}},
			{Bytes: 1, Writer: 8},
			{Bytes: 2, Writer: 9},
		}},
	} {
		g := newGraph(p)
		d := newDecider(&meter{ctx: t.Context(), budget: math.MaxInt64}, g, g.reverse(), 0, subsets(p))
		if v := d.run(1 << 30); v != feasible {
			t.Errorf("problem %d: verdict %v with the least bound there is", i, v)
		}
	}
}

func TestPieces(t *testing.T) {
	t.Parallel()
	each(t, 200, fewSteps, func(t *testing.T, r *rand.Rand, p *Problem) {
		g := newGraph(p)
		order := randomOrder(r, g)
		d := newDecider(&meter{ctx: t.Context(), budget: math.MaxInt64}, g, g.reverse(), 0, math.MaxInt64)
		from := r.IntN(len(order))
		to := from + r.IntN(len(order)-from)
		for _, x := range order[:from] {
			d.head.st.do(x)
		}
		for i := len(order) - 1; i >= to; i-- {
			d.tail.st.do(order[i])
		}
		in := make([]int, g.steps) // the piece of a step, counted from 1
		grown, count := int64(0), 0
		for i, piece := range d.pieces() {
			for _, x := range piece.steps {
				in[x] = i + 1
			}
			grown += piece.grown
			count += len(piece.steps)
		}
		if count != to-from {
			t.Errorf("%d steps in pieces, of %d", count, to-from)
		}
		if head, tail := d.head.st.live, d.tail.st.live; head+grown != tail {
			t.Errorf("%d bytes at the head, %d at the tail, pieces grow by %d", head, tail, grown)
		}
		apart := func(a, b int32) bool { return in[a] > 0 && in[b] > 0 && in[a] != in[b] }
		for x := range int32(g.steps) {
			for _, y := range g.succ.of(x) {
				if apart(x, y) {
					t.Errorf("step %d comes before %d, of another piece", x, y)
				}
			}
			for _, v := range g.vals.of(x) {
				for _, y := range g.touch.of(v) {
					if apart(x, y) {
						t.Errorf("steps %d and %d, of two pieces, touch value %d", x, y, v)
					}
				}
			}
		}
	})
}

// Of several pieces, only those of the head prove something if some piece
// leaves no more bytes alive than it finds, and those of the tail otherwise.
func TestProven(t *testing.T) {
	for _, c := range []struct {
		grown      []int64
		head, tail bool
	}{
		{[]int64{5}, true, true},
		{[]int64{-5}, true, true},
		{[]int64{5, 1}, false, true},
		{[]int64{-5, -1}, true, false},
		{[]int64{5, -1}, true, true},
		{[]int64{5, 0}, true, true},
	} {
		pieces := make([]piece, len(c.grown))
		for i, n := range c.grown {
			pieces[i].grown = n
		}
		none, all := make([]bool, len(pieces)), make([]bool, len(pieces))
		for i := range all {
			all[i] = true
		}
		d := &decider{}
		if head, tail := d.proven(pieces, [2][]bool{all, none}), d.proven(pieces, [2][]bool{none, all}); head != c.head || tail != c.tail {
			t.Errorf("grown by %v: %v and %v for head and tail, want %v and %v", c.grown, head, tail, c.head, c.tail)
		}
		if d.proven(pieces, [2][]bool{none, none}) {
			t.Errorf("grown by %v: proven by nothing", c.grown)
		}
	}
}

// What is put together of orders is an order, and no worse than any.
func TestSplice(t *testing.T) {
	t.Parallel()
	each(t, 200, fewSteps, func(t *testing.T, r *rand.Rand, p *Problem) {
		g := newGraph(p)
		var orders [][]int32
		least := int64(math.MaxInt64)
		for range 5 {
			o := randomOrder(r, g)
			orders = append(orders, o)
			least = min(least, peakOf(g, 0, o))
		}
		o := splice(g, 0, orders)
		if err := Check(p, named(p, o)); err != nil {
			t.Error(err)
		}
		if peak := peakOf(g, 0, o); peak > least {
			t.Errorf("peak %d, of orders with %d", peak, least)
		}
	})
}

func TestSplicePutsPiecesTogether(t *testing.T) {
	// Two diamonds in a row; each order has one right.
	p := cells(rand.New(rand.NewPCG(3, 3)), 2, 2)
	best := mustOrders(t, p, nil)[0].Peak
	g := newGraph(p)
	r := rand.New(rand.NewPCG(4, 4))
	for range 1000 {
		a, b := randomOrder(r, g), randomOrder(r, g)
		if pa, pb := peakOf(g, 0, a), peakOf(g, 0, b); min(pa, pb) > best && peakOf(g, 0, splice(g, 0, [][]int32{a, b})) == best {
			return
		}
	}
	t.Error("no two orders out of a thousand pairs make up a better one")
}

// A beam that is wide enough forgets no set.
func TestBeam(t *testing.T) {
	t.Parallel()
	each(t, 200, func(r *rand.Rand) int { return 2 + r.IntN(8) }, func(t *testing.T, r *rand.Rand, p *Problem) {
		best := subsets(p)
		m := &meter{ctx: t.Context(), budget: math.MaxInt64}
		for _, g := range []*graph{newGraph(p), newGraph(p).reverse()} {
			if order := beam(m, g, 0, best, 1<<20); order == nil {
				t.Errorf("found no order with %d bytes", best)
			} else if peak := peakOf(g, 0, order); peak > best {
				t.Errorf("peak %d, bound %d", peak, best)
			}
			if order := beam(m, g, 0, best-1, 1<<20); order != nil {
				t.Errorf("an order with less than %d bytes", best)
			}
		}
	})
}

func TestWindows(t *testing.T) {
	t.Parallel()
	each(t, 30, func(r *rand.Rand) int { return 20 + r.IntN(60) }, func(t *testing.T, r *rand.Rand, p *Problem) {
		g := newGraph(p)
		order := randomOrder(r, g)
		was := peakOf(g, 0, order)
		f := &found{order: order, peak: was, least: g.lowest(0)}
		windows(&meter{ctx: t.Context(), budget: 1e6}, g, 0, f, 1<<12)
		steps := named(p, f.order)
		if err := Check(p, steps); err != nil {
			t.Fatal(err)
		}
		if peak := Peak(p, steps); peak != f.peak || peak > was || f.least > peak {
			t.Errorf("peak %d, said to be %d and no less than %d; it was %d", peak, f.peak, f.least, was)
		}
	})
}

package pack

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestClear compares clear with trying offsets one by one, among items placed
// here and there.
func TestClear(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 1))
	shape := shape{n: 9, time: 6, life: 6, size: 6, aligns: []int64{1, 2}, parts: true}
	moved := 0
	for range 2000 {
		p := mustProblem(t, shape.random(rng))
		if !p.gaps {
			continue // there, what is placed never leaves room below
		}
		offsets := fitInOrder(p, identity(len(p.items)))
		s := newSearcher(newNetwork(p))
		s.reset(1000)
		for i := range p.items {
			if s.placed[i] = i > 0 && rng.IntN(3) > 0; s.placed[i] {
				s.floor[i] = offsets[i] * 2 // room to lie between, and no collision the less
			}
		}
		from := alignUp(rng.Int64N(10), p.items[0].align)
		want := from
		for slices.ContainsFunc(identity(len(p.items)), func(j int32) bool {
			return s.placed[j] && collide(&p.buffers[p.inputs[j]], s.floor[j], &p.buffers[p.inputs[0]], want)
		}) {
			want += p.items[0].align
		}
		if got := s.clear(0, from); got != want {
			t.Fatalf("clear from %d is %d, want %d\n%+v\n%v %v", from, got, want, p.buffers, s.floor, s.placed)
		}
		if want > from {
			moved++
		}
	}
	if moved < 300 {
		t.Errorf("only %d times there was something to clear", moved)
	}
}

// TestSearchesLeaveNoTrace compares a search after one that was stopped somewhere
// with the same one by a new searcher. Where searches race, when one is stopped
// depends on the time that others take.
func TestSearchesLeaveNoTrace(t *testing.T) {
	never := func() bool { return false }
	for name, shape := range larger {
		rng := rand.New(rand.NewPCG(89, uint64(len(name))))
		stopped := 0
		for range rounds(40) {
			p := mustProblem(t, shape.random(rng)).components()[0]
			net := newNetwork(p)
			used, fresh := newSearcher(net), newSearcher(net)
			used.rank = identity(len(p.items))
			fresh.rank = used.rank
			if used.run(p.lower, rng.Int64N(300), never) == aborted {
				stopped++
			}
			clear(used.memo)
			capacity := p.lower + rng.Int64N(p.lower/8+1)
			got, want := used.run(capacity, 500, never), fresh.run(capacity, 500, never)
			if got != want || used.nodes != fresh.nodes || used.complete != fresh.complete || !slices.Equal(used.floor, fresh.floor) {
				t.Fatalf("%s: status %d after %d nodes, a new searcher %d after %d", name, got, used.nodes, want, fresh.nodes)
			}
		}
		if stopped == 0 {
			t.Errorf("%s: no search was stopped", name)
		}
	}
}

// TestKey checks that the key of a state depends on the floors of the items not
// placed, on which they are, on the capacity, and on nothing else.
func TestKey(t *testing.T) {
	p := mustProblem(t, larger["plain"].random(rand.New(rand.NewPCG(79, 1)))).components()[0]
	s := newSearcher(newNetwork(p))
	s.reset(10_000)
	items := identity(len(p.items))
	keys := map[uint64]string{}
	note := func(what string) {
		t.Helper()
		if old, ok := keys[s.key(items)]; ok {
			t.Errorf("%s has the key of %s", what, old)
		}
		keys[s.key(items)] = what
	}
	note("the start")
	start := s.key(items)
	mark := s.mark()
	s.raise(3, 100)
	note("item 3 at 100")
	s.raise(4, 100)
	note("items 3 and 4 at 100")
	s.undo(mark)
	s.raise(4, 100)
	note("item 4 at 100")
	s.undo(mark)
	s.placed[3] = true
	note("item 3 placed")
	s.floor[3] = 5
	if _, ok := keys[s.key(items)]; !ok {
		t.Error("the floor of a placed item changes the key")
	}
	s.placed[3], s.floor[3] = false, 0
	if slices.Reverse(items); s.key(items) != start {
		t.Error("undo or the order of the items changes the key")
	}
	s.reset(10_001)
	note("another capacity")
}

// TestUndo takes random steps down and expects to find everything as it was.
func TestUndo(t *testing.T) {
	rng := rand.New(rand.NewPCG(83, 1))
	for name, shape := range larger {
		p := mustProblem(t, shape.random(rng)).components()[0]
		s := newSearcher(newNetwork(p))
		s.reset(1 << 20)
		s.markDirty(0, int32(p.sections))
		if !s.infer() {
			t.Fatal("a million bytes are not enough")
		}
		type state struct {
			floor    []int64
			placed   []bool
			spanning []int32
			remain   []int64
			sums     []summary
			mark     mark
		}
		snap := func() state {
			st := state{floor: slices.Clone(s.floor), placed: slices.Clone(s.placed), spanning: slices.Clone(s.spanning), mark: s.mark()}
			for t := range s.sections {
				st.remain = append(st.remain, s.sections[t].remain)
				st.sums = append(st.sums, s.sections[t].summary)
			}
			return st
		}
		var trail []state
		for range 300 {
			if down := rng.IntN(3) > 0 && len(trail) < len(p.items); down {
				left := slices.DeleteFunc(identity(len(p.items)), func(i int32) bool { return s.placed[i] })
				trail = append(trail, snap())
				s.put(left[rng.IntN(len(left))])
				s.infer()
			} else if n := len(trail); n > 0 {
				k := rng.IntN(n)
				want := trail[k]
				trail = trail[:k]
				s.undo(want.mark)
				got := snap()
				if !slices.Equal(got.floor, want.floor) || !slices.Equal(got.placed, want.placed) || !slices.Equal(got.spanning, want.spanning) ||
					!slices.Equal(got.remain, want.remain) || !slices.Equal(got.sums, want.sums) || got.mark != want.mark {
					t.Fatalf("%s: undo leaves traces", name)
				}
			}
		}
	}
}

// TestDirty takes sections out in rising order, each once, as they were marked.
func TestDirty(t *testing.T) {
	rng := rand.New(rand.NewPCG(101, 1))
	const sections = 300
	s := &searcher{dirty: make([]uint64, (sections+63)/64)}
	for range 1000 {
		var want [sections]bool
		for range rng.IntN(4) {
			a := rng.Int32N(sections + 1)
			b := a + rng.Int32N(sections+1-a)
			s.markDirty(a, b)
			for t := a; t < b; t++ {
				want[t] = true
			}
		}
		for i, dirty := range want {
			if !dirty {
				continue
			}
			if got, ok := s.nextDirty(); !ok || got != i {
				t.Fatalf("section %d (%v), want %d", got, ok, i)
			}
		}
		if got, ok := s.nextDirty(); ok {
			t.Fatalf("section %d is dirty, and was not marked", got)
		}
	}
}

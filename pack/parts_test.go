package pack

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMergeRects paints rectangles on a grid before and after.
func TestMergeRects(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 1))
	for range 5000 {
		rects := make([]rect, 1+rng.IntN(6))
		var want [8][8]int
		for i := range rects {
			r := &rects[i]
			r.t0, r.lo = rng.Int32N(7), rng.Int64N(7)
			r.t1, r.hi = r.t0+1+rng.Int32N(7-r.t0), r.lo+1+rng.Int64N(7-r.lo)
			for t := r.t0; t < r.t1; t++ {
				for b := r.lo; b < r.hi; b++ {
					want[t][b] = 1
				}
			}
		}
		slices.SortFunc(rects, compareRects)
		var got [8][8]int
		merged := mergeRects(rects)
		for _, r := range merged {
			for t := r.t0; t < r.t1; t++ {
				for b := r.lo; b < r.hi; b++ {
					got[t][b]++
				}
			}
		}
		if got != want {
			t.Fatalf("%v became %v", rects, merged)
		}
	}
}

func TestHeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 1))
	for _, n := range []int{1, 2, 7, 8, 100} {
		h, want := newHeights(n), make([]int64, n)
		for range 500 {
			a := rng.IntN(n)
			b := a + 1 + rng.IntN(n-a)
			if got, want := h.top(int32(a), int32(b)), slices.Max(want[a:b]); got != want {
				t.Fatalf("top of [%d, %d) is %d, want %d", a, b, got, want)
			}
			a = rng.IntN(n)
			b = a + 1 + rng.IntN(n-a)
			to := rng.Int64N(1000)
			h.raise(int32(a), int32(b), to)
			for t := a; t < b; t++ {
				want[t] = max(want[t], to)
			}
		}
	}
}

// TestSweepFit compares the two first fits.
func TestSweepFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(47, 1))
	shape := shape{n: 300, time: 200, life: 60, size: 90, aligns: []int64{1, 1, 8, 32}}
	for range 30 {
		for _, p := range mustProblem(t, shape.random(rng)).components() {
			for _, order := range [][]int32{identity(len(p.items)), startThenSmaller(p)} {
				if want, got := fitInOrder(p, order), sweepFit(p, order); !slices.Equal(want, got) {
					t.Fatalf("by index %v\nby sweep %v", want, got)
				}
			}
		}
	}
}

// TestSkyline compares the skyline with its rule, applied section by section.
func TestSkyline(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 1))
	shape := shape{n: 40, time: 30, life: 12, size: 9}
	for range 200 {
		for _, p := range mustProblem(t, shape.random(rng)).components() {
			order := make([]int32, 0, len(p.items))
			for _, i := range rng.Perm(len(p.items)) {
				order = append(order, int32(i))
			}
			if want, got := slowSkyline(p, order), newSkyline(p).place(order); !slices.Equal(want, got) {
				t.Fatalf("by rule %v\nskyline %v", want, got)
			}
		}
	}
}

func slowSkyline(p *problem, order []int32) []int64 {
	offsets := make([]int64, len(p.items))
	height := make([]int64, p.sections)
	left := slices.Clone(order)
	for len(left) > 0 {
		a := 0
		for t := range height {
			if height[t] < height[a] {
				a = t
			}
		}
		b := a
		for b < p.sections && height[b] == height[a] {
			b++
		}
		k := slices.IndexFunc(left, func(i int32) bool { return int(p.items[i].t0) >= a && int(p.items[i].t1) <= b })
		if k < 0 {
			to := int64(math.MaxInt64)
			if a > 0 {
				to = height[a-1]
			}
			if b < p.sections {
				to = min(to, height[b])
			}
			for t := a; t < b; t++ {
				height[t] = to
			}
			continue
		}
		i := left[k]
		left = slices.Delete(left, k, k+1)
		it := &p.items[i]
		offsets[i] = height[a]
		for t := it.t0; t < it.t1; t++ {
			height[t] = offsets[i] + it.size
		}
	}
	return offsets
}

func mustProblem(t *testing.T, buffers []Buffer) *problem {
	t.Helper()
	p, err := newProblem(buffers)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSections checks that dropping sections loses no meeting and no live bytes.
func TestSections(t *testing.T) {
	rng := rand.New(rand.NewPCG(59, 1))
	for _, shape := range shapes {
		shape.n = 8
		for range 300 {
			buffers := shape.random(rng)
			p := mustProblem(t, buffers)
			var live int64
			for time := range shape.time {
				var sum int64
				for i := range buffers {
					if b := &buffers[i]; b.Start <= time && time < b.End {
						for at := range b.Size {
							if occupies(b, time, at) {
								sum++
							}
						}
					}
				}
				live = max(live, sum)
			}
			var got int64
			for _, bytes := range p.liveBytes(1) {
				got = max(got, bytes)
			}
			if got != live {
				t.Fatalf("%d live bytes, want %d\n%+v", got, live, buffers)
			}
		}
	}
}

func TestLuby(t *testing.T) {
	var got []int64
	for n := 1; n <= 15; n++ {
		got = append(got, luby(n))
	}
	if want := []int64{1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLog2(t *testing.T) {
	for _, x := range []uint64{1, 2, 3, 5, 1000, 1<<40 + 12345, math.MaxInt64, math.MaxUint64} {
		if got, want := float64(log2(x))/fixedOne, math.Log2(float64(x)); math.Abs(got-want) > 2.0/fixedOne {
			t.Errorf("log2(%d) is %v, want %v", x, got, want)
		}
	}
	if log2(0) != 0 {
		t.Error("log2(0) is not 0")
	}
}

func TestAddSpan(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 1))
	for range 3000 {
		var union, all []span
		for range rng.IntN(7) {
			lo := rng.Int64N(20)
			s := span{lo, lo + 1 + rng.Int64N(6)}
			all = append(all, s)
			union = addSpan(union, s)
		}
		inside := func(spans []span, twice int64) bool { // at half steps, to see open ends
			return slices.ContainsFunc(spans, func(s span) bool { return 2*s.lo < twice && twice < 2*s.hi })
		}
		for x := int64(-1); x < 60; x++ {
			if inside(all, x) != inside(union, x) {
				t.Fatalf("%v became %v", all, union)
			}
		}
		for k := 1; k < len(union); k++ {
			if union[k-1].hi > union[k].lo {
				t.Fatalf("%v is not rising", union)
			}
		}
	}
}

func TestHalve(t *testing.T) {
	rng := rand.New(rand.NewPCG(89, 1))
	for range 500 {
		p := &problem{items: make([]item, 1+rng.IntN(40))}
		for i := range p.items {
			p.items[i].t0 = rng.Int32N(8)
			p.items[i].t1 = p.items[i].t0 + 1 + rng.Int32N(8)
		}
		items := identity(len(p.items))
		rng.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		n, byEnd := rng.IntN(len(items)+1), rng.IntN(2) == 0
		halve(p, items, n, byEnd)
		for _, a := range items[:n] {
			for _, b := range items[n:] {
				x, y := p.items[a].t0, p.items[b].t0
				if byEnd {
					x, y = p.items[a].t1, p.items[b].t1
				}
				if x > y {
					t.Fatalf("%d of %v: item %d comes after item %d", n, items, a, b)
				}
			}
		}
		if slices.Sort(items); !slices.Equal(items, identity(len(items))) {
			t.Fatalf("items are lost: %v", items)
		}
	}
}

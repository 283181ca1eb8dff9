package pack

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// regional are problems of several regions.
var regional = map[string]shape{
	"plain":      {n: 40, time: 60, life: 6, size: 9},
	"aligned":    {n: 40, time: 60, life: 6, size: 9, aligns: []int64{1, 2, 4}},
	"everything": {n: 40, time: 60, life: 12, size: 9, aligns: []int64{1, 2}, parts: true, fixed: true},
}

// eachRegion calls f with a contender, placed by first fit, and a region of it.
func eachRegion(t *testing.T, f func(rng *rand.Rand, c *contender, around int32, size int, r region)) {
	for name, shape := range regional {
		rng := rand.New(rand.NewPCG(97, uint64(len(name))))
		for range rounds(200) {
			for _, p := range mustProblem(t, shape.random(rng)).components() {
				c := &contender{p: p, lower: p.lower, index: newIndex(p.sections)}
				c.offer(firstFit(p))
				for i := range p.items {
					c.index.add(&p.items[i], int32(i))
				}
				around, size := rng.Int32N(int32(len(p.items))), rng.IntN(2*len(p.items))
				f(rng, c, around, size, c.region(around, size))
			}
		}
	}
}

// TestRegion compares what a region holds with what is live in its sections,
// item by item.
func TestRegion(t *testing.T) {
	whole, part := 0, 0
	eachRegion(t, func(_ *rand.Rand, c *contender, around int32, size int, r region) {
		it := &c.p.items[around]
		if r.t0 < 0 || r.t0 > it.t0 || r.t1 < it.t1 || int(r.t1) > c.p.sections {
			t.Fatalf("sections [%d, %d) of %d around an item live over [%d, %d)", r.t0, r.t1, c.p.sections, it.t0, it.t1)
		}
		var want []int32
		for i := range c.p.items {
			if it := &c.p.items[i]; it.t0 < r.t1 && r.t0 < it.t1 {
				want = append(want, int32(i))
			}
		}
		if !slices.Equal(r.items, want) {
			t.Fatalf("sections [%d, %d) hold %v, want %v", r.t0, r.t1, r.items, want)
		}
		if r.t0 == 0 && int(r.t1) == c.p.sections {
			whole++
		} else if part++; len(r.items) < size {
			t.Fatalf("%d items in [%d, %d), want %d", len(r.items), r.t0, r.t1, size)
		}
	})
	if whole == 0 || part == 0 {
		t.Errorf("%d regions of everything, %d of a part", whole, part)
	}
}

// TestCutOut moves an item of a region and asks both the problem that was cut
// out and the whole one whether that is a placement. An item may move exactly
// when its lifetime is within the region.
func TestCutOut(t *testing.T) {
	verdicts := map[bool]int{}
	eachRegion(t, func(rng *rand.Rand, c *contender, _ int32, _ int, r region) {
		p, items := c.cutOut(r)
		offsets := make([]int64, len(items))
		for k, i := range items {
			offsets[k] = c.offsets[i]
			it := &c.p.items[i]
			want := it.fixed
			if it.t0 < r.t0 || it.t1 > r.t1 {
				want = c.offsets[i]
			}
			if p.items[k].fixed != want {
				t.Fatalf("in [%d, %d) an item live over [%d, %d) is fixed at %d, want %d", r.t0, r.t1, it.t0, it.t1, p.items[k].fixed, want)
			}
		}
		for _, it := range p.items {
			for _, q := range it.rects {
				if q.t0 < it.t0 || q.t1 > it.t1 || int(it.t1) > p.sections {
					t.Fatalf("an item over [%d, %d) of %d sections has a rectangle over [%d, %d)", it.t0, it.t1, p.sections, q.t0, q.t1)
				}
			}
		}
		if err := p.verify(offsets); err != nil {
			t.Fatalf("the placement is none of its region: %v", err)
		}
		for k, i := range items {
			if p.items[k].fixed != free {
				continue
			}
			moved := slices.Clone(c.offsets)
			moved[i] = alignUp(rng.Int64N(c.arena+1), p.items[k].align)
			offsets[k] = moved[i]
			got, want := p.verify(offsets), c.p.verify(moved)
			if (got == nil) != (want == nil) {
				t.Fatalf("sections [%d, %d), item %d live over [%d, %d) at %d: %v in the region, %v in the whole",
					r.t0, r.t1, i, c.p.items[i].t0, c.p.items[i].t1, moved[i], got, want)
			}
			verdicts[got == nil]++
			offsets[k] = c.offsets[i]
		}
	})
	if least := rounds(800); verdicts[true] < least || verdicts[false] < least {
		t.Errorf("one-sided: %v, want %d of each", verdicts, least)
	}
}

// thin is a long chain of neighbours: a few items live at a time, and no place
// where it falls apart.
func thin(rng *rand.Rand, n int) []Buffer {
	buffers := make([]Buffer, n)
	for i := range buffers {
		start := int64(i)
		buffers[i] = Buffer{ID: fmt.Sprint(i), Start: start, End: start + 2 + rng.Int64N(2), Size: 1000 + rng.Int64N(700), Align: 64}
	}
	return buffers
}

// TestRepair repairs chains that first fit leaves far above the lower bound,
// highest item by highest item, down to it.
func TestRepair(t *testing.T) {
	for seed := range uint64(4) {
		p := mustProblem(t, thin(rand.New(rand.NewPCG(seed, 6)), 600))
		c := &contender{p: p, lower: p.lower}
		c.offer(firstFit(p))
		if c.arena < p.lower*11/10 {
			t.Fatalf("first fit has %d, the lower bound is %d", c.arena, p.lower)
		}
		highest := func(top int64) (n int) {
			for i := range p.items {
				if c.offsets[i]+p.items[i].size >= top {
					n++
				}
			}
			return n
		}
		for c.arena > p.lower {
			arena, before := c.arena, highest(c.arena)
			nodes, better := c.repair(t.Context(), 0, math.MaxInt64, &Options{})
			if err := p.verify(c.offsets); err != nil {
				t.Fatal(err)
			}
			if !better || nodes == 0 {
				t.Fatalf("stuck at %d after %d nodes, the lower bound is %d", c.arena, nodes, p.lower)
			}
			if c.arena != p.arena(c.offsets) || highest(arena) >= before {
				t.Fatalf("arena %d, was %d; %d items as high as that, were %d", c.arena, arena, highest(arena), before)
			}
		}
	}
}

// TestRepairStuck has placements resist that are as low as can be, above the
// lower bound.
func TestRepairStuck(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 5))
	shape := shape{n: 7, time: 6, life: 4, size: 5, aligns: []int64{1, 2, 3}}
	for seen := 0; seen < 20; {
		buffers := shape.random(rng)
		comps := mustProblem(t, buffers).components()
		if len(comps) != 1 {
			continue
		}
		c := &contender{p: comps[0], lower: comps[0].lower}
		if c.offer(firstFit(c.p)); c.arena == c.lower || c.arena > optimum(buffers) {
			continue
		}
		seen++
		arena, offsets := c.arena, slices.Clone(c.offsets)
		nodes, better := c.repair(t.Context(), 0, math.MaxInt64, &Options{})
		if better || nodes == 0 || !c.stuck || c.arena != arena || !slices.Equal(c.offsets, offsets) {
			t.Errorf("better %v after %d nodes, stuck %v, arena %d, was %d", better, nodes, c.stuck, c.arena, arena)
		}
	}
}

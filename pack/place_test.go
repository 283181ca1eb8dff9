package pack

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-go/berth/internal/race"
)

var everyStrategy = []Strategy{FirstFit, Greedy, Exact, Auto}

// rounds is how often to repeat something that n times would be good for.
func rounds(n int) int {
	if race.Enabled {
		return (n + 7) / 8
	}
	return n
}

// mustPlace places buffers, and has the independent checker look at the result.
func mustPlace(t *testing.T, buffers []Buffer, opt *Options) *Placement {
	t.Helper()
	pl, err := Place(context.Background(), buffers, opt)
	if err != nil {
		t.Fatalf("%v\n%+v", err, buffers)
	}
	checkPlacement(t, buffers, pl)
	return pl
}

func checkPlacement(t *testing.T, buffers []Buffer, pl *Placement) {
	t.Helper()
	if err := Check(buffers, pl.Offsets, 0); err != nil {
		t.Fatalf("%v\n%+v\n%+v", err, buffers, pl)
	}
	var arena int64
	for i, b := range buffers {
		arena = max(arena, pl.Offsets[i]+b.Size)
	}
	if pl.Arena != arena {
		t.Fatalf("arena %d, offsets reach %d", pl.Arena, arena)
	}
	if pl.LowerBound > pl.Arena || pl.Optimal != (pl.LowerBound == pl.Arena) {
		t.Fatalf("arena %d, lower bound %d, optimal %v", pl.Arena, pl.LowerBound, pl.Optimal)
	}
}

// TestOptimum holds every strategy against all placements there are.
func TestOptimum(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(7, uint64(len(name))))
			for range rounds(300) {
				buffers := shape.random(rng)
				want := optimum(buffers)
				if lower := LowerBound(buffers); lower > want {
					t.Fatalf("lower bound %d, optimum %d\n%+v", lower, want, buffers)
				}
				for _, strategy := range everyStrategy {
					pl := mustPlace(t, buffers, &Options{Strategy: strategy, Budget: 20_000})
					if pl.Arena < want || pl.LowerBound > want {
						t.Fatalf("%s: arena %d, lower bound %d, optimum %d\n%+v", strategy, pl.Arena, pl.LowerBound, want, buffers)
					}
					// Gaps with unequal alignments are searched but not proven.
					if strategy == Exact && (pl.Arena != want || name != "everything" && !pl.Optimal) {
						t.Fatalf("exact: arena %d, optimal %v, optimum %d\n%+v", pl.Arena, pl.Optimal, want, buffers)
					}
				}
				testCapacities(t, buffers, want, name != "everything")
			}
		})
	}
}

// TestProofs holds the exact search against all placements where it has to give
// up many states before it has a proof: one byte below the optimum.
func TestProofs(t *testing.T) {
	for name, shape := range map[string]shape{
		"mixed": {n: 7, time: 6, life: 4, size: 5, aligns: []int64{1, 2, 3}},
		"parts": {n: 7, time: 6, life: 5, size: 4, parts: true},
		"fixed": {n: 8, time: 6, life: 4, size: 5, fixed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(71, uint64(len(name))))
			above := 0
			for range rounds(1000) {
				buffers := shape.random(rng)
				pl := mustPlace(t, buffers, &Options{Strategy: Exact, Budget: 50_000})
				if pl.Arena == LowerBound(buffers) {
					continue // trivially optimal
				}
				above++
				if want := optimum(buffers); pl.Arena != want || !pl.Optimal {
					t.Fatalf("arena %d, optimal %v, optimum %d\n%+v", pl.Arena, pl.Optimal, want, buffers)
				}
			}
			if above == 0 {
				t.Error("no problem has an optimum above the lower bound")
			}
		})
	}
}

// testCapacities asks for the optimum, and for one byte less.
func testCapacities(t *testing.T, buffers []Buffer, optimum int64, provable bool) {
	t.Helper()
	if optimum > 0 {
		pl := mustPlace(t, buffers, &Options{Capacity: optimum, Budget: 20_000})
		if pl.Arena > optimum {
			t.Fatalf("arena %d for a capacity of %d", pl.Arena, optimum)
		}
	}
	if optimum > 1 {
		pl, err := Place(context.Background(), buffers, &Options{Capacity: optimum - 1, Budget: 20_000})
		var ce *CapacityError
		if !errors.As(err, &ce) {
			t.Fatalf("capacity %d below the optimum: %v\n%+v", optimum-1, err, buffers)
		}
		if provable && !ce.Proven {
			t.Fatalf("capacity %d below the optimum: not proven\n%+v", optimum-1, buffers)
		}
		if ce.Capacity != optimum-1 || ce.Required != pl.Arena || ce.LowerBound != pl.LowerBound {
			t.Fatalf("%+v beside %+v", ce, pl)
		}
		checkPlacement(t, buffers, pl)
	}
}

// larger are problems on which there is something to search.
var larger = map[string]shape{
	"plain":      {n: 60, time: 40, life: 20, size: 50},
	"long":       {n: 40, time: 10, life: 10, size: 1000},
	"aligned":    {n: 60, time: 40, life: 20, size: 100, aligns: []int64{16}},
	"mixed":      {n: 60, time: 40, life: 20, size: 100, aligns: []int64{1, 8, 24, 64}},
	"parts":      {n: 50, time: 30, life: 15, size: 60, parts: true},
	"everything": {n: 50, time: 30, life: 15, size: 60, aligns: []int64{1, 4}, parts: true, fixed: true},
}

// TestOrderAndWorkers expects one answer for one problem and budget, whatever
// the order of the buffers and the number of workers.
func TestOrderAndWorkers(t *testing.T) {
	for name, shape := range larger {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(11, uint64(len(name))))
			for range 3 {
				buffers := shape.random(rng)
				for _, strategy := range everyStrategy {
					want := mustPlace(t, buffers, &Options{Strategy: strategy, Budget: 3000})
					for _, workers := range []int{1, 2, 4} {
						mixed, from := shuffled(rng, buffers)
						got := mustPlace(t, mixed, &Options{Strategy: strategy, Budget: 3000, Workers: workers})
						back := make([]int64, len(from))
						for i, k := range from {
							back[k] = got.Offsets[i]
						}
						got.Offsets = back
						if d := cmp.Diff(want, got); d != "" {
							t.Fatalf("%s with %d workers on shuffled buffers:\n%s", strategy, workers, d)
						}
					}
				}
			}
		})
	}
}

// TestWorkersCapacity does the same where searches race for one capacity.
func TestWorkersCapacity(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 1))
	for range 10 {
		buffers := larger["plain"].random(rng)
		capacity := LowerBound(buffers)
		want, err := Place(context.Background(), buffers, &Options{Capacity: capacity, Budget: 20_000})
		if err != nil && !errors.As(err, new(*CapacityError)) {
			t.Fatal(err)
		}
		for _, workers := range []int{2, 3, 4, 9} {
			got, _ := Place(context.Background(), buffers, &Options{Capacity: capacity, Budget: 20_000, Workers: workers})
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("%d workers:\n%s", workers, d)
			}
		}
	}
}

// TestNeverWorse compares strategies that contain each other.
func TestNeverWorse(t *testing.T) {
	for name, shape := range larger {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(17, uint64(len(name))))
			for range rounds(8) {
				buffers := shape.random(rng)
				first := mustPlace(t, buffers, &Options{Strategy: FirstFit})
				greedy := mustPlace(t, buffers, &Options{Strategy: Greedy})
				auto := mustPlace(t, buffers, &Options{Budget: 2000})
				if greedy.Arena > first.Arena || auto.Arena > greedy.Arena {
					t.Fatalf("first fit %d, greedy %d, auto %d", first.Arena, greedy.Arena, auto.Arena)
				}
			}
		})
	}
}

// TestFirstFitRule compares first fit with its rule, tried offset by offset.
func TestFirstFitRule(t *testing.T) {
	for name, shape := range shapes {
		rng := rand.New(rand.NewPCG(19, uint64(len(name))))
		shape.n = 12
		for range 300 {
			buffers := shape.random(rng)
			pl := mustPlace(t, buffers, &Options{Strategy: FirstFit})
			order := make([]int, 0, len(buffers))
			for i := range buffers {
				order = append(order, i)
			}
			slices.SortStableFunc(order, func(a, b int) int {
				if d := buffers[a].Start - buffers[b].Start; d != 0 {
					return int(d)
				}
				return int(buffers[b].Size - buffers[a].Size) // then by ID, which is the index
			})
			offsets := make([]int64, len(buffers))
			var placed []int
			for i, b := range buffers {
				if b.Fixed {
					offsets[i] = b.Offset
					placed = append(placed, i)
				}
			}
			for _, i := range order {
				b := &buffers[i]
				if b.Fixed {
					continue
				}
				for slices.ContainsFunc(placed, func(j int) bool { return collide(&buffers[j], offsets[j], b, offsets[i]) }) {
					offsets[i] += max(b.Align, 1)
				}
				placed = append(placed, i)
			}
			if d := cmp.Diff(offsets, pl.Offsets); d != "" {
				t.Fatalf("%s: rule (-) and strategy (+) differ:\n%s\n%+v", name, d, buffers)
			}
		}
	}
}

func TestCancelled(t *testing.T) {
	buffers := larger["long"].random(rand.New(rand.NewPCG(23, 1)))
	first := mustPlace(t, buffers, &Options{Strategy: FirstFit})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, strategy := range everyStrategy {
		pl, err := Place(ctx, buffers, &Options{Strategy: strategy})
		if err != nil {
			t.Fatal(err)
		}
		checkPlacement(t, buffers, pl)
		if pl.Arena > first.Arena {
			t.Errorf("%s, cancelled: arena %d, first fit %d", strategy, pl.Arena, first.Arena)
		}
	}
}

// TestCancelledMidway ends the search from within its own progress reports.
func TestCancelledMidway(t *testing.T) {
	buffers := larger["long"].random(rand.New(rand.NewPCG(23, 2)))
	ctx, cancel := context.WithCancel(context.Background())
	var seen []Progress
	pl, err := Place(ctx, buffers, &Options{Workers: 2, Budget: math.MaxInt64, Progress: func(p Progress) {
		if seen = append(seen, p); p.Nodes > 0 {
			cancel()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	checkPlacement(t, buffers, pl)
	for i := 1; i < len(seen); i++ {
		if seen[i].Arena > seen[i-1].Arena || seen[i].LowerBound < seen[i-1].LowerBound || seen[i].Nodes < seen[i-1].Nodes {
			t.Errorf("progress went back: %+v after %+v", seen[i], seen[i-1])
		}
	}
	if last := seen[len(seen)-1]; last.Arena < pl.Arena {
		t.Errorf("progress reported arena %d, the placement has %d", last.Arena, pl.Arena)
	}
}

func TestBudget(t *testing.T) {
	buffers := larger["long"].random(rand.New(rand.NewPCG(29, 1)))
	for _, budget := range []int64{1, 10, 100, 1000} {
		pl := mustPlace(t, buffers, &Options{Strategy: Exact, Budget: budget})
		if pl.Nodes > budget+2*racers {
			t.Errorf("%d nodes with a budget of %d", pl.Nodes, budget)
		}
	}
}

func TestSmallCases(t *testing.T) {
	for _, c := range []struct {
		name    string
		buffers []Buffer
		arena   int64
	}{
		{"nothing", nil, 0},
		{"one", []Buffer{{Start: 0, End: 1, Size: 7}}, 7},
		{"empty buffer", []Buffer{{Start: 0, End: 1}}, 0},
		{"fixed empty buffer", []Buffer{{Start: 0, End: 1, Fixed: true, Offset: 9}}, 9},
		{"empty buffer inside another", []Buffer{{Start: 0, End: 1, Fixed: true, Offset: 3}, {Start: 0, End: 1, Size: 8}}, 8},
		{"one after the other", []Buffer{{Start: 0, End: 5, Size: 7}, {Start: 5, End: 6, Size: 9}}, 9},
		{"together", []Buffer{{Start: 0, End: 6, Size: 7}, {Start: 5, End: 6, Size: 9}}, 16},
		{"below a fixed one", []Buffer{{Start: 0, End: 1, Size: 4, Fixed: true, Offset: 4}, {Start: 0, End: 1, Size: 4}}, 8},
		{"no room below a fixed one", []Buffer{{Start: 0, End: 1, Size: 4, Fixed: true, Offset: 4}, {Start: 0, End: 1, Size: 5}}, 13},
		{"aligned", []Buffer{{Start: 0, End: 1, Size: 5, Align: 8}, {Start: 0, End: 1, Size: 6, Align: 8}}, 13},
		{"times at the ends of the range", []Buffer{{Start: math.MinInt64, End: math.MaxInt64, Size: 1}, {Start: 0, End: math.MaxInt64, Size: 2}}, 3},
		{"a part that occupies nothing", []Buffer{{Start: 0, End: 9, Size: 4, Parts: []Part{{2, 3, 1, 1}}}, {Start: 0, End: 9, Size: 5}}, 5},
		{"in the gap between parts", []Buffer{
			{Start: 0, End: 9, Size: 4, Parts: []Part{{0, 3, 0, 4}, {6, 9, 0, 4}}},
			{Start: 3, End: 6, Size: 4},
		}, 4},
		{"stairs fold into stairs", []Buffer{
			{Start: 0, End: 2, Size: 2, Parts: []Part{{0, 1, 0, 1}, {1, 2, 0, 2}}},
			{Start: 0, End: 2, Size: 2, Parts: []Part{{0, 1, 0, 2}, {1, 2, 1, 2}}},
		}, 3},
		{"parts that overlap", []Buffer{
			{Start: 0, End: 4, Size: 4, Parts: []Part{{0, 3, 0, 3}, {1, 4, 1, 4}, {0, 4, 2, 3}}},
			{Start: 0, End: 1, Size: 1},
		}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, strategy := range []Strategy{"", Greedy, Exact, Auto} {
				if pl := mustPlace(t, c.buffers, &Options{Strategy: strategy}); pl.Arena != c.arena {
					t.Errorf("%q: arena %d, want %d", strategy, pl.Arena, c.arena)
				}
			}
		})
	}
}

func TestCapacityError(t *testing.T) {
	buffers := []Buffer{{ID: "a", Start: 0, End: 2, Size: 10}, {ID: "b", Start: 1, End: 3, Size: 10}}
	pl, err := Place(context.Background(), buffers, &Options{Capacity: 19})
	want := &CapacityError{Required: 20, Capacity: 19, LowerBound: 20, Proven: true}
	if d := cmp.Diff(error(want), err); d != "" {
		t.Error(d)
	}
	if pl == nil || pl.Arena != 20 {
		t.Errorf("placement beside the error: %+v", pl)
	}
	for _, s := range []string{"19", "20", "proven"} {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%q does not mention %s", err, s)
		}
	}
	open := (&CapacityError{Required: 3, Capacity: 2, LowerBound: 1}).Error()
	if strings.Contains(open, "proven") {
		t.Errorf("%q claims a proof", open)
	}
}

func TestBadInput(t *testing.T) {
	half := int64(math.MaxInt64/2 + 1)
	ok := Buffer{ID: "ok", Start: 0, End: 1, Size: 1}
	for _, c := range []struct {
		name    string
		buffers []Buffer
		text    string
	}{
		{"empty lifetime", []Buffer{ok, {ID: "x", Start: 3, End: 3, Size: 1}}, `"x" (#1): lifetime [3, 3) is empty`},
		{"negative lifetime", []Buffer{{Start: 3, End: 2, Size: 1}}, "lifetime [3, 2) is empty"},
		{"negative size", []Buffer{{End: 1, Size: -1}}, "size -1 is negative"},
		{"negative alignment", []Buffer{{End: 1, Align: -8}}, "alignment -8 is negative"},
		{"negative fixed offset", []Buffer{{End: 1, Fixed: true, Offset: -8}}, "fixed offset -8 is negative"},
		{"misaligned fixed offset", []Buffer{{End: 1, Fixed: true, Offset: 12, Align: 8}}, "fixed offset 12 is not a multiple of the alignment 8"},
		{"fixed on fixed", []Buffer{
			{ID: "a", End: 2, Size: 8, Fixed: true, Offset: 0}, {ID: "b", Start: 1, End: 2, Size: 8, Fixed: true, Offset: 4},
		}, "fixed offsets contradict each other"},
		{"part outside in time", []Buffer{{Start: 1, End: 3, Size: 4, Parts: []Part{{0, 2, 0, 4}}}}, "part 0: lifetime [0, 2) is not within"},
		{"empty part", []Buffer{{Start: 1, End: 3, Size: 4, Parts: []Part{{2, 2, 0, 4}}}}, "part 0: lifetime [2, 2) is empty"},
		{"part outside in bytes", []Buffer{{End: 3, Size: 4, Parts: []Part{{0, 1, 0, 4}, {1, 2, 2, 5}}}}, "part 1: bytes [2, 5)"},
		{"part upside down", []Buffer{{End: 3, Size: 4, Parts: []Part{{0, 1, 3, 2}}}}, "part 0: bytes [3, 2)"},
		{"part below", []Buffer{{End: 3, Size: 4, Parts: []Part{{0, 1, -1, 2}}}}, "part 0: bytes [-1, 2)"},
		{"sum of sizes", []Buffer{{End: 1, Size: half}, {End: 1, Size: half}}, "overflows"},
		{"sum of sizes and alignments", []Buffer{{End: 1, Size: math.MaxInt64, Align: 2}}, "overflows"},
		{"fixed end", []Buffer{{End: 1, Size: 10, Fixed: true, Offset: math.MaxInt64 - 5}}, "overflows"},
		{"fixed end and a size", []Buffer{{End: 1, Size: 1, Fixed: true, Offset: math.MaxInt64 - 5}, {End: 1, Size: 9}}, "overflows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, strategy := range everyStrategy {
				pl, err := Place(context.Background(), c.buffers, &Options{Strategy: strategy})
				if err == nil || !strings.Contains(err.Error(), c.text) || pl != nil {
					t.Errorf("%s: %v, %v; want an error with %q", strategy, pl, err, c.text)
				}
				var be *BufferError
				if !errors.As(err, &be) || be.Index != len(c.buffers)-1 && be.Index != 0 {
					t.Errorf("%s: %#v names no buffer", strategy, err)
				}
			}
		})
	}
}

// TestLowerBoundOfBadInput leaves out what Place would refuse.
func TestLowerBoundOfBadInput(t *testing.T) {
	for _, c := range []struct {
		buffers []Buffer
		want    int64
	}{
		{[]Buffer{{End: 1, Size: 3}, {End: 1, Size: -5}, {Start: 2, End: 1, Size: 9}}, 3},
		{[]Buffer{{End: 1, Size: 8, Fixed: true}, {End: 1, Size: 8, Fixed: true, Offset: 4}}, 16},
		{[]Buffer{{End: 1, Size: math.MaxInt64}, {End: 1, Size: 1}}, math.MaxInt64},
	} {
		if got := LowerBound(c.buffers); got != c.want {
			t.Errorf("%d, want %d: %+v", got, c.want, c.buffers)
		}
	}
}

func TestLargeNumbers(t *testing.T) {
	big := int64(math.MaxInt64 / 4)
	buffers := []Buffer{
		{ID: "a", Start: 0, End: 2, Size: big, Align: 1 << 40},
		{ID: "b", Start: 1, End: 3, Size: big},
		{ID: "c", Start: 2, End: 4, Size: big + 3},
	}
	for _, strategy := range everyStrategy {
		if pl := mustPlace(t, buffers, &Options{Strategy: strategy}); pl.Arena < 2*big {
			t.Errorf("%s: arena %d", strategy, pl.Arena)
		}
	}
}

func TestBadOptions(t *testing.T) {
	for _, o := range []Options{{Strategy: "best"}, {Capacity: -1}, {Budget: -1}, {Workers: -1}} {
		if _, err := Place(context.Background(), nil, &o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

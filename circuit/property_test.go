package circuit

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/berth-go/berth/internal/race"
	"github.com/berth-go/berth/pack"
)

var quick = &Options{Budget: 100}

// A layout is honoured exactly when brute force over single bytes finds that it
// can be. Then the checker accepts the plan, and a run of it reads what was
// written.
func TestRandomLayoutsAgainstBruteForce(t *testing.T) {
	race.SkipSequential(t)
	kinds := make(map[Kind]int)
	planned, rowsOfParts, everySecond := 0, 0, 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := randomSample(r, 4+r.IntN(12), 1+r.IntN(7))
		want := feasible(s)
		got, err := PlanBuffersWith(context.Background(), s.c, s.p, s.l, s.rows, &Options{Strategy: pack.FirstFit})
		if err != nil {
			var pe *PlanError
			if !errors.As(err, &pe) {
				t.Fatalf("seed %d: %v is no PlanError", seed, err)
			}
			kinds[pe.Kind]++
			if want == nil {
				t.Errorf("seed %d: possible, but: %v\n%+v", seed, err, *s.l)
			}
			continue
		}
		if want != nil {
			t.Errorf("seed %d: planned, but: %v\n%+v", seed, want, *s.l)
			continue
		}
		planned++
		if err := Check(s.c, s.p, s.l, got); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		a, b := nestedParts(s, got)
		rowsOfParts += a
		everySecond += b
		if seed%5 == 0 {
			auto, err := PlanBuffersWith(context.Background(), s.c, s.p, s.l, s.rows, quick)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if err := Check(s.c, s.p, s.l, auto); err != nil {
				t.Errorf("seed %d: auto: %v", seed, err)
			}
			if auto.Arena > got.Arena || auto.LowerBound > got.Arena {
				t.Errorf("seed %d: auto takes %d bytes, lower bound %d; first fit takes %d", seed, auto.Arena, auto.LowerBound, got.Arena)
			}
			got = auto
		}
		for _, rows := range []int64{1 + r.Int64N(s.rows), s.rows} {
			v := 1 + r.Int64N(2)
			if err := run(s, got, rows, v); err != nil {
				t.Errorf("seed %d: at %d of %d rows and v = %d: %v", seed, rows, s.rows, v, err)
			}
		}
	}
	t.Logf("%d planned, with %d packs of rows that are apart, and %d of every second such row; impossible: %v", planned, rowsOfParts, everySecond, kinds)
	if rowsOfParts < 10 || everySecond < 10 {
		t.Error("the samples hold too few parts of parts")
	}
	for _, k := range []Kind{ErrAliasInPack, ErrAliasRows, ErrAliasSize, ErrContradiction, ErrExternalPacked, ErrInterleaved,
		ErrLiveOverlap, ErrMisaligned, ErrOverwritten, ErrOverSize, ErrPackedTwice, ErrRowCounts} {
		if kinds[k] == 0 {
			t.Errorf("no sample is impossible because %q: the samples are too tame", string(k))
		}
	}
}

// nestedParts counts the packs over edges whose rows are apart, and the row packs
// of other rows over such edges.
func nestedParts(s sample, b *BufferPlan) (packs, rowPacks int) {
	a, _ := analyze(s.c, s.p)
	size, _ := a.extents(s.rows)
	stride := make(map[EdgeID]int64)
	for _, slot := range b.Slots {
		stride[slot.Edge] = slot.RowStride
	}
	isApart := func(e *EdgeID) bool { return e != nil && size[*e].bytes > 0 && stride[*e] > size[*e].width }
	for _, p := range s.l.Packs {
		if isApart(p.Over) && len(p.Members) > 1 {
			packs++
		}
	}
	for _, r := range s.l.RowPacks {
		if isApart(r.Over) && size[r.Members[0]].rows < size[*r.Over].rows {
			rowPacks++
		}
	}
	return packs, rowPacks
}

// Without constraints, first fit is the seed rule to the byte, and no other
// strategy makes a larger arena.
func TestUnconstrained(t *testing.T) {
	smaller := 0
	for seed := range uint64(250) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := randomSample(r, 5+r.IntN(60), 0)
		s.rows = 1 + r.Int64N(50)
		s.l = nil
		want := firstFit(t, s)
		var arena int64
		for _, strategy := range []pack.Strategy{pack.FirstFit, pack.Greedy, pack.Auto, ""} {
			plan, err := PlanBuffersWith(context.Background(), s.c, s.p, nil, s.rows, &Options{Strategy: strategy, Budget: 1000})
			if err != nil {
				t.Fatalf("seed %d: %s: %v", seed, strategy, err)
			}
			if err := Check(s.c, s.p, nil, plan); err != nil {
				t.Errorf("seed %d: %s: %v", seed, strategy, err)
			}
			switch {
			case strategy == pack.FirstFit:
				arena = plan.Arena
				for i, slot := range plan.Slots {
					if slot.Offset != want[i] {
						t.Errorf("seed %d: edge %d is at %d, first fit puts it at %d", seed, slot.Edge, slot.Offset, want[i])
					}
				}
			case plan.Arena > arena:
				t.Errorf("seed %d: %s takes %d bytes, first fit %d", seed, strategy, plan.Arena, arena)
			case plan.Arena < arena:
				smaller++
			}
			if plan.Optimal && plan.Arena < plan.LowerBound || plan.Arena > plan.Materialized {
				t.Errorf("seed %d: %s: arena %d, lower bound %d, materialised %d", seed, strategy, plan.Arena, plan.LowerBound, plan.Materialized)
			}
		}
	}
	t.Logf("%d plans are smaller than first fit", smaller)
}

// firstFit is the rule spelled out: in order of start, then larger size, then
// edge, at the lowest aligned offset that is free. The offsets are by ascending
// edge.
func firstFit(t *testing.T, s sample) []int64 {
	a, err := analyze(s.c, s.p)
	if err != nil {
		t.Fatal(err)
	}
	size, err := a.extents(s.rows)
	if err != nil {
		t.Fatal(err)
	}
	ranges, _ := LiveRanges(s.c, s.p)
	order := slices.Clone(ranges)
	slices.SortFunc(order, func(x, y LiveRange) int {
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(size[y.Edge].bytes, size[x.Edge].bytes), cmp.Compare(x.Edge, y.Edge))
	})
	at := make(map[EdgeID]int64)
	for i, x := range order {
		offset := int64(0)
		for again := true; again; {
			again = false
			for _, y := range order[:i] {
				live := x.Start <= y.End && y.Start <= x.End
				if live && size[y.Edge].bytes > 0 && size[x.Edge].bytes > 0 &&
					offset < at[y.Edge]+size[y.Edge].bytes && at[y.Edge] < offset+size[x.Edge].bytes {
					offset, _ = alignUp(at[y.Edge] + size[y.Edge].bytes)
					again = true
				}
			}
		}
		at[x.Edge] = offset
	}
	var offsets []int64
	for _, r := range ranges {
		offsets = append(offsets, at[r.Edge])
	}
	return offsets
}

// The order in which edges are listed, constraints stated and aliases spelled
// makes no difference, nor does planning twice.
func TestSamePlanInAnyOrder(t *testing.T) {
	race.SkipSequential(t)
	planned := 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := randomSample(r, 4+r.IntN(20), r.IntN(4))
		want, err := PlanBuffersWith(context.Background(), s.c, s.p, s.l, s.rows, quick)
		if err != nil {
			continue
		}
		planned++
		p, l := *s.p, *s.l
		p.Stored = shuffled(r, p.Stored)
		l.External = shuffled(r, l.External)
		l.Aliases = shuffled(r, l.Aliases)
		l.Packs = shuffled(r, l.Packs)
		l.RowPacks = shuffled(r, l.RowPacks)
		for i, a := range l.Aliases {
			if r.IntN(2) == 0 {
				l.Aliases[i] = Alias{a.Of, a.Edge, a.Same}
			}
		}
		got, err := PlanBuffersWith(context.Background(), s.c, &p, &l, s.rows, quick)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d: error %v; got\n%v\nwant\n%v", seed, err, got, want)
		}
	}
	if planned < 120 {
		t.Errorf("only %d samples can be planned", planned)
	}
}

func shuffled[T any](r *rand.Rand, list []T) []T {
	list = slices.Clone(list)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

package pack

import (
	"fmt"
	"testing"

	"github.com/berth-go/berth/internal/race"
)

// TestChallenging places each published instance in the capacity it was
// published with, which for most of them is the lower bound.
func TestChallenging(t *testing.T) {
	for _, in := range sharedInstances(t, "minimalloc/challenging/*.csv") {
		t.Run(in.name, func(t *testing.T) {
			t.Parallel()
			if race.Enabled && len(in.buffers) > 320 {
				t.Skip("too slow with the race detector")
			}
			pl := mustPlace(t, in.buffers, &Options{Capacity: 1 << 20, Workers: 2})
			if pl.Arena > 1<<20 {
				t.Errorf("arena %d", pl.Arena)
			}
			t.Logf("%d nodes", pl.Nodes)
		})
	}
}

// TestChallengingArena asks for as small an arena as a small budget yields.
func TestChallengingArena(t *testing.T) {
	if race.Enabled {
		t.Skip("too slow with the race detector, which other searches keep busy")
	}
	for _, in := range sharedInstances(t, "minimalloc/challenging/*.csv") {
		t.Run(in.name, func(t *testing.T) {
			t.Parallel()
			pl := mustPlace(t, in.buffers, &Options{Strategy: Greedy})
			if ratio := float64(pl.Arena) / float64(pl.LowerBound); ratio > 1.20 {
				t.Errorf("greedy: %.3f times the lower bound", ratio)
			}
			pl = mustPlace(t, in.buffers, &Options{Budget: 20_000})
			if ratio := float64(pl.Arena) / float64(pl.LowerBound); ratio > 1.15 {
				t.Errorf("auto: %.3f times the lower bound", ratio)
			}
		})
	}
}

// TestLargeInstances holds one-pass placements of compilers' traces to within a
// hundredth of the lower bound. They are too large for the quadratic checker.
func TestLargeInstances(t *testing.T) {
	for _, in := range sharedInstances(t, "large/*.csv") {
		t.Run(in.name, func(t *testing.T) {
			t.Parallel()
			pl, err := Place(t.Context(), in.buffers, &Options{Strategy: Greedy})
			if err != nil {
				t.Fatal(err)
			}
			if ratio := float64(pl.Arena) / float64(pl.LowerBound); ratio > 1.01 {
				t.Errorf("%.4f times the lower bound", ratio)
			}
		})
	}
}

// TestThin places long chains of neighbours: they fall into no components, and
// in each place there is next to nothing to decide, but what is decided in one
// has consequences far away.
func TestThin(t *testing.T) {
	if race.Enabled {
		t.Skip("too slow with the race detector")
	}
	t.Parallel()
	buffers := make([]Buffer, 20_000)
	for i := range buffers {
		buffers[i] = Buffer{ID: fmt.Sprint(i), Start: int64(i), End: int64(i + 2), Size: int64(1000 + i%7*100), Align: 64}
	}
	pl, err := Place(t.Context(), buffers, &Options{Budget: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	if ratio := float64(pl.Arena) / float64(pl.LowerBound); ratio > 1.05 {
		t.Errorf("%.4f times the lower bound", ratio)
	}
}

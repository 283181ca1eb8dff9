package circuit

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/pack"
)

// Joined parts cover what the parts did, no more and no less, and are no more.
func TestJoinParts(t *testing.T) {
	type cell struct{ time, at int64 }
	cover := func(parts []pack.Part) map[cell]bool {
		cells := make(map[cell]bool)
		for _, p := range parts {
			for time := p.Start; time < p.End; time++ {
				for at := p.Lower; at < p.Upper; at++ {
					cells[cell{time, at}] = true
				}
			}
		}
		return cells
	}
	r := rand.New(rand.NewPCG(8, 8))
	fewer := 0
	for range 5000 {
		var parts []pack.Part
		for range 1 + r.IntN(5) {
			p := pack.Part{Start: r.Int64N(4), Lower: r.Int64N(4)}
			p.End, p.Upper = p.Start+1+r.Int64N(3), p.Lower+r.Int64N(3)
			parts = append(parts, p)
		}
		want := cover(parts)
		joined := joinParts(slices.Clone(parts))
		got := cover(joined)
		if len(joined) > len(parts) || len(got) != len(want) {
			t.Fatalf("%v joined to %v", parts, joined)
		}
		for c := range want {
			if !got[c] {
				t.Fatalf("%v joined to %v, without %v", parts, joined, c)
			}
		}
		if len(joined) < len(parts) {
			fewer++
		}
	}
	if fewer < 250 {
		t.Errorf("only %d of 5000 lists became shorter", fewer)
	}
}

// A block asks for no bytes while its members do not need them: the arena shows
// it, because what a pack leaves free is used.
func TestDeadMembersAreReused(t *testing.T) {
	p := mustRead(t, `
		rows 1
		edge a n x 1024 uint8
		edge b n x 1024 uint8
		edge c n x 1024 uint8
		edge d n x 1024 uint8
		node n0 op : -> a
		node n1 op : a -> b
		node n2 op : b -> c
		node n3 op : b c -> d
		plan
		group "" : n0
		group "" : n1
		group "" : n2
		group "" : n3
		store a
		store b
		store c
		store d
		pack a b`)
	plan, err := p.PlanBuffers(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(p.Circuit, p.Plan, p.Layout, plan); err != nil {
		t.Error(err)
	}
	if plan.Arena != 3*1024 || plan.LowerBound != 3*1024 {
		t.Errorf("arena %d, lower bound %d: the place of a is not used by c or d", plan.Arena, plan.LowerBound)
	}
}

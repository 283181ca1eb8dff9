package exec_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/exec"
	"github.com/berth-go/berth/internal/graphtest"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/plan"
)

// TestRandomGraphs compares planned runs, with freed and fresh memory
// poisoned, with the naive evaluation, bit for bit, and has every plan proven.
func TestRandomGraphs(t *testing.T) {
	graphs := 3000
	if testing.Short() {
		graphs = 300
	}
	kinds := make(map[string]int)
	for seed := range uint64(graphs) {
		roots := graphtest.Random(t, seed, graphtest.Options{}).Roots
		fused, err := elementwise.Fuse(roots)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		// Fused last: by then caches are filled, by the run before.
		for pass, roots := range [][]graph.Value{roots, fused} {
			want := graphtest.EvalAll(t, graphtest.Graph{Roots: roots})
			p, err := plan.New(roots...)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if err := plan.Check(p, roots...); err != nil {
				t.Fatalf("seed %d pass %d: %v\n%v", seed, pass, err, p)
			}
			for _, s := range p.Steps {
				for _, o := range s.Outputs {
					kinds[fmt.Sprint(o.Kind)]++
				}
			}
			results, err := exec.Run(context.Background(), p, exec.Options{Workers: 1 + int(seed%3), Poison: true})
			if err != nil {
				t.Fatalf("seed %d pass %d: %v\n%v", seed, pass, err, p)
			}
			for i, r := range results {
				if got := graphtest.Flatten(r.Type, r.Layout, r.Data); !bytes.Equal(got, want[i]) {
					t.Fatalf("seed %d pass %d, result %d of type %v:\ngot  %v\nwant %v\n%v", seed, pass, i, r.Type, got, want[i], p)
				}
			}
		}
	}
	t.Logf("storage of %d graphs: %v", graphs, kinds)
	for _, k := range []plan.Kind{plan.InPlace, plan.ReferenceSlot, plan.ReferenceEternal, plan.UseSlot, plan.Allocate} {
		if kinds[fmt.Sprint(k)] == 0 {
			t.Errorf("no output was ever %v", k)
		}
	}
}

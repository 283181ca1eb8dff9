package exec_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/exec"
	"github.com/berth-go/berth/internal/graphtest"
	"github.com/berth-go/berth/internal/rewrite"
	"github.com/berth-go/berth/plan"
)

// TestRandomGraphs compares planned runs, with freed and fresh memory
// poisoned, with the naive evaluation, bit for bit, and has every plan proven:
// with few rewrites, also in another order, and with all of them.
func TestRandomGraphs(t *testing.T) {
	kinds := make(map[string]int)
	graphs := 0
	for seed := range graphtest.Seeds(t, 2000) {
		graphs++
		roots := graphtest.Random(t, seed, graphtest.Options{}).Roots
		want := must(graphtest.Eval(graphtest.Graph{Roots: roots}))
		few := must(rewrite.Run(t.Context(), roots, rewrite.Options{Without: rewrite.Rules()}))
		all := must(rewrite.Run(t.Context(), roots, rewrite.Options{}))
		rng := rand.New(rand.NewPCG(seed, 2))
		// From the second pass on caches are filled, by the one before.
		for _, pass := range []struct {
			name  string
			roots []graph.Value
			order []*graph.Node
		}{{"in another order", few, anyOrder(rng, few)}, {"with few rewrites", few, nil}, {"with all rewrites", all, nil}} {
			p, err := plan.InOrder(pass.order, pass.roots...)
			if err != nil {
				t.Fatalf("seed %d %s: %v", seed, pass.name, err)
			}
			if err := plan.Check(p, pass.roots...); err != nil {
				t.Fatalf("seed %d %s: %v\n%v", seed, pass.name, err, p)
			}
			for _, s := range p.Steps {
				for _, o := range s.Outputs {
					kinds[fmt.Sprint(o.Kind)]++
				}
			}
			results, err := exec.Run(context.Background(), p, exec.Options{Workers: 1 + int(seed%3), Poison: true})
			if err != nil {
				t.Fatalf("seed %d %s: %v\n%v", seed, pass.name, err, p)
			}
			compare(t, fmt.Sprint("seed ", seed, " ", pass.name), results, want, p)
		}
		again := graphtest.Random(t, seed, graphtest.Options{}).Roots
		results, err := exec.Compute(context.Background(), again, exec.Options{Workers: 1 + int(seed%3), Poison: true})
		if err != nil {
			t.Fatalf("seed %d at once: %v", seed, err)
		}
		compare(t, fmt.Sprint("seed ", seed, " at once"), results, want, nil)
	}
	t.Logf("storage of %d graphs: %v", graphs, kinds)
	for _, k := range []plan.Kind{plan.InPlace, plan.ReferenceSlot, plan.ReferenceEternal, plan.UseSlot, plan.Allocate} {
		if kinds[fmt.Sprint(k)] == 0 && graphs > 100 {
			t.Errorf("no output was ever %v", k)
		}
	}
}

// compare wants the elements of results.
func compare(t *testing.T, name string, results []exec.Result, want [][]byte, p *plan.Plan) {
	t.Helper()
	for i, r := range results {
		if got := graphtest.Flatten(r.Type, r.Layout, r.Data); !bytes.Equal(got, want[i]) {
			t.Fatalf("%s, result %d of type %v:\ngot  %v\nwant %v\n%v", name, i, r.Type, got, want[i], p)
		}
	}
}

// anyOrder returns the nodes that roots need in some order, each after its
// inputs.
func anyOrder(rng *rand.Rand, roots []graph.Value) []*graph.Node {
	nodes := graph.Nodes(roots...)
	placed := make(map[*graph.Node]bool)
	ready := func(n *graph.Node) bool {
		for i := range n.NumInputs() {
			if in := n.Input(i); !in.IsZero() && !in.Node().IsLeaf() && !placed[in.Node()] {
				return false
			}
		}
		return !placed[n]
	}
	order := []*graph.Node{}
	for {
		var next []*graph.Node
		for _, n := range nodes {
			if !n.IsLeaf() && ready(n) {
				next = append(next, n)
			}
		}
		if len(next) == 0 {
			return order
		}
		n := next[rng.IntN(len(next))]
		placed[n] = true
		order = append(order, n)
	}
}

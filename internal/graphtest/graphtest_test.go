package graphtest

import (
	"testing"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/ops"
)

// TestEveryOpIsDrawn wants a drawing for each op of the list, none beside, and
// nodes of each op in the graphs of a few hundred seeds.
func TestEveryOpIsDrawn(t *testing.T) {
	count := make(map[string]int)
	for seed := range uint64(600) {
		g := Random(t, seed, Options{Inputs: seed%2 == 0})
		for _, n := range graph.Nodes(g.Roots...) {
			count[n.Op().Name()]++
		}
	}
	listed := make(map[string]bool)
	for _, o := range ops.All() {
		name := o.Name()
		if listed[name] = true; draws[name].weight < 1 {
			t.Errorf("%s has no drawing", name)
		} else if count[name] < 10 {
			t.Errorf("%s is in %d places of all graphs", name, count[name])
		}
	}
	for name := range draws {
		if !listed[name] {
			t.Errorf("there is a drawing of %s, which is no op", name)
		}
	}
	t.Logf("nodes of the graphs: %v", count)
}

// TestRandomIsDeterministic wants the same graph of the same seed.
func TestRandomIsDeterministic(t *testing.T) {
	for seed := range uint64(20) {
		opt := Options{Inputs: true}
		first, again := Random(t, seed, opt), Random(t, seed, opt)
		if a, b := graph.Format(first.Roots, op.Format), graph.Format(again.Roots, op.Format); a != b {
			t.Errorf("seed %d gives\n%s\nand\n%s", seed, a, b)
		}
	}
}

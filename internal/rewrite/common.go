package rewrite

import (
	"context"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
)

// common has one node stand for all that do the same with the same values.
//
//	x ─┬─ exp ── f          x ── exp ─┬─ f
//	   └─ exp ── g     ->             └─ g
//
// Two nodes do the same if their ops have the same name and attributes, in all builds.
// Inputs, constants and caches stay what they are.
func common(_ context.Context, r *graph.Rewriter, _ *Options) error {
	first := make(map[graph.Value][]*graph.Node) // the nodes kept, by their first input in the new graph
	return r.Walk(func(n *graph.Node) error {
		if _, cached := n.Op().(graph.Cache); cached || r.IsLeaf(n) || n.NumInputs() == 0 {
			return nil
		}
		ins := r.Inputs(n)
		for _, kept := range first[ins[0]] {
			if !slices.Equal(r.Inputs(kept), ins) || !sameOp(r, kept, n) {
				continue
			}
			for i := range n.NumOutputs() {
				r.Replace(n.Output(i), r.Replacement(kept.Output(i)))
			}
			return nil
		}
		first[ins[0]] = append(first[ins[0]], n)
		return nil
	})
}

// sameOp reports whether two nodes have equal ops, in all builds.
func sameOp(r *graph.Rewriter, a, b *graph.Node) bool {
	return r.InAll(func(at func(graph.Value) graph.Value) bool {
		x, y := at(a.Output(0)).Node().Op(), at(b.Output(0)).Node().Op()
		return x.Name() == y.Name() && op.Format(x) == op.Format(y)
	})
}

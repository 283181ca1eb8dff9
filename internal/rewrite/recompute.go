package rewrite

import (
	"context"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// recomputeLimit bounds the programs that recompute makes. The rest is left to
// fuse, which computes nothing twice.
const recomputeLimit = 16

// recompute has each reader of a chain of cheap elementwise work over one value
// compute the chain itself. Computing a few cheap instructions twice costs less
// than storing their result, which the other readers of it would need.
//
//	x ── mul ─┬─ add ──        x ─┬─ mul+add ──
//	          └─ exp ──   ->      └─ mul+exp ──
func recompute(_ context.Context, r *graph.Rewriter, _ *Options) error {
	return r.Walk(func(n *graph.Node) error {
		m, ok := n.Op().(elementwise.Map)
		if !ok || n.NumInputs() != 1 {
			return nil
		}
		under := r.Inputs(n)[0].Node()
		first, ok := under.Op().(elementwise.Map)
		costly := func(ins elementwise.Instr) bool { return ins.Code.Costly() }
		if !ok || under.NumInputs() != 1 || len(first.Program)+len(m.Program) > recomputeLimit || slices.ContainsFunc(first.Program, costly) {
			return nil
		}
		return put(r, n, n.Label(), elementwise.Map{Program: m.Program.After(first.Program, 1)}, under.Input(0))
	})
}

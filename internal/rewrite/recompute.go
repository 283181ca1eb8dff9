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
//
// What is merged with the op that it reads, by fuse or as an epilogue, costs no pass of its
// own, and is stored.
func recompute(_ context.Context, r *graph.Rewriter, _ *Options) error {
	return r.Walk(func(n *graph.Node) error {
		m, ok := n.Op().(elementwise.Map)
		if !ok || n.NumInputs() != 1 {
			return nil
		}
		under := r.Inputs(n)[0].Node()
		first, ok := under.Op().(elementwise.Map)
		if merges(r, n.Input(0)) {
			return nil
		}
		costly := func(ins elementwise.Instr) bool { return ins.Code.Costly() }
		if !ok || under.NumInputs() != 1 || len(first.Program)+len(m.Program) > recomputeLimit || slices.ContainsFunc(first.Program, costly) {
			return nil
		}
		return put(r, n, n.Label(), elementwise.Map{Program: m.Program.After(first.Program, 1)}, under.Input(0))
	})
}

// merges reports whether v is the end of a chain of elementwise work, each over the one
// before alone, at whose beginning is an op that does it all in one pass.
func merges(r *graph.Rewriter, v graph.Value) bool {
	for at := v; ; {
		n := at.Node()
		if _, ok := n.Op().(elementwise.Map); !ok || n.NumInputs() != 1 {
			return ok
		}
		before := n.Input(0)
		if !r.OnlyUser(before, n) {
			return false
		}
		if finisher, ok := before.Node().Op().(elementwise.Finisher); ok {
			p, _ := finisher.Finish()
			return len(p) == 0 && before.Node().NumOutputs() == 1 && before.Type().DType == v.Type().DType
		}
		at = before
	}
}

package rewrite

import (
	"context"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// epilogue has an op do the elementwise work behind it on each block of its
// result, while that is in cache, so that what lies between is never stored: a
// bias, an activation, a residual.
//
//	x ── conv ── add ── relu ──   ->   x ─┬─ conv+add+relu ──
//	         r ───┘                    r ─┘
//
// The result must have no other reader and be no root, and its type must be that
// of the Map, which is no half type. Of several ops that could, the last one does,
// for what the others compute is there by then.
func epilogue(_ context.Context, r *graph.Rewriter, _ *Options) error {
	number := make(map[*graph.Node]int, len(r.Nodes()))
	for i, n := range r.Nodes() {
		number[n] = i
	}
	return r.Walk(func(n *graph.Node) error {
		m, ok := n.Op().(elementwise.Map)
		if !ok || isHalf(n.Output(0)) || len(m.Program) > elementwise.MaxFinish || n.NumInputs()-1 > elementwise.MaxExtra {
			return nil
		}
		last := -1
		for j := range n.NumInputs() {
			if finishes(r, n, j) && (last < 0 || number[n.Input(j).Node()] > number[n.Input(last).Node()]) {
				last = j
			}
		}
		if last < 0 {
			return nil
		}
		before := n.Input(last).Node()
		finisher := before.Op().(elementwise.Finisher)
		_, own := finisher.Finish()
		inputs := append(r.Inputs(before), make([]graph.Value, own-before.NumInputs())...)
		inputs = append(inputs, slices.Delete(r.Inputs(n), last, last+1)...)
		return put(r, n, before.Label(), finisher.Finished(inputFirst(m.Program, last)), inputs...)
	})
}

// finishes reports whether the op that computes input j of the Map n can do the
// work of n.
func finishes(r *graph.Rewriter, n *graph.Node, j int) bool {
	v := n.Input(j)
	before := v.Node()
	finisher, ok := before.Op().(elementwise.Finisher)
	if !ok || before.NumOutputs() != 1 || !r.OnlyUser(v, n) || v.Type().DType != n.Output(0).Type().DType || !sameShape(r, v, n.Output(0)) {
		return false
	}
	p, _ := finisher.Finish()
	return len(p) == 0
}

// inputFirst returns a program that reads input j of p as its first one, and the
// others in their order after it.
func inputFirst(p elementwise.Program, j int) elementwise.Program {
	return elementwise.Program(nil).Append(p, func(i int) elementwise.Arg {
		switch {
		case i == j:
			i = 0
		case i < j:
			i++
		}
		return elementwise.InputArg(i)
	})
}

package rewrite

import (
	"context"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
)

// leastHalves is how many elements a constant has at least that is read as halves.
const leastHalves = 1 << 10

// halves has an op that can read a constant of halves do so, which takes half the memory
// that it would take in float32, and half as long to read:
//
//	w ── cast{float32} ── matmul ──   ->   w ── matmul ──
//
// The constant may be seen through views.
func halves(_ context.Context, r *graph.Rewriter, _ *Options) error {
	return r.Walk(func(n *graph.Node) error {
		reader, ok := n.Op().(op.HalfReader)
		if !ok {
			return nil
		}
		ins, changed := r.Inputs(n), false
		for i := range ins {
			v := n.Input(i)
			if reader.ReadsHalves(i) && !v.IsZero() && widens(v.Node()) && isWeight(v.Node().Input(0)) {
				ins[i], changed = r.Replacement(v.Node().Input(0)), true
			}
		}
		if !changed {
			return nil
		}
		return put(r, n, n.Label(), n.Op(), ins...)
	})
}

// isWeight reports whether v is a large constant, or views of one.
func isWeight(v graph.Value) bool {
	s := v.Type().Shape
	if len(s) < 2 || s.Elems() < leastHalves || min(s[len(s)-1], s[len(s)-2]) < 2 {
		return false
	}
	return isConstant(v)
}

// isConstant reports whether v is a constant, or views of one.
func isConstant(v graph.Value) bool {
	for isView(v.Node().Op()) {
		v = v.Node().Input(0)
	}
	_, constant := v.Node().Op().(graph.Constant)
	return constant
}

package rewrite

import (
	"context"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/norm"
)

// batchMap makes elementwise work of a batch normalisation by constants, so that it goes
// into the epilogue of what is before it, or is one pass with what is behind:
//
//	x ── batch_norm scale, bias, mean, variance ──   ->   x ── cast ── sub mean ── mul f ── add bias ── cast ──
//
//	f = scale / sqrt(variance + epsilon)
//
// Halves are computed in float32, as the op does it. The factor is computed in float64 and
// rounded once, as there.
func batchMap(_ context.Context, r *graph.Rewriter, opt *Options) error {
	fixed := fixed(r, opt.varies)
	return r.Walk(func(n *graph.Node) error {
		o, ok := n.Op().(norm.BatchNorm)
		t := n.Output(0).Type()
		if !ok || len(o.Epilogue) > 0 || len(t.Shape) < 2 || !constantWeights(n, fixed) {
			return nil
		}
		var e expression
		in, wide := r.Inputs(n), t.DType.Wide()
		byChannel := func(v graph.Value) graph.Value { return e.cast(e.byMap(v, len(t.Shape)-1), wide) }
		y := e.apply(elementwise.Sub, e.cast(in[0], wide), byChannel(in[3]))
		y = e.apply(elementwise.Mul, y, byChannel(e.factor(in[1], in[4], o.Epsilon)))
		y = e.cast(e.apply(elementwise.Add, y, byChannel(in[2])), t.DType)
		if e.err != nil {
			return e.err
		}
		r.Replace(n.Output(0), y.Node().WithLabel(n.Label()).Output(0))
		return nil
	})
}

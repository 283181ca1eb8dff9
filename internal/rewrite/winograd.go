package rewrite

import (
	"context"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/conv"
)

// winograd has a convolution with constant weights done by minimal filtering, where
// that takes less time:
//
//	x ── conv w ──   ->   x ── conv{winograd} w ──
//
// The weights are transformed once. Results are rounded at other places than before.
func winograd(_ context.Context, r *graph.Rewriter, _ *Options) error {
	return r.Walk(func(n *graph.Node) error {
		c, ok := n.Op().(conv.Conv)
		if !ok || n.Input(1).Node().Stored() == nil {
			return nil
		}
		pays := r.InAll(func(at func(graph.Value) graph.Value) bool {
			v := at(n.Output(0))
			c := v.Node().Op().(conv.Conv)
			in := make([]graph.Type, v.Node().NumInputs())
			for i := range in {
				if at := v.Node().Input(i); !at.IsZero() {
					in[i] = at.Type()
				}
			}
			return c.WinogradPays(in, v.Type())
		})
		if !pays {
			return nil
		}
		c.Winograd = true
		return put(r, n, n.Label(), c, r.Inputs(n)...)
	})
}

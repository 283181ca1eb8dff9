package rewrite

import (
	"context"

	"github.com/berth-go/berth/graph"
)

// caches takes caches out of a program, which keeps nothing from one run to
// the next and computes each value once at most. A filled one becomes the
// constant that it holds.
//
//	x ── cache            ->   x ── contiguous
//	cache, holding data   ->   constant
func caches(_ context.Context, r *graph.Rewriter, _ *Options) error {
	return r.Walk(func(n *graph.Node) error {
		if _, ok := n.Op().(graph.Cache); !ok {
			return nil
		}
		if r.IsLeaf(n) {
			return putConstant(r, n.Output(0), *n.Leaf())
		}
		return put(r, n, n.Label(), graph.Contiguous{}, r.Inputs(n)...)
	})
}

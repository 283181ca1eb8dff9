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
		by, err := withoutCache(r, n)
		if err != nil {
			return err
		}
		r.Replace(n.Output(0), by.WithLabel(n.Label()).Output(0))
		return nil
	})
}

func withoutCache(r *graph.Rewriter, n *graph.Node) (*graph.Node, error) {
	if r.IsLeaf(n) {
		return graph.NewConstant(n.Output(0).Type(), *n.Leaf())
	}
	return graph.New(graph.Contiguous{}, r.Inputs(n)...)
}

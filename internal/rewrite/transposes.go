package rewrite

import (
	"context"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/view"
)

// transposes makes one transpose of two in a row, none of one that leaves every
// axis where it is, and none of two that undo each other around elementwise
// work over one value.
//
//	x ── permute p ── permute q ──            ->   x ── permute p[q] ──
//	x ── permute 0 1 2 ──                     ->   x ──
//	x ── permute p ── map ── permute 1/p ──   ->   x ── map ──
func transposes(_ context.Context, r *graph.Rewriter, _ *Options) error {
	return r.Walk(func(n *graph.Node) error {
		outer, ok := n.Op().(view.Permute)
		if !ok {
			return nil
		}
		if slices.IsSorted(outer.Axes()) { // every axis stays where it is
			r.Replace(n.Output(0), r.Inputs(n)[0])
			return nil
		}
		maps, below := unaryMaps(r, n)
		inner, ok := below.Node().Op().(view.Permute)
		if !ok {
			return nil
		}
		x := below.Node().Input(0)
		perm := composed(inner.Axes(), outer.Axes())
		switch {
		case slices.IsSorted(perm):
			by, err := over(x, maps)
			if err != nil {
				return err
			}
			r.Replace(n.Output(0), by)
		case len(maps) == 0:
			return put(r, n, n.Label(), view.Permute{Perm: perm}, x)
		}
		return nil
	})
}

// unaryMaps returns the Maps over one value that lead to the input of n and to
// nothing else, the last one first, and what stands for the value below them.
func unaryMaps(r *graph.Rewriter, n *graph.Node) (maps []*graph.Node, below graph.Value) {
	at := n.Input(0)
	for reader := n; isUnaryMap(at.Node()) && r.OnlyUser(at, reader); at = reader.Input(0) {
		reader = at.Node()
		maps = append(maps, reader)
	}
	return maps, r.Replacement(at)
}

func isUnaryMap(n *graph.Node) bool {
	_, ok := n.Op().(elementwise.Map)
	return ok && n.NumInputs() == 1
}

// over applies maps, the last one first, to x.
func over(x graph.Value, maps []*graph.Node) (graph.Value, error) {
	for _, m := range slices.Backward(maps) {
		n, err := graph.New(m.Op(), x)
		if err != nil {
			return graph.Value{}, err
		}
		x = n.WithLabel(m.Label()).Output(0)
	}
	return x, nil
}

// composed returns the one permutation that does what inner does and then outer.
func composed(inner, outer []int) []int {
	perm := make([]int, len(outer))
	for i, axis := range outer {
		perm[i] = inner[axis]
	}
	return perm
}

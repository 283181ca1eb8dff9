package rewrite

import (
	"context"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// contiguous has a node read its input through a contiguous copy where its
// kernel needs that denser than it is sure to lie. The planner makes no copy of
// what turns out to be dense.
//
//	x ── view ── op   ->   x ── view ── contiguous ── op
func contiguous(_ context.Context, r *graph.Rewriter, _ *Options) error {
	copies := make(map[graph.Value]graph.Value) // of what has several readers
	return r.Walk(func(n *graph.Node) error {
		computer, ok := n.Op().(op.Computer)
		if !ok {
			return nil
		}
		ins, changed := r.Inputs(n), false
		for i, v := range ins {
			dense := func(at func(graph.Value) graph.Value) bool {
				return denseAxes(at(n.Input(i))) >= op.DenseAxes(computer, i, len(v.Type().Shape))
			}
			if v.IsZero() || r.InAll(dense) {
				continue
			}
			if _, known := copies[v]; !known {
				c, err := graph.New(graph.Contiguous{}, v)
				if err != nil {
					return err
				}
				copies[v] = c.Output(0)
			}
			ins[i], changed = copies[v], true
		}
		if changed {
			by := n.With(ins...)
			for i := range n.NumOutputs() {
				r.Replace(n.Output(i), by.Output(i))
			}
		}
		return nil
	})
}

// denseAxes returns how many trailing axes of v lie dense whatever the
// planner does. A view lies dense or not depending on which of the views
// under it the planner finds contiguous already, so each of these cases counts.
func denseAxes(v graph.Value) int {
	const deepest = 8 // views looked through before giving up
	layouts := []shape.Layout{}
	var views []*graph.Node // from v down
	for at := v; ; at = at.Node().Input(0) {
		n := at.Node()
		if _, ok := n.Op().(graph.Identity); ok {
			continue
		}
		// Whatever at is, it may have been claimed by a contiguous copy of it.
		layouts = append(layouts, replay(shape.Dense(at.Type().Shape), views))
		if _, ok := n.Op().(graph.Viewer); !ok {
			if leaf := n.Stored(); leaf != nil {
				layouts = append(layouts, replay(leaf.Layout, views))
			}
			break
		}
		if len(views) == deepest {
			return 0
		}
		views = append(views, n)
	}
	least := len(v.Type().Shape)
	for _, l := range layouts {
		least = min(least, l.DenseAxes())
	}
	return least
}

// replay applies views, the last one first, to a base layout. What the layout
// cannot express is copied and lies dense, as in the planner.
func replay(l shape.Layout, views []*graph.Node) shape.Layout {
	for _, n := range slices.Backward(views) {
		next, ok := n.Op().(graph.Viewer).View(l)
		if !ok {
			next = shape.Dense(n.Output(0).Type().Shape)
		}
		l = next
	}
	return l
}

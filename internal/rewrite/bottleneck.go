package rewrite

import (
	"context"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/conv"
)

// bottleneck has a depthwise convolution with channels last computed by bands of rows,
// together with the convolution of single taps that expands its channels and the one that
// projects them, or one of these, where that takes less time:
//
//	x ── conv ── conv{group=E} ── conv ──   ->   x ── bottleneck ──
//
// What lies between them is never stored. It has no other readers, and the programs behind
// the first ones have no inputs of their own. Weights are constants.
func bottleneck(_ context.Context, r *graph.Rewriter, _ *Options) error {
	return r.Walk(func(n *graph.Node) error {
		c, ok := endOf(r, n)
		if !ok {
			return nil
		}
		if users := r.Users(n.Output(0)); len(users) == 1 && c.project == nil {
			if _, more := endOf(r, users[0]); more {
				return nil
			}
		}
		op, _ := c.op()
		inputs := c.inputs()
		for i, v := range inputs {
			inputs[i] = r.Replacement(v)
		}
		return put(r, n, n.Label(), op, inputs...)
	})
}

// A bottleneckChain is convolutions in a row; the first and the last may be nil.
type bottleneckChain struct{ expand, filter, project *graph.Node }

// endOf returns the chain that ends with n and pays, if there is one.
func endOf(r *graph.Rewriter, n *graph.Node) (c bottleneckChain, ok bool) {
	c.filter = n
	if !filters(n) {
		c.filter, c.project = readBy(r, n, filters), n
	}
	if c.filter == nil {
		return c, false
	}
	c.expand = readBy(r, c.filter, func(n *graph.Node) bool { return !filters(n) })
	if c.pays(r) {
		return c, true
	}
	c.expand = nil
	return c, c.pays(r)
}

// readBy returns the convolution whose result is the image that n reads, where nothing else
// does and the program behind it has no inputs; nil if there is none that is asked for.
func readBy(r *graph.Rewriter, n *graph.Node, wanted func(*graph.Node) bool) *graph.Node {
	if convOf(n) == nil {
		return nil
	}
	v := n.Input(0)
	if before := v.Node(); convOf(before) != nil && before.NumInputs() <= 3 && r.OnlyUser(v, n) && wanted(before) {
		return before
	}
	return nil
}

// convOf returns the op of n if that is a convolution whose weights are constants.
func convOf(n *graph.Node) *conv.Conv {
	if n == nil {
		return nil
	}
	if c, ok := n.Op().(conv.Conv); ok && n.Input(1).Node().Stored() != nil {
		return &c
	}
	return nil
}

// filters reports whether n is a convolution of groups of one channel and one map.
func filters(n *graph.Node) bool {
	c := convOf(n)
	return c != nil && c.Group > 1 && c.Group == n.Input(1).Type().Shape[0] && n.Input(1).Type().Shape[1] == 1
}

// op returns the op that does the work of c.
func (c bottleneckChain) op() (conv.Bottleneck, bool) {
	return conv.BottleneckOf(convOf(c.expand), convOf(c.filter), convOf(c.project))
}

// inputs returns those of that op.
func (c bottleneckChain) inputs() []graph.Value {
	const own = 3 // of a convolution; those of its epilogue follow
	first := c.filter
	if c.expand != nil {
		first = c.expand
	}
	inputs := []graph.Value{first.Input(0)}
	var extra []graph.Value
	for _, n := range [...]*graph.Node{c.expand, c.filter, c.project} {
		var weights [own - 1]graph.Value
		for i := 1; n != nil && i < n.NumInputs(); i++ {
			if i < own {
				weights[i-1] = n.Input(i)
			} else {
				extra = append(extra, n.Input(i))
			}
		}
		inputs = append(inputs, weights[:]...)
	}
	if len(extra) > 0 {
		return append(inputs, extra...)
	}
	for inputs[len(inputs)-1].IsZero() {
		inputs = inputs[:len(inputs)-1]
	}
	return inputs
}

// pays reports whether there is an op that does the work of c, and in less time in some
// build: where images are few, it takes about as much.
func (c bottleneckChain) pays(r *graph.Rewriter) bool {
	op, ok := c.op()
	return ok && !r.InAll(func(at func(graph.Value) graph.Value) bool {
		inputs := c.inputs()
		types := make([]graph.Type, len(inputs))
		for i, v := range inputs {
			if !v.IsZero() {
				types[i] = at(v).Type()
			}
		}
		return !op.Pays(types)
	})
}

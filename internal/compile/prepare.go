package compile

import (
	"context"
	"fmt"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// prepare rewrites a graph for compilation: caches vanish, what depends on
// constants alone is computed, maps are fused, concatenations nested, and every
// output is computed into bytes of its own, which the caller will bind.
func prepare(ctx context.Context, values []graph.Value, eval Evaluator) ([]graph.Value, error) {
	roots, err := fold(ctx, values, eval)
	if err != nil {
		return nil, err
	}
	if roots, err = elementwise.Fuse(roots); err != nil {
		return nil, err
	}
	if roots, err = nest(roots); err != nil {
		return nil, err
	}
	seen := make(map[graph.Value]bool)
	for i, v := range roots {
		if !seen[v] && computed(v) {
			seen[v] = true
			continue
		}
		// A second copy of an output, or one that is a view, an input or a
		// constant, has to be written out.
		if roots[i], err = elementwise.Apply(elementwise.Ident, nil, v); err != nil {
			return nil, err
		}
	}
	return roots, nil
}

// computed reports whether v is written by a kernel into bytes of its own.
func computed(v graph.Value) bool {
	switch v.Node().Op().(type) {
	case graph.Identity, graph.Contiguous, graph.Cache, graph.Viewer:
		return false
	}
	return !v.Node().IsLeaf()
}

// fold computes what depends on constants alone, and takes caches out: within
// a program a value is computed once at most.
func fold(ctx context.Context, roots []graph.Value, eval Evaluator) ([]graph.Value, error) {
	nodes, err := graph.Sort(starts(roots), func(n *graph.Node) int {
		if n.IsLeaf() {
			return 0
		}
		return n.NumInputs()
	}, input)
	if err != nil {
		return nil, err
	}
	f := folder{fixed: make(map[*graph.Node]bool), to: make(map[graph.Value]graph.Value)}
	for _, n := range nodes {
		f.fixed[n] = f.isFixed(n)
	}
	if err := f.compute(ctx, nodes, roots, eval); err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if err := f.rebuild(n); err != nil {
			return nil, err
		}
	}
	out := make([]graph.Value, len(roots))
	for i, r := range roots {
		out[i] = f.value(r)
	}
	return out, nil
}

type folder struct {
	fixed map[*graph.Node]bool // depends on constants alone
	to    map[graph.Value]graph.Value
}

func (f *folder) value(v graph.Value) graph.Value {
	if to, ok := f.to[v]; ok {
		return to
	}
	return v
}

func (f *folder) isFixed(n *graph.Node) bool {
	if n.IsLeaf() {
		return n.Leaf() != nil
	}
	for i := range n.NumInputs() {
		if in := n.Input(i); !in.IsZero() && !f.fixed[in.Node()] {
			return false
		}
	}
	return true
}

// compute replaces the fixed values that others read by constants. Views of
// constants stay views.
func (f *folder) compute(ctx context.Context, nodes []*graph.Node, roots []graph.Value, eval Evaluator) error {
	var wanted []graph.Value
	seen := make(map[graph.Value]bool)
	want := func(v graph.Value) {
		for !v.IsZero() && f.fixed[v.Node()] && !seen[v] {
			seen[v] = true
			if computed(v) || isPacking(v) {
				wanted = append(wanted, v)
				return
			}
			if v.Node().IsLeaf() {
				return
			}
			v = v.Node().Input(0) // what the view is of
		}
	}
	for _, n := range nodes {
		if !f.fixed[n] {
			for i := range n.NumInputs() {
				want(n.Input(i))
			}
		}
	}
	for _, r := range roots {
		want(r)
	}
	if len(wanted) == 0 {
		return nil
	}
	leaves, err := eval(ctx, wanted)
	if err != nil {
		return fmt.Errorf("constants: %w", err)
	}
	for i, leaf := range leaves {
		n, err := graph.NewConstant(wanted[i].Type(), leaf)
		if err != nil {
			return err
		}
		f.to[wanted[i]] = n.WithLabel(wanted[i].Node().Label()).Output(0)
	}
	return nil
}

func isPacking(v graph.Value) bool {
	switch v.Node().Op().(type) {
	case graph.Contiguous, graph.Cache:
		return !v.Node().IsLeaf()
	}
	return false
}

// rebuild copies a node around replaced inputs. Filled caches become the
// constants they hold, unfilled ones packings.
func (f *folder) rebuild(n *graph.Node) error {
	if _, done := f.to[n.Output(0)]; done {
		return nil
	}
	_, cache := n.Op().(graph.Cache)
	if n.IsLeaf() {
		if cache {
			c, err := graph.NewConstant(n.Output(0).Type(), *n.Leaf())
			if err != nil {
				return err
			}
			f.to[n.Output(0)] = c.Output(0)
		}
		return nil
	}
	ins, changed := make([]graph.Value, n.NumInputs()), false
	for i := range ins {
		if v := n.Input(i); !v.IsZero() {
			ins[i] = f.value(v)
			changed = changed || ins[i] != v
		}
	}
	if cache {
		packed, err := graph.New(graph.Contiguous{}, ins...)
		if err != nil {
			return err
		}
		f.to[n.Output(0)] = packed.Output(0)
		return nil
	}
	if changed {
		f.replace(n, n.With(ins...))
	}
	return nil
}

// replace has the outputs of one node stand for those of another.
func (f *folder) replace(n, by *graph.Node) {
	for i := range n.NumOutputs() {
		f.to[n.Output(i)] = by.Output(i)
	}
}

package rewrite

import (
	"context"
	"fmt"

	"github.com/berth-go/berth/graph"
)

// fold computes what depends on constants alone. Views of constants stay
// views: of what is computed, it is the values that they are views of. What takes
// too much memory is left to the program, with the rest.
//
//	constant ─┐
//	constant ─┴─ op ── view ── op ──   ->   constant ── view ── op ──
//	                        x ─┘                             x ─┘
func fold(ctx context.Context, r *graph.Rewriter, opt *Options) error {
	wanted := foldable(r, fixed(r, opt.varies))
	if len(wanted) == 0 {
		return nil
	}
	leaves, err := opt.Eval(ctx, wanted)
	if err != nil {
		return fmt.Errorf("constants: %w", err)
	}
	if leaves == nil {
		return nil
	}
	for i, leaf := range leaves {
		if err := putConstant(r, wanted[i], leaf); err != nil {
			return err
		}
	}
	return r.Walk(func(*graph.Node) error { return nil })
}

// fixed returns the nodes that depend on constants alone, without those that
// vary and what depends on them.
func fixed(r *graph.Rewriter, varies map[*graph.Node]bool) map[*graph.Node]bool {
	fixed := make(map[*graph.Node]bool)
	for _, n := range r.Nodes() {
		is := n.Stored() != nil
		if !r.IsLeaf(n) {
			is = !varies[n]
			for i := 0; i < n.NumInputs() && is; i++ {
				is = n.Input(i).IsZero() || fixed[n.Input(i).Node()]
			}
		}
		if is {
			fixed[n] = true
		}
	}
	return fixed
}

// foldable returns the fixed values to compute, each once: what other nodes or
// the roots read, and in place of a view what it is a view of.
func foldable(r *graph.Rewriter, fixed map[*graph.Node]bool) []graph.Value {
	var wanted []graph.Value
	seen := make(map[graph.Value]bool)
	want := func(v graph.Value) {
		for !v.IsZero() && fixed[v.Node()] && !seen[v] && !r.IsLeaf(v.Node()) {
			seen[v] = true
			if !isView(v.Node().Op()) {
				wanted = append(wanted, v)
				return
			}
			v = v.Node().Input(0)
		}
	}
	for _, n := range r.Nodes() {
		for i := 0; i < n.NumInputs() && !fixed[n]; i++ {
			want(n.Input(i))
		}
	}
	for _, v := range r.Roots() {
		want(v)
	}
	return wanted
}

// isView reports whether an op only re-describes the storage of its input.
func isView(o graph.Op) bool {
	switch o.(type) {
	case graph.Identity, graph.Viewer:
		return true
	}
	return false
}

package rewrite

import (
	"context"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// outputs has a kernel write every root into bytes of its own: a second copy
// of a root, and one that is an input, a constant, a view or a contiguous copy,
// which may be no copy at all, is written out.
//
//	x ── view ── root   ->   x ── view ── ident ── root
//	v ─┬─ root               v ─┬─ root
//	   └─ root          ->      └─ ident ── root
func outputs(_ context.Context, r *graph.Rewriter, _ *Options) error {
	seen := make(map[graph.Value]bool)
	for i, v := range r.Roots() {
		if !seen[v] && written(r, v) {
			seen[v] = true
			continue
		}
		written, err := elementwise.Apply(elementwise.Ident, nil, v)
		if err != nil {
			return err
		}
		r.SetRoot(i, written)
	}
	return nil
}

// written reports whether v is written by a kernel into bytes of its own.
func written(r *graph.Rewriter, v graph.Value) bool {
	_, contiguous := v.Node().Op().(graph.Contiguous)
	return !contiguous && !isView(v.Node().Op()) && !r.IsLeaf(v.Node())
}

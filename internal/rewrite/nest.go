package rewrite

import (
	"context"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/move"
)

// nest has a concatenation whose first inputs are all those of another one
// read that instead. A value can lie in one concatenation only, and so all of
// these can lie in the last, as in networks each of whose layers reads
// everything before it.
//
//	concat(a, b) ── f                    concat(a, b) ─┬─ f
//	concat(a, b, c) ── g          ->           concat( ┴ , c) ── g
func nest(_ context.Context, r *graph.Rewriter, _ *Options) error {
	known := prefixes{next: make(map[prefixStep]int), whole: make(map[int]graph.Value)}
	return r.Walk(func(n *graph.Node) error {
		concat, ok := n.Op().(move.Concat)
		if !ok {
			return nil
		}
		axis := concat.JoinAxis(len(n.Output(0).Type().Shape))
		list := r.Inputs(n)
		if whole, inputs := known.enter(axis, list, n.Output(0)); inputs > 1 {
			short := append([]graph.Value{r.Replacement(whole)}, list[inputs:]...)
			r.Replace(n.Output(0), n.With(short...).Output(0))
		}
		return nil
	})
}

// prefixes holds the input lists of the concatenations met so far as a tree.
// The nodes of the tree are lists, given numbers; 0 is the empty one.
type prefixes struct {
	next  map[prefixStep]int
	whole map[int]graph.Value // of the old graph: the first concatenation of just this list
}

// prefixStep leads from a list to the one that is longer by a value.
type prefixStep struct {
	list, axis int
	value      graph.Value
}

// enter adds the concatenation of list along axis. It returns that among the others
// along axis which has the most of the first values of list for its inputs, and how
// many these are; 0 if there is none.
func (p *prefixes) enter(axis int, list []graph.Value, entered graph.Value) (whole graph.Value, inputs int) {
	at := 0
	for i, v := range list {
		step := prefixStep{at, axis, v}
		if p.next[step] == 0 {
			p.next[step] = len(p.next) + 1
		}
		at = p.next[step]
		if w, ok := p.whole[at]; ok {
			whole, inputs = w, i+1
		}
	}
	if inputs < len(list) {
		p.whole[at] = entered
	}
	return whole, inputs
}

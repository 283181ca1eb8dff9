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
		if whole, inputs := known.longest(axis, list); inputs > 1 {
			short := append([]graph.Value{r.Replacement(whole)}, list[inputs:]...)
			r.Replace(n.Output(0), n.With(short...).Output(0))
		}
		known.enter(axis, list, n.Output(0))
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

// longest returns the concatenation along axis that has the most of the first
// values of list for its inputs, and how many these are; 0 if there is none.
func (p *prefixes) longest(axis int, list []graph.Value) (whole graph.Value, inputs int) {
	at := 0
	for i, v := range list {
		next, ok := p.next[prefixStep{at, axis, v}]
		if !ok {
			break
		}
		at = next
		if w, ok := p.whole[at]; ok {
			whole, inputs = w, i+1
		}
	}
	return whole, inputs
}

// enter adds the concatenation of list along axis.
func (p *prefixes) enter(axis int, list []graph.Value, whole graph.Value) {
	at := 0
	for _, v := range list {
		step := prefixStep{at, axis, v}
		next, ok := p.next[step]
		if !ok {
			next = len(p.next) + 1
			p.next[step] = next
		}
		at = next
	}
	if _, known := p.whole[at]; !known {
		p.whole[at] = whole
	}
}

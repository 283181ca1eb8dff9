package compile

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/move"
)

// nest has a concatenation whose first inputs are all those of another one read
// that instead: of concat(a, b) and concat(a, b, c) the second becomes
// concat(concat(a, b), c). A value can lie in one concatenation only, and so
// all of these can lie in the last, as in networks each of whose layers reads
// everything before it.
func nest(roots []graph.Value) ([]graph.Value, error) {
	nodes, err := sorted(roots)
	if err != nil {
		return nil, err
	}
	ns := nester{
		folder: folder{to: make(map[graph.Value]graph.Value)},
		next:   make(map[prefixStep]int),
		whole:  make(map[int]graph.Value),
	}
	for _, n := range nodes {
		if n.IsLeaf() {
			continue
		}
		ins, changed := make([]graph.Value, n.NumInputs()), false
		for i := range ins {
			if v := n.Input(i); !v.IsZero() {
				ins[i] = ns.value(v)
				changed = changed || ins[i] != v
			}
		}
		concat, isConcat := n.Op().(move.Concat)
		list := ins
		if isConcat {
			ins = ns.shortened(concat.Axis, ins)
			changed = changed || len(ins) < len(list)
		}
		if changed {
			ns.replace(n, n.With(ins...))
		}
		if isConcat {
			ns.enter(concat.Axis, list, ns.value(n.Output(0)))
		}
	}
	out := make([]graph.Value, len(roots))
	for i, r := range roots {
		out[i] = ns.value(r)
	}
	return out, nil
}

// nester holds the input lists of the concatenations met so far as a tree of
// their prefixes. Its nodes are numbers; 0 is the empty list.
type nester struct {
	folder
	next  map[prefixStep]int
	whole map[int]graph.Value // the concatenation of just this list
}

// prefixStep leads from a list to the one that is longer by a value.
type prefixStep struct {
	list, axis int
	value      graph.Value
}

// shortened returns the inputs of a concatenation with the longest prefix that
// is a concatenation already replaced by that.
func (ns *nester) shortened(axis int, ins []graph.Value) []graph.Value {
	at, longest, best := 0, 0, graph.Value{}
	for i, v := range ins {
		next, ok := ns.next[prefixStep{at, axis, v}]
		if !ok {
			break
		}
		at = next
		if whole, ok := ns.whole[at]; ok && i > 0 {
			longest, best = i+1, whole
		}
	}
	if longest == 0 {
		return ins
	}
	return append([]graph.Value{best}, ins[longest:]...)
}

// enter adds the list of a concatenation.
func (ns *nester) enter(axis int, ins []graph.Value, whole graph.Value) {
	at := 0
	for _, v := range ins {
		step := prefixStep{at, axis, v}
		next, ok := ns.next[step]
		if !ok {
			next = len(ns.next) + 1
			ns.next[step] = next
		}
		at = next
	}
	if _, known := ns.whole[at]; !known {
		ns.whole[at] = whole
	}
}

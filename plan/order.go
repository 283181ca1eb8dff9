package plan

import (
	"fmt"

	"github.com/berth-go/berth/graph"
)

// ordered is a node in execution order. Whether it is a leaf is looked up
// once: a cache may be filled by another run while this one plans.
type ordered struct {
	node *graph.Node
	leaf bool
}

// order returns what roots need, inputs before readers: a depth-first
// post-order, without what lies behind a filled cache.
func order(roots []graph.Value) ([]ordered, error) {
	r, err := graph.NewRewriter(roots)
	if err != nil {
		return nil, err
	}
	out := make([]ordered, len(r.Nodes()))
	for i, n := range r.Nodes() {
		out[i] = ordered{n, r.IsLeaf(n)}
	}
	return out, nil
}

// rearrange returns the nodes of a sorted graph in another order, leaves
// first, after checking that the order is complete and possible.
func rearrange(sorted []ordered, nodes []*graph.Node) ([]ordered, error) {
	out := make([]ordered, 0, len(sorted))
	const waiting, placed = 1, 2
	state := make(map[*graph.Node]uint8, len(sorted))
	for _, o := range sorted {
		if o.leaf {
			out = append(out, o)
			state[o.node] = placed
		} else {
			state[o.node] = waiting
		}
	}
	needed := len(sorted) - len(out)
	for _, n := range nodes {
		if state[n] != waiting {
			return nil, fmt.Errorf("order: %v is listed twice or not needed", n)
		}
		for i := range n.NumInputs() {
			if in := n.Input(i); !in.IsZero() && state[in.Node()] != placed {
				return nil, fmt.Errorf("order: %v comes before its input %v", n, in.Node())
			}
		}
		state[n] = placed
		out = append(out, ordered{node: n})
	}
	if len(nodes) != needed {
		return nil, fmt.Errorf("order: lists %d of %d nodes", len(nodes), needed)
	}
	return out, nil
}

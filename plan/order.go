package plan

import "github.com/berth-go/berth/graph"

// ordered is a node in execution order. Whether it is a leaf is looked up
// once: a cache may be filled by another run while this one plans.
type ordered struct {
	node *graph.Node
	leaf bool
}

// order returns what roots need, inputs before readers: an iterative
// depth-first post-order, without what lies behind a filled cache.
func order(roots []graph.Value) ([]ordered, error) {
	nodes := make([]*graph.Node, len(roots))
	for i, r := range roots {
		nodes[i] = r.Node()
	}
	leaf := make(map[*graph.Node]bool)
	numInputs := func(n *graph.Node) int {
		isLeaf, known := leaf[n]
		if !known {
			isLeaf = n.IsLeaf()
			leaf[n] = isLeaf
		}
		if isLeaf {
			return 0
		}
		return n.NumInputs()
	}
	input := func(n *graph.Node, i int) (*graph.Node, bool) {
		v := n.Input(i)
		return v.Node(), !v.IsZero()
	}
	sorted, err := graph.Sort(nodes, numInputs, input)
	if err != nil {
		return nil, err
	}
	out := make([]ordered, len(sorted))
	for i, n := range sorted {
		out[i] = ordered{n, leaf[n]}
	}
	return out, nil
}

package tabular

import (
	"fmt"
	"math"
)

// A Mode says what a node of a tree asks of its feature x and its threshold t,
// or that it is a leaf and asks nothing.
type Mode uint8

// The modes of nodes.
const (
	Leaf         Mode = iota
	LessEqual         // x <= t
	Less              // x < t
	GreaterEqual      // x >= t
	Greater           // x > t
	Equal             // x == t
	NotEqual          // x != t
)

// nanIsTrue is added to the mode of a node whose answer for NaN is yes.
const nanIsTrue = 8

// The columns of the table of nodes; see [Tables].
const (
	columnMode = iota
	columnFeature
	columnTrue  // of a leaf, its first vote
	columnFalse // of a leaf, the one behind its last vote
	// Columns is how many there are.
	Columns
)

// A Forest is decision trees as a file states them. Its nodes stand in any order,
// and a node may be the child of several others.
type Forest struct {
	Nodes []Node
	Roots []int // indices of nodes, a tree each
}

// A Node is a question, or a leaf with votes. A question goes on at node True when
// the answer is yes and at node False when it is no.
type Node struct {
	Mode      Mode
	NaNIsTrue bool // the answer for NaN, whatever Mode asks
	Feature   int  // column of the rows that are judged
	Threshold float64
	True      int // index of a node
	False     int
	Votes     []Vote
}

// A Vote is what a leaf has to say about a target.
type Vote struct {
	Target int
	Weight float64
}

// Tables is a [Forest] as [TreeEnsemble] reads it, inputs 1 to 5 without their
// element type: the rows of Nodes are mode, feature, and the rows of the children
// for yes and no; those of leaves mode, 0, and a half-open range of votes. Every
// child stands behind its parents, so that each path ends.
type Tables struct {
	Nodes      []int32 // 4 for each node
	Thresholds []float64
	Roots      []int32
	Targets    []int32
	Weights    []float64
}

// Tables returns the forest in tables. Nodes that no root leads to are left out. It
// is an error when a path comes back to where it was, or leads to no node, or when a
// feature or target is not below the given number; node names one in errors.
func (f *Forest) Tables(features, targets int, node func(i int) string) (*Tables, error) {
	order, err := f.order(node)
	if err != nil {
		return nil, err
	}
	place := make([]int32, len(f.Nodes))
	for row, i := range order {
		place[i] = int32(row)
	}
	t := &Tables{
		Nodes:      make([]int32, 0, Columns*len(order)),
		Thresholds: make([]float64, len(order)),
		Roots:      make([]int32, len(f.Roots)),
	}
	for i, root := range f.Roots {
		t.Roots[i] = place[root]
	}
	for row, i := range order {
		n := &f.Nodes[i]
		if n.Mode == Leaf {
			first := len(t.Targets)
			for _, v := range n.Votes {
				if v.Target < 0 || v.Target >= targets {
					return nil, fmt.Errorf("%s votes for target %d of %d", node(i), v.Target, targets)
				}
				t.Targets = append(t.Targets, int32(v.Target))
				t.Weights = append(t.Weights, v.Weight)
			}
			t.Nodes = append(t.Nodes, int32(Leaf), 0, int32(first), int32(len(t.Targets)))
			continue
		}
		if n.Feature < 0 || n.Feature >= features {
			return nil, fmt.Errorf("%s asks for feature %d of %d", node(i), n.Feature, features)
		}
		mode := int32(n.Mode)
		if n.NaNIsTrue {
			mode |= nanIsTrue
		}
		t.Nodes = append(t.Nodes, mode, int32(n.Feature), place[n.True], place[n.False])
		t.Thresholds[row] = n.Threshold
	}
	if len(t.Targets) > math.MaxInt32 {
		return nil, fmt.Errorf("there are %d votes, more than %d", len(t.Targets), math.MaxInt32)
	}
	return t, nil
}

// order returns the nodes that the roots lead to, parents before children, and the
// child for yes right behind its parent where it can be.
func (f *Forest) order(node func(i int) string) ([]int, error) {
	if len(f.Nodes) > math.MaxInt32 {
		return nil, fmt.Errorf("there are %d nodes, more than %d", len(f.Nodes), math.MaxInt32)
	}
	const (
		unseen = iota
		open   // on the path to where the search is
		done
	)
	state := make([]uint8, len(f.Nodes))
	// The search runs backwards, so that each node is put in front of what
	// follows from it.
	order := make([]int, len(f.Nodes))
	front := len(order)
	var path []int
	for r := len(f.Roots) - 1; r >= 0; r-- {
		root := f.Roots[r]
		if root < 0 || root >= len(f.Nodes) {
			return nil, fmt.Errorf("root %d is node %d of %d", r, root, len(f.Nodes))
		}
		path = append(path, root)
		for len(path) > 0 {
			i := path[len(path)-1]
			n := &f.Nodes[i]
			if state[i] == unseen {
				state[i] = open
				if n.Mode != Leaf {
					for _, child := range [...]int{n.True, n.False} { // the last one is looked at first
						switch {
						case child < 0 || child >= len(f.Nodes):
							return nil, fmt.Errorf("%s leads to node %d of %d", node(i), child, len(f.Nodes))
						case state[child] == open:
							return nil, fmt.Errorf("%s leads back to %s", node(i), node(child))
						case state[child] == unseen:
							path = append(path, child)
						}
					}
					continue
				}
			}
			path = path[:len(path)-1]
			if state[i] == open { // and not reached twice before it was looked at
				state[i] = done
				front--
				order[front] = i
			}
		}
	}
	return order[front:], nil
}

package graph

import (
	"fmt"
	"slices"
)

// A Rewriter makes one pass over a graph and replaces values by others of the
// same type. Nodes are immutable: the nodes that read a replaced value are
// copied by [Node.With], and what nothing changes under stays the same node.
//
// A rule is told of each node once, inputs before the nodes that read them. It
// reads patterns off the old graph, through [Node.Input] and [Rewriter.Users],
// and builds what takes their place from the new one, through
// [Rewriter.Inputs]:
//
//	r, err := graph.NewRewriter(roots)
//	err = r.Walk(func(n *graph.Node) error {
//		if _, ok := n.Op().(graph.Identity); ok {
//			r.Replace(n.Output(0), r.Inputs(n)[0])
//		}
//		return nil
//	})
//	roots = r.Roots() // without identities
//
// A Rewriter is for one goroutine, and for one pass that replaces something.
type Rewriter struct {
	nodes  []*Node
	leaf   map[*Node]bool
	roots  []Value
	own    map[int]Value // what SetRoot has put in place of a root
	isRoot map[Value]bool
	users  map[Value][]*Node // made when first asked for
	to     map[Value]Value

	// Of several graphs, for those that are like the first one:
	number map[*Node]int // of the nodes
	alike  [][]*Node     // the nodes of each, in the same order
}

// NewRewriter returns a Rewriter of the graph that roots are values of. A root
// may be the zero Value, which stays what it is. What a filled cache was
// computed from is no part of the graph; whether a cache is filled is asked
// once, so that one that another goroutine fills meanwhile changes nothing.
func NewRewriter(roots []Value) (*Rewriter, error) {
	all, err := NewRewriters([][]Value{roots})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// NewRewriters returns a Rewriter of each of several graphs, such as one graph with
// several extents. A cache in more than one of them is filled in all or in none.
func NewRewriters(graphs [][]Value) ([]*Rewriter, error) {
	leaf := make(map[*Node]bool)
	numInputs := func(n *Node) int {
		if _, known := leaf[n]; !known {
			leaf[n] = n.IsLeaf()
		}
		if leaf[n] {
			return 0
		}
		return len(n.ins)
	}
	out := make([]*Rewriter, len(graphs))
	for i, roots := range graphs {
		nodes, err := sortValues(roots, numInputs)
		if err != nil {
			return nil, err
		}
		r := &Rewriter{
			nodes:  nodes,
			leaf:   leaf,
			roots:  slices.Clone(roots),
			own:    make(map[int]Value),
			isRoot: make(map[Value]bool, len(roots)),
			to:     make(map[Value]Value),
		}
		for _, v := range roots {
			r.isRoot[v] = !v.IsZero()
		}
		out[i] = r
	}
	if len(out) > 1 {
		compare(out)
	}
	return out, nil
}

// compare finds the graphs that are like the first one.
func compare(rs []*Rewriter) {
	var like []*Rewriter
	var alike [][]*Node
	for _, r := range rs {
		r.number = make(map[*Node]int, len(r.nodes))
		for k, n := range r.nodes {
			r.number[n] = k
		}
		if r.like(rs[0]) {
			like, alike = append(like, r), append(alike, r.nodes)
		}
	}
	for _, r := range like {
		r.alike = alike
	}
}

// like reports whether the nodes of r have ops of the same names as those of other,
// and read the same of one another.
func (r *Rewriter) like(other *Rewriter) bool {
	return slices.EqualFunc(r.nodes, other.nodes, func(a, b *Node) bool {
		return a.op.Name() == b.op.Name() && r.leaf[a] == other.leaf[b] && len(a.outs) == len(b.outs) &&
			(r.leaf[a] || slices.EqualFunc(a.ins, b.ins, func(v, w Value) bool {
				return v.IsZero() == w.IsZero() && v.index == w.index && (v.IsZero() || r.number[v.node] == other.number[w.node])
			}))
	})
}

// InAll reports whether something holds of this graph and of all others that
// [NewRewriters] was given and whose nodes are like those of this one. It is asked
// for each, where at gives what stands there in the place of a value of this graph.
// A rule that compares extents asks so, and does the same to all: what is equal in
// one graph, or 1, may not be so in the next.
func (r *Rewriter) InAll(holds func(at func(v Value) Value) bool) bool {
	if r.alike == nil {
		return holds(func(v Value) Value { return v })
	}
	return !slices.ContainsFunc(r.alike, func(nodes []*Node) bool {
		return !holds(func(v Value) Value { return nodes[r.number[v.node]].Output(v.index) })
	})
}

// Nodes returns the nodes of the old graph, inputs before the nodes that read
// them. The order follows from the roots and the inputs of each node alone.
// The slice is shared and must not be changed.
func (r *Rewriter) Nodes() []*Node { return r.nodes }

// IsLeaf reports whether a node of the old graph was a leaf when r was made.
func (r *Rewriter) IsLeaf(n *Node) bool { return r.leaf[n] }

// IsRoot reports whether v is one of the roots that r was made for.
func (r *Rewriter) IsRoot(v Value) bool { return r.isRoot[v] }

// Users returns the nodes of the old graph that read v, each once, in the
// order of [Rewriter.Nodes]. The slice is shared and must not be changed.
func (r *Rewriter) Users(v Value) []*Node {
	if r.users == nil {
		r.users = make(map[Value][]*Node)
		for _, n := range r.nodes {
			if r.leaf[n] {
				continue
			}
			for _, in := range n.ins {
				list := r.users[in]
				if !in.IsZero() && (len(list) == 0 || list[len(list)-1] != n) {
					r.users[in] = append(list, n)
				}
			}
		}
	}
	return r.users[v]
}

// OnlyUser reports whether n alone reads v, and v is no root: whoever replaces
// n may do away with v.
func (r *Rewriter) OnlyUser(v Value, n *Node) bool {
	users := r.Users(v)
	return len(users) == 1 && users[0] == n && !r.isRoot[v]
}

// Replace has by stand for v of the old graph wherever v is read, and among
// the roots. It panics unless both have one type. In [Rewriter.Walk] a rule
// may replace the outputs of the node that it is told of.
func (r *Rewriter) Replace(v, by Value) {
	mustMatch(v, by)
	r.to[v] = by
}

// Replacement returns what stands for v of the old graph in the new one: v
// itself where nothing changes.
func (r *Rewriter) Replacement(v Value) Value {
	if by, ok := r.to[v]; ok {
		return by
	}
	return v
}

// Inputs returns what stands for the inputs of a node of the old graph, in a
// slice of the caller's own.
func (r *Rewriter) Inputs(n *Node) []Value {
	ins := make([]Value, len(n.ins))
	for i, v := range n.ins {
		ins[i] = r.Replacement(v)
	}
	return ins
}

// Walk tells rule of every node in the order of [Rewriter.Nodes], leaves among
// them, and then has a copy stand for those outputs that rule did not replace,
// where an input of the node changed. An error of the rule ends the walk and
// comes back with the node's name.
func (r *Rewriter) Walk(rule func(n *Node) error) error {
	for _, n := range r.nodes {
		if err := rule(n); err != nil {
			return fmt.Errorf("%v: %w", n, err)
		}
		if !r.leaf[n] {
			r.rebuild(n)
		}
	}
	return nil
}

// rebuild has outputs of n that are not replaced come from a copy of n, if it
// has to read other inputs.
func (r *Rewriter) rebuild(n *Node) {
	replaced := func(v Value) bool { _, ok := r.to[v]; return ok }
	if !slices.ContainsFunc(n.ins, replaced) {
		return
	}
	copied := n.With(r.Inputs(n)...)
	for i := range n.outs {
		if v := n.Output(i); !replaced(v) {
			r.to[v] = copied.Output(i)
		}
	}
}

// SetRoot has by, a value of the new graph, stand for root i alone: other roots
// and the readers of its value keep that. It panics unless both have one type.
func (r *Rewriter) SetRoot(i int, by Value) {
	mustMatch(r.roots[i], by)
	r.own[i] = by
}

// Changed reports whether anything was replaced.
func (r *Rewriter) Changed() bool { return len(r.to)+len(r.own) > 0 }

// Roots returns what stands for the roots, in a slice of the caller's own.
func (r *Rewriter) Roots() []Value {
	roots := make([]Value, len(r.roots))
	for i, v := range r.roots {
		by, own := r.own[i]
		if !own {
			by = r.Replacement(v)
		}
		roots[i] = by
	}
	return roots
}

// mustMatch panics unless by has the type of v.
func mustMatch(v, by Value) {
	if !v.Type().Equal(by.Type()) {
		panic(fmt.Sprintf("graph: %v of %v is replaced by %v of %v", v.Type(), v.node, by.Type(), by.node))
	}
}

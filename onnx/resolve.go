package onnx

import (
	"errors"
	"fmt"
	"strings"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/wire"
)

// ErrUnsupported is wrapped by errors about an operator, or a version of one,
// that Berth does not have.
var ErrUnsupported = errors.New("operator is not supported")

// A body is a graph of a model with its nodes in order and every reference
// checked. Subgraphs see the names of the graphs around them.
type body struct {
	graph        *wire.Graph
	outer        *body
	inputs       []wire.ValueInfo // without those that have an initializer
	initializers []*wire.Tensor
	initial      map[string]*wire.Tensor // the same, by name
	nodes        []node
	names        map[string]bool // what the graph itself defines
}

// A node is a wire node with its converter and its subgraphs.
type node struct {
	node   *wire.Node
	index  int // in the file
	row    operator
	bodies map[string]*body // its subgraphs, by attribute
}

// String names the node in errors.
func (n *node) String() string {
	name := n.node.Name
	if name == "" && len(n.node.Outputs) > 0 {
		name = "-> " + strings.Join(n.node.Outputs, ", ")
	}
	return fmt.Sprintf("node %d %q (%s)", n.index, name, opName(n.node))
}

// resolver checks a model and gathers everything that is wrong with it.
type resolver struct {
	model *Model
	errs  []error
}

func (r *resolver) failf(format string, args ...any) {
	// A hostile file may have a million faults; the first ones will do.
	const most = 100
	if len(r.errs) < most {
		r.errs = append(r.errs, fmt.Errorf(format, args...))
	}
}

// graph checks g within outer, which is nil for the graph of the model.
func (r *resolver) graph(g *wire.Graph, outer *body) *body {
	b := &body{graph: g, outer: outer, initial: make(map[string]*wire.Tensor), names: make(map[string]bool)}
	for i := range g.Initializers {
		r.initializer(b, &g.Initializers[i])
	}
	for i := range g.SparseInitializers {
		r.failf("sparse initializer %d: %w", i, ErrType)
	}
	for i, in := range g.Inputs {
		switch {
		case in.Name == "":
			r.failf("graph %q: input %d has no name", g.Name, i)
		case b.names[in.Name]:
			r.failf("graph %q: two inputs are named %q", g.Name, in.Name)
		case b.initial[in.Name] == nil:
			b.inputs = append(b.inputs, in)
		}
		b.names[in.Name] = true
	}
	for name := range b.initial {
		b.names[name] = true
	}
	r.nodes(b)
	for i, out := range g.Outputs {
		if !b.defines(out.Name) {
			r.failf("graph %q: output %d names %q, which nothing defines", g.Name, i, out.Name)
		}
	}
	return b
}

func (r *resolver) initializer(b *body, t *wire.Tensor) {
	if t.Name == "" || b.initial[t.Name] != nil {
		r.failf("graph %q: an initializer has no name or the name of another: %q", b.graph.Name, t.Name)
		return
	}
	b.initial[t.Name] = t
	r.weight(t)
	b.initializers = append(b.initializers, t)
}

// weight finds the bytes of a tensor in the model, reading external data.
func (r *resolver) weight(t *wire.Tensor) {
	if t.DataType == wire.String {
		if ids, err := r.model.textIDs(t); err != nil {
			r.failf("tensor %q: %w", t.Name, err)
		} else {
			r.model.weights[t] = kernel.Bytes(ids)
		}
		return
	}
	if _, err := tensorType(t); err != nil {
		r.failf("tensor %q: %w", t.Name, err)
		return
	}
	data, err := r.model.loader.Bytes(t)
	if err != nil {
		r.failf("%w", err)
		return
	}
	r.model.weights[t] = data
}

// defines reports whether name is visible in b.
func (b *body) defines(name string) bool {
	for ; b != nil; b = b.outer {
		if b.names[name] {
			return true
		}
	}
	return false
}

// nodes puts the nodes of b in order, looks up their operators and checks
// their references.
func (r *resolver) nodes(b *body) {
	g := b.graph
	nodes := make([]*node, len(g.Nodes))
	maker := make(map[string]*node) // the node that makes each value
	for i := range nodes {
		n := &node{node: &g.Nodes[i], index: i}
		nodes[i] = n
		for _, out := range n.node.Outputs {
			if out == "" {
				continue
			}
			if maker[out] != nil || b.names[out] {
				r.failf("%s defines %q, which is defined already", n, out)
				continue
			}
			maker[out] = n
		}
	}
	for out := range maker {
		b.names[out] = true
	}
	// needs lists the nodes that each node waits for: the makers of its
	// inputs and of what its subgraphs take from around them.
	needs := make([][]*node, len(nodes))
	for i, n := range nodes {
		seen := make(map[string]bool)
		need := func(name string) {
			if m := maker[name]; m != nil && !seen[name] {
				needs[i] = append(needs[i], m)
			}
			seen[name] = true
		}
		for k, in := range n.node.Inputs {
			if in != "" && !b.defines(in) {
				r.failf("%s: input %d names %q, which nothing defines", n, k, in)
			}
			need(in)
		}
		for _, sub := range subgraphs(n.node) {
			captured(sub, need)
		}
	}
	order, err := graph.Sort(nodes,
		func(n *node) int { return len(needs[n.index]) },
		func(n *node, k int) (*node, bool) { return needs[n.index][k], true })
	if err != nil {
		r.failf("graph %q: %w: the nodes cannot be put in order", g.Name, err)
		return
	}
	for _, n := range order {
		r.node(b, n)
		b.nodes = append(b.nodes, *n)
	}
}

// subgraphs returns the graphs in the attributes of n.
func subgraphs(n *wire.Node) []*wire.Graph {
	var list []*wire.Graph
	for i := range n.Attributes {
		a := &n.Attributes[i]
		if a.Graph != nil {
			list = append(list, a.Graph)
		}
		for k := range a.Graphs {
			list = append(list, &a.Graphs[k])
		}
	}
	return list
}

// captured calls need with every name that g mentions and does not define.
func captured(g *wire.Graph, need func(string)) {
	own := make(map[string]bool)
	for _, in := range g.Inputs {
		own[in.Name] = true
	}
	for i := range g.Initializers {
		own[g.Initializers[i].Name] = true
	}
	for i := range g.Nodes {
		for _, out := range g.Nodes[i].Outputs {
			own[out] = true
		}
	}
	outer := func(name string) {
		if name != "" && !own[name] {
			need(name)
		}
	}
	for i := range g.Nodes {
		for _, in := range g.Nodes[i].Inputs {
			outer(in)
		}
		for _, sub := range subgraphs(&g.Nodes[i]) {
			captured(sub, outer)
		}
	}
	for _, out := range g.Outputs {
		outer(out.Name)
	}
}

// node looks up the operator of n and checks its attributes' tensors and
// subgraphs.
func (r *resolver) node(b *body, n *node) {
	domain := canonicalDomain(n.node.Domain)
	if opset, imported := r.model.opsets[domain]; !imported {
		r.failf("%s: the model imports no opset of domain %q", n, n.node.Domain)
	} else if row, err := lookup(domain, n.node.OpType, opset); err != nil {
		r.failf("%s: %w", n, err)
	} else {
		n.row = row
		r.arity(n)
	}
	seen := make(map[string]bool)
	for a := range n.node.Attributes {
		attr := &n.node.Attributes[a]
		if seen[attr.Name] {
			r.failf("%s: attribute %q is given twice", n, attr.Name)
		}
		seen[attr.Name] = true
		switch {
		case attr.RefName != "":
			r.failf("%s: attribute %q refers to %q outside of a function", n, attr.Name, attr.RefName)
		case attr.Tensor != nil && n.row.convert != nil:
			r.weight(attr.Tensor)
		case attr.Kind == wire.AttrString:
			r.model.texts.id(string(attr.Bytes))
		case attr.Kind == wire.AttrStrings:
			for _, s := range attr.Strings {
				r.model.texts.id(string(s))
			}
		case attr.Graph != nil:
			if n.bodies == nil {
				n.bodies = make(map[string]*body)
			}
			n.bodies[attr.Name] = r.graph(attr.Graph, b)
		}
	}
}

// arity checks the number of inputs of a node.
func (r *resolver) arity(n *node) {
	ins := n.node.Inputs
	if len(ins) > n.row.max {
		r.failf("%s: has %d inputs, the operator takes at most %d", n, len(ins), n.row.max)
	}
	for i := range n.row.min {
		if i >= len(ins) || ins[i] == "" {
			r.failf("%s: input %d is missing, the operator needs %d", n, i, n.row.min)
			return
		}
	}
}

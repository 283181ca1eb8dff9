package onnx

import (
	"errors"
	"fmt"
	"strings"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/intern"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/wire"
)

// A body is a graph of a model with its nodes in order and every reference
// checked. Subgraphs see the names of the graphs around them; the body of a
// function sees its own names alone.
type body struct {
	graph        *wire.Graph
	outer        *body
	scope        *scope
	of           *node            // that holds the subgraph or calls the function
	inputs       []wire.ValueInfo // without those that have an initializer
	initializers []*wire.Tensor
	initial      map[string]*wire.Tensor // the same, by name
	nodes        []node
	names        map[string]bool // what the graph itself defines
}

// A node is a wire node with its converter and its subgraphs, or with the body
// of the function that it calls.
type node struct {
	node     *wire.Node
	in       *body
	index    int // among the nodes of its graph
	row      operator
	opset    int64            // of the operator's domain, where the node stands
	bodies   map[string]*body // its subgraphs, by attribute
	function *body
}

// String names the node among those of its graph.
func (n *node) String() string {
	name := n.node.Name
	if name == "" && len(n.node.Outputs) > 0 {
		name = "-> " + strings.Join(n.node.Outputs, ", ")
	}
	return fmt.Sprintf("node %d %q (%s)", n.index, name, opName(n.node))
}

// A place names a node and those around it, from the graph of the model on. It is
// text when it is printed, which few are.
type place struct{ *node }

func (n *node) place() place { return place{n} }

func (p place) String() string { return within(p.in.of) + p.node.String() }

// within names a node and those around it before what is in it; nil is none.
func within(n *node) string {
	if n == nil {
		return ""
	}
	return n.place().String() + ": "
}

// String names the graph and the nodes around it.
func (b *body) String() string { return fmt.Sprintf("%sgraph %q", within(b.of), b.graph.Name) }

// resolver checks a model and gathers everything that is wrong with it.
type resolver struct {
	model     *Model
	functions map[functionID]*wire.Function
	copied    int // of what calls of functions take; see mostCopied
	missing   []MissingOperator
	missed    map[MissingOperator]int // where in missing one of this name and version is
	unpacked  map[packedList][]byte
	errs      []error
}

// resolve makes a Model of data. The resolver holds what keeps the model from
// being used; an error is about data that is no model at all.
func resolve(name string, data []byte, source wire.Source) (*resolver, error) {
	file, err := wire.DecodeModel(data, nil)
	if err != nil {
		return nil, fmt.Errorf("onnx: %s: %w", name, err)
	}
	m := &Model{
		name: name, wire: file, weights: make(map[*wire.Tensor][]byte), leaves: intern.New[*wire.Tensor, graph.Node](),
		texts: newTexts(nil), loader: wire.NewLoader(source, nil),
	}
	m.texts.id(unusedLabel)
	r := &resolver{model: m, missed: make(map[MissingOperator]int), unpacked: make(map[packedList][]byte)}
	if v := file.IRVersion; v > wire.LatestIRVersion {
		r.failf("IR version %d is newer than %d, the newest that Berth knows", v, wire.LatestIRVersion)
	}
	if m.opsets = r.opsets(file.OpsetImports, nil); len(m.opsets) == 0 {
		m.opsets[""] = 1 // files of IR version 1 and 2 need not say
	}
	r.index(file.Functions)
	m.body = r.graph(file.Graph, &scope{opsets: m.opsets}, nil, nil)
	return r, nil
}

// finish returns the model if nothing is wrong with it, and closes it otherwise.
// Where operators are missing the error wraps an [*UnsupportedError].
func (r *resolver) finish() (*Model, error) {
	err := errors.Join(r.errs...)
	if err == nil {
		return r.model, nil
	}
	if r.missing != nil {
		err = &UnsupportedError{Operators: r.missing, err: err}
	}
	return nil, errors.Join(fmt.Errorf("onnx: %s: %w", r.model.name, err), r.model.Close())
}

// opsets returns the versions that the model imports, or the function that a node
// calls, by domain.
func (r *resolver) opsets(imports []wire.OperatorSet, of *node) map[string]int64 {
	versions := make(map[string]int64, len(imports))
	for _, o := range imports {
		domain := canonicalDomain(o.Domain)
		if newest, known := newestOpsets[domain]; known && o.Version > newest {
			r.failf("%sopset %d of domain %q is newer than %d, the newest that Berth knows", within(of), o.Version, o.Domain, newest)
		}
		if v, twice := versions[domain]; twice && v != o.Version {
			r.failf("%sopset_import names domain %q with versions %d and %d", within(of), o.Domain, v, o.Version)
		}
		versions[domain] = o.Version
	}
	return versions
}

func (r *resolver) failf(format string, args ...any) {
	// A hostile file may have a million faults; the first ones will do.
	const most = 100
	if len(r.errs) < most {
		r.errs = append(r.errs, fmt.Errorf(format, args...))
	}
}

// graph checks the graph of the model, one that the node of holds, or the body of
// the function that it calls. Subgraphs stand within outer.
func (r *resolver) graph(g *wire.Graph, s *scope, of *node, outer *body) *body {
	b := &body{graph: g, scope: s, of: of, outer: outer, initial: make(map[string]*wire.Tensor), names: make(map[string]bool)}
	for i := range g.Initializers {
		r.initializer(b, &g.Initializers[i])
	}
	for i := range g.SparseInitializers {
		r.failf("sparse initializer %d: %w", i, ErrType)
	}
	for i, in := range g.Inputs {
		switch {
		case in.Name == "":
			r.failf("%v: input %d has no name", b, i)
		case b.names[in.Name]:
			r.failf("%v: two inputs are named %q", b, in.Name)
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
			r.failf("%v: output %d names %q, which nothing defines", b, i, out.Name)
		}
	}
	return b
}

func (r *resolver) initializer(b *body, t *wire.Tensor) {
	if t.Name == "" || b.initial[t.Name] != nil {
		r.failf("%v: an initializer has no name or the name of another: %q", b, t.Name)
		return
	}
	b.initial[t.Name] = t
	r.weight(t)
	b.initializers = append(b.initializers, t)
}

// weight finds the bytes of a tensor in the model, reading external data. A tensor
// in a function is found once for all calls.
func (r *resolver) weight(t *wire.Tensor) {
	if _, found := r.model.weights[t]; found {
		return
	}
	if t.DataType == wire.String {
		if ids, err := r.model.textIDs(t); err != nil {
			r.failf("tensor %q: %w", t.Name, err)
		} else {
			r.model.weights[t] = kernel.Bytes(ids)
		}
		return
	}
	typ, err := tensorType(t)
	if err != nil {
		r.failf("tensor %q: %w", t.Name, err)
		return
	}
	data, err := r.model.loader.Bytes(t)
	if err != nil {
		r.failf("%w", err)
		data = nil
	} else {
		data = r.unpack(t.DataType, data, typ.Shape.Elems())
	}
	r.model.weights[t] = data
}

// A packedList is n elements of less than a byte, in memory that begins at first.
type packedList struct {
	first *byte
	n     int
	as    wire.DataType
}

// unpack returns the n elements in data, each in bytes of its own. What several
// tensors have packed in one place is unpacked once: a small file cannot be made
// into many large tensors.
func (r *resolver) unpack(d wire.DataType, data []byte, n int) []byte {
	if d.Bits()%8 == 0 || n == 0 {
		return data
	}
	list := packedList{&data[0], n, d}
	if r.unpacked[list] == nil {
		r.unpacked[list] = d.Unpack(data, n)
	}
	return r.unpacked[list]
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
		n := &node{node: &g.Nodes[i], in: b, index: i}
		nodes[i] = n
		for _, out := range n.node.Outputs {
			if out == "" {
				continue
			}
			if maker[out] != nil || b.names[out] {
				r.failf("%s defines %q, which is defined already", n.place(), out)
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
		r.instantiate(n)
		seen := make(map[string]bool)
		need := func(name string) {
			if m := maker[name]; m != nil && !seen[name] {
				needs[i] = append(needs[i], m)
			}
			seen[name] = true
		}
		for k, in := range n.node.Inputs {
			if in != "" && !b.defines(in) {
				r.failf("%s: input %d names %q, which nothing defines", n.place(), k, in)
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
		r.failf("%v: %w: the nodes cannot be put in order", b, err)
		order = nodes // for what else there is to say
	}
	for _, n := range order {
		r.node(n)
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
func (r *resolver) node(n *node) {
	if f := r.functions[functionOf(n.node)]; f != nil {
		r.call(n, f)
		return
	}
	r.operator(n)
	seen := make(map[string]bool)
	for a := range n.node.Attributes {
		attr := &n.node.Attributes[a]
		if seen[attr.Name] {
			r.failf("%s: attribute %q is given twice", n.place(), attr.Name)
		}
		seen[attr.Name] = true
		switch {
		case attr.RefName != "":
			r.failf("%s: attribute %q refers to %q outside of a function", n.place(), attr.Name, attr.RefName)
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
			n.bodies[attr.Name] = r.graph(attr.Graph, n.in.scope, n, n.in)
		}
	}
}

// operator looks up the operator of n, at the version that is imported where n
// stands, and checks the number of inputs.
func (r *resolver) operator(n *node) {
	if n.node.Overload != "" {
		r.failf("%s: the model has no function for overload %q", n.place(), n.node.Overload)
		return
	}
	domain := canonicalDomain(n.node.Domain)
	opset, imported := n.in.scope.opsets[domain]
	if !imported {
		r.failf("%s: the %s imports no opset of domain %q", n.place(), n.in.scope, n.node.Domain)
		return
	}
	row, err := lookup(domain, n.node.OpType, opset)
	if err != nil {
		r.miss(n, opset)
		r.failf("%s: %w", n.place(), err)
		return
	}
	n.row, n.opset = row, opset
	ins := n.node.Inputs
	if len(ins) > row.max {
		r.failf("%s: has %d inputs, the operator takes at most %d", n.place(), len(ins), row.max)
	}
	for i := range row.min {
		if i >= len(ins) || ins[i] == "" {
			r.failf("%s: input %d is missing, the operator needs %d", n.place(), i, row.min)
			return
		}
	}
}

package onnx

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-go/berth/internal/wire"
)

// A file may define operators itself: functions, each a graph of other operators
// and functions. A call is converted in place. Its body is resolved for that very
// call, because attributes and absent inputs decide what its nodes are:
//
//	Twice(a) <alpha> = { b = LeakyRelu<alpha = @alpha>(a); c = Add(b, b) }
//	y = Twice<alpha = 0.5>(x)
//
// A function takes precedence over an operator of the same name: what a file says
// of itself holds for it.

const (
	// mostCopied bounds what the calls of a model take in all: nodes, names and
	// attributes of the bodies, once for each call. A few functions that call one
	// another twice each would otherwise ask for any number of nodes.
	mostCopied = 1 << 20
	// mostNested bounds how deep functions call others.
	mostNested = 64
)

// A functionID names a function. Functions of one name differ by overload.
type functionID struct{ domain, name, overload string }

// functionOf returns the function that n would call.
func functionOf(n *wire.Node) functionID {
	return functionID{canonicalDomain(n.Domain), n.OpType, n.Overload}
}

// A scope is what nodes may refer to beside values: the operators that are
// imported, and within a function the parameters of a call.
type scope struct {
	opsets   map[string]int64 // by domain
	function *wire.Function   // nil in the graph of the model
	// params are the parameters with a value, from the call or by default.
	params map[string]*wire.Attribute
	absent map[string]bool // inputs that the call leaves out
	caller *scope
}

// String names the scope in errors.
func (s *scope) String() string {
	if s.function == nil {
		return "model"
	}
	return fmt.Sprintf("function %q", s.function.Name)
}

// index enters the functions of the model.
func (r *resolver) index(functions []wire.Function) {
	r.functions = make(map[functionID]*wire.Function, len(functions))
	for i := range functions {
		f := &functions[i]
		id := functionID{canonicalDomain(f.Domain), f.Name, f.Overload}
		if f.Name == "" || r.functions[id] != nil {
			r.failf("function %d has no name or the domain, name and overload of another: %q, %q, %q", i, f.Domain, f.Name, f.Overload)
			continue
		}
		r.functions[id] = f
	}
}

// call resolves the body of f for the call n.
func (r *resolver) call(n *node, f *wire.Function) {
	depth := 0
	for s := n.in.scope; s != nil; s = s.caller {
		if s.function == f {
			r.failf("%s: function %q calls itself", n.place(), f.Name)
			return
		}
		depth++
	}
	if depth > mostNested {
		r.failf("%s: functions call others more than %d deep", n.place(), mostNested)
		return
	}
	if r.copied += sizeOf(f.Nodes) + len(f.Inputs) + len(f.Outputs) + len(f.Attributes) + len(f.Defaults); r.copied > mostCopied {
		r.failf("%s: the calls of functions hold more than %d nodes, names and attributes in all", n.place(), mostCopied)
		return
	}
	if ins, outs := len(n.node.Inputs), len(n.node.Outputs); ins > len(f.Inputs) || outs > len(f.Outputs) {
		r.failf("%s: has %d inputs and %d outputs, function %q has %d and %d", n.place(), ins, outs, f.Name, len(f.Inputs), len(f.Outputs))
		return
	}
	s := &scope{function: f, params: r.arguments(n, f), absent: make(map[string]bool), caller: n.in.scope}
	s.opsets = r.opsets(f.OpsetImports, n)
	g := &wire.Graph{Name: f.Name, Nodes: f.Nodes, Inputs: named(f.Inputs), Outputs: named(f.Outputs)}
	for i, name := range f.Inputs {
		if i >= len(n.node.Inputs) || n.node.Inputs[i] == "" {
			s.absent[name] = true
		}
	}
	n.function = r.graph(g, s, n, nil)
}

// sizeOf returns how many nodes, names and attributes there are in nodes and
// their subgraphs.
func sizeOf(nodes []wire.Node) int {
	size := 0
	for i := range nodes {
		n := &nodes[i]
		size += 1 + len(n.Inputs) + len(n.Outputs) + len(n.Attributes)
		for _, g := range subgraphs(n) {
			size += len(g.Inputs) + len(g.Outputs) + len(g.Initializers) + sizeOf(g.Nodes)
		}
	}
	return size
}

// named returns values of the given names, of any type.
func named(names []string) []wire.ValueInfo {
	values := make([]wire.ValueInfo, len(names))
	for i, name := range names {
		values[i].Name = name
	}
	return values
}

// arguments returns the parameters of f that have a value in the call n.
func (r *resolver) arguments(n *node, f *wire.Function) map[string]*wire.Attribute {
	known := make(map[string]bool)
	values := make(map[string]*wire.Attribute)
	declare := func(name string) {
		if name == "" || known[name] {
			r.failf("%s: a parameter of function %q has no name or that of another: %q", n.place(), f.Name, name)
		}
		known[name] = true
	}
	for _, name := range f.Attributes {
		declare(name)
	}
	for i := range f.Defaults {
		declare(f.Defaults[i].Name)
		values[f.Defaults[i].Name] = &f.Defaults[i]
	}
	given := make(map[string]bool)
	for i := range n.node.Attributes {
		a := &n.node.Attributes[i]
		switch {
		case given[a.Name]:
			r.failf("%s: attribute %q is given twice", n.place(), a.Name)
		case a.RefName != "":
			r.failf("%s: attribute %q refers to %q outside of a function", n.place(), a.Name, a.RefName)
		case a.Graph != nil || len(a.Graphs) > 0:
			// Its names would be those of the caller.
			r.failf("%s: attribute %q holds a graph, which cannot be passed to a function", n.place(), a.Name)
		case known[a.Name]:
			values[a.Name] = a
		case !strings.HasPrefix(a.Name, "__"): // see unknownAttributes
			r.failf("%s: function %q has no attribute %q", n.place(), f.Name, a.Name)
		}
		given[a.Name] = true
	}
	return values
}

// instantiate gives a node of a function the attributes and inputs that it has in
// this call. An attribute that refers to a parameter without a value is left out,
// and so is an input that the call leaves out.
func (r *resolver) instantiate(n *node) {
	s := n.in.scope
	if s.function == nil {
		return
	}
	copied := *n.node
	copied.Attributes = nil
	for _, a := range n.node.Attributes {
		if a.RefName != "" {
			value := s.params[a.RefName]
			switch {
			case value == nil && !slices.Contains(s.function.Attributes, a.RefName):
				r.failf("%s: attribute %q refers to %q, which function %q does not have", n.place(), a.Name, a.RefName, s.function.Name)
				continue
			case value == nil:
				continue
			case a.Kind != wire.AttrUndefined && a.Kind != value.Kind:
				r.failf("%s: attribute %q is of kind %v, what it refers to of kind %v", n.place(), a.Name, a.Kind, value.Kind)
				continue
			}
			name := a.Name
			a = *value
			a.Name = name
		}
		copied.Attributes = append(copied.Attributes, a)
	}
	copied.Inputs = make([]string, len(n.node.Inputs))
	for i, name := range n.node.Inputs {
		if !n.in.leavesOut(name) {
			copied.Inputs[i] = name
		}
	}
	n.node = &copied
}

// leavesOut reports whether name is, where b stands, an input of a function that
// the call leaves out.
func (b *body) leavesOut(name string) bool {
	for b.outer != nil && !b.names[name] {
		b = b.outer
	}
	return b.outer == nil && b.scope.absent[name]
}

// function has the body of the function that the node calls converted in its place.
func (c *call) function() {
	b := c.node.function
	inner, err := c.imp.enter(b, -1)
	check(err)
	for i, s := range c.symbols {
		if s.kind != noValue {
			c.imp.spaces[inner].values[b.graph.Inputs[i].Name] = s
		}
	}
	c.replace(inner, b)
}

package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/wire"
)

// local returns a node that calls a function of domain "local".
func local(name string, ins, outs []string, attrs ...wire.Attribute) wire.Node {
	n := nodeOf(name, ins, outs, attrs...)
	n.Domain = "local"
	return n
}

// refers is an attribute that takes its value from a parameter.
func refers(name, parameter string, kind wire.AttrKind) wire.Attribute {
	return wire.Attribute{Name: name, RefName: parameter, Kind: kind}
}

// leaky is a function of domain "local": a LeakyRelu whose slope is a parameter.
func leaky(name string) wire.Function {
	return wire.Function{
		Domain: "local", Name: name, Inputs: names{"a"}, Outputs: names{"b"}, Attributes: names{"slope"},
		OpsetImports: []wire.OperatorSet{{Version: 13}},
		Nodes:        []wire.Node{nodeOf("LeakyRelu", names{"a"}, names{"b"}, refers("alpha", "slope", wire.AttrFloat))},
	}
}

// modelOf is a model that computes y from x, of two elements, by the given nodes.
func modelOf(nodes []wire.Node, functions ...wire.Function) []byte {
	return addModel(func(m *wire.Model) {
		m.Graph.Nodes, m.Functions = nodes, functions
	})
}

// TestFunctions runs models with functions of their own, on x = [-1 2].
func TestFunctions(t *testing.T) {
	imports := func(v int64) []wire.OperatorSet { return []wire.OperatorSet{{Version: v}} }
	call := func(attrs ...wire.Attribute) []wire.Node {
		return []wire.Node{local("F", names{"x"}, names{"y"}, attrs...)}
	}
	withDefault := leaky("F")
	withDefault.Attributes, withDefault.Defaults = nil, []wire.Attribute{attrFloat("slope", 0.25)}
	standard := leaky("Relu")
	standard.Domain = "ai.onnx"
	overloads := []wire.Function{leaky("F"), leaky("F")}
	overloads[1].Overload = "twice"
	overloads[1].Nodes = []wire.Node{nodeOf("Add", names{"a", "a"}, names{"b"})}
	overloaded := call()
	overloaded[0].Overload = "twice"
	// The second input of Clip is optional, and so are those of a function.
	clip := wire.Function{Domain: "local", Name: "F", Inputs: names{"a", "low", "high"}, Outputs: names{"b", "low2"}, OpsetImports: imports(13),
		Nodes: []wire.Node{nodeOf("Clip", names{"a", "low", "high"}, names{"b"}), nodeOf("Add", names{"a", "a"}, names{"low2"})}}
	number := func(name string, v float32) wire.Node {
		return nodeOf("Constant", nil, names{name}, attrFloat("value_float", v))
	}
	for _, c := range []struct {
		name      string
		nodes     []wire.Node
		functions []wire.Function
		want      []float32
	}{
		{"an attribute", call(attrFloat("slope", 0.5)), []wire.Function{leaky("F")}, []float32{-0.5, 2}},
		{"an attribute that is not given and has no default is that of the operator", call(), []wire.Function{leaky("F")}, []float32{-0.01, 2}},
		{"a default", call(), []wire.Function{withDefault}, []float32{-0.25, 2}},
		{"a value in place of the default", call(attrFloat("slope", 0.5)), []wire.Function{withDefault}, []float32{-0.5, 2}},
		{"a note of another program", call(wire.Attribute{Name: "__doc", Kind: wire.AttrString}), []wire.Function{withDefault}, []float32{-0.25, 2}},
		{"two calls, each with its attribute", []wire.Node{
			local("F", names{"x"}, names{"h"}, attrFloat("slope", 0.5)), local("F", names{"h"}, names{"y"}, attrFloat("slope", 10)),
		}, []wire.Function{leaky("F")}, []float32{-5, 2}},
		{"calls in any order", []wire.Node{
			local("F", names{"h"}, names{"y"}, attrFloat("slope", 10)), local("F", names{"x"}, names{"h"}, attrFloat("slope", 0.5)),
		}, []wire.Function{leaky("F")}, []float32{-5, 2}},
		{"in place of an operator", []wire.Node{nodeOf("Relu", names{"x"}, names{"y"}, attrFloat("slope", 0.5))}, []wire.Function{standard}, []float32{-0.5, 2}},
		{"overloads", overloaded, overloads, []float32{-2, 4}},
		{"the first of overloads", call(attrFloat("slope", 3)), overloads, []float32{-3, 2}},
		{"a function that calls another and passes its parameter on", call(attrFloat("outer", 0.5)), []wire.Function{
			{Domain: "local", Name: "F", Inputs: names{"x"}, Outputs: names{"y"}, Attributes: names{"outer"}, OpsetImports: imports(13), Nodes: []wire.Node{
				local("G", names{"h"}, names{"y"}, refers("slope", "outer", wire.AttrFloat)), nodeOf("Add", names{"x", "x"}, names{"h"}),
			}}, leaky("G"),
		}, []float32{-1, 4}},
		{"names that the graph around has too", call(), []wire.Function{
			{Domain: "local", Name: "F", Inputs: names{"w"}, Outputs: names{"x"}, OpsetImports: imports(13), Nodes: []wire.Node{
				nodeOf("Neg", names{"w"}, names{"y"}), nodeOf("Add", names{"y", "y"}, names{"x"})}},
		}, []float32{2, -4}},
		{"an input as output", call(), []wire.Function{
			{Domain: "local", Name: "F", Inputs: names{"a"}, Outputs: names{"a"}}}, []float32{-1, 2}},
		// ReduceSum has axes as an attribute up to version 12; the model is at 13.
		{"an opset of its own", call(), []wire.Function{
			{Domain: "local", Name: "F", Inputs: names{"a"}, Outputs: names{"b"}, OpsetImports: imports(11), Nodes: []wire.Node{
				nodeOf("ReduceSum", names{"a"}, names{"s"}, attrInts("axes", 0)), nodeOf("Add", names{"a", "s"}, names{"b"})}},
		}, []float32{0, 3}},
		{"inputs left out at the end", []wire.Node{number("low", 0), local("F", names{"x", "low"}, names{"y"})}, []wire.Function{clip}, []float32{0, 2}},
		{"inputs left out in between", []wire.Node{number("high", 1), local("F", names{"x", "", "high"}, names{"y"})}, []wire.Function{clip}, []float32{-1, 1}},
		{"outputs left out", []wire.Node{local("F", names{"x"}, names{"", "y"})}, []wire.Function{clip}, []float32{-2, 4}},
		{"an input left out, passed on", []wire.Node{local("H", names{"x"}, names{"y"})}, []wire.Function{clip,
			{Domain: "local", Name: "H", Inputs: names{"a", "b"}, Outputs: names{"c"}, Nodes: []wire.Node{local("F", names{"a", "b"}, names{"c"})}},
		}, []float32{-1, 2}},
		{"constants", call(), []wire.Function{
			{Domain: "local", Name: "F", Inputs: names{"a"}, Outputs: names{"b"}, OpsetImports: imports(13), Nodes: []wire.Node{
				nodeOf("Constant", nil, names{"c"}, wire.Attribute{Name: "value", Kind: wire.AttrTensor, Tensor: new(floatTensor("", 5, 6))}),
				nodeOf("Add", names{"a", "c"}, names{"b"})}},
		}, []float32{4, 8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Parse(modelOf(c.nodes, c.functions...))
			if err != nil {
				t.Fatal(err)
			}
			x, err := berth.FromSlice([]float32{-1, 2}, 2)
			if err != nil {
				t.Fatal(err)
			}
			out, err := m.Run(t.Context(), map[string]*berth.Tensor{"x": x})
			if err != nil {
				t.Fatal(err)
			}
			got, err := berth.Data[float32](out["y"])
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%v, %v, want %v", got, err, c.want)
			}
			if _, err := m.Compile(t.Context(), nil); err != nil {
				t.Errorf("as a program: %v", err)
			}
		})
	}
}

// TestFunctionFaults lists functions and calls that are wrong, with what the error
// has to say.
func TestFunctionFaults(t *testing.T) {
	// f is leaky("F") with a change.
	f := func(change func(f *wire.Function)) []wire.Function {
		f := leaky("F")
		change(&f)
		return []wire.Function{f}
	}
	call := local("F", names{"x"}, names{"y"})
	graphAttr := wire.Attribute{Name: "slope", Kind: wire.AttrGraph, Graph: &wire.Graph{}}
	chain := func(n, calls int) []wire.Function {
		var list []wire.Function
		for i := range n {
			g := wire.Function{Domain: "local", Name: fmt.Sprint("F", i), Inputs: names{"a"}, Outputs: names{"v0"}}
			for k := range calls {
				g.Nodes = append(g.Nodes, local(fmt.Sprint("F", i+1), names{"a"}, names{fmt.Sprint("v", k)}))
			}
			list = append(list, g)
		}
		last := leaky(fmt.Sprint("F", n))
		last.Outputs[0], last.Nodes[0].Outputs[0] = "v0", "v0"
		return append(list, last)
	}
	for _, c := range []struct {
		name      string
		node      wire.Node
		functions []wire.Function
		want      string
	}{
		{"recursion", call, f(func(f *wire.Function) {
			f.Nodes = []wire.Node{local("F", names{"a"}, names{"b"})}
		}), `node 0 "Y" (local.F): node 0 "B" (local.F): function "F" calls itself`},
		{"recursion through another", call, append(f(func(f *wire.Function) {
			f.Nodes = []wire.Node{local("G", names{"a"}, names{"b"})}
		}), wire.Function{Domain: "local", Name: "G", Inputs: names{"a"}, Outputs: names{"b"}, Nodes: []wire.Node{local("F", names{"a"}, names{"b"})}}),
			`node 0 "Y" (local.F): node 0 "B" (local.G): node 0 "B" (local.F): function "F" calls itself`},
		{"recursion through a subgraph", call, f(func(f *wire.Function) {
			f.Nodes = []wire.Node{nodeOf("If", names{"a"}, names{"b"}, wire.Attribute{Name: "then_branch", Kind: wire.AttrGraph, Graph: &wire.Graph{
				Nodes: []wire.Node{local("F", names{"a"}, names{"c"})}, Outputs: []wire.ValueInfo{{Name: "c"}}}})}
		}), `node 0 "Y" (local.F): node 0 "B" (If): node 0 "C" (local.F): function "F" calls itself`},
		{"too deep", local("F0", names{"x"}, names{"y"}), chain(70, 1), "functions call others more than 64 deep"},
		{"too many nodes", local("F0", names{"x"}, names{"y"}), chain(30, 2), "the calls of functions hold more than 1048576"},
		{"two of one name", call, []wire.Function{leaky("F"), leaky("F")}, `function 1 has no name or the domain, name and overload of another: "local", "F", ""`},
		{"no name", call, f(func(f *wire.Function) { f.Name = "" }), "function 0 has no name"},
		{"an overload that is not there", func() wire.Node { n := call; n.Overload = "o"; return n }(), []wire.Function{leaky("F")}, `the model has no function for overload "o"`},
		{"an overload of an operator", func() wire.Node { n := nodeOf("Relu", names{"x"}, names{"y"}); n.Overload = "o"; return n }(), nil, `the model has no function for overload "o"`},
		{"too many inputs", local("F", names{"x", "x"}, names{"y"}), []wire.Function{leaky("F")}, `has 2 inputs and 1 outputs, function "F" has 1 and 1`},
		{"too many outputs", local("F", names{"x"}, names{"y", "z"}), []wire.Function{leaky("F")}, `has 1 inputs and 2 outputs, function "F" has 1 and 1`},
		{"an unknown attribute", local("F", names{"x"}, names{"y"}, attrFloat("slop", 1)), []wire.Function{leaky("F")}, `function "F" has no attribute "slop"`},
		{"an attribute twice", local("F", names{"x"}, names{"y"}, attrFloat("slope", 1), attrFloat("slope", 1)), []wire.Function{leaky("F")}, `attribute "slope" is given twice`},
		{"an attribute of another kind", local("F", names{"x"}, names{"y"}, attrInt("slope", 1)), []wire.Function{leaky("F")}, `node 0 "Y" (local.F): node 0 "B" (LeakyRelu): attribute "alpha" is of kind FLOAT, what it refers to of kind INT`},
		{"a graph as attribute", local("F", names{"x"}, names{"y"}, graphAttr), []wire.Function{leaky("F")}, `attribute "slope" holds a graph`},
		{"a reference outside", local("F", names{"x"}, names{"y"}, refers("slope", "p", wire.AttrFloat)), []wire.Function{leaky("F")}, `node 0 "Y" (local.F): attribute "slope" refers to "p" outside of a function`},
		{"a parameter that is not there", call, f(func(f *wire.Function) { f.Attributes = nil }), `attribute "alpha" refers to "slope", which function "F" does not have`},
		{"a parameter twice", call, f(func(f *wire.Function) { f.Defaults = attrs(attrFloat("slope", 1)) }), `has no name or that of another: "slope"`},
		{"an input twice", call, f(func(f *wire.Function) { f.Inputs = names{"a", "a"} }), `node 0 "Y" (local.F): graph "F": two inputs are named "a"`},
		{"an output of nothing", call, f(func(f *wire.Function) { f.Outputs = names{"c"} }), `node 0 "Y" (local.F): graph "F": output 0 names "c", which nothing defines`},
		{"a name of the graph around", call, f(func(f *wire.Function) { f.Nodes[0].Inputs[0] = "x" }), `node 0 "Y" (local.F): node 0 "B" (LeakyRelu): input 0 names "x", which nothing defines`},
		{"no opset", call, f(func(f *wire.Function) { f.OpsetImports = nil }), `node 0 "Y" (local.F): node 0 "B" (LeakyRelu): the function "F" imports no opset of domain ""`},
		{"an opset to come", call, f(func(f *wire.Function) { f.OpsetImports[0].Version = 99 }), `node 0 "Y" (local.F): opset 99 of domain "" is newer`},
		{"an operator that is missing", call, f(func(f *wire.Function) { f.Nodes[0].OpType = "Frobnicate" }), `node 0 "Y" (local.F): node 0 "B" (Frobnicate): operator is not supported`},
		{"a needed input left out", local("F", nil, names{"y"}), []wire.Function{leaky("F")}, `node 0 "Y" (local.F): node 0 "B" (LeakyRelu): input 0 is missing, the operator needs 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse(modelOf([]wire.Node{c.node}, c.functions...))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	relu := nodeOf("Relu", names{"h"}, names{"y"})
	for _, c := range []struct {
		name     string
		nodes    []wire.Node
		function wire.Function
		want     string
	}{
		{"a node", []wire.Node{call}, leaky("F"), `node 0 "Y" (local.F): node 0 "B" (LeakyRelu): `},
		{"a value that is absent", []wire.Node{local("F", names{"x"}, names{"h"}), relu},
			wire.Function{Domain: "local", Name: "F", Inputs: names{"a", "b"}, Outputs: names{"b"}}, `node 1 "Y" (Relu): input 0 names "h", which is absent`},
		{"an output that is absent", []wire.Node{call}, wire.Function{Domain: "local", Name: "F", Inputs: names{"a", "b"}, Outputs: names{"b"}}, `output y unknown is absent`},
	} {
		t.Run("in a run/"+c.name, func(t *testing.T) {
			m, err := Parse(addModel(func(m *wire.Model) {
				m.Graph.Inputs[0].Type.Tensor.Elem = wire.Int32 // which LeakyRelu does not take
				m.Graph.Nodes, m.Functions = c.nodes, []wire.Function{c.function}
			}))
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.Compile(t.Context(), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrUnsupported) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// TestFunctionInSubgraph looks at the nodes of a subgraph of a function: they have
// its operators and parameters, and see its names but none around the call.
func TestFunctionInSubgraph(t *testing.T) {
	f := leaky("F")
	f.Inputs = names{"a", "missing"}
	f.Nodes = []wire.Node{nodeOf("Holds", names{"a"}, names{"b"}, wire.Attribute{Name: "g", Kind: wire.AttrGraph, Graph: &wire.Graph{
		Nodes: []wire.Node{
			nodeOf("LeakyRelu", names{"a"}, names{"c"}, refers("alpha", "slope", wire.AttrFloat)),
			nodeOf("Clip", names{"c", "missing"}, names{"d"}),
			nodeOf("Relu", names{"x"}, names{"e"}),
			nodeOf("Holds", names{"a"}, names{"f"}, wire.Attribute{Name: "g", Kind: wire.AttrGraph, Graph: &wire.Graph{
				Nodes: []wire.Node{nodeOf("Relu", names{"a"}, names{"missing"}), nodeOf("Relu", names{"missing"}, names{"h"})},
			}}),
		},
		Outputs: []wire.ValueInfo{{Name: "d"}},
	}})}
	r, err := resolve("model", modelOf([]wire.Node{local("F", names{"x"}, names{"y"}, attrFloat("slope", 0.5))}, f), nil)
	if err != nil {
		t.Fatal(err)
	}
	inner := r.model.body.nodes[0].function.nodes[0].bodies["g"]
	if a := inner.nodes[0].node.Attributes; len(a) != 1 || a[0].Name != "alpha" || a[0].Float != 0.5 {
		t.Errorf("attributes %v", a)
	}
	if ins := inner.nodes[1].node.Inputs; !slices.Equal(ins, names{"c", ""}) {
		t.Errorf("inputs %q", ins)
	}
	// One that a graph within this one defines is another value.
	if ins := inner.nodes[3].bodies["g"].nodes[1].node.Inputs; !slices.Equal(ins, names{"missing"}) {
		t.Errorf("inputs %q", ins)
	}
	err = errors.Join(r.errs...)
	want := `node 0 "Y" (local.F): node 0 "B" (Holds): node 2 "E" (Relu): input 0 names "x", which nothing defines`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestFunctionsOnHost runs functions that hold control flow, and control flow that
// calls functions, on x = [-1 2]. Conditions depend on data.
func TestFunctionsOnHost(t *testing.T) {
	graphAttr := func(name string, nodes ...wire.Node) wire.Attribute {
		out := nodes[len(nodes)-1].Outputs[0]
		return wire.Attribute{Name: name, Kind: wire.AttrGraph, Graph: &wire.Graph{Name: name, Nodes: nodes, Outputs: []wire.ValueInfo{{Name: out}}}}
	}
	// pick is LeakyRelu of a where c holds, and -a otherwise.
	pick := wire.Function{
		Domain: "local", Name: "Pick", Inputs: names{"a", "c"}, Outputs: names{"b"}, Attributes: names{"slope"},
		OpsetImports: []wire.OperatorSet{{Version: 13}},
		Nodes: []wire.Node{nodeOf("If", names{"c"}, names{"b"},
			graphAttr("then_branch", local("F", names{"a"}, names{"t"}, refers("slope", "slope", wire.AttrFloat))),
			graphAttr("else_branch", nodeOf("Neg", names{"a"}, names{"e"})))},
	}
	// cond is whether the sum of v is less than 0, in a graph of the model.
	cond := func(v, out string) []wire.Node {
		return []wire.Node{nodeOf("ReduceSum", names{v}, names{v + "_sum"}, attrInt("keepdims", 0)),
			nodeOf("Sub", names{v + "_sum", v + "_sum"}, names{v + "_zero"}), nodeOf("Less", names{v + "_sum", v + "_zero"}, names{out})}
	}
	for _, c := range []struct {
		name  string
		nodes []wire.Node
		want  []float32
	}{
		{"a branch of a function", append(cond("x", "c"), local("Pick", names{"x", "c"}, names{"y"}, attrFloat("slope", 0.5))), []float32{1, -2}},
		{"two calls, one for each branch", slices.Concat(cond("x", "c"), cond("h", "d"), []wire.Node{
			local("Pick", names{"x", "c"}, names{"h"}, attrFloat("slope", 0.5)), local("Pick", names{"h", "d"}, names{"y"}, attrFloat("slope", 0.25)),
		}), []float32{1, -0.5}},
		{"a call in a branch", append(cond("x", "c"), nodeOf("If", names{"c"}, names{"y"},
			graphAttr("then_branch", nodeOf("Neg", names{"x"}, names{"t"})),
			graphAttr("else_branch", local("F", names{"x"}, names{"e"}, attrFloat("slope", 0.5))))), []float32{-0.5, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Parse(modelOf(c.nodes, pick, leaky("F")))
			if err != nil {
				t.Fatal(err)
			}
			x, err := berth.FromSlice([]float32{-1, 2}, 2)
			if err != nil {
				t.Fatal(err)
			}
			out, err := m.Run(t.Context(), map[string]*berth.Tensor{"x": x})
			if err != nil {
				t.Fatal(err)
			}
			got, err := berth.Data[float32](out["y"])
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%v, %v, want %v", got, err, c.want)
			}
		})
	}
}

package onnx

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/wire"
)

type values = map[string]Value

// arr is an array of one axis, or of the given shape.
func arr[T dtype.Element](elems []T, dims ...int) *Array {
	if dims == nil {
		dims = []int{len(elems)}
	}
	return must(NewArray(elems, dims...))
}

func vec(v ...float32) *Array     { return arr(v) }
func whole64(v ...int64) *Array   { return arr(v) }
func num(v float32) *Array        { return arr([]float32{v}, []int{}...) }
func count(v int64) *Array        { return must(NewArray([]int64{v})) }
func flag(v bool) *Array          { return must(NewArray([]bool{v})) }
func words(text ...string) *Array { return must(NewStrings(text, len(text))) }

// show prints a value with its elements, as in [float32[2] 1 2].
func show(v Value) string {
	switch v := v.(type) {
	case *Array:
		var b strings.Builder
		b.WriteString(v.Type())
		for i := range v.dims.Elems() {
			if v.typ == dtype.Invalid {
				fmt.Fprintf(&b, " %q", v.text[i])
			} else {
				fmt.Fprintf(&b, " %v", kernel.ScalarAt(v.typ, v.data, i).Float64())
			}
		}
		return b.String()
	case Sequence:
		list := make([]string, len(v))
		for i, item := range v {
			list[i] = show(item)
		}
		return "[" + strings.Join(list, "; ") + "]"
	case *Map:
		return "{" + show(v.Keys) + ": " + show(v.Values) + "}"
	}
	return "none"
}

// subgraph returns a graph whose inputs and outputs have types that it does not state.
func subgraph(nodes []wire.Node, ins, outs names, inits ...wire.Tensor) *wire.Graph {
	g := &wire.Graph{Name: "body", Nodes: nodes, Initializers: inits}
	for _, name := range ins {
		g.Inputs = append(g.Inputs, wire.ValueInfo{Name: name})
	}
	for _, name := range outs {
		g.Outputs = append(g.Outputs, wire.ValueInfo{Name: name})
	}
	return g
}

func attrGraph(name string, g *wire.Graph) wire.Attribute {
	return wire.Attribute{Name: name, Kind: wire.AttrGraph, Graph: g}
}

func ifNode(cond string, outs names, then, other *wire.Graph) wire.Node {
	return nodeOf("If", names{cond}, outs, attrGraph("then_branch", then), attrGraph("else_branch", other))
}

func loopNode(ins, outs names, body *wire.Graph) wire.Node {
	return nodeOf("Loop", ins, outs, attrGraph("body", body))
}

func scanNode(scanned int64, ins, outs names, body *wire.Graph, more ...wire.Attribute) wire.Node {
	return nodeOf("Scan", ins, outs, append(more, attrGraph("body", body), attrInt("num_scan_inputs", scanned))...)
}

// constOf is a node whose output is a constant.
func constOf[T dtype.Element](out string, elems []T, dims ...int) wire.Node {
	return nodeOf("Constant", nil, names{out}, wire.Attribute{Name: "value", Kind: wire.AttrTensor, Tensor: protoOf(out, arr(elems, dims...))})
}

// scalar64 is likewise one of a number.
func scalar64(out string, v int64) wire.Node {
	return nodeOf("Constant", nil, names{out}, attrInt("value_int", v))
}

func protoOf(name string, a *Array) *wire.Tensor {
	p := &wire.Tensor{Name: name, Dims: []int64{}, Raw: slices.Clone(a.data)}
	for _, d := range a.dims {
		p.Dims = append(p.Dims, int64(d))
	}
	if a.typ == dtype.Invalid {
		p.DataType, p.Raw = wire.String, nil
		for _, s := range a.text {
			p.StringData = append(p.StringData, []byte(s))
		}
		return p
	}
	for elem, t := range elementTypes {
		if t == a.typ {
			p.DataType = elem
		}
	}
	return p
}

// hostModel is a model of newest opsets whose inputs take any value.
func hostModel(t testing.TB, nodes []wire.Node, ins, outs names, inits ...wire.Tensor) *Model {
	t.Helper()
	m, err := Parse(hostFile(nodes, ins, outs, inits...))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func hostFile(nodes []wire.Node, ins, outs names, inits ...wire.Tensor) []byte {
	return wire.AppendModel(nil, &wire.Model{
		IRVersion: 8, OpsetImports: []wire.OperatorSet{{Version: 21}, {Domain: mlDomain, Version: 4}},
		Graph: subgraph(nodes, ins, outs, inits...),
	})
}

// A hostTest is a model with inputs and what it makes of them.
type hostTest struct {
	what  string
	nodes []wire.Node
	in    values
	want  map[string]string // as show prints it
	err   string            // part of the error that is wanted instead
}

func runHostTests(t *testing.T, cases []hostTest) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.what, func(t *testing.T) { c.run(t) })
	}
}

// run has the model run in a session three times, with other inputs of Model.RunValues in
// between, so that nothing of one run may be left in the next.
func (c hostTest) run(t *testing.T) {
	t.Helper()
	outs := slices.Sorted(maps.Keys(c.want))
	if c.err != "" {
		outs = names{"y"}
	}
	m, err := Parse(hostFile(c.nodes, slices.Sorted(maps.Keys(c.in)), outs))
	if err != nil {
		c.failed(t, err)
		return
	}
	s, err := m.NewSession(&SessionOptions{Workers: 1, Poison: true, MaxIterations: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	before := make(map[string]string)
	for name, v := range c.in {
		before[name] = show(v)
	}
	kept := make(values)
	for run := range 3 {
		out := make(values)
		if run == 2 {
			maps.Copy(out, kept) // arrays to fill
		}
		if err := s.Run(t.Context(), c.in, out); err != nil {
			c.failed(t, err)
			return
		}
		c.check(t, fmt.Sprintf("run %d", run), out)
		frozen, err := m.RunValues(t.Context(), nil, c.frozen())
		if err != nil {
			t.Fatal(err)
		}
		c.check(t, "with inputs that never change", frozen)
		kept = out
	}
	for name, v := range c.in {
		if show(v) != before[name] {
			t.Errorf("input %q is %s after the runs, was %s", name, show(v), before[name])
		}
	}
}

// frozen returns the inputs as arrays of tensors are.
func (c hostTest) frozen() values {
	in := make(values)
	for name, v := range c.in {
		if a, ok := v.(*Array); ok && a.typ == dtype.Invalid {
			in[name] = v
		} else {
			in[name] = frozenCopy(v)
		}
	}
	return in
}

func (c hostTest) check(t *testing.T, what string, out values) {
	t.Helper()
	for name, want := range c.want {
		if got := show(out[name]); got != want {
			t.Errorf("%s: output %q is\n\t%s, want\n\t%s", what, name, got, want)
		}
	}
}

func (c hostTest) failed(t *testing.T, err error) {
	t.Helper()
	if c.err == "" || !strings.Contains(err.Error(), c.err) {
		t.Fatalf("error %v, want %q", err, c.err)
	}
}

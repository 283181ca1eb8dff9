package onnx

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/internal/wire"
)

// TestTextOperators has operators that move elements, and those that compare them, take
// strings; none of them may mix these with numbers, or compute with their numbers.
func TestTextOperators(t *testing.T) {
	words, err := NewStrings([]string{"b", "a", "b"}, 3)
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := NewArray([]int64{0, 2, 1}, 3)
	if err != nil {
		t.Fatal(err)
	}
	truths, err := NewArray([]bool{true, false, true}, 3)
	if err != nil {
		t.Fatal(err)
	}
	type ins = []Value
	for _, c := range []struct {
		op    string
		attrs []wire.Attribute
		in    ins
		want  any
	}{
		{"Concat", attrs(attrInt("axis", 0)), ins{words, words}, []string{"b", "a", "b", "b", "a", "b"}},
		{"Concat", attrs(attrInt("axis", 0)), ins{words, numbers}, "input 1 \"x1\" holds numbers, beside strings"},
		{"Gather", nil, ins{words, numbers}, []string{"b", "b", "a"}},
		{"Gather", nil, ins{numbers, words}, "input 0 \"x0\" holds numbers, beside strings"},
		{"Where", nil, ins{truths, words, words}, []string{"b", "a", "b"}},
		{"Where", nil, ins{truths, words, numbers}, "input 2 \"x2\" holds numbers, beside strings"},
		{"ScatterElements", nil, ins{words, numbers, words}, []string{"b", "b", "a"}},
		{"ScatterElements", attrs(attrText("reduction", "add")), ins{words, numbers, words}, `"reduction" is "add"`},
		{"ScatterElements", nil, ins{words, numbers, numbers}, "input 2 \"x2\" holds numbers, beside strings"},
		{"Equal", nil, ins{words, words}, []bool{true, true, true}},
		{"Equal", nil, ins{words, numbers}, "input 1 \"x1\" holds numbers, beside strings"},
		{"Shape", nil, ins{words}, []int64{3}},
		{"Add", nil, ins{words, words}, "STRING"},
	} {
		g := wire.Graph{Name: "test", Outputs: []wire.ValueInfo{{Name: "y"}}}
		n := wire.Node{OpType: c.op, Attributes: c.attrs, Outputs: []string{"y"}}
		in := make(map[string]Value)
		for i, v := range c.in {
			name := "x" + string(rune('0'+i))
			n.Inputs, in[name] = append(n.Inputs, name), v
			g.Inputs = append(g.Inputs, wire.ValueInfo{Name: name})
		}
		g.Nodes = []wire.Node{n}
		m, err := Parse(wire.AppendModel(nil, &wire.Model{IRVersion: 8, OpsetImports: []wire.OperatorSet{{Version: 18}}, Graph: &g}))
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.RunValues(t.Context(), nil, in)
		if text, ok := c.want.(string); ok {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s of %v: error %v, want %s", c.op, c.in, err, text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.op, err)
			continue
		}
		y := out["y"].(*Array)
		same := false
		switch want := c.want.(type) {
		case []string:
			got, err := y.Strings()
			same = err == nil && slices.Equal(got, want)
		case []bool:
			got, err := Elements[bool](y)
			same = err == nil && slices.Equal(got, want)
		case []int64:
			got, err := Elements[int64](y)
			same = err == nil && slices.Equal(got, want)
		}
		if !same {
			t.Errorf("%s gives %s, want %v", c.op, TypeOf(y), c.want)
		}
	}
}

// TestHostWithoutOutputs runs nodes of the host that name no output.
func TestHostWithoutOutputs(t *testing.T) {
	words, err := NewStrings([]string{"a"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []wire.Node{
		{OpType: "StringConcat", Inputs: []string{"x", "x"}},
		{OpType: "StringSplit", Inputs: []string{"x"}},
		{OpType: "Unique", Inputs: []string{"x"}},
	} {
		g := wire.Graph{Name: "test", Inputs: []wire.ValueInfo{{Name: "x"}}, Outputs: []wire.ValueInfo{{Name: "x"}}, Nodes: []wire.Node{n}}
		m, err := Parse(wire.AppendModel(nil, &wire.Model{IRVersion: 8, OpsetImports: []wire.OperatorSet{{Version: 20}}, Graph: &g}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.RunValues(t.Context(), nil, map[string]Value{"x": words}); err != nil {
			t.Errorf("%s: %v", n.OpType, err)
		}
	}
}

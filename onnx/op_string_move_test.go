package onnx

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/internal/wire"
)

// TestStringsAsNumbers runs nodes whose strings are all constants of the file, which
// operators see by number, and wants those places refused where strings are no data.
func TestStringsAsNumbers(t *testing.T) {
	text := func(name string, s ...string) wire.Node {
		return nodeOf("Constant", nil, names{name}, attrTexts("value_strings", s...))
	}
	ints := func(name string, v ...int64) wire.Node {
		return nodeOf("Constant", nil, names{name}, attrInts("value_ints", v...))
	}
	stored := wire.Attribute{Name: "value", Kind: wire.AttrTensor,
		Tensor: &wire.Tensor{DataType: wire.String, Dims: []int64{1, 2}, StringData: [][]byte{[]byte("p"), {}}}}
	for _, c := range []struct {
		name  string
		opset int64
		nodes []wire.Node
		want  []string
		err   string
	}{
		{"list", 12, []wire.Node{text("y", "a", "", "ß")}, []string{"a", "", "ß"}, ""},
		{"empty list", 12, []wire.Node{text("y")}, []string{}, ""},
		{"one", 12, []wire.Node{nodeOf("Constant", nil, names{"y"}, attrText("value_string", "é a"))}, []string{"é a"}, ""},
		{"tensor", 7, []wire.Node{nodeOf("Constant", nil, names{"y"}, stored)}, []string{"p", ""}, ""},
		{"one hot", 13, []wire.Node{ints("i", 1, 0), ints("d", 2), text("v", "no", "yes"),
			nodeOf("OneHot", names{"i", "d", "v"}, names{"y"})}, []string{"no", "yes", "yes", "no"}, ""},
		{"scatter", 13, []wire.Node{text("x", "a", "b"), ints("i", 1), text("u", "z"),
			nodeOf("ScatterElements", names{"x", "i", "u"}, names{"y"})}, []string{"a", "z"}, ""},
		{"gather", 13, []wire.Node{text("x", "a", "b"), ints("i", 1, 1), nodeOf("Gather", names{"x", "i"}, names{"y"})}, []string{"b", "b"}, ""},

		{"indices", 13, []wire.Node{ints("x", 1, 2), text("i", "a"), nodeOf("Gather", names{"x", "i"}, names{"y"})}, nil, `input 0 "x"`},
		{"both", 13, []wire.Node{text("x", "a"), text("i", "a"), nodeOf("Gather", names{"x", "i"}, names{"y"})}, nil, `input 1 "i"`},
		{"mixed", 13, []wire.Node{ints("x", 1), text("z", "a"), nodeOf("Concat", names{"x", "z"}, names{"y"}, attrInt("axis", 0))}, nil, `input 0 "x"`},
		{"updates", 13, []wire.Node{text("x", "a"), ints("i", 0), ints("u", 0), nodeOf("ScatterElements", names{"x", "i", "u"}, names{"y"})}, nil, `input 2 "u"`},
		{"sum", 18, []wire.Node{text("x", "a", "b"), ints("i", 1), text("u", "z"),
			nodeOf("ScatterElements", names{"x", "i", "u"}, names{"y"}, attrText("reduction", "add"))}, nil, `"reduction" is "add"`},
	} {
		m, err := Parse(wire.AppendModel(nil, &wire.Model{
			IRVersion: 8, OpsetImports: []wire.OperatorSet{{Version: c.opset}},
			Graph: &wire.Graph{Name: "g", Nodes: c.nodes, Outputs: []wire.ValueInfo{{Name: "y"}}},
		}))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, err := m.RunValues(t.Context(), nil, nil)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want an error about %s", c.name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if list, err := got["y"].(*Array).Strings(); err != nil || !slices.Equal(list, c.want) {
			t.Errorf("%s: %q, %v, want %q", c.name, list, err, c.want)
		}
	}
}

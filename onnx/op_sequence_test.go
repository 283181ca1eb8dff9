package onnx

import (
	"testing"

	"github.com/berth-go/berth/internal/wire"
)

func TestSequences(t *testing.T) {
	at := func(op, index string, more ...wire.Node) []wire.Node {
		return append(more, nodeOf(op, names{"s", index}, names{"y"}))
	}
	insert := []wire.Node{nodeOf("SequenceInsert", names{"s", "x", "p"}, names{"y"})}
	three := Sequence{vec(1), vec(2, 3), vec(4)}
	map1 := func(ins names, body *wire.Graph, outs ...string) wire.Node {
		return nodeOf("SequenceMap", ins, outs, attrGraph("body", body))
	}
	neg := subgraph([]wire.Node{nodeOf("Neg", names{"e"}, names{"n"})}, names{"e"}, names{"n"})
	runHostTests(t, []hostTest{
		{"passed on", []wire.Node{nodeOf("Identity", names{"s"}, names{"y"})}, values{"s": three}, map[string]string{"y": "[float32[1] 1; float32[2] 2 3; float32[1] 4]"}, ""},
		{"an item", at("SequenceAt", "i"), values{"s": three, "i": count(1)}, map[string]string{"y": "float32[2] 2 3"}, ""},
		{"an item from the end", at("SequenceAt", "i"), values{"s": three, "i": count(-3)}, map[string]string{"y": "float32[1] 1"}, ""},
		{"an item by a constant", at("SequenceAt", "i", scalar64("i", 2)), values{"s": three}, map[string]string{"y": "float32[1] 4"}, ""},
		{"an item beyond the end", at("SequenceAt", "i"), values{"s": three, "i": count(3)}, nil, "the position is 3, of 3 items"},
		{"an item before the beginning", at("SequenceAt", "i"), values{"s": three, "i": count(-4)}, nil, "of 3 items"},
		{"an item of nothing", at("SequenceAt", "i"), values{"s": Sequence{}, "i": count(0)}, nil, "of 0 items"},
		{"a string as a position", at("SequenceAt", "i"), values{"s": three, "i": words("1")}, nil, "holds strings, not numbers"},
		{"erase", at("SequenceErase", "i"), values{"s": three, "i": count(-2)}, map[string]string{"y": "[float32[1] 1; float32[1] 4]"}, ""},
		{"erase the last", []wire.Node{nodeOf("SequenceErase", names{"s"}, names{"y"})}, values{"s": three}, map[string]string{"y": "[float32[1] 1; float32[2] 2 3]"}, ""},
		{"erase from nothing", []wire.Node{nodeOf("SequenceErase", names{"s"}, names{"y"})}, values{"s": Sequence{}}, nil, "the sequence has no items"},
		{"erase beyond the end", at("SequenceErase", "i"), values{"s": three, "i": count(3)}, nil, "of 3 items"},
		{"insert", insert, values{"s": three, "x": vec(9), "p": count(-1)}, map[string]string{"y": "[float32[1] 1; float32[2] 2 3; float32[1] 9; float32[1] 4]"}, ""},
		{"insert at the end", insert, values{"s": three, "x": vec(9), "p": count(3)}, map[string]string{"y": "[float32[1] 1; float32[2] 2 3; float32[1] 4; float32[1] 9]"}, ""},
		{"insert at the end unless told", []wire.Node{nodeOf("SequenceInsert", names{"s", "x"}, names{"y"})}, values{"s": Sequence{}, "x": vec(9)}, map[string]string{"y": "[float32[1] 9]"}, ""},
		{"insert beyond the end", insert, values{"s": three, "x": vec(9), "p": count(4)}, nil, "the position is 4, of 3 items"},
		{"insert another type", insert, values{"s": three, "x": count(9), "p": count(0)}, nil, "items of types int64 and float32"},
		{"insert strings among numbers", insert, values{"s": Sequence{whole64(1)}, "x": words("a"), "p": count(1)}, nil, "the sequence has items"},
		{"length", []wire.Node{nodeOf("SequenceLength", names{"s"}, names{"y"})}, values{"s": three}, map[string]string{"y": "int64[] 3"}, ""},
		{"the length decides a shape", []wire.Node{nodeOf("SequenceLength", names{"s"}, names{"n"}), constOf("zero", []int64{0}), nodeOf("Unsqueeze", names{"n", "zero"}, names{"d"}),
			nodeOf("ConstantOfShape", names{"d"}, names{"y"})}, values{"s": three}, map[string]string{"y": "float32[3] 0 0 0"}, ""},
		{"joined", []wire.Node{nodeOf("ConcatFromSequence", names{"s"}, names{"y"}, attrInt("axis", -1))}, values{"s": three}, map[string]string{"y": "float32[4] 1 2 3 4"}, ""},
		{"joined along a new axis", []wire.Node{nodeOf("ConcatFromSequence", names{"s"}, names{"y"}, attrInt("axis", 1), attrInt("new_axis", 1))},
			values{"s": Sequence{vec(1, 2), vec(3, 4)}}, map[string]string{"y": "float32[2 2] 1 3 2 4"}, ""},
		{"strings joined", []wire.Node{nodeOf("ConcatFromSequence", names{"s"}, names{"y"}, attrInt("axis", 0))}, values{"s": Sequence{words("a", "b"), words("a")}},
			map[string]string{"y": `string[3] "a" "b" "a"`}, ""},
		{"strings and numbers joined", []wire.Node{nodeOf("ConcatFromSequence", names{"s"}, names{"y"}, attrInt("axis", 0))}, values{"s": Sequence{words("a", "b"), whole64(1)}},
			nil, "the sequence has items"},
		{"sequences joined", []wire.Node{nodeOf("ConcatFromSequence", names{"s"}, names{"y"}, attrInt("axis", 0))}, values{"s": Sequence{three, three}}, nil, "item 0 of the sequence is not a tensor"},
		{"nothing joined", []wire.Node{nodeOf("ConcatFromSequence", names{"s"}, names{"y"}, attrInt("axis", 0))}, values{"s": Sequence{}}, nil, "the sequence has no items"},
		{"nested", []wire.Node{scalar64("i", 1), nodeOf("SequenceAt", names{"s", "i"}, names{"y"})}, values{"s": Sequence{Sequence{}, three}},
			map[string]string{"y": "[float32[1] 1; float32[2] 2 3; float32[1] 4]"}, ""},
		{"split", []wire.Node{nodeOf("SplitToSequence", names{"x", "n"}, names{"y"})}, values{"x": vec(1, 2, 3), "n": count(2)}, map[string]string{"y": "[float32[2] 1 2; float32[1] 3]"}, ""},
		{"strings split", []wire.Node{nodeOf("SplitToSequence", names{"x"}, names{"y"}, attrInt("keepdims", 0))}, values{"x": words("a", "b")}, map[string]string{"y": `[string[] "a"; string[] "b"]`}, ""},
		{"split into too many", []wire.Node{constOf("n", []int64{1 << 40}), nodeOf("ConstantOfShape", names{"n"}, names{"x"}), nodeOf("SplitToSequence", names{"x"}, names{"s"}),
			nodeOf("SequenceLength", names{"s"}, names{"y"})}, nil, nil, "parts, at most 65536 are supported"},
		{"mapped", []wire.Node{map1(names{"s"}, neg, "y")}, values{"s": three}, map[string]string{"y": "[float32[1] -1; float32[2] -2 -3; float32[1] -4]"}, ""},
		{"mapped, nothing", []wire.Node{map1(names{"s"}, neg, "y")}, values{"s": Sequence{}}, map[string]string{"y": "[]"}, ""},
		{"mapped with a tensor, to two", []wire.Node{map1(names{"s", "x"}, subgraph([]wire.Node{nodeOf("Add", names{"e", "f"}, names{"n"}), nodeOf("Mul", names{"e", "k"}, names{"p"})},
			names{"e", "f"}, names{"n", "p"}), "y", "z")}, values{"s": three, "x": vec(1), "k": vec(2)},
			map[string]string{"y": "[float32[1] 2; float32[2] 3 4; float32[1] 5]", "z": "[float32[1] 2; float32[2] 4 6; float32[1] 8]"}, ""},
		{"mapped by what runs on the host", []wire.Node{map1(names{"s"}, subgraph([]wire.Node{nodeOf("NonZero", names{"e"}, names{"n"})}, names{"e"}, names{"n"}), "y")},
			values{"s": three}, map[string]string{"y": "[int64[1 1] 0; int64[1 2] 0 1; int64[1 1] 0]"}, ""},
		{"two sequences of other lengths", []wire.Node{map1(names{"s", "r"}, subgraph([]wire.Node{nodeOf("Add", names{"e", "f"}, names{"n"})}, names{"e", "f"}, names{"n"}), "y")},
			values{"s": three, "r": Sequence{vec(1)}}, nil, "input 1 has 1 items, the first 3"},
		{"a tensor where a sequence is wanted", []wire.Node{nodeOf("SequenceLength", names{"s"}, names{"y"})}, values{"s": vec(1)}, nil, `input 0 "s" is not a sequence`},
		{"a sequence where a tensor is wanted", []wire.Node{nodeOf("Neg", names{"s"}, names{"y"})}, values{"s": three}, nil, `input 0 "s" is a sequence, the operator takes tensors`},
	})
}

// TestMapsOverMaps asks for 65536 times as many nodes.
func TestMapsOverMaps(t *testing.T) {
	inner := nodeOf("SequenceMap", names{"s"}, names{"t"}, attrGraph("body", subgraph([]wire.Node{nodeOf("Neg", names{"f"}, names{"n"})}, names{"f"}, names{"n"})))
	m := hostModel(t, []wire.Node{constOf("n", []int64{1 << 16}), nodeOf("ConstantOfShape", names{"n"}, names{"x"}), nodeOf("SplitToSequence", names{"x"}, names{"s"}),
		nodeOf("SequenceMap", names{"s"}, names{"r"}, attrGraph("body", subgraph([]wire.Node{inner}, names{"e"}, names{"t"}))), nodeOf("SequenceLength", names{"r"}, names{"y"})}, nil, names{"y"})
	_, err := m.RunValues(t.Context(), nil, nil)
	hostTest{err: "bodies and sequences hold more than"}.failed(t, err)
}

func TestOptionals(t *testing.T) {
	of := func(elem *wire.Type) wire.Attribute {
		return wire.Attribute{Name: "type", Kind: wire.AttrType, Type: elem}
	}
	m := func(nodes []wire.Node, ins ...string) *Model {
		g := subgraph(nodes, nil, nil)
		optional := &wire.Type{Optional: &wire.ContainerType{Elem: &wire.Type{Tensor: &wire.TensorType{Elem: wire.Float}}}}
		for _, name := range ins {
			g.Inputs = append(g.Inputs, wire.ValueInfo{Name: name, Type: optional})
		}
		g.Outputs = []wire.ValueInfo{{Name: "y", Type: optional}, {Name: "has"}}
		model, err := Parse(wire.AppendModel(nil, &wire.Model{IRVersion: 8, OpsetImports: []wire.OperatorSet{{Version: 18}}, Graph: g}))
		if err != nil {
			t.Fatal(err)
		}
		return model
	}
	passed := m([]wire.Node{nodeOf("Identity", names{"o"}, names{"y"}), nodeOf("OptionalHasElement", names{"o"}, names{"has"})}, "o")
	inBranch := m([]wire.Node{nodeOf("OptionalHasElement", names{"o"}, names{"has"}), ifNode("has", names{"y"},
		subgraph([]wire.Node{nodeOf("OptionalGetElement", names{"o"}, names{"e"}), nodeOf("Neg", names{"e"}, names{"n"})}, nil, names{"n"}),
		subgraph([]wire.Node{constOf("k", []float32{7})}, nil, names{"k"}))}, "o")
	empty := m([]wire.Node{nodeOf("Optional", nil, names{"y"}, of(&wire.Type{})), nodeOf("OptionalHasElement", names{"y"}, names{"has"})})
	made := m([]wire.Node{constOf("k", []float32{7}), nodeOf("Optional", names{"k"}, names{"y"}), nodeOf("OptionalHasElement", names{"y"}, names{"has"})})
	for _, c := range []struct {
		what  string
		model *Model
		in    values
		want  map[string]string
	}{
		{"passed on", passed, values{"o": vec(1)}, map[string]string{"y": "float32[1] 1", "has": "bool[] 1"}},
		{"empty, passed on", passed, values{"o": nil}, map[string]string{"y": "none", "has": "bool[] 0"}},
		{"left out, passed on", passed, nil, map[string]string{"y": "none", "has": "bool[] 0"}},
		{"a branch for what is there", inBranch, values{"o": vec(1)}, map[string]string{"y": "float32[1] -1", "has": "bool[] 1"}},
		{"a branch for what is not", inBranch, nil, map[string]string{"y": "float32[1] 7", "has": "bool[] 0"}},
		{"an empty one made", empty, nil, map[string]string{"y": "none", "has": "bool[] 0"}},
		{"one made", made, nil, map[string]string{"y": "float32[1] 7", "has": "bool[] 1"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			for range 2 {
				out, err := c.model.RunValues(t.Context(), nil, c.in)
				if err != nil {
					t.Fatal(err)
				}
				hostTest{want: c.want}.check(t, "outputs", out)
			}
		})
	}
	taken := m([]wire.Node{nodeOf("OptionalGetElement", names{"o"}, names{"y"}), nodeOf("OptionalHasElement", names{"o"}, names{"has"})}, "o")
	_, err := taken.RunValues(t.Context(), nil, nil)
	hostTest{err: "the optional input is empty"}.failed(t, err)
}

package onnx

import (
	"testing"

	"github.com/berth-go/berth/internal/wire"
)

func TestIf(t *testing.T) {
	negated := nodeOf("Neg", names{"x"}, names{"n"})
	then := subgraph([]wire.Node{negated}, nil, names{"n"})
	doubled := subgraph([]wire.Node{nodeOf("Concat", names{"x", "x"}, names{"d"}, attrInt("axis", 0))}, nil, names{"d"})
	branch := []wire.Node{ifNode("c", names{"y"}, then, doubled)}
	x := vec(1, 2)
	runHostTests(t, []hostTest{
		{"from data", branch, values{"c": flag(true), "x": x}, map[string]string{"y": "float32[2] -1 -2"}, ""},
		{"the other branch, of another shape", branch, values{"c": flag(false), "x": x}, map[string]string{"y": "float32[4] 1 2 1 2"}, ""},
		{"from a constant", append([]wire.Node{constOf("c", []bool{true})}, branch...), values{"x": x}, map[string]string{"y": "float32[2] -1 -2"}, ""},
		{"from shapes", append([]wire.Node{
			nodeOf("Shape", names{"x"}, names{"s"}), constOf("two", []int64{2}), nodeOf("Equal", names{"s", "two"}, names{"c"}),
		}, branch...), values{"x": x}, map[string]string{"y": "float32[2] -1 -2"}, ""},
		{"from strings", append([]wire.Node{nodeOf("Equal", names{"a", "b"}, names{"c"})}, branch...),
			values{"x": x, "a": words("p"), "b": words("p")}, map[string]string{"y": "float32[2] -1 -2"}, ""},
		{"no truth value", branch, values{"c": count(1), "x": x}, nil, "input 0 is of type int64, not a truth value"},
		{"several truth values", branch, values{"c": arr([]bool{true, true}), "x": x}, nil, "want one element"},
		{"strings as a condition", branch, values{"c": words("true"), "x": x}, nil, "holds strings, not numbers"},
		{"branches return what is around them", []wire.Node{nodeOf("Neg", names{"x"}, names{"n"}), ifNode("c", names{"y", "z"},
			subgraph(nil, nil, names{"x", "n"}), subgraph(nil, nil, names{"n", "x"}))},
			values{"c": flag(false), "x": x}, map[string]string{"y": "float32[2] -1 -2", "z": "float32[2] 1 2"}, ""},
		{"branches return constants", []wire.Node{ifNode("c", names{"y", "z"},
			subgraph(nil, nil, names{"w", "w"}, floatTensor("w", 7)), subgraph([]wire.Node{scalar64("k", 3)}, nil, names{"k", "k"}))},
			values{"c": flag(true)}, map[string]string{"y": "float32[1] 7", "z": "float32[1] 7"}, ""},
		{"an initializer hides a name outside", []wire.Node{ifNode("c", names{"y"},
			subgraph([]wire.Node{nodeOf("Neg", names{"x"}, names{"n"})}, nil, names{"n"}, floatTensor("x", 7)), doubled), nodeOf("Abs", names{"x"}, names{"z"})},
			values{"c": flag(true), "x": x}, map[string]string{"y": "float32[1] -7", "z": "float32[2] 1 2"}, ""},
		{"names inside are those outside", []wire.Node{nodeOf("Abs", names{"x"}, names{"n"}), ifNode("c", names{"y"}, then, doubled), nodeOf("Add", names{"n", "y"}, names{"z"})},
			values{"c": flag(true), "x": x}, map[string]string{"y": "float32[2] -1 -2", "z": "float32[2] 0 0"}, ""},
		{"sequences", []wire.Node{ifNode("c", names{"s"},
			subgraph([]wire.Node{nodeOf("SequenceConstruct", names{"x", "x"}, names{"t"})}, nil, names{"t"}),
			subgraph([]wire.Node{nodeOf("SequenceEmpty", nil, names{"e"})}, nil, names{"e"})), nodeOf("SequenceLength", names{"s"}, names{"y"})},
			values{"c": flag(true), "x": x}, map[string]string{"y": "int64[] 2", "s": "[float32[2] 1 2; float32[2] 1 2]"}, ""},
		{"an empty sequence", []wire.Node{ifNode("c", names{"s"},
			subgraph([]wire.Node{nodeOf("SequenceConstruct", names{"x", "x"}, names{"t"})}, nil, names{"t"}),
			subgraph([]wire.Node{nodeOf("SequenceEmpty", nil, names{"e"})}, nil, names{"e"})), nodeOf("SequenceLength", names{"s"}, names{"y"})},
			values{"c": flag(false), "x": x}, map[string]string{"y": "int64[] 0", "s": "[]"}, ""},
		{"nested", []wire.Node{ifNode("c", names{"y"},
			subgraph([]wire.Node{nodeOf("Neg", names{"x"}, names{"n"}), ifNode("d", names{"t"}, subgraph(nil, nil, names{"n"}), doubled)}, nil, names{"t"}), doubled)},
			values{"c": flag(true), "d": flag(true), "x": x}, map[string]string{"y": "float32[2] -1 -2"}, ""},
		{"nested, its condition computed within", []wire.Node{ifNode("c", names{"y"}, subgraph([]wire.Node{
			nodeOf("ReduceSum", names{"x"}, names{"sum"}, attrInt("keepdims", 0)), constOf("k", []float32{4}), nodeOf("Less", names{"sum", "k"}, names{"less"}),
			ifNode("less", names{"t"}, then, doubled)}, nil, names{"t"}), doubled)},
			values{"c": flag(true), "x": x}, map[string]string{"y": "float32[2] -1 -2"}, ""},
		{"after NonZero, before it runs what does not depend on it", []wire.Node{
			nodeOf("NonZero", names{"x"}, names{"nz"}), nodeOf("Size", names{"nz"}, names{"n"}), scalar64("one", 1), nodeOf("Greater", names{"n", "one"}, names{"c"}),
			ifNode("c", names{"y"}, then, doubled), nodeOf("Abs", names{"x"}, names{"z"})},
			values{"x": x}, map[string]string{"y": "float32[2] -1 -2", "z": "float32[2] 1 2", "nz": "int64[1 2] 0 1"}, ""},
		{"branches of other numbers of outputs", []wire.Node{ifNode("c", names{"y"}, subgraph(nil, nil, names{"x", "x"}), doubled)},
			values{"c": flag(true), "x": x}, nil, "has 0 inputs and 2 outputs, the node 1 outputs"},
		{"within a loop", []wire.Node{scalar64("m", 3), loopNode(names{"m", "", "x"}, names{"y", "z"}, subgraph([]wire.Node{
			scalar64("one", 1), nodeOf("Equal", names{"i", "one"}, names{"c"}), ifNode("c", names{"w"},
				subgraph([]wire.Node{nodeOf("Neg", names{"v"}, names{"n"})}, nil, names{"n"}),
				subgraph([]wire.Node{nodeOf("Add", names{"v", "x"}, names{"n"})}, nil, names{"n"})),
		}, names{"i", "go", "v"}, names{"go", "w", "v"}))},
			values{"x": x}, map[string]string{"y": "float32[2] -1 -2", "z": "float32[3 2] 1 2 2 4 -2 -4"}, ""},
		{"with a loop within", []wire.Node{ifNode("c", names{"y"}, subgraph([]wire.Node{scalar64("m", 2), loopNode(names{"m", "", "x"}, names{"t"}, subgraph([]wire.Node{
			nodeOf("Add", names{"v", "x"}, names{"w"})}, names{"i", "go", "v"}, names{"go", "w"}))}, nil, names{"t"}), doubled)},
			values{"c": flag(true), "x": x}, map[string]string{"y": "float32[2] 3 6"}, ""},
	})
}

func TestLoop(t *testing.T) {
	x := vec(1, 2)
	state := names{"i", "go", "v"}
	add := subgraph([]wire.Node{nodeOf("Add", names{"v", "x"}, names{"w"})}, state, names{"go", "w", "v"})
	// until is a body that goes on until the sum of what is carried is 9 or more.
	until := subgraph([]wire.Node{nodeOf("Add", names{"v", "x"}, names{"w"}), nodeOf("ReduceSum", names{"w"}, names{"sum"}, attrInt("keepdims", 0)),
		constOf("nine", []float32{9}, 1), nodeOf("Less", names{"sum", "nine"}, names{"more"})}, state, names{"more", "w"})
	appended := subgraph([]wire.Node{nodeOf("SequenceInsert", names{"v", "i"}, names{"w"})}, state, names{"go", "w"})
	empty := nodeOf("SequenceEmpty", nil, names{"e"}, attrInt("dtype", 7))
	m := values{"m": count(3), "x": x}
	runHostTests(t, []hostTest{
		{"a trip count", []wire.Node{loopNode(names{"m", "", "x"}, names{"y", "z"}, add)}, m,
			map[string]string{"y": "float32[2] 4 8", "z": "float32[3 2] 1 2 2 4 3 6"}, ""},
		{"a trip count from the file", []wire.Node{scalar64("m", 3), loopNode(names{"m", "", "x"}, names{"y", "z"}, add)}, values{"x": x},
			map[string]string{"y": "float32[2] 4 8", "z": "float32[3 2] 1 2 2 4 3 6"}, ""},
		{"a condition", []wire.Node{loopNode(names{"", "c", "x"}, names{"y"}, until)}, values{"c": flag(true), "x": x}, map[string]string{"y": "float32[2] 3 6"}, ""},
		{"both, the trip count first", []wire.Node{loopNode(names{"m", "c", "x"}, names{"y"}, until)}, values{"m": count(1), "c": flag(true), "x": x}, map[string]string{"y": "float32[2] 2 4"}, ""},
		{"both, the condition first", []wire.Node{loopNode(names{"m", "c", "x"}, names{"y"}, until)}, values{"m": count(9), "c": flag(true), "x": x}, map[string]string{"y": "float32[2] 3 6"}, ""},
		{"neither", []wire.Node{loopNode(names{"", "", "x"}, names{"y"}, until)}, values{"x": x}, map[string]string{"y": "float32[2] 3 6"}, ""},
		{"all from the file", []wire.Node{constOf("x", []float32{1, 2}), scalar64("m", 3), loopNode(names{"m", "", "x"}, names{"y", "z"}, add)}, nil,
			map[string]string{"y": "float32[2] 4 8", "z": "float32[3 2] 1 2 2 4 3 6"}, ""},
		{"no iteration", []wire.Node{loopNode(names{"m", "", "x"}, names{"y", "z"}, add)}, values{"m": count(0), "x": x},
			map[string]string{"y": "float32[2] 1 2", "z": "float32[0]"}, ""},
		{"a negative trip count", []wire.Node{loopNode(names{"m", "", "x"}, names{"y"}, add)}, values{"m": count(-1), "x": x}, map[string]string{"y": "float32[2] 1 2"}, ""},
		{"a condition that does not hold", []wire.Node{loopNode(names{"", "c", "x"}, names{"y"}, until)}, values{"c": flag(false), "x": x}, map[string]string{"y": "float32[2] 1 2"}, ""},
		{"what is carried stays", []wire.Node{loopNode(names{"m", "", "x"}, names{"y"}, subgraph(nil, state, names{"go", "v"}))}, m, map[string]string{"y": "float32[2] 1 2"}, ""},
		{"two values change places", []wire.Node{nodeOf("Neg", names{"x"}, names{"n"}), loopNode(names{"m", "", "x", "n"}, names{"y", "z"},
			subgraph(nil, names{"i", "go", "a", "b"}, names{"go", "b", "a"}))}, m, map[string]string{"y": "float32[2] -1 -2", "z": "float32[2] 1 2"}, ""},
		{"three values in a ring, one of them changed", []wire.Node{nodeOf("Neg", names{"x"}, names{"n"}), nodeOf("Add", names{"x", "x"}, names{"d"}),
			loopNode(names{"m", "", "x", "n", "d"}, names{"p", "q", "r"}, subgraph([]wire.Node{nodeOf("Add", names{"a", "a"}, names{"aa"})},
				names{"i", "go", "a", "b", "c"}, names{"go", "b", "c", "aa"}))}, m,
			map[string]string{"p": "float32[2] 2 4", "q": "float32[2] -2 -4", "r": "float32[2] 4 8"}, ""},
		{"one value becomes two", []wire.Node{loopNode(names{"m", "", "x", "x"}, names{"p", "q"}, subgraph([]wire.Node{nodeOf("Add", names{"a", "b"}, names{"s"})},
			names{"i", "go", "a", "b"}, names{"go", "s", "s"}))}, m, map[string]string{"p": "float32[2] 8 16", "q": "float32[2] 8 16"}, ""},
		{"the iteration is carried and stacked", []wire.Node{scalar64("k", 9), loopNode(names{"m", "", "k"}, names{"y", "z", "c"}, subgraph(nil, state, names{"go", "i", "v", "go"}))},
			values{"m": count(3)}, map[string]string{"y": "int64[] 2", "z": "int64[3] 9 0 1", "c": "bool[3] 1 1 1"}, ""},
		{"a value that grows", []wire.Node{loopNode(names{"m", "", "x"}, names{"y"}, subgraph([]wire.Node{
			nodeOf("Concat", names{"v", "x"}, names{"w"}, attrInt("axis", 0))}, state, names{"go", "w"}))}, m, map[string]string{"y": "float32[8] 1 2 1 2 1 2 1 2"}, ""},
		{"a sequence", []wire.Node{empty, loopNode(names{"m", "", "e"}, names{"y"}, appended)}, values{"m": count(3)}, map[string]string{"y": "[int64[] 0; int64[] 1; int64[] 2]"}, ""},
		{"a sequence of slices", []wire.Node{empty, loopNode(names{"m", "", "e"}, names{"y"}, subgraph([]wire.Node{
			nodeOf("Gather", names{"x", "i"}, names{"g"}), nodeOf("SequenceInsert", names{"v", "g", "zero"}, names{"w"})}, state, names{"go", "w"}, *protoOf("zero", count(0))))},
			values{"m": count(2), "x": x}, map[string]string{"y": "[float32[] 2; float32[] 1]"}, ""},
		{"strings", []wire.Node{loopNode(names{"m", "", "s"}, names{"y", "z"}, subgraph([]wire.Node{
			nodeOf("StringConcat", names{"v", "s"}, names{"w"})}, state, names{"go", "w", "v"}))}, values{"m": count(2), "s": words("a", "")},
			map[string]string{"y": `string[2] "aaa" ""`, "z": `string[2 2] "a" "" "aa" ""`}, ""},
		{"an optional value that is empty", []wire.Node{nodeOf("Optional", nil, names{"o"}, wire.Attribute{Name: "type", Kind: wire.AttrType, Type: &wire.Type{}}),
			loopNode(names{"m", "", "o"}, names{"n"}, subgraph(nil, state, names{"go", "v"})), nodeOf("OptionalHasElement", names{"n"}, names{"y"})},
			values{"m": count(2)}, map[string]string{"y": "bool[] 0"}, ""},
		{"what it takes from around it", []wire.Node{constOf("k", []float32{10}), nodeOf("NonZero", names{"x"}, names{"nz"}), nodeOf("Cast", names{"nz"}, names{"f"}, attrInt("to", 1)),
			nodeOf("Mul", names{"x", "x"}, names{"sq"}), loopNode(names{"m", "", "x"}, names{"y"}, subgraph([]wire.Node{
				nodeOf("Add", names{"v", "k"}, names{"a"}), nodeOf("Add", names{"a", "f"}, names{"b"}), nodeOf("Add", names{"b", "sq"}, names{"w"})}, state, names{"go", "w"}))},
			m, map[string]string{"y": "float32[1 2] 34 47"}, ""},
		{"a sequence from around it", []wire.Node{nodeOf("SequenceConstruct", names{"x", "x"}, names{"s"}), loopNode(names{"m", "", "x"}, names{"y"}, subgraph([]wire.Node{
			scalar64("one", -1), nodeOf("SequenceAt", names{"s", "one"}, names{"a"}), nodeOf("Add", names{"v", "a"}, names{"w"})}, state, names{"go", "w"}))},
			m, map[string]string{"y": "float32[2] 4 8"}, ""},
		{"nested", []wire.Node{loopNode(names{"m", "", "x"}, names{"y", "z"}, subgraph([]wire.Node{
			loopNode(names{"i", "", "v"}, names{"w", "all"}, subgraph([]wire.Node{nodeOf("Add", names{"u", "v"}, names{"a"})}, names{"k", "c", "u"}, names{"c", "a", "k"})),
			nodeOf("Size", names{"all"}, names{"n"})}, state, names{"go", "w", "n"}))},
			m, map[string]string{"y": "float32[2] 6 12", "z": "int64[3] 0 1 2"}, ""},
		{"nested, without an iteration: what it passes on is carried", []wire.Node{loopNode(names{"m", "", "x", "x"}, names{"y", "z"}, subgraph([]wire.Node{
			scalar64("none", 0), nodeOf("NonZero", names{"v"}, names{"nz"}), nodeOf("Squeeze", names{"nz"}, names{"at"}),
			loopNode(names{"none", "", "v"}, names{"same"}, subgraph(nil, names{"k", "c", "u"}, names{"c", "u"})), nodeOf("Add", names{"v", "x"}, names{"w"})},
			names{"i", "go", "v", "p"}, names{"go", "w", "same"}))},
			m, map[string]string{"y": "float32[2] 4 8", "z": "float32[2] 3 6"}, ""},
		{"too often", []wire.Node{loopNode(names{"", "", "x"}, names{"y"}, add)}, values{"x": x}, nil, "loops run too often: more than 1000 iterations in all"},
		{"too often, nested", []wire.Node{scalar64("m", 40), loopNode(names{"m", "", "x"}, names{"y", "z"}, subgraph([]wire.Node{
			loopNode(names{"m", "", "v"}, names{"w", "all"}, add)}, state, names{"go", "w", "v"}))}, values{"x": x}, nil, "loops run too often"},
		{"a condition that is a number", []wire.Node{loopNode(names{"m", "", "x"}, names{"y"}, subgraph(nil, state, names{"i", "v"}))}, m, nil, "iteration 0: the condition: is int64[], not one element of type bool"},
		{"a trip count that is a string", []wire.Node{loopNode(names{"m", "", "x"}, names{"y"}, add)}, values{"m": words("3"), "x": x}, nil, "the trip count: is string[1], not one element of type int64"},
		{"stacks of other shapes", []wire.Node{loopNode(names{"m", "", "x"}, names{"y", "z"}, subgraph([]wire.Node{
			nodeOf("Concat", names{"v", "x"}, names{"w"}, attrInt("axis", 0))}, state, names{"go", "w", "v"}))}, m, nil, "iteration 1: scan output 0: is float32[4], after float32[1 2]"},
		{"a stack of sequences", []wire.Node{empty, loopNode(names{"m", "", "e"}, names{"z", "y"}, subgraph(nil, state, names{"go", "v", "v"}))}, m, nil, "scan output 0: is empty sequence, not a tensor"},
		{"too few inputs", []wire.Node{loopNode(names{"m", ""}, names{"y"}, add)}, m, nil, "the body has 3 inputs and 3 outputs, the node 2 inputs"},
		{"too many outputs", []wire.Node{loopNode(names{"m", "", "x"}, names{"y", "z", "u"}, add)}, m, nil, "has 3 outputs, the body makes 2"},
	})
}

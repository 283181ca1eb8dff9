package onnx

import (
	"testing"

	"github.com/berth-go/berth/internal/wire"
)

func ml(n wire.Node) wire.Node {
	n.Domain = mlDomain
	return n
}

func TestStrings(t *testing.T) {
	s := words("a", "", "b", "a")
	two := must(NewStrings([]string{"a", "b", "c", "d"}, 2, 2))
	one := func(op string, ins names, attrs ...wire.Attribute) []wire.Node {
		return []wire.Node{nodeOf(op, ins, names{"y"}, attrs...)}
	}
	file := func(text ...string) wire.Node { return constArray("k", words(text...)) }
	index := whole64(2, 0)
	runHostTests(t, []hostTest{
		{"passed on", one("Identity", names{"s"}), values{"s": s}, map[string]string{"y": `string[4] "a" "" "b" "a"`}, ""},
		{"of the file", []wire.Node{file("p", "a"), nodeOf("Concat", names{"k", "s"}, names{"y"}, attrInt("axis", 0))}, values{"s": s}, map[string]string{"y": `string[6] "p" "a" "a" "" "b" "a"`}, ""},
		{"of the file alone", []wire.Node{file("p", "a"), nodeOf("Identity", names{"k"}, names{"y"})}, nil, map[string]string{"y": `string[2] "p" "a"`}, ""},
		{"one of an attribute", one("Constant", nil, attrText("value_string", "q")), nil, map[string]string{"y": `string[] "q"`}, ""},
		{"of an attribute", one("Constant", nil, attrTexts("value_strings", "q", "")), nil, map[string]string{"y": `string[2] "q" ""`}, ""},
		{"equal", one("Equal", names{"s", "r"}), values{"s": s, "r": words("a")}, map[string]string{"y": "bool[4] 1 0 0 1"}, ""},
		{"equal to the file's", []wire.Node{file("b"), nodeOf("Equal", names{"s", "k"}, names{"y"})}, values{"s": s}, map[string]string{"y": "bool[4] 0 0 1 0"}, ""},
		{"where", one("Where", names{"c", "s", "r"}), values{"c": arr([]bool{true, false, false, true}), "s": s, "r": words("z")}, map[string]string{"y": `string[4] "a" "z" "z" "a"`}, ""},
		{"gathered", one("Gather", names{"s", "i"}), values{"s": s, "i": index}, map[string]string{"y": `string[2] "b" "a"`}, ""},
		{"scattered", one("ScatterElements", names{"s", "i", "u"}), values{"s": s, "i": index, "u": words("u", "v")}, map[string]string{"y": `string[4] "v" "" "u" "a"`}, ""},
		{"transposed", one("Transpose", names{"s"}), values{"s": two}, map[string]string{"y": `string[2 2] "a" "c" "b" "d"`}, ""},
		{"sliced", []wire.Node{constOf("from", []int64{-1}), constOf("to", []int64{-9}), constOf("axes", []int64{0}), constOf("step", []int64{-2}),
			nodeOf("Slice", names{"s", "from", "to", "axes", "step"}, names{"y"})}, values{"s": s}, map[string]string{"y": `string[2] "a" ""`}, ""},
		{"reshaped by a shape that data decides", []wire.Node{nodeOf("NonZero", names{"x"}, names{"nz"}), nodeOf("Shape", names{"nz"}, names{"d"}), nodeOf("Reshape", names{"s", "d"}, names{"y"})},
			values{"s": s, "x": vec(1, 2, 3, 4)}, map[string]string{"y": `string[1 4] "a" "" "b" "a"`}, ""},
		{"tiled and measured", []wire.Node{constOf("r", []int64{2}), nodeOf("Tile", names{"s", "r"}, names{"t"}), nodeOf("Shape", names{"t"}, names{"y"}), nodeOf("Size", names{"t"}, names{"n"})},
			values{"s": s}, map[string]string{"y": "int64[1] 8", "n": "int64[] 8"}, ""},
		{"unique", []wire.Node{nodeOf("Unique", names{"s"}, names{"y", "first", "inverse", "counts"})}, values{"s": s},
			map[string]string{"y": `string[3] "" "a" "b"`, "first": "int64[3] 1 0 2", "inverse": "int64[4] 1 0 2 1", "counts": "int64[3] 1 2 1"}, ""},
		{"unique, as they appear", []wire.Node{nodeOf("Unique", names{"s"}, names{"y"}, attrInt("sorted", 0))}, values{"s": s}, map[string]string{"y": `string[3] "a" "" "b"`}, ""},
		{"compressed", one("Compress", names{"s", "c"}), values{"s": s, "c": arr([]bool{false, false, true})}, map[string]string{"y": `string[1] "b"`}, ""},
		{"concatenated", one("StringConcat", names{"s", "r"}), values{"s": two, "r": must(NewStrings([]string{"1", "2"}, 2, 1))}, map[string]string{"y": `string[2 2] "a1" "b1" "c2" "d2"`}, ""},
		{"split", []wire.Node{nodeOf("StringSplit", names{"s"}, names{"y", "n"}, attrText("delimiter", ","))}, values{"s": words("a,b", "", "c")},
			map[string]string{"y": `string[3 2] "a" "b" "" "" "c" ""`, "n": "int64[3] 2 0 1"}, ""},
		{"from numbers", one("Cast", names{"x"}, attrInt("to", 8)), values{"x": vec(1.5, -2, 0)}, map[string]string{"y": `string[3] "1.5" "-2" "0"`}, ""},
		{"to numbers", one("Cast", names{"s"}, attrInt("to", 1)), values{"s": words("1.5", "-inf", "3")}, map[string]string{"y": "float32[3] 1.5 -Inf 3"}, ""},
		{"to integers", one("Cast", names{"s"}, attrInt("to", 7)), values{"s": words("-15", "2")}, map[string]string{"y": "int64[2] -15 2"}, ""},
		{"to no number", one("Cast", names{"s"}, attrInt("to", 1)), values{"s": words("1", "one")}, nil, `element 1: strconv.ParseFloat: parsing "one"`},
		{"a number that decides a shape", []wire.Node{nodeOf("Cast", names{"s"}, names{"n"}, attrInt("to", 7)), nodeOf("ConstantOfShape", names{"n"}, names{"y"})},
			values{"s": words("2", "1")}, map[string]string{"y": "float32[2 1] 0 0"}, ""},
		{"numbers as the file's text", []wire.Node{scalar64("k", 7), nodeOf("Cast", names{"k"}, names{"t"}, attrInt("to", 8)), nodeOf("Equal", names{"t", "s"}, names{"y"})},
			values{"s": words("7", "8")}, map[string]string{"y": "bool[2] 1 0"}, ""},
		{"labels to numbers", []wire.Node{ml(nodeOf("LabelEncoder", names{"s"}, names{"y"}, attrTexts("keys_strings", "a", "b"), attrFloats("values_floats", 1.5, 2), attrFloat("default_float", -1)))},
			values{"s": s}, map[string]string{"y": "float32[4] 1.5 -1 2 1.5"}, ""},
		{"numbers to labels", []wire.Node{ml(nodeOf("LabelEncoder", names{"x"}, names{"y"}, attrInts("keys_int64s", 0, 1), attrTexts("values_strings", "no", "yes"), attrText("default_string", "?")))},
			values{"x": whole64(1, 5, 0)}, map[string]string{"y": `string[3] "yes" "?" "no"`}, ""},
		{"no label", []wire.Node{ml(nodeOf("LabelEncoder", names{"x"}, names{"y"}, attrInts("keys_int64s", 0), attrTexts("values_strings", "no")))},
			values{"x": whole64(5)}, map[string]string{"y": `string[1] "_Unused"`}, ""},

		// What graphs have of strings are numbers; numbers must not be taken for them.
		{"numbers among strings", one("Concat", names{"s", "x"}, attrInt("axis", 0)), values{"s": s, "x": whole64(99)}, nil, `input 1 "x" holds numbers, beside strings`},
		{"numbers equal to strings", one("Equal", names{"x", "s"}), values{"s": s, "x": whole64(0)}, nil, `input 0 "x" holds numbers, beside strings`},
		{"numbers or strings", one("Where", names{"c", "s", "x"}), values{"c": flag(true), "s": s, "x": whole64(99)}, nil, `input 2 "x" holds numbers, beside strings`},
		{"numbers scattered", one("ScatterElements", names{"s", "i", "x"}), values{"s": s, "i": index, "x": whole64(98, 99)}, nil, `input 2 "x" holds numbers, beside strings`},
		{"strings as indices", one("Gather", names{"x", "s"}), values{"s": s, "x": whole64(99)}, nil, `holds numbers, beside strings`},
		{"strings as a shape", one("Reshape", names{"x", "s"}), values{"s": words("a"), "x": whole64(99)}, nil, "holds numbers, beside strings"},
		{"strings added", one("Add", names{"s", "s"}), values{"s": s}, nil, "element type is not supported"},
		{"strings that are not zero", one("NonZero", names{"s"}), values{"s": s}, nil, "element type is not supported"},
		{"a condition of strings", one("Compress", names{"s", "s"}), values{"s": s}, nil, "the condition is string[4]"},
	})
}

// constArray is a node whose output is a constant array, also one of strings.
func constArray(out string, a *Array) wire.Node {
	return nodeOf("Constant", nil, names{out}, wire.Attribute{Name: "value", Kind: wire.AttrTensor, Tensor: protoOf(out, a)})
}

func TestMaps(t *testing.T) {
	classifier := ml(nodeOf("LinearClassifier", names{"x"}, names{"label", "p"}, attrFloats("coefficients", 1, 0, 0, 1, -1, -1), attrFloats("intercepts", 0, 0, 0),
		attrTexts("classlabels_strings", "dog", "cat", "ant"), attrInt("multi_class", 1)))
	zip := ml(nodeOf("ZipMap", names{"p"}, names{"y"}, attrTexts("classlabels_strings", "dog", "cat", "ant")))
	zip64 := ml(nodeOf("ZipMap", names{"x"}, names{"y"}, attrInts("classlabels_int64s", 7, 3)))
	x := arr([]float32{2, 1, 0, 3}, 2, 2)
	cast := func(attrs ...wire.Attribute) []wire.Node {
		return []wire.Node{ml(nodeOf("CastMap", names{"m"}, names{"y"}, attrs...))}
	}
	vectorize := func(attr wire.Attribute) []wire.Node {
		return []wire.Node{ml(nodeOf("DictVectorizer", names{"m"}, names{"y"}, attr))}
	}
	animals := &Map{words("ant", "cat"), vec(3, 4)}
	numbered := &Map{whole64(1, 3), vec(2.5, 4)}
	runHostTests(t, []hostTest{
		{"a classifier", []wire.Node{classifier, zip}, values{"x": x}, map[string]string{"label": `string[2] "dog" "cat"`,
			"y": `[{string[3] "ant" "cat" "dog": float32[3] -3 1 2}; {string[3] "ant" "cat" "dog": float32[3] -3 3 0}]`}, ""},
		{"the winner found again", []wire.Node{classifier, ml(nodeOf("LabelEncoder", names{"label"}, names{"y"}, attrTexts("keys_strings", "dog", "cat"), attrInts("values_int64s", 10, 20)))},
			values{"x": x}, map[string]string{"y": "int64[2] 10 20"}, ""},
		{"integers as labels", []wire.Node{zip64}, values{"x": x}, map[string]string{"y": "[{int64[2] 3 7: float32[2] 1 2}; {int64[2] 3 7: float32[2] 3 0}]"}, ""},
		{"other numbers of classes", []wire.Node{zip64}, values{"x": vec(1, 2, 3)}, nil, "the scores are float32[3], not rows of 2 numbers"},
		{"a map of a list", []wire.Node{zip64, scalar64("i", 1), nodeOf("SequenceAt", names{"y", "i"}, names{"at"})}, values{"x": x}, map[string]string{"at": "{int64[2] 3 7: float32[2] 3 0}"}, ""},
		{"a dictionary", vectorize(attrTexts("string_vocabulary", "cat", "bee", "ant")), values{"m": animals}, map[string]string{"y": "float32[1 3] 4 0 3"}, ""},
		{"a dictionary to strings", vectorize(attrInts("int64_vocabulary", 3, 2)), values{"m": &Map{whole64(1, 3), words("p", "q")}}, map[string]string{"y": `string[1 2] "q" ""`}, ""},
		{"other keys than the vocabulary", vectorize(attrInts("int64_vocabulary", 3, 2)), values{"m": animals}, nil, "unlike the vocabulary"},
		{"dense", cast(), values{"m": numbered}, map[string]string{"y": "float32[1 2] 2.5 4"}, ""},
		{"sparse, to strings", cast(attrText("map_form", "SPARSE"), attrInt("max_map", 4), attrText("cast_to", "TO_STRING")), values{"m": numbered}, map[string]string{"y": `string[1 4] "" "2.5" "" "4"`}, ""},
		{"a key beyond the width", cast(attrText("map_form", "SPARSE"), attrInt("max_map", 3)), values{"m": numbered}, nil, "the key 3 is not below"},
		{"a map passed on", []wire.Node{nodeOf("Identity", names{"m"}, names{"y"})}, values{"m": animals}, map[string]string{"y": `{string[2] "ant" "cat": float32[2] 3 4}`}, ""},
		{"a map carried by a loop", []wire.Node{scalar64("n", 2), loopNode(names{"n", "", "m"}, names{"y"}, subgraph(nil, names{"i", "go", "v"}, names{"go", "v"}))},
			values{"m": animals}, map[string]string{"y": `{string[2] "ant" "cat": float32[2] 3 4}`}, ""},
		{"a map where a tensor is wanted", []wire.Node{nodeOf("Neg", names{"m"}, names{"y"})}, values{"m": animals}, nil, `input 0 "m" is a map`},
		{"a tensor where a map is wanted", cast(), values{"m": vec(1)}, nil, "input 0 is float32[1], not a map"},
		{"no map where one is wanted", cast(), values{"m": Sequence{}}, nil, "not a map"},
	})
}

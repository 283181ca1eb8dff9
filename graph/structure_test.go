package graph_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/ops"
)

// structure returns that of the graph that text is of, which has one.
func structure(t *testing.T, text string) graph.Structure {
	t.Helper()
	s, ok := graph.StructureOf(parse(t, text))
	if !ok {
		t.Fatalf("no structure of\n%s", text)
	}
	return s
}

const structured = `n1 = constant float32[2 3] data=[1 2 3 4 5 6]
n2 = constant float32[] data=[7]
n3 = map{program="t0=mul(x0,x1)"} n1 n2 : float32[2 3] "label"
n4 = top_k{axis=1, k=2, largest=true} n3 : float32[2 2], int64[2 2]
n5 = concat{axis=1} n3 n4 : float32[2 5]
out n4
out n5
`

// TestStructure wants one key of graphs that differ in elements and storage, and another of each graph
// that differs in anything else.
func TestStructure(t *testing.T) {
	want := structure(t, structured)
	if len(want.Leaves) != 2 || want.Leaves[0].Output(0).Type().Shape.Elems() != 6 {
		t.Errorf("the leaves are %v", want.Leaves)
	}
	for _, same := range [][2]string{
		{"", ""},
		{"data=[1 2 3 4 5 6]", "data=[6 5 4 3 2 1]"},
		{"float32[2 3] data", "float32[2 3] strides=[3 1] data"},
	} {
		if got := structure(t, strings.Replace(structured, same[0], same[1], 1)); !bytes.Equal(got.Key, want.Key) {
			t.Errorf("%q in place of %q changes the structure", same[1], same[0])
		}
	}
	seen := map[string]string{string(want.Key): structured}
	for _, other := range [][2]string{
		{"data=[7]", "data=[8]"},
		{"data=[7]", "data=[0]"},
		{"data=[7]", "data=[-0]"},
		{"float32[2 3] data=[1 2 3 4 5 6]", "float32[2 3] strides=[0 1] data=[1 2 3]"},
		{"float32[2 3] data=[1 2 3 4 5 6]", "float32[2 3] strides=[0 -1] offset=2 data=[1 2 3]"},
		{"float32[2 3] data=[1 2 3 4 5 6]", "float32[2 3] strides=[1 2] data=[1 2 3 4 5 6]"},
		{"n2 = constant float32[] data=[7]", "n2 = constant float32[1] data=[7]"},
		{"mul", "add"},
		{"(x0,x1)", "(x1,x0)"},
		{"n1 n2 :", "n2 n1 :"},
		{"\"label\"", "\"other\""},
		{" \"label\"", ""},
		{"largest=true", "sorted=true"},
		{"n3 n4 :", "n4 n3 :"},
		{"out n4\nout n5", "out n5\nout n4"},
		{"out n4\nout n5", "out n5"},
		{"out n4\nout n5", "out n4.1\nout n5"},
		{"out n4\n", "out n4\nout n4\n"},
		{"n5 = concat{axis=1} n3 n4", "n5 = concat{axis=1} n4 n3"},
	} {
		text := strings.Replace(structured, other[0], other[1], 1)
		key := string(structure(t, text).Key)
		if text == structured {
			t.Fatalf("%q is not in the text", other[0])
		}
		if before, ok := seen[key]; ok && before != text {
			t.Errorf("one structure of\n%s\nand of\n%s", before, text)
		}
		seen[key] = text
	}
	// Types of the same bits, and sums of one value with itself or another one.
	const a = "n1 = constant int32[2] data=[1 2]\n"
	for _, pair := range [][2]string{
		{a + "out n1\n", strings.Replace(a, "int32", "uint32", 1) + "out n1\n"},
		{
			a + "n2 = constant int32[2] data=[1 2]\nn3 = concat n1 n2 : int32[4]\nout n3\n",
			a + "n2 = constant int32[2] data=[1 2]\nn3 = concat n1 n1 : int32[4]\nout n3\n",
		},
		{a + "n2 = identity n1 : int32[2]\nout n2\n", a + "n2 = contiguous n1 : int32[2]\nout n2\n"},
		{a + "n2 = pad{pads=[0 1]} n1 : int32[3]\nout n2\n", a + "n2 = pad{pads=[1 0]} n1 : int32[3]\nout n2\n"},
	} {
		if bytes.Equal(structure(t, pair[0]).Key, structure(t, pair[1]).Key) {
			t.Errorf("one structure of\n%s\nand of\n%s", pair[0], pair[1])
		}
	}
}

// TestNoStructure is of graphs of which more is to be known than their structure.
func TestNoStructure(t *testing.T) {
	for _, text := range []string{
		"n1 = input \"x\" float32[2]\nout n1\n",
		"n1 = input \"x\" float32[2]\nn2 = identity n1 : float32[2]\nout n2\n",
		"n1 = constant float32[2] data=[1 2]\nn2 = cache n1 : float32[2]\nn3 = identity n2 : float32[2]\nout n3\n",
	} {
		if _, ok := graph.StructureOf(parse(t, text)); ok {
			t.Errorf("there is a structure of\n%s", text)
		}
	}
	roots := parse(t, "n1 = constant float32[2] data=[1 2]\nn2 = cache n1 : float32[2]\nout n2\n")
	roots[0].Node().Fill(*roots[0].Node().Input(0).Node().Leaf())
	if s, ok := graph.StructureOf(roots); !ok || len(s.Leaves) != 1 || s.Leaves[0] != roots[0].Node() {
		t.Errorf("of a cache that is filled: %v %v", s, ok)
	}
}

// TestAttributesAreKnown wants ops to have none but attributes that a structure can hold.
func TestAttributesAreKnown(t *testing.T) {
	var check func(name string, typ reflect.Type)
	check = func(name string, typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Slice, reflect.Array:
			check(name+"[]", typ.Elem())
		case reflect.Struct:
			for i := range typ.NumField() {
				check(name+"."+typ.Field(i).Name, typ.Field(i).Type)
			}
		case reflect.Pointer, reflect.Map, reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
			t.Errorf("%s is a %v", name, typ)
		}
	}
	for _, o := range ops.All() {
		check(o.Name(), reflect.TypeOf(o))
	}
}

// TestDetached wants the structure to stay, and the storage to go.
func TestDetached(t *testing.T) {
	roots := parse(t, structured)
	s, _ := graph.StructureOf(roots)
	detached, leaves, err := graph.Detached(roots, s.Leaves)
	if err != nil {
		t.Fatal(err)
	}
	before, after := graph.Nodes(roots...), graph.Nodes(detached...)
	for i, n := range after {
		if o := before[i]; n.String() != o.String() || !n.Output(0).Type().Equal(o.Output(0).Type()) {
			t.Errorf("%v stands for %v", n, o)
		}
		if n == before[i] {
			t.Errorf("%v is of the other graph", n)
		}
	}
	if leaves[0].Leaf().Data != nil || len(leaves[1].Leaf().Data) != 4 {
		t.Errorf("the leaves hold %v and %v", leaves[0].Leaf(), leaves[1].Leaf())
	}
}

package graph_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/shape"
)

func parse(t *testing.T, text string) []graph.Value {
	t.Helper()
	outs, err := graph.Parse(text, ops.Parse)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return outs
}

// TestText reads graphs that print exactly as they are written.
func TestText(t *testing.T) {
	for _, text := range []string{
		"",
		`n1 = input "x" float32[2 3]
out n1
`,
		`n1 = input "x\n\"" bool[] "some label"
n2 = input "y" float16[0 4]
out n1
out n2
out n1
`,
		`n1 = input "x" float32[5 3]
n2 = concat{axis=1} n1 n1 : float32[5 6]
n3 = input "mask" bool[5 5] "square"
out n2
out n3
`,
		`n1 = constant int32[2 3] data=[1 -2 3 4 5 6]
n2 = constant int32[2 3] strides=[0 -1] offset=2 data=[7 8 9] "back to front"
n3 = map{program="t0=add(x0,x1)"} n1 n2 : int32[2 3]
n4 = permute{perm=[1 0]} n3 : int32[3 2] "view"
n5 = contiguous n4 : int32[3 2]
n6 = cache n5 : int32[3 2]
out n6
`,
		`n1 = input "x" float32[4]
n2 = top_k{k=2, largest=true} n1 : float32[2], int64[2]
n3 = pad{pads=[0 1]} n2.1 _ : int64[3]
n4 = concat n3 n2.1 n2.1 : int64[7]
out n4
out n2.1
`,
		`n1 = constant float32[0 3] data=[]
n2 = constant bool[2] data=[1 0]
n3 = constant float64[3] data=[nan +Inf -0]
n4 = constant float16[2] data=[0.099975586 5.9604645e-08]
n5 = constant uint64[1] data=[18446744073709551615]
n6 = constant int8[1] data=[-128]
out n1
out n2
out n3
out n4
out n5
out n6
`,
		`n1 = constant float32[10 20] data=iota
n2 = constant bfloat16[65] data=fill(1.5)
n3 = constant float64[200] data=hash(0)
n4 = constant int8[200] data=hash(99)
n5 = constant uint8[300] data=iota
n6 = constant bool[100] data=hash(1)
n7 = constant int64[100 100] strides=[0 1] data=iota
out n1
out n2
out n3
out n4
out n5
out n6
out n7
`,
	} {
		outs := parse(t, text)
		if got := graph.Format(outs, op.Format); got != text {
			t.Errorf("printed as\n%swant\n%s", got, text)
		}
	}
}

// TestTextMeaning reads forms that print otherwise.
func TestTextMeaning(t *testing.T) {
	text := `
# a comment
  a=input "x"   float32[2]
b_1 = concat{ } a a
a9=concat{axis=0} b_1 a:float32[6]"joined"
out a9
`
	want := `n1 = input "x" float32[2]
n2 = concat n1 n1 : float32[4]
n3 = concat n2 n1 : float32[6] "joined"
out n3
`
	if got := graph.Format(parse(t, text), op.Format); got != want {
		t.Errorf("printed as\n%swant\n%s", got, want)
	}
}

func TestTextConstant(t *testing.T) {
	v := parse(t, "c = constant float32[2 2] strides=[-2 1] offset=2 data=[1 2 3 4]\nout c")[0]
	leaf := v.Node().Leaf()
	if want := (shape.Layout{Shape: shape.Shape{2, 2}, Strides: []int{-2, 1}, Offset: 2}); !leaf.Layout.Equal(want) {
		t.Errorf("layout %v, want %v", leaf.Layout, want)
	}
	if got, want := kernel.Cast[float32](leaf.Data), []float32{1, 2, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("data %v, want %v", got, want)
	}
	h := kernel.Cast[float32](parse(t, "c = constant float32[1000] data=hash(3)\nout c")[0].Node().Leaf().Data)
	var sum, squares float64
	for _, x := range h {
		if x < -1 || x > 1 {
			t.Fatalf("hashed number %v is not in [-1, 1]", x)
		}
		sum += float64(x)
		squares += float64(x) * float64(x)
	}
	if math.Abs(sum/1000) > 0.1 || math.Abs(squares/1000-1.0/3) > 0.05 {
		t.Errorf("hashed numbers have mean %v and mean square %v", sum/1000, squares/1000)
	}
}

// TestTextGenerated lists what generators make of every type, and reads that.
func TestTextGenerated(t *testing.T) {
	for _, dt := range dtype.All() {
		for _, data := range []string{"iota", "fill(1)", "hash(3)"} {
			outs := parse(t, fmt.Sprintf("n1 = constant %v[9] data=%s\nout n1\n", dt, data))
			listed := graph.Format(outs, op.Format) // nine elements are few
			if again := graph.Format(parse(t, listed), op.Format); again != listed {
				t.Errorf("%v of %s:\n%s is printed as\n%s", dt, data, listed, again)
			}
			made, read := outs[0].Node().Leaf().Data, parse(t, listed)[0].Node().Leaf().Data
			if !bytes.Equal(made, read) {
				t.Errorf("%v of %s:\n%s has the bytes %x, want %x", dt, data, listed, read, made)
			}
		}
	}
}

// TestTextLargeConstant: data that nothing generates is kept to the last bit,
// and of a large storage only what the layout spans.
func TestTextLargeConstant(t *testing.T) {
	data := kernel.Alloc(4 * 1000)
	for i := range kernel.Cast[float32](data) {
		kernel.Cast[float32](data)[i] = float32(math.Sqrt(float64(i)))
	}
	l := shape.Layout{Shape: shape.Shape{10, 10}, Strides: []int{-3, 30}, Offset: 400}
	n, err := graph.NewConstant(graph.Type{DType: dtype.Float32, Shape: l.Shape}, graph.Leaf{Layout: l, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	text := graph.Format([]graph.Value{n.Output(0)}, op.Format)
	if len(text) > 4*(27+270+1)*4/3+200 {
		t.Errorf("the text has %d bytes: more than the layout spans", len(text))
	}
	leaf := parse(t, text)[0].Node().Leaf()
	for i := range 10 {
		for j := range 10 {
			got := kernel.Cast[float32](leaf.Data)[leaf.Layout.At(i, j)]
			if want := kernel.Cast[float32](data)[l.At(i, j)]; got != want {
				t.Fatalf("element %d, %d is %v, want %v", i, j, got, want)
			}
		}
	}
	if again := graph.Format(parse(t, text), op.Format); again != text {
		t.Error("the text changes when it is read and printed")
	}
}

// TestTextAlmostGenerated: one element that a generator would not make.
func TestTextAlmostGenerated(t *testing.T) {
	v := parse(t, "c = constant int16[100] data=iota\nout c")[0]
	data := kernel.Alloc(200)
	copy(data, v.Node().Leaf().Data)
	kernel.Cast[int16](data)[99] = 7
	n, err := graph.NewConstant(v.Type(), graph.Leaf{Layout: shape.Dense(shape.Shape{100}), Data: data})
	if err != nil {
		t.Fatal(err)
	}
	back := parse(t, graph.Format([]graph.Value{n.Output(0)}, op.Format))[0]
	if !slices.Equal(back.Node().Leaf().Data, data) {
		t.Error("the data has changed")
	}
}

// TestTextShared: a node that is read twice is printed once, and read back as
// one.
func TestTextShared(t *testing.T) {
	outs := parse(t, `a = input "x" float32[2]
b = cache a
c = concat b b
out c
out b
`)
	c := outs[0].Node()
	if c.Input(0) != c.Input(1) || c.Input(0) != outs[1] {
		t.Error("one name stands for several nodes")
	}
}

func TestTextDeep(t *testing.T) {
	const depth = 100_000
	var b strings.Builder
	b.WriteString("n1 = input \"x\" float32[1]\n")
	for i := range depth {
		fmt.Fprintf(&b, "n%d = identity n%d : float32[1]\n", i+2, i+1)
	}
	fmt.Fprintf(&b, "out n%d\n", depth+1)
	if got := graph.Format(parse(t, b.String()), op.Format); got != b.String() {
		t.Error("a deep graph prints otherwise than it was written")
	}
}

func TestTextErrors(t *testing.T) {
	const x = "x = input \"x\" float32[2 3]\n"
	for _, c := range []struct{ text, want string }{
		{"x", "line 1: expected a node"},
		{"= input", "line 1: expected a node"},
		{"1x = input \"x\" float32[1]", "expected a node"},
		{"_ = input \"x\" float32[1]", "expected a node"},
		{x + "\n" + x, "line 3: x is defined twice"},
		{"y = identity y", "line 1: y is not defined on an earlier line"},
		{"y = identity z\nz = identity y", "line 1: z is not defined on an earlier line"},
		{"out y", "line 1: y is not defined"},
		{x + "out x.1", "line 2: x has no output 1: it has 1"},
		{x + "out x.-1", "no output -1"},
		{x + "out x.y", "not the name of a value"},
		{x + "out _", "an output cannot be absent"},
		{x + "out x x", "not the name of a value"},
		{x + "y = nothing x", `line 2: unknown op "nothing"`},
		{x + "y = concat{axis=7} x", "concat: axis 7 is out of range"},
		{x + "y = concat{axis=7 x", "line 2: concat"},
		{x + "y = concat{axis=\"7} x", "line 2: concat"},
		{x + "y = identity x : float32[3 2]", "line 2: identity has outputs [float32[2 3]], the line states [float32[3 2]]"},
		{x + "y = identity x : float32[2 3], float32[2 3]", "the line states"},
		{x + "y = identity x : float32", "expected a type"},
		{x + "y = identity x : float33[2 3]", "unknown element type"},
		{x + "y = identity x \"label", "label in quotes"},
		{x + "y = identity x : float32[2 3] label", "label in quotes"},
		{"x = input x float32[2]", "key of an input in quotes"},
		{"x = input \"x\" float32[-2]", "negative extent"},
		{"x = input \"x\" float32[99999999999999999999]", "value out of range"},
		{"x = input \"x\" float32[2] strides=[1]", "label in quotes"},
		{"x = identity _", "input 0 is absent"},
		{"c = constant float32[2]", "expected the data"},
		{"c = constant float32[2] data=[1]", "leaves its storage of 1 elements"},
		{"c = constant float32[2] data=[1 2", "no ] behind the data"},
		{"c = constant float32[2] data=[1 x]", "is not a float32"},
		{"c = constant int8[1] data=[128]", "is not a int8"},
		{"c = constant float32[2] strides=[1 1] data=[1 2]", "2 strides, want 1"},
		{"c = constant float32[2] strides=[1 data=[1 2]", "line 1: "},
		{"c = constant float32[2 2] strides=[2147483647 2147483647] data=[1 2]", "leaves its storage"},
		{"c = constant float32[2] offset=-1 data=[1 2]", "leaves its storage"},
		{"c = constant float32[2] offset=x data=[1 2]", "parsing"},
		{"c = constant float32[2] data=base64:????", "base64"},
		{"c = constant float32[2] data=base64:AAAA", "leaves its storage of 0 elements"},
		{"c = constant float32[5000000] data=iota", "at most 4194304 elements"},
		{"c = constant float32[2] data=iota(3)", "is no data"},
		{"c = constant float32[2] data=fill(x)", "is not a float32"},
		{"c = constant float32[2] data=fill(1", "is no data"},
		{"c = constant float32[2] data=hash(-1)", "parsing"},
		{"c = constant float32[2] data=zeros", "is no data"},
	} {
		outs, err := graph.Parse(c.text, ops.Parse)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "graph: line ") {
			t.Errorf("%s\n: %v, error %v, want one with %q", c.text, outs, err, c.want)
		}
	}
	failure := errors.New("no ops today")
	if _, err := graph.Parse(x+"y = identity x", func(string) (graph.Op, error) { return nil, failure }); !errors.Is(err, failure) {
		t.Errorf("error %v does not wrap that of the op", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("n1 = input \"x\" float32[2 3]\nn2 = top_k{k=1} n1 : float32[2 1], int64[2 1] \"label\"\nout n2.1\n")
	f.Add("n1 = constant int32[2 3] strides=[0 -1] offset=2 data=[7 8 9]\nn2 = map{program=\"t0=add(x0,x0)\"} n1\nout n2\n")
	f.Add("n1 = constant float32[10 20] data=iota\nn2 = constant bfloat16[65] data=hash(3)\nout n1\nout n2\n")
	f.Add("n1 = constant float16[2] data=base64:AAAAAA==\nout n1\n")
	f.Fuzz(func(t *testing.T, text string) {
		outs, err := graph.Parse(text, ops.Parse)
		if err != nil {
			return
		}
		first := graph.Format(outs, op.Format)
		again, err := graph.Parse(first, ops.Parse)
		if err != nil {
			t.Fatalf("%v in the text that was printed:\n%s", err, first)
		}
		if second := graph.Format(again, op.Format); second != first {
			t.Errorf("printed first as\n%sand then as\n%s", first, second)
		}
	})
}

func ExampleFormat() {
	outs, err := graph.Parse(`
		x = input "x" float32[4 3]
		c = constant float32[4 3] data=iota
		y = concat{axis=1} x c
		out y`, ops.Parse)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(graph.Format(outs, op.Format))
	// Output:
	// n1 = input "x" float32[4 3]
	// n2 = constant float32[4 3] data=[0 1 2 3 4 5 6 7 8 9 10 11]
	// n3 = concat{axis=1} n1 n2 : float32[4 6]
	// out n3
}

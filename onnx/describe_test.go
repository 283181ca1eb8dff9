package onnx

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth/internal/wire"
)

// doublingModel finds the elements of x + w that are not 0, doubles these three times
// over, and negates them. The loop also finds the elements that it doubles, for nobody.
func doublingModel(t *testing.T) *Model {
	t.Helper()
	v := floatInput("v", 0)
	v.Type.Tensor.Shape = nil
	body := &wire.Graph{
		Name:    "body",
		Inputs:  []wire.ValueInfo{{Name: "i"}, {Name: "going"}, v},
		Outputs: []wire.ValueInfo{{Name: "going"}, {Name: "v2"}, {Name: "spots"}},
		Nodes:   []wire.Node{nodeOf("Mul", names{"v", "two"}, names{"v2"}), nodeOf("NonZero", names{"v2"}, names{"spots"})},
	}
	m, err := Parse(addModel(func(m *wire.Model) {
		m.Graph.Initializers = append(m.Graph.Initializers, floatTensor("two", 2),
			wire.Tensor{Name: "three", DataType: wire.Int64, Raw: []byte{3, 0, 0, 0, 0, 0, 0, 0}},
			wire.Tensor{Name: "axis", DataType: wire.Int64, Dims: []int64{1}, Raw: make([]byte, 8)})
		m.Graph.Nodes = []wire.Node{
			nodeOf("Add", names{"x", "w"}, names{"sum"}),
			nodeOf("NonZero", names{"sum"}, names{"found"}),
			nodeOf("Squeeze", names{"found", "axis"}, names{"places"}),
			nodeOf("Gather", names{"sum", "places"}, names{"some"}),
			nodeOf("Loop", names{"three", "", "some"}, names{"many"}, wire.Attribute{Name: "body", Kind: wire.AttrGraph, Graph: body}),
			nodeOf("Neg", names{"many"}, names{"y"}),
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestDescribe wants the segments of a run, with the names of the model.
func TestDescribe(t *testing.T) {
	m := doublingModel(t)
	s, err := m.NewSession(&SessionOptions{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if d, mem := s.Describe(), s.Memory(); len(d.Segments) > 0 || d.Memory != mem || mem != (SessionMemory{}) {
		t.Errorf("before the first run: %v", d)
	}
	for _, c := range []struct {
		x    []float32
		want []float32
		text string
	}{
		{[]float32{-10, -25}, []float32{40}, `segment 0: arena 0 bytes, lower bound 0
step 0: add(input x, weight w) -> output sum, own
heap   sum float32[2], 8 bytes
host   NonZero "FOUND" -> found int64[1 1], 8 bytes
segment 1: arena 0 bytes, lower bound 0
step 0: reshape(input found) -> t0, view
step 1: gather(input sum, t0) -> output some, own
heap   some float32[1], 4 bytes
host   Loop "MANY" -> many float32[1], 4 bytes
segment 2 in the body of Loop "MANY": arena 0 bytes, lower bound 0
step 0: mul(input v) -> output v2, own
heap   v2 float32[1], 4 bytes
host   NonZero "SPOTS" -> spots int64[1 1], 8 bytes
segment 3: arena 0 bytes, lower bound 0
step 0: neg(input many) -> output y, own
heap   y float32[1], 4 bytes, an output
`},
		{[]float32{1, 2}, []float32{-88, -176}, `segment 0: arena 0 bytes, lower bound 0
step 0: add(input x, weight w) -> output sum, own
heap   sum float32[2], 8 bytes
host   NonZero "FOUND" -> found int64[1 2], 16 bytes
segment 1: arena 0 bytes, lower bound 0
step 0: reshape(input found) -> t0, view
step 1: gather(input sum, t0) -> output some, own
heap   some float32[2], 8 bytes
host   Loop "MANY" -> many float32[2], 8 bytes
segment 2 in the body of Loop "MANY": arena 0 bytes, lower bound 0
step 0: mul(input v) -> output v2, own
heap   v2 float32[2], 8 bytes
host   NonZero "SPOTS" -> spots int64[1 2], 16 bytes
segment 3: arena 0 bytes, lower bound 0
step 0: neg(input many) -> output y, own
heap   y float32[2], 8 bytes, an output
`},
	} {
		x, err := NewArray(c.x, 2)
		if err != nil {
			t.Fatal(err)
		}
		outputs := map[string]Value{}
		if err := s.Run(t.Context(), map[string]Value{"x": x}, outputs); err != nil {
			t.Fatal(err)
		}
		if y, err := Elements[float32](outputs["y"].(*Array)); err != nil || !slices.Equal(y, c.want) {
			t.Errorf("y is %v, %v", y, err)
		}
		d := s.Describe()
		text, _, _ := strings.Cut(d.String(), "arena  ")
		if text != c.text {
			t.Errorf("x = %v:\n%s", c.x, text)
		}
		if d.Memory != s.Memory() {
			t.Errorf("the memory is %+v, and then %+v", d.Memory, s.Memory())
		}
	}
}

// TestSessionMemory wants memory for what lies between segments, and no more of it when
// the same shapes come again. What is the caller's does not count.
func TestSessionMemory(t *testing.T) {
	m := doublingModel(t)
	s, err := m.NewSession(&SessionOptions{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	outputs := map[string]Value{}
	run := func(x ...float32) SessionMemory {
		t.Helper()
		a, err := NewArray(x, 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context(), map[string]Value{"x": a}, outputs); err != nil {
			t.Fatal(err)
		}
		return s.Memory()
	}
	// The sum, the places, the elements there; in the loop two buffers for what it carries,
	// the count and the condition, the places, and the stack of these three times, which
	// grows to twice its size when it is full.
	if mem := run(-10, 0); mem.Values != 8+8+4+2*4+8+1+8+4*8 || mem.Weights != 8 {
		t.Errorf("one element is found: %+v", mem)
	}
	// What is as large at all shapes, and the places, which only grow, serve again.
	two := run(0, 0)
	if two.Values != 8+16+(4+2*4+8+1+8+4*8)+(8+2*8+8+1+16+4*16) || two.Weights != 8 {
		t.Errorf("two elements are found: %+v", two)
	}
	for range 2 {
		if again := run(3, -20); again != two {
			t.Errorf("%+v, then %+v for the same shapes", two, again)
		}
		if again := run(5, 6); again != two {
			t.Errorf("%+v, then %+v for the same shapes", two, again)
		}
	}
}

// TestSessionMemoryOfOthers has a loop return an input and a weight as they are. Neither
// is memory of the session.
func TestSessionMemoryOfOthers(t *testing.T) {
	v := floatInput("v", 2)
	u := v
	u.Name = "u"
	body := &wire.Graph{
		Name:    "body",
		Inputs:  []wire.ValueInfo{{Name: "i"}, {Name: "going"}, v, u},
		Outputs: []wire.ValueInfo{{Name: "going"}, {Name: "v"}, {Name: "u"}},
	}
	m, err := Parse(addModel(func(m *wire.Model) {
		m.Graph.Initializers = append(m.Graph.Initializers, wire.Tensor{Name: "none", DataType: wire.Int64, Raw: make([]byte, 8)})
		m.Graph.Nodes = []wire.Node{
			nodeOf("Loop", names{"none", "", "x", "w"}, names{"x2", "w2"}, wire.Attribute{Name: "body", Kind: wire.AttrGraph, Graph: body}),
			nodeOf("Add", names{"x2", "w2"}, names{"y"}),
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.NewSession(&SessionOptions{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x, err := NewArray([]float32{1, 2}, 2)
	if err != nil {
		t.Fatal(err)
	}
	outputs := map[string]Value{}
	if err := s.Run(t.Context(), map[string]Value{"x": x}, outputs); err != nil {
		t.Fatal(err)
	}
	if y, err := Elements[float32](outputs["y"].(*Array)); err != nil || !slices.Equal(y, []float32{11, 22}) {
		t.Errorf("y is %v, %v", y, err)
	}
	if mem := s.Memory(); mem.Values != 8+1 { // the count and the condition
		t.Errorf("%+v", mem)
	}
}

// TestSessionMemoryOfWeights multiplies by a matrix at several numbers of rows. Its
// prepacked form is one.
func TestSessionMemoryOfWeights(t *testing.T) {
	x := floatInput("x", 0)
	x.Type.Tensor.Shape.Dims = []wire.Dim{{Param: "n"}, {HasValue: true, Value: 64}}
	w := floatTensor("w", make([]float32, 64*64)...)
	w.Dims = []int64{64, 64}
	m, err := Parse(addModel(func(m *wire.Model) {
		m.Graph.Inputs, m.Graph.Initializers = []wire.ValueInfo{x}, []wire.Tensor{w}
		m.Graph.Nodes = []wire.Node{nodeOf("MatMul", names{"x", "w"}, names{"y"})}
	}))
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.NewSession(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, n := range []int{16, 32, 48} {
		x, err := NewArray(make([]float32, n*64), n, 64)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context(), map[string]Value{"x": x}, map[string]Value{"y": nil}); err != nil {
			t.Fatal(err)
		}
		if mem := s.Memory(); mem.Weights != 4*64*64 || mem.Prepacked != mem.Weights {
			t.Errorf("%d rows: %+v", n, mem)
		}
	}
}

package onnx

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/wire"
	"github.com/berth-go/berth/shape"
)

// FuzzLoad parses arbitrary bytes, compiles what loads, for inputs of the declared
// shapes, and runs it in a session with small limits. Errors are fine; panics, endless
// work and memory beyond the limits are not.
func FuzzLoad(f *testing.F) {
	f.Add([]byte{})
	f.Add(addModel(nil))
	for _, seed := range fuzzSeeds() {
		f.Add(addModel(func(m *wire.Model) {
			m.OpsetImports[0].Version = seed.opset
			m.Graph.Nodes = seed.nodes
		}))
	}
	for _, h := range hostiles() {
		f.Add(addModel(func(m *wire.Model) {
			m.OpsetImports[0].Version = h.opset
			m.Graph.Nodes = h.nodes
		}))
	}
	for _, seed := range hostSeeds() {
		f.Add(addModel(func(m *wire.Model) {
			m.OpsetImports[0].Version = 21
			m.Graph.Nodes = seed
		}))
	}
	f.Add(modelOf([]wire.Node{local("F", names{"x"}, names{"y"}, attrFloat("slope", 0.5))}, leaky("F")))
	// Small real files, where they are at hand.
	files, _ := filepath.Glob(filepath.Join("..", "..", "shared", "onnx-backend", "node", "test_*s", "model.onnx"))
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil && len(data) < 2000 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse(data)
		if err != nil {
			return
		}
		m.Info()
		for _, rows := range []int{1, 3} {
			opt := &Options{Rows: rows, Open: 2, Program: berth.CompileOptions{MaxArena: 1 << 24, SearchNodes: 1000}}
			if !worthCompiling(m, opt) {
				continue
			}
			p, err := m.Compile(context.Background(), opt)
			if err == nil && p == nil {
				t.Error("neither a program nor an error")
			}
		}
		runLimited(t, m)
	})
}

// runLimited runs m in a session twice, the second time with other elements.
func runLimited(t *testing.T, m *Model) {
	s, err := m.NewSession(&SessionOptions{Workers: 1, MaxBytes: 1 << 20, MaxIterations: 50, Poison: true})
	if err != nil {
		return
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	for elem := range byte(2) {
		in := make(values)
		for _, v := range m.graph().Inputs {
			if x := valueLike(v.Type, elem); x != nil {
				in[v.Name] = x
			}
		}
		began := time.Now()
		err := s.Run(ctx, in, make(values))
		if took := time.Since(began); took > 20*time.Second {
			t.Fatalf("took %v to end with %v", took, err)
		}
	}
}

// valueLike returns a value of a type, each byte of its elements the given one.
func valueLike(t *wire.Type, elem byte) Value {
	switch {
	case t == nil:
		return vec(float32(elem), 1)
	case t.Optional != nil:
		if elem == 0 {
			return nil
		}
		return valueLike(t.Optional.Elem, elem)
	case t.Sequence != nil:
		s := make(Sequence, 0, elem)
		for range elem {
			s = append(s, valueLike(t.Sequence.Elem, elem))
		}
		return s
	case t.Map != nil:
		return &Map{whole64(1, 2), vec(3, float32(elem))}
	case t.Tensor == nil:
		return nil
	}
	dims := []int{}
	if t.Tensor.Shape != nil {
		for _, d := range t.Tensor.Shape.Dims {
			n := int(d.Value)
			if !d.HasValue || n < 0 {
				n = 2
			}
			dims = append(dims, n)
		}
	}
	s := shape.Shape(dims)
	if s.Check() != nil || s.Elems() > 1<<16 {
		return nil
	}
	if t.Tensor.Elem == wire.String {
		text := make([]string, s.Elems())
		for i := range text {
			text[i] = string(rune('a' + elem))
		}
		return &Array{dims: s, text: text}
	}
	typ, err := elementType(t.Tensor.Elem)
	if err != nil {
		return nil
	}
	return &Array{typ: typ, dims: s, data: append(kernel.Alloc(s.Elems() * typ.Size())[:0], bytes.Repeat([]byte{elem}, s.Elems()*typ.Size())...)}
}

// hostSeeds has nodes that run on the host, each making y of x and w.
func hostSeeds() [][]wire.Node {
	state := names{"i", "go", "v"}
	positive := []wire.Node{nodeOf("ReduceMax", names{"x"}, names{"most"}, attrInt("keepdims", 0)), nodeOf("Cast", names{"most"}, names{"c"}, attrInt("to", 9))}
	add := subgraph([]wire.Node{nodeOf("Add", names{"v", "w"}, names{"n"})}, state, names{"go", "n", "v"})
	insert := subgraph([]wire.Node{nodeOf("SequenceInsert", names{"v", "x", "i"}, names{"n"})}, state, names{"go", "n"})
	text := []wire.Node{nodeOf("Cast", names{"x"}, names{"t"}, attrInt("to", 8)), nodeOf("StringConcat", names{"t", "t"}, names{"u"})}
	return [][]wire.Node{
		append(positive, ifNode("c", names{"y"}, subgraph([]wire.Node{nodeOf("Neg", names{"x"}, names{"n"})}, nil, names{"n"}),
			subgraph([]wire.Node{nodeOf("Concat", names{"x", "w"}, names{"n"}, attrInt("axis", 0))}, nil, names{"n"}))),
		{scalar64("m", 3), loopNode(names{"m", "", "x"}, names{"y", "z"}, add)},
		append(positive, scalar64("m", 3), loopNode(names{"m", "c", "x"}, names{"y", "z"}, add)),
		{nodeOf("SequenceConstruct", names{"x", "w"}, names{"s"}), scalar64("m", 3), loopNode(names{"m", "", "s"}, names{"r"}, insert),
			nodeOf("ConcatFromSequence", names{"r"}, names{"y"}, attrInt("axis", 0))},
		{scalar64("m", 3), loopNode(names{"m", "", "x"}, names{"y"}, subgraph([]wire.Node{loopNode(names{"i", "go", "v"}, names{"n", "z"},
			subgraph([]wire.Node{nodeOf("Concat", names{"a", "w"}, names{"b"}, attrInt("axis", 0))}, names{"k", "c", "a"}, names{"c", "b", "k"}))}, state, names{"go", "n"}))},
		{scanNode(1, names{"w", "x"}, names{"z", "y"}, subgraph([]wire.Node{nodeOf("Add", names{"v", "e"}, names{"n"})}, names{"v", "e"}, names{"n", "e"}), attrInts("scan_input_directions", 1))},
		{nodeOf("SplitToSequence", names{"x"}, names{"s"}), nodeOf("SequenceMap", names{"s", "w"}, names{"r"}, attrGraph("body", subgraph([]wire.Node{
			nodeOf("Add", names{"a", "b"}, names{"n"}), nodeOf("NonZero", names{"n"}, names{"o"})}, names{"a", "b"}, names{"o"}))), nodeOf("SequenceErase", names{"r"}, names{"q"}),
			nodeOf("SequenceLength", names{"q"}, names{"y"})},
		append(text, nodeOf("Equal", names{"u", "t"}, names{"e"}), nodeOf("Where", names{"e", "t", "u"}, names{"f"}), nodeOf("Unique", names{"f"}, names{"y", "g", "h"})),
		append(text, scalar64("m", 20), loopNode(names{"m", "", "u"}, names{"y"}, subgraph([]wire.Node{nodeOf("StringConcat", names{"v", "v"}, names{"n"})}, state, names{"go", "n"}))),
		append(text, nodeOf("StringSplit", names{"t"}, names{"p", "q"}, attrText("delimiter", "."), attrInt("maxsplit", 1)), nodeOf("Concat", names{"q", "q"}, names{"y"}, attrInt("axis", 0))),
		{nodeOf("NonZero", names{"x"}, names{"nz"}), nodeOf("Shape", names{"nz"}, names{"d"}), nodeOf("ConstantOfShape", names{"d"}, names{"z"}), nodeOf("Compress", names{"z", "b"}, names{"y"}),
			nodeOf("Cast", names{"x"}, names{"b"}, attrInt("to", 9))},
		{nodeOf("Optional", names{"x"}, names{"o"}), nodeOf("OptionalHasElement", names{"o"}, names{"c"}), ifNode("c", names{"y"},
			subgraph([]wire.Node{nodeOf("OptionalGetElement", names{"o"}, names{"n"})}, nil, names{"n"}), subgraph(nil, nil, names{"w"}))},
	}
}

// worthCompiling builds the graph of m, which must always be quick, and reports
// whether a compilation will be, too: it computes all constants, and a file may
// rightly ask for many.
func worthCompiling(m *Model, opt *Options) bool {
	inputs, err := m.shaped(opt, map[string]int{opt.rowDim(m): opt.Rows})
	if err != nil {
		return false
	}
	outs, err := m.build(context.Background(), inputs, false, opt.Rows > 1)
	if err != nil || checkPorts(slices.Collect(maps.Values(inputs)), outs) != nil {
		return false
	}
	const enough = 1 << 22
	imp := importer{varies: make(map[*graph.Node]bool)}
	work := int64(0)
	seen := make(map[*graph.Node]bool)
	for len(outs) > 0 && work < enough {
		n := outs[len(outs)-1].Node()
		outs = outs[:len(outs)-1]
		if n.IsLeaf() || seen[n] {
			continue
		}
		seen[n] = true
		for i := range n.NumInputs() {
			if in := n.Input(i); !in.IsZero() {
				outs = append(outs, in)
			}
		}
		if !imp.dependsOnInput(n.Output(0)) {
			work += workOf(n)
		}
	}
	return work < enough
}

type fuzzSeed struct {
	opset int64
	nodes []wire.Node
}

// fuzzSeeds has a few nodes of every family, each making y of x and w.
func fuzzSeeds() []fuzzSeed {
	ints := func(out string, v ...int64) wire.Node {
		return nodeOf("Constant", nil, names{out}, attrInts("value_ints", v...))
	}
	reshaped := func(op string, attrs ...wire.Attribute) []wire.Node {
		return []wire.Node{
			ints("s", 1, 1, 2), nodeOf("Reshape", names{"x", "s"}, names{"a"}), nodeOf("Reshape", names{"w", "s"}, names{"b"}),
			nodeOf(op, names{"a", "b"}, names{"y"}, attrs...),
		}
	}
	return []fuzzSeed{
		{13, reshaped("Conv", attrInts("pads", 1, 1), attrInts("strides", 2), attrText("auto_pad", "NOTSET"))},
		{13, reshaped("ConvTranspose", attrInts("output_padding", 1), attrInts("strides", 2))},
		{13, reshaped("Concat", attrInt("axis", -1))},
		{13, reshaped("MatMul")},
		{18, []wire.Node{ints("a", 3), nodeOf("Resize", names{"x", "", "", "a"}, names{"y"}, attrText("mode", "cubic"), attrInt("antialias", 1))}},
		{9, []wire.Node{nodeOf("Upsample", names{"x", "w"}, names{"y"}, attrText("mode", "linear"))}},
		{13, []wire.Node{ints("s", 1, 1, 2), nodeOf("Reshape", names{"x", "s"}, names{"a"}),
			nodeOf("MaxPool", names{"a"}, names{"y", "i"}, attrInts("kernel_shape", 2), attrInt("ceil_mode", 1), attrInts("dilations", 1))}},
		{19, []wire.Node{ints("s", 1, 1, 2), nodeOf("Reshape", names{"x", "s"}, names{"a"}),
			nodeOf("AveragePool", names{"a"}, names{"y"}, attrInts("kernel_shape", 2), attrInts("pads", 1, 0), attrInt("count_include_pad", 1))}},
		{13, []wire.Node{ints("a", 0), ints("b", 5), ints("c", -1), nodeOf("Slice", names{"x", "b", "a", "a", "c"}, names{"y"})}},
		{9, []wire.Node{nodeOf("Slice", names{"x"}, names{"y"}, attrInts("starts", -2), attrInts("ends", 9), attrInts("axes", 0))}},
		{13, []wire.Node{nodeOf("Split", names{"x"}, names{"y", "z"}, attrInt("axis", 0))}},
		{18, []wire.Node{nodeOf("Split", names{"x"}, names{"y", "z"}, attrInt("num_outputs", 2))}},
		{13, []wire.Node{ints("p", 1, -1), nodeOf("Pad", names{"x", "p"}, names{"y"}, attrText("mode", "reflect"))}},
		{13, []wire.Node{nodeOf("Shape", names{"x"}, names{"s"}), nodeOf("ConstantOfShape", names{"s"}, names{"y"})}},
		{13, []wire.Node{ints("i", 0, -1), nodeOf("Gather", names{"x", "i"}, names{"a"}), nodeOf("ScatterElements", names{"x", "i", "w"}, names{"y"})}},
		{13, []wire.Node{ints("i", 1), ints("d", 3), nodeOf("OneHot", names{"i", "d", "w"}, names{"y"}, attrInt("axis", 0))}},
		{13, []wire.Node{ints("r", 3), nodeOf("Tile", names{"x", "r"}, names{"y"})}},
		{13, []wire.Node{ints("a", 0), nodeOf("Unsqueeze", names{"x", "a"}, names{"b"}), nodeOf("Trilu", names{"b"}, names{"c"}),
			nodeOf("Squeeze", names{"c"}, names{"d"}), nodeOf("Transpose", names{"d"}, names{"y"})}},
		{13, []wire.Node{nodeOf("Constant", nil, names{"a"}, attrInt("value_int", 1)), nodeOf("Constant", nil, names{"b"}, attrInt("value_int", 6)),
			nodeOf("Range", names{"a", "b", "a"}, names{"y"})}},
		{13, []wire.Node{nodeOf("Softmax", names{"x"}, names{"a"}), nodeOf("ReduceSum", names{"a"}, names{"b"}), nodeOf("Where", names{"c", "x", "w"}, names{"y"}),
			nodeOf("Greater", names{"x", "b"}, names{"c"})}},
		{13, []wire.Node{ints("k", 1), nodeOf("TopK", names{"x", "k"}, names{"y", "i"})}},
		{13, []wire.Node{nodeOf("Cast", names{"x"}, names{"y"}, attrInt("to", 7))}},
	}
}

// TestHostSeeds holds the seeds to be models that run, so that fuzzing begins behind the
// first error.
func TestHostSeeds(t *testing.T) {
	for i, seed := range hostSeeds() {
		m, err := Parse(addModel(func(m *wire.Model) {
			m.OpsetImports[0].Version = 21
			m.Graph.Nodes = seed
		}))
		if err != nil {
			t.Errorf("seed %d: %v", i, err)
			continue
		}
		if _, err := m.RunValues(t.Context(), &SessionOptions{Workers: 1, MaxIterations: 50}, values{"x": vec(0, 1)}); err != nil {
			t.Errorf("seed %d: %v", i, err)
		}
	}
}

package onnx

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/wire"
)

// FuzzLoad parses arbitrary bytes, and compiles what loads, for inputs of the
// declared shapes. Errors are fine; panics and endless work are not.
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
	})
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

package onnx

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

// floatInput declares an input of one float32 axis.
func floatInput(name string, extent int64) wire.ValueInfo {
	shape := &wire.Shape{Dims: []wire.Dim{{HasValue: true, Value: extent}}}
	return wire.ValueInfo{Name: name, Type: &wire.Type{Tensor: &wire.TensorType{Elem: wire.Float, Shape: shape}}}
}

func floatTensor(name string, values ...float32) wire.Tensor {
	t := wire.Tensor{Name: name, DataType: wire.Float, Dims: []int64{int64(len(values))}, Raw: []byte{}}
	for _, v := range values {
		b := math.Float32bits(v)
		t.Raw = append(t.Raw, byte(b), byte(b>>8), byte(b>>16), byte(b>>24))
	}
	return t
}

// nodeOf returns a node; its name is the name of its first output in capitals.
func nodeOf(op string, ins, outs []string, attrs ...wire.Attribute) wire.Node {
	return wire.Node{Name: strings.ToUpper(outs[0]), OpType: op, Inputs: ins, Outputs: outs, Attributes: attrs}
}

type names = []string

// addModel is x, of two elements, plus w into y; change may alter the model
// before it is written.
func addModel(change func(m *wire.Model)) []byte {
	m := &wire.Model{
		IRVersion: 8, OpsetImports: []wire.OperatorSet{{Version: 13}},
		Graph: &wire.Graph{
			Name:         "g",
			Inputs:       []wire.ValueInfo{floatInput("x", 2)},
			Outputs:      []wire.ValueInfo{{Name: "y"}},
			Initializers: []wire.Tensor{floatTensor("w", 10, 20)},
			Nodes:        []wire.Node{nodeOf("Add", names{"x", "w"}, names{"y"})},
		},
	}
	if change != nil {
		change(m)
	}
	return wire.AppendModel(nil, m)
}

// TestMalformed lists models that decode and cannot be loaded, with what the
// error has to say.
func TestMalformed(t *testing.T) {
	relu := func(in, out string) wire.Node { return nodeOf("Relu", names{in}, names{out}) }
	for _, c := range []struct {
		name   string
		change func(m *wire.Model)
		want   []string
	}{
		{"a cycle", func(m *wire.Model) {
			m.Graph.Nodes = []wire.Node{nodeOf("Add", names{"x", "b"}, names{"a"}), relu("a", "b"), relu("b", "y")}
		}, []string{`graph "g"`, `cycle: node 0 "A" (Add) reads node 1 "B" (Relu), which reads node 0 "A"`, "cannot be put in order"}},
		{"a cycle, and what else there is", func(m *wire.Model) {
			m.Graph.Nodes = []wire.Node{relu("b", "a"), nodeOf("Frobnicate", names{"a"}, names{"b"}), relu("a", "y")}
		}, []string{"cannot be put in order", `node 1 "B" (Frobnicate): operator is not supported`}},
		{"a node that needs itself", func(m *wire.Model) {
			m.Graph.Nodes = []wire.Node{relu("y", "y")}
		}, []string{`cycle: node 0 "Y" (Relu) reads node 0 "Y"`}},
		{"a cycle through a subgraph", func(m *wire.Model) {
			branch := nodeOf("If", names{"x"}, names{"a"})
			branch.Attributes = []wire.Attribute{{Name: "then_branch", Kind: wire.AttrGraph, Graph: &wire.Graph{Outputs: []wire.ValueInfo{{Name: "y"}}}}}
			m.Graph.Nodes = []wire.Node{branch, relu("a", "y")}
		}, []string{`cycle: node 0 "A" (If) reads node 1 "Y"`}},
		{"an undefined input", func(m *wire.Model) { m.Graph.Nodes[0].Inputs[1] = "ww" }, []string{`node 0 "Y" (Add): input 1 names "ww", which nothing defines`}},
		{"an undefined output", func(m *wire.Model) { m.Graph.Outputs[0].Name = "z" }, []string{`output 0 names "z", which nothing defines`}},
		{"an output without a name", func(m *wire.Model) { m.Graph.Outputs[0].Name = "" }, []string{`output 0 names ""`}},
		{"an input without a name", func(m *wire.Model) { m.Graph.Inputs[0].Name = "" }, []string{"input 0 has no name"}},
		{"an initializer without a name", func(m *wire.Model) { m.Graph.Initializers[0].Name = "" }, []string{"an initializer has no name"}},
		{"one name for two nodes", func(m *wire.Model) {
			m.Graph.Nodes = append(m.Graph.Nodes, relu("x", "y"))
		}, []string{`node 1 "Y" (Relu) defines "y", which is defined already`}},
		{"one name for two outputs of a node", func(m *wire.Model) {
			m.Graph.Nodes = []wire.Node{nodeOf("Split", names{"x"}, names{"y", "y"})}
		}, []string{`defines "y", which is defined already`}},
		{"a node that redefines an input", func(m *wire.Model) {
			m.Graph.Nodes = append(m.Graph.Nodes, relu("x", "x"))
		}, []string{`node 1 "X" (Relu) defines "x", which is defined already`}},
		{"a node that redefines a weight", func(m *wire.Model) {
			m.Graph.Nodes = append(m.Graph.Nodes, relu("x", "w"))
		}, []string{`defines "w", which is defined already`}},
		{"two inputs of one name", func(m *wire.Model) {
			m.Graph.Inputs = append(m.Graph.Inputs, floatInput("x", 3))
		}, []string{`two inputs are named "x"`}},
		{"two weights of one name", func(m *wire.Model) {
			m.Graph.Initializers = append(m.Graph.Initializers, floatTensor("w", 1))
		}, []string{`the name of another: "w"`}},
		{"unknown operators, each with its node", func(m *wire.Model) {
			m.Graph.Nodes = []wire.Node{
				nodeOf("Frobnicate", names{"x"}, names{"a"}), relu("a", "b"), nodeOf("Twiddle", names{"b"}, names{"y"}),
				nodeOf("Expand", names{"a", "b"}, names{"c"}),
			}
			m.OpsetImports[0].Version = 7
		}, []string{`node 0 "A" (Frobnicate)`, `node 2 "Y" (Twiddle)`, `node 3 "C" (Expand): operator is not supported at opset 7`}},
		{"an operator of a domain", func(m *wire.Model) {
			m.Graph.Nodes[0].Domain = "com.example"
			m.OpsetImports = append(m.OpsetImports, wire.OperatorSet{Domain: "com.example", Version: 1})
		}, []string{`(com.example.Add): operator is not supported`}},
		{"a domain without an opset", func(m *wire.Model) { m.Graph.Nodes[0].Domain = "com.example" }, []string{`imports no opset of domain "com.example"`}},
		{"no opset of the standard domain", func(m *wire.Model) { m.OpsetImports[0].Domain = "com.example" }, []string{`node 0 "Y" (Add): the model imports no opset of domain ""`}},
		{"two opsets of a domain", func(m *wire.Model) {
			m.OpsetImports = append(m.OpsetImports, wire.OperatorSet{Domain: "ai.onnx", Version: 14})
		}, []string{"versions 13 and 14"}},
		{"an IR version to come", func(m *wire.Model) { m.IRVersion = 14 }, []string{"IR version 14 is newer than 13, the newest"}},
		{"an opset to come", func(m *wire.Model) { m.OpsetImports[0].Version = 28 }, []string{`opset 28 of domain "" is newer than 27, the newest`}},
		{"an opset to come, by the domain's other name", func(m *wire.Model) {
			m.OpsetImports[0] = wire.OperatorSet{Domain: "ai.onnx", Version: 1 << 40}
		}, []string{`opset 1099511627776 of domain "ai.onnx" is newer than 27`}},
		{"an opset of another domain to come", func(m *wire.Model) {
			m.OpsetImports = append(m.OpsetImports, wire.OperatorSet{Domain: "ai.onnx.ml", Version: 6})
		}, []string{`opset 6 of domain "ai.onnx.ml" is newer than 5`}},
		{"too few inputs", func(m *wire.Model) { m.Graph.Nodes[0].Inputs = names{"x"} }, []string{`input 1 is missing, the operator needs 2`}},
		{"an empty name for a needed input", func(m *wire.Model) { m.Graph.Nodes[0].Inputs = names{"", "w"} }, []string{`input 0 is missing`}},
		{"too many inputs", func(m *wire.Model) { m.Graph.Nodes[0].Inputs = names{"x", "w", "w"} }, []string{"has 3 inputs, the operator takes at most 2"}},
		{"an attribute twice", func(m *wire.Model) {
			m.Graph.Nodes[0].Attributes = attrs(attrInt("a", 1), attrInt("a", 2))
		}, []string{`attribute "a" is given twice`}},
		{"an attribute of a function", func(m *wire.Model) {
			m.Graph.Nodes[0].Attributes = attrs(wire.Attribute{Name: "a", RefName: "outer", Kind: wire.AttrInt})
		}, []string{`attribute "a" refers to "outer" outside of a function`}},
		{"a weight in a file that cannot be", func(m *wire.Model) {
			m.Graph.Initializers[0] = wire.Tensor{Name: "w", DataType: wire.Float, Dims: []int64{2}, External: true,
				ExternalData: []wire.Entry{{Key: "location", Value: "w.bin"}}}
		}, []string{`"w"`, "external"}},
		{"everything at once", func(m *wire.Model) {
			m.Graph.Nodes = []wire.Node{nodeOf("Frobnicate", names{"q"}, names{"x"})}
		}, []string{"Frobnicate", `"q"`, `defines "x"`, `output 0 names "y"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse(addModel(c.change))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error does not say %q:\n%v", want, err)
				}
			}
		})
	}
}

// TestUnsupportedIsTold checks that callers can tell a model that Berth lacks
// operators for from a broken one.
func TestUnsupportedIsTold(t *testing.T) {
	_, err := Parse(addModel(func(m *wire.Model) { m.Graph.Nodes[0].OpType = "Frobnicate" }))
	if !errors.Is(err, ErrUnsupported) || errors.Is(err, ErrType) {
		t.Errorf("unknown operator: %v", err)
	}
	_, err = Parse(addModel(func(m *wire.Model) {
		m.Graph.Initializers[0] = wire.Tensor{Name: "w", DataType: wire.Complex64, Dims: []int64{1}, Raw: make([]byte, 8)}
	}))
	if !errors.Is(err, ErrType) || errors.Is(err, ErrUnsupported) {
		t.Errorf("weight of complex numbers: %v", err)
	}
	_, err = Parse(addModel(func(m *wire.Model) { m.Graph.Outputs[0].Name = "z" }))
	if err == nil || errors.Is(err, ErrUnsupported) || errors.Is(err, ErrType) {
		t.Errorf("broken model: %v", err)
	}
}

// TestUnsorted runs a model whose nodes stand in the opposite order.
func TestUnsorted(t *testing.T) {
	m, err := Parse(addModel(func(m *wire.Model) {
		m.Graph.Nodes = []wire.Node{
			nodeOf("Neg", names{"b"}, names{"y"}),
			nodeOf("Mul", names{"a", "w"}, names{"b"}),
			nodeOf("Add", names{"x", "x"}, names{"a"}),
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Run(t.Context(), map[string]*berth.Tensor{"x": counting(1, 2)})
	if err != nil {
		t.Fatal(err)
	}
	if err := sameTensor(got["y"], f32([]float64{-20, -80})); err != nil {
		t.Error(err)
	}
}

// TestLongChain loads and runs a model of many nodes, each needing the next:
// nothing on the way may recurse over them.
func TestLongChain(t *testing.T) {
	const n = 20000
	m, err := Parse(addModel(func(m *wire.Model) {
		g := m.Graph
		g.Nodes = nil
		last := "y"
		for i := range n {
			in := "v" + strconv.Itoa(i)
			if i == n-1 {
				in = "x"
			}
			g.Nodes = append(g.Nodes, nodeOf("Neg", names{in}, names{last}))
			last = in
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Run(t.Context(), map[string]*berth.Tensor{"x": counting(1, 2)})
	if err != nil {
		t.Fatal(err)
	}
	if err := sameTensor(got["y"], counting(1, 2)); err != nil {
		t.Error(err)
	}
}

func TestRunInputs(t *testing.T) {
	m, err := Parse(addModel(nil))
	if err != nil {
		t.Fatal(err)
	}
	x := counting(1, 2)
	type inputs = map[string]*berth.Tensor
	for _, c := range []struct {
		name string
		in   inputs
		want string
	}{
		{"missing", nil, "input x FLOAT [2] is missing"},
		{"nil", inputs{"x": nil}, "input x FLOAT [2] is missing"},
		{"superfluous", inputs{"x": x, "z": x}, `the model has no input "z"`},
		{"a weight that is no input", inputs{"x": x, "w": x}, `the model has no input "w"`},
		{"other type", inputs{"x": i64([]float64{1, 2})}, "input x FLOAT [2] is given int64[2]"},
		{"other extent", inputs{"x": counting(1, 3)}, "input x FLOAT [2] is given float32[3]"},
		{"other rank", inputs{"x": scalarOf(dtype.Float32, 1)}, "input x FLOAT [2] is given float32[]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := m.Run(t.Context(), c.in); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestNewestVersions loads a model of the newest versions that are known. Those of
// a domain that is not known are its own affair.
func TestNewestVersions(t *testing.T) {
	_, err := Parse(addModel(func(m *wire.Model) {
		m.IRVersion = wire.LatestIRVersion
		m.OpsetImports = []wire.OperatorSet{{Version: 27}, {Domain: "ai.onnx.ml", Version: 5}, {Domain: "com.example", Version: 1000}}
	}))
	if err != nil {
		t.Error(err)
	}
}

// TestDeclaredOutputs declares the output of a model, two float32, in several
// ways, runs it and compiles it.
func TestDeclaredOutputs(t *testing.T) {
	of := func(elem wire.DataType, shape *wire.Shape) *wire.Type {
		return &wire.Type{Tensor: &wire.TensorType{Elem: elem, Shape: shape}}
	}
	declared := func(elem wire.DataType, dims ...wire.Dim) *wire.Type { return of(elem, &wire.Shape{Dims: dims}) }
	extent := func(n int64) wire.Dim { return wire.Dim{HasValue: true, Value: n} }
	for _, c := range []struct {
		name string
		typ  *wire.Type
		want string // of the error; empty for none
	}{
		{"not", nil, ""},
		{"as a tensor", of(wire.Undefined, nil), ""},
		{"without a rank", of(wire.Float, nil), ""},
		{"in full", declared(wire.Float, extent(2)), ""},
		{"with a name for its extent", declared(wire.Float, wire.Dim{Param: "n"}), ""},
		{"with an open extent", declared(wire.Float, wire.Dim{}), ""},
		{"with another extent", declared(wire.Float, extent(3)), "output y FLOAT [3] is declared, but float32[2] is"},
		{"with another rank", declared(wire.Float, extent(1), extent(2)), "output y FLOAT [1 2] is declared, but float32[2] is"},
		{"as a scalar", declared(wire.Float), "output y FLOAT [] is declared, but float32[2] is"},
		{"with another element type", declared(wire.Double, extent(2)), "output y DOUBLE [2] is declared, but float32[2] is"},
		{"with an element type that Berth does not have", declared(wire.Int4, extent(2)), "output y INT4 [2] is declared, but float32[2] is"},
		{"as a sequence", &wire.Type{Sequence: &wire.ContainerType{}}, "output y sequence is declared, but float32[2] is"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Parse(addModel(func(m *wire.Model) { m.Graph.Outputs[0].Type = c.typ }))
			if err != nil {
				t.Fatal(err)
			}
			_, ran := m.Run(t.Context(), map[string]*berth.Tensor{"x": counting(1, 2)})
			_, compiled := m.Compile(t.Context(), nil)
			for _, err := range []error{ran, compiled} {
				switch {
				case c.want == "" && err != nil:
					t.Error(err)
				case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
					t.Errorf("got %v, want %q", err, c.want)
				}
			}
		})
	}
}

// TestOverriddenExtents compiles a model for another extent of its input than it
// declares: what it declares of the output's extents does not hold then.
func TestOverriddenExtents(t *testing.T) {
	m, err := Parse(addModel(func(m *wire.Model) {
		m.Graph.Nodes[0] = nodeOf("Neg", names{"x"}, names{"y"})
		m.Graph.Outputs[0] = floatInput("y", 2)
	}))
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Compile(t.Context(), &Options{Shapes: map[string][]int{"x": {5}}})
	if err != nil {
		t.Fatal(err)
	}
	if dims := p.Outputs()[0].Dims; len(dims) != 1 || dims[0] != 5 {
		t.Errorf("the output has the extents %v, want 5", dims)
	}
}

// TestReplacedWeight gives a value to an input that has one in the file, as
// files of IR version 3 list their weights.
func TestReplacedWeight(t *testing.T) {
	m, err := Parse(addModel(func(m *wire.Model) {
		m.IRVersion = 3
		m.Graph.Inputs = append(m.Graph.Inputs, floatInput("w", 2))
	}))
	if err != nil {
		t.Fatal(err)
	}
	if in := m.Inputs(); len(in) != 1 || in[0].Name != "x" {
		t.Errorf("inputs to bind are %v, want x alone", in)
	}
	x := counting(1, 2)
	for want, in := range map[*berth.Tensor]map[string]*berth.Tensor{
		f32([]float64{11, 22}): {"x": x},
		f32([]float64{2, 4}):   {"x": x, "w": x},
	} {
		got, err := m.Run(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if err := sameTensor(got["y"], want); err != nil {
			t.Error(err)
		}
	}
}

// TestRunFails lists models that load and cannot run: the error names the
// node, and no memory is taken for what it asks.
func TestRunFails(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(m *wire.Model)
		want   string
	}{
		{"more outputs than the operator has", func(m *wire.Model) {
			m.Graph.Nodes[0].Outputs = names{"y", "z"}
		}, `node 0 "Y" (Add): has 2 outputs, the operator 1`},
		{"shapes that do not fit", func(m *wire.Model) { m.Graph.Initializers[0] = floatTensor("w", 1, 2, 3) }, `node 0 "Y" (Add)`},
		{"a shape that overflows", func(m *wire.Model) {
			m.Graph.Nodes = []wire.Node{
				nodeOf("Constant", nil, names{"s"}, attrInts("value_ints", 1<<40, 1<<40)),
				nodeOf("ConstantOfShape", names{"s"}, names{"y"}),
			}
		}, `node 1 "Y" (ConstantOfShape): shape [1099511627776 1099511627776]: more than`},
		{"a shape made of an input", func(m *wire.Model) {
			m.Graph.Nodes = []wire.Node{nodeOf("ConstantOfShape", names{"x"}, names{"y"})}
		}, `node 0 "Y" (ConstantOfShape): input 0 is of type float32, not int64 or int32`},
		{"an attribute of the wrong kind", func(m *wire.Model) {
			m.Graph.Nodes = []wire.Node{nodeOf("Concat", names{"x", "w"}, names{"y"}, attrFloat("axis", 0))}
		}, `node 0 "Y" (Concat): attribute "axis" is of kind`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Parse(addModel(c.change))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Run(t.Context(), map[string]*berth.Tensor{"x": counting(1, 2)}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestExternalData reads a weight beside the model, and refuses every way out
// of the model's directory.
func TestExternalData(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "model")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	weights := floatTensor("", 10, 20).Raw
	for _, name := range []string{filepath.Join(root, "secret.bin"), filepath.Join(dir, "w.bin")} {
		if err := os.WriteFile(name, weights, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	link := func(make func(old, new string) error, name string) {
		if err := make(filepath.Join(root, "secret.bin"), filepath.Join(dir, name)); err != nil {
			t.Logf("%s: %v", name, err) // the file system may have no links; a missing file is refused as well
		}
	}
	link(os.Symlink, "symlink.bin")
	link(os.Link, "hardlink.bin")
	for _, c := range []struct {
		location, offset string
		refused          bool
	}{
		{"w.bin", "0", false},
		{"./w.bin", "0", false},
		{"../secret.bin", "0", true},
		{"sub/../../secret.bin", "0", true},
		{filepath.Join(root, "secret.bin"), "0", true},
		{"symlink.bin", "0", true},
		{"hardlink.bin", "0", true},
		{"missing.bin", "0", true},
		{"", "0", true},
		{".", "0", true},
		{"w.bin", "4", true},
		{"w.bin", "9223372036854775800", true},
	} {
		data := addModel(func(m *wire.Model) {
			m.Graph.Initializers[0] = wire.Tensor{Name: "w", DataType: wire.Float, Dims: []int64{2}, External: true,
				ExternalData: []wire.Entry{{Key: "location", Value: c.location}, {Key: "offset", Value: c.offset}}}
		})
		file := filepath.Join(dir, "model.onnx")
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
		m, err := LoadFile(file)
		switch {
		case c.refused && err == nil:
			t.Errorf("location %q at %s: no error", c.location, c.offset)
		case c.refused && !strings.Contains(err.Error(), `"w"`):
			t.Errorf("location %q at %s: the error does not name the tensor: %v", c.location, c.offset, err)
		case !c.refused && err != nil:
			t.Errorf("location %q: %v", c.location, err)
		case !c.refused:
			got, err := m.Run(t.Context(), map[string]*berth.Tensor{"x": counting(1, 2)})
			if err != nil {
				t.Fatal(err)
			}
			if err := sameTensor(got["y"], f32([]float64{11, 22})); err != nil {
				t.Errorf("location %q: %v", c.location, err)
			}
		}
		files := fstest.MapFS{
			"model/model.onnx": {Data: data}, "model/w.bin": {Data: weights}, "secret.bin": {Data: weights},
		}
		if _, err := Load(files, "model/model.onnx"); c.refused && err == nil {
			t.Errorf("location %q at %s in an fs.FS: no error", c.location, c.offset)
		} else if !c.refused && c.location == "w.bin" && err != nil {
			t.Errorf("location %q in an fs.FS: %v", c.location, err)
		}
	}
}

package onnx

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/wire"
)

// A nodeTest is a model of one node, what it is given, and what it must give.
type nodeTest struct {
	what  string // besides the operator, what the case is about
	op    string // behind its domain and a dot, if it has one
	opset int64  // of that domain
	attrs []wire.Attribute
	in    []*berth.Tensor // nil is an absent input
	want  []*berth.Tensor // nil is an output that the node does not name
	err   string          // part of the error that is wanted instead
}

func runNodeTests(t *testing.T, cases []nodeTest) {
	t.Helper()
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s-%d/%s", c.op, c.opset, c.what), c.run)
	}
}

func (c nodeTest) run(t *testing.T) {
	n := operatorNode(c.op, c.attrs)
	g := wire.Graph{Name: "test"}
	inputs := make(map[string]*berth.Tensor)
	for i, x := range c.in {
		name := ""
		if x != nil {
			name = fmt.Sprint("x", i)
			inputs[name] = x
			g.Inputs = append(g.Inputs, valueInfoOf(name, x))
		}
		n.Inputs = append(n.Inputs, name)
	}
	outs := len(c.want)
	if c.err != "" {
		outs = max(outs, 1)
	}
	for i := range outs {
		name := ""
		if c.err != "" || c.want[i] != nil {
			name = fmt.Sprint("y", i)
			g.Outputs = append(g.Outputs, wire.ValueInfo{Name: name})
		}
		n.Outputs = append(n.Outputs, name)
	}
	g.Nodes = []wire.Node{n}
	model, err := Parse(wire.AppendModel(nil, &wire.Model{
		IRVersion: 8, OpsetImports: []wire.OperatorSet{{Domain: n.Domain, Version: c.opset}}, Graph: &g,
	}))
	var got map[string]*berth.Tensor
	if err == nil {
		got, err = model.Run(context.Background(), inputs)
	}
	switch {
	case c.err != "" && err == nil:
		t.Fatalf("no error, want %q", c.err)
	case c.err != "":
		if !strings.Contains(err.Error(), c.err) {
			t.Fatalf("error %v, want %q", err, c.err)
		}
		return
	case err != nil:
		t.Fatal(err)
	}
	for i, want := range c.want {
		if want == nil {
			continue
		}
		if err := sameTensor(got[fmt.Sprint("y", i)], want); err != nil {
			t.Errorf("output %d: %v", i, err)
		}
	}
	c.compiled(t, model, inputs)
}

// operatorNode returns a node of an operator whose name may stand behind its domain,
// as in com.microsoft.Gelu.
func operatorNode(op string, attrs []wire.Attribute) wire.Node {
	dot := strings.LastIndex(op, ".")
	return wire.Node{Domain: op[:max(dot, 0)], OpType: op[dot+1:], Attributes: attrs}
}

func valueInfoOf(name string, x *berth.Tensor) wire.ValueInfo {
	shape := &wire.Shape{}
	for _, d := range x.Shape() {
		shape.Dims = append(shape.Dims, wire.Dim{HasValue: true, Value: int64(d)})
	}
	for elem, t := range elementTypes {
		if t == x.DType() {
			return wire.ValueInfo{Name: name, Type: &wire.Type{Tensor: &wire.TensorType{Elem: elem, Shape: shape}}}
		}
	}
	return wire.ValueInfo{Name: name}
}

// sameTensor reports how got is not want: numbers may differ by 1e-5 of their
// size, and two NaN are the same.
func sameTensor(got, want *berth.Tensor) error {
	if got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
		return fmt.Errorf("got %v%v, want %v%v", got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	g, w := numbers(got), numbers(want)
	for i := range g {
		same := g[i] == w[i] || math.IsNaN(g[i]) && math.IsNaN(w[i]) ||
			math.Abs(g[i]-w[i]) <= 1e-6+1e-5*math.Abs(w[i]) && !math.IsInf(w[i], 0)
		if !same {
			return fmt.Errorf("got %v%v, want %v", got.DType(), g, w)
		}
	}
	return nil
}

// numbers returns the elements of x, truth values as 0 and 1.
func numbers(x *berth.Tensor) []float64 {
	v, err := x.Promise().Cast(dtype.Float64).Materialize(context.Background())
	if err != nil {
		panic(err)
	}
	data, err := berth.Data[float64](v)
	if err != nil {
		panic(err)
	}
	return data
}

// tensorOf returns a tensor of element type t.
func tensorOf(t dtype.Type, data []float64, dims ...int) *berth.Tensor {
	out := make([]byte, 0, 8*len(data))
	for _, v := range data {
		var b [8]byte
		kernel.Float64Scalar(v).Cast(t).Put(b[:])
		out = append(out, b[:t.Size()]...)
	}
	_, x, err := ReadTensor(wire.AppendTensor(nil, &wire.Tensor{DataType: wireType(t), Dims: int64s(dims), Raw: wireType(t).Pack(out)}))
	if err != nil {
		panic(err)
	}
	return x
}

func int64s(list []int) []int64 {
	out := make([]int64, len(list))
	for i, v := range list {
		out[i] = int64(v)
	}
	return out
}

// f32, i64 and truth return tensors with one axis, or of the shape given.
func f32(data []float64, dims ...int) *berth.Tensor { return shaped(dtype.Float32, data, dims) }
func i64(data []float64, dims ...int) *berth.Tensor { return shaped(dtype.Int64, data, dims) }
func truth(data []float64, dims ...int) *berth.Tensor {
	return shaped(dtype.Bool, data, dims)
}

func shaped(t dtype.Type, data []float64, dims []int) *berth.Tensor {
	if len(dims) == 0 {
		dims = []int{len(data)}
	}
	return tensorOf(t, data, dims...)
}

// scalarOf returns a tensor of rank 0.
func scalarOf(t dtype.Type, v float64) *berth.Tensor { return tensorOf(t, []float64{v}) }

// counting returns from, from+1, ... as float32 in a shape.
func counting(from float64, dims ...int) *berth.Tensor {
	n := 1
	for _, d := range dims {
		n *= d
	}
	data := make([]float64, n)
	for i := range data {
		data[i] = from + float64(i)
	}
	return tensorOf(dtype.Float32, data, dims...)
}

func attrs(list ...wire.Attribute) []wire.Attribute { return list }

func attrInt(name string, v int64) wire.Attribute {
	return wire.Attribute{Name: name, Kind: wire.AttrInt, Int: v}
}

func attrInts(name string, v ...int64) wire.Attribute {
	return wire.Attribute{Name: name, Kind: wire.AttrInts, Ints: v}
}

func attrFloat(name string, v float32) wire.Attribute {
	return wire.Attribute{Name: name, Kind: wire.AttrFloat, Float: v}
}

func attrFloats(name string, v ...float32) wire.Attribute {
	return wire.Attribute{Name: name, Kind: wire.AttrFloats, Floats: v}
}

func attrText(name, v string) wire.Attribute {
	return wire.Attribute{Name: name, Kind: wire.AttrString, Bytes: []byte(v)}
}

func attrTexts(name string, v ...string) wire.Attribute {
	a := wire.Attribute{Name: name, Kind: wire.AttrStrings}
	for _, s := range v {
		a.Strings = append(a.Strings, []byte(s))
	}
	return a
}

type in = []*berth.Tensor

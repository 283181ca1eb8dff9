package onnx

import (
	little "encoding/binary"
	"fmt"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/wire"
)

// TestShapesAsData computes with the shape of an input, which follows the
// dimensions of a program: as a number, as the length of a range, and as a shape.
func TestShapesAsData(t *testing.T) {
	ints := func(name string, dims []int64, values ...int64) wire.Tensor {
		var raw []byte
		for _, v := range values {
			raw = little.LittleEndian.AppendUint64(raw, uint64(v))
		}
		return wire.Tensor{Name: name, DataType: wire.Int64, Dims: dims, Raw: raw}
	}
	node := func(op string, output string, inputs ...string) wire.Node {
		return wire.Node{OpType: op, Inputs: inputs, Outputs: []string{output}}
	}
	dim := func(name string) wire.Dim { return wire.Dim{Param: name} }
	g := wire.Graph{
		Name: "shapes",
		Inputs: []wire.ValueInfo{{Name: "x", Type: &wire.Type{Tensor: &wire.TensorType{
			Elem: wire.Int64, Shape: &wire.Shape{Dims: []wire.Dim{dim("batch"), dim("seq")}}}}}},
		Outputs:      []wire.ValueInfo{{Name: "positions"}, {Name: "scaled"}, {Name: "filled"}, {Name: "flat"}},
		Initializers: []wire.Tensor{ints("zero", nil, 0), ints("one", nil, 1), ints("all", []int64{1}, -1)},
		Nodes: []wire.Node{
			node("Shape", "shape", "x"),
			node("Gather", "length", "shape", "one"),
			node("Range", "range", "zero", "length", "one"),
			node("Add", "positions", "x", "range"),
			node("Mul", "scaled", "x", "length"),
			node("ConstantOfShape", "zeros", "shape"),
			node("Cast", "filled", "zeros"),
			node("Size", "size", "x"),
			node("Unsqueeze", "one axis", "size", "axes"),
			node("Reshape", "flat", "positions", "all"),
		},
	}
	g.Nodes[6].Attributes = attrs(attrInt("to", int64(wire.Int64)))
	g.Initializers = append(g.Initializers, ints("axes", []int64{1}, 0))
	m, err := Parse(wire.AppendModel(nil, &wire.Model{IRVersion: 8, OpsetImports: []wire.OperatorSet{{Version: 13}}, Graph: &g}))
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Compile(t.Context(), &Options{Vary: []berth.Dimension{berth.Dim("batch", 1, 4), berth.Dim("seq", 1, 9)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, shape := range [][]int{{4, 9}, {1, 1}, {2, 5}, {3, 1}, {1, 9}} {
		data := make([]int64, shape[0]*shape[1])
		for i := range data {
			data[i] = int64(7*i%5 - 2)
		}
		x, err := berth.FromSlice(data, shape...)
		if err != nil {
			t.Fatal(err)
		}
		in := map[string]*berth.Tensor{"x": x}
		got, err := p.RunOnce(t.Context(), in, 1)
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Run(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"positions", "scaled", "filled", "flat"} {
			if !berth.Equal(got[name], want[name]) {
				t.Errorf("%v: %s is %v, want %v", shape, name, got[name], want[name])
			}
		}
		if at, _ := berth.At[int64](got["positions"], shape[0]-1, shape[1]-1); at != data[len(data)-1]+int64(shape[1]-1) {
			t.Errorf("%v: the last position is %d", shape, at)
		}
	}
	if text := fmt.Sprint(p.Dims()); text != "[{batch 1 4} {seq 1 9}]" {
		t.Errorf("the dimensions are %s", text)
	}
}

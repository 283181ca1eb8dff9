package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/berth-go/berth/internal/wire"
)

// TestWriteHalf converts a model with weights, a constant node, a cast, scales of a Resize, and
// an output that a node of its own reads.
func TestWriteHalf(t *testing.T) {
	float := func(name string) wire.ValueInfo {
		return wire.ValueInfo{Name: name, Type: &wire.Type{Tensor: &wire.TensorType{Elem: wire.Float}}}
	}
	tensor := func(name string, values ...byte) wire.Tensor {
		return wire.Tensor{Name: name, DataType: wire.Float, Dims: []int64{int64(len(values) / 4)}, Raw: values}
	}
	one, two := []byte{0, 0, 128, 63}, []byte{0, 0, 0, 64}
	constant := tensor("", two...)
	m := &wire.Model{IRVersion: 8, OpsetImports: []wire.OperatorSet{{Version: 13}}, Graph: &wire.Graph{
		Name: "g", Inputs: []wire.ValueInfo{float("x")}, Outputs: []wire.ValueInfo{float("y")},
		Initializers: []wire.Tensor{tensor("w", one...), tensor("scales", two...)},
		Nodes: []wire.Node{
			{OpType: "Mul", Inputs: []string{"x", "w"}, Outputs: []string{"a"}},
			{OpType: "Constant", Outputs: []string{"c"}, Attributes: []wire.Attribute{{Name: "value", Kind: wire.AttrTensor, Tensor: &constant}}},
			{OpType: "Cast", Inputs: []string{"c"}, Outputs: []string{"d"}, Attributes: []wire.Attribute{{Name: "to", Kind: wire.AttrInt, Int: int64(wire.Float)}}},
			{OpType: "Resize", Inputs: []string{"a", "", "scales"}, Outputs: []string{"y"}},
		},
	}}
	from, to := filepath.Join(t.TempDir(), "model.onnx"), filepath.Join(t.TempDir(), "half.onnx")
	if err := os.WriteFile(from, wire.AppendModel(nil, m), 0o644); err != nil {
		t.Fatal(err)
	}
	numbers, err := writeHalf(to, from, "float16")
	if err != nil {
		t.Fatal(err)
	}
	if numbers != 2 {
		t.Errorf("%d numbers became halves, want those of w and c", numbers)
	}
	data, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	half, err := wire.DecodeModel(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := half.Graph
	if g.Initializers[0].DataType != wire.Float16 || g.Initializers[1].DataType != wire.Float {
		t.Errorf("the weights are %v, and the scales of a Resize %v", g.Initializers[0].DataType, g.Initializers[1].DataType)
	}
	for i, want := range []string{"Cast x x/half", "Mul x/half a", "Constant c", "Cast c d", "Resize a y/half", "Cast y/half y"} {
		n := g.Nodes[i]
		got := n.OpType
		if len(n.Inputs) > 0 {
			got += " " + n.Inputs[0]
		}
		if got += " " + n.Outputs[0]; got != want {
			t.Errorf("node %d is %s, want %s", i, got, want)
		}
	}
	if c := g.Nodes[2].Attributes[0].Tensor; c.DataType != wire.Float16 {
		t.Errorf("the constant is %v", c.DataType)
	}
	if to := g.Nodes[3].Attributes[0].Int; to != int64(wire.Float16) {
		t.Errorf("the cast is to %d", to)
	}
}

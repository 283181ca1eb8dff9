package main

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/internal/wire"
)

// TestQuantized wants each quantised form of a small model near the model, with the
// operators that the form is about.
func TestQuantized(t *testing.T) {
	m, inputs := smallNetwork()
	want, err := runBerth(t.Context(), wire.AppendModel(nil, m), inputs)
	if err != nil {
		t.Fatal(err)
	}
	m = simplified(m)
	ranges, err := calibrate(t.Context(), m, inputs)
	if err != nil {
		t.Fatal(err)
	}
	step, _ := spanOf(want["y"]).step()
	has := map[scheme][]string{
		{static: true}:                  {"QuantizeLinear", "DequantizeLinear", "Conv", "MatMul", "Gather"},
		{static: true, operators: true}: {"QLinearConv", "QLinearMatMul", "QLinearAdd", "QLinearGlobalAveragePool"},
		{operators: true}:               {"DynamicQuantizeLinear", "ConvInteger", "MatMulInteger"},
		{}:                              {"DynamicQuantizeLinear", "DequantizeLinear", "Conv", "MatMul"},
	}
	for _, s := range schemes() {
		form := quantized(m, maps.Clone(ranges), s)
		got, err := runBerth(t.Context(), wire.AppendModel(nil, form), inputs)
		if err != nil {
			t.Errorf("%v: %v", s, err)
			continue
		}
		if d := distance(got["y"], want["y"], step); d.most > 12 || d.most == 0 {
			t.Errorf("%v is %v steps from the model", s, d)
		}
		var types []string
		for _, n := range form.Graph.Nodes {
			types = append(types, n.OpType)
		}
		for _, op := range has[scheme{static: s.static, operators: s.operators}] {
			if !slices.Contains(types, op) {
				t.Errorf("%v has no %s: %v", s, op, types)
			}
		}
		if slices.Contains(types, "Relu") == s.static {
			t.Errorf("%v: the bound of a static range stands in for Relu: %v", s, types)
		}
	}
}

// smallNetwork returns a network with each of the operators that are quantised, and an
// input of its.
func smallNetwork() (*wire.Model, []wire.Tensor) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(name string, dims ...int64) wire.Tensor {
		v := numbersOf(wire.Float, dims, r.NormFloat64)
		v.Name = name
		return v
	}
	node := func(op, out string, in ...string) wire.Node {
		return wire.Node{OpType: op, Inputs: in, Outputs: []string{out}}
	}
	gemm := node("Gemm", "product", "flat", "w3", "b3")
	gemm.Attributes = []wire.Attribute{{Name: "transB", Kind: wire.AttrInt, Int: 1}}
	indices := numbersOf(wire.Int64, []int64{1}, func() float64 { return 2 })
	indices.Name = "i"
	g := &wire.Graph{
		Name: "small",
		Initializers: []wire.Tensor{random("w1", 8, 3, 3, 3), random("b1", 8), random("w2", 8, 8, 1, 1), random("w3", 5, 8), random("b3", 5),
			random("table", 4, 5), indices},
		Nodes: []wire.Node{node("Conv", "c1", "x", "w1", "b1"), node("Relu", "r1", "c1"), node("Conv", "c2", "r1", "w2"), node("Add", "s", "c2", "r1"),
			node("GlobalAveragePool", "mean", "s"), node("Flatten", "flat", "mean"), gemm, node("Gather", "row", "table", "i"), node("Add", "y", "product", "row")},
		Inputs: []wire.ValueInfo{{Name: "x", Type: &wire.Type{Tensor: &wire.TensorType{Elem: wire.Float,
			Shape: &wire.Shape{Dims: []wire.Dim{{HasValue: true, Value: 1}, {HasValue: true, Value: 3}, {HasValue: true, Value: 7}, {HasValue: true, Value: 7}}}}}}},
		Outputs: []wire.ValueInfo{{Name: "y", Type: &wire.Type{Tensor: &wire.TensorType{Elem: wire.Float}}}},
	}
	return &wire.Model{IRVersion: 8, OpsetImports: []wire.OperatorSet{{Version: 13}}, Graph: g}, []wire.Tensor{random("x", 1, 3, 7, 7)}
}

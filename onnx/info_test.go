package onnx

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

// TestInspect looks at a file that cannot be run: what it says of itself is there,
// and each missing operator once with the number of its nodes.
func TestInspect(t *testing.T) {
	data := addModel(func(m *wire.Model) {
		m.ProducerName, m.ProducerVersion, m.DocString = "pytorch", "2.9", "a model"
		m.Metadata = []wire.Entry{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}, {Key: "a", Value: "3"}}
		f := leaky("F")
		f.OpsetImports[0].Version = 11
		f.Nodes = []wire.Node{nodeOf("Twiddle", names{"a"}, names{"b"})}
		m.Functions = []wire.Function{f, leaky("Unused")}
		m.Graph.Inputs[0].Type.Tensor.Shape.Dims[0] = wire.Dim{Param: "n"}
		m.Graph.Initializers = append(m.Graph.Initializers, wire.Tensor{Name: "far", DataType: wire.Float, Dims: []int64{3}, External: true,
			ExternalData: []wire.Entry{{Key: "location", Value: "nowhere.bin"}}})
		m.Graph.Nodes = []wire.Node{
			nodeOf("Twiddle", names{"x"}, names{"a"}),
			local("F", names{"a"}, names{"b"}), local("F", names{"b"}, names{"c"}),
			nodeOf("Neg", names{"c"}, names{"d"}),
			nodeOf("Twiddle", names{"d"}, names{"e"}),
			nodeOf("If", names{"e"}, names{"y"}, wire.Attribute{Name: "then_branch", Kind: wire.AttrGraph, Graph: &wire.Graph{
				Name: "then", Nodes: []wire.Node{nodeOf("Neg", names{"e"}, names{"f"}), nodeOf("Frobnicate", names{"nothing"}, names{"g"})}}}),
		}
	})
	name := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
	info, err := Inspect(name)
	if err != nil {
		t.Fatal(err)
	}
	missing := slices.DeleteFunc(slices.Clone(info.Missing), func(m MissingOperator) bool { return m.Name == "If" })
	if want := []MissingOperator{
		{"Twiddle", 13, 2, `node 0 "A" (Twiddle)`},
		{"Twiddle", 11, 2, `node 1 "B" (local.F): node 0 "B" (Twiddle)`},
		{"Frobnicate", 13, 1, `node 5 "Y" (If): node 1 "G" (Frobnicate)`},
	}; !reflect.DeepEqual(missing, want) {
		t.Errorf("missing %+v, want %+v", missing, want)
	}
	var faults []string
	for _, err := range info.Faults {
		faults = append(faults, err.Error())
	}
	if len(faults) != 2 || faults[1] != `node 5 "Y" (If): node 1 "G" (Frobnicate): input 0 names "nothing", which nothing defines` {
		t.Errorf("faults %q", faults)
	}
	info.Missing, info.Faults = nil, nil
	want := Info{
		IRVersion: 8, Opsets: map[string]int64{"": 13}, Producer: "pytorch 2.9", Documentation: "a model",
		Metadata: map[string]string{"a": "3", "b": "2"}, GraphName: "g",
		Inputs:  []ValueInfo{{Name: "x", DType: dtype.Float32, TypeName: "FLOAT", Dims: []Dim{{-1, "n"}}}},
		Outputs: []ValueInfo{{Name: "y", TypeName: "unknown"}},
		Extents: []string{"n"}, Nodes: 8,
		Ops:       map[string]int{"Twiddle": 4, "Neg": 2, "If": 1, "Frobnicate": 1},
		Functions: map[string]int{"local.F": 2},
		Weights:   2, Parameters: 5, WeightBytes: 8,
	}
	if !reflect.DeepEqual(info, want) {
		t.Errorf("%+v, want\n%+v", info, want)
	}
	_, err = LoadFile(name)
	var unsupported *UnsupportedError
	if !errors.As(err, &unsupported) || !errors.Is(err, ErrUnsupported) || !slices.Contains(unsupported.Operators, missing[1]) {
		t.Errorf("loading: %v", err)
	}
	if _, err := Inspect(filepath.Join(t.TempDir(), "nothing.onnx")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestLookupMetadata(t *testing.T) {
	m, err := Parse(addModel(func(m *wire.Model) {
		m.Metadata = []wire.Entry{{Key: "labels", Value: "cat"}, {Key: "empty"}, {Key: "labels", Value: "cat,dog"}}
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key, value string
		ok         bool
	}{{"labels", "cat,dog", true}, {"empty", "", true}, {"none", "", false}} {
		if value, ok := m.LookupMetadata(c.key); value != c.value || ok != c.ok {
			t.Errorf("%q: %q, %v", c.key, value, ok)
		}
	}
}

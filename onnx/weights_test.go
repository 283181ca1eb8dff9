package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/wire"
)

func TestWithWeights(t *testing.T) {
	m, err := Parse(addModel(func(m *wire.Model) { // y = x + w, z = text
		m.Graph.Initializers = append(m.Graph.Initializers, wire.Tensor{Name: "text", DataType: wire.String, Dims: []int64{1}, StringData: [][]byte{[]byte("a")}})
		m.Graph.Nodes = append(m.Graph.Nodes, nodeOf("Identity", names{"text"}, names{"z"}))
		m.Graph.Outputs = append(m.Graph.Outputs, wire.ValueInfo{Name: "z"})
	}))
	if err != nil {
		t.Fatal(err)
	}
	tensor := func(dims []int, data ...float32) *berth.Tensor {
		x, err := berth.FromSlice(data, dims...)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	if w := m.Weights(); fmt.Sprint(w) != "[w FLOAT [2] text STRING [1]]" {
		t.Errorf("weights %v", w)
	}
	// Elements of a view count as they are seen.
	w, err := tensor([]int{2, 2}, 1, 2, 3, 4).Slice(1, 1, 2, 1)
	if err == nil {
		w, err = w.Reshape(2)
	}
	if err != nil {
		t.Fatal(err)
	}
	other, err := m.WithWeights(map[string]*berth.Tensor{"w": w})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		m    *Model
		want []float32
	}{{m, []float32{11, 22}}, {other, []float32{3, 6}}} {
		x, err := NewArray([]float32{1, 2}, 2)
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.m.RunValues(t.Context(), nil, map[string]Value{"x": x})
		if err != nil {
			t.Fatal(err)
		}
		y, err := out["y"].(*Array).Tensor()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := berth.Data[float32](y); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v, %v, want %v", got, err, c.want)
		}
		if text, err := out["z"].(*Array).Strings(); err != nil || !slices.Equal(text, names{"a"}) {
			t.Errorf("%q, %v", text, err)
		}
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		name    string
		weights map[string]*berth.Tensor
		want    []string
	}{
		{"another shape", map[string]*berth.Tensor{"w": tensor([]int{1, 2}, 1, 2)}, []string{"weight w FLOAT [2] is given float32[1 2]"}},
		{"another type", map[string]*berth.Tensor{"w": berth.Scalar[int32](1)}, []string{"weight w FLOAT [2] is given int32[]"}},
		{"strings", map[string]*berth.Tensor{"text": berth.Scalar[int64](1)}, []string{"weight text STRING [1] is given int64[]"}},
		{"nil", map[string]*berth.Tensor{"w": nil}, []string{"weight w FLOAT [2] is given a nil tensor"}},
		{"names that are not there", map[string]*berth.Tensor{"v": w, "x": w}, []string{`weight "v": the model has none`, `weight "x": the model has none`}},
	} {
		_, err := m.WithWeights(c.weights)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", c.name, err, want)
			}
		}
		if errors.Is(err, ErrName) != strings.HasPrefix(c.name, "names") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestAppendTensorFields writes tensors and reads them again.
func TestAppendTensorFields(t *testing.T) {
	matrix, err := berth.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	turned, err := matrix.Transpose()
	if err != nil {
		t.Fatal(err)
	}
	for elem, typ := range elementTypes {
		x, err := turned.Promise().Cast(typ).Materialize(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		data, err := AppendTensor([]byte("before"), "x", x)
		if err != nil {
			t.Fatal(err)
		}
		data = data[len("before"):]
		proto, err := wire.DecodeTensor(data, nil)
		if err != nil || proto.DataType != elem {
			t.Fatalf("%v: %+v, %v", typ, proto, err)
		}
		name, got, err := ReadTensor(data)
		if err != nil || name != "x" || !berth.Equal(got, x) {
			t.Errorf("%v: %q, %v, %v", typ, name, got, err)
		}
	}
	if data, err := AppendTensor(nil, "t", turned); err != nil {
		t.Error(err)
	} else if _, got, err := ReadTensor(data); err != nil || !berth.Equal(got, turned) {
		t.Errorf("a view: %v, %v", got, err)
	}
}

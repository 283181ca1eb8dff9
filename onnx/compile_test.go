package onnx

import (
	"errors"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/wire"
)

// TestPinned compiles a model whose output shape is computed from an input:
// that needs the data, and pinning the input gives it.
func TestPinned(t *testing.T) {
	m, err := Parse(addModel(func(m *wire.Model) {
		m.Graph.Inputs = append(m.Graph.Inputs, floatInput("s", 1))
		m.Graph.Nodes = []wire.Node{
			nodeOf("Add", names{"s", "s"}, names{"t"}),
			nodeOf("Cast", names{"t"}, names{"n"}, attrInt("to", int64(wire.Int64))),
			nodeOf("Expand", names{"x", "n"}, names{"y"}),
		}
		m.Graph.Inputs[0] = floatInput("x", 1)
	}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Compile(t.Context(), nil); !errors.Is(err, ErrNeedsData) {
		t.Errorf("without the data: %v", err)
	}
	p, err := m.Compile(t.Context(), &Options{Values: map[string]*berth.Tensor{"s": f32([]float64{2})}})
	if err != nil {
		t.Fatal(err)
	}
	if in := p.Inputs(); len(in) != 1 || in[0].Name != "x" {
		t.Errorf("the program has the inputs %v, want x alone", in)
	}
	got, err := p.RunOnce(t.Context(), map[string]*berth.Tensor{"x": f32([]float64{7})}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := sameTensor(got["y"], f32([]float64{7, 7, 7, 7})); err != nil {
		t.Error(err)
	}
}

package onnx

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/wire"
)

// shiftModel computes y = x + w, [n 2], where w is an input that the file
// gives a value; nothing reads its input z, [m].
func shiftModel(t *testing.T) *Model {
	t.Helper()
	rows := func(name, dim string, extents ...int64) wire.ValueInfo {
		in := floatInput(name, 0)
		shape := in.Type.Tensor.Shape
		shape.Dims = []wire.Dim{{Param: dim}}
		for _, d := range extents {
			shape.Dims = append(shape.Dims, wire.Dim{HasValue: true, Value: d})
		}
		return in
	}
	m, err := Parse(addModel(func(m *wire.Model) {
		m.Graph.Inputs = []wire.ValueInfo{rows("x", "n", 2), floatInput("w", 2), rows("z", "m")}
	}))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func infoNames(list []ValueInfo) (names []string) {
	for _, v := range list {
		names = append(names, v.Name)
	}
	return names
}

// TestDefaults replaces the value that a file gives an input, in a run step by
// step and when the model is compiled.
func TestDefaults(t *testing.T) {
	m := shiftModel(t)
	if in, defaults := infoNames(m.Inputs()), infoNames(m.Defaults()); !slices.Equal(in, []string{"x", "z"}) || !slices.Equal(defaults, []string{"w"}) {
		t.Errorf("the inputs are %v, those with a value %v", in, defaults)
	}
	x, z, w := f32([]float64{1, 2}, 1, 2), f32([]float64{0}, 1), f32([]float64{3, 5})
	for _, c := range []struct {
		values map[string]*berth.Tensor
		want   []float64
	}{
		{nil, []float64{11, 22}},
		{map[string]*berth.Tensor{"w": w}, []float64{4, 7}},
	} {
		inputs := map[string]*berth.Tensor{"x": x, "z": z}
		p, err := m.Compile(t.Context(), &Options{Rows: 3, Dims: map[string]int{"m": 1}, Values: c.values})
		if err != nil {
			t.Fatal(err)
		}
		// What nothing reads is an input all the same.
		if in := p.Inputs(); len(in) != 2 || in[0].Name != "x" || in[1].Name != "z" {
			t.Errorf("the program has the inputs %v", in)
		}
		got, err := p.RunOnce(t.Context(), inputs, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := sameTensor(got["y"], f32(c.want, 1, 2)); err != nil {
			t.Error(err)
		}
		inputs["w"] = w
		if _, err := p.RunOnce(t.Context(), inputs, 1); err == nil || !strings.Contains(err.Error(), `input "w" is a constant of the program; Options.Values`) {
			t.Errorf("a constant given to a run: %v", err)
		}
		if c.values == nil {
			delete(inputs, "w")
		}
		if got, err = m.Run(t.Context(), inputs); err != nil {
			t.Fatal(err)
		}
		if err := sameTensor(got["y"], f32(c.want, 1, 2)); err != nil {
			t.Error(err)
		}
	}
	if _, err := m.Run(t.Context(), map[string]*berth.Tensor{"x": x, "z": z, "w": nil}); err == nil || !strings.Contains(err.Error(), "w FLOAT [2] is given a nil tensor") {
		t.Errorf("nil: %v", err)
	}
}

// TestOptionNames states what the model does not have, in each option that
// goes by name.
func TestOptionNames(t *testing.T) {
	m := shiftModel(t)
	one := f32([]float64{1})
	for _, c := range []struct {
		opt  Options
		want string // "" if it is right
	}{
		{Options{Open: 1}, ""},
		{Options{RowDim: "m", Dims: map[string]int{"n": 1}}, ""},
		{Options{RowDim: "-", Shapes: map[string][]int{"x": {1, 2}, "z": {4}, "w": {2}}}, ""},
		{Options{Open: 1, Values: map[string]*berth.Tensor{"v": one}}, `Options.Values "v": the model has no input of that name, but x, w, z`},
		{Options{Open: 1, Shapes: map[string][]int{"y": {1}}}, `Options.Shapes "y": the model has no input of that name, but x, w, z`},
		{Options{Open: 1, Dims: map[string]int{"N": 3}}, `Options.Dims "N": the model has no extent of that name, but m, n`},
		{Options{Open: 1, RowDim: "batch"}, `Options.RowDim "batch": the model has no extent of that name, but m, n`},
		{Options{Open: 1, Values: map[string]*berth.Tensor{"w": nil}}, `Options.Values: the value of input "w" is nil`},
		{Options{Open: 1, Values: map[string]*berth.Tensor{"w": one}}, "input w FLOAT [2] is given float32[1]"},
		{Options{Open: 1, Shapes: map[string][]int{"w": {3}}}, `Options.Shapes: input "w" is a constant of shape [2], not [3]`},
		{Options{Open: 1, Values: map[string]*berth.Tensor{"z": one}, Shapes: map[string][]int{"z": {3}}}, `Options.Shapes: input "z" is a constant of shape [1], not [3]`},
	} {
		_, err := m.Compile(t.Context(), &c.opt)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
		if unknown := strings.Contains(c.want, "of that name"); errors.Is(err, ErrName) != unknown {
			t.Errorf("%v: matches ErrName: %v", err, !unknown)
		}
	}
}

// TestOutputTwice refuses to compile a model that names an output twice, for
// which a run could not be given two buffers.
func TestOutputTwice(t *testing.T) {
	m, err := Parse(addModel(func(m *wire.Model) { m.Graph.Outputs = append(m.Graph.Outputs, m.Graph.Outputs[0]) }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Compile(t.Context(), nil); err == nil || !strings.Contains(err.Error(), `two outputs are named "y"`) {
		t.Errorf("got %v", err)
	}
}

package onnx

import (
	"reflect"
	"strings"
	"testing"

	"github.com/berth-go/berth/internal/wire"
)

// TestAppendOutput writes values and reads them again.
func TestAppendOutput(t *testing.T) {
	elem := &wire.Type{Tensor: &wire.TensorType{Elem: wire.Float}}
	sequence := &wire.Type{Sequence: &wire.ContainerType{Elem: elem}}
	m, err := Parse(addModel(func(m *wire.Model) {
		m.Graph.Outputs = nil
		for name, typ := range map[string]*wire.Type{"y": nil, "s": sequence, "o": {Optional: &wire.ContainerType{Elem: elem}}} {
			m.Graph.Outputs = append(m.Graph.Outputs, wire.ValueInfo{Name: name, Type: typ})
		}
		m.Graph.Nodes = append(m.Graph.Nodes, nodeOf("Identity", names{"x"}, names{"s"}), nodeOf("Identity", names{"x"}, names{"o"}))
	}))
	if err != nil {
		t.Fatal(err)
	}
	numbers := mustArray(NewArray([]float32{1, 2, 3, 4, 5, 6}, 2, 3))
	bytes := mustArray(NewArray([]uint8{7}))
	text := mustArray(NewStrings([]string{"a", ""}, 2, 1))
	byName := &Map{Keys: mustArray(NewStrings([]string{"a", "b"}, 2)), Values: mustArray(NewArray([]float32{1, 2}, 2))}
	byNumber := &Map{Keys: mustArray(NewArray([]int64{3, -4}, 2)), Values: mustArray(NewArray([]int64{5, 6}, 2))}
	toText := &Map{Keys: mustArray(NewArray([]int64{3}, 1)), Values: mustArray(NewStrings([]string{"c"}, 1))}
	for _, c := range []struct {
		output string
		v      Value
	}{
		{"y", numbers}, {"y", bytes}, {"y", text},
		{"s", Sequence{}}, {"s", Sequence{numbers, bytes, text}}, {"s", Sequence{byName, byNumber, toText}},
		{"s", Sequence{Sequence{numbers}, Sequence{}}},
		{"o", nil}, {"o", numbers}, {"o", Sequence{text}}, {"o", byName},
	} {
		data, err := m.AppendOutput([]byte("before"), c.output, c.v)
		if err != nil {
			t.Errorf("%s: %s: %v", c.output, TypeOf(c.v), err)
			continue
		}
		got, err := m.ReadOutput(c.output, data[len("before"):])
		if err != nil || !reflect.DeepEqual(plainOf(got), plainOf(c.v)) {
			t.Errorf("%s: %v, %v, want %v", c.output, plainOf(got), err, plainOf(c.v))
		}
	}
	for _, c := range []struct {
		output string
		v      Value
		want   string
	}{
		{"z", numbers, `no output "z"`},
		{"y", nil, "empty optional has no encoding of its own"},
		{"y", byName, "map of 2 string to float32 has no encoding of its own"},
		{"s", Sequence{numbers, byName}, "item 1: map of 2 string to float32 is of another kind"},
		{"s", Sequence{nil}, "item 0: empty optional has no encoding in another value"},
		{"s", Sequence{&Map{Keys: bytes, Values: bytes}}, "the keys of a map: onnx: the elements of uint8[] are not int64"},
	} {
		if _, err := m.AppendOutput(nil, c.output, c.v); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func mustArray(a *Array, err error) *Array {
	if err != nil {
		panic(err)
	}
	return a
}

// plainOf returns what a value holds, without how it holds it.
func plainOf(v Value) any {
	switch v := v.(type) {
	case *Array:
		return []any{v.Type(), string(v.data), strings.Join(v.text, ",")}
	case Sequence:
		list := []any{}
		for _, item := range v {
			list = append(list, plainOf(item))
		}
		return list
	case *Map:
		return [2]any{plainOf(v.Keys), plainOf(v.Values)}
	}
	return nil
}

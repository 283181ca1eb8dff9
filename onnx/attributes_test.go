package onnx

import (
	"strings"
	"testing"

	"github.com/berth-go/berth/internal/wire"
)

// TestUnknownAttributes gives operators attributes that they do not have, not
// yet or no more, and some that they have and that change nothing.
func TestUnknownAttributes(t *testing.T) {
	x := counting(1, 2)
	x4 := counting(1, 1, 2, 1, 1)
	one := f32([]float64{1, 1})
	const none = "the operator has no attribute "
	runNodeTests(t, []nodeTest{
		{"made up", "Relu", 13, attrs(attrFloat("slope", 0.1)), in{x}, nil, none + `"slope"`},
		{"several", "Relu", 13, attrs(attrFloat("b", 1), attrInt("a", 1)), in{x}, nil, `the operator has no attributes ["b" "a"]`},
		{"of another operator", "Add", 13, attrs(attrFloat("alpha", 2)), in{x, x}, nil, none + `"alpha"`},
		{"misspelt", "Concat", 13, attrs(attrInt("axis", 0), attrInts("Axis", 1)), in{x, x}, nil, none + `"Axis"`},
		{"of a constant", "ConstantOfShape", 13, attrs(attrFloat("fill", 2)), in{i64([]float64{2})}, nil, none + `"fill"`},
		{"no more", "Add", 7, attrs(attrInts("consumed_inputs", 0, 1)), in{x, x}, nil, none + `"consumed_inputs"`},
		{"no more", "Dropout", 12, attrs(attrFloat("ratio", 0.5)), in{x}, nil, none + `"ratio"`},
		{"no more", "Gemm", 7, attrs(attrInt("broadcast", 1)), in{counting(1, 1, 1), counting(1, 1, 1), f32([]float64{1})}, nil, none + `"broadcast"`},
		{"not yet", "Dropout", 10, attrs(attrInt("seed", 1)), in{x}, nil, none + `"seed"`},
		{"a hint", "Add", 1, attrs(attrInts("consumed_inputs", 0, 1)), in{x, x}, in{f32([]float64{2, 4})}, ""},
		{"an axis without broadcast", "Add", 6, attrs(attrInt("axis", 0)), in{x, x}, in{f32([]float64{2, 4})}, ""},
		{"training alone", "Dropout", 7, attrs(attrFloat("ratio", 0.5)), in{x}, in{x}, ""},
		{"training alone", "Dropout", 13, attrs(attrInt("seed", 7)), in{x}, in{x}, ""},
		{"training alone", "BatchNormalization", 15, attrs(attrFloat("momentum", 0.5), attrFloat("epsilon", 0)),
			in{x4, one, f32([]float64{0, 0}), f32([]float64{0, 0}), one}, in{x4}, ""},
		{"for other types", "Cast", 19, attrs(attrInt("to", 1), attrInt("saturate", 0)), in{x}, in{x}, ""},
		{"a note", "Relu", 13, attrs(attrText("__origin", "layer 1")), in{x}, in{x}, ""},
	})
}

// TestUnknownAttributeNamesNode checks what the error about a file says.
func TestUnknownAttributeNamesNode(t *testing.T) {
	m, err := Parse(addModel(func(m *wire.Model) {
		m.Graph.Nodes[0].Attributes = attrs(attrInt("axes", 1))
	}))
	if err != nil {
		t.Fatal(err)
	}
	const want = `node 0 "Y" (Add): the operator has no attribute "axes"`
	if _, err := m.Compile(t.Context(), nil); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// TestIgnoredAttributes checks that the list names operators of the table.
func TestIgnoredAttributes(t *testing.T) {
	for _, g := range ignored {
		for _, name := range strings.Fields(g.operators) {
			if _, err := lookup("", name, max(g.first, 1)); err != nil {
				t.Errorf("%s: %s at opset %d: %v", g.attribute, name, g.first, err)
			}
			if g.first > g.last {
				t.Errorf("%s: from opset %d to %d", g.attribute, g.first, g.last)
			}
		}
	}
}

package wire

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestSchemas compares the schemas with a list of the fields of onnx.proto3.
// Reading and writing follow the same tags, so that a round trip tells nothing of
// a wrong number or of a value that is kept in the wrong place.
func TestSchemas(t *testing.T) {
	messages := map[string]any{
		"ModelProto":                 Model{},
		"OperatorSetIdProto":         OperatorSet{},
		"StringStringEntryProto":     Entry{},
		"GraphProto":                 Graph{},
		"NodeProto":                  Node{},
		"FunctionProto":              Function{},
		"ValueInfoProto":             ValueInfo{},
		"TensorAnnotation":           TensorAnnotation{},
		"AttributeProto":             Attribute{},
		"TypeProto":                  Type{},
		"TypeProto.Tensor":           TensorType{},
		"TypeProto.Sequence":         ContainerType{},
		"TypeProto.Map":              MapType{},
		"TypeProto.Opaque":           OpaqueType{},
		"TensorShapeProto":           Shape{},
		"TensorShapeProto.Dimension": Dim{},
		"TensorProto":                Tensor{},
		"TensorProto.Segment":        Segment{},
		"SparseTensorProto":          SparseTensor{},
		"SequenceProto":              Sequence{},
		"MapProto":                   Map{},
		"OptionalProto":              Optional{},
	}
	if len(messages) != len(schemas) {
		t.Errorf("%d messages are listed, and %d have a schema", len(messages), len(schemas))
	}
	f, err := os.Open(filepath.Join("testdata", "fields.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	listed := make(map[string][maxField]string) // names by message and number
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var message, name, place string
		var num int
		if _, err := fmt.Sscan(line, &message, &num, &name, &place); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		names := listed[message]
		names[num] = name
		listed[message] = names
		m := reflect.TypeOf(messages[message])
		s := schemas[m]
		if s == nil {
			t.Fatalf("%s has no schema", message)
		}
		if f := s.fields[num]; f.name == "" || m.Field(f.index).Name != place {
			t.Errorf("%s: field %d (%s) is kept in %s, want %s", message, num, name, m.Field(f.index).Name, place)
		}
	}
	for message, m := range messages {
		for num, want := range listed[message] {
			if got := schemas[reflect.TypeOf(m)].fields[num].name; got != want {
				t.Errorf("%s: field %d is named %q, want %q", message, num, got, want)
			}
		}
	}
}

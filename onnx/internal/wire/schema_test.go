package wire

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// A namedSchema is a schema whose struct type is left open.
type namedSchema interface {
	// fieldName returns the name of field num, "" where there is none.
	fieldName(num int) string
	// places returns the Go fields that a record of field num sets.
	places(num int) []string
}

func (s *schema[M]) fieldName(num int) string {
	if num >= len(s.fields) {
		return ""
	}
	return s.fields[num].name
}

func (s *schema[M]) places(num int) []string {
	unchecked := schema[M]{fields: s.fields}
	n := protowire.Number(num)
	for _, data := range [][]byte{
		vint(n, 1), f32(n, 1), ldel(n, ""), ldel(n, "x"), ldel(n, "12345678"),
	} {
		var m M
		// Errors do not matter: a message in the field may want more than this.
		read(newDecoder(data, nil), &unchecked, &m, record{typ: protowire.BytesType, data: data}, "test", -1)
		var set []string
		for f, v := range reflect.ValueOf(&m).Elem().Fields() {
			if !v.IsZero() {
				set = append(set, f.Name)
			}
		}
		if set != nil {
			return set
		}
	}
	return nil
}

// TestSchemas compares the schemas with a list of the fields of onnx.proto3.
// Reading and writing follow one table, so that a round trip tells nothing of
// a wrong number or of a value that is kept in the wrong place.
func TestSchemas(t *testing.T) {
	schemas := map[string]namedSchema{
		"ModelProto":                 modelSchema,
		"OperatorSetIdProto":         operatorSetSchema,
		"StringStringEntryProto":     entrySchema,
		"GraphProto":                 graphSchema,
		"NodeProto":                  nodeSchema,
		"FunctionProto":              functionSchema,
		"ValueInfoProto":             valueInfoSchema,
		"TensorAnnotation":           tensorAnnotationSchema,
		"AttributeProto":             attributeSchema,
		"TypeProto":                  typeSchema,
		"TypeProto.Tensor":           tensorTypeSchema,
		"TypeProto.Sequence":         elementTypeSchema,
		"TypeProto.Map":              mapTypeSchema,
		"TypeProto.Opaque":           opaqueTypeSchema,
		"TensorShapeProto":           shapeSchema,
		"TensorShapeProto.Dimension": dimSchema,
		"TensorProto":                tensorSchema,
		"TensorProto.Segment":        segmentSchema,
		"SparseTensorProto":          sparseTensorSchema,
		"SequenceProto":              sequenceSchema,
		"MapProto":                   mapSchema,
		"OptionalProto":              optionalSchema,
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
		if schemas[message] == nil {
			t.Errorf("%s has no schema", message)
			continue
		}
		got := schemas[message].places(num)
		if len(got) == 0 || got[len(got)-1] != place {
			t.Errorf("%s: field %d (%s) is kept in %v, want %s", message, num, name, got, place)
		}
	}
	for message, s := range schemas {
		for num, want := range listed[message] {
			if got := s.fieldName(num); got != want {
				t.Errorf("%s: field %d is named %q, want %q", message, num, got, want)
			}
		}
	}
}

package wire

import "fmt"

// A ValueKind tells what a [Sequence] or an [Optional] holds, numbered as
// SequenceProto.DataType and OptionalProto.DataType are.
type ValueKind int32

// The kinds of values.
const (
	ValueUndefined    ValueKind = 0
	ValueTensor       ValueKind = 1
	ValueSparseTensor ValueKind = 2
	ValueSequence     ValueKind = 3
	ValueMap          ValueKind = 4
	ValueOptional     ValueKind = 5
	numValueKinds     ValueKind = 6
)

var valueKindNames = [numValueKinds]string{
	"UNDEFINED", "TENSOR", "SPARSE_TENSOR", "SEQUENCE", "MAP", "OPTIONAL",
}

// String returns the name of k in the ONNX schema, such as "SPARSE_TENSOR".
func (k ValueKind) String() string {
	if k < 0 || k >= numValueKinds {
		return fmt.Sprintf("ValueKind(%d)", int32(k))
	}
	return valueKindNames[k]
}

// countValues returns how many values m holds. Any of a kind other than want is
// an error.
func countValues[M any](m *M, want ValueKind) (int, error) {
	if want < 0 || want >= numValueKinds {
		return 0, fmt.Errorf("element kind %d is unknown", int32(want))
	}
	total := 0
	for kind := ValueTensor; kind < numValueKinds; kind++ {
		n := countIn(m, int(kind)+2) // the field of a kind, in SequenceProto and OptionalProto
		if n > 0 && kind != want {
			return 0, fmt.Errorf("elem_type is %v but there are %d values of kind %v", want, n, kind)
		}
		total += n
	}
	return total, nil
}

// DecodeSequence reads a SequenceProto. The result aliases data. A nil l
// stands for the default limits.
func DecodeSequence(data []byte, l *Limits) (*Sequence, error) {
	return decode[Sequence](data, "sequence", l)
}

// DecodeOptional reads an OptionalProto. The result aliases data. A nil l
// stands for the default limits.
func DecodeOptional(data []byte, l *Limits) (*Optional, error) {
	return decode[Optional](data, "optional", l)
}

// AppendSequence appends the encoding of s to b and returns it.
func AppendSequence(b []byte, s *Sequence) []byte { return encode(b, s) }

// AppendOptional appends the encoding of o to b and returns it.
func AppendOptional(b []byte, o *Optional) []byte { return encode(b, o) }

// A Sequence is a SequenceProto. Only the list that Kind names has elements.
type Sequence struct {
	Name          string         `onnx:"1 name label"`
	Kind          ValueKind      `onnx:"2 elem_type"`
	Tensors       []Tensor       `onnx:"3 tensor_values"`
	SparseTensors []SparseTensor `onnx:"4 sparse_tensor_values"`
	Sequences     []Sequence     `onnx:"5 sequence_values"`
	Maps          []Map          `onnx:"6 map_values"`
	Optionals     []Optional     `onnx:"7 optional_values"`
}

func (s *Sequence) settle(fieldSet) error {
	_, err := countValues(s, s.Kind)
	return err
}

// A Map is a MapProto: Keys or StringKeys, by KeyType, and as many Values in
// the same order.
type Map struct {
	Name       string    `onnx:"1 name label"`
	KeyType    DataType  `onnx:"2 key_type"`
	Keys       []int64   `onnx:"3 keys"`
	StringKeys [][]byte  `onnx:"4 string_keys"` // alias the input
	Values     *Sequence `onnx:"5 values"`
}

// settle reports keys of the wrong type, and a number of values that is not
// the number of keys.
func (m *Map) settle(fieldSet) error {
	keys := len(m.Keys)
	if m.KeyType == String {
		keys = len(m.StringKeys)
	}
	if len(m.Keys)+len(m.StringKeys) != keys {
		return fmt.Errorf("key_type is %v but there are %d integer and %d string keys",
			m.KeyType, len(m.Keys), len(m.StringKeys))
	}
	values := 0
	if m.Values != nil {
		var err error
		if values, err = countValues(m.Values, m.Values.Kind); err != nil {
			return err
		}
	}
	if keys != values {
		return fmt.Errorf("%d keys but %d values", keys, values)
	}
	return nil
}

// An Optional is an OptionalProto. All values are nil when it is empty;
// otherwise only the one that Kind names is not.
type Optional struct {
	Name         string        `onnx:"1 name label"`
	Kind         ValueKind     `onnx:"2 elem_type"`
	Tensor       *Tensor       `onnx:"3 tensor_value"`
	SparseTensor *SparseTensor `onnx:"4 sparse_tensor_value"`
	Sequence     *Sequence     `onnx:"5 sequence_value"`
	Map          *Map          `onnx:"6 map_value"`
	Optional     *Optional     `onnx:"7 optional_value"`
}

func (o *Optional) settle(fieldSet) error {
	_, err := countValues(o, o.Kind)
	return err
}

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

// valueOfKind returns f as the field that holds values of a kind.
func valueOfKind[M any](kind ValueKind, f field[M]) field[M] {
	f.kind = int(kind)
	return f
}

// countValues returns how many values m holds. Any of a kind other than want is
// an error.
func countValues[M any, P described[M]](m P, want ValueKind) (int, error) {
	if want < 0 || want >= numValueKinds {
		return 0, fmt.Errorf("element kind %d is unknown", int32(want))
	}
	total := 0
	for _, f := range m.schema().fields {
		if f.kind == 0 {
			continue
		}
		n := f.count(m)
		if n > 0 && ValueKind(f.kind) != want {
			return 0, fmt.Errorf("elem_type is %v but there are %d values of kind %v", want, n, ValueKind(f.kind))
		}
		total += n
	}
	return total, nil
}

// DecodeSequence reads a SequenceProto. The result aliases data. A nil l
// stands for the default limits.
func DecodeSequence(data []byte, l *Limits) (*Sequence, error) {
	return decode(data, sequenceSchema, "sequence", l)
}

// AppendSequence appends the encoding of s, a SequenceProto, to b and returns
// it.
func AppendSequence(b []byte, s *Sequence) []byte { return write(b, sequenceSchema, s) }

// DecodeOptional reads an OptionalProto. The result aliases data. A nil l
// stands for the default limits.
func DecodeOptional(data []byte, l *Limits) (*Optional, error) {
	return decode(data, optionalSchema, "optional", l)
}

// AppendOptional appends the encoding of o, an OptionalProto, to b and
// returns it.
func AppendOptional(b []byte, o *Optional) []byte { return write(b, optionalSchema, o) }

// A Sequence is a SequenceProto. Only the list that Kind names has elements.
type Sequence struct {
	Name          string
	Kind          ValueKind
	Tensors       []Tensor
	SparseTensors []SparseTensor
	Sequences     []Sequence
	Maps          []Map
	Optionals     []Optional
}

func (*Sequence) schema() *schema[Sequence] { return sequenceSchema }

var sequenceSchema = &schema[Sequence]{
	name:      1,
	recursive: true,
	check: func(s *Sequence, _ fieldSet) error {
		_, err := countValues(s, s.Kind)
		return err
	},
	fields: []field[Sequence]{
		1: text("name", func(s *Sequence) *string { return &s.Name }),
		2: integer("elem_type", func(s *Sequence) *ValueKind { return &s.Kind }),
		3: valueOfKind(ValueTensor, messages("tensor_values", func(s *Sequence) *[]Tensor { return &s.Tensors })),
		4: valueOfKind(ValueSparseTensor, messages("sparse_tensor_values", func(s *Sequence) *[]SparseTensor { return &s.SparseTensors })),
		5: valueOfKind(ValueSequence, messages("sequence_values", func(s *Sequence) *[]Sequence { return &s.Sequences })),
		6: valueOfKind(ValueMap, messages("map_values", func(s *Sequence) *[]Map { return &s.Maps })),
		7: valueOfKind(ValueOptional, messages("optional_values", func(s *Sequence) *[]Optional { return &s.Optionals })),
	},
}

// A Map is a MapProto: Keys or StringKeys, by KeyType, and as many Values in
// the same order.
type Map struct {
	Name       string
	KeyType    DataType
	Keys       []int64
	StringKeys [][]byte // alias the input
	Values     *Sequence
}

func (*Map) schema() *schema[Map] { return mapSchema }

var mapSchema = &schema[Map]{
	name:  1,
	check: (*Map).check,
	fields: []field[Map]{
		1: text("name", func(m *Map) *string { return &m.Name }),
		2: integer("key_type", func(m *Map) *DataType { return &m.KeyType }),
		3: ints("keys", func(m *Map) *[]int64 { return &m.Keys }),
		4: blobs("string_keys", func(m *Map) *[][]byte { return &m.StringKeys }),
		5: message("values", func(m *Map) **Sequence { return &m.Values }),
	},
}

// check reports keys of the wrong type, and a number of values that is not
// the number of keys.
func (m *Map) check(fieldSet) error {
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
	Name         string
	Kind         ValueKind
	Tensor       *Tensor
	SparseTensor *SparseTensor
	Sequence     *Sequence
	Map          *Map
	Optional     *Optional
}

func (*Optional) schema() *schema[Optional] { return optionalSchema }

var optionalSchema = &schema[Optional]{
	name:      1,
	recursive: true,
	check: func(o *Optional, _ fieldSet) error {
		_, err := countValues(o, o.Kind)
		return err
	},
	fields: []field[Optional]{
		1: text("name", func(o *Optional) *string { return &o.Name }),
		2: integer("elem_type", func(o *Optional) *ValueKind { return &o.Kind }),
		3: valueOfKind(ValueTensor, message("tensor_value", func(o *Optional) **Tensor { return &o.Tensor })),
		4: valueOfKind(ValueSparseTensor, message("sparse_tensor_value", func(o *Optional) **SparseTensor { return &o.SparseTensor })),
		5: valueOfKind(ValueSequence, message("sequence_value", func(o *Optional) **Sequence { return &o.Sequence })),
		6: valueOfKind(ValueMap, message("map_value", func(o *Optional) **Map { return &o.Map })),
		7: valueOfKind(ValueOptional, message("optional_value", func(o *Optional) **Optional { return &o.Optional })),
	},
}

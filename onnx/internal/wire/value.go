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

// String returns the name of k in the ONNX schema, such as "SPARSE_TENSOR".
func (k ValueKind) String() string {
	switch k {
	case ValueUndefined:
		return "UNDEFINED"
	case ValueTensor:
		return "TENSOR"
	case ValueSparseTensor:
		return "SPARSE_TENSOR"
	case ValueSequence:
		return "SEQUENCE"
	case ValueMap:
		return "MAP"
	case ValueOptional:
		return "OPTIONAL"
	}
	return fmt.Sprintf("ValueKind(%d)", int32(k))
}

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

// check reports elements of a kind other than s.Kind.
func (s *Sequence) check() error {
	if s.Kind < 0 || s.Kind >= numValueKinds {
		return fmt.Errorf("element kind %d is unknown", int32(s.Kind))
	}
	for kind, n := range [numValueKinds]int{
		ValueTensor:       len(s.Tensors),
		ValueSparseTensor: len(s.SparseTensors),
		ValueSequence:     len(s.Sequences),
		ValueMap:          len(s.Maps),
		ValueOptional:     len(s.Optionals),
	} {
		if n > 0 && ValueKind(kind) != s.Kind {
			return fmt.Errorf("elem_type is %v but there are %d values of kind %v", s.Kind, n, ValueKind(kind))
		}
	}
	return nil
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

// check reports a value of a kind other than o.Kind.
func (o *Optional) check() error {
	if o.Kind < 0 || o.Kind >= numValueKinds {
		return fmt.Errorf("element kind %d is unknown", int32(o.Kind))
	}
	for kind, set := range [numValueKinds]bool{
		ValueTensor:       o.Tensor != nil,
		ValueSparseTensor: o.SparseTensor != nil,
		ValueSequence:     o.Sequence != nil,
		ValueMap:          o.Map != nil,
		ValueOptional:     o.Optional != nil,
	} {
		if set && ValueKind(kind) != o.Kind {
			return fmt.Errorf("elem_type is %v but the value is of kind %v", o.Kind, ValueKind(kind))
		}
	}
	return nil
}

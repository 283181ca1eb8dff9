package wire

import (
	"errors"
	"fmt"
	"math/bits"
)

// A Type is a TypeProto. One of its kinds is not nil, or none is when the file
// does not say.
type Type struct {
	Tensor       *TensorType    `onnx:"1 tensor_type"`
	SparseTensor *TensorType    `onnx:"8 sparse_tensor_type"`
	Sequence     *ContainerType `onnx:"4 sequence_type"`
	Optional     *ContainerType `onnx:"9 optional_type"`
	Map          *MapType       `onnx:"5 map_type"`
	Opaque       *OpaqueType    `onnx:"7 opaque_type"`
	Denotation   string         `onnx:"6 denotation"`
}

// Kind returns the name of the kind of value that t describes, such as "tensor";
// "none" where t does not say.
func (t *Type) Kind() string {
	switch {
	case t.Tensor != nil:
		return "tensor"
	case t.SparseTensor != nil:
		return "sparse tensor"
	case t.Sequence != nil:
		return "sequence"
	case t.Optional != nil:
		return "optional"
	case t.Map != nil:
		return "map"
	case t.Opaque != nil:
		return "opaque"
	}
	return "none"
}

func (t *Type) settle(seen fieldSet) error {
	const denotation = 1 << 6
	if n := bits.OnesCount32(uint32(seen &^ denotation)); n > 1 {
		return fmt.Errorf("%d types in one", n)
	}
	return nil
}

// A TensorType is a TypeProto.Tensor or TypeProto.SparseTensor. Elem may be a type
// that this package does not know. Shape is nil when even the rank is unknown.
type TensorType struct {
	Elem  DataType `onnx:"1 elem_type"`
	Shape *Shape   `onnx:"2 shape"`
}

// A Shape is a TensorShapeProto. A scalar has no dimensions.
type Shape struct {
	Dims []Dim `onnx:"1 dim ranked"`
}

// A ContainerType is a TypeProto.Sequence or TypeProto.Optional: the type of what
// one holds, nil when the file does not say.
type ContainerType struct {
	Elem *Type `onnx:"1 elem_type"`
}

// A MapType is a TypeProto.Map. Value is nil when the file does not say.
type MapType struct {
	Key   DataType `onnx:"1 key_type"`
	Value *Type    `onnx:"2 value_type"`
}

// An OpaqueType is a TypeProto.Opaque.
type OpaqueType struct {
	Domain string `onnx:"1 domain"`
	Name   string `onnx:"2 name"`
}

// A Dim is one dimension of a [Shape]: a number when HasValue is set, a
// variable when Param is not empty, otherwise unknown.
//
// Some exporters write -1 for an unknown dimension; it is read as such. Any
// other negative number is an error, and so is a number beside a variable.
type Dim struct {
	HasValue   bool
	Value      int64  `onnx:"1 dim_value"`
	Param      string `onnx:"2 dim_param"`
	Denotation string `onnx:"3 denotation"`
}

func (d *Dim) settle(seen fieldSet) error {
	d.HasValue = seen.has(1)
	switch {
	case d.HasValue && d.Param != "":
		return errors.New("both dim_value and dim_param are given")
	case d.Value < -1:
		return fmt.Errorf("dim_value is %d, want 0 or more", d.Value)
	case d.Value == -1:
		d.HasValue, d.Value = false, 0
	}
	return nil
}

// holds says of dim_value that it is written whenever there is one: it may be 0.
func (d *Dim) holds(num int) (holds, ok bool) { return d.HasValue, num == 1 }

package wire

import "fmt"

// A TypeKind tells which kind of value a [Type] describes.
type TypeKind uint8

// The kinds of types. NoType is a TypeProto that says nothing.
const (
	NoType TypeKind = iota
	TensorType
	SparseTensorType
	SequenceType
	MapType
	OptionalType
	OpaqueType
	numTypeKinds
)

var typeKindNames = [numTypeKinds]string{
	"none", "tensor", "sparse tensor", "sequence", "map", "optional", "opaque",
}

// String returns the name of k.
func (k TypeKind) String() string {
	if k >= numTypeKinds {
		return "unknown"
	}
	return typeKindNames[k]
}

// A Type is a TypeProto.
type Type struct {
	Kind TypeKind
	// Elem is the element type of a tensor or sparse tensor. It may be one
	// that this package does not know.
	Elem DataType
	// Shape holds the dimensions of a tensor or sparse tensor: nil when even
	// the rank is unknown, empty and not nil for a scalar.
	Shape []Dim
	// Key is the key type of a map.
	Key DataType
	// Value is the type of what a sequence, map or optional holds; nil when
	// the file does not say.
	Value *Type
	// OpaqueDomain and OpaqueName identify an opaque type.
	OpaqueDomain, OpaqueName string
	Denotation               string
}

func (*Type) schema() *schema[Type] { return typeSchema }

var typeSchema = &schema[Type]{
	recursive: true,
	check: func(_ *Type, seen fieldSet) error {
		n := 0
		for num, f := range schemaOf[Type]().fields {
			if f.kind != 0 && seen.has(num) {
				n++
			}
		}
		if n > 1 {
			return fmt.Errorf("%d types in one", n)
		}
		return nil
	},
	fields: []field[Type]{
		1: typeOfKind(TensorType, "tensor_type", tensorTypeSchema),
		4: typeOfKind(SequenceType, "sequence_type", elementTypeSchema),
		5: typeOfKind(MapType, "map_type", mapTypeSchema),
		6: text("denotation", func(t *Type) *string { return &t.Denotation }),
		7: typeOfKind(OpaqueType, "opaque_type", opaqueTypeSchema),
		8: typeOfKind(SparseTensorType, "sparse_tensor_type", tensorTypeSchema),
		9: typeOfKind(OptionalType, "optional_type", elementTypeSchema),
	},
}

// typeOfKind is the member of TypeProto's one-of that types of a kind have.
func typeOfKind(kind TypeKind, name string, s *schema[Type]) field[Type] {
	f := nested(name, s, func(t *Type) bool { return t.Kind == kind })
	f.kind = int(kind)
	return then(f, func(t *Type) { t.Kind = kind })
}

// tensorTypeSchema is that of TypeProto.Tensor and TypeProto.SparseTensor.
var tensorTypeSchema = &schema[Type]{fields: []field[Type]{
	1: integer("elem_type", func(t *Type) *DataType { return &t.Elem }),
	2: then(
		nested("shape", shapeSchema, func(t *Type) bool { return t.Shape != nil }),
		func(t *Type) {
			if t.Shape == nil {
				t.Shape = []Dim{}
			}
		}),
}}

// elementTypeSchema is that of TypeProto.Sequence and TypeProto.Optional.
var elementTypeSchema = &schema[Type]{fields: []field[Type]{
	1: message("elem_type", func(t *Type) **Type { return &t.Value }),
}}

var mapTypeSchema = &schema[Type]{fields: []field[Type]{
	1: integer("key_type", func(t *Type) *DataType { return &t.Key }),
	2: message("value_type", func(t *Type) **Type { return &t.Value }),
}}

var opaqueTypeSchema = &schema[Type]{fields: []field[Type]{
	1: text("domain", func(t *Type) *string { return &t.OpaqueDomain }),
	2: text("name", func(t *Type) *string { return &t.OpaqueName }),
}}

var shapeSchema = &schema[Type]{fields: []field[Type]{
	1: ranked(messages("dim", func(t *Type) *[]Dim { return &t.Shape })),
}}

// A Dim is one dimension of a [Type]: a number when HasValue is set, a
// variable when Param is not empty, otherwise unknown.
//
// Some exporters write -1 for an unknown dimension; it is read as such. Any
// other negative number is an error.
type Dim struct {
	HasValue   bool
	Value      int64
	Param      string
	Denotation string
}

func (*Dim) schema() *schema[Dim] { return dimSchema }

// Of dim_value and dim_param, which form a one-of, the last one counts.
var dimSchema = &schema[Dim]{
	check: func(m *Dim, _ fieldSet) error {
		switch {
		case m.Value < -1:
			return fmt.Errorf("dim_value is %d, want 0 or more", m.Value)
		case m.Value == -1:
			m.HasValue, m.Value = false, 0
		}
		return nil
	},
	fields: []field[Dim]{
		1: when(
			then(integer("dim_value", func(m *Dim) *int64 { return &m.Value }),
				func(m *Dim) { m.HasValue, m.Param = true, "" }),
			func(m *Dim) bool { return m.HasValue }),
		2: then(text("dim_param", func(m *Dim) *string { return &m.Param }),
			func(m *Dim) { m.HasValue, m.Value = false, 0 }),
		3: text("denotation", func(m *Dim) *string { return &m.Denotation }),
	},
}

package wire

import "fmt"

// An AttrKind tells which value an [Attribute] holds, numbered as
// AttributeProto.AttributeType is.
type AttrKind int32

// The kinds of attributes. AttrUndefined is left where a file gives neither a
// type nor a value, or refers to a parameter without giving its type.
const (
	AttrUndefined     AttrKind = 0
	AttrFloat         AttrKind = 1
	AttrInt           AttrKind = 2
	AttrString        AttrKind = 3
	AttrTensor        AttrKind = 4
	AttrGraph         AttrKind = 5
	AttrFloats        AttrKind = 6
	AttrInts          AttrKind = 7
	AttrStrings       AttrKind = 8
	AttrTensors       AttrKind = 9
	AttrGraphs        AttrKind = 10
	AttrSparseTensor  AttrKind = 11
	AttrSparseTensors AttrKind = 12
	AttrType          AttrKind = 13
	AttrTypes         AttrKind = 14
	numAttrKinds      AttrKind = 15
)

var attrKindNames = [numAttrKinds]string{
	"UNDEFINED", "FLOAT", "INT", "STRING", "TENSOR", "GRAPH",
	"FLOATS", "INTS", "STRINGS", "TENSORS", "GRAPHS",
	"SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS",
}

// String returns the name of k in the ONNX schema, such as "INTS".
func (k AttrKind) String() string {
	if k < 0 || k >= numAttrKinds {
		return fmt.Sprintf("AttributeType(%d)", int32(k))
	}
	return attrKindNames[k]
}

// An Attribute is an AttributeProto. Kind tells which one of the value fields
// counts; the others are zero. A list may be empty.
//
// IR version 1 had no type field: Kind is then taken from the value that is
// present.
type Attribute struct {
	Name      string
	DocString string
	// RefName, when not empty, is the parameter of the enclosing function
	// whose value this attribute takes; it then holds no value of its own.
	RefName string
	Kind    AttrKind

	Float        float32
	Int          int64
	Bytes        []byte // the value of an AttrString, by convention UTF-8; aliases the input
	Tensor       *Tensor
	Graph        *Graph
	SparseTensor *SparseTensor
	Type         *Type

	Floats        []float32
	Ints          []int64
	Strings       [][]byte // alias the input
	Tensors       []Tensor
	Graphs        []Graph
	SparseTensors []SparseTensor
	Types         []Type
}

func (*Attribute) schema() *schema[Attribute] { return attributeSchema }

var attributeSchema = &schema[Attribute]{
	name:  1,
	quota: quotaAttributes,
	check: (*Attribute).settle,
	fields: []field[Attribute]{
		1:  text("name", func(a *Attribute) *string { return &a.Name }),
		2:  attributeValue(AttrFloat, float("f", func(a *Attribute) *float32 { return &a.Float })),
		3:  attributeValue(AttrInt, integer("i", func(a *Attribute) *int64 { return &a.Int })),
		4:  attributeValue(AttrString, blob("s", func(a *Attribute) *[]byte { return &a.Bytes })),
		5:  attributeValue(AttrTensor, message("t", func(a *Attribute) **Tensor { return &a.Tensor })),
		6:  attributeValue(AttrGraph, message("g", func(a *Attribute) **Graph { return &a.Graph })),
		7:  attributeValue(AttrFloats, floats("floats", func(a *Attribute) *[]float32 { return &a.Floats })),
		8:  attributeValue(AttrInts, ints("ints", func(a *Attribute) *[]int64 { return &a.Ints })),
		9:  attributeValue(AttrStrings, blobs("strings", func(a *Attribute) *[][]byte { return &a.Strings })),
		10: attributeValue(AttrTensors, messages("tensors", func(a *Attribute) *[]Tensor { return &a.Tensors })),
		11: attributeValue(AttrGraphs, messages("graphs", func(a *Attribute) *[]Graph { return &a.Graphs })),
		13: text("doc_string", func(a *Attribute) *string { return &a.DocString }),
		14: attributeValue(AttrType, message("tp", func(a *Attribute) **Type { return &a.Type })),
		15: attributeValue(AttrTypes, messages("type_protos", func(a *Attribute) *[]Type { return &a.Types })),
		20: integer("type", func(a *Attribute) *AttrKind { return &a.Kind }),
		21: text("ref_attr_name", func(a *Attribute) *string { return &a.RefName }),
		22: attributeValue(AttrSparseTensor, message("sparse_tensor", func(a *Attribute) **SparseTensor { return &a.SparseTensor })),
		23: attributeValue(AttrSparseTensors, messages("sparse_tensors", func(a *Attribute) *[]SparseTensor { return &a.SparseTensors })),
	},
}

// attributeValue returns f as the field that attributes of a kind have their
// value in. It is written even where the value is the default of its type:
// readers of IR version 1 tell the kind by which field is present.
func attributeValue(kind AttrKind, f field[Attribute]) field[Attribute] {
	f.kind = int(kind)
	return when(f, func(a *Attribute) bool { return a.Kind == kind && a.RefName == "" })
}

// settle decides Kind where the file gave none, and reports a value that
// contradicts Kind or a second value. seen are the fields that were present.
//
// A field that is present with the default of its type is no contradiction:
// whether a writer emits zeros depends on its protobuf dialect.
func (a *Attribute) settle(seen fieldSet) error {
	if a.Kind < 0 || a.Kind >= numAttrKinds {
		return fmt.Errorf("attribute type %d is unknown", int32(a.Kind))
	}
	var present, full AttrKind
	fields := schemaOf[Attribute]().fields
	for num := range fields {
		f, kind := &fields[num], AttrKind(fields[num].kind)
		if kind == AttrUndefined || !seen.has(num) {
			continue
		}
		if present == AttrUndefined {
			present = kind
		}
		if f.count(a) > 0 {
			if full != AttrUndefined {
				return fmt.Errorf("holds both a %v and a %v value", full, kind)
			}
			full = kind
		}
	}
	switch {
	case a.RefName != "" && full != AttrUndefined:
		return fmt.Errorf("refers to %s and holds a %v value of its own", quote(a.RefName), full)
	case a.Kind == AttrUndefined && full != AttrUndefined:
		a.Kind = full
	case a.Kind == AttrUndefined && a.RefName == "":
		a.Kind = present
	case full != AttrUndefined && full != a.Kind:
		return fmt.Errorf("type is %v but the value is a %v", a.Kind, full)
	}
	if full == AttrUndefined && a.RefName == "" {
		switch a.Kind {
		case AttrTensor, AttrGraph, AttrSparseTensor, AttrType:
			return fmt.Errorf("type is %v but there is no value", a.Kind)
		}
	}
	if a.Kind != AttrString || a.RefName != "" {
		a.Bytes = nil
	} else if a.Bytes == nil {
		a.Bytes = []byte{}
	}
	return nil
}

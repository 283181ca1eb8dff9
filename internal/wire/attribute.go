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

// attrKinds has one row for each kind: its name in the schema, and the number of
// the field that holds a value of it.
var attrKinds = [numAttrKinds]struct {
	name  string
	field int
}{
	{"UNDEFINED", 0}, {"FLOAT", 2}, {"INT", 3}, {"STRING", 4}, {"TENSOR", 5}, {"GRAPH", 6},
	{"FLOATS", 7}, {"INTS", 8}, {"STRINGS", 9}, {"TENSORS", 10}, {"GRAPHS", 11},
	{"SPARSE_TENSOR", 22}, {"SPARSE_TENSORS", 23}, {"TYPE_PROTO", 14}, {"TYPE_PROTOS", 15},
}

// String returns the name of k in the ONNX schema, such as "INTS".
func (k AttrKind) String() string {
	if k < 0 || k >= numAttrKinds {
		return fmt.Sprintf("AttributeType(%d)", int32(k))
	}
	return attrKinds[k].name
}

// An Attribute is an AttributeProto. Kind tells which one of the value fields
// counts; the others are zero. A list may be empty.
//
// IR version 1 had no type field: Kind is then taken from the value that is
// present.
type Attribute struct {
	Name      string `onnx:"1 name label"`
	DocString string `onnx:"13 doc_string"`
	// RefName, when not empty, is the parameter of the enclosing function
	// whose value this attribute takes; it then holds no value of its own.
	RefName string   `onnx:"21 ref_attr_name"`
	Kind    AttrKind `onnx:"20 type"`

	Float        float32       `onnx:"2 f"`
	Int          int64         `onnx:"3 i"`
	Bytes        []byte        `onnx:"4 s"` // the value of an AttrString, by convention UTF-8; aliases the input
	Tensor       *Tensor       `onnx:"5 t"`
	Graph        *Graph        `onnx:"6 g"`
	SparseTensor *SparseTensor `onnx:"22 sparse_tensor"`
	Type         *Type         `onnx:"14 tp"`

	Floats        []float32      `onnx:"7 floats"`
	Ints          []int64        `onnx:"8 ints"`
	Strings       [][]byte       `onnx:"9 strings"` // alias the input
	Tensors       []Tensor       `onnx:"10 tensors"`
	Graphs        []Graph        `onnx:"11 graphs"`
	SparseTensors []SparseTensor `onnx:"23 sparse_tensors"`
	Types         []Type         `onnx:"15 type_protos"`
}

// holds says of the fields with values that the one of Kind is written, even where
// it is the default of its type: readers of IR version 1 tell the kind by which
// field is present.
func (a *Attribute) holds(num int) (holds, ok bool) {
	for kind, k := range attrKinds {
		if k.field == num && num > 0 {
			return AttrKind(kind) == a.Kind && a.RefName == "", true
		}
	}
	return false, false
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
	for kind := AttrFloat; kind < numAttrKinds; kind++ {
		num := attrKinds[kind].field
		if !seen.has(num) {
			continue
		}
		if present == AttrUndefined {
			present = kind
		}
		if countIn(a, num) > 0 {
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

package wire

import (
	"fmt"
	"math"
)

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

// attrContent is one value field of an attribute: the kind it belongs to, its
// number, and whether it holds more than the default of its type.
type attrContent struct {
	kind AttrKind
	num  int
	full bool
}

// contents lists the value fields of a, in the order of their numbers.
func (a *Attribute) contents() [14]attrContent {
	return [14]attrContent{
		{AttrFloat, 2, math.Float32bits(a.Float) != 0},
		{AttrInt, 3, a.Int != 0},
		{AttrString, 4, len(a.Bytes) > 0},
		{AttrTensor, 5, a.Tensor != nil},
		{AttrGraph, 6, a.Graph != nil},
		{AttrFloats, 7, len(a.Floats) > 0},
		{AttrInts, 8, len(a.Ints) > 0},
		{AttrStrings, 9, len(a.Strings) > 0},
		{AttrTensors, 10, len(a.Tensors) > 0},
		{AttrGraphs, 11, len(a.Graphs) > 0},
		{AttrType, 14, a.Type != nil},
		{AttrTypes, 15, len(a.Types) > 0},
		{AttrSparseTensor, 22, a.SparseTensor != nil},
		{AttrSparseTensors, 23, len(a.SparseTensors) > 0},
	}
}

// settle decides Kind where the file gave none, and reports a value that
// contradicts Kind or a second value. seen counts the fields that were
// present.
//
// A field that is present with the default of its type is no contradiction:
// whether a writer emits zeros depends on its protobuf dialect.
func (a *Attribute) settle(seen *tally) error {
	if a.Kind < 0 || a.Kind >= numAttrKinds {
		return fmt.Errorf("attribute type %d is unknown", int32(a.Kind))
	}
	var present, full AttrKind
	for _, c := range a.contents() {
		if c.full {
			if full != AttrUndefined {
				return fmt.Errorf("holds both a %v and a %v value", full, c.kind)
			}
			full = c.kind
		}
		if present == AttrUndefined && seen[c.num] > 0 {
			present = c.kind
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

package wire

// LatestIRVersion is the newest ONNX IR version whose fields this package
// knows. Newer files decode too; what they add is skipped.
const LatestIRVersion = 13

// A Model is a ModelProto: one ONNX file.
type Model struct {
	IRVersion       int64
	OpsetImports    []OperatorSet
	ProducerName    string
	ProducerVersion string
	Domain          string
	ModelVersion    int64
	DocString       string
	Graph           *Graph // never nil after decoding
	Metadata        []Entry
	Functions       []Function
	// TrainingInfo holds the encoded TrainingInfoProto messages, not decoded
	// and not checked: inference has no use for them. They alias the input.
	TrainingInfo [][]byte
}

// An OperatorSet names a domain of operators and the version a model uses.
type OperatorSet struct {
	Domain  string
	Version int64
}

// An Entry is a key and a value (StringStringEntryProto).
type Entry struct {
	Key, Value string
}

// A Graph is a GraphProto: the body of a model, or a subgraph in an attribute.
type Graph struct {
	Name                    string
	DocString               string
	Nodes                   []Node
	Initializers            []Tensor
	SparseInitializers      []SparseTensor
	Inputs                  []ValueInfo
	Outputs                 []ValueInfo
	ValueInfo               []ValueInfo
	QuantizationAnnotations []TensorAnnotation
	Metadata                []Entry
}

// A Node is a NodeProto. Empty names in Inputs and Outputs stand for optional
// values that are left out.
type Node struct {
	Name       string
	OpType     string
	Domain     string
	Overload   string
	Inputs     []string
	Outputs    []string
	Attributes []Attribute
	DocString  string
	Metadata   []Entry
}

// A Function is a FunctionProto: an operator defined by a graph of others.
type Function struct {
	Name         string
	Domain       string
	Overload     string
	Inputs       []string
	Outputs      []string
	Attributes   []string    // names of parameters without a default
	Defaults     []Attribute // parameters with their default values (attribute_proto)
	Nodes        []Node
	OpsetImports []OperatorSet
	ValueInfo    []ValueInfo
	DocString    string
	Metadata     []Entry
}

// A ValueInfo is a ValueInfoProto: the name and type of a value. Type is nil
// when the file gives none.
type ValueInfo struct {
	Name      string
	Type      *Type
	DocString string
	Metadata  []Entry
}

// A TensorAnnotation names the tensors that quantise another one; the keys
// are such as "SCALE_TENSOR" and "ZERO_POINT_TENSOR".
type TensorAnnotation struct {
	TensorName string
	Parameters []Entry
}

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
)

// String returns the name of k.
func (k TypeKind) String() string {
	switch k {
	case NoType:
		return "none"
	case TensorType:
		return "tensor"
	case SparseTensorType:
		return "sparse tensor"
	case SequenceType:
		return "sequence"
	case MapType:
		return "map"
	case OptionalType:
		return "optional"
	case OpaqueType:
		return "opaque"
	}
	return "unknown"
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

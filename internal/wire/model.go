package wire

import "errors"

// LatestIRVersion is the newest ONNX IR version whose fields this package
// knows. Newer files decode too; what they add is skipped.
const LatestIRVersion = 13

// DecodeModel reads a ModelProto. The result aliases data; see the package
// comment. A nil l stands for the default limits.
//
// A model without a graph is an error; anything else that a message leaves
// out has its zero value. Unknown fields are passed over.
func DecodeModel(data []byte, l *Limits) (*Model, error) {
	return decode[Model](data, "model", l)
}

// AppendModel appends the encoding of m to b and returns it.
//
// Strings and numbers that are empty or zero are left out, as proto3 does,
// except where their presence has a meaning. What the structs hold is written
// as it is, without the checks of decoding.
func AppendModel(b []byte, m *Model) []byte { return encode(b, m) }

// A Model is a ModelProto: one ONNX file.
type Model struct {
	IRVersion       int64         `onnx:"1 ir_version"`
	OpsetImports    []OperatorSet `onnx:"8 opset_import"`
	ProducerName    string        `onnx:"2 producer_name"`
	ProducerVersion string        `onnx:"3 producer_version"`
	Domain          string        `onnx:"4 domain"`
	ModelVersion    int64         `onnx:"5 model_version"`
	DocString       string        `onnx:"6 doc_string"`
	Graph           *Graph        `onnx:"7 graph"` // never nil after decoding
	Metadata        []Entry       `onnx:"14 metadata_props"`
	Functions       []Function    `onnx:"25 functions"`
	// TrainingInfo holds the encoded TrainingInfoProto messages, not decoded
	// and not checked: inference has no use for them. They alias the input.
	TrainingInfo [][]byte `onnx:"20 training_info"`
}

func (m *Model) settle(fieldSet) error {
	if m.Graph == nil {
		return errors.New("there is no graph")
	}
	return nil
}

// An OperatorSet names a domain of operators and the version a model uses.
type OperatorSet struct {
	Domain  string `onnx:"1 domain label"`
	Version int64  `onnx:"2 version"`
}

// An Entry is a key and a value (StringStringEntryProto).
type Entry struct {
	Key   string `onnx:"1 key label"`
	Value string `onnx:"2 value"`
}

// A Graph is a GraphProto: the body of a model, or a subgraph in an attribute.
type Graph struct {
	Name                    string             `onnx:"2 name label"`
	DocString               string             `onnx:"10 doc_string"`
	Nodes                   []Node             `onnx:"1 node"`
	Initializers            []Tensor           `onnx:"5 initializer"`
	SparseInitializers      []SparseTensor     `onnx:"15 sparse_initializer"`
	Inputs                  []ValueInfo        `onnx:"11 input"`
	Outputs                 []ValueInfo        `onnx:"12 output"`
	ValueInfo               []ValueInfo        `onnx:"13 value_info"`
	QuantizationAnnotations []TensorAnnotation `onnx:"14 quantization_annotation"`
	Metadata                []Entry            `onnx:"16 metadata_props"`
}

// A Node is a NodeProto. Empty names in Inputs and Outputs stand for optional
// values that are left out.
type Node struct {
	Name       string      `onnx:"3 name label"`
	OpType     string      `onnx:"4 op_type op"`
	Domain     string      `onnx:"7 domain"`
	Overload   string      `onnx:"8 overload"`
	Inputs     []string    `onnx:"1 input"`
	Outputs    []string    `onnx:"2 output"`
	Attributes []Attribute `onnx:"5 attribute"`
	DocString  string      `onnx:"6 doc_string"`
	Metadata   []Entry     `onnx:"9 metadata_props"`
}

// A Function is a FunctionProto: an operator defined by a graph of others.
type Function struct {
	Name         string        `onnx:"1 name label"`
	Domain       string        `onnx:"10 domain"`
	Overload     string        `onnx:"13 overload"`
	Inputs       []string      `onnx:"4 input"`
	Outputs      []string      `onnx:"5 output"`
	Attributes   []string      `onnx:"6 attribute"`        // names of parameters without a default
	Defaults     []Attribute   `onnx:"11 attribute_proto"` // parameters with their default values
	Nodes        []Node        `onnx:"7 node"`
	OpsetImports []OperatorSet `onnx:"9 opset_import"`
	ValueInfo    []ValueInfo   `onnx:"12 value_info"`
	DocString    string        `onnx:"8 doc_string"`
	Metadata     []Entry       `onnx:"14 metadata_props"`
}

// A ValueInfo is a ValueInfoProto: the name and type of a value. Type is nil
// when the file gives none.
type ValueInfo struct {
	Name      string  `onnx:"1 name label"`
	Type      *Type   `onnx:"2 type"`
	DocString string  `onnx:"3 doc_string"`
	Metadata  []Entry `onnx:"4 metadata_props"`
}

// A TensorAnnotation names the tensors that quantise another one; the keys
// are such as "SCALE_TENSOR" and "ZERO_POINT_TENSOR".
type TensorAnnotation struct {
	TensorName string  `onnx:"1 tensor_name label"`
	Parameters []Entry `onnx:"2 quant_parameter_tensor_names"`
}

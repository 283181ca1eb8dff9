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
	return decode(data, modelSchema, "model", l)
}

// AppendModel appends the encoding of m to b and returns it.
//
// Strings and numbers that are empty or zero are left out, as proto3 does,
// except where their presence has a meaning. What the structs hold is written
// as it is, without the checks of decoding.
func AppendModel(b []byte, m *Model) []byte { return write(b, modelSchema, m) }

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

var modelSchema = &schema[Model]{
	check: func(m *Model, _ fieldSet) error {
		if m.Graph == nil {
			return errors.New("there is no graph")
		}
		return nil
	},
	fields: []field[Model]{
		1:  integer("ir_version", func(m *Model) *int64 { return &m.IRVersion }),
		2:  text("producer_name", func(m *Model) *string { return &m.ProducerName }),
		3:  text("producer_version", func(m *Model) *string { return &m.ProducerVersion }),
		4:  text("domain", func(m *Model) *string { return &m.Domain }),
		5:  integer("model_version", func(m *Model) *int64 { return &m.ModelVersion }),
		6:  text("doc_string", func(m *Model) *string { return &m.DocString }),
		7:  message("graph", func(m *Model) **Graph { return &m.Graph }),
		8:  messages("opset_import", func(m *Model) *[]OperatorSet { return &m.OpsetImports }),
		14: messages("metadata_props", func(m *Model) *[]Entry { return &m.Metadata }),
		20: blobs("training_info", func(m *Model) *[][]byte { return &m.TrainingInfo }),
		25: messages("functions", func(m *Model) *[]Function { return &m.Functions }),
	},
}

// An OperatorSet names a domain of operators and the version a model uses.
type OperatorSet struct {
	Domain  string
	Version int64
}

func (*OperatorSet) schema() *schema[OperatorSet] { return operatorSetSchema }

var operatorSetSchema = &schema[OperatorSet]{
	name: 1,
	fields: []field[OperatorSet]{
		1: text("domain", func(o *OperatorSet) *string { return &o.Domain }),
		2: integer("version", func(o *OperatorSet) *int64 { return &o.Version }),
	},
}

// An Entry is a key and a value (StringStringEntryProto).
type Entry struct {
	Key, Value string
}

func (*Entry) schema() *schema[Entry] { return entrySchema }

var entrySchema = &schema[Entry]{
	name: 1,
	fields: []field[Entry]{
		1: text("key", func(e *Entry) *string { return &e.Key }),
		2: text("value", func(e *Entry) *string { return &e.Value }),
	},
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

func (*Graph) schema() *schema[Graph] { return graphSchema }

var graphSchema = &schema[Graph]{
	name:      2,
	recursive: true,
	fields: []field[Graph]{
		1:  messages("node", func(g *Graph) *[]Node { return &g.Nodes }),
		2:  text("name", func(g *Graph) *string { return &g.Name }),
		5:  messages("initializer", func(g *Graph) *[]Tensor { return &g.Initializers }),
		10: text("doc_string", func(g *Graph) *string { return &g.DocString }),
		11: messages("input", func(g *Graph) *[]ValueInfo { return &g.Inputs }),
		12: messages("output", func(g *Graph) *[]ValueInfo { return &g.Outputs }),
		13: messages("value_info", func(g *Graph) *[]ValueInfo { return &g.ValueInfo }),
		14: messages("quantization_annotation", func(g *Graph) *[]TensorAnnotation { return &g.QuantizationAnnotations }),
		15: messages("sparse_initializer", func(g *Graph) *[]SparseTensor { return &g.SparseInitializers }),
		16: messages("metadata_props", func(g *Graph) *[]Entry { return &g.Metadata }),
	},
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

func (*Node) schema() *schema[Node] { return nodeSchema }

var nodeSchema = &schema[Node]{
	name: 3, op: 4,
	quota: quotaNodes,
	fields: []field[Node]{
		1: texts("input", func(n *Node) *[]string { return &n.Inputs }),
		2: texts("output", func(n *Node) *[]string { return &n.Outputs }),
		3: text("name", func(n *Node) *string { return &n.Name }),
		4: text("op_type", func(n *Node) *string { return &n.OpType }),
		5: messages("attribute", func(n *Node) *[]Attribute { return &n.Attributes }),
		6: text("doc_string", func(n *Node) *string { return &n.DocString }),
		7: text("domain", func(n *Node) *string { return &n.Domain }),
		8: text("overload", func(n *Node) *string { return &n.Overload }),
		9: messages("metadata_props", func(n *Node) *[]Entry { return &n.Metadata }),
	},
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

func (*Function) schema() *schema[Function] { return functionSchema }

var functionSchema = &schema[Function]{
	name: 1,
	fields: []field[Function]{
		1:  text("name", func(f *Function) *string { return &f.Name }),
		4:  texts("input", func(f *Function) *[]string { return &f.Inputs }),
		5:  texts("output", func(f *Function) *[]string { return &f.Outputs }),
		6:  texts("attribute", func(f *Function) *[]string { return &f.Attributes }),
		7:  messages("node", func(f *Function) *[]Node { return &f.Nodes }),
		8:  text("doc_string", func(f *Function) *string { return &f.DocString }),
		9:  messages("opset_import", func(f *Function) *[]OperatorSet { return &f.OpsetImports }),
		10: text("domain", func(f *Function) *string { return &f.Domain }),
		11: messages("attribute_proto", func(f *Function) *[]Attribute { return &f.Defaults }),
		12: messages("value_info", func(f *Function) *[]ValueInfo { return &f.ValueInfo }),
		13: text("overload", func(f *Function) *string { return &f.Overload }),
		14: messages("metadata_props", func(f *Function) *[]Entry { return &f.Metadata }),
	},
}

// A ValueInfo is a ValueInfoProto: the name and type of a value. Type is nil
// when the file gives none.
type ValueInfo struct {
	Name      string
	Type      *Type
	DocString string
	Metadata  []Entry
}

func (*ValueInfo) schema() *schema[ValueInfo] { return valueInfoSchema }

var valueInfoSchema = &schema[ValueInfo]{
	name: 1,
	fields: []field[ValueInfo]{
		1: text("name", func(v *ValueInfo) *string { return &v.Name }),
		2: message("type", func(v *ValueInfo) **Type { return &v.Type }),
		3: text("doc_string", func(v *ValueInfo) *string { return &v.DocString }),
		4: messages("metadata_props", func(v *ValueInfo) *[]Entry { return &v.Metadata }),
	},
}

// A TensorAnnotation names the tensors that quantise another one; the keys
// are such as "SCALE_TENSOR" and "ZERO_POINT_TENSOR".
type TensorAnnotation struct {
	TensorName string
	Parameters []Entry
}

func (*TensorAnnotation) schema() *schema[TensorAnnotation] { return tensorAnnotationSchema }

var tensorAnnotationSchema = &schema[TensorAnnotation]{
	name: 1,
	fields: []field[TensorAnnotation]{
		1: text("tensor_name", func(a *TensorAnnotation) *string { return &a.TensorName }),
		2: messages("quant_parameter_tensor_names", func(a *TensorAnnotation) *[]Entry { return &a.Parameters }),
	},
}

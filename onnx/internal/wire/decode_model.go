package wire

import (
	"errors"
	"math"
)

// DecodeModel reads a ModelProto. The result aliases data; see the package
// comment. A nil l stands for the default limits.
//
// A model without a graph is an error; anything else that a message leaves
// out has its zero value. Unknown fields are passed over.
func DecodeModel(data []byte, l *Limits) (*Model, error) {
	d := newDecoder(data, l)
	m := new(Model)
	d.model(m, root(data))
	if d.err != nil {
		return nil, d.err
	}
	return m, nil
}

func (d *decoder) model(m *Model, f field) {
	off := f.off
	r, seen, ok := d.open(f, place{field: "model", index: -1})
	if !ok {
		return
	}
	defer d.close()
	d.once(&seen, 7, "graph", off)
	m.OpsetImports = makeList[OperatorSet](d, seen[8], off)
	m.Metadata = makeList[Entry](d, seen[14], off)
	m.TrainingInfo = makeList[[]byte](d, seen[20], off)
	m.Functions = makeList[Function](d, seen[25], off)
	for d.next(&r, &f) {
		switch f.num {
		case 1:
			m.IRVersion = d.int64(&f, "ir_version")
		case 2:
			m.ProducerName = d.text(&f, "producer_name")
		case 3:
			m.ProducerVersion = d.text(&f, "producer_version")
		case 4:
			m.Domain = d.text(&f, "domain")
		case 5:
			m.ModelVersion = d.int64(&f, "model_version")
		case 6:
			m.DocString = d.text(&f, "doc_string")
		case 7:
			m.Graph = d.graphPointer(f, "graph")
		case 8:
			d.operatorSet(extend(&m.OpsetImports), f, len(m.OpsetImports)-1)
		case 14:
			d.entry(extend(&m.Metadata), f, "metadata_props", len(m.Metadata)-1)
		case 20:
			m.TrainingInfo = append(m.TrainingInfo, d.bytes(&f, "training_info"))
		case 25:
			d.function(extend(&m.Functions), f, len(m.Functions)-1)
		}
	}
	if m.Graph == nil {
		d.fail(off, errors.New("there is no graph"))
	}
}

func (d *decoder) operatorSet(o *OperatorSet, f field, i int) {
	r, _, ok := d.open(f, place{field: "opset_import", index: i, name: 1})
	if !ok {
		return
	}
	defer d.close()
	for d.next(&r, &f) {
		switch f.num {
		case 1:
			o.Domain = d.text(&f, "domain")
		case 2:
			o.Version = d.int64(&f, "version")
		}
	}
}

func (d *decoder) entry(e *Entry, f field, name string, i int) {
	r, _, ok := d.open(f, place{field: name, index: i, name: 1})
	if !ok {
		return
	}
	defer d.close()
	for d.next(&r, &f) {
		switch f.num {
		case 1:
			e.Key = d.text(&f, "key")
		case 2:
			e.Value = d.text(&f, "value")
		}
	}
}

func (d *decoder) graphPointer(f field, name string) *Graph {
	g := makeOne[Graph](d, f.off)
	if g != nil {
		d.graph(g, f, name, -1)
	}
	return g
}

func (d *decoder) graph(g *Graph, f field, name string, i int) {
	off := f.off
	// The graph of a model is known by its place; subgraphs are easier to
	// find by their name.
	p := place{field: name, index: i}
	if d.depth > 0 {
		p.name = 2
	}
	r, seen, ok := d.open(f, p)
	if !ok {
		return
	}
	defer d.close()
	if !d.descend(off) {
		return
	}
	defer d.ascend()
	d.take(&d.nodes, seen[1], d.limits.MaxNodes, "nodes", off)
	g.Nodes = makeList[Node](d, seen[1], off)
	g.Initializers = makeList[Tensor](d, seen[5], off)
	g.Inputs = makeList[ValueInfo](d, seen[11], off)
	g.Outputs = makeList[ValueInfo](d, seen[12], off)
	g.ValueInfo = makeList[ValueInfo](d, seen[13], off)
	g.QuantizationAnnotations = makeList[TensorAnnotation](d, seen[14], off)
	g.SparseInitializers = makeList[SparseTensor](d, seen[15], off)
	g.Metadata = makeList[Entry](d, seen[16], off)
	for d.next(&r, &f) {
		switch f.num {
		case 1:
			d.node(extend(&g.Nodes), f, len(g.Nodes)-1)
		case 2:
			g.Name = d.text(&f, "name")
		case 5:
			d.tensor(extend(&g.Initializers), f, "initializer", len(g.Initializers)-1)
		case 10:
			g.DocString = d.text(&f, "doc_string")
		case 11:
			d.valueInfo(extend(&g.Inputs), f, "input", len(g.Inputs)-1)
		case 12:
			d.valueInfo(extend(&g.Outputs), f, "output", len(g.Outputs)-1)
		case 13:
			d.valueInfo(extend(&g.ValueInfo), f, "value_info", len(g.ValueInfo)-1)
		case 14:
			d.annotation(extend(&g.QuantizationAnnotations), f, len(g.QuantizationAnnotations)-1)
		case 15:
			d.sparseTensor(extend(&g.SparseInitializers), f, "sparse_initializer", len(g.SparseInitializers)-1)
		case 16:
			d.entry(extend(&g.Metadata), f, "metadata_props", len(g.Metadata)-1)
		}
	}
}

func (d *decoder) annotation(a *TensorAnnotation, f field, i int) {
	off := f.off
	r, seen, ok := d.open(f, place{field: "quantization_annotation", index: i, name: 1})
	if !ok {
		return
	}
	defer d.close()
	a.Parameters = makeList[Entry](d, seen[2], off)
	for d.next(&r, &f) {
		switch f.num {
		case 1:
			a.TensorName = d.text(&f, "tensor_name")
		case 2:
			d.entry(extend(&a.Parameters), f, "quant_parameter_tensor_names", len(a.Parameters)-1)
		}
	}
}

func (d *decoder) node(n *Node, f field, i int) {
	off := f.off
	r, seen, ok := d.open(f, place{field: "node", index: i, name: 3, op: 4})
	if !ok {
		return
	}
	defer d.close()
	d.take(&d.attributes, seen[5], d.limits.MaxAttributes, "attributes", off)
	n.Inputs = makeList[string](d, seen[1], off)
	n.Outputs = makeList[string](d, seen[2], off)
	n.Attributes = makeList[Attribute](d, seen[5], off)
	n.Metadata = makeList[Entry](d, seen[9], off)
	for d.next(&r, &f) {
		switch f.num {
		case 1:
			n.Inputs = append(n.Inputs, d.text(&f, "input"))
		case 2:
			n.Outputs = append(n.Outputs, d.text(&f, "output"))
		case 3:
			n.Name = d.text(&f, "name")
		case 4:
			n.OpType = d.text(&f, "op_type")
		case 5:
			d.attribute(extend(&n.Attributes), f, "attribute", len(n.Attributes)-1)
		case 6:
			n.DocString = d.text(&f, "doc_string")
		case 7:
			n.Domain = d.text(&f, "domain")
		case 8:
			n.Overload = d.text(&f, "overload")
		case 9:
			d.entry(extend(&n.Metadata), f, "metadata_props", len(n.Metadata)-1)
		}
	}
}

func (d *decoder) attribute(a *Attribute, f field, name string, i int) {
	off := f.off
	r, seen, ok := d.open(f, place{field: name, index: i, name: 1})
	if !ok {
		return
	}
	defer d.close()
	d.once(&seen, 5, "t", off)
	d.once(&seen, 6, "g", off)
	d.once(&seen, 14, "tp", off)
	d.once(&seen, 22, "sparse_tensor", off)
	a.Floats = d.float32s(r, &seen, 7, "floats")
	a.Ints = d.int64s(r, &seen, 8, "ints", math.MaxInt32)
	a.Strings = makeList[[]byte](d, seen[9], off)
	a.Tensors = makeList[Tensor](d, seen[10], off)
	a.Graphs = makeList[Graph](d, seen[11], off)
	a.Types = makeList[Type](d, seen[15], off)
	a.SparseTensors = makeList[SparseTensor](d, seen[23], off)
	for d.next(&r, &f) {
		switch f.num {
		case 1:
			a.Name = d.text(&f, "name")
		case 2:
			a.Float = d.float32(&f, "f")
		case 3:
			a.Int = d.int64(&f, "i")
		case 4:
			a.Bytes = d.bytes(&f, "s")
		case 5:
			a.Tensor = d.tensorPointer(f, "t")
		case 6:
			a.Graph = d.graphPointer(f, "g")
		case 9:
			a.Strings = append(a.Strings, d.bytes(&f, "strings"))
		case 10:
			d.tensor(extend(&a.Tensors), f, "tensors", len(a.Tensors)-1)
		case 11:
			d.graph(extend(&a.Graphs), f, "graphs", len(a.Graphs)-1)
		case 13:
			a.DocString = d.text(&f, "doc_string")
		case 14:
			a.Type = d.typePointer(f, "tp")
		case 15:
			d.typ(extend(&a.Types), f, "type_protos", len(a.Types)-1)
		case 20:
			a.Kind = AttrKind(d.int32(&f, "type"))
		case 21:
			a.RefName = d.text(&f, "ref_attr_name")
		case 22:
			a.SparseTensor = d.sparseTensorPointer(f, "sparse_tensor")
		case 23:
			d.sparseTensor(extend(&a.SparseTensors), f, "sparse_tensors", len(a.SparseTensors)-1)
		}
	}
	if d.err == nil {
		if err := a.settle(&seen); err != nil {
			d.fail(off, err)
		}
	}
}

func (d *decoder) function(fn *Function, f field, i int) {
	off := f.off
	r, seen, ok := d.open(f, place{field: "functions", index: i, name: 1})
	if !ok {
		return
	}
	defer d.close()
	d.take(&d.nodes, seen[7], d.limits.MaxNodes, "nodes", off)
	d.take(&d.attributes, seen[11], d.limits.MaxAttributes, "attributes", off)
	fn.Inputs = makeList[string](d, seen[4], off)
	fn.Outputs = makeList[string](d, seen[5], off)
	fn.Attributes = makeList[string](d, seen[6], off)
	fn.Nodes = makeList[Node](d, seen[7], off)
	fn.OpsetImports = makeList[OperatorSet](d, seen[9], off)
	fn.Defaults = makeList[Attribute](d, seen[11], off)
	fn.ValueInfo = makeList[ValueInfo](d, seen[12], off)
	fn.Metadata = makeList[Entry](d, seen[14], off)
	for d.next(&r, &f) {
		switch f.num {
		case 1:
			fn.Name = d.text(&f, "name")
		case 4:
			fn.Inputs = append(fn.Inputs, d.text(&f, "input"))
		case 5:
			fn.Outputs = append(fn.Outputs, d.text(&f, "output"))
		case 6:
			fn.Attributes = append(fn.Attributes, d.text(&f, "attribute"))
		case 7:
			d.node(extend(&fn.Nodes), f, len(fn.Nodes)-1)
		case 8:
			fn.DocString = d.text(&f, "doc_string")
		case 9:
			d.operatorSet(extend(&fn.OpsetImports), f, len(fn.OpsetImports)-1)
		case 10:
			fn.Domain = d.text(&f, "domain")
		case 11:
			d.attribute(extend(&fn.Defaults), f, "attribute_proto", len(fn.Defaults)-1)
		case 12:
			d.valueInfo(extend(&fn.ValueInfo), f, "value_info", len(fn.ValueInfo)-1)
		case 13:
			fn.Overload = d.text(&f, "overload")
		case 14:
			d.entry(extend(&fn.Metadata), f, "metadata_props", len(fn.Metadata)-1)
		}
	}
}

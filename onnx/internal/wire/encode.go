package wire

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// AppendModel appends the encoding of m to b and returns it.
//
// Strings and numbers that are empty or zero are left out, as proto3 does,
// except where their presence has a meaning. What the structs hold is written
// as it is, without the checks of decoding.
func AppendModel(b []byte, m *Model) []byte { return encoder{b}.model(m).b }

// AppendTensor appends the encoding of t, a TensorProto, to b and returns it.
func AppendTensor(b []byte, t *Tensor) []byte { return encoder{b}.tensor(t).b }

// AppendSequence appends the encoding of s, a SequenceProto, to b and returns
// it.
func AppendSequence(b []byte, s *Sequence) []byte { return encoder{b}.sequence(s).b }

// AppendOptional appends the encoding of o, an OptionalProto, to b and
// returns it.
func AppendOptional(b []byte, o *Optional) []byte { return encoder{b}.optional(o).b }

// An encoder appends fields to b. Its methods return the longer encoder.
type encoder struct{ b []byte }

// uint writes a varint field.
func (e encoder) uint(num protowire.Number, v uint64) encoder {
	e.b = protowire.AppendTag(e.b, num, protowire.VarintType)
	e.b = protowire.AppendVarint(e.b, v)
	return e
}

// int writes an int64, int32 or enum field unless it is zero.
func (e encoder) int(num protowire.Number, v int64) encoder {
	if v == 0 {
		return e
	}
	return e.uint(num, uint64(v))
}

// float writes a float field.
func (e encoder) float(num protowire.Number, v float32) encoder {
	e.b = protowire.AppendTag(e.b, num, protowire.Fixed32Type)
	e.b = protowire.AppendFixed32(e.b, math.Float32bits(v))
	return e
}

// bytes writes a bytes field.
func (e encoder) bytes(num protowire.Number, v []byte) encoder {
	e.b = protowire.AppendTag(e.b, num, protowire.BytesType)
	e.b = protowire.AppendBytes(e.b, v)
	return e
}

// packed writes a packed field unless it is empty.
func (e encoder) packed(num protowire.Number, v []byte) encoder {
	if len(v) == 0 {
		return e
	}
	return e.bytes(num, v)
}

// text writes a string field unless it is empty.
func (e encoder) text(num protowire.Number, v string) encoder {
	if v == "" {
		return e
	}
	return e.texts(num, []string{v})
}

// texts writes a repeated string field.
func (e encoder) texts(num protowire.Number, list []string) encoder {
	for _, v := range list {
		e.b = protowire.AppendTag(e.b, num, protowire.BytesType)
		e.b = protowire.AppendString(e.b, v)
	}
	return e
}

// ints writes a repeated int64 field, not packed, as the ONNX project does.
func (e encoder) ints(num protowire.Number, list []int64) encoder {
	for _, v := range list {
		e = e.uint(num, uint64(v))
	}
	return e
}

// message writes a field that holds the message that body appends.
//
// Its length comes before it and is only known after it. The body is written
// in place and moved up by the size of the length, so that a weight is
// moved once for each message around it and never held twice.
func (e encoder) message(num protowire.Number, body func(encoder) encoder) encoder {
	e.b = protowire.AppendTag(e.b, num, protowire.BytesType)
	begin := len(e.b)
	e = body(e)
	size := len(e.b) - begin
	prefix := protowire.SizeVarint(uint64(size))
	var room [10]byte
	e.b = append(e.b, room[:prefix]...)
	copy(e.b[begin+prefix:], e.b[begin:begin+size])
	protowire.AppendVarint(e.b[:begin], uint64(size))
	return e
}

// messages writes a repeated message field.
func messages[T any](e encoder, num protowire.Number, list []T, body func(encoder, *T) encoder) encoder {
	for i := range list {
		e = e.message(num, func(e encoder) encoder { return body(e, &list[i]) })
	}
	return e
}

// message1 writes a message field unless v is nil.
func message1[T any](e encoder, num protowire.Number, v *T, body func(encoder, *T) encoder) encoder {
	if v == nil {
		return e
	}
	return e.message(num, func(e encoder) encoder { return body(e, v) })
}

func (e encoder) model(m *Model) encoder {
	e = e.int(1, m.IRVersion)
	e = e.text(2, m.ProducerName)
	e = e.text(3, m.ProducerVersion)
	e = e.text(4, m.Domain)
	e = e.int(5, m.ModelVersion)
	e = e.text(6, m.DocString)
	e = message1(e, 7, m.Graph, encoder.graph)
	e = messages(e, 8, m.OpsetImports, encoder.operatorSet)
	e = messages(e, 14, m.Metadata, encoder.entry)
	for _, t := range m.TrainingInfo {
		e = e.bytes(20, t)
	}
	return messages(e, 25, m.Functions, encoder.function)
}

func (e encoder) operatorSet(o *OperatorSet) encoder {
	// An empty domain is written out: older readers need the field.
	return e.texts(1, []string{o.Domain}).int(2, o.Version)
}

func (e encoder) entry(s *Entry) encoder {
	return e.text(1, s.Key).text(2, s.Value)
}

func (e encoder) graph(g *Graph) encoder {
	e = messages(e, 1, g.Nodes, encoder.node)
	e = e.text(2, g.Name)
	e = messages(e, 5, g.Initializers, encoder.tensor)
	e = e.text(10, g.DocString)
	e = messages(e, 11, g.Inputs, encoder.valueInfo)
	e = messages(e, 12, g.Outputs, encoder.valueInfo)
	e = messages(e, 13, g.ValueInfo, encoder.valueInfo)
	e = messages(e, 14, g.QuantizationAnnotations, func(e encoder, a *TensorAnnotation) encoder {
		return messages(e.text(1, a.TensorName), 2, a.Parameters, encoder.entry)
	})
	e = messages(e, 15, g.SparseInitializers, encoder.sparseTensor)
	return messages(e, 16, g.Metadata, encoder.entry)
}

func (e encoder) node(n *Node) encoder {
	e = e.texts(1, n.Inputs)
	e = e.texts(2, n.Outputs)
	e = e.text(3, n.Name)
	e = e.text(4, n.OpType)
	e = messages(e, 5, n.Attributes, encoder.attribute)
	e = e.text(6, n.DocString)
	e = e.text(7, n.Domain)
	e = e.text(8, n.Overload)
	return messages(e, 9, n.Metadata, encoder.entry)
}

// attribute writes the value that a.Kind names, zero or not: readers of IR
// version 1 tell the kind by which value is present.
func (e encoder) attribute(a *Attribute) encoder {
	e = e.text(1, a.Name)
	if a.RefName == "" {
		switch a.Kind {
		case AttrFloat:
			e = e.float(2, a.Float)
		case AttrInt:
			e = e.uint(3, uint64(a.Int))
		case AttrString:
			e = e.bytes(4, a.Bytes)
		case AttrTensor:
			e = message1(e, 5, a.Tensor, encoder.tensor)
		case AttrGraph:
			e = message1(e, 6, a.Graph, encoder.graph)
		case AttrFloats:
			for _, v := range a.Floats {
				e = e.float(7, v)
			}
		case AttrInts:
			e = e.ints(8, a.Ints)
		case AttrStrings:
			for _, v := range a.Strings {
				e = e.bytes(9, v)
			}
		case AttrTensors:
			e = messages(e, 10, a.Tensors, encoder.tensor)
		case AttrGraphs:
			e = messages(e, 11, a.Graphs, encoder.graph)
		case AttrType:
			e = message1(e, 14, a.Type, encoder.typ)
		case AttrTypes:
			e = messages(e, 15, a.Types, encoder.typ)
		case AttrSparseTensor:
			e = message1(e, 22, a.SparseTensor, encoder.sparseTensor)
		case AttrSparseTensors:
			e = messages(e, 23, a.SparseTensors, encoder.sparseTensor)
		}
	}
	e = e.text(13, a.DocString)
	e = e.int(20, int64(a.Kind))
	return e.text(21, a.RefName)
}

func (e encoder) function(f *Function) encoder {
	e = e.text(1, f.Name)
	e = e.texts(4, f.Inputs)
	e = e.texts(5, f.Outputs)
	e = e.texts(6, f.Attributes)
	e = messages(e, 7, f.Nodes, encoder.node)
	e = e.text(8, f.DocString)
	e = messages(e, 9, f.OpsetImports, encoder.operatorSet)
	e = e.text(10, f.Domain)
	e = messages(e, 11, f.Defaults, encoder.attribute)
	e = messages(e, 12, f.ValueInfo, encoder.valueInfo)
	e = e.text(13, f.Overload)
	return messages(e, 14, f.Metadata, encoder.entry)
}

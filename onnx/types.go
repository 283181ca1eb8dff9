package onnx

import (
	"errors"
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/wire"
	"github.com/berth-go/berth/shape"
)

// ErrType is wrapped by errors about an element type, or a kind of value, that
// Berth does not have.
var ErrType = errors.New("type is not supported")

var elementTypes = map[wire.DataType]dtype.Type{
	wire.Float:    dtype.Float32,
	wire.Double:   dtype.Float64,
	wire.Float16:  dtype.Float16,
	wire.BFloat16: dtype.BFloat16,
	wire.Int8:     dtype.Int8,
	wire.Int16:    dtype.Int16,
	wire.Int32:    dtype.Int32,
	wire.Int64:    dtype.Int64,
	wire.Uint8:    dtype.Uint8,
	wire.Uint16:   dtype.Uint16,
	wire.Uint32:   dtype.Uint32,
	wire.Uint64:   dtype.Uint64,
	wire.Bool:     dtype.Bool,

	wire.Int2:           dtype.Int2,
	wire.Uint2:          dtype.Uint2,
	wire.Int4:           dtype.Int4,
	wire.Uint4:          dtype.Uint4,
	wire.Float4E2M1:     dtype.Float4E2M1,
	wire.Float8E4M3FN:   dtype.Float8E4M3FN,
	wire.Float8E4M3FNUZ: dtype.Float8E4M3FNUZ,
	wire.Float8E5M2:     dtype.Float8E5M2,
	wire.Float8E5M2FNUZ: dtype.Float8E5M2FNUZ,
	wire.Float8E8M0:     dtype.Float8E8M0,
}

func elementType(t wire.DataType) (dtype.Type, error) {
	if d, ok := elementTypes[t]; ok {
		return d, nil
	}
	return dtype.Invalid, fmt.Errorf("element %w: %v", ErrType, t)
}

// wireType returns the number of an element type in files.
func wireType(t dtype.Type) wire.DataType {
	for elem, d := range elementTypes {
		if d == t {
			return elem
		}
	}
	return wire.Undefined
}

// tensorType returns the element type and shape of t.
func tensorType(t *wire.Tensor) (graph.Type, error) {
	d, err := elementType(t.DataType)
	if err != nil {
		return graph.Type{}, err
	}
	dims, err := dimsOf(t)
	if err != nil {
		return graph.Type{}, err
	}
	typ := graph.Type{DType: d, Shape: dims}
	return typ, typ.Check()
}

// dimsOf returns the shape of t.
func dimsOf(t *wire.Tensor) (shape.Shape, error) {
	dims := make(shape.Shape, len(t.Dims))
	if err := checkRank(dims); err != nil {
		return nil, err
	}
	for i, n := range t.Dims {
		if dims[i] = int(n); int64(dims[i]) != n {
			return nil, fmt.Errorf("dimension %d of %v does not fit this machine's int", i, t.Dims)
		}
	}
	return dims, dims.Check()
}

// constant returns the constant that a tensor of the model is.
func (m *Model) constant(t *wire.Tensor) (symbol, error) {
	if t.DataType != wire.String {
		v, err := m.leaf(t)
		return tensorSymbol(v), err
	}
	dims, err := dimsOf(t)
	if err != nil {
		return symbol{}, err
	}
	n, err := graph.NewConstant(graph.Type{DType: dtype.Int64, Shape: dims}, graph.Leaf{Layout: shape.Dense(dims), Data: m.weights[t]})
	if err != nil {
		return symbol{}, err
	}
	return symbol{kind: tensor, tensor: n.Output(0), text: true}, nil
}

// leaf returns the constant that a tensor of numbers is: the same one to all programs
// of the model, as long as one of them holds it.
func (m *Model) leaf(t *wire.Tensor) (graph.Value, error) {
	n, err := m.leaves.Get(t, func() (*graph.Node, error) {
		v, err := leafOf(t, m.weights[t])
		return v.Node(), err
	})
	if err != nil {
		return graph.Value{}, err
	}
	return n.Output(0), nil
}

// textIDs returns the numbers of the elements of a tensor of strings in the file.
func (m *Model) textIDs(t *wire.Tensor) ([]int64, error) {
	dims, err := dimsOf(t)
	if err != nil {
		return nil, err
	}
	if n := dims.Elems(); n != len(t.StringData) {
		return nil, fmt.Errorf("%d strings for the shape %v, which takes %d", len(t.StringData), dims, n)
	}
	ids := make([]int64, len(t.StringData))
	for i, s := range t.StringData {
		ids[i] = m.texts.id(string(s))
	}
	return ids, nil
}

// leafOf returns the constant that t is, over the bytes of its elements, which are
// not packed.
func leafOf(t *wire.Tensor, data []byte) (graph.Value, error) {
	typ, err := tensorType(t)
	if err != nil {
		return graph.Value{}, err
	}
	n, err := graph.NewConstant(typ, graph.Leaf{Layout: shape.Dense(typ.Shape), Data: data})
	if err != nil {
		return graph.Value{}, err
	}
	return n.WithLabel(t.Name).Output(0), nil
}

// decoded returns the constant that t is, whose elements are in t itself.
func decoded(t *wire.Tensor) (graph.Value, error) {
	raw, err := t.Bytes()
	if err != nil {
		if _, unsupported := elementType(t.DataType); unsupported != nil {
			err = unsupported
		}
		return graph.Value{}, err
	}
	typ, err := tensorType(t)
	if err != nil {
		return graph.Value{}, err
	}
	return leafOf(t, t.DataType.Unpack(raw, typ.Shape.Elems()))
}

// ReadTensor decodes a TensorProto, the form of the ONNX backend test data.
// The tensor may share data, which must not change any more.
func ReadTensor(data []byte) (name string, t *berth.Tensor, err error) {
	proto, err := wire.DecodeTensor(data, nil)
	if err != nil {
		return "", nil, fmt.Errorf("onnx: %w", err)
	}
	v, err := decoded(proto)
	if err != nil {
		return "", nil, fmt.Errorf("onnx: tensor %q: %w", proto.Name, err)
	}
	t, err = inside.Tensor(v.Type(), *v.Node().Leaf())
	return proto.Name, t, err
}

// AppendTensor appends the encoding of a tensor as a TensorProto, which
// [ReadTensor] reads, to b and returns it. It is an error when the tensor holds
// nothing.
func AppendTensor(b []byte, name string, t *berth.Tensor) ([]byte, error) {
	elem := wireType(t.DType())
	if elem == wire.Undefined {
		return b, fmt.Errorf("onnx: tensor %q holds nothing", name)
	}
	leaf := inside.Leaf(t)
	proto := wire.Tensor{
		Name:     name,
		DataType: elem,
		Raw:      elem.Pack(kernel.Compact(leaf.Data, leaf.Layout, t.DType().Size())),
	}
	for _, n := range leaf.Layout.Shape {
		proto.Dims = append(proto.Dims, int64(n))
	}
	return wire.AppendTensor(b, &proto), nil
}

package onnx

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

// AppendOutput appends the encoding of a value of an output to b, in the form that
// [Model.ReadOutput] reads.
func (m *Model) AppendOutput(b []byte, name string, v Value) ([]byte, error) {
	list := m.graph().Outputs
	i := indexOf(list, name)
	if i < 0 {
		return nil, fmt.Errorf("onnx: the model has no output %q, but %s", name, namesOf(list))
	}
	b, err := appendValue(b, list[i].Type, name, v)
	if err != nil {
		return nil, fmt.Errorf("onnx: output %q: %w", name, err)
	}
	return b, nil
}

func appendValue(b []byte, t *wire.Type, name string, v Value) ([]byte, error) {
	if t != nil && t.Optional != nil {
		o := &wire.Optional{Name: name}
		if v == nil {
			return wire.AppendOptional(b, o), nil
		}
		var s wire.Sequence
		if err := addItem(&s, v); err != nil {
			return nil, err
		}
		o.Kind = s.Kind
		switch s.Kind {
		case wire.ValueTensor:
			o.Tensor = &s.Tensors[0]
		case wire.ValueSequence:
			o.Sequence = &s.Sequences[0]
		default:
			o.Map = &s.Maps[0]
		}
		return wire.AppendOptional(b, o), nil
	}
	switch v := v.(type) {
	case *Array:
		p := tensorProto(name, v)
		return wire.AppendTensor(b, &p), nil
	case Sequence:
		s, err := sequenceProto(v)
		s.Name = name
		return wire.AppendSequence(b, &s), err
	}
	return nil, fmt.Errorf("%s has no encoding of its own", TypeOf(v))
}

// elemOf returns the ONNX type of the elements of an array.
func elemOf(a *Array) wire.DataType {
	if a.typ == dtype.Invalid {
		return wire.String
	}
	return wireType(a.typ)
}

// tensorProto returns an array as a TensorProto, which may share its elements.
func tensorProto(name string, a *Array) wire.Tensor {
	p := wire.Tensor{Name: name, DataType: elemOf(a)}
	for _, n := range a.dims {
		p.Dims = append(p.Dims, int64(n))
	}
	if p.DataType == wire.String {
		p.StringData = bytesOf(a.text)
	} else {
		p.Raw = p.DataType.Pack(a.data)
	}
	return p
}

func bytesOf(text []string) [][]byte {
	list := make([][]byte, len(text))
	for i, s := range text {
		list[i] = []byte(s)
	}
	return list
}

func sequenceProto(s Sequence) (wire.Sequence, error) {
	p := wire.Sequence{Kind: wire.ValueTensor} // of none
	for i, v := range s {
		if err := addItem(&p, v); err != nil {
			return p, fmt.Errorf("item %d: %w", i, err)
		}
	}
	return p, nil
}

// addItem appends v to a sequence, all of whose items must be of one kind.
func addItem(p *wire.Sequence, v Value) error {
	first := len(p.Tensors)+len(p.Sequences)+len(p.Maps) == 0
	var kind wire.ValueKind
	switch v := v.(type) {
	case *Array:
		kind = wire.ValueTensor
		p.Tensors = append(p.Tensors, tensorProto("", v))
	case Sequence:
		inner, err := sequenceProto(v)
		if err != nil {
			return err
		}
		kind = wire.ValueSequence
		p.Sequences = append(p.Sequences, inner)
	case *Map:
		inner, err := mapProto(v)
		if err != nil {
			return err
		}
		kind = wire.ValueMap
		p.Maps = append(p.Maps, inner)
	default:
		return fmt.Errorf("%s has no encoding in another value", TypeOf(v))
	}
	if !first && kind != p.Kind {
		return fmt.Errorf("%s is of another kind than the items before", TypeOf(v))
	}
	p.Kind = kind
	return nil
}

func mapProto(m *Map) (wire.Map, error) {
	p := wire.Map{KeyType: elemOf(m.Keys), Values: &wire.Sequence{Kind: wire.ValueTensor}}
	var err error
	if p.KeyType == wire.String {
		p.StringKeys = bytesOf(m.Keys.text)
	} else if p.Keys, err = Elements[int64](m.Keys); err != nil {
		return p, fmt.Errorf("the keys of a map: %w", err)
	}
	for i := range m.Values.dims.Elems() {
		one := &Array{typ: m.Values.typ}
		if one.typ == dtype.Invalid {
			one.text = m.Values.text[i : i+1]
		} else {
			size := one.typ.Size()
			one.data = m.Values.data[i*size : (i+1)*size]
		}
		p.Values.Tensors = append(p.Values.Tensors, tensorProto("", one))
	}
	return p, nil
}

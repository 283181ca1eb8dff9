package onnx

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
	"github.com/berth-go/berth/shape"
)

// ReadInput decodes a value for an input of the model, in the form of the ONNX backend
// test data: a TensorProto, or a SequenceProto or OptionalProto where the input is
// declared as one. Arrays may share data, which must not change any more.
func (m *Model) ReadInput(name string, data []byte) (Value, error) {
	return readDeclared(m.graph().Inputs, "input", name, data)
}

// ReadOutput likewise decodes a value of an output.
func (m *Model) ReadOutput(name string, data []byte) (Value, error) {
	return readDeclared(m.graph().Outputs, "output", name, data)
}

func readDeclared(list []wire.ValueInfo, what, name string, data []byte) (Value, error) {
	i := indexOf(list, name)
	if i < 0 {
		return nil, fmt.Errorf("onnx: the model has no %s %q, but %s", what, name, namesOf(list))
	}
	v, err := readValue(list[i].Type, data)
	if err != nil {
		return nil, fmt.Errorf("onnx: %s %q: %w", what, name, err)
	}
	return v, nil
}

func readValue(t *wire.Type, data []byte) (Value, error) {
	switch {
	case t != nil && t.Sequence != nil:
		s, err := wire.DecodeSequence(data, nil)
		if err != nil {
			return nil, err
		}
		return sequenceOf(s)
	case t != nil && t.Optional != nil:
		o, err := wire.DecodeOptional(data, nil)
		if err != nil {
			return nil, err
		}
		return optionalOf(o)
	}
	p, err := wire.DecodeTensor(data, nil)
	if err != nil {
		return nil, err
	}
	return arrayFrom(p)
}

// arrayFrom returns a tensor whose elements are in t itself.
func arrayFrom(t *wire.Tensor) (Value, error) {
	if t.DataType != wire.String {
		v, err := decoded(t)
		if err != nil {
			return nil, err
		}
		return arrayOf(v.Type().DType, *v.Node().Leaf(), false), nil
	}
	dims, err := dimsOf(t)
	if err != nil {
		return nil, err
	}
	text := make([]string, len(t.StringData))
	for i, s := range t.StringData {
		text[i] = string(s)
	}
	return NewStrings(text, dims...)
}

func sequenceOf(p *wire.Sequence) (Value, error) {
	s := make(Sequence, 0, len(p.Tensors)+len(p.Sequences)+len(p.Maps)+len(p.Optionals))
	add := func(v Value, err error) error {
		if err != nil {
			return fmt.Errorf("item %d: %w", len(s), err)
		}
		s = append(s, v)
		return nil
	}
	for i := range p.Tensors {
		if err := add(arrayFrom(&p.Tensors[i])); err != nil {
			return nil, err
		}
	}
	for i := range p.Sequences {
		if err := add(sequenceOf(&p.Sequences[i])); err != nil {
			return nil, err
		}
	}
	for i := range p.Maps {
		if err := add(mapOf(&p.Maps[i])); err != nil {
			return nil, err
		}
	}
	for i := range p.Optionals {
		if err := add(optionalOf(&p.Optionals[i])); err != nil {
			return nil, err
		}
	}
	if len(p.SparseTensors) > 0 {
		return nil, fmt.Errorf("sparse tensor %w", ErrType)
	}
	return s, nil
}

func optionalOf(p *wire.Optional) (Value, error) {
	switch {
	case p.Tensor != nil:
		return arrayFrom(p.Tensor)
	case p.Sequence != nil:
		return sequenceOf(p.Sequence)
	case p.Map != nil:
		return mapOf(p.Map)
	case p.Optional != nil:
		return optionalOf(p.Optional)
	case p.SparseTensor != nil:
		return nil, fmt.Errorf("sparse tensor %w", ErrType)
	}
	return nil, nil
}

// mapOf returns a map whose values are tensors of one element each.
func mapOf(p *wire.Map) (Value, error) {
	m := &Map{}
	var err error
	if p.KeyType == wire.String {
		text := make([]string, len(p.StringKeys))
		for i, s := range p.StringKeys {
			text[i] = string(s)
		}
		m.Keys, err = NewStrings(text, len(text))
	} else {
		m.Keys, err = NewArray(p.Keys, len(p.Keys))
	}
	if err != nil {
		return nil, err
	}
	n := m.Keys.dims.Elems()
	m.Values = &Array{typ: dtype.Float32, dims: shape.Shape{n}}
	if p.Values == nil {
		return m, nil
	}
	for i := range p.Values.Tensors {
		v, err := arrayFrom(&p.Values.Tensors[i])
		if err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
		a := v.(*Array)
		if a.dims.Elems() != 1 || i > 0 && a.typ != m.Values.typ {
			return nil, fmt.Errorf("value %d of a map is %s", i, TypeOf(a))
		}
		m.Values.typ = a.typ
		m.Values.data = append(m.Values.data, a.data...)
		m.Values.text = append(m.Values.text, a.text...)
	}
	if len(p.Values.Tensors) != n {
		return nil, fmt.Errorf("the values of a map %w: they are no tensors", ErrType)
	}
	return m, nil
}

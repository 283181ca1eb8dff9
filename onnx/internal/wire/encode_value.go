package wire

func (e encoder) valueInfo(v *ValueInfo) encoder {
	e = e.text(1, v.Name)
	e = message1(e, 2, v.Type, encoder.typ)
	e = e.text(3, v.DocString)
	return messages(e, 4, v.Metadata, encoder.entry)
}

func (e encoder) typ(t *Type) encoder {
	tensor := func(e encoder) encoder {
		e = e.int(1, int64(t.Elem))
		if t.Shape == nil {
			return e
		}
		return e.message(2, func(e encoder) encoder {
			return messages(e, 1, t.Shape, encoder.dim)
		})
	}
	holder := func(e encoder) encoder {
		return message1(e, 1, t.Value, encoder.typ)
	}
	switch t.Kind {
	case TensorType:
		e = e.message(1, tensor)
	case SequenceType:
		e = e.message(4, holder)
	case MapType:
		e = e.message(5, func(e encoder) encoder {
			return message1(e.int(1, int64(t.Key)), 2, t.Value, encoder.typ)
		})
	case OpaqueType:
		e = e.message(7, func(e encoder) encoder {
			return e.text(1, t.OpaqueDomain).text(2, t.OpaqueName)
		})
	case SparseTensorType:
		e = e.message(8, tensor)
	case OptionalType:
		e = e.message(9, holder)
	}
	return e.text(6, t.Denotation)
}

func (e encoder) dim(d *Dim) encoder {
	if d.HasValue {
		e = e.uint(1, uint64(d.Value))
	} else {
		e = e.text(2, d.Param)
	}
	return e.text(3, d.Denotation)
}

func (e encoder) tensor(t *Tensor) encoder {
	e = e.ints(1, t.Dims)
	e = e.int(2, int64(t.DataType))
	e = message1(e, 3, t.Segment, func(e encoder, s *Segment) encoder {
		return e.int(1, s.Begin).int(2, s.End)
	})
	e = e.packed(4, t.FloatData)
	e = e.packed(5, t.Int32Data)
	for _, s := range t.StringData {
		e = e.bytes(6, s)
	}
	e = e.packed(7, t.Int64Data)
	e = e.text(8, t.Name)
	if t.Raw != nil {
		e = e.bytes(9, t.Raw)
	}
	e = e.packed(10, t.DoubleData)
	e = e.packed(11, t.Uint64Data)
	e = e.text(12, t.DocString)
	e = messages(e, 13, t.ExternalData, encoder.entry)
	if t.External {
		e = e.int(14, 1)
	}
	return messages(e, 16, t.Metadata, encoder.entry)
}

func (e encoder) sparseTensor(s *SparseTensor) encoder {
	e = message1(e, 1, s.Values, encoder.tensor)
	e = message1(e, 2, s.Indices, encoder.tensor)
	return e.ints(3, s.Dims)
}

func (e encoder) sequence(s *Sequence) encoder {
	e = e.text(1, s.Name)
	e = e.int(2, int64(s.Kind))
	e = messages(e, 3, s.Tensors, encoder.tensor)
	e = messages(e, 4, s.SparseTensors, encoder.sparseTensor)
	e = messages(e, 5, s.Sequences, encoder.sequence)
	e = messages(e, 6, s.Maps, encoder.mapValue)
	return messages(e, 7, s.Optionals, encoder.optional)
}

func (e encoder) mapValue(m *Map) encoder {
	e = e.text(1, m.Name)
	e = e.int(2, int64(m.KeyType))
	e = e.ints(3, m.Keys)
	for _, k := range m.StringKeys {
		e = e.bytes(4, k)
	}
	return message1(e, 5, m.Values, encoder.sequence)
}

func (e encoder) optional(o *Optional) encoder {
	e = e.text(1, o.Name)
	e = e.int(2, int64(o.Kind))
	e = message1(e, 3, o.Tensor, encoder.tensor)
	e = message1(e, 4, o.SparseTensor, encoder.sparseTensor)
	e = message1(e, 5, o.Sequence, encoder.sequence)
	e = message1(e, 6, o.Map, encoder.mapValue)
	return message1(e, 7, o.Optional, encoder.optional)
}

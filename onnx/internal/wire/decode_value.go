package wire

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// DecodeTensor reads a TensorProto, such as a file of ONNX test data. The
// result aliases data. A nil l stands for the default limits.
func DecodeTensor(data []byte, l *Limits) (*Tensor, error) {
	d := newDecoder(data, l)
	t := new(Tensor)
	d.tensor(t, root(data), "tensor", -1)
	if d.err != nil {
		return nil, d.err
	}
	return t, nil
}

// DecodeSequence reads a SequenceProto. The result aliases data. A nil l
// stands for the default limits.
func DecodeSequence(data []byte, l *Limits) (*Sequence, error) {
	d := newDecoder(data, l)
	s := new(Sequence)
	d.sequence(s, root(data), "sequence", -1)
	if d.err != nil {
		return nil, d.err
	}
	return s, nil
}

// DecodeOptional reads an OptionalProto. The result aliases data. A nil l
// stands for the default limits.
func DecodeOptional(data []byte, l *Limits) (*Optional, error) {
	d := newDecoder(data, l)
	o := new(Optional)
	d.optional(o, root(data), "optional", -1)
	if d.err != nil {
		return nil, d.err
	}
	return o, nil
}

func (d *decoder) tensorPointer(f field, name string) *Tensor {
	t := makeOne[Tensor](d, f.off)
	if t != nil {
		d.tensor(t, f, name, -1)
	}
	return t
}

func (d *decoder) tensor(t *Tensor, f field, name string, i int) {
	off := f.off
	r, seen, ok := d.open(f, place{field: name, index: i, name: 8})
	if !ok {
		return
	}
	defer d.close()
	d.take(&d.tensors, 1, d.limits.MaxTensors, "tensors", off)
	d.once(&seen, 3, "segment", off)
	t.Dims = d.int64s(r, &seen, 1, "dims", d.limits.MaxRank)
	t.FloatData, _ = d.packed(r, &seen, 4, protowire.Fixed32Type, "float_data")
	t.Int32Data, _ = d.packed(r, &seen, 5, protowire.VarintType, "int32_data")
	t.StringData = makeList[[]byte](d, seen[6], off)
	t.Int64Data, _ = d.packed(r, &seen, 7, protowire.VarintType, "int64_data")
	t.DoubleData, _ = d.packed(r, &seen, 10, protowire.Fixed64Type, "double_data")
	t.Uint64Data, _ = d.packed(r, &seen, 11, protowire.VarintType, "uint64_data")
	t.ExternalData = makeList[Entry](d, seen[13], off)
	t.Metadata = makeList[Entry](d, seen[16], off)
	for d.next(&r, &f) {
		switch f.num {
		case 2:
			t.DataType = DataType(d.int32(&f, "data_type"))
		case 3:
			t.Segment = d.segment(f)
		case 6:
			t.StringData = append(t.StringData, d.bytes(&f, "string_data"))
		case 8:
			t.Name = d.text(&f, "name")
		case 9:
			t.Raw = d.bytes(&f, "raw_data")
		case 12:
			t.DocString = d.text(&f, "doc_string")
		case 13:
			d.entry(extend(&t.ExternalData), f, "external_data", len(t.ExternalData)-1)
		case 14:
			switch v := d.int32(&f, "data_location"); v {
			case 0, 1:
				t.External = v == 1
			default:
				d.failf(f.off, "data_location %d is unknown", v)
			}
		case 16:
			d.entry(extend(&t.Metadata), f, "metadata_props", len(t.Metadata)-1)
		}
	}
	if d.err == nil {
		if err := t.check(); err != nil {
			d.fail(off, err)
		}
	}
}

func (d *decoder) segment(f field) *Segment {
	s := makeOne[Segment](d, f.off)
	r, _, ok := d.open(f, place{field: "segment", index: -1})
	if !ok {
		return nil
	}
	defer d.close()
	for d.next(&r, &f) {
		switch f.num {
		case 1:
			s.Begin = d.int64(&f, "begin")
		case 2:
			s.End = d.int64(&f, "end")
		}
	}
	return s
}

func (d *decoder) sparseTensorPointer(f field, name string) *SparseTensor {
	s := makeOne[SparseTensor](d, f.off)
	if s != nil {
		d.sparseTensor(s, f, name, -1)
	}
	return s
}

func (d *decoder) sparseTensor(s *SparseTensor, f field, name string, i int) {
	off := f.off
	r, seen, ok := d.open(f, place{field: name, index: i})
	if !ok {
		return
	}
	defer d.close()
	d.once(&seen, 1, "values", off)
	d.once(&seen, 2, "indices", off)
	s.Dims = d.int64s(r, &seen, 3, "dims", d.limits.MaxRank)
	for d.next(&r, &f) {
		switch f.num {
		case 1:
			s.Values = d.tensorPointer(f, "values")
		case 2:
			s.Indices = d.tensorPointer(f, "indices")
		}
	}
	if d.err == nil {
		if err := s.check(); err != nil {
			d.fail(off, err)
		}
	}
}

func (d *decoder) sequence(s *Sequence, f field, name string, i int) {
	off := f.off
	r, seen, ok := d.open(f, place{field: name, index: i, name: 1})
	if !ok {
		return
	}
	defer d.close()
	if !d.descend(off) {
		return
	}
	defer d.ascend()
	s.Tensors = makeList[Tensor](d, seen[3], off)
	s.SparseTensors = makeList[SparseTensor](d, seen[4], off)
	s.Sequences = makeList[Sequence](d, seen[5], off)
	s.Maps = makeList[Map](d, seen[6], off)
	s.Optionals = makeList[Optional](d, seen[7], off)
	for d.next(&r, &f) {
		switch f.num {
		case 1:
			s.Name = d.text(&f, "name")
		case 2:
			s.Kind = ValueKind(d.int32(&f, "elem_type"))
		case 3:
			d.tensor(extend(&s.Tensors), f, "tensor_values", len(s.Tensors)-1)
		case 4:
			d.sparseTensor(extend(&s.SparseTensors), f, "sparse_tensor_values", len(s.SparseTensors)-1)
		case 5:
			d.sequence(extend(&s.Sequences), f, "sequence_values", len(s.Sequences)-1)
		case 6:
			d.mapValue(extend(&s.Maps), f, "map_values", len(s.Maps)-1)
		case 7:
			d.optional(extend(&s.Optionals), f, "optional_values", len(s.Optionals)-1)
		}
	}
	if d.err == nil {
		if err := s.check(); err != nil {
			d.fail(off, err)
		}
	}
}

func (d *decoder) mapValue(m *Map, f field, name string, i int) {
	off := f.off
	r, seen, ok := d.open(f, place{field: name, index: i, name: 1})
	if !ok {
		return
	}
	defer d.close()
	d.once(&seen, 5, "values", off)
	m.Keys = d.int64s(r, &seen, 3, "keys", math.MaxInt32)
	m.StringKeys = makeList[[]byte](d, seen[4], off)
	for d.next(&r, &f) {
		switch f.num {
		case 1:
			m.Name = d.text(&f, "name")
		case 2:
			m.KeyType = DataType(d.int32(&f, "key_type"))
		case 4:
			m.StringKeys = append(m.StringKeys, d.bytes(&f, "string_keys"))
		case 5:
			if m.Values = makeOne[Sequence](d, f.off); m.Values != nil {
				d.sequence(m.Values, f, "values", -1)
			}
		}
	}
	if d.err == nil {
		if err := m.check(); err != nil {
			d.fail(off, err)
		}
	}
}

// check reports keys of the wrong type, and a number of values that is not
// the number of keys.
func (m *Map) check() error {
	keys := len(m.Keys)
	if m.KeyType == String {
		keys = len(m.StringKeys)
	}
	if len(m.Keys)+len(m.StringKeys) != keys {
		return fmt.Errorf("key_type is %v but there are %d integer and %d string keys",
			m.KeyType, len(m.Keys), len(m.StringKeys))
	}
	values := 0
	if s := m.Values; s != nil {
		// Only one of the lists has elements.
		values = len(s.Tensors) + len(s.SparseTensors) + len(s.Sequences) + len(s.Maps) + len(s.Optionals)
	}
	if keys != values {
		return fmt.Errorf("%d keys but %d values", keys, values)
	}
	return nil
}

func (d *decoder) optional(o *Optional, f field, name string, i int) {
	off := f.off
	r, seen, ok := d.open(f, place{field: name, index: i, name: 1})
	if !ok {
		return
	}
	defer d.close()
	if !d.descend(off) {
		return
	}
	defer d.ascend()
	if seen[3]+seen[4]+seen[5]+seen[6]+seen[7] > 1 {
		d.fail(off, errors.New("more than one value"))
	}
	for d.next(&r, &f) {
		switch f.num {
		case 1:
			o.Name = d.text(&f, "name")
		case 2:
			o.Kind = ValueKind(d.int32(&f, "elem_type"))
		case 3:
			o.Tensor = d.tensorPointer(f, "tensor_value")
		case 4:
			o.SparseTensor = d.sparseTensorPointer(f, "sparse_tensor_value")
		case 5:
			if o.Sequence = makeOne[Sequence](d, f.off); o.Sequence != nil {
				d.sequence(o.Sequence, f, "sequence_value", -1)
			}
		case 6:
			if o.Map = makeOne[Map](d, f.off); o.Map != nil {
				d.mapValue(o.Map, f, "map_value", -1)
			}
		case 7:
			if o.Optional = makeOne[Optional](d, f.off); o.Optional != nil {
				d.optional(o.Optional, f, "optional_value", -1)
			}
		}
	}
	if d.err == nil {
		if err := o.check(); err != nil {
			d.fail(off, err)
		}
	}
}

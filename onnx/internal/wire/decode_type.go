package wire

func (d *decoder) valueInfo(v *ValueInfo, f field, name string, i int) {
	off := f.off
	r, seen, ok := d.open(f, place{field: name, index: i, name: 1})
	if !ok {
		return
	}
	defer d.close()
	d.once(&seen, 2, "type", off)
	v.Metadata = makeList[Entry](d, seen[4], off)
	for d.next(&r, &f) {
		switch f.num {
		case 1:
			v.Name = d.text(&f, "name")
		case 2:
			v.Type = d.typePointer(f, "type")
		case 3:
			v.DocString = d.text(&f, "doc_string")
		case 4:
			d.entry(extend(&v.Metadata), f, "metadata_props", len(v.Metadata)-1)
		}
	}
}

func (d *decoder) typePointer(f field, name string) *Type {
	t := makeOne[Type](d, f.off)
	if t != nil {
		d.typ(t, f, name, -1)
	}
	return t
}

// typ reads a TypeProto, whose one-of holds a message for each kind.
func (d *decoder) typ(t *Type, f field, name string, i int) {
	off := f.off
	r, seen, ok := d.open(f, place{field: name, index: i})
	if !ok {
		return
	}
	defer d.close()
	if !d.descend(off) {
		return
	}
	defer d.ascend()
	if n := seen[1] + seen[4] + seen[5] + seen[7] + seen[8] + seen[9]; n > 1 {
		d.failf(off, "%d types in one", n)
	}
	for d.next(&r, &f) {
		switch f.num {
		case 1:
			t.Kind = TensorType
			d.tensorType(t, f, "tensor_type")
		case 4:
			t.Kind = SequenceType
			d.elemType(t, f, "sequence_type")
		case 5:
			t.Kind = MapType
			d.mapType(t, f)
		case 6:
			t.Denotation = d.text(&f, "denotation")
		case 7:
			t.Kind = OpaqueType
			d.opaqueType(t, f)
		case 8:
			t.Kind = SparseTensorType
			d.tensorType(t, f, "sparse_tensor_type")
		case 9:
			t.Kind = OptionalType
			d.elemType(t, f, "optional_type")
		}
	}
}

// tensorType reads a TypeProto.Tensor or TypeProto.SparseTensor.
func (d *decoder) tensorType(t *Type, f field, name string) {
	off := f.off
	r, seen, ok := d.open(f, place{field: name, index: -1})
	if !ok {
		return
	}
	defer d.close()
	d.once(&seen, 2, "shape", off)
	for d.next(&r, &f) {
		switch f.num {
		case 1:
			t.Elem = DataType(d.int32(&f, "elem_type"))
		case 2:
			t.Shape = d.shape(f)
		}
	}
}

// shape reads a TensorShapeProto. The result is not nil unless there is an
// error.
func (d *decoder) shape(f field) []Dim {
	off := f.off
	r, seen, ok := d.open(f, place{field: "shape", index: -1})
	if !ok {
		return nil
	}
	defer d.close()
	if seen[1] > d.limits.MaxRank {
		d.failf(off, "rank %d is more than %d: %w", seen[1], d.limits.MaxRank, ErrLimit)
		return nil
	}
	dims := makeList[Dim](d, seen[1], off)
	if dims == nil {
		dims = []Dim{}
	}
	for d.next(&r, &f) {
		if f.num == 1 {
			d.dim(extend(&dims), f, len(dims)-1)
		}
	}
	return dims
}

// dim reads a TensorShapeProto.Dimension. Of dim_value and dim_param, which
// form a one-of, the last one counts.
func (d *decoder) dim(m *Dim, f field, i int) {
	r, _, ok := d.open(f, place{field: "dim", index: i})
	if !ok {
		return
	}
	defer d.close()
	for d.next(&r, &f) {
		switch f.num {
		case 1:
			v := d.int64(&f, "dim_value")
			if v < -1 {
				d.failf(f.off, "dim_value is %d, want 0 or more", v)
			}
			m.Param = ""
			if m.HasValue = v >= 0; m.HasValue {
				m.Value = v
			} else {
				m.Value = 0
			}
		case 2:
			m.HasValue, m.Value = false, 0
			m.Param = d.text(&f, "dim_param")
		case 3:
			m.Denotation = d.text(&f, "denotation")
		}
	}
}

// elemType reads a TypeProto.Sequence or TypeProto.Optional.
func (d *decoder) elemType(t *Type, f field, name string) {
	off := f.off
	r, seen, ok := d.open(f, place{field: name, index: -1})
	if !ok {
		return
	}
	defer d.close()
	d.once(&seen, 1, "elem_type", off)
	for d.next(&r, &f) {
		if f.num == 1 {
			t.Value = d.typePointer(f, "elem_type")
		}
	}
}

func (d *decoder) mapType(t *Type, f field) {
	off := f.off
	r, seen, ok := d.open(f, place{field: "map_type", index: -1})
	if !ok {
		return
	}
	defer d.close()
	d.once(&seen, 2, "value_type", off)
	for d.next(&r, &f) {
		switch f.num {
		case 1:
			t.Key = DataType(d.int32(&f, "key_type"))
		case 2:
			t.Value = d.typePointer(f, "value_type")
		}
	}
}

func (d *decoder) opaqueType(t *Type, f field) {
	r, _, ok := d.open(f, place{field: "opaque_type", index: -1})
	if !ok {
		return
	}
	defer d.close()
	for d.next(&r, &f) {
		switch f.num {
		case 1:
			t.OpaqueDomain = d.text(&f, "domain")
		case 2:
			t.OpaqueName = d.text(&f, "name")
		}
	}
}

package wire

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestRepeatedForms reads repeated numbers in each way a writer may put them.
func TestRepeatedForms(t *testing.T) {
	want := []int64{0, -1, 300, 1 << 40}
	unpacked := msg(vint(8, 0), vint(8, -1), vint(8, 300), vint(8, 1<<40))
	for name, form := range map[string][]byte{
		"packed":   packedInts(8, want...),
		"unpacked": unpacked,
		"split":    msg(packedInts(8, 0, -1), ldel(8, ""), packedInts(8, 300, 1<<40)),
		"mixed":    msg(vint(8, 0), packedInts(8, -1, 300), ldel(1, "a"), vint(8, 1<<40)),
	} {
		m, err := DecodeModel(withAttribute(form, vint(20, int64(AttrInts))), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := diff(want, m.Graph.Nodes[0].Attributes[0].Ints); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	floats := []float32{0, -1.5, 2}
	for name, form := range map[string][]byte{
		"packed":   ldel(7, msg(f32(1, 0)[1:], f32(1, -1.5)[1:], f32(1, 2)[1:])),
		"unpacked": msg(f32(7, 0), f32(7, -1.5), f32(7, 2)),
		"mixed":    msg(f32(7, 0), ldel(7, msg(f32(1, -1.5)[1:], f32(1, 2)[1:]))),
	} {
		m, err := DecodeModel(withAttribute(form), nil)
		if err != nil {
			t.Errorf("floats %s: %v", name, err)
			continue
		}
		if d := diff(floats, m.Graph.Nodes[0].Attributes[0].Floats); d != "" {
			t.Errorf("floats %s: %s", name, d)
		}
	}
}

// TestLastWins checks that of a scalar that is given twice the last counts.
func TestLastWins(t *testing.T) {
	m, err := DecodeModel(msg(vint(1, 3), ldel(2, "first"), inModel(ldel(2, "a"), ldel(2, "b")), ldel(2, "last")), nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.IRVersion != 8 || m.ProducerName != "last" || m.Graph.Name != "b" {
		t.Errorf("got ir_version %d, producer %q, graph %q", m.IRVersion, m.ProducerName, m.Graph.Name)
	}
	inDim := func(fields ...[]byte) []byte {
		return inModel(ldel(11, ldel(2, ldel(1, ldel(2, ldel(1, msg(fields...)))))))
	}
	dim := func(fields ...[]byte) Dim {
		m, err := DecodeModel(inDim(fields...), nil)
		if err != nil {
			t.Fatal(err)
		}
		return m.Graph.Inputs[0].Type.Tensor.Shape.Dims[0]
	}
	for _, c := range []struct{ got, want Dim }{
		{dim(), Dim{}},
		{dim(vint(1, 0)), Dim{HasValue: true}},
		{dim(ldel(2, "n"), ldel(2, "m")), Dim{Param: "m"}},
		{dim(ldel(2, ""), vint(1, 5)), Dim{HasValue: true, Value: 5}},
		{dim(vint(1, 5), vint(1, -1)), Dim{}},
		{dim(ldel(3, "DATA_BATCH"), vint(1, 1)), Dim{HasValue: true, Value: 1, Denotation: "DATA_BATCH"}},
	} {
		if c.got != c.want {
			t.Errorf("got %+v, want %+v", c.got, c.want)
		}
	}
	_, err = DecodeModel(inDim(ldel(2, "n"), vint(1, 5)), nil)
	wantError(t, err, "shape.dim[0]: both dim_value and dim_param are given")
}

// TestUnknownFields puts fields of every wire type that no schema has between
// those of a model.
func TestUnknownFields(t *testing.T) {
	group := protowire.AppendTag(nil, 500, protowire.StartGroupType)
	group = append(group, msg(vint(1, 7), ldel(2, "inside"), groups(3))...)
	group = protowire.AppendTag(group, 500, protowire.EndGroupType)
	junk := msg(vint(900, -1), ldel(901, "?"), f32(31, 1), group,
		protowire.AppendFixed64(protowire.AppendTag(nil, 40, protowire.Fixed64Type), 1))
	model := func(junk []byte) []byte {
		tensor := msg(junk, vint(2, 1), ldel(8, "w"), junk, ldel(9, "abcd"), junk)
		node := msg(junk, ldel(4, "Op"), ldel(1, "w"), junk, ldel(5, msg(ldel(1, "a"), junk, vint(3, 4))))
		value := msg(ldel(1, "x"), junk, ldel(2, msg(junk, ldel(1, msg(vint(1, 1), junk, ldel(2, msg(junk, ldel(1, msg(junk, vint(1, 3))))))))))
		return msg(junk, inModel(junk, ldel(5, tensor), ldel(1, node), ldel(11, value), junk), junk)
	}
	want, err := DecodeModel(model(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeModel(model(junk), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestAttributeKinds reads attributes with and without a type, as files of IR
// version 1 have them.
func TestAttributeKinds(t *testing.T) {
	tensor := msg(vint(2, 1), f32(4, 1))
	sparse := ldel(1, msg(vint(2, 1), packedInts(1, 0)))
	for _, c := range []struct {
		name  string
		value []byte
		kind  AttrKind
	}{
		{"f", f32(2, 1), AttrFloat},
		{"f of zero", f32(2, 0), AttrFloat},
		{"i", vint(3, 1), AttrInt},
		{"i of zero", vint(3, 0), AttrInt},
		{"s", ldel(4, "x"), AttrString},
		{"s of nothing", ldel(4, ""), AttrString},
		{"t", ldel(5, tensor), AttrTensor},
		{"g", ldel(6, ""), AttrGraph},
		{"floats", f32(7, 1), AttrFloats},
		{"ints", vint(8, 1), AttrInts},
		{"strings", ldel(9, "x"), AttrStrings},
		{"tensors", ldel(10, tensor), AttrTensors},
		{"graphs", ldel(11, ""), AttrGraphs},
		{"tp", ldel(14, ""), AttrType},
		{"type_protos", ldel(15, ""), AttrTypes},
		{"sparse_tensor", ldel(22, sparse), AttrSparseTensor},
		{"sparse_tensors", ldel(23, sparse), AttrSparseTensors},
		{"zeros beside the value", msg(vint(3, 0), f32(2, 0), ldel(4, ""), vint(8, 1)), AttrInts},
	} {
		for _, typed := range []bool{false, true} {
			value := c.value
			if typed {
				value = msg(c.value, vint(20, int64(c.kind)))
			}
			m, err := DecodeModel(withAttribute(value), nil)
			if err != nil {
				t.Errorf("%s, typed %v: %v", c.name, typed, err)
				continue
			}
			if got := m.Graph.Nodes[0].Attributes[0].Kind; got != c.kind {
				t.Errorf("%s, typed %v: %v, want %v", c.name, typed, got, c.kind)
			}
		}
	}
	for _, c := range []struct {
		name   string
		fields []byte
		want   Attribute
	}{
		{"nothing", nil, Attribute{Name: "a"}},
		{"int left out", vint(20, int64(AttrInt)), Attribute{Name: "a", Kind: AttrInt}},
		{"string left out", vint(20, int64(AttrString)), Attribute{Name: "a", Kind: AttrString, Bytes: []byte{}}},
		{"no ints", vint(20, int64(AttrInts)), Attribute{Name: "a", Kind: AttrInts}},
		{"reference", msg(vint(20, int64(AttrGraph)), ldel(21, "p")), Attribute{Name: "a", Kind: AttrGraph, RefName: "p"}},
		{"reference without type", ldel(21, "p"), Attribute{Name: "a", RefName: "p"}},
	} {
		m, err := DecodeModel(withAttribute(c.fields), nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d := diff(c.want, m.Graph.Nodes[0].Attributes[0]); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// TestValueFaults lists sequences and optionals that contradict themselves.
func TestValueFaults(t *testing.T) {
	tensor := msg(vint(2, 1), f32(4, 1))
	deep := []byte{}
	for range 100 {
		deep = msg(vint(2, int64(ValueSequence)), ldel(5, deep))
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"kind", msg(vint(2, int64(ValueMap)), ldel(3, tensor)), "MAP but there are 1 values of kind TENSOR"},
		{"unknown kind", vint(2, 6), "kind 6"},
		{"bad tensor", msg(vint(2, 1), ldel(3, tensor), ldel(3, vint(2, 99))), "sequence.tensor_values[1]"},
		{"depth", deep, "nested more than 64"},
		{"map without values", msg(vint(2, int64(ValueMap)), ldel(6, msg(vint(2, int64(Int64)), vint(3, 1)))), "map_values[0]: 1 keys but 0 values"},
		{"map with two kinds of keys", msg(vint(2, int64(ValueMap)), ldel(6, msg(vint(2, int64(Int64)), vint(3, 1), ldel(4, "k")))), "1 integer and 1 string keys"},
	} {
		_, err := DecodeSequence(c.data, nil)
		t.Log(err)
		wantError(t, err, c.want)
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"two values", msg(vint(2, 1), ldel(3, tensor), ldel(5, "")), "optional: elem_type is TENSOR but there are 1 values of kind SEQUENCE"},
		{"kind", msg(vint(2, int64(ValueSequence)), ldel(3, tensor)), "SEQUENCE but there are 1 values of kind TENSOR"},
		{"bad tensor", msg(vint(2, 1), ldel(3, vint(2, 99))), "optional.tensor_value"},
	} {
		_, err := DecodeOptional(c.data, nil)
		wantError(t, err, c.want)
	}
	if _, err := DecodeTensor([]byte{0x80}, nil); err == nil || !bytes.Contains([]byte(err.Error()), []byte("tensor: field tag")) {
		t.Errorf("got %v", err)
	}
}

package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// typedFields gives, for each element type, the typed field that holds it and
// a second way to write it down: the bytes of one element, made from its bits.
var typedFields = map[DataType]struct {
	field protowire.Number
	bytes int // of one element; 0 for packed sub-byte types
}{
	Float: {4, 4}, Double: {10, 8}, Complex64: {4, 8}, Complex128: {10, 16},
	Int64: {7, 8}, Uint64: {11, 8}, Uint32: {11, 4}, Int32: {5, 4},
	Int16: {5, 2}, Uint16: {5, 2}, Int8: {5, 1}, Uint8: {5, 1}, Bool: {5, 1},
	Float16: {5, 2}, BFloat16: {5, 2},
	Float8E4M3FN: {5, 1}, Float8E4M3FNUZ: {5, 1}, Float8E5M2: {5, 1},
	Float8E5M2FNUZ: {5, 1}, Float8E8M0: {5, 1},
	Uint4: {5, 0}, Int4: {5, 0}, Float4E2M1: {5, 0}, Uint2: {5, 0}, Int2: {5, 0},
}

// writeTyped puts the elements that raw holds into the typed field, one
// varint or fixed number at a time, by the rules of onnx.proto3.
func writeTyped(d DataType, raw []byte) (values [][]byte) {
	switch t := typedFields[d]; t.field {
	case 4:
		for ; len(raw) > 0; raw = raw[4:] {
			values = append(values, raw[:4])
		}
	case 10:
		for ; len(raw) > 0; raw = raw[8:] {
			values = append(values, raw[:8])
		}
	case 7, 11:
		for ; len(raw) > 0; raw = raw[t.bytes:] {
			v := uint64(0)
			for i := range t.bytes {
				v |= uint64(raw[i]) << (8 * i)
			}
			values = append(values, protowire.AppendVarint(nil, v))
		}
	case 5:
		width := max(t.bytes, 1)
		for ; len(raw) > 0; raw = raw[width:] {
			v := int64(0)
			switch d {
			case Int8:
				v = int64(int8(raw[0]))
			case Int16:
				v = int64(int16(binary.LittleEndian.Uint16(raw)))
			case Int32:
				v = int64(int32(binary.LittleEndian.Uint32(raw)))
			default:
				for i := range width {
					v |= int64(raw[i]) << (8 * i)
				}
			}
			values = append(values, protowire.AppendVarint(nil, uint64(v)))
		}
	}
	return values
}

// TestTensorContents writes random elements of every type as raw_data and in
// every form of the typed field, and expects the same bytes of all.
func TestTensorContents(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	wireType := map[protowire.Number]protowire.Type{
		4: protowire.Fixed32Type, 10: protowire.Fixed64Type,
		5: protowire.VarintType, 7: protowire.VarintType, 11: protowire.VarintType,
	}
	for d := Float; d < numDataTypes; d++ {
		if d == String {
			continue
		}
		for _, dims := range [][]int64{{}, {0}, {1}, {3}, {2, 0, 5}, {7, 3}, {1, 2, 9}} {
			t.Run(fmt.Sprint(d, dims), func(t *testing.T) {
				n := int64(1)
				for _, v := range dims {
					n *= v
				}
				raw := make([]byte, (int(n)*d.Bits()+7)/8)
				for i := range raw {
					raw[i] = byte(rng.Uint32())
					if d == Bool {
						raw[i] &= 1
					}
				}
				field := typedFields[d].field
				values := writeTyped(d, raw)
				var unpacked, split []byte
				for i, v := range values {
					one := append(protowire.AppendTag(nil, field, wireType[field]), v...)
					unpacked = append(unpacked, one...)
					if i%3 == 1 {
						split = append(split, one...)
					} else {
						split = append(split, ldel(field, v)...)
					}
				}
				forms := map[string][]byte{
					"raw":      ldel(9, raw),
					"packed":   ldel(field, bytes.Join(values, nil)),
					"unpacked": unpacked,
					"split":    split,
				}
				for name, form := range forms {
					shape := packedInts(1, dims...)
					tensor, err := DecodeTensor(msg(shape, vint(2, int64(d)), form), nil)
					if err != nil {
						t.Errorf("%s: %v", name, err)
						continue
					}
					got, err := tensor.Bytes()
					if err != nil || !bytes.Equal(got, raw) {
						t.Errorf("%s: got %x, %v; want %x", name, got, err, raw)
					}
				}
			})
		}
	}
}

// TestNoCopy checks that weights alias the input where they can.
func TestNoCopy(t *testing.T) {
	raw := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	for name, fields := range map[string][]byte{
		"raw_data":    msg(vint(2, int64(Int64)), ldel(9, raw)),
		"float_data":  msg(vint(2, int64(Complex64)), ldel(4, raw)),
		"double_data": msg(vint(2, int64(Double)), ldel(10, raw)),
	} {
		data := withInitializer(fields)
		m, err := DecodeModel(data, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := m.Graph.Initializers[0].Bytes()
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(data, raw)
		data[at] = 99
		if b[0] != 99 {
			t.Errorf("%s is a copy", name)
		}
		if cap(b) != len(b) {
			t.Errorf("%s: an append would overwrite what follows", name)
		}
	}
}

func TestInt32DataSigns(t *testing.T) {
	for _, c := range []struct {
		d     DataType
		value int64
		want  []byte // nil for an error
	}{
		{Int8, -1, []byte{0xff}},
		{Int8, 255, []byte{0xff}},
		{Int8, -128, []byte{0x80}},
		{Int8, -129, nil},
		{Int8, 256, nil},
		{Uint8, 255, []byte{0xff}},
		{Uint8, 256, nil},
		{Float16, 0xffff, []byte{0xff, 0xff}},
		{Float16, -1, []byte{0xff, 0xff}},
		{Float16, 0x10000, nil},
		{Bool, 1, []byte{1}},
		{Bool, 2, nil},
		{Bool, -1, nil},
		{Int32, math.MinInt32, []byte{0, 0, 0, 0x80}},
		{Int32, math.MaxUint32, []byte{0xff, 0xff, 0xff, 0xff}}, // not sign-extended
	} {
		tensor, err := DecodeTensor(msg(vint(2, int64(c.d)), packedInts(5, c.value)), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tensor.Bytes()
		if c.want == nil {
			wantError(t, err, "int32_data[0]", fmt.Sprint(c.value), c.d.String())
			continue
		}
		if err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("%v %d: got %x, %v; want %x", c.d, c.value, got, err, c.want)
		}
	}
}

func TestUint32Range(t *testing.T) {
	tensor, err := DecodeTensor(msg(vint(2, int64(Uint32)), packedInts(11, 1<<32)), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = tensor.Bytes()
	wantError(t, err, "uint64_data[0] is 4294967296", "UINT32")
}

func TestStrings(t *testing.T) {
	tensor, err := DecodeTensor(msg(packedInts(1, 3), vint(2, int64(String)), ldel(6, "a"), ldel(6, ""), ldel(6, "\xff")), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tensor.Strings()
	if err != nil {
		t.Fatal(err)
	}
	if d := diff([]string{"a", "", "\xff"}, got); d != "" {
		t.Error(d)
	}
	_, err = tensor.Bytes()
	wantError(t, err, "strings")
	_, err = (&Tensor{Name: "x", DataType: Float, Dims: []int64{0}}).Strings()
	wantError(t, err, `"x"`, "FLOAT")
}

func TestElementCounts(t *testing.T) {
	for _, c := range []struct {
		dims []int64
		want int64 // -1 for an error
	}{
		{nil, 1},
		{[]int64{0}, 0},
		{[]int64{2, 3, 4}, 24},
		{[]int64{-1}, -1},
		{[]int64{0, -1}, -1},
		{[]int64{math.MaxInt64}, math.MaxInt64},
		{[]int64{math.MaxInt64, 2}, -1},
		{[]int64{1 << 32, 1 << 32}, -1},
		{[]int64{1 << 32, 0, 1 << 32}, -1}, // its strides would overflow
		{[]int64{1 << 31, 1 << 31}, 1 << 62},
	} {
		got, err := numElements(c.dims)
		if c.want < 0 {
			wantError(t, err, "dims")
		} else if got != c.want || err != nil {
			t.Errorf("%v: %d, %v; want %d", c.dims, got, err, c.want)
		}
	}
}

func TestSparseIndices(t *testing.T) {
	values := func(n int64) *Tensor {
		return &Tensor{Name: "s", DataType: Float, Dims: []int64{n}, Raw: make([]byte, 4*n)}
	}
	indices := func(dims []int64, list ...int64) *Tensor {
		var raw []byte
		for _, v := range list {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
		}
		return &Tensor{DataType: Int64, Dims: dims, Raw: raw}
	}
	for _, c := range []struct {
		name string
		s    SparseTensor
		want []int64
		err  string
	}{
		{"linear", SparseTensor{values(3), indices([]int64{3}, 0, 5, 11), []int64{3, 4}}, []int64{0, 5, 11}, ""},
		{"tuples", SparseTensor{values(3), indices([]int64{3, 2}, 0, 0, 1, 1, 2, 3), []int64{3, 4}}, []int64{0, 5, 11}, ""},
		{"none", SparseTensor{values(0), nil, []int64{3, 4}}, nil, ""},
		{"scalar", SparseTensor{values(1), indices([]int64{1, 0}), nil}, []int64{0}, ""},
		{"past the end", SparseTensor{values(1), indices([]int64{1}, 12), []int64{3, 4}}, nil, "12"},
		{"negative", SparseTensor{values(1), indices([]int64{1}, -1), []int64{3, 4}}, nil, "-1"},
		{"tuple out of range", SparseTensor{values(1), indices([]int64{1, 2}, 0, 4), []int64{3, 4}}, nil, "4"},
		{"descending", SparseTensor{values(2), indices([]int64{2}, 3, 2), []int64{3, 4}}, nil, "more than 3"},
		{"twice", SparseTensor{values(2), indices([]int64{2}, 3, 3), []int64{3, 4}}, nil, "more than 3"},
		{"rank", SparseTensor{values(1), indices([]int64{1, 3}, 0, 0, 0), []int64{3, 4}}, nil, "[1 3]"},
		{"overflow", SparseTensor{values(0), nil, []int64{1 << 40, 1 << 40}}, nil, "overflows"},
		{"no values", SparseTensor{nil, nil, []int64{3}}, nil, "no values"},
		{"no indices", SparseTensor{values(2), nil, []int64{3}}, nil, "no indices"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := decode[SparseTensor](encode(nil, &c.s), "sparse_tensor", nil)
			var got []int64
			if err == nil {
				got, err = s.Linear(nil)
			}
			if c.err != "" {
				wantError(t, err, c.err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestDataTypeNames(t *testing.T) {
	for _, c := range []struct {
		d    DataType
		name string
		bits int
	}{
		{Undefined, "UNDEFINED", 0}, {Float, "FLOAT", 32}, {String, "STRING", 0},
		{Complex128, "COMPLEX128", 128}, {Float4E2M1, "FLOAT4E2M1", 4},
		{Int2, "INT2", 2}, {27, "DataType(27)", 0}, {-1, "DataType(-1)", 0},
	} {
		if c.d.String() != c.name || c.d.Bits() != c.bits {
			t.Errorf("%d: %v, %d bits; want %s, %d", int32(c.d), c.d, c.d.Bits(), c.name, c.bits)
		}
	}
}

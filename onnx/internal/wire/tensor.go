package wire

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"google.golang.org/protobuf/encoding/protowire"
)

// DecodeTensor reads a TensorProto, such as a file of ONNX test data. The
// result aliases data. A nil l stands for the default limits.
func DecodeTensor(data []byte, l *Limits) (*Tensor, error) {
	return decode(data, tensorSchema, "tensor", l)
}

// AppendTensor appends the encoding of t, a TensorProto, to b and returns it.
func AppendTensor(b []byte, t *Tensor) []byte { return write(b, tensorSchema, t) }

// A Tensor is a TensorProto. Its elements are in row-major order in exactly
// one of: Raw, the typed field of its DataType, or an external file.
//
// After decoding, the contents are known to have the size that DataType and
// Dims call for, so that [Tensor.Bytes] is bounded by what the file holds.
type Tensor struct {
	Name      string
	DocString string
	DataType  DataType
	Dims      []int64 // not negative

	// Raw is raw_data: elements of fixed width, little-endian, sub-byte types
	// packed from the least significant bits up. Nil when the field is absent.
	// It aliases the input.
	Raw []byte

	// The typed fields in their packed wire form: little-endian IEEE 754 for
	// FloatData and DoubleData, varints for the others. They alias the input
	// when it has them in one piece, as every current writer leaves them.
	FloatData  []byte
	DoubleData []byte
	Int32Data  []byte
	Int64Data  []byte
	Uint64Data []byte
	StringData [][]byte // alias the input

	// External says that the elements are in another file, which ExternalData
	// describes; see [Loader].
	External     bool
	ExternalData []Entry

	// Segment, when not nil, says that the contents are a part of the tensor.
	// No known writer makes such files, and Bytes refuses them.
	Segment  *Segment
	Metadata []Entry
}

func (*Tensor) schema() *schema[Tensor] { return tensorSchema }

var tensorSchema = &schema[Tensor]{
	name:  8,
	quota: quotaTensors,
	check: func(t *Tensor, _ fieldSet) error { return t.check() },
	fields: []field[Tensor]{
		1:  ranked(ints("dims", func(t *Tensor) *[]int64 { return &t.Dims })),
		2:  integer("data_type", func(t *Tensor) *DataType { return &t.DataType }),
		3:  message("segment", func(t *Tensor) **Segment { return &t.Segment }),
		4:  contents(floatStore, packed("float_data", protowire.Fixed32Type, func(t *Tensor) *[]byte { return &t.FloatData })),
		5:  contents(int32Store, packed("int32_data", protowire.VarintType, func(t *Tensor) *[]byte { return &t.Int32Data })),
		6:  contents(stringStore, blobs("string_data", func(t *Tensor) *[][]byte { return &t.StringData })),
		7:  contents(int64Store, packed("int64_data", protowire.VarintType, func(t *Tensor) *[]byte { return &t.Int64Data })),
		8:  text("name", func(t *Tensor) *string { return &t.Name }),
		9:  contents(rawStore, rawData),
		10: contents(doubleStore, packed("double_data", protowire.Fixed64Type, func(t *Tensor) *[]byte { return &t.DoubleData })),
		11: contents(uint64Store, packed("uint64_data", protowire.VarintType, func(t *Tensor) *[]byte { return &t.Uint64Data })),
		12: text("doc_string", func(t *Tensor) *string { return &t.DocString }),
		13: messages("external_data", func(t *Tensor) *[]Entry { return &t.ExternalData }),
		14: flag("data_location", func(t *Tensor) *bool { return &t.External }),
		16: messages("metadata_props", func(t *Tensor) *[]Entry { return &t.Metadata }),
	},
}

// rawData is written whenever it is there: a tensor without elements may have
// an empty one.
var rawData = when(
	blob("raw_data", func(t *Tensor) *[]byte { return &t.Raw }),
	func(t *Tensor) bool { return t.Raw != nil })

// contents returns f as the field that holds the elements of a store's types.
func contents(s store, f field[Tensor]) field[Tensor] {
	f.kind = int(s)
	return f
}

// A Segment is the half-open range of elements that a partial tensor holds.
type Segment struct {
	Begin, End int64
}

func (*Segment) schema() *schema[Segment] { return segmentSchema }

var segmentSchema = &schema[Segment]{fields: []field[Segment]{
	1: integer("begin", func(s *Segment) *int64 { return &s.Begin }),
	2: integer("end", func(s *Segment) *int64 { return &s.End }),
}}

// numElements multiplies dims. A zero among them does not excuse the others:
// the product of the rest must fit as well, because strides are made of it.
func numElements(dims []int64) (int64, error) {
	n, empty := uint64(1), false
	for i, d := range dims {
		switch {
		case d < 0:
			return 0, fmt.Errorf("dims[%d] is %d, want 0 or more", i, d)
		case d == 0:
			empty = true
			continue
		}
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 || lo > math.MaxInt64 {
			return 0, fmt.Errorf("dims %v: the element count overflows", dims)
		}
		n = lo
	}
	if empty {
		return 0, nil
	}
	return int64(n), nil
}

// size returns the elements of t and the bytes they take: 0 bytes for
// strings. The bytes are known to fit an int.
func (t *Tensor) size() (elements, bytes int64, err error) {
	if !t.DataType.Valid() {
		return 0, 0, fmt.Errorf("element type %v is not one a tensor can have", t.DataType)
	}
	n, err := numElements(t.Dims)
	if err != nil {
		return 0, 0, err
	}
	width := uint64(t.DataType.Bits())
	hi, lo := bits.Mul64(uint64(n), width)
	if hi != 0 || (lo+7)/8 > math.MaxInt || lo > math.MaxUint64-7 {
		return 0, 0, fmt.Errorf("dims %v of %v: the byte count overflows", t.Dims, t.DataType)
	}
	return n, int64((lo + 7) / 8), nil
}

// content returns the only field of t that holds elements, nil when none does.
func (t *Tensor) content() (found *field[Tensor], err error) {
	fields := schemaOf[Tensor]().fields
	for i := range fields {
		f := &fields[i]
		switch {
		case f.kind == 0 || f.count(t) == 0:
		case found != nil:
			return nil, fmt.Errorf("both %s and %s hold data", found.name, f.name)
		default:
			found = f
		}
	}
	return found, nil
}

// check reports contents that do not agree with DataType and Dims.
func (t *Tensor) check() error {
	n, size, err := t.size()
	if err != nil {
		return err
	}
	f, err := t.content()
	if err != nil {
		return err
	}
	if s := t.Segment; s != nil {
		if s.Begin < 0 || s.End < s.Begin || s.End > n {
			return fmt.Errorf("segment [%d, %d) is not within the %d elements", s.Begin, s.End, n)
		}
		return nil
	}
	if t.External {
		switch {
		case f != nil:
			return fmt.Errorf("data_location is EXTERNAL but %s holds data", f.name)
		case t.DataType == String:
			return errors.New("strings cannot be in an external file")
		}
		_, err := t.externalRange()
		return err
	}
	switch {
	case f == nil && n == 0:
		return nil
	case f == nil:
		return fmt.Errorf("no data for %d elements of %v (dims %v)", n, t.DataType, t.Dims)
	case store(f.kind) == rawStore && t.DataType == String:
		return errors.New("strings in raw_data")
	case store(f.kind) == rawStore:
		if int64(len(t.Raw)) != size {
			return fmt.Errorf("raw_data has %d bytes, want %d for %v %v", len(t.Raw), size, t.DataType, t.Dims)
		}
		return nil
	case store(f.kind) != t.DataType.store():
		return fmt.Errorf("%s holds the data of a %v tensor", f.name, t.DataType)
	}
	want := n
	switch {
	case t.DataType == Complex64 || t.DataType == Complex128:
		want = 2 * n // cannot overflow: size is 8 or 16 times n
	case t.DataType.Bits() < 8 && t.DataType != String:
		want = size
	}
	if got := f.count(t); int64(got) != want {
		return fmt.Errorf("%s has %d values, want %d for %v %v", f.name, got, want, t.DataType, t.Dims)
	}
	return nil
}

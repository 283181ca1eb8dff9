package wire

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// DecodeTensor reads a TensorProto, such as a file of ONNX test data. The
// result aliases data. A nil l stands for the default limits.
func DecodeTensor(data []byte, l *Limits) (*Tensor, error) {
	return decode[Tensor](data, "tensor", l)
}

// AppendTensor appends the encoding of t, a TensorProto, to b and returns it.
func AppendTensor(b []byte, t *Tensor) []byte { return encode(b, t) }

// A Tensor is a TensorProto. Its elements are in row-major order in exactly
// one of: Raw, the typed field of its DataType, or an external file.
//
// After decoding, the contents are known to have the size that DataType and
// Dims call for, so that [Tensor.Bytes] is bounded by what the file holds.
type Tensor struct {
	Name      string   `onnx:"8 name label"`
	DocString string   `onnx:"12 doc_string"`
	DataType  DataType `onnx:"2 data_type"`
	Dims      []int64  `onnx:"1 dims ranked"` // not negative

	// Raw is raw_data: elements of fixed width, little-endian, sub-byte types
	// packed from the least significant bits up. Nil when the field is absent.
	// It aliases the input.
	Raw []byte `onnx:"9 raw_data"`

	// The typed fields in their packed wire form: little-endian IEEE 754 for
	// FloatData and DoubleData, varints for the others. They alias the input
	// when it has them in one piece, as every current writer leaves them.
	FloatData  []byte   `onnx:"4 float_data fixed32"`
	DoubleData []byte   `onnx:"10 double_data fixed64"`
	Int32Data  []byte   `onnx:"5 int32_data varint"`
	Int64Data  []byte   `onnx:"7 int64_data varint"`
	Uint64Data []byte   `onnx:"11 uint64_data varint"`
	StringData [][]byte `onnx:"6 string_data"` // alias the input

	// External says that the elements are in another file, which ExternalData
	// describes; see [Loader].
	External     bool    `onnx:"14 data_location"`
	ExternalData []Entry `onnx:"13 external_data"`

	// Segment, when not nil, says that the contents are a part of the tensor.
	// No known writer makes such files, and Bytes refuses them.
	Segment  *Segment `onnx:"3 segment"`
	Metadata []Entry  `onnx:"16 metadata_props"`
}

// holds says of raw_data that it is written whenever it is there: a tensor without
// elements may have an empty one.
func (t *Tensor) holds(num int) (holds, ok bool) { return t.Raw != nil, store(num) == rawStore }

// A Segment is the half-open range of elements that a partial tensor holds.
type Segment struct {
	Begin int64 `onnx:"1 begin"`
	End   int64 `onnx:"2 end"`
}

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

// content returns the only field of t that holds elements and how many values it
// has; noStore when none does.
func (t *Tensor) content() (found store, values int, err error) {
	for _, s := range stores {
		n := countIn(t, int(s))
		switch {
		case n == 0:
		case found != noStore:
			return noStore, 0, fmt.Errorf("both %v and %v hold data", found, s)
		default:
			found, values = s, n
		}
	}
	return found, values, nil
}

// settle reports contents that do not agree with DataType and Dims.
func (t *Tensor) settle(fieldSet) error {
	n, size, err := t.size()
	if err != nil {
		return err
	}
	f, got, err := t.content()
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
		case f != noStore:
			return fmt.Errorf("data_location is EXTERNAL but %v holds data", f)
		case t.DataType == String:
			return errors.New("strings cannot be in an external file")
		}
		_, err := t.externalRange()
		return err
	}
	switch {
	case f == noStore && n == 0:
		return nil
	case f == noStore:
		return fmt.Errorf("no data for %d elements of %v (dims %v)", n, t.DataType, t.Dims)
	case f == rawStore && t.DataType == String:
		return errors.New("strings in raw_data")
	case f == rawStore:
		if int64(len(t.Raw)) != size {
			return fmt.Errorf("raw_data has %d bytes, want %d for %v %v", len(t.Raw), size, t.DataType, t.Dims)
		}
		return nil
	case f != t.DataType.store():
		return fmt.Errorf("%v holds the data of a %v tensor", f, t.DataType)
	}
	want := n
	switch {
	case t.DataType == Complex64 || t.DataType == Complex128:
		want = 2 * n // cannot overflow: size is 8 or 16 times n
	case t.DataType.Bits() < 8 && t.DataType != String:
		want = size
	}
	if int64(got) != want {
		return fmt.Errorf("%v has %d values, want %d for %v %v", f, got, want, t.DataType, t.Dims)
	}
	return nil
}

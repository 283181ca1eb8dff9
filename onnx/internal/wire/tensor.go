package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"google.golang.org/protobuf/encoding/protowire"
)

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
	// describes; see [Tensor.ExternalRange] and [Loader].
	External     bool
	ExternalData []Entry

	// Segment, when not nil, says that the contents are a part of the tensor.
	// No known writer makes such files, and Bytes refuses them.
	Segment  *Segment
	Metadata []Entry
}

// A Segment is the half-open range of elements that a partial tensor holds.
type Segment struct {
	Begin, End int64
}

// A SparseTensor is a SparseTensorProto: Values of shape [nnz], at Indices of
// shape [nnz] (linear, row-major) or [nnz, rank], in a tensor of shape Dims
// that is zero elsewhere. Its name is that of Values. Indices may be nil when
// there are no values.
type SparseTensor struct {
	Values  *Tensor
	Indices *Tensor
	Dims    []int64
}

// NumElements returns the product of the dimensions, 1 for a scalar.
func (t *Tensor) NumElements() (int64, error) {
	n, err := numElements(t.Dims)
	if err != nil {
		return 0, fmt.Errorf("tensor %s: %w", quote(t.Name), err)
	}
	return n, nil
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

// tensorContent is one place where the elements of a tensor may be.
type tensorContent struct {
	field string
	store store // noStore for raw_data
	size  int   // bytes, or strings
	count int   // numbers in the field, or strings; bytes of raw_data
}

// content returns the only field of t that is not empty; ok is false when
// all are.
func (t *Tensor) content() (c tensorContent, ok bool, err error) {
	for _, f := range [...]tensorContent{
		{"raw_data", noStore, len(t.Raw), len(t.Raw)},
		{"float_data", floatStore, len(t.FloatData), len(t.FloatData) / 4},
		{"int32_data", int32Store, len(t.Int32Data), 0},
		{"int64_data", int64Store, len(t.Int64Data), 0},
		{"double_data", doubleStore, len(t.DoubleData), len(t.DoubleData) / 8},
		{"uint64_data", uint64Store, len(t.Uint64Data), 0},
		{"string_data", stringStore, len(t.StringData), len(t.StringData)},
	} {
		if f.size == 0 {
			continue
		}
		if ok {
			return c, true, fmt.Errorf("both %s and %s hold data", c.field, f.field)
		}
		c, ok = f, true
	}
	switch c.store {
	case int32Store:
		c.count = countVarints(t.Int32Data)
	case int64Store:
		c.count = countVarints(t.Int64Data)
	case uint64Store:
		c.count = countVarints(t.Uint64Data)
	}
	return c, ok, nil
}

// check reports contents that do not agree with DataType and Dims.
func (t *Tensor) check() error {
	n, size, err := t.size()
	if err != nil {
		return err
	}
	c, ok, err := t.content()
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
		case ok:
			return fmt.Errorf("data_location is EXTERNAL but %s holds data", c.field)
		case t.DataType == String:
			return errors.New("strings cannot be in an external file")
		}
		_, err := t.externalRange(size)
		return err
	}
	switch {
	case !ok && n == 0:
		return nil
	case !ok:
		return fmt.Errorf("no data for %d elements of %v (dims %v)", n, t.DataType, t.Dims)
	case c.store == noStore && t.DataType == String:
		return errors.New("strings in raw_data")
	case c.store == noStore:
		if int64(c.size) != size {
			return fmt.Errorf("raw_data has %d bytes, want %d for %v %v", c.size, size, t.DataType, t.Dims)
		}
		return nil
	case c.store != t.DataType.store():
		return fmt.Errorf("%s holds the data of a %v tensor", c.field, t.DataType)
	}
	want := n
	switch {
	case t.DataType == Complex64 || t.DataType == Complex128:
		want = 2 * n // cannot overflow: size is 8 or 16 times n
	case t.DataType.Bits() < 8 && t.DataType != String:
		want = size
	}
	if int64(c.count) != want {
		return fmt.Errorf("%s has %d values, want %d for %v %v", c.field, c.count, want, t.DataType, t.Dims)
	}
	return nil
}

// Bytes returns the elements in the layout of raw_data: little-endian, in
// row-major order, complex numbers as real and imaginary part, 4- and 2-bit
// elements packed into bytes from the least significant bits up.
//
// The result aliases the input, and must not be written to, where that has
// the elements in this form: raw_data, float_data and double_data. Otherwise
// it is fresh. Strings (see [Tensor.Strings]), external data (see [Loader])
// and segments are errors, as is a bool other than 0 and 1.
func (t *Tensor) Bytes() ([]byte, error) {
	b, err := t.bytes()
	if err != nil {
		return nil, fmt.Errorf("tensor %s: %w", quote(t.Name), err)
	}
	return b, nil
}

func (t *Tensor) bytes() ([]byte, error) {
	switch {
	case t.DataType == String:
		return nil, errors.New("elements are strings")
	case t.External:
		return nil, errors.New("elements are in an external file")
	case t.Segment != nil:
		return nil, errors.New("segmented tensors are not supported")
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	switch {
	case len(t.Raw) > 0:
		return t.Raw, t.checkBools(t.Raw)
	case len(t.FloatData) > 0:
		return t.FloatData, nil
	case len(t.DoubleData) > 0:
		return t.DoubleData, nil
	case len(t.Int32Data) > 0:
		return t.narrow()
	case len(t.Int64Data) > 0:
		return widen(t.Int64Data, 8)
	case len(t.Uint64Data) > 0:
		return widen(t.Uint64Data, t.DataType.Bits()/8)
	}
	return []byte{}, nil
}

// checkBools reports a byte of a bool tensor other than 0 and 1: a Go bool
// with such a representation breaks what the compiler assumes of it.
func (t *Tensor) checkBools(b []byte) error {
	if t.DataType != Bool {
		return nil
	}
	for i, v := range b {
		if v > 1 {
			return fmt.Errorf("bool element %d is %d", i, v)
		}
	}
	return nil
}

// narrow converts int32_data. Each value holds the bits of an element, read
// as signed or unsigned: writers differ in whether -1 as an int8 is -1 or 255.
// For sub-byte types each holds a packed byte.
func (t *Tensor) narrow() ([]byte, error) {
	width := max(t.DataType.Bits(), 8)
	lo, hi := -int64(1)<<(width-1), int64(1)<<width-1
	if t.DataType == Bool {
		lo, hi = 0, 1
	}
	out := make([]byte, 0, countVarints(t.Int32Data)*width/8)
	for rest, i := t.Int32Data, 0; len(rest) > 0; i++ {
		u, n := protowire.ConsumeVarint(rest)
		if n < 0 {
			return nil, fmt.Errorf("int32_data[%d]: %w", i, protowire.ParseError(n))
		}
		rest = rest[n:]
		// As everywhere in protocol buffers, an int32 is the low half of its
		// varint: negative ones come sign-extended or not.
		v := int32(u)
		if int64(v) < lo || int64(v) > hi {
			return nil, fmt.Errorf("int32_data[%d] is %d, out of range for %v", i, v, t.DataType)
		}
		switch width {
		case 8:
			out = append(out, byte(v))
		case 16:
			out = binary.LittleEndian.AppendUint16(out, uint16(v))
		default:
			out = binary.LittleEndian.AppendUint32(out, uint32(v))
		}
	}
	return out, nil
}

// widen converts varints to little-endian integers of 4 or 8 bytes.
func widen(packed []byte, width int) ([]byte, error) {
	out := make([]byte, 0, countVarints(packed)*width)
	for rest, i := packed, 0; len(rest) > 0; i++ {
		u, n := protowire.ConsumeVarint(rest)
		switch {
		case n < 0:
			return nil, fmt.Errorf("value %d: %w", i, protowire.ParseError(n))
		case width == 4 && u > math.MaxUint32:
			return nil, fmt.Errorf("uint64_data[%d] is %d, out of range for %v", i, u, Uint32)
		case width == 4:
			out = binary.LittleEndian.AppendUint32(out, uint32(u))
		default:
			out = binary.LittleEndian.AppendUint64(out, u)
		}
		rest = rest[n:]
	}
	return out, nil
}

// countVarints returns how many varints end in packed.
func countVarints(packed []byte) int {
	n := 0
	for _, b := range packed {
		if b < 0x80 {
			n++
		}
	}
	return n
}

// Strings returns the elements of a string tensor, copied. They are UTF-8 by
// convention, which is not checked.
func (t *Tensor) Strings() ([]string, error) {
	if t.DataType != String {
		return nil, fmt.Errorf("tensor %s: elements are %v, not strings", quote(t.Name), t.DataType)
	}
	if t.Segment != nil {
		return nil, fmt.Errorf("tensor %s: segmented tensors are not supported", quote(t.Name))
	}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("tensor %s: %w", quote(t.Name), err)
	}
	out := make([]string, len(t.StringData))
	for i, s := range t.StringData {
		out[i] = string(s)
	}
	return out, nil
}

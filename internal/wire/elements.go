package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Bytes returns the elements of a decoded tensor in the layout of raw_data:
// little-endian, in row-major order, complex numbers as real and imaginary part,
// 4- and 2-bit elements packed into bytes from the least significant bits up.
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
		return nil, errSegmented
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
		return t.unpack(int64Store, t.Int64Data, 8, func(u uint64) (int64, bool) { return int64(u), true })
	case len(t.Uint64Data) > 0:
		return t.unpack(uint64Store, t.Uint64Data, t.DataType.Bits()/8, func(u uint64) (int64, bool) {
			return int64(u), t.DataType == Uint64 || u <= math.MaxUint32
		})
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
	// As everywhere in protocol buffers, an int32 is the low half of its
	// varint: negative ones come sign-extended or not.
	return t.unpack(int32Store, t.Int32Data, width/8, func(u uint64) (int64, bool) {
		v := int64(int32(u))
		return v, lo <= v && v <= hi
	})
}

// unpack converts the varints of a store to little-endian integers of width bytes.
// value returns the integer that a varint stands for, and whether an element may
// be that.
func (t *Tensor) unpack(from store, packed []byte, width int, value func(uint64) (int64, bool)) ([]byte, error) {
	out := make([]byte, 0, countPacked(packed, protowire.VarintType)*width)
	var element [8]byte
	for i := 0; len(packed) > 0; i++ {
		u, n := protowire.ConsumeVarint(packed)
		if n < 0 {
			return nil, fmt.Errorf("%v[%d]: %w", from, i, protowire.ParseError(n))
		}
		packed = packed[n:]
		v, ok := value(u)
		if !ok {
			return nil, fmt.Errorf("%v[%d] is %d, out of range for %v", from, i, v, t.DataType)
		}
		binary.LittleEndian.PutUint64(element[:], uint64(v))
		out = append(out, element[:width]...)
	}
	return out, nil
}

// Strings returns the elements of a string tensor, copied. They are UTF-8 by
// convention, which is not checked.
func (t *Tensor) Strings() ([]string, error) {
	switch {
	case t.DataType != String:
		return nil, fmt.Errorf("tensor %s: elements are %v, not strings", quote(t.Name), t.DataType)
	case t.Segment != nil:
		return nil, fmt.Errorf("tensor %s: %w", quote(t.Name), errSegmented)
	}
	out := make([]string, len(t.StringData))
	for i, s := range t.StringData {
		out[i] = string(s)
	}
	return out, nil
}

var errSegmented = errors.New("segmented tensors are not supported")

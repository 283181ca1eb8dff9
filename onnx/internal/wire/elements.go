package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

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

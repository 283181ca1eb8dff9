package wire

import (
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// A reader walks the fields of one encoded message.
type reader struct {
	rest []byte
	off  int // position of rest[0] in the whole input, for errors
}

// A record is one field of an encoded message, or one piece of a repeated one.
type record struct {
	num  protowire.Number
	typ  protowire.Type
	off  int    // position of the value in the whole input
	bits uint64 // the value of a varint, fixed32 or fixed64
	// data aliases the input: the payload of a length-delimited field, and the
	// encoded value of any other.
	data []byte
}

// next reads the next record into f. It returns false at the end of the
// message. Groups, which ONNX does not use, are passed over; maxDepth bounds
// their nesting.
func (r *reader) next(f *record, maxDepth int) (bool, error) {
	for {
		if len(r.rest) == 0 {
			return false, nil
		}
		num, typ, n := protowire.ConsumeTag(r.rest)
		if n < 0 {
			return false, fmt.Errorf("field tag: %w", protowire.ParseError(n))
		}
		r.skip(n)
		f.num, f.typ, f.off, f.bits = num, typ, r.off, 0
		switch typ {
		case protowire.VarintType:
			f.bits, n = protowire.ConsumeVarint(r.rest)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(r.rest)
			f.bits = uint64(v)
		case protowire.Fixed64Type:
			f.bits, n = protowire.ConsumeFixed64(r.rest)
		case protowire.BytesType:
			var size uint64
			size, n = protowire.ConsumeVarint(r.rest)
			if n < 0 {
				break
			}
			r.skip(n)
			if size > uint64(len(r.rest)) {
				return false, fmt.Errorf("field %d: length %d runs past the end, %d bytes are left: %w",
					num, size, len(r.rest), io.ErrUnexpectedEOF)
			}
			f.off = r.off
			n = int(size)
		case protowire.StartGroupType:
			size, err := groupSize(r.rest, num, maxDepth)
			if err != nil {
				return false, fmt.Errorf("field %d: %w", num, err)
			}
			r.skip(size)
			continue
		case protowire.EndGroupType:
			return false, fmt.Errorf("field %d: end of a group that was not begun", num)
		default:
			return false, fmt.Errorf("field %d: wire type %d is reserved", num, typ)
		}
		if n < 0 {
			return false, fmt.Errorf("field %d: %w", num, protowire.ParseError(n))
		}
		// The capacity is cut so that an append by a user of the result cannot
		// reach the bytes that follow.
		f.data = r.rest[:n:n]
		r.skip(n)
		return true, nil
	}
}

func (r *reader) skip(n int) {
	r.rest = r.rest[n:]
	r.off += n
}

// groupSize returns the bytes from after the start tag of a group to after
// its end tag. It keeps its own stack, so nesting costs no recursion.
func groupSize(b []byte, num protowire.Number, maxDepth int) (int, error) {
	open := []protowire.Number{num}
	for pos := 0; ; {
		num, typ, n := protowire.ConsumeTag(b[pos:])
		if n < 0 {
			return 0, fmt.Errorf("in a group: %w", protowire.ParseError(n))
		}
		pos += n
		switch typ {
		case protowire.StartGroupType:
			if len(open) >= maxDepth {
				return 0, fmt.Errorf("groups are nested more than %d deep: %w", maxDepth, ErrLimit)
			}
			open = append(open, num)
		case protowire.EndGroupType:
			if top := open[len(open)-1]; num != top {
				return 0, fmt.Errorf("group %d ends as group %d", top, num)
			}
			open = open[:len(open)-1]
			if len(open) == 0 {
				return pos, nil
			}
		default:
			n := protowire.ConsumeFieldValue(num, typ, b[pos:])
			if n < 0 {
				return 0, fmt.Errorf("in a group: field %d: %w", num, protowire.ParseError(n))
			}
			pos += n
		}
	}
}

// wireTypeNames are what wire types are called in errors.
var wireTypeNames = [...]string{
	protowire.VarintType:     "varint",
	protowire.Fixed32Type:    "fixed32",
	protowire.Fixed64Type:    "fixed64",
	protowire.BytesType:      "byte string",
	protowire.StartGroupType: "group",
	protowire.EndGroupType:   "group",
}

package wire

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// A repeated number may be packed into one length-delimited field, split over
// several of these, written as one field for each element, or all of this at
// once: readers have to accept every form whatever the schema says.

// packed returns field num of the message r, a repeated number of the wire
// type typ, in packed form, together with how many numbers it holds. Packed
// data in one piece is not copied. The result is nil when there are none.
func (d *decoder) packed(r reader, seen *tally, num protowire.Number, typ protowire.Type, name string) (data []byte, count int) {
	if seen[num] == 0 || d.err != nil {
		return nil, 0
	}
	var (
		f     field
		size  int
		whole []byte // the only piece so far, when it is packed
	)
	pieces := 0
	for scan := r; d.next(&scan, &f); {
		if f.num != num {
			continue
		}
		if f.typ != typ && f.typ != protowire.BytesType {
			d.failf(f.off, "field %d (%s) is a %s, want a %s or a packed list of them",
				num, name, wireTypeName(f.typ), wireTypeName(typ))
			return nil, 0
		}
		n, err := packedCount(&f, typ)
		if err != nil {
			d.fail(f.off, fmt.Errorf("field %d (%s): %w", num, name, err))
			return nil, 0
		}
		if n == 0 {
			continue
		}
		count += n
		pieces++
		whole = f.data
		if f.typ == protowire.BytesType {
			size += len(f.data)
		} else {
			size += valueSize(&f)
		}
	}
	if d.err != nil || count == 0 {
		return nil, 0
	}
	if pieces == 1 && whole != nil {
		return whole, count
	}
	if !d.charge(int64(size), r.off) {
		return nil, 0
	}
	data = make([]byte, 0, size)
	for scan := r; d.next(&scan, &f); {
		if f.num != num {
			continue
		}
		switch f.typ {
		case protowire.VarintType:
			data = protowire.AppendVarint(data, f.bits)
		case protowire.Fixed32Type:
			data = protowire.AppendFixed32(data, uint32(f.bits))
		case protowire.Fixed64Type:
			data = protowire.AppendFixed64(data, f.bits)
		default:
			data = append(data, f.data...)
		}
	}
	return data, count
}

// valueSize returns the bytes that the number in f takes.
func valueSize(f *field) int {
	switch f.typ {
	case protowire.Fixed32Type:
		return 4
	case protowire.Fixed64Type:
		return 8
	}
	return protowire.SizeVarint(f.bits)
}

// packedCount returns how many numbers of wire type typ f holds, and checks
// that it holds only whole ones.
func packedCount(f *field, typ protowire.Type) (int, error) {
	if f.typ != protowire.BytesType {
		return 1, nil
	}
	switch typ {
	case protowire.Fixed32Type, protowire.Fixed64Type:
		width := 4
		if typ == protowire.Fixed64Type {
			width = 8
		}
		if len(f.data)%width != 0 {
			return 0, fmt.Errorf("packed data of %d bytes is not a multiple of %d", len(f.data), width)
		}
		return len(f.data) / width, nil
	}
	count := 0
	for rest := f.data; len(rest) > 0; count++ {
		_, n := protowire.ConsumeVarint(rest)
		if n < 0 {
			return 0, fmt.Errorf("packed value %d: %w", count, protowire.ParseError(n))
		}
		rest = rest[n:]
	}
	return count, nil
}

// int64s returns the repeated int64 field num of r; nil when it has no
// elements. More than max elements are an error.
func (d *decoder) int64s(r reader, seen *tally, num protowire.Number, name string, max int) []int64 {
	data, n := d.packed(r, seen, num, protowire.VarintType, name)
	if n > max {
		d.failf(r.off, "field %d (%s) has %d values, more than %d: %w", num, name, n, max, ErrLimit)
		return nil
	}
	list := makeList[int64](d, n, r.off)
	if list == nil {
		return nil
	}
	for len(data) > 0 {
		v, n := protowire.ConsumeVarint(data)
		list = append(list, int64(v))
		data = data[n:]
	}
	return list
}

// float32s returns the repeated float field num of r; nil when it has no
// elements.
func (d *decoder) float32s(r reader, seen *tally, num protowire.Number, name string) []float32 {
	data, n := d.packed(r, seen, num, protowire.Fixed32Type, name)
	list := makeList[float32](d, n, r.off)
	if list == nil {
		return nil
	}
	for ; len(data) > 0; data = data[4:] {
		list = append(list, math.Float32frombits(binary.LittleEndian.Uint32(data)))
	}
	return list
}

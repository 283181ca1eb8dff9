package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// A repeated number may be packed into one length-delimited field, split over
// several of these, written as one field for each element, or all of this at
// once: readers have to accept every form whatever the schema says.

// packed returns the values of rs, a repeated number of the wire type typ, in
// packed form, and how many there are. Data in one piece is not copied. The
// result is nil when there are no values, and after an error.
func (d *decoder) packed(rs records, typ protowire.Type) (data []byte, count int) {
	var r record
	size := 0
	for scan := rs.in; d.next(&scan, &r); {
		if r.num != rs.num || len(r.data) == 0 {
			continue
		}
		if r.typ != typ && r.typ != protowire.BytesType {
			d.failf(r.off, "field %d (%s) is a %s, want a %s or a packed list of them",
				rs.num, rs.name, wireTypeNames[r.typ], wireTypeNames[typ])
			return nil, 0
		}
		if err := checkPacked(r.data, typ); err != nil {
			d.failf(r.off, "field %d (%s): %w", rs.num, rs.name, err)
			return nil, 0
		}
		data = r.data
		count += countPacked(r.data, typ)
		size += len(r.data)
	}
	if d.err != nil || len(data) == size {
		return data, count
	}
	if !d.charge(int64(size), rs.in.off) {
		return nil, 0
	}
	data = make([]byte, 0, size)
	for scan := rs.in; d.next(&scan, &r); {
		if r.num == rs.num {
			data = append(data, r.data...)
		}
	}
	return data, count
}

// checkPacked reports a number of wire type typ in data that is not whole.
func checkPacked(data []byte, typ protowire.Type) error {
	if width := fixedWidth(typ); width > 0 {
		if len(data)%width != 0 {
			return fmt.Errorf("packed data of %d bytes is not a multiple of %d", len(data), width)
		}
		return nil
	}
	for i := 0; len(data) > 0; i++ {
		_, n := protowire.ConsumeVarint(data)
		if n < 0 {
			return fmt.Errorf("packed value %d: %w", i, protowire.ParseError(n))
		}
		data = data[n:]
	}
	return nil
}

// countPacked returns how many numbers of wire type typ end in data.
func countPacked(data []byte, typ protowire.Type) int {
	if width := fixedWidth(typ); width > 0 {
		return len(data) / width
	}
	n := 0
	for _, b := range data {
		if b < 0x80 {
			n++
		}
	}
	return n
}

// fixedWidth returns the bytes of a number of wire type typ, or 0 for varints.
func fixedWidth(typ protowire.Type) int {
	switch typ {
	case protowire.Fixed32Type:
		return 4
	case protowire.Fixed64Type:
		return 8
	}
	return 0
}

package wire

import (
	"math"
	"reflect"

	"google.golang.org/protobuf/encoding/protowire"
)

// records are those of one field in a message.
type records struct {
	in   reader // all records of the message
	num  protowire.Number
	name string
	n    int // how many there are; at least 1
	max  int // how many values they may hold
}

// A tally counts the records of each field number below maxField.
type tally [maxField]int

// read reads the message that is the payload of r into m, a zero struct.
// field and index say where in its parent it stands; index is -1 for a field
// that is not repeated.
func (s *schema) read(d *decoder, m reflect.Value, r record, field string, index int) {
	off := r.off
	at := place{field: field, index: index, name: s.label, op: s.op}
	if s.recursive && d.depth == 0 {
		at.name = 0 // the outermost is known by its place
	}
	in, seen, ok := d.open(r, at)
	if !ok {
		return
	}
	defer d.close()
	if s.recursive {
		if d.depth >= d.limits.MaxDepth {
			d.failf(off, "nested more than %d deep: %w", d.limits.MaxDepth, ErrLimit)
			return
		}
		d.depth++
		defer func() { d.depth-- }()
	}
	var present fieldSet
	for num := range s.fields {
		if f, n := &s.fields[num], seen[num]; n > 0 && f.name != "" {
			present |= 1 << num
			rs := records{in: in, num: protowire.Number(num), name: f.name, n: n, max: math.MaxInt}
			if f.ranked {
				rs.max = d.limits.MaxRank
			}
			f.reserve(d, f.in(m), rs)
		}
	}
	for d.next(&in, &r) {
		if r.num < maxField {
			if f := &s.fields[r.num]; f.name != "" && !f.packed {
				f.read(d, f.in(m), r)
			}
		}
	}
	if d.err == nil {
		if c, ok := m.Addr().Interface().(checked); ok {
			if err := c.settle(present); err != nil {
				d.fail(off, err)
			}
		}
	}
}

// reserve prepares a Go field for the records rs. It is called before any of them
// is read, and reads packed numbers all at once.
func (f *field) reserve(d *decoder, v reflect.Value, rs records) {
	if f.of != nil {
		d.take(f.of.quota, rs)
	}
	switch {
	case f.packed:
		f.readPacked(d, v.Addr().Interface(), rs)
	case f.list:
		if d.fits(rs.n, rs) && d.chargeFor(rs.n, v.Type().Elem(), rs.in.off) {
			v.Grow(rs.n)
		}
	case f.of != nil && rs.n > 1:
		// Protocol buffers would merge them; no writer makes such files.
		d.failf(rs.in.off, "field %d (%s) is given %d times", rs.num, rs.name, rs.n)
	}
}

// readPacked reads numbers, which are packed in the file, to where to points.
func (f *field) readPacked(d *decoder, to any, rs records) {
	data, n := d.packed(rs, f.typ)
	if !d.fits(n, rs) {
		return
	}
	switch to := to.(type) {
	case *[]byte:
		*to = data
	case *[]int64:
		if d.chargeFor(n, reflect.TypeFor[int64](), rs.in.off) && n > 0 {
			*to = make([]int64, n)
			for i := range *to {
				v, size := protowire.ConsumeVarint(data)
				(*to)[i], data = int64(v), data[size:]
			}
		}
	case *[]float32:
		if d.chargeFor(n, reflect.TypeFor[float32](), rs.in.off) && n > 0 {
			*to = make([]float32, n)
			for i := range *to {
				v, size := protowire.ConsumeFixed32(data)
				(*to)[i], data = math.Float32frombits(v), data[size:]
			}
		}
	}
}

// read takes one record of a field that is not packed into a Go field. Of several
// records of one value the last counts.
func (f *field) read(d *decoder, v reflect.Value, r record) {
	if f.of == nil && !d.want(r, f.typ, f.name) {
		return
	}
	index := -1
	if f.list {
		index = v.Len()
		v.SetLen(index + 1) // within the capacity that reserve has set
		v = v.Index(index)
	}
	switch to := v.Addr().Interface().(type) {
	case *string:
		*to = d.text(r)
	case *[]byte:
		*to = r.data
	case *float32:
		*to = math.Float32frombits(uint32(r.bits))
	case *bool:
		*to = d.flag(r, f.name)
	default:
		switch v.Kind() {
		case reflect.Struct:
			f.of.read(d, v, r, f.name, index)
		case reflect.Pointer:
			if d.chargeFor(1, v.Type().Elem(), r.off) {
				v.Set(reflect.New(v.Type().Elem()))
				f.of.read(d, v.Elem(), r, f.name, index)
			}
		default:
			// Where a protocol buffer library would drop high bits, and so read
			// 1<<32 + 1 as 1, this is an error.
			if v.SetInt(int64(r.bits)); uint64(v.Int()) != r.bits {
				d.failf(r.off, "field %d (%s) is %d, out of range for 32 bits", r.num, f.name, int64(r.bits))
			}
		}
	}
}

// write appends the fields of the struct m to b and returns it.
func (s *schema) write(b []byte, m reflect.Value) []byte {
	p, _ := m.Addr().Interface().(presence)
	for num := range s.fields {
		f := &s.fields[num]
		if f.name == "" {
			continue
		}
		holds, ok := false, false
		if p != nil {
			holds, ok = p.holds(num)
		}
		if !ok {
			holds = f.count(m) > 0
		}
		if holds {
			b = f.write(b, protowire.Number(num), f.in(m))
		}
	}
	return b
}

// write appends a Go field to b and returns it: nothing for an empty list and for
// a message that is nil.
func (f *field) write(b []byte, num protowire.Number, v reflect.Value) []byte {
	switch {
	case f.list:
		for i := range v.Len() {
			b = f.writeValue(b, num, v.Index(i))
		}
		return b
	case f.packed && v.Type().Elem().Kind() != reflect.Uint8:
		if v.Len() == 0 {
			return b
		}
		return appendSized(protowire.AppendTag(b, num, protowire.BytesType), func(b []byte) []byte {
			for i := range v.Len() {
				b = appendNumber(b, v.Index(i))
			}
			return b
		})
	}
	return f.writeValue(b, num, v)
}

// writeValue appends one record to b and returns it.
func (f *field) writeValue(b []byte, num protowire.Number, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.String:
		return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), v.String())
	case reflect.Slice:
		return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v.Bytes())
	case reflect.Pointer:
		if v.IsNil() {
			return b
		}
		v = v.Elem()
		fallthrough
	case reflect.Struct:
		return appendSized(protowire.AppendTag(b, num, protowire.BytesType), func(b []byte) []byte {
			return f.of.write(b, v)
		})
	}
	return appendNumber(protowire.AppendTag(b, num, f.typ), v)
}

// appendNumber appends a number without a tag to b and returns it.
func appendNumber(b []byte, v reflect.Value) []byte {
	switch x := v.Addr().Interface().(type) {
	case *float32: // reflect would take it through float64, and lose the payload of a NaN
		return protowire.AppendFixed32(b, math.Float32bits(*x))
	case *bool:
		return protowire.AppendVarint(b, protowire.EncodeBool(*x))
	}
	return protowire.AppendVarint(b, uint64(v.Int()))
}

// appendSized appends what body appends to b, with its length before it.
//
// The length is only known after the body, which is written in place and moved
// up by the size of the length. So a weight is moved once for each message
// around it and never held twice.
func appendSized(b []byte, body func([]byte) []byte) []byte {
	begin := len(b)
	b = body(b)
	size := len(b) - begin
	prefix := protowire.SizeVarint(uint64(size))
	var room [10]byte
	b = append(b, room[:prefix]...)
	copy(b[begin+prefix:], b[begin:begin+size])
	protowire.AppendVarint(b[:begin], uint64(size))
	return b
}

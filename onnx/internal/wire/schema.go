package wire

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// A schema describes one message of onnx.proto and the struct M that stands
// for it. Reading and writing both follow it.
type schema[M any] struct {
	// fields holds each field at its number; numbers without a name are
	// unknown. Messages are written in this order.
	fields []field[M]
	// name and op are the numbers of the strings that identify a message to
	// a person; 0 where there is none.
	name, op protowire.Number
	// recursive says that messages of this kind hold others of it. Their
	// nesting is bounded.
	recursive bool
	// quota bounds how many messages of this kind a file may hold.
	quota quota
	// check, when not nil, settles a message that has been read and reports
	// what is wrong with it. seen are the fields that were present.
	check func(m *M, seen fieldSet) error
}

// A field describes one field of a message that M stands for.
type field[M any] struct {
	name string
	// kind tells apart the fields of which a message has at most one, by the
	// numbers of M's enumeration. It is 0 for a field that is not one of these.
	kind int
	// count returns how many values other than the default m has.
	count func(m *M) int
	// present, when not nil, tells whether the field is to be written. A field
	// without it is written when count is not 0.
	present func(m *M) bool
	// ranked says that the field is a list with an element for each axis.
	ranked bool
	// reserve, when not nil, prepares m for the records of the field. It is
	// called before any record is read.
	reserve func(d *decoder, m *M, rs records)
	// read, when not nil, takes one record of the field.
	read func(d *decoder, m *M, r record)
	// write appends the field to b and returns it: nothing for an empty list
	// and for a message that is nil.
	write func(b []byte, num protowire.Number, m *M) []byte
}

// records are those of one field in a message.
type records struct {
	in   reader // all records of the message
	num  protowire.Number
	name string
	n    int // how many there are; at least 1
	max  int // how many values they may hold
}

// ranked returns f, a list with an element for each axis of a tensor. Its
// length is limited.
func ranked[M any](f field[M]) field[M] {
	f.ranked = true
	return f
}

// when returns f with present in place of the rule that defaults are left out.
func when[M any](f field[M], present func(m *M) bool) field[M] {
	f.present = present
	return f
}

// then returns f with a call of next after each record that is read.
func then[M any](f field[M], next func(m *M)) field[M] {
	read := f.read
	f.read = func(d *decoder, m *M, r record) {
		read(d, m, r)
		next(m)
	}
	return f
}

// maxField is above the number of every field in a schema.
const maxField = 32

// A tally counts the records of each field number below maxField.
type tally [maxField]int

// A fieldSet is a set of field numbers below maxField: bit n stands for n.
type fieldSet uint32

// has reports whether num is in s.
func (s fieldSet) has(num int) bool { return s>>num&1 != 0 }

// A described message says what it looks like on the wire.
//
// Schemas that refer to each other in a circle cannot be initialised by name.
// They reach each other through this method instead.
type described[M any] interface {
	*M
	schema() *schema[M]
}

// schemaOf returns the schema of the messages that E stands for.
func schemaOf[E any, P described[E]]() *schema[E] { return P(nil).schema() }

// read reads the message that is the payload of r into m, which is zero.
// field and index say where in its parent it stands; index is -1 for a field
// that is not repeated.
func read[M any](d *decoder, s *schema[M], m *M, r record, field string, index int) {
	off := r.off
	at := place{field: field, index: index, name: s.name, op: s.op}
	if s.recursive && d.depth == 0 {
		at.name = 0 // the outermost is known by its place
	}
	in, seen, ok := d.open(r, at)
	if !ok {
		return
	}
	defer d.close()
	if s.recursive {
		if !d.descend(off) {
			return
		}
		defer d.ascend()
	}
	var present fieldSet
	for num := range s.fields {
		f, n := &s.fields[num], seen[num]
		if n == 0 {
			continue
		}
		present |= 1 << num
		if f.reserve != nil {
			rs := records{in: in, num: protowire.Number(num), name: f.name, n: n, max: math.MaxInt}
			if f.ranked {
				rs.max = d.limits.MaxRank
			}
			f.reserve(d, m, rs)
		}
	}
	for d.next(&in, &r) {
		if int(r.num) < len(s.fields) {
			if f := &s.fields[r.num]; f.read != nil {
				f.read(d, m, r)
			}
		}
	}
	if d.err == nil && s.check != nil {
		if err := s.check(m, present); err != nil {
			d.fail(off, err)
		}
	}
}

// write appends the fields of m to b and returns it.
func write[M any](b []byte, s *schema[M], m *M) []byte {
	for num := range s.fields {
		f := &s.fields[num]
		switch {
		case f.write == nil:
		case f.present != nil && f.present(m), f.present == nil && f.count(m) > 0:
			b = f.write(b, protowire.Number(num), m)
		}
	}
	return b
}

// writeMessage appends field num, which holds the message m, to b and returns
// it.
func writeMessage[M any](b []byte, num protowire.Number, s *schema[M], m *M) []byte {
	return appendSized(protowire.AppendTag(b, num, protowire.BytesType), func(b []byte) []byte {
		return write(b, s, m)
	})
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

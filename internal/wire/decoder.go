package wire

import (
	"fmt"
	"reflect"

	"google.golang.org/protobuf/encoding/protowire"
)

// A decoder holds what one decoding shares. Its first error sticks: from then
// on next returns false, so that decoding code needs no checks of its own.
type decoder struct {
	limits Limits
	// What is left of the limits.
	memory int64
	quotas [numQuotas]int
	depth  int
	// path leads to the message being decoded.
	path []place
	err  error
}

// decode reads data, a message that M stands for, as a file of its own. The result
// aliases data. A nil l stands for the default limits.
func decode[M any](data []byte, name string, l *Limits) (*M, error) {
	limits := l.withDefaults(len(data))
	d := &decoder{limits: limits, memory: limits.MaxMemory, quotas: limits.quotas()}
	m := new(M)
	schemaOf[M]().read(d, reflect.ValueOf(m).Elem(), record{typ: protowire.BytesType, data: data}, name, -1)
	if d.err != nil {
		return nil, d.err
	}
	return m, nil
}

// encode appends the message that m stands for to b and returns it.
func encode[M any](b []byte, m *M) []byte {
	return schemaOf[M]().write(b, reflect.ValueOf(m).Elem())
}

// fail records err, met at byte off of the input, unless there is an error
// already.
func (d *decoder) fail(off int, err error) {
	if d.err == nil {
		d.err = &Error{Path: renderPath(d.path), Offset: off, Err: err}
	}
}

func (d *decoder) failf(off int, format string, args ...any) {
	if d.err == nil {
		d.fail(off, fmt.Errorf(format, args...))
	}
}

// next reads the next record of r into f. It returns false at the end of the
// message and after an error.
func (d *decoder) next(r *reader, f *record) bool {
	if d.err != nil {
		return false
	}
	more, err := r.next(f, d.limits.MaxDepth)
	if err != nil {
		d.fail(r.off, err)
	}
	return more && d.err == nil
}

// open begins the message that is the payload of rec: it walks all its records
// once, to find faults of structure and to count the records of each field, so
// that slices are made with the size they need. A caller that gets true must
// call close.
func (d *decoder) open(rec record, p place) (reader, tally, bool) {
	var seen tally
	r := reader{rest: rec.data, off: rec.off}
	if d.err != nil {
		return r, seen, false
	}
	if rec.typ != protowire.BytesType {
		d.failf(rec.off, "field %d (%s) is a %s, want a message", rec.num, p.field, wireTypeNames[rec.typ])
		return r, seen, false
	}
	p.body = rec.data
	d.path = append(d.path, p)
	scan := r
	var f record
	for d.next(&scan, &f) {
		if f.num < maxField {
			seen[f.num]++
		}
	}
	if d.err != nil {
		d.close()
		return r, seen, false
	}
	return r, seen, true
}

func (d *decoder) close() {
	d.path = d.path[:len(d.path)-1]
}

// take counts the messages rs towards their quota.
func (d *decoder) take(q quota, rs records) {
	if rs.n > d.quotas[q] {
		d.failf(rs.in.off, "more than %d %s in the file: %w", d.limits.quotas()[q], quotaNames[q], ErrLimit)
		return
	}
	d.quotas[q] -= rs.n
}

// fits reports whether rs may hold n values.
func (d *decoder) fits(n int, rs records) bool {
	if n > rs.max {
		d.failf(rs.in.off, "field %d (%s) has %d values, more than %d: %w", rs.num, rs.name, n, rs.max, ErrLimit)
	}
	return n <= rs.max
}

// charge takes n bytes from the memory budget.
func (d *decoder) charge(n int64, off int) bool {
	if n > d.memory {
		d.failf(off, "decoding needs more than %d bytes of memory: %w", d.limits.MaxMemory, ErrLimit)
		return false
	}
	d.memory -= n
	return true
}

// chargeFor charges n values of type t. It reports false after an error.
func (d *decoder) chargeFor(n int, t reflect.Type, off int) bool {
	return d.err == nil && d.charge(int64(n)*int64(t.Size()), off)
}

// want reports a record whose wire type is not typ.
func (d *decoder) want(r record, typ protowire.Type, name string) bool {
	if r.typ != typ {
		d.failf(r.off, "field %d (%s) is a %s, want a %s", r.num, name, wireTypeNames[r.typ], wireTypeNames[typ])
		return false
	}
	return true
}

// text returns a copy of the payload of r.
func (d *decoder) text(r record) string {
	if !d.charge(int64(len(r.data)), r.off) {
		return ""
	}
	return string(r.data)
}

// flag returns the value of an enumeration of 0 and 1.
func (d *decoder) flag(r record, name string) bool {
	if r.bits > 1 {
		d.failf(r.off, "%s %d is unknown", name, int64(r.bits))
	}
	return r.bits == 1
}

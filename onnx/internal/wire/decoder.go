package wire

import (
	"fmt"
	"math"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// A decoder holds what one decoding shares. Its first error sticks: from then
// on next returns false, so that decoding code needs no checks of its own.
type decoder struct {
	limits Limits
	// What is left of the limits.
	memory                     int64
	nodes, attributes, tensors int
	depth                      int
	// path leads to the message being decoded.
	path []place
	err  error
}

func newDecoder(data []byte, l *Limits) *decoder {
	limits := l.withDefaults(len(data))
	return &decoder{
		limits:     limits,
		memory:     limits.MaxMemory,
		nodes:      limits.MaxNodes,
		attributes: limits.MaxAttributes,
		tensors:    limits.MaxTensors,
	}
}

// root returns all of data as if it were a field of some message.
func root(data []byte) field {
	return field{typ: protowire.BytesType, data: data}
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

// next reads the next field of r into f. It returns false at the end of the
// message and after an error.
func (d *decoder) next(r *reader, f *field) bool {
	if d.err != nil {
		return false
	}
	more, err := r.next(f, d.limits.MaxDepth)
	if err != nil {
		d.fail(r.off, err)
	}
	return more && d.err == nil
}

// maxField is above every field number this package reads.
const maxField = 32

// A tally counts the occurrences of each field number below maxField.
type tally [maxField]int

// open begins the message that is the payload of f: it walks all its fields
// once, to find faults of structure and to count the fields, so that slices
// are made with the size they need. A caller that gets true must call close.
func (d *decoder) open(f field, p place) (reader, tally, bool) {
	var seen tally
	r := reader{rest: f.data, off: f.off}
	if d.err != nil {
		return r, seen, false
	}
	if f.typ != protowire.BytesType {
		d.failf(f.off, "field %d (%s) is a %s, want a message", f.num, p.field, wireTypeName(f.typ))
		return r, seen, false
	}
	p.body = f.data
	d.path = append(d.path, p)
	scan := r
	var g field
	for d.next(&scan, &g) {
		if g.num < maxField {
			seen[g.num]++
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

// descend counts one level of a recursive kind of message, which begins at
// off. A caller that gets true must call ascend.
func (d *decoder) descend(off int) bool {
	if d.depth >= d.limits.MaxDepth {
		d.failf(off, "nested more than %d deep: %w", d.limits.MaxDepth, ErrLimit)
		return false
	}
	d.depth++
	return true
}

func (d *decoder) ascend() { d.depth-- }

// take lowers left, what remains of the limit max on what, by n.
func (d *decoder) take(left *int, n, max int, what string, off int) {
	if n > *left {
		d.failf(off, "more than %d %s in the file: %w", max, what, ErrLimit)
		return
	}
	*left -= n
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

// once reports a singular message that is there more than once. Protocol
// buffers would merge them; no writer makes such files.
func (d *decoder) once(seen *tally, num protowire.Number, name string, off int) {
	if seen[num] > 1 {
		d.failf(off, "field %d (%s) is given %d times", num, name, seen[num])
	}
}

// makeList returns an empty slice with room for n elements: nil for none, and
// after an error.
func makeList[T any](d *decoder, n int, off int) []T {
	var zero T
	if n == 0 || d.err != nil || !d.charge(int64(n)*int64(unsafe.Sizeof(zero)), off) {
		return nil
	}
	return make([]T, 0, n)
}

// makeOne returns a pointer to a new T, or nil after an error.
func makeOne[T any](d *decoder, off int) *T {
	var zero T
	if d.err != nil || !d.charge(int64(unsafe.Sizeof(zero)), off) {
		return nil
	}
	return new(T)
}

// extend appends a zero element to list, whose capacity makeList has set, and
// returns a pointer to it.
func extend[T any](list *[]T) *T {
	var zero T
	*list = append(*list, zero)
	return &(*list)[len(*list)-1]
}

// want reports a field whose wire type is not typ.
func (d *decoder) want(f *field, typ protowire.Type, name string) bool {
	if f.typ != typ {
		d.failf(f.off, "field %d (%s) is a %s, want a %s", f.num, name, wireTypeName(f.typ), wireTypeName(typ))
		return false
	}
	return true
}

// bytes returns the payload of f, which aliases the input and is not nil.
func (d *decoder) bytes(f *field, name string) []byte {
	if !d.want(f, protowire.BytesType, name) {
		return nil
	}
	return f.data
}

// text returns a copy of the payload of f.
func (d *decoder) text(f *field, name string) string {
	if !d.want(f, protowire.BytesType, name) || !d.charge(int64(len(f.data)), f.off) {
		return ""
	}
	return string(f.data)
}

func (d *decoder) int64(f *field, name string) int64 {
	if !d.want(f, protowire.VarintType, name) {
		return 0
	}
	return int64(f.bits)
}

// int32 returns an int32 or enum. Where a protocol buffer library would drop
// high bits, and so read 1<<32 + 1 as 1, this is an error.
func (d *decoder) int32(f *field, name string) int32 {
	v := d.int64(f, name)
	if v != int64(int32(v)) {
		d.failf(f.off, "field %d (%s) is %d, out of range for 32 bits", f.num, name, v)
		return 0
	}
	return int32(v)
}

func (d *decoder) float32(f *field, name string) float32 {
	if !d.want(f, protowire.Fixed32Type, name) {
		return 0
	}
	return math.Float32frombits(uint32(f.bits))
}

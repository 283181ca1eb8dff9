package wire

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The functions below describe the kinds of fields that onnx.proto has. Each
// takes the name of the field and what returns its place in the struct.

// A codec is how one value of a field stands in a record.
type codec[T any] struct {
	typ protowire.Type
	// full tells whether v is other than the default.
	full func(v T) bool
	// read returns the value of r, a record of type typ.
	read func(d *decoder, r record, name string) T
	// write appends v to b and returns it.
	write func(b []byte, v T) []byte
}

var (
	stringCodec = codec[string]{protowire.BytesType,
		func(v string) bool { return v != "" }, (*decoder).text, protowire.AppendString}
	bytesCodec = codec[[]byte]{protowire.BytesType,
		func(v []byte) bool { return len(v) > 0 }, (*decoder).bytes, protowire.AppendBytes}
	floatCodec = codec[float32]{protowire.Fixed32Type,
		func(v float32) bool { return math.Float32bits(v) != 0 },
		func(_ *decoder, r record, _ string) float32 { return math.Float32frombits(uint32(r.bits)) },
		func(b []byte, v float32) []byte { return protowire.AppendFixed32(b, math.Float32bits(v)) }}
	flagCodec = codec[bool]{protowire.VarintType,
		func(v bool) bool { return v }, (*decoder).flag,
		func(b []byte, v bool) []byte { return protowire.AppendVarint(b, protowire.EncodeBool(v)) }}
)

// single is a field with one value. Of several records the last one counts.
func single[M, T any](name string, c codec[T], at func(*M) *T) field[M] {
	return field[M]{
		name:  name,
		count: func(m *M) int { return one(c.full(*at(m))) },
		read: func(d *decoder, m *M, r record) {
			if d.want(r, c.typ, name) {
				*at(m) = c.read(d, r, name)
			}
		},
		write: func(b []byte, num protowire.Number, m *M) []byte {
			return c.write(protowire.AppendTag(b, num, c.typ), *at(m))
		},
	}
}

// one returns how many values a field has that holds at most one.
func one(some bool) int {
	if some {
		return 1
	}
	return 0
}

// repeated is a list of values with a record each.
func repeated[M, T any](name string, c codec[T], at func(*M) *[]T) field[M] {
	return field[M]{
		name:  name,
		count: func(m *M) int { return len(*at(m)) },
		reserve: func(d *decoder, m *M, rs records) {
			*at(m) = makeList[T](d, rs.n, rs.in.off)
		},
		read: func(d *decoder, m *M, r record) {
			if d.want(r, c.typ, name) {
				*extend(at(m)) = c.read(d, r, name)
			}
		},
		write: func(b []byte, num protowire.Number, m *M) []byte {
			for _, v := range *at(m) {
				b = c.write(protowire.AppendTag(b, num, c.typ), v)
			}
			return b
		},
	}
}

// text is a string, which is copied.
func text[M any](name string, at func(*M) *string) field[M] { return single(name, stringCodec, at) }

// texts is a list of strings, which are copied.
func texts[M any](name string, at func(*M) *[]string) field[M] {
	return repeated(name, stringCodec, at)
}

// blob is a byte string. It aliases the input, and is not nil when the field
// is present.
func blob[M any](name string, at func(*M) *[]byte) field[M] { return single(name, bytesCodec, at) }

// blobs is a list of byte strings, which alias the input.
func blobs[M any](name string, at func(*M) *[][]byte) field[M] {
	return repeated(name, bytesCodec, at)
}

// float is a float32.
func float[M any](name string, at func(*M) *float32) field[M] { return single(name, floatCodec, at) }

// flag is an enumeration of two values, 0 and 1.
func flag[M any](name string, at func(*M) *bool) field[M] { return single(name, flagCodec, at) }

// integer is an int64, an int32 or an enumeration. Where a protocol buffer
// library would drop high bits, and so read 1<<32 + 1 as 1, this is an error.
func integer[M any, T ~int32 | ~int64](name string, at func(*M) *T) field[M] {
	return single(name, codec[T]{protowire.VarintType,
		func(v T) bool { return v != 0 },
		func(d *decoder, r record, name string) T {
			v := T(r.bits)
			if uint64(v) != r.bits {
				d.failf(r.off, "field %d (%s) is %d, out of range for 32 bits", r.num, name, int64(r.bits))
			}
			return v
		},
		func(b []byte, v T) []byte { return protowire.AppendVarint(b, uint64(v)) },
	}, at)
}

// packed is a list of numbers of wire type typ, kept in its packed form. It
// aliases the input when it is in one piece there.
func packed[M any](name string, typ protowire.Type, at func(*M) *[]byte) field[M] {
	f := blob(name, at)
	f.count = func(m *M) int {
		n, _ := countPacked(*at(m), typ)
		return n
	}
	f.read = nil
	f.reserve = func(d *decoder, m *M, rs records) { *at(m), _ = d.packed(rs, typ) }
	return f
}

// ints is a list of int64.
func ints[M any](name string, at func(*M) *[]int64) field[M] {
	return numbers(name, protowire.VarintType, at,
		func(b []byte) (int64, int) {
			v, n := protowire.ConsumeVarint(b)
			return int64(v), n
		},
		func(b []byte, v int64) []byte { return protowire.AppendVarint(b, uint64(v)) })
}

// floats is a list of float32.
func floats[M any](name string, at func(*M) *[]float32) field[M] {
	return numbers(name, protowire.Fixed32Type, at,
		func(b []byte) (float32, int) {
			v, n := protowire.ConsumeFixed32(b)
			return math.Float32frombits(v), n
		}, floatCodec.write)
}

// numbers is a list of numbers of wire type typ, written in packed form.
func numbers[M, T any](name string, typ protowire.Type, at func(*M) *[]T,
	consume func([]byte) (T, int), write func([]byte, T) []byte,
) field[M] {
	return field[M]{
		name:  name,
		count: func(m *M) int { return len(*at(m)) },
		reserve: func(d *decoder, m *M, rs records) {
			data, n := d.packed(rs, typ)
			if !d.fits(n, rs) {
				return
			}
			list := makeList[T](d, n, rs.in.off)
			for len(data) > 0 && list != nil {
				v, n := consume(data)
				list = append(list, v)
				data = data[n:]
			}
			*at(m) = list
		},
		write: func(b []byte, num protowire.Number, m *M) []byte {
			list := *at(m)
			if len(list) == 0 {
				return b
			}
			return appendSized(protowire.AppendTag(b, num, protowire.BytesType), func(b []byte) []byte {
				for _, v := range list {
					b = write(b, v)
				}
				return b
			})
		},
	}
}

// message is a message that may be absent.
func message[M, E any, P described[E]](name string, at func(*M) **E) field[M] {
	return field[M]{
		name:  name,
		count: func(m *M) int { return one(*at(m) != nil) },
		reserve: func(d *decoder, _ *M, rs records) {
			d.once(rs)
			d.take(schemaOf[E, P]().quota, rs)
		},
		read: func(d *decoder, m *M, r record) {
			if v := makeOne[E](d, r.off); v != nil {
				*at(m) = v
				read(d, schemaOf[E, P](), v, r, name, -1)
			}
		},
		write: func(b []byte, num protowire.Number, m *M) []byte {
			if v := *at(m); v != nil {
				b = writeMessage(b, num, schemaOf[E, P](), v)
			}
			return b
		},
	}
}

// messages is a list of messages.
func messages[M, E any, P described[E]](name string, at func(*M) *[]E) field[M] {
	return field[M]{
		name:  name,
		count: func(m *M) int { return len(*at(m)) },
		reserve: func(d *decoder, m *M, rs records) {
			d.take(schemaOf[E, P]().quota, rs)
			if d.fits(rs.n, rs) {
				*at(m) = makeList[E](d, rs.n, rs.in.off)
			}
		},
		read: func(d *decoder, m *M, r record) {
			list := at(m)
			read(d, schemaOf[E, P](), extend(list), r, name, len(*list)-1)
		},
		write: func(b []byte, num protowire.Number, m *M) []byte {
			list := *at(m)
			for i := range list {
				b = writeMessage(b, num, schemaOf[E, P](), &list[i])
			}
			return b
		},
	}
}

// nested is a message whose fields are in the same struct as those of the
// message around it. present tells whether it is to be written.
func nested[M any](name string, s *schema[M], present func(*M) bool) field[M] {
	return field[M]{
		name:    name,
		present: present,
		reserve: func(d *decoder, _ *M, rs records) { d.once(rs) },
		read:    func(d *decoder, m *M, r record) { read(d, s, m, r, name, -1) },
		write: func(b []byte, num protowire.Number, m *M) []byte {
			return writeMessage(b, num, s, m)
		},
	}
}

package wire

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
)

// diff compares decoded values to the last bit: nil and empty slices differ,
// and so do NaNs of different payload.
func diff(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return "" // much faster than what follows, and misses only NaNs
	}
	return cmp.Diff(want, got,
		cmp.Comparer(func(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }),
		cmp.Comparer(func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }))
}

// The functions below build messages field by field, apart from the encoder,
// so that tests can write what it would not.

// msg joins fields to a message.
func msg(fields ...[]byte) []byte {
	var b []byte
	for _, f := range fields {
		b = append(b, f...)
	}
	return b
}

// vint is a varint field.
func vint(num protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), uint64(v))
}

// f32 is a fixed32 field.
func f32(num protowire.Number, v float32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(nil, num, protowire.Fixed32Type), math.Float32bits(v))
}

// ldel is a length-delimited field: a string, bytes, a message or packed
// numbers.
func ldel[T string | []byte](num protowire.Number, v T) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, num, protowire.BytesType), string(v))
}

// packedInts is a packed field of varints.
func packedInts(num protowire.Number, list ...int64) []byte {
	return ldel(num, varints(list...))
}

// varints joins varints without a tag.
func varints(list ...int64) []byte {
	var b []byte
	for _, v := range list {
		b = protowire.AppendVarint(b, uint64(v))
	}
	return b
}

// inModel wraps the fields of a graph in a model.
func inModel(graph ...[]byte) []byte {
	return msg(vint(1, 8), ldel(7, msg(graph...)), ldel(8, vint(2, 13)))
}

// withInitializer is a model with one initializer named w.
func withInitializer(fields ...[]byte) []byte {
	return inModel(ldel(5, msg(append(fields, ldel(8, "w"))...)))
}

// withAttribute is a model of one node with one attribute named a.
func withAttribute(fields ...[]byte) []byte {
	a := msg(append([][]byte{ldel(1, "a")}, fields...)...)
	return inModel(ldel(1, msg(ldel(3, "n"), ldel(4, "Op"), ldel(5, a))))
}

// wantError reports an error that is nil or lacks one of the parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q lacks %q", err, p)
		}
	}
}

package wire

import (
	"bytes"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// nestedSubgraphs returns a model whose graph holds a node that holds a
// graph, and so on, depth times.
func nestedSubgraphs(depth int) []byte {
	graph := []byte{}
	for range depth {
		graph = ldel(1, ldel(5, ldel(6, graph)))
	}
	return ldel(7, graph)
}

// nestedTypes is a type of sequences of sequences, depth times.
func nestedTypes(depth int) []byte {
	typ := ldel(1, vint(1, 1))
	for range depth {
		typ = ldel(4, ldel(1, typ))
	}
	return inModel(ldel(11, msg(ldel(1, "x"), ldel(2, typ))))
}

func groups(depth int) []byte {
	var b []byte
	for range depth {
		b = protowire.AppendTag(b, 100, protowire.StartGroupType)
	}
	for range depth {
		b = protowire.AppendTag(b, 100, protowire.EndGroupType)
	}
	return b
}

// TestMalformed lists files that are wrong, each with what the error has to
// say: the place, and the numbers.
func TestMalformed(t *testing.T) {
	float1 := vint(2, int64(Float))
	overlong := bytes.Repeat([]byte{0xff}, 10)
	for _, c := range []struct {
		name string
		data []byte
		want []string
		is   error
	}{
		{"empty file", nil, []string{"model: there is no graph", "at byte 0"}, nil},
		{"not a model", []byte("\x89PNG\r\n\x1a\n"), []string{"model"}, nil},
		{"length past the end", []byte{0x3a, 0x7f, 0x0a}, []string{"model", "field 7", "length 127", "1 bytes are left"}, io.ErrUnexpectedEOF},
		{"huge length", append([]byte{0x3a}, protowire.AppendVarint(nil, math.MaxUint64)...), []string{"field 7", "18446744073709551615"}, io.ErrUnexpectedEOF},
		{"varint of 11 bytes", append([]byte{0x08}, append(overlong, 1)...), []string{"field 1", "overflow"}, nil},
		{"varint above 64 bits", append([]byte{0x08}, overlong...), []string{"field 1", "overflow"}, nil},
		{"cut varint", []byte{0x08, 0x80}, []string{"field 1"}, io.ErrUnexpectedEOF},
		{"field number 0", []byte{0x00, 0x00}, []string{"field tag"}, nil},
		{"reserved wire type", []byte{0x0e, 0x00}, []string{"wire type 6"}, nil},
		{"end of no group", []byte{0x0c}, []string{"not begun"}, nil},
		{"group not ended", []byte{0x0b, 0x08, 0x01}, []string{"in a group"}, io.ErrUnexpectedEOF},
		{"group ended as another", []byte{0x0b, 0x14}, []string{"group 1 ends as group 2"}, nil},
		{"deep groups", inModel(groups(100_000)), []string{"graph", "nested more than 64"}, ErrLimit},
		{"graph is a number", vint(7, 5), []string{"model: field 7 (graph) is a varint, want a message"}, nil},
		{"name is a number", inModel(vint(2, 5)), []string{"graph: field 2 (name) is a varint, want a byte string"}, nil},
		{"two graphs", msg(inModel(), ldel(7, "")), []string{"model", "graph", "2 times"}, nil},

		{"3,000 subgraphs", nestedSubgraphs(3000), []string{"graph.node[0].attribute[0].g.node[0]", "more)", "nested more than 64"}, ErrLimit},
		{"3,000 types", nestedTypes(3000), []string{`graph.input[0] "x".type`, "nested more than 64"}, ErrLimit},
		{"two types in one", inModel(ldel(11, msg(ldel(1, "x"), ldel(2, msg(ldel(1, ""), ldel(4, "")))))), []string{`input[0] "x".type`, "2 types"}, nil},
		{"negative dimension of an input", inModel(ldel(11, msg(ldel(1, "x"), ldel(2, ldel(1, ldel(2, ldel(1, vint(1, -2)))))))), []string{`graph.input[0] "x".type.tensor_type.shape.dim[0]`, "-2"}, nil},
		{"rank of an input", inModel(ldel(11, ldel(2, ldel(1, ldel(2, bytes.Repeat(ldel(1, ""), 65)))))), []string{"dim", "65 values, more than 64"}, ErrLimit},

		{"no element type", withInitializer(), []string{`graph.initializer[0] "w"`, "UNDEFINED"}, nil},
		{"unknown element type", withInitializer(vint(2, 27)), []string{`"w"`, "DataType(27)"}, nil},
		{"element type above 32 bits", withInitializer(vint(2, 1<<32+1)), []string{`"w"`, "data_type", "4294967297"}, nil},
		{"no data", withInitializer(float1, packedInts(1, 2, 3)), []string{`"w"`, "no data for 6 elements"}, nil},
		{"raw data too short", withInitializer(float1, packedInts(1, 2, 3), ldel(9, make([]byte, 23))), []string{`"w"`, "23 bytes, want 24", "FLOAT [2 3]"}, nil},
		{"raw data too long", withInitializer(float1, packedInts(1, 2, 3), ldel(9, make([]byte, 25))), []string{"25 bytes, want 24"}, nil},
		{"raw data of nothing", withInitializer(float1, packedInts(1, 0), ldel(9, make([]byte, 4))), []string{"4 bytes, want 0"}, nil},
		{"nibbles too short", withInitializer(vint(2, int64(Uint4)), packedInts(1, 3), ldel(9, "a")), []string{"1 bytes, want 2"}, nil},
		{"typed data too short", withInitializer(float1, packedInts(1, 2), ldel(4, make([]byte, 4))), []string{"float_data has 1 values, want 2"}, nil},
		{"half a float", withInitializer(float1, ldel(4, make([]byte, 3))), []string{`"w"`, "float_data", "3 bytes is not a multiple of 4"}, nil},
		{"half a double", withInitializer(vint(2, int64(Double)), ldel(10, make([]byte, 12))), []string{"double_data", "12 bytes is not a multiple of 8"}, nil},
		{"half a complex number", withInitializer(vint(2, int64(Complex64)), ldel(4, make([]byte, 4))), []string{"float_data has 1 values, want 2"}, nil},
		{"data of another type", withInitializer(float1, packedInts(5, 1)), []string{"int32_data holds the data of a FLOAT"}, nil},
		{"data twice", withInitializer(float1, f32(4, 1), ldel(9, "abcd")), []string{"both float_data and raw_data"}, nil},
		{"doubles as floats", withInitializer(float1, protowire.AppendFixed64(protowire.AppendTag(nil, 4, protowire.Fixed64Type), 0)), []string{"float_data", "fixed64", "fixed32"}, nil},
		{"cut varint in packed data", withInitializer(vint(2, int64(Int64)), ldel(7, "\x01\x80")), []string{"int64_data", "packed value 1"}, io.ErrUnexpectedEOF},
		{"strings in raw data", withInitializer(vint(2, int64(String)), ldel(9, "a")), []string{"strings in raw_data"}, nil},
		{"strings too few", withInitializer(vint(2, int64(String)), packedInts(1, 2), ldel(6, "a")), []string{"string_data has 1 values, want 2"}, nil},
		{"negative dim", withInitializer(float1, packedInts(1, 2, -3)), []string{`"w"`, "dims[1] is -3"}, nil},
		{"element count overflows", withInitializer(float1, packedInts(1, 1<<32, 1<<31)), []string{"overflows"}, nil},
		{"byte count overflows", withInitializer(vint(2, int64(Double)), packedInts(1, math.MaxInt64/4)), []string{"byte count overflows"}, nil},
		{"overflow beside a zero", withInitializer(float1, packedInts(1, 0, 1<<40, 1<<40)), []string{"overflows"}, nil},
		{"rank of a million", withInitializer(float1, ldel(1, bytes.Repeat([]byte{1}, 1_000_000)), ldel(9, "abcd")), []string{`"w"`, "dims", "1000000 values, more than 64"}, ErrLimit},
		{"rank of 65, one dimension at a time", withInitializer(float1, bytes.Repeat(vint(1, 1), 65), f32(4, 1)), []string{`"w"`, "65 values, more than 64"}, ErrLimit},
		{"a thousand million elements claimed", withInitializer(float1, packedInts(1, 1_000_000_000), ldel(9, "abcd")), []string{"4 bytes, want 4000000000"}, nil},
		{"segment past the end", withInitializer(float1, packedInts(1, 4), ldel(3, vint(2, 5))), []string{"segment [0, 5)"}, nil},
		{"unknown data location", withInitializer(float1, vint(14, 2)), []string{"data_location 2"}, nil},

		{"external without location", withInitializer(float1, vint(14, 1)), []string{`"w"`, "no location"}, nil},
		{"external location twice", withInitializer(float1, vint(14, 1), entry("location", "a"), entry("location", "b")), []string{"location twice"}, nil},
		{"external with data", withInitializer(float1, vint(14, 1), entry("location", "a"), ldel(9, "abcd")), []string{"EXTERNAL but raw_data"}, nil},
		{"external length", withInitializer(float1, vint(14, 1), entry("location", "a"), entry("length", "5")), []string{"length is 5, want 4"}, nil},
		{"external length negative", withInitializer(float1, vint(14, 1), entry("location", "a"), entry("length", "-4")), []string{`length "-4"`}, nil},
		{"external offset negative", withInitializer(float1, vint(14, 1), entry("location", "a"), entry("offset", "-1")), []string{`offset "-1"`}, nil},
		{"external offset huge", withInitializer(float1, vint(14, 1), entry("location", "a"), entry("offset", "9223372036854775808")), []string{`offset "9223372036854775808": not a number of bytes`}, nil},
		{"external offset overflows", withInitializer(float1, vint(14, 1), entry("location", "a"), entry("offset", "9223372036854775807")), []string{"overflows"}, nil},
		{"external checksum", withInitializer(float1, vint(14, 1), entry("location", "a"), entry("checksum", "abc")), []string{`checksum "abc"`}, nil},
		{"external strings", withInitializer(vint(2, int64(String)), vint(14, 1), entry("location", "a")), []string{"strings"}, nil},

		{"unknown attribute type", withAttribute(vint(20, 15)), []string{`graph.node[0] "n" (Op).attribute[0] "a"`, "attribute type 15"}, nil},
		{"attribute of another type", withAttribute(vint(20, int64(AttrInts)), f32(2, 1)), []string{`"a"`, "INTS", "FLOAT"}, nil},
		{"attribute of two values", withAttribute(vint(3, 1), f32(2, 1)), []string{"both a FLOAT and a INT"}, nil},
		{"attribute without its tensor", withAttribute(vint(20, int64(AttrTensor))), []string{"TENSOR", "no value"}, nil},
		{"attribute with a tensor twice", withAttribute(ldel(5, vint(2, 1)), ldel(5, vint(2, 1))), []string{"(t)", "2 times"}, nil},
		{"reference with a value", withAttribute(ldel(21, "p"), vint(20, 2), vint(3, 1)), []string{`"p"`, "INT"}, nil},
		{"tensor in an attribute", withAttribute(ldel(5, msg(vint(2, 1), ldel(8, "deep"), packedInts(1, -1)))), []string{`graph.node[0] "n" (Op).attribute[0] "a".t "deep"`, "dims[0] is -1"}, nil},
		{"sparse tensor without values", inModel(ldel(15, vint(3, 4))), []string{"graph.sparse_initializer[0]", "no values"}, nil},
		{"function", msg(inModel(), ldel(25, msg(ldel(1, "F"), ldel(7, msg(ldel(4, "Op"), ldel(5, vint(20, 99))))))), []string{`functions[0] "F".node[0] (Op).attribute[0]`, "99"}, nil},
		{"long name", inModel(ldel(1, msg(ldel(3, strings.Repeat("é", 1000)), vint(6, 1)))), []string{`é…"`, "doc_string"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := DecodeModel(c.data, nil)
			if m != nil && err != nil {
				t.Error("both a model and an error")
			}
			wantError(t, err, c.want...)
			var e *Error
			switch {
			case !errors.As(err, &e):
				t.Errorf("error is a %T", err)
			case e.Offset < 0 || e.Offset > len(c.data):
				t.Errorf("offset %d is not in the input of %d bytes", e.Offset, len(c.data))
			case len(e.Error()) > 2000:
				t.Errorf("error has %d bytes", len(e.Error()))
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("error %q does not match %q", err, c.is)
			}
		})
	}
}

// entry is one external_data entry of a tensor.
func entry(key, value string) []byte {
	return ldel(13, msg(ldel(1, key), ldel(2, value)))
}

// TestErrorPlace checks that an error gives the byte where the fault is and
// the exact path to it.
func TestErrorPlace(t *testing.T) {
	data := withAttribute(ldel(5, msg(vint(2, 1), vint(8, 77))))
	_, err := DecodeModel(data, nil)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	if e.Offset != bytes.IndexByte(data, 77) {
		t.Errorf("offset %d, want %d", e.Offset, bytes.IndexByte(data, 77))
	}
	if want := `graph.node[0] "n" (Op).attribute[0] "a".t`; e.Path != want {
		t.Errorf("path %s, want %s", e.Path, want)
	}
}

// TestTruncated cuts a model at every length. The rest either fails or is a
// model in itself, when the cut is between two fields after the graph.
func TestTruncated(t *testing.T) {
	data := AppendModel(nil, sampleModel())
	whole := 0
	for n := range len(data) {
		m, err := DecodeModel(data[:n:n], nil)
		switch {
		case err == nil && m == nil, err != nil && m != nil:
			t.Fatalf("cut at %d: %v, %v", n, m, err)
		case err == nil:
			whole++
			// What was read must be what the prefix says, no more.
			if again := AppendModel(nil, m); !bytes.Equal(again, data[:n]) {
				t.Errorf("cut at %d: decodes to a model of %d bytes", n, len(again))
			}
		}
	}
	if whole == 0 || whole > 10 {
		t.Errorf("%d of %d prefixes are models", whole, len(data))
	}
}

// TestDamaged changes each byte of a model in several ways.
func TestDamaged(t *testing.T) {
	data := AppendModel(nil, sampleModel())
	for i := range data {
		for _, x := range []byte{0x01, 0x80, 0xff, 0x40} {
			bad := bytes.Clone(data)
			bad[i] ^= x
			if m, err := DecodeModel(bad, nil); err == nil {
				AppendModel(nil, m)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	nodes := func(n int) []byte { return inModel(bytes.Repeat(ldel(1, ldel(4, "Op")), n)) }
	attributes := inModel(bytes.Repeat(ldel(1, bytes.Repeat(ldel(5, vint(20, 2)), 3)), 2))
	tensors := inModel(bytes.Repeat(ldel(5, msg(vint(2, 1), f32(4, 1))), 3))
	for _, c := range []struct {
		name  string
		data  []byte
		limit Limits
		want  string // empty when it decodes
	}{
		{"nodes", nodes(10), Limits{MaxNodes: 10}, ""},
		{"too many nodes", nodes(11), Limits{MaxNodes: 10}, "more than 10 nodes"},
		{"attributes", attributes, Limits{MaxAttributes: 6}, ""},
		{"too many attributes", attributes, Limits{MaxAttributes: 5}, "more than 5 attributes"},
		{"tensors", tensors, Limits{MaxTensors: 3}, ""},
		{"too many tensors", tensors, Limits{MaxTensors: 2}, "more than 2 tensors"},
		{"depth", nestedSubgraphs(4), Limits{MaxDepth: 5}, ""},
		{"too deep", nestedSubgraphs(4), Limits{MaxDepth: 4}, "more than 4 deep"},
		{"default depth", nestedSubgraphs(63), Limits{}, ""},
		{"default depth exceeded", nestedSubgraphs(64), Limits{}, "more than 64 deep"},
		{"memory", nodes(1000), Limits{MaxMemory: 1 << 20}, ""},
		{"too much memory", nodes(1000), Limits{MaxMemory: 1 << 16}, "more than 65536 bytes of memory"},
		{"deep groups", inModel(groups(64)), Limits{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := DecodeModel(c.data, &c.limit)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "":
				wantError(t, err, c.want)
				if !errors.Is(err, ErrLimit) {
					t.Errorf("%q does not match ErrLimit", err)
				}
			}
		})
	}
}

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// allocBound is what decoding an input of n bytes may allocate: the densest
// message is an empty attribute or tensor, 2 bytes that take some 300.
func allocBound(n int) uint64 { return 64<<10 + 256*uint64(n) }

// TestAllocation decodes files that are made to take much memory.
func TestAllocation(t *testing.T) {
	for name, data := range map[string][]byte{
		"empty nodes":         inModel(bytes.Repeat(ldel(1, ""), 10_000)),
		"empty attributes":    inModel(ldel(1, bytes.Repeat(ldel(5, ""), 10_000))),
		"empty inputs":        inModel(ldel(1, bytes.Repeat(ldel(1, ""), 10_000))),
		"empty functions":     msg(inModel(), bytes.Repeat(ldel(25, ""), 10_000)),
		"empty graphs":        withAttribute(bytes.Repeat(ldel(11, ""), 10_000)),
		"empty types":         withAttribute(bytes.Repeat(ldel(15, ""), 10_000)),
		"empty strings":       withInitializer(vint(2, int64(String)), packedInts(1, 10_000), bytes.Repeat(ldel(6, ""), 10_000)),
		"small ints":          withAttribute(ldel(8, make([]byte, 10_000))),
		"unpacked floats":     withAttribute(bytes.Repeat(f32(7, 0), 10_000)),
		"claimed length":      withInitializer(vint(2, 1), packedInts(1, 1<<40), []byte{0x4a, 0xff, 0xff, 0xff, 0xff, 0x7f}),
		"3,000 subgraphs":     nestedSubgraphs(3000),
		"rank of a million":   withInitializer(vint(2, 1), ldel(1, bytes.Repeat([]byte{1}, 1_000_000))),
		"one dims at a time":  withInitializer(vint(2, 1), bytes.Repeat(vint(1, 1), 1_000_000)),
		"groups":              inModel(groups(100_000)),
		"entries":             msg(inModel(), bytes.Repeat(ldel(14, ""), 10_000)),
		"long name in errors": inModel(ldel(1, msg(ldel(3, strings.Repeat("x", 1_000_000)), vint(6, 1)))),
	} {
		got := allocated(func() {
			DecodeModel(data, nil)
		})
		if got > allocBound(len(data)) {
			t.Errorf("%s: %d bytes allocated for %d", name, got, len(data))
		}
	}
	// A larger file runs into the memory budget instead.
	data := inModel(bytes.Repeat(ldel(1, ""), 1_000_000))
	got := allocated(func() {
		_, err := DecodeModel(data, nil)
		wantError(t, err, "bytes of memory")
	})
	if budget := uint64(16<<20 + 32*len(data)); got > budget+64<<10 {
		t.Errorf("%d bytes allocated, more than the budget of %d", got, budget)
	}
}

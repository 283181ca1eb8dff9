package berth_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth"
)

// safetensors returns a file with the given header and elements.
func safetensors(header string, elements ...byte) []byte {
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(file, header...), elements...)
}

// entry is a tensor in a header.
func entry(name, dtype, dims string, from, to int) string {
	return fmt.Sprintf(`%q:{"dtype":%q,"shape":[%s],"data_offsets":[%d,%d]}`, name, dtype, dims, from, to)
}

func TestReadSafetensors(t *testing.T) {
	header := "{" + strings.Join([]string{
		entry("w", "F32", "2,1", 2, 10), // in any order
		`"__metadata__":{"format":"pt"}`,
		entry("flags", "BOOL", "2", 0, 2),
		entry("scalar", "I8", "", 10, 11),
		entry("none", "F64", "0,3", 11, 11),
		entry("half", "BF16", "1", 11, 13), // not aligned
	}, ",") + "}   "
	file := safetensors(header, 1, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0xfd, 0x80, 0x3f)
	for shift := range 8 { // wherever the bytes lie
		moved := append(make([]byte, shift), file...)[shift:]
		tensors, notes, err := berth.ReadSafetensors(moved)
		if err != nil {
			t.Fatal(err)
		}
		if len(notes) != 1 || notes["format"] != "pt" {
			t.Errorf("notes %v", notes)
		}
		want := map[string]*berth.Tensor{
			"w":      list([]float64{1, -2}, 2, 1).tensor(berth.Float32),
			"flags":  list([]float64{1, 0}, 2).tensor(berth.Bool),
			"scalar": berth.Scalar[int8](-3),
			"none":   must(berth.Zeros(berth.Float64, 0, 3)),
			"half":   list([]float64{1}, 1).tensor(berth.BFloat16),
		}
		if data := must(berth.Data[float32](tensors["w"])); reflect.ValueOf(data).Pointer()%4 != 0 {
			t.Errorf("elements of float32 lie at %p", data)
		}
		if len(tensors) != len(want) {
			t.Errorf("%d tensors, want %d", len(tensors), len(want))
		}
		for name, x := range want {
			if tensors[name] == nil || !berth.Equal(tensors[name], x) {
				t.Errorf("%s is %v, want %v", name, tensors[name], x)
			}
		}
	}
	if tensors, _, err := berth.ReadSafetensors(safetensors("{}")); err != nil || len(tensors) != 0 {
		t.Errorf("no tensors: %v, %v", tensors, err)
	}
}

func TestReadSafetensorsFaults(t *testing.T) {
	four := make([]byte, 4)
	for _, c := range []struct {
		name, header string
		want         string
	}{
		{"no object", `[]`, "no JSON object"},
		{"nothing", ``, "no JSON object"},
		{"an open object", `{` + entry("a", "U8", "4", 0, 4), "EOF"},
		{"more than one object", `{} {}`, "more in the header"},
		{"no name", `{1:2}`, "header"},
		{"not UTF-8", "{\"\xff\":1}", "UTF-8"},
		{"one name twice", `{` + entry("a", "U8", "4", 0, 4) + `,` + entry("a", "U8", "4", 0, 4) + `}`, `two entries are named "a"`},
		{"notes that are no text", `{"__metadata__":{"a":1}}`, `"__metadata__"`},
		{"an unknown field", `{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"scale":1}}`, `"scale"`},
		{"an unknown type", `{` + entry("a", "F8_E4M3", "4", 0, 4) + `}`, `tensor "a": element type "F8_E4M3"`},
		{"no type", `{"a":{"shape":[4],"data_offsets":[0,4]}}`, `element type ""`},
		{"no shape", `{"a":{"dtype":"U8","data_offsets":[0,4]}}`, "there is no shape"},
		{"no offsets", `{"a":{"dtype":"U8","shape":[4]}}`, "data_offsets [] are not two"},
		{"three offsets", `{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4,4]}}`, "data_offsets [0 4 4] are not two"},
		{"a fraction", `{"a":{"dtype":"U8","shape":[4.5],"data_offsets":[0,4]}}`, "4.5"},
		{"a negative extent", `{` + entry("a", "U8", "-4", 0, 4) + `}`, "-4"},
		{"a shape that overflows", `{` + entry("a", "U8", "4294967296,4294967296,4294967296", 0, 4) + `}`, `tensor "a"`},
		{"too many bytes", `{` + entry("a", "U8", "3", 0, 4) + `}`, "uint8[3] has 3 bytes of elements, bytes 0 to 4 are 4"},
		{"too few bytes", `{` + entry("a", "U16", "4", 0, 4) + `}`, "uint16[4] has 8 bytes of elements, bytes 0 to 4 are 4"},
		{"bytes past the end", `{` + entry("a", "U8", "5", 0, 5) + `}`, "bytes 0 to 5 are not among the 4"},
		{"bytes backwards", `{` + entry("a", "U8", "4", 0, -4) + `}`, "bytes 0 to -4 are not among the 4"},
		{"bytes before the first", `{` + entry("a", "U8", "4", -4, 0) + `}`, "begin at byte -4; those before end at 0"},
		{"bytes of nothing in front", `{` + entry("a", "U8", "3", 1, 4) + `}`, "begin at byte 1; those before end at 0"},
		{"bytes of nothing in between", `{` + entry("a", "U8", "1", 0, 1) + `,` + entry("b", "U8", "2", 2, 4) + `}`, `tensor "b": the elements begin at byte 2; those before end at 1`},
		{"bytes of nothing behind", `{` + entry("a", "U8", "3", 0, 3) + `}`, "4 bytes behind the header, the tensors take 3"},
		{"bytes of two tensors", `{` + entry("a", "U8", "4", 0, 4) + `,` + entry("b", "U8", "2", 2, 4) + `}`, "begin at byte 2; those before end at 4"},
		{"the same bytes", `{` + entry("a", "U8", "4", 0, 4) + `,` + entry("b", "U8", "4", 0, 4) + `}`, "begin at byte 0; those before end at 4"},
	} {
		_, _, err := berth.ReadSafetensors(safetensors(c.header, four...))
		wantError(t, c.name, err, "berth: safetensors: ", c.want)
	}
	_, _, err := berth.ReadSafetensors(safetensors(`{`+entry("a", "BOOL", "4", 0, 4)+`}`, 0, 1, 2, 0))
	wantError(t, "a truth value", err, "element 2 is 2")
	_, _, err = berth.ReadSafetensors([]byte("1234567"))
	wantError(t, "no length", err, "7 bytes are too few")
	_, _, err = berth.ReadSafetensors(bytes.Repeat([]byte{0xff}, 20))
	wantError(t, "a length past the end", err, "18446744073709551615 bytes, of which 12 are there")
}

// FuzzReadSafetensors parses arbitrary bytes. What there is of a file bounds the
// tensors in it.
func FuzzReadSafetensors(f *testing.F) {
	f.Add(safetensors(`{"__metadata__":{"a":"b"},`+entry("a", "F16", "1,2", 0, 4)+`}`, 1, 2, 3, 4))
	f.Add(safetensors(`{`+entry("a", "BOOL", "", 0, 1)+`,`+entry("b", "F64", "0", 1, 1)+`}`, 1))
	f.Fuzz(func(t *testing.T, file []byte) {
		before := slices.Clone(file)
		tensors, _, err := berth.ReadSafetensors(file)
		if err != nil {
			return
		}
		total := 0
		for _, x := range tensors {
			total += x.Len() * x.DType().Size()
		}
		if total > len(file) || !bytes.Equal(file, before) {
			t.Errorf("%d bytes of elements in %d", total, len(file))
		}
	})
}

package dtype

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

func TestFormatRowBytes(t *testing.T) {
	for _, test := range []struct {
		format string
		dim    int64
		bytes  int64
		scales int64 // byte at which the scales begin
	}{
		{"float32", 7, 28, 28},
		{"bool", 3, 3, 3},
		{"bfloat16", 0, 0, 0},
		{"float64", 2, 16, 16},
		{"int8:32:float16", 64, 64 + 2*2, 64},
		{"int8:32:float16", 0, 0, 0},
		{"int8:1:float32", 3, 4 + 3*4, 4},
		{"int8:row:float32", 5, 8 + 4, 8},
		{"uint8:row:float64", 9, 16 + 8, 16},
		{"int4:32:float16", 64, 32 + 2*2, 32},
		{"int4:row:float16", 5, 4 + 2, 4},
		{"uint4:row:float32", 1, 4 + 4, 4},
		{"uint4:row:float32", 0, 0, 0},
		{"int4:3:bfloat16", 9, 6 + 3*2, 6},
		{"float32", math.MaxInt64 / 4, math.MaxInt64 / 4 * 4, math.MaxInt64 / 4 * 4},
	} {
		f, err := ParseFormat(test.format)
		if err != nil {
			t.Errorf("%s: %v", test.format, err)
			continue
		}
		if f.String() != test.format {
			t.Errorf("%s prints as %s", test.format, f)
		}
		got, err := f.RowBytes(test.dim)
		if err != nil || got != test.bytes {
			t.Errorf("%s: a row of %d is %d bytes, error %v; want %d", f, test.dim, got, err, test.bytes)
		}
		at, err := f.ScaleOffset(test.dim)
		if err != nil || at != test.scales {
			t.Errorf("%s: the scales of a row of %d begin at %d, error %v; want %d", f, test.dim, at, err, test.scales)
		}
	}
}

// Every plain format is its element type, so the two cannot drift apart.
func TestPlainFormats(t *testing.T) {
	for _, typ := range All() {
		f := Plain(typ)
		got, err := f.RowBytes(10)
		if err != nil || got != int64(10*typ.Size()) {
			t.Errorf("%s: a row of 10 is %d bytes, error %v", typ, got, err)
		}
		back, err := ParseFormat(f.String())
		if err != nil || back != f {
			t.Errorf("%s comes back as %v, error %v", f, back, err)
		}
	}
}

func TestGroupedFormatsRoundTrip(t *testing.T) {
	for _, code := range Codes() {
		for _, group := range []int{0, 1, 2, 32, 128} {
			for _, scale := range []Type{Float16, BFloat16, Float32, Float64} {
				f := Grouped(code, group, scale)
				if err := f.Validate(); err != nil {
					t.Fatal(err)
				}
				text, _ := f.MarshalText()
				var back Format
				if err := back.UnmarshalText(text); err != nil || back != f {
					t.Errorf("%s comes back as %v, error %v", text, back, err)
				}
				// A row is what the doc comment says, counted the slow way.
				const dim = 256
				bits, scales := dim*code.Bits(), 1
				if group > 0 {
					scales = dim / group
				}
				want := int64(bits/8 + scales*scale.Size())
				if got, err := f.RowBytes(dim); err != nil || got != want {
					t.Errorf("%s: a row of %d is %d bytes, error %v; want %d", f, dim, got, err, want)
				}
			}
		}
	}
}

func TestFormatErrors(t *testing.T) {
	int4 := Grouped(CodeInt4, 32, Float16)
	_, err := int4.RowBytes(100)
	var group *GroupError
	if !errors.As(err, &group) || group.Dim != 100 || group.Format != int4 {
		t.Errorf("100 elements in groups of 32: %v", err)
	}
	for _, test := range []struct {
		f   Format
		dim int64
	}{
		{Plain(Float32), math.MaxInt64/4 + 1},
		{Plain(Uint16), math.MaxInt64},
		{Grouped(CodeInt8, 1, Float32), math.MaxInt64 / 4},
		{Grouped(CodeInt8, 0, Float64), math.MaxInt64},
		{Grouped(CodeUint4, 1, Float64), math.MaxInt64 / 2},
	} {
		if n, err := test.f.RowBytes(test.dim); !errors.Is(err, ErrRowOverflow) {
			t.Errorf("%s: a row of %d: %d bytes, error %v", test.f, test.dim, n, err)
		}
	}
	for _, f := range []Format{
		{}, {Type: numTypes}, {Type: Float32, Group: 2}, {Type: Float32, Scale: Float32},
		{Type: Int8, Code: CodeInt8, Scale: Float32}, {Code: numCodes, Scale: Float32},
		Grouped(CodeInt8, 4, Int32), Grouped(CodeInt8, -1, Float32), Grouped(CodeInt4, 4, Invalid),
	} {
		if _, err := f.RowBytes(4); err == nil {
			t.Errorf("%+v is taken for a format", f)
		}
	}
	if _, err := Plain(Bool).RowBytes(-1); err == nil {
		t.Error("a row of -1 elements is accepted")
	}
	for _, text := range []string{
		"", "float33", "int3", "int4:32", "int4:0:float16", "int4:-1:float16", "int4:+8:float16", "int4:08:float16",
		"int4:99999999999:float16", "int4:row:int8", "int3:row:float16", "none:row:float16", "int4:row:float16:",
	} {
		if f, err := ParseFormat(text); err == nil {
			t.Errorf("%q parses as %v", text, f)
		}
	}
}

func FuzzParseFormat(f *testing.F) {
	for _, seed := range []string{"float32", "int4:32:float16", "int8:row:float32", "::", "uint4:2147483647:float64"} {
		f.Add(seed, int64(64))
	}
	f.Fuzz(func(t *testing.T, text string, dim int64) {
		format, err := ParseFormat(text)
		if err != nil {
			return
		}
		if format.String() != text {
			t.Fatalf("%q prints as %q", text, format)
		}
		if n, err := format.RowBytes(dim); err == nil && n < 0 {
			t.Fatalf("%s: a row of %d is %d bytes", format, dim, n)
		}
	})
}

func ExampleFormat_RowBytes() {
	f := Grouped(CodeInt4, 32, Float16)
	n, err := f.RowBytes(4096)
	fmt.Println(f, n, err)
	_, err = f.RowBytes(100)
	fmt.Println(err)
	// Output:
	// int4:32:float16 2304 <nil>
	// dtype: a row of 100 elements is not a multiple of the scale group of 32 in format int4:32:float16
}

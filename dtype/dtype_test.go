package dtype

import (
	"testing"
	"unsafe"
)

func TestTypes(t *testing.T) {
	for _, c := range []struct {
		t       Type
		name    string
		size    uintptr
		kind    Kind
		integer bool
		float   bool
	}{
		{Bool, "bool", unsafe.Sizeof(false), KindBool, false, false},
		{Uint8, "uint8", unsafe.Sizeof(uint8(0)), KindUint, true, false},
		{Uint16, "uint16", unsafe.Sizeof(uint16(0)), KindUint, true, false},
		{Uint32, "uint32", unsafe.Sizeof(uint32(0)), KindUint, true, false},
		{Uint64, "uint64", unsafe.Sizeof(uint64(0)), KindUint, true, false},
		{Int8, "int8", unsafe.Sizeof(int8(0)), KindInt, true, false},
		{Int16, "int16", unsafe.Sizeof(int16(0)), KindInt, true, false},
		{Int32, "int32", unsafe.Sizeof(int32(0)), KindInt, true, false},
		{Int64, "int64", unsafe.Sizeof(int64(0)), KindInt, true, false},
		{Float16, "float16", unsafe.Sizeof(uint16(0)), KindFloat, false, true},
		{BFloat16, "bfloat16", unsafe.Sizeof(uint16(0)), KindFloat, false, true},
		{Float32, "float32", unsafe.Sizeof(float32(0)), KindFloat, false, true},
		{Float64, "float64", unsafe.Sizeof(float64(0)), KindFloat, false, true},
		{Int2, "int2", unsafe.Sizeof(I2(0)), KindLowPrecision, false, false},
		{Uint2, "uint2", unsafe.Sizeof(U2(0)), KindLowPrecision, false, false},
		{Int4, "int4", unsafe.Sizeof(I4(0)), KindLowPrecision, false, false},
		{Uint4, "uint4", unsafe.Sizeof(U4(0)), KindLowPrecision, false, false},
		{Float4E2M1, "float4_e2m1fn", unsafe.Sizeof(F4E2M1(0)), KindLowPrecision, false, false},
		{Float8E4M3FN, "float8_e4m3fn", unsafe.Sizeof(F8E4M3FN(0)), KindLowPrecision, false, false},
		{Float8E4M3FNUZ, "float8_e4m3fnuz", unsafe.Sizeof(F8E4M3FNUZ(0)), KindLowPrecision, false, false},
		{Float8E5M2, "float8_e5m2", unsafe.Sizeof(F8E5M2(0)), KindLowPrecision, false, false},
		{Float8E5M2FNUZ, "float8_e5m2fnuz", unsafe.Sizeof(F8E5M2FNUZ(0)), KindLowPrecision, false, false},
		{Float8E8M0, "float8_e8m0fnu", unsafe.Sizeof(F8E8M0(0)), KindLowPrecision, false, false},
	} {
		if !c.t.Valid() || c.t.String() != c.name || c.t.Size() != int(c.size) || c.t.Kind() != c.kind ||
			c.t.IsInteger() != c.integer || c.t.IsFloat() != c.float {
			t.Errorf("%v: size %d, kind %d, integer %v, float %v, want %+v", c.t, c.t.Size(), c.t.Kind(), c.t.IsInteger(), c.t.IsFloat(), c)
		}
		if got, err := Parse(c.name); err != nil || got != c.t {
			t.Errorf("Parse(%q): %v, %v", c.name, got, err)
		}
	}
}

func TestAll(t *testing.T) {
	all := All()
	if len(all) != 23 || all[0] != Bool || all[22] != Float8E8M0 {
		t.Errorf("all types: %v", all)
	}
	for i, x := range all {
		if !x.Valid() || i > 0 && x <= all[i-1] {
			t.Errorf("type %d of all is %v, after %v", i, x, all[:i])
		}
	}
	all[0] = Float64
	if All()[0] != Bool {
		t.Error("All returns shared memory")
	}
}

func TestNotTypes(t *testing.T) {
	for _, x := range []Type{Invalid, numTypes, 255} {
		if x.Valid() || x.Size() != 0 || x.Kind() != KindInvalid || x.Wide() != Invalid || x.IsFloat() || x.IsInteger() {
			t.Errorf("%v passes for a type", x)
		}
	}
	if got, want := Type(200).String(), "dtype(200)"; got != want {
		t.Errorf("printed as %q, want %q", got, want)
	}
	for _, name := range []string{"", "invalid", "Float32", "float", "float32 "} {
		if got, err := Parse(name); err == nil {
			t.Errorf("Parse(%q) is %v, want an error", name, got)
		}
	}
}

// Package dtype names the element types of tensors and the storage formats
// of planned buffers.
package dtype

import "fmt"

// A Type is the element type of a tensor. The zero value is [Invalid].
type Type uint8

// The element types. Float16 and BFloat16 are stored as such and computed
// through float32. Those from Int2 on are of low precision: they are stored,
// moved and converted, and have no arithmetic. Each of their elements takes a
// byte of its own in memory, whatever files pack into one.
const (
	Invalid Type = iota
	Bool
	Uint8
	Uint16
	Uint32
	Uint64
	Int8
	Int16
	Int32
	Int64
	Float16
	BFloat16
	Float32
	Float64
	Int2
	Uint2
	Int4
	Uint4
	Float4E2M1     // 1 bit of fraction; no infinity, no NaN
	Float8E4M3FN   // 3 bits of fraction; no infinity
	Float8E4M3FNUZ // 3 bits of fraction; no infinity, no -0
	Float8E5M2     // 2 bits of fraction
	Float8E5M2FNUZ // 2 bits of fraction; no infinity, no -0
	Float8E8M0     // powers of 2; no zero, no sign, no infinity
	numTypes
)

// A Kind groups element types that obey the same arithmetic.
type Kind uint8

// The kinds of element types.
const (
	KindInvalid Kind = iota
	KindBool
	KindUint
	KindInt
	KindFloat
	KindLowPrecision // no arithmetic at all
)

var infos = [numTypes]struct {
	name string
	size int
	kind Kind
	wide Type
}{
	Invalid:        {"invalid", 0, KindInvalid, Invalid},
	Bool:           {"bool", 1, KindBool, Bool},
	Uint8:          {"uint8", 1, KindUint, Uint8},
	Uint16:         {"uint16", 2, KindUint, Uint16},
	Uint32:         {"uint32", 4, KindUint, Uint32},
	Uint64:         {"uint64", 8, KindUint, Uint64},
	Int8:           {"int8", 1, KindInt, Int8},
	Int16:          {"int16", 2, KindInt, Int16},
	Int32:          {"int32", 4, KindInt, Int32},
	Int64:          {"int64", 8, KindInt, Int64},
	Float16:        {"float16", 2, KindFloat, Float32},
	BFloat16:       {"bfloat16", 2, KindFloat, Float32},
	Float32:        {"float32", 4, KindFloat, Float32},
	Float64:        {"float64", 8, KindFloat, Float64},
	Int2:           {"int2", 1, KindLowPrecision, Int8},
	Uint2:          {"uint2", 1, KindLowPrecision, Uint8},
	Int4:           {"int4", 1, KindLowPrecision, Int8},
	Uint4:          {"uint4", 1, KindLowPrecision, Uint8},
	Float4E2M1:     {"float4_e2m1fn", 1, KindLowPrecision, Float32},
	Float8E4M3FN:   {"float8_e4m3fn", 1, KindLowPrecision, Float32},
	Float8E4M3FNUZ: {"float8_e4m3fnuz", 1, KindLowPrecision, Float32},
	Float8E5M2:     {"float8_e5m2", 1, KindLowPrecision, Float32},
	Float8E5M2FNUZ: {"float8_e5m2fnuz", 1, KindLowPrecision, Float32},
	Float8E8M0:     {"float8_e8m0fnu", 1, KindLowPrecision, Float32},
}

// All returns every valid element type, in ascending order.
func All() []Type {
	all := make([]Type, 0, numTypes-1)
	for t := Invalid + 1; t < numTypes; t++ {
		all = append(all, t)
	}
	return all
}

// Valid reports whether t is one of the element types above.
func (t Type) Valid() bool { return t > Invalid && t < numTypes }

// Size returns the bytes of one element; 0 when t is not valid.
func (t Type) Size() int {
	if !t.Valid() {
		return 0
	}
	return infos[t].size
}

// Kind returns the group t belongs to; [KindInvalid] when t is not valid.
func (t Type) Kind() Kind {
	if !t.Valid() {
		return KindInvalid
	}
	return infos[t].kind
}

// Wide returns the type in which elements of t are computed, or converted to be
// computed: float32 for floating-point types of less than 32 bits, int8 or uint8
// for integers of less than 8, and else t itself. It has every value of t.
func (t Type) Wide() Type {
	if !t.Valid() {
		return Invalid
	}
	return infos[t].wide
}

// IsLowPrecision reports whether t is one of the types of at most 8 bits that
// have no arithmetic.
func (t Type) IsLowPrecision() bool { return t.Kind() == KindLowPrecision }

// IsFloat reports whether t is a floating-point type that has arithmetic, of any
// width.
func (t Type) IsFloat() bool { return t.Kind() == KindFloat }

// IsHalf reports whether t is a floating-point type of 16 bits, which is
// computed through float32.
func (t Type) IsHalf() bool { return t == Float16 || t == BFloat16 }

// IsInteger reports whether t is a signed or unsigned integer type that has
// arithmetic.
func (t Type) IsInteger() bool { return t.Kind() == KindInt || t.Kind() == KindUint }

// String returns the NumPy spelling of t, such as "float32"; for types of low
// precision it is that of the package ml_dtypes.
func (t Type) String() string {
	if t >= numTypes {
		return fmt.Sprintf("dtype(%d)", uint8(t))
	}
	return infos[t].name
}

// Parse returns the type that [Type.String] spells as name.
func Parse(name string) (Type, error) {
	for t := Invalid + 1; t < numTypes; t++ {
		if infos[t].name == name {
			return t, nil
		}
	}
	return Invalid, fmt.Errorf("dtype: unknown element type %q", name)
}

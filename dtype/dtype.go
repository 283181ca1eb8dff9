// Package dtype names the element types of tensors and the storage formats
// of planned buffers.
package dtype

import "fmt"

// A Type is the element type of a tensor. The zero value is [Invalid].
type Type uint8

// The element types. Float16 and BFloat16 are stored as such and computed
// through float32.
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
)

var infos = [numTypes]struct {
	name string
	size int
	kind Kind
}{
	Invalid:  {"invalid", 0, KindInvalid},
	Bool:     {"bool", 1, KindBool},
	Uint8:    {"uint8", 1, KindUint},
	Uint16:   {"uint16", 2, KindUint},
	Uint32:   {"uint32", 4, KindUint},
	Uint64:   {"uint64", 8, KindUint},
	Int8:     {"int8", 1, KindInt},
	Int16:    {"int16", 2, KindInt},
	Int32:    {"int32", 4, KindInt},
	Int64:    {"int64", 8, KindInt},
	Float16:  {"float16", 2, KindFloat},
	BFloat16: {"bfloat16", 2, KindFloat},
	Float32:  {"float32", 4, KindFloat},
	Float64:  {"float64", 8, KindFloat},
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

// IsFloat reports whether t is a floating-point type of any width.
func (t Type) IsFloat() bool { return t.Kind() == KindFloat }

// IsHalf reports whether t is a floating-point type of 16 bits, which is
// computed through float32.
func (t Type) IsHalf() bool { return t == Float16 || t == BFloat16 }

// IsInteger reports whether t is a signed or unsigned integer type.
func (t Type) IsInteger() bool { return t.Kind() == KindInt || t.Kind() == KindUint }

// String returns the NumPy spelling of t, such as "float32".
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

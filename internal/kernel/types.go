package kernel

import "github.com/berth-go/berth/dtype"

// Float is the element types with floating-point arithmetic.
type Float interface{ ~float32 | ~float64 }

// Integer is the element types with wrapping integer arithmetic.
type Integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Number is every element type with arithmetic of its own.
type Number interface{ Float | Integer }

// OfNumber returns what one of ten constructors makes of p, such as a kernel with
// parameters p, for elements of type t. Bool counts as uint8. It returns the zero K
// for types without arithmetic of their own.
func OfNumber[P, K any](t dtype.Type, p P, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64 func(P) K) K {
	switch t {
	case dtype.Int8:
		return i8(p)
	case dtype.Int16:
		return i16(p)
	case dtype.Int32:
		return i32(p)
	case dtype.Int64:
		return i64(p)
	case dtype.Uint8, dtype.Bool:
		return u8(p)
	case dtype.Uint16:
		return u16(p)
	case dtype.Uint32:
		return u32(p)
	case dtype.Uint64:
		return u64(p)
	}
	return OfFloat(t, p, f32, f64)
}

// OfFloat is [OfNumber] where only floating-point types have a kernel.
func OfFloat[P, K any](t dtype.Type, p P, f32, f64 func(P) K) K {
	switch t {
	case dtype.Float32:
		return f32(p)
	case dtype.Float64:
		return f64(p)
	}
	var none K
	return none
}

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

// OfNumber returns the kernel with parameters p for elements of type t, made by
// the one of ten constructors that is for it. Bool counts as uint8. It returns nil
// for types without arithmetic of their own.
func OfNumber[P any](t dtype.Type, p P, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64 func(P) Kernel) Kernel {
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
func OfFloat[P any](t dtype.Type, p P, f32, f64 func(P) Kernel) Kernel {
	switch t {
	case dtype.Float32:
		return f32(p)
	case dtype.Float64:
		return f64(p)
	}
	return nil
}

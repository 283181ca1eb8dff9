package kernel

// Float is the element types with floating-point arithmetic.
type Float interface{ ~float32 | ~float64 }

// Integer is the element types with wrapping integer arithmetic.
type Integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Number is every element type with arithmetic of its own.
type Number interface{ Float | Integer }

package kernel

import (
	"math"

	"github.com/berth-go/berth/dtype"
)

// A Conversion sets the elements of dst to those of a, converted. The slices
// hold elements of the two types that it was made for, as many of one as of
// the other, and may be the same memory where those have the same width.
type Conversion func(dst, a []byte)

// conversion adapts a loop over typed slices.
func conversion[D, A any](f func(dst []D, a []A)) Conversion {
	return func(dst, a []byte) { f(Cast[D](dst), Cast[A](a)) }
}

// Widening returns the exact conversion of elements of a type that is computed in
// another one, see [dtype.Type.Wide], to that. It and the next two are written out
// for the half types, as methods of type parameters are called and not inlined.
func Widening(t dtype.Type) Conversion {
	switch t {
	case dtype.Float16:
		return conversion(func(dst []float32, a []dtype.F16) {
			a = a[:len(dst)]
			for i := range dst {
				dst[i] = a[i].Float32()
			}
		})
	case dtype.BFloat16:
		return conversion(func(dst []float32, a []dtype.BF16) {
			a = a[:len(dst)]
			for i := range dst {
				dst[i] = a[i].Float32()
			}
		})
	}
	return lowOf(t).widen
}

// Narrowing returns the rounding of elements of t.Wide() to the type t, of which
// the integers keep their low bits.
func Narrowing(t dtype.Type) Conversion {
	switch t {
	case dtype.Float16:
		return conversion(func(dst []dtype.F16, a []float32) {
			a = a[:len(dst)]
			for i := range dst {
				dst[i] = dtype.ToF16(a[i])
			}
		})
	case dtype.BFloat16:
		return conversion(func(dst []dtype.BF16, a []float32) {
			a = a[:len(dst)]
			for i := range dst {
				dst[i] = dtype.ToBF16(a[i])
			}
		})
	}
	return lowOf(t).narrow
}

// Rounding returns the rounding of elements of t.Wide() to values of t.
func Rounding(t dtype.Type) Conversion {
	switch t {
	case dtype.Float16:
		return conversion(func(dst []float32, a []float32) {
			a = a[:len(dst)]
			for i := range dst {
				dst[i] = dtype.ToF16(a[i]).Float32()
			}
		})
	case dtype.BFloat16:
		return conversion(func(dst []float32, a []float32) {
			a = a[:len(dst)]
			for i := range dst {
				dst[i] = dtype.ToBF16(a[i]).Float32()
			}
		})
	}
	return lowOf(t).round
}

// OddRounding returns the conversion of t, which is its own wide type, to float32
// rounded so that a second rounding to a shorter type is the only one that
// counts.
func OddRounding(t dtype.Type) Conversion {
	switch t {
	case dtype.Int64:
		return conversion(oddWide[int64])
	case dtype.Uint64:
		return conversion(oddWide[uint64])
	case dtype.Float64:
		return conversion(oddCast[float64])
	case dtype.Int32:
		return conversion(oddCast[int32])
	case dtype.Uint32:
		return conversion(oddCast[uint32])
	}
	return NativeCast(t, dtype.Float32)
}

// Casting returns the conversion of elements of from.Wide() to elements of
// to.Wide() that [Narrowing] takes on to the type to, or nil if there is nothing to
// convert.
func Casting(from, to dtype.Type) Conversion {
	native, target := from.Wide(), to.Wide()
	switch {
	case native == target:
		return nil
	case target != to && target == dtype.Float32:
		return OddRounding(native)
	}
	return NativeCast(native, target)
}

func oddWide[A int64 | uint64](dst []float32, a []A) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = OddFloat32(float64(oddInteger(a[i])))
	}
}

func oddCast[A Number](dst []float32, a []A) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = OddFloat32(float64(a[i]))
	}
}

// NativeCast returns the conversion between two types that are computed as such.
//
// Integers keep their low bits. A bool is 0 or 1, and true is what is not 0.
// Floating point to integer drops the fraction; a value that does not fit
// gives what an x86 processor gives, on every processor: the least int32 or
// int64; for the narrower types the low bits of the conversion to int32; for
// uint32 the low bits of the conversion to int64. A uint64 takes negative
// values by the low bits of their int64, and others that do not fit give
// 1<<63.
func NativeCast(from, to dtype.Type) Conversion {
	switch from {
	case dtype.Bool, dtype.Uint8:
		return castInteger[uint8](to)
	case dtype.Uint16:
		return castInteger[uint16](to)
	case dtype.Uint32:
		return castInteger[uint32](to)
	case dtype.Uint64:
		return castInteger[uint64](to)
	case dtype.Int8:
		return castInteger[int8](to)
	case dtype.Int16:
		return castInteger[int16](to)
	case dtype.Int32:
		return castInteger[int32](to)
	case dtype.Int64:
		return castInteger[int64](to)
	case dtype.Float32:
		return castFloat[float32](to)
	}
	return castFloat[float64](to)
}

func castInteger[A Integer](to dtype.Type) Conversion {
	switch to {
	case dtype.Bool:
		return conversion(nonzero[A])
	case dtype.Uint8, dtype.Int8:
		return conversion(convert[uint8, A])
	case dtype.Uint16, dtype.Int16:
		return conversion(convert[uint16, A])
	case dtype.Uint32, dtype.Int32:
		return conversion(convert[uint32, A])
	case dtype.Uint64, dtype.Int64:
		return conversion(convert[uint64, A])
	case dtype.Float32:
		return conversion(convert[float32, A])
	}
	return conversion(convert[float64, A])
}

func castFloat[A Float](to dtype.Type) Conversion {
	switch to {
	case dtype.Bool:
		return conversion(nonzero[A])
	case dtype.Uint8, dtype.Int8:
		return conversion(truncNarrow[uint8, A])
	case dtype.Uint16, dtype.Int16:
		return conversion(truncNarrow[uint16, A])
	case dtype.Int32:
		return conversion(truncNarrow[int32, A])
	case dtype.Uint32:
		return conversion(truncWide[uint32, A])
	case dtype.Int64:
		return conversion(truncWide[int64, A])
	case dtype.Uint64:
		return conversion(truncUint64[A])
	case dtype.Float32:
		return conversion(convert[float32, A])
	}
	return conversion(convert[float64, A])
}

// convert sets dst[i] to D(a[i]), which Go defines for these types.
func convert[D, A Number](dst []D, a []A) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = D(a[i])
	}
}

func nonzero[A Number](dst []uint8, a []A) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = Truth(a[i] != 0)
	}
}

func truncNarrow[D Integer, A Float](dst []D, a []A) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = D(truncInt32(float64(a[i])))
	}
}

func truncWide[D Integer, A Float](dst []D, a []A) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = D(truncInt64(float64(a[i])))
	}
}

func truncUint64[A Float](dst []uint64, a []A) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = truncToUint64(float64(a[i]))
	}
}

// Go leaves conversions of floating-point values that do not fit to the
// processor, so the ranges are tested first.

func truncInt32(f float64) int32 {
	if f > math.MinInt32-1 && f < math.MaxInt32+1 {
		return int32(f)
	}
	return math.MinInt32
}

func truncInt64(f float64) int64 {
	if f >= -1<<63 && f < 1<<63 {
		return int64(f)
	}
	return math.MinInt64
}

func truncToUint64(f float64) uint64 {
	switch {
	case f < 1<<63:
		return uint64(truncInt64(f))
	case f < 1<<64:
		return uint64(int64(f-1<<63)) + 1<<63
	}
	return 1 << 63
}

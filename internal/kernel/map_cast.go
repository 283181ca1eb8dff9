package kernel

import (
	"math"

	"github.com/berth-go/berth/dtype"
)

// widenLoop returns the exact conversion of a half type to float32. It and the
// next two are written out for both types, as methods of type parameters are
// called and not inlined.
func widenLoop(t dtype.Type) mapLoop {
	if t == dtype.Float16 {
		return loop1(func(dst []float32, a []dtype.F16) {
			a = a[:len(dst)]
			for i := range dst {
				dst[i] = a[i].Float32()
			}
		})
	}
	return loop1(func(dst []float32, a []dtype.BF16) {
		a = a[:len(dst)]
		for i := range dst {
			dst[i] = a[i].Float32()
		}
	})
}

// narrowLoop returns the rounding of float32 to a half type.
func narrowLoop(t dtype.Type) mapLoop {
	if t == dtype.Float16 {
		return loop1(func(dst []dtype.F16, a []float32) {
			a = a[:len(dst)]
			for i := range dst {
				dst[i] = dtype.ToF16(a[i])
			}
		})
	}
	return loop1(func(dst []dtype.BF16, a []float32) {
		a = a[:len(dst)]
		for i := range dst {
			dst[i] = dtype.ToBF16(a[i])
		}
	})
}

// roundLoop returns the rounding of float32 to the values of a half type.
func roundLoop(t dtype.Type) mapLoop {
	if t == dtype.Float16 {
		return loop1(func(dst []float32, a []float32) {
			a = a[:len(dst)]
			for i := range dst {
				dst[i] = dtype.ToF16(a[i]).Float32()
			}
		})
	}
	return loop1(func(dst []float32, a []float32) {
		a = a[:len(dst)]
		for i := range dst {
			dst[i] = dtype.ToBF16(a[i]).Float32()
		}
	})
}

// oddLoop returns the conversion of t, which is no half type, to float32
// rounded so that a second rounding to a half type is the only one that
// counts.
func oddLoop(t dtype.Type) mapLoop {
	switch t {
	case dtype.Int64:
		return loop1(func(dst []float32, a []int64) {
			a = a[:len(dst)]
			for i := range dst {
				dst[i] = oddFloat32(float64(oddInt64(a[i])))
			}
		})
	case dtype.Uint64:
		return loop1(func(dst []float32, a []uint64) {
			a = a[:len(dst)]
			for i := range dst {
				dst[i] = oddFloat32(float64(oddUint64(a[i])))
			}
		})
	case dtype.Float64:
		return loop1(oddCast[float64])
	case dtype.Int32:
		return loop1(oddCast[int32])
	case dtype.Uint32:
		return loop1(oddCast[uint32])
	}
	return nativeCast(t, dtype.Float32)
}

func oddCast[A Number](dst []float32, a []A) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = oddFloat32(float64(a[i]))
	}
}

// nativeCast returns the conversion between two types that are no half types.
//
// Integers keep their low bits. A bool is 0 or 1, and true is what is not 0.
// Floating point to integer drops the fraction; a value that does not fit
// gives what an x86 processor gives, on every processor: the least int32 or
// int64; for the narrower types the low bits of the conversion to int32; for
// uint32 the low bits of the conversion to int64. A uint64 takes negative
// values by the low bits of their int64, and others that do not fit give
// 1<<63.
func nativeCast(from, to dtype.Type) mapLoop {
	switch from {
	case dtype.Bool:
		return castBool(to)
	case dtype.Uint8:
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

func castBool(to dtype.Type) mapLoop {
	switch to {
	case dtype.Bool:
		return loop1(convert[uint8, uint8])
	case dtype.Uint8, dtype.Int8:
		return loop1(convert[uint8, uint8])
	case dtype.Uint16, dtype.Int16:
		return loop1(convert[uint16, uint8])
	case dtype.Uint32, dtype.Int32:
		return loop1(convert[uint32, uint8])
	case dtype.Uint64, dtype.Int64:
		return loop1(convert[uint64, uint8])
	case dtype.Float32:
		return loop1(convert[float32, uint8])
	}
	return loop1(convert[float64, uint8])
}

func castInteger[A Integer](to dtype.Type) mapLoop {
	switch to {
	case dtype.Bool:
		return loop1(nonzero[A])
	case dtype.Uint8, dtype.Int8:
		return loop1(convert[uint8, A])
	case dtype.Uint16, dtype.Int16:
		return loop1(convert[uint16, A])
	case dtype.Uint32, dtype.Int32:
		return loop1(convert[uint32, A])
	case dtype.Uint64, dtype.Int64:
		return loop1(convert[uint64, A])
	case dtype.Float32:
		return loop1(convert[float32, A])
	}
	return loop1(convert[float64, A])
}

func castFloat[A Float](to dtype.Type) mapLoop {
	switch to {
	case dtype.Bool:
		return loop1(nonzero[A])
	case dtype.Uint8, dtype.Int8:
		return loop1(truncNarrow[uint8, A])
	case dtype.Uint16, dtype.Int16:
		return loop1(truncNarrow[uint16, A])
	case dtype.Int32:
		return loop1(truncNarrow[int32, A])
	case dtype.Uint32:
		return loop1(truncWide[uint32, A])
	case dtype.Int64:
		return loop1(truncWide[int64, A])
	case dtype.Uint64:
		return loop1(truncUint64[A])
	case dtype.Float32:
		return loop1(convert[float32, A])
	}
	return loop1(convert[float64, A])
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
		dst[i] = b2u(a[i] != 0)
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

// truncTo converts f to an integer type by the rules of [nativeCast].
func truncTo[D Integer](f float64) D {
	var d D
	switch any(d).(type) {
	case uint64:
		return D(truncToUint64(f))
	case int64, uint32:
		return D(truncInt64(f))
	}
	return D(truncInt32(f))
}

// b2u returns 1 for true; it compiles to a flag, not a branch.
func b2u(v bool) uint8 {
	var u uint8
	if v {
		u = 1
	}
	return u
}

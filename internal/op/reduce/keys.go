package reduce

import (
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
)

// Keys returns a number for each element of dense data, in the order of the
// elements, and the same number for equal ones: zeros of both signs are equal,
// and NaN is one element, larger than all others. It takes no types of low
// precision.
func Keys(t dtype.Type, data []byte) []uint64 {
	keys := make([]uint64, len(data)/t.Size())
	switch t {
	case dtype.Float16:
		halfKeys(0x7c00)(keys, kernel.Cast[uint16](data), 0, 1)
	case dtype.BFloat16:
		halfKeys(0x7f80)(keys, kernel.Cast[uint16](data), 0, 1)
	default:
		d := dense{keys, data}
		kernel.OfNumber(t, d,
			keysOf(integerKeys[int8]), keysOf(integerKeys[int16]), keysOf(integerKeys[int32]), keysOf(integerKeys[int64]),
			keysOf(integerKeys[uint8]), keysOf(integerKeys[uint16]), keysOf(integerKeys[uint32]), keysOf(integerKeys[uint64]),
			keysOf(floatKeys[float32]), keysOf(floatKeys[float64]))
	}
	return keys
}

type dense struct {
	keys []uint64
	data []byte
}

// keysOf returns a function that sets the keys of dense data.
func keysOf[T kernel.Number](keys func(dst []uint64, src []T, at, step int)) func(dense) struct{} {
	return func(d dense) struct{} {
		keys(d.keys, kernel.Cast[T](d.data), 0, 1)
		return struct{}{}
	}
}

// floatKeys flips the sign bit of positive numbers and all bits of negative
// ones.
func floatKeys[T kernel.Float](dst []uint64, src []T, at, step int) {
	for i := range dst {
		v := float64(src[at]) + 0 // which makes +0 of -0
		at += step
		b := math.Float64bits(v)
		b ^= uint64(int64(b)>>63) | 1<<63
		if v != v {
			b = math.MaxUint64
		}
		dst[i] = b
	}
}

// halfKeys orders 16-bit floating-point numbers, of which infinity is given,
// as numbers of a sign and a magnitude.
func halfKeys(infinity uint16) func(dst []uint64, src []uint16, at, step int) {
	return func(dst []uint64, src []uint16, at, step int) {
		for i := range dst {
			b := src[at]
			at += step
			size := b & 0x7fff
			switch {
			case size > infinity:
				dst[i] = math.MaxUint64
			case b>>15 != 0:
				dst[i] = 1<<15 - uint64(size)
			default:
				dst[i] = 1<<15 + uint64(size)
			}
		}
	}
}

// integerKeys flips the sign bit of signed numbers.
func integerKeys[T kernel.Integer](dst []uint64, src []T, at, step int) {
	var flip uint64
	if zero := T(0); zero-1 < zero {
		flip = 1 << 63
	}
	for i := range dst {
		dst[i] = uint64(src[at]) ^ flip
		at += step
	}
}

package dtype

import (
	"math"

	"github.com/x448/float16"
)

// F16 is an IEEE 754 binary16 number as it is stored.
type F16 uint16

// BF16 is a bfloat16 number as it is stored: the upper half of a float32.
type BF16 uint16

// ToF16 returns f rounded to the nearest binary16, ties to even.
func ToF16(f float32) F16 { return F16(float16.Fromfloat32(f)) }

// Float32 returns the number exactly.
func (h F16) Float32() float32 { return float16.Float16(h).Float32() }

// ToBF16 returns f rounded to the nearest bfloat16, ties to even; a NaN stays
// a NaN.
func ToBF16(f float32) BF16 {
	bits := math.Float32bits(f)
	if f != f {
		return BF16(bits>>16 | 0x40) // quiet, so that no payload bit is needed
	}
	return BF16((bits + 0x7fff + bits>>16&1) >> 16)
}

// Float32 returns the number exactly.
func (b BF16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

// An Element is a Go type that elements of a tensor are stored as.
type Element interface {
	bool | uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | F16 | BF16 | float32 | float64
}

// Of returns the element type stored as T.
func Of[T Element]() Type {
	var zero T
	switch any(zero).(type) {
	case bool:
		return Bool
	case uint8:
		return Uint8
	case uint16:
		return Uint16
	case uint32:
		return Uint32
	case uint64:
		return Uint64
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64:
		return Int64
	case F16:
		return Float16
	case BF16:
		return BFloat16
	case float32:
		return Float32
	}
	return Float64
}

package dtype

import "math"

// F16 is an IEEE 754 binary16 number as it is stored.
type F16 uint16

// BF16 is a bfloat16 number as it is stored: the upper half of a float32.
type BF16 uint16

// ToF16 returns f rounded to the nearest binary16, ties to even. From 65520 on
// that is an infinity; a NaN stays one, with the upper bits of its payload.
func ToF16(f float32) F16 {
	bits := math.Float32bits(f)
	sign := F16(bits >> 16 & 0x8000)
	bits &= 0x7fffffff
	switch {
	case bits > 0x7f800000: // NaN, made quiet
		return sign | 0x7e00 | F16(bits>>13&0x3ff)
	case bits >= 0x47800000: // 2^16 and above
		return sign | 0x7c00
	case bits >= 0x38800000: // 2^-14 and above: normal
		// Adding half a unit, less one when the result is even, rounds; a
		// carry runs on into the exponent and, from 65520, to infinity.
		bits += 0xfff + bits>>13&1
		return sign | F16((bits-(127-15)<<23)>>13)
	}
	// Subnormal: adding 1/2 moves the units of 2^-24 to the end of the
	// fraction, where the addition itself rounds to even.
	half := math.Float32frombits(bits) + 0.5
	return sign | F16(math.Float32bits(half)-0x3f000000)
}

// Float32 returns the number exactly; a NaN keeps its payload.
func (h F16) Float32() float32 {
	const shift = 23 - 10
	bits := uint32(h&0x7fff) << shift
	sign := uint32(h&0x8000) << 16
	switch h & 0x7c00 {
	case 0x7c00: // an infinity or NaN: the exponent is all ones here too
		bits += (255 - 31) << 23
	case 0: // a subnormal: its fraction counts units of 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(h&0x3ff)*(1.0/(1<<24))))
	default:
		bits += (127 - 15) << 23
	}
	return math.Float32frombits(sign | bits)
}

// ToBF16 returns f rounded to the nearest bfloat16, ties to even; a NaN stays
// a NaN, with the upper bits of its payload.
func ToBF16(f float32) BF16 {
	bits := math.Float32bits(f)
	if bits&0x7fffffff > 0x7f800000 {
		return BF16(bits>>16) | 0x40 // quiet, so that no payload bit is needed
	}
	return BF16((bits + 0x7fff + bits>>16&1) >> 16)
}

// Float32 returns the number exactly; a NaN keeps its payload.
func (b BF16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

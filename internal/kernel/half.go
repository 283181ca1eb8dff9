package kernel

import "math"

// Float16ToFloat32 returns the value of the IEEE 754 binary16 number with the
// bits h. It is exact; a NaN keeps its payload.
func Float16ToFloat32(h uint16) float32 {
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

// Float32ToFloat16 returns the bits of the binary16 number nearest to f, ties
// to even. What is too large becomes an infinity.
func Float32ToFloat16(f float32) uint16 {
	bits := math.Float32bits(f)
	sign := uint16(bits >> 16 & 0x8000)
	bits &= 0x7fffffff
	switch {
	case bits > 0x7f800000: // NaN: the top of its payload, made quiet
		return sign | 0x7e00 | uint16(bits>>13&0x3ff)
	case bits >= 0x47800000: // 2^16 and above
		return sign | 0x7c00
	case bits >= 0x38800000: // 2^-14 and above: normal
		// Adding half a unit, less one when the result is even, rounds; a
		// carry runs on into the exponent and, from 65520, to infinity.
		bits += 0xfff + bits>>13&1
		return sign | uint16((bits-(127-15)<<23)>>13)
	}
	// Subnormal: adding 1/2 moves the units of 2^-24 to the end of the
	// fraction, where the addition itself rounds to even.
	half := math.Float32frombits(bits) + 0.5
	return sign | uint16(math.Float32bits(half)-0x3f000000)
}

// BFloat16ToFloat32 returns the value of the bfloat16 number with the bits h.
func BFloat16ToFloat32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// Float32ToBFloat16 returns the bits of the bfloat16 number nearest to f, ties
// to even.
func Float32ToBFloat16(f float32) uint16 {
	bits := math.Float32bits(f)
	if bits&0x7fffffff > 0x7f800000 {
		return uint16(bits>>16) | 0x40 // a NaN must not round to infinity
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

// oddFloat32 returns f as a float32 rounded to odd: towards zero, and then
// with the last bit set if anything was lost. Rounding the result once more,
// to a format at least two bits shorter, gives what rounding f would have.
//
// Source: Boldo and Melquiond, "Emulation of a FMA and correctly rounded
// sums: proved algorithms using rounding to odd", 2008.
func oddFloat32(f float64) float32 {
	near := float32(f)
	back := float64(near)
	if back == f || f != f {
		return near
	}
	bits := math.Float32bits(near)
	if math.Abs(back) > math.Abs(f) {
		bits--
	}
	return math.Float32frombits(bits | 1)
}

// oddInt64 returns an integer that float64 holds exactly and that rounds to
// any format of up to 50 bits as v does: the low bits of a large v are
// replaced by one that says whether they were all 0.
func oddInt64(v int64) int64 {
	if v > -1<<53 && v < 1<<53 {
		return v
	}
	low := v & 0xfff
	v &^= 0xfff
	if low != 0 {
		v |= 1 << 12
	}
	return v
}

// oddUint64 is [oddInt64] for unsigned integers.
func oddUint64(v uint64) uint64 {
	if v < 1<<53 {
		return v
	}
	low := v & 0xfff
	v &^= 0xfff
	if low != 0 {
		v |= 1 << 12
	}
	return v
}

package kernel

import "math"

// OddFloat32 returns f as a float32 rounded to odd: towards zero, and then
// with the last bit set if anything was lost. Rounding the result once more,
// to a format at least two bits shorter, gives what rounding f would have.
//
// Source: Boldo and Melquiond, "Emulation of a FMA and correctly rounded
// sums: proved algorithms using rounding to odd", 2008.
func OddFloat32(f float64) float32 {
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

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

// oddInteger returns an integer that float64 holds exactly and that rounds to
// any format of up to 39 bits as v does: the low bits of a v that needs more than
// 53 bits are replaced by one that says whether they were all 0.
func oddInteger[T int64 | uint64](v T) T {
	if v == v<<11>>11 {
		return v
	}
	low := v & 0xfff
	v &^= 0xfff
	if low != 0 {
		v |= 1 << 12
	}
	return v
}

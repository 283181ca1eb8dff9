package elementwise

import "github.com/berth-go/berth/internal/kernel"

// The loops of integers alone. Those that divide report false, with dst
// partly written, when they meet a divisor of 0. In Go the least integer
// divided by -1 is itself, with the remainder 0.

func absInteger[T kernel.Integer](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		x := a[i]
		if x < 0 {
			x = -x
		}
		dst[i] = x
	}
}

func divInteger[T kernel.Integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		y := b[i]
		if y == 0 {
			return false
		}
		dst[i] = a[i] / y
	}
	return true
}

func floorDivInteger[T kernel.Integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		x, y := a[i], b[i]
		if y == 0 {
			return false
		}
		q := x / y
		if r := x % y; r != 0 && (r < 0) != (y < 0) {
			q--
		}
		dst[i] = q
	}
	return true
}

func modInteger[T kernel.Integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		y := b[i]
		if y == 0 {
			return false
		}
		r := a[i] % y
		if r != 0 && (r < 0) != (y < 0) {
			r += y
		}
		dst[i] = r
	}
	return true
}

func fmodInteger[T kernel.Integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		y := b[i]
		if y == 0 {
			return false
		}
		dst[i] = a[i] % y
	}
	return true
}

// powInteger raises to integer powers, wrapping. A negative power is the
// reciprocal without its fraction: 0 but for the bases 1 and -1. The base 0
// has no negative powers.
func powInteger[T kernel.Integer](dst, a []T, b []int64) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		x, n := a[i], b[i]
		if n >= 0 {
			dst[i] = power(x, uint64(n))
			continue
		}
		switch x {
		case 0:
			return false
		case 1:
			dst[i] = 1
		default:
			dst[i] = 0
			if x+1 == 0 && x < 0 { // -1, which no unsigned type has
				dst[i] = power(x, uint64(n&1))
			}
		}
	}
	return true
}

func power[T kernel.Integer](x T, n uint64) T {
	y := T(1)
	for ; n != 0; n >>= 1 {
		if n&1 != 0 {
			y *= x
		}
		x *= x
	}
	return y
}

// wrapExponent makes int64 of exponents. Those that do not fit become others of
// the same power: in 64 bits, odd numbers repeat after 2^62 powers, and even
// ones are 0 from the power 64 on.
func wrapExponent(dst []int64, a []uint64) {
	a = a[:len(dst)]
	for i := range dst {
		n := a[i]
		if n >= 1<<63 {
			n = n&(1<<62-1) | 1<<62
		}
		dst[i] = int64(n)
	}
}

func bitNot[T kernel.Integer](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = ^a[i]
	}
}

func bitAnd[T kernel.Integer](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] & b[i]
	}
}

func bitOr[T kernel.Integer](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] | b[i]
	}
}

func bitXor[T kernel.Integer](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] ^ b[i]
	}
}

// The shift counts are taken as unsigned: a negative one is a large one, and
// Go shifts by more than the width to 0 or to the sign.

func shiftLeft[T kernel.Integer](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] << uint64(b[i])
	}
}

func shiftRight[T kernel.Integer](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] >> uint64(b[i])
	}
}

// not inverts bools, which are 0 or 1.
func not(dst, a []uint8) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = a[i] ^ 1
	}
}

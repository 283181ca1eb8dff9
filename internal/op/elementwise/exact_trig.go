package elementwise

import (
	"math"
	"math/bits"
)

// The trigonometric functions of float64. Those of package math lose digits next
// to multiples of π/2, tan about 0, and asin and acos about 1.

// π/2 as the sum of three float64.
const (
	halfPi1 = 0x1.921fb54442d18p+0
	halfPi2 = 0x1.1a62633145c07p-54
	halfPi3 = math.Pi/2 - halfPi1 - halfPi2
)

// quadrant returns x - n*π/2 for n the nearest integer, and n modulo 4; x is
// finite.
//
// The first subtraction has no rounding: both sides are multiples of the last
// digit of π/2, or of x, and what is left is less than 1.
//
// Source: Cody and Waite, "Software Manual for the Elementary Functions", 1980.
func quadrant(x float64) (r pair, n uint64) {
	switch a := math.Abs(x); {
	case a < math.Pi/4:
		return pair{hi: x}, 0
	case a >= 1<<30:
		return quadrantLarge(x)
	}
	k := math.RoundToEven(x * (2 / math.Pi))
	p := productOf(k, halfPi2)
	s := sumOf(math.FMA(-k, halfPi1, x), -p.hi)
	return orderedSum(s.hi, s.lo-madd(k, halfPi3, p.lo)), uint64(int64(k)) & 3
}

// twoOverPi holds the binary digits of 2/π, after 64 zeros.
var twoOverPi = [...]uint64{
	0, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
	0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
	0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
	0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
	0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
}

// quadrantLarge multiplies the 53 digits of x by those 192 digits of 2/π that
// make the quotient modulo 4, and 137 digits after the point.
//
// Source: Payne and Hanek, "Radian reduction for trigonometric functions", 1983.
func quadrantLarge(x float64) (r pair, n uint64) {
	b := math.Float64bits(x)
	m := b&(1<<52-1) | 1<<52
	at := int(b>>52&0x7ff) - 1023 - 52 - 2 + 64 // of the first digit that counts
	digits := func(i int) uint64 {
		i += at / 64
		return twoOverPi[i]<<(at%64) | twoOverPi[i+1]>>(64-at%64)
	}
	low, rest := bits.Mul64(m, digits(2))
	high, middle := bits.Mul64(m, digits(1))
	middle, carry := bits.Add64(middle, low, 0)
	high += m*digits(0) + carry

	n = high >> 62
	high, middle = high<<2|middle>>62, middle<<2|rest>>62
	sign := math.Copysign(1, x)
	if high>>63 != 0 {
		n++
		carry := uint64(0)
		middle, carry = bits.Sub64(0, middle, 0)
		high, _ = bits.Sub64(0, high, carry)
		sign = -sign
	}
	zeros := bits.LeadingZeros64(high)
	high, middle = high<<zeros|middle>>(64-zeros), middle<<zeros
	unit := sign * powerOf2(-53-zeros)
	f := pair{float64(high>>11) * unit, float64(high<<53|middle>>11) * unit * 0x1p-64}
	if x < 0 {
		n = -n
	}
	return f.times(pair{halfPi1, halfPi2}), n & 3
}

// (sin(x) - x)/x³ and (cos(x) - 1 + x²/2)/x⁴ in x², for |x| <= π/4.
var (
	sinCoefficients = [...]float64{
		-1. / 6, 1. / 120, -1. / 5040, 1. / 362880, -1. / 39916800, 1. / 6227020800,
		-1. / 1307674368000, 1. / 355687428096000,
	}
	cosCoefficients = [...]float64{
		1. / 24, -1. / 720, 1. / 40320, -1. / 3628800, 1. / 479001600, -1. / 87178291200,
		1. / 20922789888000, -1. / 6402373705728000,
	}
)

// sinCos returns the sine and cosine of x - n*π/2 for n the nearest integer,
// and n modulo 4; NaN for what is not finite.
func sinCos(x float64) (sin, cos float64, n uint64) {
	if !(math.Abs(x) <= math.MaxFloat64) {
		return math.NaN(), math.NaN(), 0
	}
	r, n := quadrant(x)
	z := r.hi * r.hi
	sin = r.hi + madd(r.hi*z, polynomial(z, sinCoefficients[:]), r.lo*madd(-0.5, z, 1))
	c := orderedSum(1, -0.5*z)
	cos = c.hi + (c.lo + madd(z*z, polynomial(z, cosCoefficients[:]), -r.hi*r.lo))
	return sin, cos, n
}

func sin(x float64) float64 {
	sin, cos, n := sinCos(x)
	return turned(sin, cos, n)
}

func cos(x float64) float64 {
	sin, cos, n := sinCos(x)
	return turned(cos, -sin, n)
}

func tan(x float64) float64 { return tangent(sinCos(x)) }

// tangent returns the tangent of x from what [sinCos] returns.
func tangent(sin, cos float64, n uint64) float64 {
	if n&1 != 0 {
		sin, cos = -cos, sin
	}
	return sin / cos
}

// turned returns a, b, -a or -b for n = 0, 1, 2, 3, without branches that
// nobody can predict.
func turned(a, b float64, n uint64) float64 {
	x, y := math.Float64bits(a), math.Float64bits(b)
	x ^= (x ^ y) & -(n & 1)
	return math.Float64frombits(x ^ n>>1<<63)
}

func asin(x float64) float64 { return math.Atan(x / math.Sqrt(math.FMA(-x, x, 1))) }

func acos(x float64) float64 {
	switch {
	case x < -0.5:
		return math.Pi - acos(-x)
	case x > 0.5:
		return math.Atan(math.Sqrt(math.FMA(-x, x, 1)) / x)
	}
	return math.Pi/2 - asin(x)
}

// atan2 has the sign of y, which math.Atan2 loses where y/x is too small.
func atan2(y, x float64) float64 { return math.Copysign(math.Atan2(y, x), y) }

package elementwise

import (
	"math"

	"github.com/berth-go/berth/internal/kernel"
)

// The functions in this file serve float32: they compute in float64, whose
// scalar instructions cost the same, with approximations good to about 1e-9
// of the value, so that the rounding to float32 is nearly all of the error.
// The polynomials are near-minimax (Chebyshev) fits over the stated intervals.

// fastExpm1 is eˣ - 1 for x of any size. It is s*q + (s-1) for the s, a power of
// 2, and the q with s + s*q = eˣ that [kernel.expLoop] finds.
func fastExpm1(x float64) float64 {
	c := min(max(x, -kernel.ExpRange), kernel.ExpRange) // NaN stays
	t := c*math.Log2E + kernel.ExpRound
	r := c - (t-kernel.ExpRound)*math.Ln2
	z := r * r
	p := (kernel.ExpPoly0 + r*kernel.ExpPoly1) + z*((kernel.ExpPoly2+r*kernel.ExpPoly3)+z*(kernel.ExpPoly4+r*kernel.ExpPoly5))
	s := math.Float64frombits(math.Float64bits(t) << 52)
	return s*(r+z*p) + (s - 1)
}

// fastLog is ln x for what float32 can hold, or sums of it.
//
// It writes x = 2ᵏ*m with m in [√½, √2), and ln m = 2 artanh f for
// f = (m-1)/(m+1).
func fastLog(x float64) float64 {
	const (
		root = 0x3fe6a09e00000000 // √½, a little below
		one  = 0x3ff0000000000000
	)
	if !(x > 0 && x <= math.MaxFloat64) {
		return math.Log(x) // 0, negative, infinite or NaN
	}
	b := math.Float64bits(x) + (one - root)
	k := float64(int64(b>>52) - 1023)
	m := math.Float64frombits(b&(1<<52-1) + root)
	f := (m - 1) / (m + 1)
	z := f * f
	// (2 artanh f - 2f)/f³ in z
	p := 0.66666666554496431 + z*(0.40000121840346519+z*(0.28550820754653361+z*0.23330468884525633))
	return k*math.Ln2 + (2*f + f*z*p)
}

// fastLog1p is ln(1+x). Below 2^-12 the sum would lose digits, and three
// terms of the series are enough.
func fastLog1p(x float64) float64 {
	if x > -1./4096 && x < 1./4096 {
		return x - x*x*(0.5-x*(1./3))
	}
	return fastLog(1 + x)
}

// sinCos returns the sine and cosine of x - n*π/2 for n the nearest integer,
// and n modulo 4. |x| is below 2^19.
//
// π/2 is split so that n times its upper part is exact.
//
// Source: Cody and Waite, "Software Manual for the Elementary Functions", 1980.
func sinCos(x float64) (sin, cos float64, n uint64) {
	const (
		shift = 3 << 51
		upper = 1.5707963267341256142
		lower = 6.0771005065061926015e-11
	)
	t := x*(2/math.Pi) + shift
	k := t - shift
	r := x - k*upper - k*lower
	z := r * r
	sin = r * (1 + z*(-0.1666666666385529+z*(0.0083333318747102088+z*(-0.00019840086735384846+z*2.7249925803059792e-6))))
	cos = 1 + z*(-0.49999999999963891+z*(0.041666666637396073+z*(-0.0013888885091399199+z*(2.4799862190148396e-5+z*-2.7237140418016e-7))))
	return sin, cos, math.Float64bits(t) & 3
}

// The range of [sinCos]; NaN is outside.
const sinCosRange = 1 << 19

func fastSin(x float64) float64 {
	if !(x > -sinCosRange && x < sinCosRange) {
		return math.Sin(x)
	}
	sin, cos, n := sinCos(x)
	return turned(sin, cos, n)
}

func fastCos(x float64) float64 {
	if !(x > -sinCosRange && x < sinCosRange) {
		return math.Cos(x)
	}
	sin, cos, n := sinCos(x)
	return turned(cos, -sin, n)
}

// turned returns a, b, -a or -b for n = 0, 1, 2, 3, without branches that
// nobody can predict.
func turned(a, b float64, n uint64) float64 {
	x, y := math.Float64bits(a), math.Float64bits(b)
	x ^= (x ^ y) & -(n & 1)
	return math.Float64frombits(x ^ n>>1<<63)
}

func fastTan(x float64) float64 {
	if !(x > -sinCosRange && x < sinCosRange) {
		return math.Tan(x)
	}
	sin, cos, n := sinCos(x)
	if n&1 != 0 {
		sin, cos = -cos, sin
	}
	return sin / cos
}

func fastSinh(x float64) float64 {
	e := fastExpm1(math.Abs(x))
	return math.Copysign(0.5*(e+e/(e+1)), x)
}

func fastCosh(x float64) float64 {
	e := kernel.Exp64(math.Abs(x))
	return 0.5 * (e + 1/e)
}

func fastAsinh(x float64) float64 {
	a := math.Abs(x)
	if a > 1<<30 {
		return math.Copysign(fastLog(a)+math.Ln2, x)
	}
	return math.Copysign(fastLog1p(a+a*a/(1+math.Sqrt(a*a+1))), x)
}

func fastAcosh(x float64) float64 {
	t := x - 1
	if t < 0 {
		return math.NaN()
	}
	return fastLog1p(t + math.Sqrt(t*(t+2)))
}

func fastAtanh(x float64) float64 { return 0.5 * fastLog1p(2*x/(1-x)) }

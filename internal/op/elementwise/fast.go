package elementwise

import "math"

// The functions in this file serve float32: they compute in float64, whose
// scalar instructions cost the same, with approximations good to about 1e-9
// of the value, so that the rounding to float32 is nearly all of the error.
// The polynomials are near-minimax (Chebyshev) fits over the stated intervals.

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
	p := madd(z, 0.23330468884525633, 0.28550820754653361)
	p = madd(z, p, 0.40000121840346519)
	p = madd(z, p, 0.66666666554496431)
	return madd(k, math.Ln2, madd(f*z, p, 2*f))
}

func fastLog2(x float64) float64 { return fastLog(x) * math.Log2E }

// fastLog1p is ln(1+x). Below 2^-12 the sum would lose digits, and three
// terms of the series are enough.
func fastLog1p(x float64) float64 {
	if x > -1./4096 && x < 1./4096 {
		return madd(x*x, madd(x, 1./3, -0.5), x)
	}
	return fastLog(1 + x)
}

// fastSinCos returns the sine and cosine of x - n*π/2 for n the nearest
// integer, and n modulo 4. From 2^19 on, and for NaN, it is [sinCos].
//
// π/2 is split so that n times its upper part is exact.
//
// Source: Cody and Waite, "Software Manual for the Elementary Functions", 1980.
func fastSinCos(x float64) (sin, cos float64, n uint64) {
	const (
		limit = 1 << 19
		shift = 3 << 51
		upper = 1.5707963267341256142
		lower = 6.0771005065061926015e-11
	)
	if !(x > -limit && x < limit) {
		return sinCos(x)
	}
	t := madd(x, 2/math.Pi, shift)
	k := t - shift
	r := madd(-k, lower, madd(-k, upper, x))
	z := r * r
	s := madd(z, 2.7249925803059792e-6, -0.00019840086735384846)
	s = madd(z, s, 0.0083333318747102088)
	s = madd(z, s, -0.1666666666385529)
	c := madd(z, -2.7237140418016e-7, 2.4799862190148396e-5)
	c = madd(z, c, -0.0013888885091399199)
	c = madd(z, c, 0.041666666637396073)
	c = madd(z, c, -0.49999999999963891)
	return madd(r*z, s, r), madd(z, c, 1), math.Float64bits(t) & 3
}

func fastSin(x float64) float64 {
	sin, cos, n := fastSinCos(x)
	return turned(sin, cos, n)
}

func fastCos(x float64) float64 {
	sin, cos, n := fastSinCos(x)
	return turned(cos, -sin, n)
}

func fastTan(x float64) float64 { return tangent(fastSinCos(x)) }

func fastAsinh(x float64) float64 {
	a := math.Abs(x)
	if a > 1<<30 {
		return math.Copysign(fastLog(a)+math.Ln2, x)
	}
	s := float64(a * a)
	return math.Copysign(fastLog1p(a+s/(1+math.Sqrt(s+1))), x)
}

func fastAcosh(x float64) float64 {
	t := x - 1
	if t < 0 {
		return math.NaN()
	}
	return fastLog1p(t + math.Sqrt(t*(t+2)))
}

func fastAtanh(x float64) float64 { return 0.5 * fastLog1p(2*x/(1-x)) }

package isa

import (
	"math"

	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa/numbers"
)

// Functions of float32 in the arithmetic of float32, of which a vector register holds
// twice as many as of float64. These plain forms define them, and the sets in assembly
// give the same bits. How far each is from the function is in brackets, in units in
// the last place, at most. Package numbers has the polynomials.

// fma is x*y + z, rounded once.
//
// The product is exact in float64. The sum is rounded there first, which can show in
// the second numbers.Rounding only where it has come to lie halfway between two float32: it is
// then moved off, to the side of the exact sum.
//
// Source: Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved
// algorithms using numbers.Rounding to odd", 2008.
func fma(x, y, z float32) float32 {
	p, c := float64(float64(x)*float64(y)), float64(z)
	s := p + c
	if b := math.Float64bits(s); b&(1<<28-1) == 0 && s-s == 0 {
		v := s - p
		switch e := (p - (s - v)) + (c - v); {
		case e == 0:
		case e > 0 == (s > 0):
			s = math.Float64frombits(b + 1)
		default:
			s = math.Float64frombits(b - 1)
		}
	}
	return float32(s)
}

// horner is c[0]*xⁿ + ... + c[n].
func horner(x float32, c []float32) float32 {
	y := c[0]
	for _, v := range c[1:] {
		y = fma(y, x, v)
	}
	return y
}

// power is exp(x+low) = y*2ᵏ with y from 0.7 to 1.5, for x from numbers.TailLeast to numbers.ExpMost and
// a low that is the numbers.Rounding error of x; NaN of NaN.
func power(x, low float32) (y float32, k int32) {
	p, k := powerLess1(x, low)
	return 1 + p, k
}

// powerLess1 is power with p = y-1.
func powerLess1(x, low float32) (p float32, k int32) {
	t := fma(x, math.Log2E, numbers.Rounding)
	n := t - numbers.Rounding
	r := fma(n, -numbers.Ln2Upper, x)
	r = fma(n, -numbers.Ln2Lower, r) + low
	p = fma(float32(r*r), horner(r, numbers.ExpTerms), r)
	return p, int32(math.Float32bits(t)) - int32(math.Float32bits(numbers.Rounding))
}

func powerOf2(k int32) float32 { return math.Float32frombits(uint32(127+k) << 23) }

// scaled is y*2ᵏ for a y from power and k from -151 to 129. The first product is exact.
func scaled(y float32, k int32) float32 {
	half := k >> 1
	return float32(float32(y*powerOf2(half)) * powerOf2(k-half))
}

// lowered is y*2ᵏ for k from -361 to 0: the last product is the only one that can round,
// unless all is 0 in the end. A product that comes to 0 is not computed, as underflow takes
// processors as long as some twenty of these functions.
func lowered(y float32, k int32) float32 {
	if t := math.Float32frombits(uint32(max(-23-max(k, -277), 0)) << 23); abs32(y) <= t { // 2^(-150-k), or 0
		y = 0
	}
	first := max(k, -120)
	second := max(k-first, -120)
	return float32(float32(float32(y*powerOf2(k-first-second))*powerOf2(second)) * powerOf2(first))
}

// atLeast and atMost are max and min for which NaN is no reason to be careful: a NaN x
// stays.
func atLeast(x, least float32) float32 {
	if x < least {
		return least
	}
	return x
}

func atMost(x, most float32) float32 {
	if x > most {
		return most
	}
	return x
}

func abs32(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// withSign is x, which is not negative, with the sign of y.
func withSign(x, y float32) float32 {
	return math.Float32frombits(math.Float32bits(x) | math.Float32bits(y)&(1<<31))
}

// exp32 is eˣ [1].
func exp32(x float32) float32 {
	return scaled(vanishing(x, 0))
}

// vanishing is exp(x+low) = y*2ᵏ for any x, with y = 0 where it comes to 0: a product of
// numbers would get there by underflow, which takes processors long.
func vanishing(x, low float32) (y float32, k int32) {
	y, k = power(atMost(atLeast(x, numbers.ExpLeast), numbers.ExpMost), low)
	if x < numbers.ExpLeast {
		y = 0
	}
	return y, k
}

// expShift32 is exp(x-m) [1.2]. The rounding error of the difference goes into the exponential,
// which would multiply it by the difference itself.
func expShift32(x, m float32) float32 {
	d := x - m
	v := d - x
	low := (x - (d - v)) - (m + v)
	if !(abs32(d) < -numbers.ExpLeast) {
		low = 0 // where d may be infinite
	}
	return scaled(vanishing(d, low))
}

// expm1 is eˣ-1 [1.6]: 2ᵏ*p + (2ᵏ-1), and eˣ where the 1 no longer shows.
func expm1(x float32) float32 {
	const far = 60
	p, k := powerLess1(atMost(atLeast(x, numbers.ExpLeast), numbers.ExpMost), 0)
	s := scaled(1, max(k, numbers.Negligible))
	y := fma(p, s, s-1)
	if x > far {
		y = scaled(1+p, k)
	}
	return withSign(abs32(y), x) // -0 of -0
}

// linearUnit is gamma*alpha*expm1(z) where x is negative, and gamma*x elsewhere [3].
func linearUnit(x, z, alpha, gamma float32) float32 {
	if x < 0 {
		x = float32(alpha * expm1(z))
	}
	return float32(gamma * x)
}

// mish32 is x*tanh(ln(1+eˣ)) = x*w/(w+2) with w = eˣ*(eˣ+2) [3]. The exponential is a factor
// of w, and where x is negative, it is one that comes last.
func mish32(x float32) float32 {
	const far = 20 // where w/(w+2) is 1
	m, k := power(atMost(atLeast(x, numbers.TailLeast), far), 0)
	e := scaled(m, max(k, numbers.Negligible))
	w := fma(e, e, e+e)
	if !(x < 0) {
		m, k = e, 0
	}
	if x < numbers.TailLeast {
		m = 0
	}
	return lowered(float32(x*(float32(m*(e+2))/(w+2))), k)
}

// hardSigmoid32 is min(max(alpha*x+beta, 0), 1) [0.5].
func hardSigmoid32(x, alpha, beta float32) float32 {
	return atMost(atLeast(fma(x, alpha, beta), 0), 1)
}

// logistic is v/(1+exp(-x-low)). The exponential is that of -|x|; where x is negative, it is
// a factor of v as well.
func logistic(v, x, low float32) float32 {
	below := x < 0
	if !below {
		low = -low
	}
	m, k := power(atLeast(-abs32(x), numbers.TailLeast), low)
	e := scaled(m, max(k, numbers.Negligible))
	if !below {
		m, k = 1, 0
	}
	if x < numbers.TailLeast {
		m = 0
	}
	return lowered(float32(v*m)/(1+e), k)
}

// sigmoid32 is 1/(1+exp(-x)) [2.1].
func sigmoid32(x float32) float32 { return logistic(1, x, 0) }

// swish32 is x/(1+exp(-alpha*x)) [3].
func swish32(x, alpha float32) float32 {
	u := float32(alpha * x)
	low := fma(alpha, x, -u)
	if !(abs32(u) < -numbers.TailLeast) {
		low = 0 // where u may be infinite
	}
	return logistic(x, u, low)
}

// geluTanh32 is x times the sigmoid of 2√(2/π)*(x+0.044715*x³), which is x*(1+tanh(...))/2 [3].
// The argument is in two parts, as the exponential multiplies its numbers.Rounding error by its size.
func geluTanh32(x float32) float32 {
	w := atMost(atLeast(x, -20), 20) // beyond which the exponential is nothing, or all
	square := float32(w * w)
	rest := fma(w, w, -square)
	p := float32(numbers.CubicUpper * square)
	g := numbers.LinearUpper + p
	v := g - numbers.LinearUpper
	low := (numbers.LinearUpper - (g - v)) + (p - v) + fma(numbers.CubicUpper, square, -p)
	low = fma(numbers.CubicUpper, rest, fma(numbers.CubicLower, square, low+numbers.LinearLower))
	u := float32(w * g)
	return logistic(x, u, fma(w, low, fma(w, g, -u)))
}

// tanh32 is 1 - 2/(exp(2|x|)+1) with the sign of x, and near 0 an odd polynomial [1.3].
func tanh32(x float32) float32 {
	m := abs32(x)
	y, k := power(atMost(m+m, 40), 0)
	far := 1 - 2/(scaled(y, k)+1)
	z := float32(m * m)
	near := fma(float32(m*z), horner(z, numbers.TanhTerms), m)
	if m < numbers.TanhNear {
		far = near
	}
	return withSign(far, x)
}

// tail is erfc(m) = y*2ᵏ for m from 0 to 11, d = 1+0.4*m, and the square of m, which is the
// sum of square and low. What the reciprocal of d is rounded by goes into y.
func tail(d, square, low float32) (y float32, k int32) {
	y, k = power(-square, -low)
	t := 1 / d
	y *= t
	y = fma(y, fma(-d, t, 1), y)
	return float32(y * horner(t-numbers.ErfcMiddle, numbers.ErfcTerms)), k
}

// erf32 is 1-erfc(|x|) with the sign of x, and near 0 an odd polynomial [2].
func erf32(x float32) float32 {
	m := atMost(abs32(x), 4)
	z := float32(m * m)
	far := 1 - scaled(tail(fma(0.4, m, 1), z, fma(m, m, -z)))
	near := fma(m, horner(z, numbers.ErfTerms), m)
	if m < numbers.ErfNear {
		far = near
	}
	return withSign(far, x)
}

// gelu32 is x*Φ(x) for the normal distribution Φ [6]. Beyond a distance from 0 the half of it
// below 0 is what is computed, as that is where its digits are.
func gelu32(x float32) float32 {
	w := atMost(abs32(x), 15)
	z := float32(w * w)
	m := float32(w * math.Sqrt2 / 2)
	y, k := tail(fma(0.4*math.Sqrt2/2, w, 1), 0.5*z, 0.5*fma(w, w, -z))
	y *= 0.5
	if x < -15 {
		y = 0
	}
	half := 0.5 * withSign(m, x)
	phi := 0.5 + fma(half, horner(0.5*z, numbers.ErfTerms), half)
	if x > 0 && !(m < numbers.ErfNear) {
		phi = 1 - scaled(y, k)
	}
	if x < 0 && !(m < numbers.ErfNear) {
		return scaled(float32(x*y), k)
	}
	return float32(x * phi)
}

// log32 is ln x [1].
//
// It writes x = 2ᵏ*(1+f) with 1+f from √½ to √2.
func log32(x float32) float32 {
	const (
		root = 0x3f3504f3 // √½
		one  = 0x3f800000
	)
	v, extra := x, float32(0)
	if x < 0x1p-126 {
		v, extra = float32(x*0x1p23), -23
	}
	b := math.Float32bits(v) + (one - root)
	k := float32(int32(b>>23)-127) + extra
	f := math.Float32frombits(b&(1<<23-1)+root) - 1
	square := float32(f * f)
	y := fma(k, numbers.Ln2Lower, float32(float32(square*f)*horner(f, numbers.LogTerms)))
	y = fma(k, numbers.Ln2Upper, f+fma(-0.5, square, y))
	switch {
	case x < 0:
		return float32(math.NaN())
	case x == 0:
		return float32(math.Inf(-1))
	case !(x <= math.MaxFloat32):
		return x
	}
	return y
}

// softplus32 is ln(1+exp(x)) = max(x, 0) + ln(1+exp(-|x|)) [2.5], with the logarithm as
// 2 artanh(e/(2+e)).
func softplus32(x float32) float32 {
	e := scaled(vanishing(-abs32(x), 0))
	s := e / (2 + e)
	z := float32(s * s)
	if s < numbers.SquareLeast {
		z = 0
	}
	return atLeast(x, 0) + fma(float32(s*z), horner(z, numbers.ArtanhTerms), s+s)
}

// singles are the functions above by the names that package elementwise gives them.
var singles = map[string]func(x float32, p *[2]float64) float32{
	"exp":       func(x float32, _ *[2]float64) float32 { return exp32(x) },
	"log":       func(x float32, _ *[2]float64) float32 { return log32(x) },
	"tanh":      func(x float32, _ *[2]float64) float32 { return tanh32(x) },
	"erf":       func(x float32, _ *[2]float64) float32 { return erf32(x) },
	"sigmoid":   func(x float32, _ *[2]float64) float32 { return sigmoid32(x) },
	"softplus":  func(x float32, _ *[2]float64) float32 { return softplus32(x) },
	"swish":     func(x float32, p *[2]float64) float32 { return swish32(x, float32(p[0])) },
	"gelu":      func(x float32, _ *[2]float64) float32 { return gelu32(x) },
	"gelu_tanh": func(x float32, _ *[2]float64) float32 { return geluTanh32(x) },
	"expm1":     func(x float32, _ *[2]float64) float32 { return expm1(x) },
	"elu":       func(x float32, p *[2]float64) float32 { return linearUnit(x, x, float32(p[0]), 1) },
	"selu":      func(x float32, p *[2]float64) float32 { return linearUnit(x, x, float32(p[0]), float32(p[1])) },
	"celu": func(x float32, p *[2]float64) float32 {
		alpha := float32(p[0])
		return linearUnit(x, x/alpha, alpha, 1)
	},
	"mish":         func(x float32, _ *[2]float64) float32 { return mish32(x) },
	"hard_sigmoid": func(x float32, p *[2]float64) float32 { return hardSigmoid32(x, float32(p[0]), float32(p[1])) },
}

// singleMaps returns the loops over elements of these functions, and those of expShift32.
func singleMaps() map[MapKey]Map {
	maps := make(map[MapKey]Map)
	for name, f := range singles {
		maps[MapKey{name, 32, 0}] = func(dst, a, _, _ []byte, p *[2]float64) {
			kernel.Each(kernel.Cast[float32](dst), kernel.Cast[float32](a), func(x float32) float32 { return f(x, p) })
		}
	}
	maps[MapKey{"exp_shift", 32, 0}] = func(dst, a, b, _ []byte, _ *[2]float64) {
		kernel.Each2(kernel.Cast[float32](dst), kernel.Cast[float32](a), kernel.Cast[float32](b), expShift32)
	}
	maps[MapKey{"exp_shift", 32, 0b10}] = func(dst, a, b, _ []byte, _ *[2]float64) {
		m := kernel.Cast[float32](b)[0]
		kernel.Each(kernel.Cast[float32](dst), kernel.Cast[float32](a), func(x float32) float32 { return expShift32(x, m) })
	}
	return maps
}

package elementwise

import "math"

// The functions of float64, where those of package math do not exist, lose
// digits, or differ from processor to processor by more than their last digit.

// exp differs from math.Exp next to the greatest result, where that is infinite
// on amd64.
func exp(x float64) float64 { return pair{hi: x}.exp(0) }

// log and log2 differ from package math for subnormal numbers, and the latter
// about 1, where that cancels.

func log(x float64) float64 {
	if !(x > 0 && x <= math.MaxFloat64) {
		return math.Log(x)
	}
	return logPair(x).hi
}

func log2(x float64) float64 {
	if !(x > 0 && x <= math.MaxFloat64) {
		return math.Log2(x)
	}
	const log2e = 0x1.71547652b82fep+0
	return logPair(x).times(pair{log2e, math.Log2E - log2e}).hi
}

// sinh is (n + n/(n+1))/2 for n = exp(|x|)-1, until the second part no longer
// counts.
func sinh(x float64) float64 {
	a := math.Abs(x)
	if a > 40 {
		return math.Copysign(pair{hi: a}.exp(-1), x)
	}
	n := math.Expm1(a)
	return math.Copysign(0.5*(n+n/(n+1)), x)
}

// cosh is (e + 1/e)/2 for e = exp(|x|), until the second part no longer counts.
func cosh(x float64) float64 {
	a := math.Abs(x)
	if a > 40 {
		return pair{hi: a}.exp(-1)
	}
	e := exp(a)
	return 0.5 * (e + 1/e)
}

// logistic is x/(1+exp(-t)). Where exp(-t) is all of the denominator, it
// multiplies, and by so much more than exp(t) that what is subnormal is the
// result alone.
func logistic(x float64, t pair) float64 {
	if t.hi < -40 {
		return x * t.exp(64) * 0x1p-64
	}
	return pair{hi: x}.over(sumOf(1, pair{-t.hi, -t.lo}.exp(0)))
}

func sigmoid(x float64) float64 { return logistic(1, pair{hi: x}) }

func swish(x, alpha, _ float64) float64 { return logistic(x, productOf(alpha, x)) }

// softplus is ln(1+exp(x)).
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(exp(-math.Abs(x))) }

// geluTanh is x/2 * (1 + tanh(t/2)), which is x times the sigmoid of t, for
// t = 2√(2/π)*(x + 0.044715*x³).
func geluTanh(x float64) float64 {
	const (
		rootHi, rootLo   = 0x1.9884533d43651p+0, -0x1.cbc0d30ebfd15p-54 // 2√(2/π)
		cubicHi, cubicLo = 0x1.6e4e26d4801f7p-5, 0.044715 - 0x1.6e4e26d4801f7p-5
	)
	switch {
	case x > 40:
		return x // the tanh is 1
	case x < -40:
		return 0 * x // it is -1
	}
	t := productOf(x, x).times(pair{cubicHi, cubicLo}).plus(pair{hi: 1})
	return logistic(x, t.times(pair{rootHi, rootLo}).times(pair{hi: x}))
}

// gelu is x*Φ(x) for the normal distribution Φ, where the complement of erf
// multiplies the rounding of its argument by its square. So in the tail it is
// -φ(x)*(1-g), for the density φ and the g of [geluCoefficients].
func gelu(x float64) float64 {
	switch {
	case x > 40:
		return x // Φ(-x) is nothing beside 1
	case x < -40:
		return 0 * x // Φ(x) is less than the least number
	case !(x < -1):
		const root = 0x1.6a09e667f3bcdp-1
		return 0.5 * x * math.Erfc(pair{hi: -x}.times(pair{root, 1/math.Sqrt2 - root}).hi)
	}
	const logHi, logLo = 0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55 // ln √(2π)
	square := productOf(x, x)
	phi := pair{-0.5 * square.hi, -0.5 * square.lo}.plus(pair{-logHi, -logLo}).exp(64)
	u := (-x - 4) / (4 - x)
	return math.FMA(phi, polynomial(u, geluCoefficients[:]), -phi) * 0x1p-64
}

// 1 - z*Φ(-z)/φ(z) in (z-4)/(z+4), fitted at the Chebyshev nodes of 1 <= z <= 40.
var geluCoefficients = [...]float64{
	0.053390468345757315, -0.18472407624425122, 0.2766806779761994, -0.25143429593459776,
	0.15807460034281362, -0.06624565572636687, 0.013811373071907645, 0.002317219811489234,
	-0.002211050211767331, 0.00012251223010845437, 0.000292026885636307, -4.165583241716099e-05,
	-4.4949610974948876e-05, 6.523573494628697e-06, 8.224028616179396e-06, -5.017285294596366e-07,
	-1.654397495115073e-06, -1.1553230138479641e-07, 3.4226173538666264e-07, 4.259040108110756e-08,
	-6.179739797658864e-08, 5.890588217605427e-09,
}

// mish is x*tanh(ln(1+exp(x))), where the tanh is n/(n+2) with
// n = (1+exp(x))²-1.
func mish(x float64) float64 {
	switch {
	case x > 40:
		return x // the tanh is 1
	case x < -40:
		return logistic(x, pair{hi: x}) // the tanh is exp(x)
	}
	e := exp(x)
	n := math.FMA(e, e, 2*e)
	return productOf(x, n).over(sumOf(n, 2))
}

func elu(x, alpha, _ float64) float64 {
	if x < 0 {
		return alpha * math.Expm1(x)
	}
	return x
}

func selu(x, alpha, gamma float64) float64 {
	if x <= 0 {
		return gamma * (alpha * math.Expm1(x))
	}
	return gamma * x
}

func celu(x, alpha, _ float64) float64 {
	if x < 0 {
		return alpha * math.Expm1(x/alpha)
	}
	return x
}

// pow is xⁿ. Squares are products. It differs from math.Pow, which multiplies
// as often as the exponent has digits, and loses one each time.
func pow(x, n float64) float64 {
	sign := 1.
	switch {
	case n == 1:
		return x
	case n == 2:
		return x * x
	case !(math.Abs(x) <= math.MaxFloat64 && x != 0 && math.Abs(n) <= math.MaxFloat64):
		return math.Pow(x, n)
	case x < 0 && n != math.Trunc(n):
		return math.NaN()
	case x < 0 && math.Mod(n, 2) != 0:
		sign = -1
	}
	log := logPair(math.Abs(x))
	if t := n * log.hi; math.Abs(t) > 1000 {
		return sign * pair{hi: t}.exp(0)
	}
	t := productOf(n, log.hi)
	return sign * pair{t.hi, madd(n, log.lo, t.lo)}.exp(0)
}

// nearPowerOf2 is the power of 2 nearest to |x|, or next to it on the side that
// mode says.
func nearPowerOf2(x, mode, _ float64) float64 {
	x = math.Abs(x)
	if !(x > 0 && x <= math.MaxFloat64) {
		return x
	}
	fraction, exponent := math.Frexp(x) // in [1/2, 1)
	if fraction == 0.5 || mode < 0 || mode == 0 && fraction < 0.75 {
		exponent--
	}
	return math.Ldexp(1, exponent)
}

// mod has the sign of the divisor; dividing by 0 gives NaN.
func mod(x, y float64) float64 {
	r := math.Mod(x, y)
	switch {
	case r == 0:
		return math.Copysign(0, y)
	case (r < 0) != (y < 0):
		return r + y
	}
	return r
}

// floorDiv divides what is left when the remainder is taken away, which is
// close to an integer, so that the quotient never rounds up across one.
func floorDiv(x, y float64) float64 {
	if y == 0 || math.IsInf(x, 0) {
		return x / y
	}
	r := math.Mod(x, y)
	q := math.RoundToEven((x - r) / y)
	if r != 0 && (r < 0) != (y < 0) {
		q--
	}
	if q == 0 {
		q = math.Copysign(0, x/y)
	}
	return q
}

package elementwise

import "math"

// The functions in float64 that package math does not have, in forms that
// neither overflow nor cancel.

// sigmoid is 1/(1+exp(-x)).
func sigmoid(x float64) float64 {
	if x < 0 { // exp(-x) might overflow
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

// softplus is ln(1+exp(x)).
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// gelu is x*Φ(x) for the normal distribution Φ; the complement of erf keeps
// its digits for negative x.
func gelu(x float64) float64 { return 0.5 * x * math.Erfc(-x/math.Sqrt2) }

// geluTanh is [gelu] with tanh in the place of erf; (1+tanh u)/2 is the
// sigmoid of 2u.
func geluTanh(x float64) float64 {
	const c = 2 / (math.SqrtPi / math.Sqrt2) // 2√(2/π)
	return x * sigmoid(c*(x+0.044715*x*x*x))
}

// mish is x*tanh(ln(1+exp(x))), where the tanh is n/(n+2) with
// n = (1+exp(x))²-1.
func mish(x float64) float64 {
	if x > 40 {
		return x // the tanh is 1
	}
	e := math.Exp(x)
	n := e * (e + 2)
	return x * (n / (n + 2))
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

func swish(x, alpha, _ float64) float64 { return x * sigmoid(alpha*x) }

// pow is xⁿ, with the powers met most done exactly as products.
func pow(x, n float64) float64 {
	switch n {
	case 1:
		return x
	case 2:
		return x * x
	case 3:
		return x * x * x
	}
	return math.Pow(x, n)
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

package elementwise

import (
	"math"

	"github.com/berth-go/berth/internal/kernel"
)

// The activation functions in float64, in forms that neither overflow nor
// cancel, and their loops.

// sigmoid64 is 1/(1+exp(-x)).
func sigmoid64(x float64) float64 {
	if x < 0 { // exp(-x) might overflow
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

// softplus64 is ln(1+exp(x)).
func softplus64(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// gelu64 is x*Φ(x) for the normal distribution Φ; the complement of erf keeps
// its digits for negative x.
func gelu64(x float64) float64 { return 0.5 * x * math.Erfc(-x/math.Sqrt2) }

// geluTanh64 is [gelu64] with tanh in the place of erf; (1+tanh u)/2 is the
// sigmoid of 2u.
func geluTanh64(x float64) float64 {
	const c = 2 / (math.SqrtPi / math.Sqrt2) // 2√(2/π)
	return x * sigmoid64(c*(x+0.044715*x*x*x))
}

// mish64 is x*tanh(ln(1+exp(x))), where the tanh is n/(n+2) with
// n = (1+exp(x))²-1.
func mish64(x float64) float64 {
	if x > 40 {
		return x // the tanh is 1
	}
	e := math.Exp(x)
	n := e * (e + 2)
	return x * (n / (n + 2))
}

func softsign[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		x := float64(a[i])
		dst[i] = T(x / (1 + math.Abs(x)))
	}
}

func leakyRelu[T kernel.Float](dst, a []T, alpha, _ float64) {
	a = a[:len(dst)]
	k := T(alpha)
	for i := range dst {
		x := a[i]
		if x < 0 {
			x *= k
		}
		dst[i] = x
	}
}

func elu[T kernel.Float](dst, a []T, alpha, _ float64) {
	a = a[:len(dst)]
	for i := range dst {
		x := a[i]
		if x < 0 {
			x = T(alpha * math.Expm1(float64(x)))
		}
		dst[i] = x
	}
}

func selu[T kernel.Float](dst, a []T, alpha, gamma float64) {
	a = a[:len(dst)]
	for i := range dst {
		x := float64(a[i])
		if x <= 0 {
			x = alpha * math.Expm1(x)
		}
		dst[i] = T(gamma * x)
	}
}

func celu[T kernel.Float](dst, a []T, alpha, _ float64) {
	a = a[:len(dst)]
	for i := range dst {
		x := a[i]
		if x < 0 {
			x = T(alpha * math.Expm1(float64(x)/alpha))
		}
		dst[i] = x
	}
}

func thresholdedRelu[T kernel.Float](dst, a []T, alpha, _ float64) {
	a = a[:len(dst)]
	k := T(alpha)
	for i := range dst {
		x := a[i]
		if x <= k {
			x = 0
		}
		dst[i] = x
	}
}

func hardSigmoid[T kernel.Float](dst, a []T, alpha, beta float64) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(max(0, min(1, alpha*float64(a[i])+beta)))
	}
}

func hardSwish[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		x := float64(a[i])
		dst[i] = T(x * max(0, min(1, x*(1./6)+0.5)))
	}
}

func swish[T kernel.Float](dst, a []T, alpha, _ float64) {
	a = a[:len(dst)]
	for i := range dst {
		x := float64(a[i])
		dst[i] = T(x * sigmoid64(alpha*x))
	}
}

func shrink[T kernel.Float](dst, a []T, lambda, bias float64) {
	a = a[:len(dst)]
	for i := range dst {
		x := float64(a[i])
		switch {
		case x < -lambda:
			x += bias
		case x > lambda:
			x -= bias
		case x == x:
			x = 0
		}
		dst[i] = T(x)
	}
}

func isNaN[T kernel.Float](dst []uint8, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = kernel.Truth(a[i] != a[i])
	}
}

func isInf[T kernel.Float](dst []uint8, a []T, negative, positive float64) {
	a = a[:len(dst)]
	lo, hi := kernel.Truth(negative != 0), kernel.Truth(positive != 0)
	for i := range dst {
		x := float64(a[i])
		dst[i] = kernel.Truth(x < -math.MaxFloat64)&lo | kernel.Truth(x > math.MaxFloat64)&hi
	}
}

// pow64 is xⁿ, with the powers met most done exactly as products.
func pow64(x, n float64) float64 {
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

func powFloat[T kernel.Float](dst, a []T, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = T(pow64(float64(a[i]), b[i]))
	}
}

func powScalar[T kernel.Float](dst, a []T, n float64) {
	a = a[:len(dst)]
	if n == 2 {
		for i := range dst {
			x := float64(a[i])
			dst[i] = T(x * x)
		}
		return
	}
	for i := range dst {
		dst[i] = T(pow64(float64(a[i]), n))
	}
}

// modFloat has the sign of the divisor; dividing by 0 gives NaN.
func modFloat[T kernel.Float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		x, y := float64(a[i]), float64(b[i])
		r := math.Mod(x, y)
		switch {
		case r == 0:
			r = math.Copysign(0, y)
		case (r < 0) != (y < 0):
			r += y
		}
		dst[i] = T(r)
	}
}

func fmodFloat[T kernel.Float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Mod(float64(a[i]), float64(b[i])))
	}
}

// floorDivFloat divides what is left when the remainder is taken away, which
// is close to an integer, so that the quotient never rounds up across one.
func floorDivFloat[T kernel.Float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		x, y := float64(a[i]), float64(b[i])
		if y == 0 || math.IsInf(x, 0) {
			dst[i] = T(x / y)
			continue
		}
		r := math.Mod(x, y)
		q := math.RoundToEven((x - r) / y)
		if r != 0 && (r < 0) != (y < 0) {
			q--
		}
		if q == 0 {
			q = math.Copysign(0, x/y)
		}
		dst[i] = T(q)
	}
}

func atan2Float[T kernel.Float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Atan2(float64(a[i]), float64(b[i])))
	}
}

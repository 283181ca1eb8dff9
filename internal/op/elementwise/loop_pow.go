package elementwise

import (
	"math"

	"github.com/berth-go/berth/internal/kernel"
)

// The loops of powers, which take their exponents as float64.

func powLoops[T kernel.Float]() loops {
	return loops{
		0: loop2(func(dst, a []T, b []float64) {
			kernel.Each2(dst, a, b, func(x T, n float64) T { return T(pow(float64(x), n)) })
		}),
		0b10: loop2s(func(dst, a []T, n float64) {
			if n == 2 {
				kernel.Each(dst, a, func(x T) T { return T(float64(x) * float64(x)) })
				return
			}
			kernel.Each(dst, a, func(x T) T { return T(pow(float64(x), n)) })
		}),
	}
}

// fastPowLoops are for float32, whose powers float64 functions give to all digits.
func fastPowLoops() loops {
	return loops{0: loop2(fastPow), 0b10: loop2s(fastPowScalar)}
}

func fastPow(dst, a []float32, b []float64) {
	kernel.Each2(dst, a, b, func(x float32, n float64) float32 { return float32(fastPower(float64(x), n)) })
}

// mostFactors is up to which exponent powers are products. Those of a float32 are then in
// the range of float64, whose roundings are nothing beside the last.
const mostFactors = 8

func fastPowScalar(dst, a []float32, n float64) {
	switch m := math.Abs(n); {
	case n == 0.5:
		kernel.Each(dst, a, func(x float32) float32 { return float32(root(float64(x))) })
	case m != math.Trunc(m) || m < 1 || m > mostFactors:
		kernel.Each(dst, a, func(x float32) float32 { return float32(fastPower(float64(x), n)) })
	case n > 0:
		kernel.Each(dst, a, func(x float32) float32 { return float32(product(float64(x), int(m))) })
	default:
		kernel.Each(dst, a, func(x float32) float32 { return float32(1 / product(float64(x), int(m))) })
	}
}

// root is x to the power of 1/2, which is not the square root of -0 and of -Inf.
func root(x float64) float64 {
	if math.IsInf(x, -1) {
		return math.Inf(1)
	}
	return math.Sqrt(x) + 0
}

// product is x to the power of n, for n from 1 to mostFactors.
func product(x float64, n int) float64 {
	y := 1.
	for ; n > 1; n >>= 1 {
		if n&1 == 1 {
			y *= x
		}
		x *= x
	}
	return y * x
}

// fastPower is xⁿ, to about 12 digits.
func fastPower(x, n float64) float64 {
	if x > 0 && x <= math.MaxFloat64 && math.Abs(n) <= math.MaxFloat64 {
		return math.Exp(n * math.Log(x))
	}
	return math.Pow(x, n)
}

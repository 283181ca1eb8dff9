package elementwise

import (
	"math"

	"github.com/berth-go/berth/internal/kernel"
)

// The loops of floating-point functions that take a few instructions, which a
// call would outweigh.

func absFloat[T kernel.Float](dst, a []T) {
	kernel.Each(dst, a, func(x T) T { return T(math.Abs(float64(x))) })
}

func reciprocal[T kernel.Float](dst, a []T) {
	kernel.Each(dst, a, func(x T) T { return 1 / x })
}

func sqrt[T kernel.Float](dst, a []T) {
	kernel.Each(dst, a, func(x T) T { return T(math.Sqrt(float64(x))) })
}

func rsqrt[T kernel.Float](dst, a []T) {
	kernel.Each(dst, a, func(x T) T { return 1 / T(math.Sqrt(float64(x))) })
}

func floor[T kernel.Float](dst, a []T) {
	kernel.Each(dst, a, func(x T) T { return T(math.Floor(float64(x))) })
}

func ceil[T kernel.Float](dst, a []T) {
	kernel.Each(dst, a, func(x T) T { return T(math.Ceil(float64(x))) })
}

func round[T kernel.Float](dst, a []T) {
	kernel.Each(dst, a, func(x T) T { return T(math.RoundToEven(float64(x))) })
}

func trunc[T kernel.Float](dst, a []T) {
	kernel.Each(dst, a, func(x T) T { return T(math.Trunc(float64(x))) })
}

func divLoops[T kernel.Float]() loops {
	return loops{0: loop2(divFloat[T]), 0b10: loop2s(divScalar[T]), 0b01: scalar2(scalarDiv[T])}
}

func divFloat[T kernel.Float](dst, a, b []T) {
	kernel.Each2(dst, a, b, func(x, y T) T { return x / y })
}

func divScalar[T kernel.Float](dst, a []T, b T) {
	kernel.Each(dst, a, func(x T) T { return x / b })
}

func scalarDiv[T kernel.Float](dst []T, a T, b []T) {
	kernel.Each(dst, b, func(y T) T { return a / y })
}

func softsign[T kernel.Float](dst, a []T) {
	kernel.Each(dst, a, func(x T) T { return x / (1 + T(math.Abs(float64(x)))) })
}

func leakyRelu[T kernel.Float](dst, a []T, alpha, _ float64) {
	k := T(alpha)
	kernel.Each(dst, a, func(x T) T {
		if x < 0 {
			x *= k
		}
		return x
	})
}

func thresholdedRelu[T kernel.Float](dst, a []T, alpha, _ float64) {
	k := T(alpha)
	kernel.Each(dst, a, func(x T) T {
		if !(x > k) {
			x = 0
		}
		return x
	})
}

func hardSigmoid[T kernel.Float](dst, a []T, alpha, beta float64) {
	kernel.Each(dst, a, func(x T) T { return T(max(0, min(1, math.FMA(alpha, float64(x), beta)))) })
}

func hardSwish[T kernel.Float](dst, a []T) {
	const sixth = 1. / 6
	kernel.Each(dst, a, func(x T) T { return T(x * max(0, min(1, T((x+3)*sixth)))) })
}

func shrink[T kernel.Float](dst, a []T, lambda, bias float64) {
	l, b := T(lambda), T(bias)
	kernel.Each(dst, a, func(x T) T {
		switch {
		case x < -l:
			return x + b
		case x > l:
			return x - b
		}
		return 0
	})
}

func isNaN[T kernel.Float](dst []uint8, a []T) {
	kernel.Each(dst, a, func(x T) uint8 { return kernel.Truth(x != x) })
}

func isInf[T kernel.Float](dst []uint8, a []T, negative, positive float64) {
	lo, hi := kernel.Truth(negative != 0), kernel.Truth(positive != 0)
	kernel.Each(dst, a, func(v T) uint8 {
		x := float64(v)
		return kernel.Truth(x < -math.MaxFloat64)&lo | kernel.Truth(x > math.MaxFloat64)&hi
	})
}

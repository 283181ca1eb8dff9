package elementwise

import (
	"math"

	"github.com/berth-go/berth/internal/kernel"
)

// The loops of floating-point functions that take a few instructions, which a
// call would outweigh.

func absFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Abs(float64(a[i])))
	}
}

func reciprocal[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = 1 / a[i]
	}
}

func sqrt[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Sqrt(float64(a[i])))
	}
}

func rsqrt[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(1 / math.Sqrt(float64(a[i])))
	}
}

func floor[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Floor(float64(a[i])))
	}
}

func ceil[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Ceil(float64(a[i])))
	}
}

func round[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.RoundToEven(float64(a[i])))
	}
}

func trunc[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Trunc(float64(a[i])))
	}
}

func divLoops[T kernel.Float]() loops {
	return loops{0: loop2(divFloat[T]), 0b10: loop2s(divScalar[T]), 0b01: scalar2(scalarDiv[T])}
}

func divFloat[T kernel.Float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] / b[i]
	}
}

func divScalar[T kernel.Float](dst, a []T, b T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = a[i] / b
	}
}

func scalarDiv[T kernel.Float](dst []T, a T, b []T) {
	b = b[:len(dst)]
	for i := range dst {
		dst[i] = a / b[i]
	}
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

func thresholdedRelu[T kernel.Float](dst, a []T, alpha, _ float64) {
	a = a[:len(dst)]
	k := T(alpha)
	for i := range dst {
		x := a[i]
		if !(x > k) {
			x = 0
		}
		dst[i] = x
	}
}

func hardSigmoid[T kernel.Float](dst, a []T, alpha, beta float64) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(max(0, min(1, math.FMA(alpha, float64(a[i]), beta))))
	}
}

func hardSwish[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		x := float64(a[i])
		dst[i] = T(x * max(0, min(1, (x+3)/6)))
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
		default:
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

func powLoops[T kernel.Float]() loops {
	return loops{0: loop2(powFloat[T]), 0b10: loop2s(powScalar[T])}
}

// powFloat takes its exponents as float64.
func powFloat[T kernel.Float](dst, a []T, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = T(pow(float64(a[i]), b[i]))
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
		dst[i] = T(pow(float64(a[i]), n))
	}
}

package elementwise

import (
	"math"

	"github.com/berth-go/berth/internal/kernel"
)

// The loops of floating-point functions, computed in float64 and rounded once.
// Each loop is written out, so that the function is called directly.

func sqrtFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Sqrt(float64(a[i])))
	}
}

func rsqrtFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(1 / math.Sqrt(float64(a[i])))
	}
}

func floorFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Floor(float64(a[i])))
	}
}

func ceilFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Ceil(float64(a[i])))
	}
}

func roundEvenFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.RoundToEven(float64(a[i])))
	}
}

func truncFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Trunc(float64(a[i])))
	}
}

func expFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Exp(float64(a[i])))
	}
}

func expm1Float[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Expm1(float64(a[i])))
	}
}

func logFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Log(float64(a[i])))
	}
}

func log1pFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Log1p(float64(a[i])))
	}
}

func log2Float[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Log2(float64(a[i])))
	}
}

func sinFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Sin(float64(a[i])))
	}
}

func cosFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Cos(float64(a[i])))
	}
}

func tanFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Tan(float64(a[i])))
	}
}

func asinFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Asin(float64(a[i])))
	}
}

func acosFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Acos(float64(a[i])))
	}
}

func atanFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Atan(float64(a[i])))
	}
}

func sinhFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Sinh(float64(a[i])))
	}
}

func coshFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Cosh(float64(a[i])))
	}
}

func tanhFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Tanh(float64(a[i])))
	}
}

func asinhFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Asinh(float64(a[i])))
	}
}

func acoshFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Acosh(float64(a[i])))
	}
}

func atanhFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Atanh(float64(a[i])))
	}
}

func erfFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Erf(float64(a[i])))
	}
}

func sigmoidFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(sigmoid64(float64(a[i])))
	}
}

func softplusFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(softplus64(float64(a[i])))
	}
}

func geluFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(gelu64(float64(a[i])))
	}
}

func geluTanhFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(geluTanh64(float64(a[i])))
	}
}

func mishFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(mish64(float64(a[i])))
	}
}

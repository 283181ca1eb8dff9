package elementwise

import (
	"math"

	"github.com/berth-go/berth/internal/kernel"
)

// The loops that all numeric types share. Integers wrap.

func neg[T kernel.Number](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = -a[i]
	}
}

func absInteger[T kernel.Integer](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		x := a[i]
		if x < 0 {
			x = -x
		}
		dst[i] = x
	}
}

func absFloat[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Abs(float64(a[i])))
	}
}

func sign[T kernel.Number](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		x := a[i] // stays as it is when it is NaN
		switch {
		case x > 0:
			x = 1
		case x < 0:
			x = 0
			x--
		case x == 0:
			x = 0
		}
		dst[i] = x
	}
}

func square[T kernel.Number](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = a[i] * a[i]
	}
}

func relu[T kernel.Number](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = max(a[i], 0)
	}
}

// The four operations are unrolled: short of vector instructions, the loop's
// own arithmetic is a third of the work.

func add[T kernel.Number](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		d, x, y := dst[i:i+4:i+4], a[i:i+4:i+4], b[i:i+4:i+4]
		d[0], d[1], d[2], d[3] = x[0]+y[0], x[1]+y[1], x[2]+y[2], x[3]+y[3]
	}
	for ; i < len(dst); i++ {
		dst[i] = a[i] + b[i]
	}
}

func addScalar[T kernel.Number](dst, a []T, b T) {
	a = a[:len(dst)]
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		d, x := dst[i:i+4:i+4], a[i:i+4:i+4]
		d[0], d[1], d[2], d[3] = x[0]+b, x[1]+b, x[2]+b, x[3]+b
	}
	for ; i < len(dst); i++ {
		dst[i] = a[i] + b
	}
}

func sub[T kernel.Number](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		d, x, y := dst[i:i+4:i+4], a[i:i+4:i+4], b[i:i+4:i+4]
		d[0], d[1], d[2], d[3] = x[0]-y[0], x[1]-y[1], x[2]-y[2], x[3]-y[3]
	}
	for ; i < len(dst); i++ {
		dst[i] = a[i] - b[i]
	}
}

func subScalar[T kernel.Number](dst, a []T, b T) {
	a = a[:len(dst)]
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		d, x := dst[i:i+4:i+4], a[i:i+4:i+4]
		d[0], d[1], d[2], d[3] = x[0]-b, x[1]-b, x[2]-b, x[3]-b
	}
	for ; i < len(dst); i++ {
		dst[i] = a[i] - b
	}
}

func scalarSub[T kernel.Number](dst []T, a T, b []T) {
	b = b[:len(dst)]
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		d, y := dst[i:i+4:i+4], b[i:i+4:i+4]
		d[0], d[1], d[2], d[3] = a-y[0], a-y[1], a-y[2], a-y[3]
	}
	for ; i < len(dst); i++ {
		dst[i] = a - b[i]
	}
}

func mul[T kernel.Number](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		d, x, y := dst[i:i+4:i+4], a[i:i+4:i+4], b[i:i+4:i+4]
		d[0], d[1], d[2], d[3] = x[0]*y[0], x[1]*y[1], x[2]*y[2], x[3]*y[3]
	}
	for ; i < len(dst); i++ {
		dst[i] = a[i] * b[i]
	}
}

func mulScalar[T kernel.Number](dst, a []T, b T) {
	a = a[:len(dst)]
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		d, x := dst[i:i+4:i+4], a[i:i+4:i+4]
		d[0], d[1], d[2], d[3] = x[0]*b, x[1]*b, x[2]*b, x[3]*b
	}
	for ; i < len(dst); i++ {
		dst[i] = a[i] * b
	}
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

func minimum[T kernel.Number](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = min(a[i], b[i])
	}
}

func minScalar[T kernel.Number](dst, a []T, b T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = min(a[i], b)
	}
}

func maximum[T kernel.Number](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = max(a[i], b[i])
	}
}

func maxScalar[T kernel.Number](dst, a []T, b T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = max(a[i], b)
	}
}

func clip[T kernel.Number](dst, a, lo, hi []T) {
	a, lo, hi = a[:len(dst)], lo[:len(dst)], hi[:len(dst)]
	for i := range dst {
		dst[i] = min(max(a[i], lo[i]), hi[i])
	}
}

// clipScalars has the bounds in the first elements of lo and hi.
func clipScalars[T kernel.Number](dst, a, lo, hi []T) {
	a = a[:len(dst)]
	l, h := lo[0], hi[0]
	for i := range dst {
		dst[i] = min(max(a[i], l), h)
	}
}

func prelu[T kernel.Number](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		x := a[i]
		if x < 0 {
			x *= b[i]
		}
		dst[i] = x
	}
}

func preluScalar[T kernel.Number](dst, a []T, b T) {
	a = a[:len(dst)]
	for i := range dst {
		x := a[i]
		if x < 0 {
			x *= b
		}
		dst[i] = x
	}
}

func equal[T kernel.Number](dst []uint8, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = kernel.Truth(a[i] == b[i])
	}
}

func equalScalar[T kernel.Number](dst []uint8, a []T, b T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = kernel.Truth(a[i] == b)
	}
}

func notEqual[T kernel.Number](dst []uint8, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = kernel.Truth(a[i] != b[i])
	}
}

func notEqualScalar[T kernel.Number](dst []uint8, a []T, b T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = kernel.Truth(a[i] != b)
	}
}

func less[T kernel.Number](dst []uint8, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = kernel.Truth(a[i] < b[i])
	}
}

func lessScalar[T kernel.Number](dst []uint8, a []T, b T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = kernel.Truth(a[i] < b)
	}
}

func scalarLess[T kernel.Number](dst []uint8, a T, b []T) {
	b = b[:len(dst)]
	for i := range dst {
		dst[i] = kernel.Truth(a < b[i])
	}
}

func lessEqual[T kernel.Number](dst []uint8, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = kernel.Truth(a[i] <= b[i])
	}
}

func lessEqualScalar[T kernel.Number](dst []uint8, a []T, b T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = kernel.Truth(a[i] <= b)
	}
}

func scalarLessEqual[T kernel.Number](dst []uint8, a T, b []T) {
	b = b[:len(dst)]
	for i := range dst {
		dst[i] = kernel.Truth(a <= b[i])
	}
}

func reciprocal[T kernel.Float](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = 1 / a[i]
	}
}

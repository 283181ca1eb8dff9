package elementwise

import "github.com/berth-go/berth/internal/kernel"

// The loops that all numeric types share. Integers wrap.

func neg[T kernel.Number](dst, a []T) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = -a[i]
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

// Addition, subtraction and multiplication are unrolled: short of vector
// instructions, the loop's own arithmetic is a third of the work.

func addLoops[T kernel.Number]() loops { return commutative(loop2(add[T]), loop2s(addScalar[T])) }

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

func subLoops[T kernel.Number]() loops {
	return loops{0: loop2(sub[T]), 0b10: loop2s(subScalar[T]), 0b01: scalar2(scalarSub[T])}
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

func mulLoops[T kernel.Number]() loops { return commutative(loop2(mul[T]), loop2s(mulScalar[T])) }

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

func minimumLoops[T kernel.Number]() loops {
	return commutative(loop2(minimum[T]), loop2s(minScalar[T]))
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

func maximumLoops[T kernel.Number]() loops {
	return commutative(loop2(maximum[T]), loop2s(maxScalar[T]))
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

func clipLoops[T kernel.Number]() loops {
	return loops{0: loop3(clip[T]), 0b110: loop3(clipScalars[T])}
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

func preluLoops[T kernel.Number]() loops {
	return loops{0: loop2(prelu[T]), 0b10: loop2s(preluScalar[T])}
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

package elementwise

import "github.com/berth-go/berth/internal/kernel"

// chunk is how many elements the loops of this file take at a time.
const chunk = 128

// each returns the loop that applies f to each element in float64, and rounds
// once.
//
// Elements are converted apart from the calls: on amd64 a conversion between
// the widths keeps the upper half of its target register, and next to a call it
// waits for the result of the one before.
func each[F kernel.Float](f func(float64) float64) loops {
	return unary(func(dst, a []F) {
		var buf [chunk]float64
		for len(dst) > 0 {
			x := buf[:min(len(dst), chunk)]
			for i, v := range a[:len(x)] {
				x[i] = float64(v)
			}
			for i, v := range x {
				x[i] = f(v)
			}
			for i, v := range x {
				dst[i] = F(v)
			}
			dst, a = dst[len(x):], a[len(x):]
		}
	})
}

// eachWith is each for a function with attributes.
func eachWith[F kernel.Float](f func(x, p, q float64) float64) loops {
	return unaryWith(func(dst, a []F, p, q float64) {
		a = a[:len(dst)]
		for i := range dst {
			dst[i] = F(f(float64(a[i]), p, q))
		}
	})
}

// each2 is each for a function of two numbers.
func each2[F kernel.Float](f func(a, b float64) float64) loops {
	return binary(func(dst, a, b []F) {
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			dst[i] = F(f(float64(a[i]), float64(b[i])))
		}
	})
}

// chunks returns the loop that calls f for at most [chunk] elements at a time.
func chunks(f func(dst, a []float32)) loops {
	return unary(func(dst, a []float32) {
		for len(dst) > 0 {
			n := min(len(dst), chunk)
			f(dst[:n], a[:n])
			dst, a = dst[n:], a[n:]
		}
	})
}

package kernel

import "math"

// The maps that a [folder] applies while it loads elements. Each equals
//
//	for i := range dst { dst[i] = f(src[at+i*step], shift) }
//
// where shift is shift[0], or shift[i] if there are as many as elements.

func loadCast[T, A Number](dst []A, src []T, at, step int, _ []A) {
	for i := range dst {
		dst[i] = A(src[at])
		at += step
	}
}

func loadAbs[T, A Number](dst []A, src []T, at, step int, _ []A) {
	for i := range dst {
		v := A(src[at])
		if v < 0 {
			v = -v
		}
		dst[i] = v
		at += step
	}
}

func loadSquare[T, A Number](dst []A, src []T, at, step int, _ []A) {
	if step == 1 {
		for i, x := range src[at : at+len(dst)] {
			v := A(x)
			dst[i] = v * v
		}
		return
	}
	for i := range dst {
		v := A(src[at])
		dst[i] = v * v
		at += step
	}
}

// loadTruth maps what is not zero, NaN among it, to 1.
func loadTruth[T Number](dst []uint8, src []T, at, step int, _ []uint8) {
	for i := range dst {
		dst[i] = 0
		if src[at] != 0 {
			dst[i] = 1
		}
		at += step
	}
}

// loadDeviation maps to the square of the distance from shift.
func loadDeviation[T Float](dst []T, src []T, at, step int, shift []T) {
	switch {
	case len(shift) == 1 && step == 1:
		m := shift[0]
		for i, x := range src[at : at+len(dst)] {
			v := x - m
			dst[i] = v * v
		}
	case len(shift) == 1:
		m := shift[0]
		for i := range dst {
			v := src[at] - m
			dst[i] = v * v
			at += step
		}
	default:
		for i := range dst {
			v := src[at] - shift[i]
			dst[i] = v * v
			at += step
		}
	}
}

// loadExp maps to the exponential of the distance from shift.
func loadExp[T, A Number](dst []A, src []T, at, step int, shift []A) {
	if len(shift) == 1 {
		m := float64(shift[0])
		for i := range dst {
			dst[i] = A(math.Exp(float64(src[at]) - m))
			at += step
		}
		return
	}
	for i := range dst {
		dst[i] = A(math.Exp(float64(src[at]) - float64(shift[i])))
		at += step
	}
}

package lines

import (
	"math"

	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// The maps that an [Accumulator] applies while it loads elements. Each equals
//
//	for i := range dst { dst[i] = f(src[at+i*step], shift) }
//
// where shift is shift[0], or shift[i] if there are as many as elements.

// LoadCast converts elements to A.
func LoadCast[T, A kernel.Number](dst []A, src []T, at, step int, _ []A) {
	for i := range dst {
		dst[i] = A(src[at])
		at += step
	}
}

// LoadAbs takes the magnitudes of elements.
func LoadAbs[T, A kernel.Number](dst []A, src []T, at, step int, _ []A) {
	for i := range dst {
		v := A(src[at])
		if v < 0 {
			v = -v
		}
		dst[i] = v
		at += step
	}
}

// LoadSquare squares elements.
func LoadSquare[T, A kernel.Number](dst []A, src []T, at, step int, _ []A) {
	if step == 1 {
		kernel.Each(dst, src[at:], func(x T) A { return A(x) * A(x) })
		return
	}
	for i := range dst {
		v := A(src[at])
		dst[i] = v * v
		at += step
	}
}

// LoadTruth maps what is not zero, NaN among it, to 1.
func LoadTruth[T kernel.Number](dst []uint8, src []T, at, step int, _ []uint8) {
	for i := range dst {
		dst[i] = kernel.Truth(src[at] != 0)
		at += step
	}
}

// DeviationLoader returns what maps to the square of the distance from shift, in the form of
// the active instruction set where that has one.
func DeviationLoader[T kernel.Float]() func(dst, src []T, at, step int, shift []T) {
	one, each := isa.MapOf[T]("deviation", 0b10), isa.MapOf[T]("deviation", 0)
	return func(dst, src []T, at, step int, shift []T) {
		switch {
		case step == 1 && len(shift) == 1 && one != nil:
			one(kernel.Bytes(dst), kernel.Bytes(src[at:at+len(dst)]), kernel.Bytes(shift), nil, nil)
		case step == 1 && len(shift) > 1 && each != nil:
			each(kernel.Bytes(dst), kernel.Bytes(src[at:at+len(dst)]), kernel.Bytes(shift), nil, nil)
		default:
			loadDeviation(dst, src, at, step, shift)
		}
	}
}

func loadDeviation[T kernel.Float](dst, src []T, at, step int, shift []T) {
	if len(shift) == 1 {
		m := shift[0]
		for i := range dst {
			v := src[at] - m
			dst[i] = v * v
			at += step
		}
		return
	}
	for i := range dst {
		v := src[at] - shift[i]
		dst[i] = v * v
		at += step
	}
}

// SquareLoader returns [LoadSquare] of elements as they are stored, in the form of the active
// instruction set where that has one.
func SquareLoader[T kernel.Number]() func(dst, src []T, at, step int, shift []T) {
	square := isa.MapOf[T]("square", 0)
	if square == nil {
		return LoadSquare[T, T]
	}
	return func(dst, src []T, at, step int, shift []T) {
		if step == 1 {
			square(kernel.Bytes(dst), kernel.Bytes(src[at:at+len(dst)]), nil, nil, nil)
			return
		}
		LoadSquare(dst, src, at, step, shift)
	}
}

// LoadExp maps to the exponential of the distance from shift.
func LoadExp[T, A kernel.Number](dst []A, src []T, at, step int, shift []A) {
	for i := range dst {
		dst[i] = A(math.Exp(float64(src[at]) - float64(shift[min(i, len(shift)-1)])))
		at += step
	}
}

// ExpLoader returns [LoadExp], and for float32 the form of it in the arithmetic of float32,
// which is within 1.2 units in the last place.
func ExpLoader[T kernel.Float]() func(dst, src []T, at, step int, shift []T) {
	one, each := isa.MapOf[T]("exp_shift", 0b10), isa.MapOf[T]("exp_shift", 0)
	if one == nil || each == nil {
		return LoadExp[T, T]
	}
	return func(dst, src []T, at, step int, shift []T) {
		from := dst
		if step == 1 {
			from = src[at : at+len(dst)]
		} else {
			LoadCast(dst, src, at, step, nil)
		}
		loop := one
		if len(shift) > 1 {
			loop = each
		}
		loop(kernel.Bytes(dst), kernel.Bytes(from), kernel.Bytes(shift), nil, nil)
	}
}

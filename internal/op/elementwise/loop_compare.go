package elementwise

import "github.com/berth-go/berth/internal/kernel"

// The loops of comparisons, and of the choice by their results. The ones that
// are missing are these with their operands the other way round.

func equalLoops[T kernel.Number]() loops { return commutative(loop2(equal[T]), loop2s(equalScalar[T])) }

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

func notEqualLoops[T kernel.Number]() loops {
	return commutative(loop2(notEqual[T]), loop2s(notEqualScalar[T]))
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

func lessLoops[T kernel.Number]() loops {
	return loops{0: loop2(less[T]), 0b10: loop2s(lessScalar[T]), 0b01: scalar2(scalarLess[T])}
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

func lessEqualLoops[T kernel.Number]() loops {
	return loops{0: loop2(lessEqual[T]), 0b10: loop2s(lessEqualScalar[T]), 0b01: scalar2(scalarLessEqual[T])}
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

func where[T any](dst []T, cond []uint8, a, b []T) {
	cond, a, b = cond[:len(dst)], a[:len(dst)], b[:len(dst)]
	for i := range dst {
		v := b[i]
		if cond[i] != 0 {
			v = a[i]
		}
		dst[i] = v
	}
}

package lines

import (
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// The four operations, each written out: a function value or an interface call
// for every element would cost more than the arithmetic. The order of each is
// the one that [Operation] states.

// Sum adds. Its identity is negative zero, the only number that added
// to any other leaves all its bits alone.
func Sum[A kernel.Number]() Operation[A] {
	var zero A
	return Operation[A]{-zero, either(isa.FoldsOf[A]().Sum, sumBlock[A]), eightOf(isa.FoldsOf[A]().SumRows, sumEight[A]), joinOf("add", sumJoin[A])}
}

// either returns the first of two loops that there is.
func either[A any](fast, plain func([]A) A) func([]A) A {
	if fast != nil {
		return fast
	}
	return plain
}

// eightOf returns the loop over eight rows that does what it can by a fast one, and the rest by the
// plain one.
func eightOf[A any](fast func(acc, r0, r1, r2, r3, r4, r5, r6, r7 []A) int, plain func(acc, r0, r1, r2, r3, r4, r5, r6, r7 []A)) func(acc, r0, r1, r2, r3, r4, r5, r6, r7 []A) {
	if fast == nil {
		return plain
	}
	return func(acc, r0, r1, r2, r3, r4, r5, r6, r7 []A) {
		n := fast(acc, r0, r1, r2, r3, r4, r5, r6, r7)
		if n < len(acc) {
			plain(acc[n:], r0[n:], r1[n:], r2[n:], r3[n:], r4[n:], r5[n:], r6[n:], r7[n:])
		}
	}
}

// joinOf returns the loop over elements of the active instruction set for an elementwise
// function, or else the plain one.
func joinOf[A kernel.Number](function string, plain func(acc, x []A)) func(acc, x []A) {
	loop := isa.MapOf[A](function, 0)
	if loop == nil {
		return plain
	}
	return func(acc, x []A) {
		loop(kernel.Bytes(acc), kernel.Bytes(acc), kernel.Bytes(x), nil, nil)
	}
}

func sumBlock[A kernel.Number](x []A) A {
	var zero A
	id := -zero
	s0, s1, s2, s3, s4, s5, s6, s7 := id, id, id, id, id, id, id, id
	for len(x) >= 64 {
		y := (*[64]A)(x)
		s0 += ((y[0] + y[8]) + (y[16] + y[24])) + ((y[32] + y[40]) + (y[48] + y[56]))
		s1 += ((y[1] + y[9]) + (y[17] + y[25])) + ((y[33] + y[41]) + (y[49] + y[57]))
		s2 += ((y[2] + y[10]) + (y[18] + y[26])) + ((y[34] + y[42]) + (y[50] + y[58]))
		s3 += ((y[3] + y[11]) + (y[19] + y[27])) + ((y[35] + y[43]) + (y[51] + y[59]))
		s4 += ((y[4] + y[12]) + (y[20] + y[28])) + ((y[36] + y[44]) + (y[52] + y[60]))
		s5 += ((y[5] + y[13]) + (y[21] + y[29])) + ((y[37] + y[45]) + (y[53] + y[61]))
		s6 += ((y[6] + y[14]) + (y[22] + y[30])) + ((y[38] + y[46]) + (y[54] + y[62]))
		s7 += ((y[7] + y[15]) + (y[23] + y[31])) + ((y[39] + y[47]) + (y[55] + y[63]))
		x = x[64:]
	}
	for len(x) >= 8 {
		y := (*[8]A)(x)
		s0 += y[0]
		s1 += y[1]
		s2 += y[2]
		s3 += y[3]
		s4 += y[4]
		s5 += y[5]
		s6 += y[6]
		s7 += y[7]
		x = x[8:]
	}
	switch len(x) {
	case 7:
		s6 += x[6]
		fallthrough
	case 6:
		s5 += x[5]
		fallthrough
	case 5:
		s4 += x[4]
		fallthrough
	case 4:
		s3 += x[3]
		fallthrough
	case 3:
		s2 += x[2]
		fallthrough
	case 2:
		s1 += x[1]
		fallthrough
	case 1:
		s0 += x[0]
	}
	return ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))
}

func sumEight[A kernel.Number](acc, r0, r1, r2, r3, r4, r5, r6, r7 []A) {
	n := len(acc)
	r0, r1, r2, r3 = r0[:n], r1[:n], r2[:n], r3[:n]
	r4, r5, r6, r7 = r4[:n], r5[:n], r6[:n], r7[:n]
	for i, a := range acc {
		acc[i] = a + (((r0[i] + r1[i]) + (r2[i] + r3[i])) + ((r4[i] + r5[i]) + (r6[i] + r7[i])))
	}
}

func sumJoin[A kernel.Number](acc, x []A) {
	x = x[:len(acc)]
	for i, a := range acc {
		acc[i] = a + x[i]
	}
}

// Prod multiplies.
func Prod[A kernel.Number]() Operation[A] {
	return Operation[A]{1, prodBlock[A], prodEight[A], prodJoin[A]}
}

func prodBlock[A kernel.Number](x []A) A {
	id := A(1)
	s0, s1, s2, s3, s4, s5, s6, s7 := id, id, id, id, id, id, id, id
	for len(x) >= 64 {
		y := (*[64]A)(x)
		s0 *= ((y[0] * y[8]) * (y[16] * y[24])) * ((y[32] * y[40]) * (y[48] * y[56]))
		s1 *= ((y[1] * y[9]) * (y[17] * y[25])) * ((y[33] * y[41]) * (y[49] * y[57]))
		s2 *= ((y[2] * y[10]) * (y[18] * y[26])) * ((y[34] * y[42]) * (y[50] * y[58]))
		s3 *= ((y[3] * y[11]) * (y[19] * y[27])) * ((y[35] * y[43]) * (y[51] * y[59]))
		s4 *= ((y[4] * y[12]) * (y[20] * y[28])) * ((y[36] * y[44]) * (y[52] * y[60]))
		s5 *= ((y[5] * y[13]) * (y[21] * y[29])) * ((y[37] * y[45]) * (y[53] * y[61]))
		s6 *= ((y[6] * y[14]) * (y[22] * y[30])) * ((y[38] * y[46]) * (y[54] * y[62]))
		s7 *= ((y[7] * y[15]) * (y[23] * y[31])) * ((y[39] * y[47]) * (y[55] * y[63]))
		x = x[64:]
	}
	for len(x) >= 8 {
		y := (*[8]A)(x)
		s0 *= y[0]
		s1 *= y[1]
		s2 *= y[2]
		s3 *= y[3]
		s4 *= y[4]
		s5 *= y[5]
		s6 *= y[6]
		s7 *= y[7]
		x = x[8:]
	}
	switch len(x) {
	case 7:
		s6 *= x[6]
		fallthrough
	case 6:
		s5 *= x[5]
		fallthrough
	case 5:
		s4 *= x[4]
		fallthrough
	case 4:
		s3 *= x[3]
		fallthrough
	case 3:
		s2 *= x[2]
		fallthrough
	case 2:
		s1 *= x[1]
		fallthrough
	case 1:
		s0 *= x[0]
	}
	return ((s0 * s4) * (s2 * s6)) * ((s1 * s5) * (s3 * s7))
}

func prodEight[A kernel.Number](acc, r0, r1, r2, r3, r4, r5, r6, r7 []A) {
	n := len(acc)
	r0, r1, r2, r3 = r0[:n], r1[:n], r2[:n], r3[:n]
	r4, r5, r6, r7 = r4[:n], r5[:n], r6[:n], r7[:n]
	for i, a := range acc {
		acc[i] = a * (((r0[i] * r1[i]) * (r2[i] * r3[i])) * ((r4[i] * r5[i]) * (r6[i] * r7[i])))
	}
}

func prodJoin[A kernel.Number](acc, x []A) {
	x = x[:len(acc)]
	for i, a := range acc {
		acc[i] = a * x[i]
	}
}

package lines

import (
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// Max takes the maximum: NaN if any element is NaN, and +0 above -0.
func Max[A kernel.Number]() Operation[A] {
	return Operation[A]{Lowest[A](), either(isa.FoldsOf[A]().Max, maxBlock[A]), eightOf(isa.FoldsOf[A]().MaxRows, maxEight[A]), joinOf("maximum", maxJoin[A])}
}

// Peak is [Max] for what subtracts it from its elements, in fewer instructions: where it is
// 0, that may have either sign, and beside NaN it is anything.
func Peak[A kernel.Number]() Operation[A] {
	op := Max[A]()
	op.block = either(isa.FoldsOf[A]().Peak, op.block)
	return op
}

func maxBlock[A kernel.Number](x []A) A {
	id := x[0] // as good as the identity: an element may count twice
	s0, s1, s2, s3, s4, s5, s6, s7 := id, id, id, id, id, id, id, id
	for len(x) >= 64 {
		y := (*[64]A)(x)
		s0 = max(s0, max(max(max(y[0], y[8]), max(y[16], y[24])), max(max(y[32], y[40]), max(y[48], y[56]))))
		s1 = max(s1, max(max(max(y[1], y[9]), max(y[17], y[25])), max(max(y[33], y[41]), max(y[49], y[57]))))
		s2 = max(s2, max(max(max(y[2], y[10]), max(y[18], y[26])), max(max(y[34], y[42]), max(y[50], y[58]))))
		s3 = max(s3, max(max(max(y[3], y[11]), max(y[19], y[27])), max(max(y[35], y[43]), max(y[51], y[59]))))
		s4 = max(s4, max(max(max(y[4], y[12]), max(y[20], y[28])), max(max(y[36], y[44]), max(y[52], y[60]))))
		s5 = max(s5, max(max(max(y[5], y[13]), max(y[21], y[29])), max(max(y[37], y[45]), max(y[53], y[61]))))
		s6 = max(s6, max(max(max(y[6], y[14]), max(y[22], y[30])), max(max(y[38], y[46]), max(y[54], y[62]))))
		s7 = max(s7, max(max(max(y[7], y[15]), max(y[23], y[31])), max(max(y[39], y[47]), max(y[55], y[63]))))
		x = x[64:]
	}
	for len(x) >= 8 {
		y := (*[8]A)(x)
		s0 = max(s0, y[0])
		s1 = max(s1, y[1])
		s2 = max(s2, y[2])
		s3 = max(s3, y[3])
		s4 = max(s4, y[4])
		s5 = max(s5, y[5])
		s6 = max(s6, y[6])
		s7 = max(s7, y[7])
		x = x[8:]
	}
	switch len(x) {
	case 7:
		s6 = max(s6, x[6])
		fallthrough
	case 6:
		s5 = max(s5, x[5])
		fallthrough
	case 5:
		s4 = max(s4, x[4])
		fallthrough
	case 4:
		s3 = max(s3, x[3])
		fallthrough
	case 3:
		s2 = max(s2, x[2])
		fallthrough
	case 2:
		s1 = max(s1, x[1])
		fallthrough
	case 1:
		s0 = max(s0, x[0])
	}
	return max(max(max(s0, s4), max(s2, s6)), max(max(s1, s5), max(s3, s7)))
}

func maxEight[A kernel.Number](acc, r0, r1, r2, r3, r4, r5, r6, r7 []A) {
	n := len(acc)
	r0, r1, r2, r3 = r0[:n], r1[:n], r2[:n], r3[:n]
	r4, r5, r6, r7 = r4[:n], r5[:n], r6[:n], r7[:n]
	for i, a := range acc {
		acc[i] = max(a, max(max(max(r0[i], r1[i]), max(r2[i], r3[i])), max(max(r4[i], r5[i]), max(r6[i], r7[i]))))
	}
}

func maxJoin[A kernel.Number](acc, x []A) {
	x = x[:len(acc)]
	for i, a := range acc {
		acc[i] = max(a, x[i])
	}
}

// Min takes the minimum: NaN if any element is NaN, and -0 below +0.
func Min[A kernel.Number]() Operation[A] {
	return Operation[A]{Highest[A](), either(isa.FoldsOf[A]().Min, minBlock[A]), eightOf(isa.FoldsOf[A]().MinRows, minEight[A]), joinOf("minimum", minJoin[A])}
}

func minBlock[A kernel.Number](x []A) A {
	id := x[0] // as good as the identity: an element may count twice
	s0, s1, s2, s3, s4, s5, s6, s7 := id, id, id, id, id, id, id, id
	for len(x) >= 64 {
		y := (*[64]A)(x)
		s0 = min(s0, min(min(min(y[0], y[8]), min(y[16], y[24])), min(min(y[32], y[40]), min(y[48], y[56]))))
		s1 = min(s1, min(min(min(y[1], y[9]), min(y[17], y[25])), min(min(y[33], y[41]), min(y[49], y[57]))))
		s2 = min(s2, min(min(min(y[2], y[10]), min(y[18], y[26])), min(min(y[34], y[42]), min(y[50], y[58]))))
		s3 = min(s3, min(min(min(y[3], y[11]), min(y[19], y[27])), min(min(y[35], y[43]), min(y[51], y[59]))))
		s4 = min(s4, min(min(min(y[4], y[12]), min(y[20], y[28])), min(min(y[36], y[44]), min(y[52], y[60]))))
		s5 = min(s5, min(min(min(y[5], y[13]), min(y[21], y[29])), min(min(y[37], y[45]), min(y[53], y[61]))))
		s6 = min(s6, min(min(min(y[6], y[14]), min(y[22], y[30])), min(min(y[38], y[46]), min(y[54], y[62]))))
		s7 = min(s7, min(min(min(y[7], y[15]), min(y[23], y[31])), min(min(y[39], y[47]), min(y[55], y[63]))))
		x = x[64:]
	}
	for len(x) >= 8 {
		y := (*[8]A)(x)
		s0 = min(s0, y[0])
		s1 = min(s1, y[1])
		s2 = min(s2, y[2])
		s3 = min(s3, y[3])
		s4 = min(s4, y[4])
		s5 = min(s5, y[5])
		s6 = min(s6, y[6])
		s7 = min(s7, y[7])
		x = x[8:]
	}
	switch len(x) {
	case 7:
		s6 = min(s6, x[6])
		fallthrough
	case 6:
		s5 = min(s5, x[5])
		fallthrough
	case 5:
		s4 = min(s4, x[4])
		fallthrough
	case 4:
		s3 = min(s3, x[3])
		fallthrough
	case 3:
		s2 = min(s2, x[2])
		fallthrough
	case 2:
		s1 = min(s1, x[1])
		fallthrough
	case 1:
		s0 = min(s0, x[0])
	}
	return min(min(min(s0, s4), min(s2, s6)), min(min(s1, s5), min(s3, s7)))
}

func minEight[A kernel.Number](acc, r0, r1, r2, r3, r4, r5, r6, r7 []A) {
	n := len(acc)
	r0, r1, r2, r3 = r0[:n], r1[:n], r2[:n], r3[:n]
	r4, r5, r6, r7 = r4[:n], r5[:n], r6[:n], r7[:n]
	for i, a := range acc {
		acc[i] = min(a, min(min(min(r0[i], r1[i]), min(r2[i], r3[i])), min(min(r4[i], r5[i]), min(r6[i], r7[i]))))
	}
}

func minJoin[A kernel.Number](acc, x []A) {
	x = x[:len(acc)]
	for i, a := range acc {
		acc[i] = min(a, x[i])
	}
}

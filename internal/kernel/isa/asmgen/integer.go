package main

import "fmt"

// integerLoops emits the loops over bytes. The tile of AVX-512 multiplies and adds four
// bytes in one instruction; AVX2 widens them to words first, as its instructions for
// bytes saturate.
func (g *generator) integerLoops() {
	g.masks()
	g.quarters()
	for _, k := range []kind{{name: "AVX512", avx512: true, width: 4, rows: 12}, {name: "AVX2", width: 4, rows: 4}} {
		g.kind = k
		for _, signedLeft := range []bool{true, false} {
			g.integerTile(signedLeft)
		}
		g.tapQuads()
		g.requantize()
		g.shiftSums()
		g.quantize()
		g.dequantize()
		g.addQuantized()
	}
	g.interleave()
}

// integerTile emits a product of bytes, with a loop for each number of rows and of
// registers of columns. AX, SI, R12 and R13 walk every third row of a, BX walks b; DX is
// what is left of the quads; R8, R9, R10 and R11 are the steps in bytes of b, c, and a
// from row to row and from quad to quad.
func (g *generator) integerTile(signedLeft bool) {
	name := map[bool]string{true: "mulSignedLeft", false: "mulSignedRight"}[signedLeft] + g.name
	fmt.Fprintf(g, "\n// func %s(h, w, quads int, a *uint8, row, step int, b *uint8, ldb int, c *int32, ldc int, add bool)\n", name)
	fmt.Fprintf(g, "TEXT ·%s(SB), NOSPLIT, $0-81\n", name)
	g.op("MOVQ w+8(FP), CX")
	g.op("MOVQ quads+16(FP), DX")
	g.op("MOVQ a+24(FP), AX")
	g.op("MOVQ step+40(FP), R11")
	g.op("MOVQ b+48(FP), BX")
	g.op("MOVQ ldb+56(FP), R8")
	g.op("MOVQ c+64(FP), DI")
	g.op("MOVQ ldc+72(FP), R9")
	g.op("SHLQ $2, R9")
	widths := []int{1}
	if g.avx512 {
		g.masksOfCX(1)
		g.op("CMPQ CX, $%d", g.lanes())
		g.op("JLE one")
		widths = []int{2, 1}
	} else {
		g.op("SHLQ $2, CX")
		g.op("LEAQ masks<>+32(SB), R12")
		g.op("SUBQ CX, R12")
		g.op("VMOVUPS (R12), Y15")
	}
	for _, v := range widths {
		if v == 1 && g.avx512 {
			g.label("one")
		}
		g.op("MOVQ row+32(FP), R10")
		g.op("LEAQ (R10)(R10*2), CX")
		g.op("LEAQ (AX)(CX*1), SI")
		g.op("LEAQ (AX)(CX*2), R12")
		g.op("LEAQ (SI)(CX*2), R13")
		g.op("MOVQ h+0(FP), CX")
		for h := 1; h < g.rows; h++ {
			g.op("CMPQ CX, $%d", h)
			g.op("JEQ v%dh%d", v, h)
		}
		for h := g.rows; h > 0; h-- {
			g.integerLoop(v, h, signedLeft)
		}
	}
}

// integerAhead is how many bytes before they are multiplied the quads of a strip are fetched:
// about as long as the third-level cache takes.
const integerAhead = 4096

// integerLoop emits the kernel for v registers of columns and h rows. With AVX2 a
// row has two registers of sums: of the first four columns and the last four, each
// with the sums of the first and the last two terms of quads apart.
func (g *generator) integerLoop(v, h int, signedLeft bool) {
	sums := v
	if !g.avx512 {
		sums = 2
	}
	sum := func(i, j int) string { return g.reg(4 + sums*i + j) }
	walkers := []string{"AX", "SI", "R12", "R13"}[:(h+2)/3]
	g.label("v%dh%d", v, h)
	for i := range h {
		for j := range sums {
			g.zero(sum(i, j))
		}
	}
	g.op("PCALIGN $32")
	g.label("v%dh%dloop", v, h)
	widenA, widenB := "VPMOVZXBW", "VPMOVSXBW"
	if signedLeft {
		widenA, widenB = widenB, widenA
	}
	for j := range sums {
		if g.avx512 {
			g.op("VMOVDQU32 %d(BX), Z%d", 64*j, j)
			if h == g.rows { // strips follow one another, and the first tile meets each of them elsewhere than near
				g.op("PREFETCHT0 %d(BX)", integerAhead+64*j)
			}
		} else {
			g.op("%s %d(BX), Y%d", widenB, 16*j, j)
		}
	}
	for i := range h {
		at := []string{"(%s)", "(%s)(R10*1)", "(%s)(R10*2)"}[i%3]
		at = fmt.Sprintf(at, walkers[i/3])
		if !g.avx512 {
			g.op("VPBROADCASTD %s, X2", at)
			g.op("%s X2, Y2", widenA)
			for j := range sums {
				g.op("VPMADDWD Y%d, Y2, Y3", j)
				g.op("VPADDD Y3, %s, %s", sum(i, j), sum(i, j))
			}
			continue
		}
		b := fmt.Sprintf("Z%d", 2+i%2)
		g.op("VPBROADCASTD %s, %s", at, b)
		for j := range v {
			if signedLeft { // the signed operand first, as the assembler turns them about
				g.op("VPDPBUSD %s, Z%d, %s", b, j, sum(i, j))
			} else {
				g.op("VPDPBUSD Z%d, %s, %s", j, b, sum(i, j))
			}
		}
	}
	g.op("ADDQ R8, BX")
	for _, w := range walkers {
		g.op("ADDQ R11, %s", w)
	}
	g.op("DECQ DX")
	g.op("JNZ v%dh%dloop", v, h)

	if !g.avx512 {
		for i := range h {
			g.op("VPHADDD %s, %s, %s", sum(i, 1), sum(i, 0), sum(i, 0))
			g.op("VPERMQ $0xD8, %s, %s", sum(i, 0), sum(i, 0))
		}
	}
	g.op("MOVBLZX add+80(FP), CX")
	for i := range h {
		for j := range v {
			at := fmt.Sprintf("%d(DI)", 64*j)
			label := fmt.Sprintf("v%dh%dstore%d_%d", v, h, i, j)
			g.op("TESTL CX, CX")
			g.op("JZ %s", label)
			if g.avx512 {
				g.op("VMOVDQU32.Z %s, K%d, Z0", at, j+1)
				g.op("VPADDD Z0, %s, %s", sum(i, j), sum(i, j))
			} else {
				g.op("VPMASKMOVD %s, Y15, Y0", at)
				g.op("VPADDD Y0, %s, %s", sum(i, j), sum(i, j))
			}
			g.label("%s", label)
			if g.avx512 {
				g.op("VMOVDQU32 %s, K%d, %s", sum(i, j), j+1, at)
			} else {
				g.op("VPMASKMOVD %s, Y15, %s", sum(i, j), at)
			}
		}
		if i < h-1 {
			g.op("ADDQ R9, DI")
		}
	}
	g.op("VZEROUPPER")
	g.op("RET")
}

// tapQuads emits the sums of quads of taps: the bytes of a quad at each position are
// brought together by a shuffle, whose indices are handed in. N is a multiple of the
// positions of a register. R10 and R11 walk the taps, which BX counts down.
func (g *generator) tapQuads() {
	fmt.Fprintf(g, "\n// func tapQuads%s(y *int32, n int, x *uint8, stride int, offsets *int, weights *uint8, taps int, shuffle *uint8)\n", g.name)
	fmt.Fprintf(g, "TEXT ·tapQuads%s(SB), NOSPLIT, $0-64\n", g.name)
	g.op("MOVQ y+0(FP), DI")
	g.op("MOVQ n+8(FP), CX")
	g.op("MOVQ x+16(FP), SI")
	g.op("MOVQ stride+24(FP), R12")
	g.op("MOVQ offsets+32(FP), R8")
	g.op("MOVQ weights+40(FP), R9")
	g.op("MOVQ taps+48(FP), DX")
	g.op("MOVQ shuffle+56(FP), AX")
	if g.avx512 {
		g.op("VMOVDQU32 (AX), Z4")
	} else {
		g.op("VMOVDQU (AX), X4")
		g.op("LEAQ (SI)(R12*4), R13") // the last four positions
	}
	g.op("SHLQ $%d, R12", map[bool]int{true: 4, false: 3}[g.avx512])
	g.label("next")
	g.zero(g.reg(0))
	g.zero(g.reg(1))
	g.op("MOVQ R8, R10")
	g.op("MOVQ R9, R11")
	g.op("MOVQ DX, BX")
	g.label("taps")
	g.op("MOVQ (R10), AX")
	if g.avx512 {
		g.op("VPERMB (SI)(AX*1), Z4, Z2")
		g.op("VPBROADCASTD (R11), Z3")
		g.op("VPDPBUSD Z3, Z2, Z0")
	} else {
		g.op("VPBROADCASTD (R11), X3")
		g.op("VPMOVSXBW X3, Y3")
		for j, at := range []string{"SI", "R13"} {
			g.op("VMOVDQU (%s)(AX*1), X2", at)
			g.op("VPSHUFB X4, X2, X2")
			g.op("VPMOVZXBW X2, Y2")
			g.op("VPMADDWD Y3, Y2, Y2")
			g.op("VPADDD Y2, Y%d, Y%d", j, j)
		}
	}
	g.op("ADDQ $8, R10")
	g.op("ADDQ $4, R11")
	g.op("DECQ BX")
	g.op("JNZ taps")
	if g.avx512 {
		g.op("VMOVDQU32 Z0, (DI)")
	} else {
		g.op("VPHADDD Y1, Y0, Y0")
		g.op("VPERMQ $0xD8, Y0, Y0")
		g.op("VMOVDQU Y0, (DI)")
		g.op("ADDQ R12, R13")
	}
	g.op("ADDQ R12, SI")
	g.op("ADDQ $%d, DI", g.bytes())
	g.op("SUBQ $%d, CX", g.lanes())
	g.op("JNZ next")
	g.op("VZEROUPPER")
	g.op("RET")
}

// requantize emits the rounding of sums to bytes. N is a multiple of the numbers of a
// register. What is added, and the scale, is one for all, or goes on with the sums.
func (g *generator) requantize() {
	fmt.Fprintf(g, "\n// func requantize%s(y *uint8, s *int32, n int, add *int32, addEach bool, base int32, scale *float32, scaleEach bool, least, most float32, zero int32)\n", g.name)
	fmt.Fprintf(g, "TEXT ·requantize%s(SB), NOSPLIT, $0-64\n", g.name)
	g.op("MOVQ y+0(FP), DI")
	g.op("MOVQ s+8(FP), SI")
	g.op("MOVQ n+16(FP), CX")
	g.op("MOVQ add+24(FP), R8")
	g.op("MOVBLZX addEach+32(FP), R9")
	g.op("MOVQ scale+40(FP), R10")
	g.op("MOVBLZX scaleEach+48(FP), R11")
	g.op("VBROADCASTSS least+52(FP), %s", g.reg(4))
	g.op("VBROADCASTSS most+56(FP), %s", g.reg(5))
	g.op("VBROADCASTSS zero+60(FP), %s", g.reg(6))
	g.op("VPBROADCASTD (R8), %s", g.reg(2))
	g.op("VBROADCASTSS base+36(FP), %s", g.reg(1))
	g.op("VBROADCASTSS (R10), %s", g.reg(3))
	g.rounding()
	if g.avx512 {
		g.requantizeQuarters()
	}
	g.label("next")
	g.scaledSums(0, 0)
	g.advance(1)
	g.roundToBytes()
	g.op("ADDQ $%d, SI", g.bytes())
	g.next()
}

// scaledSums emits the loading of a register of sums into register to, the i-th from SI
// on, with what is added, times the scale.
func (g *generator) scaledSums(i, to int) {
	for _, at := range []struct{ each, from, to string }{{"R9", "R8", g.reg(2)}, {"R11", "R10", g.reg(3)}} {
		label := fmt.Sprintf("one%s%d%d", at.each, i, to)
		g.op("TESTL %s, %s", at.each, at.each)
		g.op("JZ %s", label)
		g.op("VMOVUPS %d(%s), %s", i*g.bytes(), at.from, at.to)
		g.label("%s", label)
	}
	r := g.reg(to)
	g.op("VPADDD %d(SI), %s, %s", i*g.bytes(), g.reg(1), r)
	g.op("VPADDD %s, %s, %s", g.reg(2), r, r)
	g.op("VCVTDQ2PS %s, %s", r, r)
	g.op("VMULPS %s, %s, %s", g.reg(3), r, r)
}

// advance emits the stepping of what is added, and of the scale, by n registers.
func (g *generator) advance(n int) {
	for _, at := range []struct{ each, from string }{{"R9", "R8"}, {"R11", "R10"}} {
		label := fmt.Sprintf("still%s%d", at.each, n)
		g.op("TESTL %s, %s", at.each, at.each)
		g.op("JZ %s", label)
		g.op("ADDQ $%d, %s", n*g.bytes(), at.from)
		g.label("%s", label)
	}
}

// requantizeQuarters emits requantize for four registers at a time, as long as there are
// so many sums. They are narrowed together, to words and then to bytes, with
// saturation; the zero point is added to words. Bytes of int8 are computed as those of
// uint8 that are greater by 128, which R12 holds or else 0.
func (g *generator) requantizeQuarters() {
	g.op("XORL R12, R12")
	g.op("VCVTSS2SI X4, AX")
	g.op("ADDL zero+60(FP), AX") // the least number of y
	g.op("MOVL $128, BX")
	g.op("TESTL AX, AX")
	g.op("CMOVLLT BX, R12")
	g.op("VPBROADCASTB R12, Z15")
	g.op("ADDL zero+60(FP), R12")
	g.op("VPBROADCASTW R12, Z14")
	g.op("VMOVDQU32 quarters<>(SB), Z13")
	g.label("quarters")
	g.op("CMPQ CX, $64")
	g.op("JLT rest")
	for i := range 4 {
		to := 8 + i
		g.scaledSums(i, to)
		g.op("VMINPS Z%d, Z5, Z%d", to, to) // as greater numbers become the least integer,
		g.op("VCVTPS2DQ Z%d, Z%d", to, to)  // as NaN does, which the minimum keeps
	}
	g.op("VPACKSSDW Z9, Z8, Z8")
	g.op("VPACKSSDW Z11, Z10, Z10")
	g.op("VPADDSW Z14, Z8, Z8")
	g.op("VPADDSW Z14, Z10, Z10")
	g.op("VPACKUSWB Z10, Z8, Z8")
	g.op("VPERMD Z8, Z13, Z8")
	g.op("VPXORD Z15, Z8, Z8")
	g.op("VMOVDQU32 Z8, (DI)")
	g.advance(4)
	g.op("ADDQ $256, SI")
	g.op("ADDQ $64, DI")
	g.op("SUBQ $64, CX")
	g.op("JNZ quarters")
	g.op("VZEROUPPER")
	g.op("RET")
	g.label("rest")
}

// quarters emits where the quads of bytes that lie side by side in narrowed registers come
// from: all of the first register before those of the second.
func (g *generator) quarters() {
	g.raw("\n")
	for i := range 8 {
		fmt.Fprintf(g, "DATA quarters<>+%d(SB)/8, $%#x\n", 8*i, 2*i%4*4+2*i/4|(2*i+1)%4*4<<32+(2*i+1)/4<<32)
	}
	g.raw("GLOBL quarters<>(SB), RODATA|NOPTR, $64\n")
}

// roundToBytes emits the rounding of register 0 to bytes at DI. Registers 4 and 5 hold
// the extreme numbers less the zero point, and 6 that.
func (g *generator) roundToBytes() {
	g.op("VMAXPS %s, %s, %s", g.reg(4), g.reg(0), g.reg(0)) // the least of NaN
	g.op("VMINPS %s, %s, %s", g.reg(5), g.reg(0), g.reg(0))
	g.op("VCVTPS2DQ %s, %s", g.reg(0), g.reg(0))
	g.op("VPADDD %s, %s, %s", g.reg(6), g.reg(0), g.reg(0))
	if g.avx512 {
		g.op("VPMOVDB Z0, (DI)")
	} else {
		g.op("VPSHUFB Y7, Y0, Y0")
		g.op("VEXTRACTI128 $1, Y0, X8")
		g.op("VPUNPCKLDQ X8, X0, X0")
		g.op("VMOVQ X0, (DI)")
	}
}

// rounding emits what roundToBytes needs beside the arguments.
func (g *generator) rounding() {
	if !g.avx512 {
		g.op("VMOVDQU lowBytes<>(SB), Y7")
	}
}

// next emits the end of a loop that writes a register of numbers as bytes to DI.
func (g *generator) next() {
	g.op("ADDQ $%d, DI", g.lanes())
	g.op("SUBQ $%d, CX", g.lanes())
	g.op("JNZ next")
	g.op("VZEROUPPER")
	g.op("RET")
}

// quantize emits the division of numbers by a scale and their rounding to bytes.
func (g *generator) quantize() {
	fmt.Fprintf(g, "\n// func quantize%s(y *uint8, x *float32, n int, scale, least, most float32, zero int32)\n", g.name)
	fmt.Fprintf(g, "TEXT ·quantize%s(SB), NOSPLIT, $0-40\n", g.name)
	g.op("MOVQ y+0(FP), DI")
	g.op("MOVQ x+8(FP), SI")
	g.op("MOVQ n+16(FP), CX")
	g.op("VBROADCASTSS scale+24(FP), %s", g.reg(3))
	g.op("VBROADCASTSS least+28(FP), %s", g.reg(4))
	g.op("VBROADCASTSS most+32(FP), %s", g.reg(5))
	g.op("VBROADCASTSS zero+36(FP), %s", g.reg(6))
	g.rounding()
	g.label("next")
	g.op("VMOVUPS (SI), %s", g.reg(0))
	g.op("VDIVPS %s, %s, %s", g.reg(3), g.reg(0), g.reg(0))
	g.roundToBytes()
	g.op("ADDQ $%d, SI", g.bytes())
	g.next()
}

// widenBytes emits the loading of a register of numbers from the bytes at a place, flipped by
// register 10, less register zero, times register scale. It spoils register 9.
func (g *generator) widenBytes(at, to string, zero, scale int) {
	if g.avx512 {
		g.op("VMOVDQU %s, X9", at)
	} else {
		g.op("VMOVQ %s, X9", at)
	}
	g.op("VPXOR X10, X9, X9")
	g.op("VPMOVZXBD X9, %s", to)
	g.op("VPSUBD %s, %s, %s", g.reg(zero), to, to)
	g.op("VCVTDQ2PS %s, %s", to, to)
	g.op("VMULPS %s, %s, %s", g.reg(scale), to, to)
}

// dequantize emits the numbers that bytes stand for. Bytes are flipped to be unsigned.
func (g *generator) dequantize() {
	fmt.Fprintf(g, "\n// func dequantize%s(y *float32, x *uint8, n int, scale float32, zero int32, flip uint8)\n", g.name)
	fmt.Fprintf(g, "TEXT ·dequantize%s(SB), NOSPLIT, $0-33\n", g.name)
	g.op("MOVQ y+0(FP), DI")
	g.op("MOVQ x+8(FP), SI")
	g.op("MOVQ n+16(FP), CX")
	g.op("VBROADCASTSS scale+24(FP), %s", g.reg(3))
	g.op("VBROADCASTSS zero+28(FP), %s", g.reg(2))
	g.op("VPBROADCASTB flip+32(FP), X10")
	g.label("next")
	g.widenBytes("(SI)", g.reg(0), 2, 3)
	g.op("VMOVUPS %s, (DI)", g.reg(0))
	g.op("ADDQ $%d, SI", g.lanes())
	g.op("ADDQ $%d, DI", g.bytes()-g.lanes())
	g.next()
}

// addQuantized emits the sum of what bytes stand for, as bytes.
func (g *generator) addQuantized() {
	fmt.Fprintf(g, "\n// func addQuantized%s(y, a, b *uint8, n int, scaleA, scaleB, scaleY, least, most float32, zeroA, zeroB, zeroY int32, flip uint8)\n", g.name)
	fmt.Fprintf(g, "TEXT ·addQuantized%s(SB), NOSPLIT, $0-65\n", g.name)
	g.op("MOVQ y+0(FP), DI")
	g.op("MOVQ a+8(FP), SI")
	g.op("MOVQ b+16(FP), BX")
	g.op("MOVQ n+24(FP), CX")
	for _, arg := range []struct {
		name   string
		at, to int
	}{
		{"scaleA", 32, 11}, {"scaleB", 36, 12}, {"scaleY", 40, 3}, {"least", 44, 4}, {"most", 48, 5},
		{"zeroA", 52, 13}, {"zeroB", 56, 14}, {"zeroY", 60, 6},
	} {
		g.op("VBROADCASTSS %s+%d(FP), %s", arg.name, arg.at, g.reg(arg.to))
	}
	g.op("VPBROADCASTB flip+64(FP), X10")
	g.rounding()
	g.label("next")
	g.widenBytes("(SI)", g.reg(0), 13, 11)
	g.widenBytes("(BX)", g.reg(1), 14, 12)
	g.op("VADDPS %s, %s, %s", g.reg(1), g.reg(0), g.reg(0))
	g.op("VDIVPS %s, %s, %s", g.reg(3), g.reg(0), g.reg(0))
	g.roundToBytes()
	g.op("ADDQ $%d, SI", g.lanes())
	g.op("ADDQ $%d, BX", g.lanes())
	g.next()
}

// shiftSums emits the adding of a number, and of one for each sum, to sums. N is a
// multiple of the numbers of a register.
func (g *generator) shiftSums() {
	fmt.Fprintf(g, "\n// func shiftSums%s(s *int32, n int, add *int32, addEach bool, base int32)\n", g.name)
	fmt.Fprintf(g, "TEXT ·shiftSums%s(SB), NOSPLIT, $0-32\n", g.name)
	g.op("MOVQ s+0(FP), DI")
	g.op("MOVQ n+8(FP), CX")
	g.op("MOVQ add+16(FP), R8")
	g.op("MOVBLZX addEach+24(FP), R9")
	g.op("VPBROADCASTD (R8), %s", g.reg(2))
	g.op("VBROADCASTSS base+28(FP), %s", g.reg(1))
	g.label("next")
	g.op("TESTL R9, R9")
	g.op("JZ one")
	g.op("VMOVUPS (R8), %s", g.reg(2))
	g.op("ADDQ $%d, R8", g.bytes())
	g.label("one")
	g.op("VPADDD (DI), %s, %s", g.reg(1), g.reg(0))
	g.op("VPADDD %s, %s, %s", g.reg(2), g.reg(0), g.reg(0))
	g.op("VMOVUPS %s, (DI)", g.reg(0))
	g.op("ADDQ $%d, DI", g.bytes())
	g.op("SUBQ $%d, CX", g.lanes())
	g.op("JNZ next")
	g.op("VZEROUPPER")
	g.op("RET")
}

// interleave emits the laying out of four rows of bytes as quads, sixteen columns at a
// time; n is a multiple of that. It is the same for every set.
func (g *generator) interleave() {
	g.raw("\nDATA lowBytes<>+0(SB)/8, $0x808080800C080400\nDATA lowBytes<>+8(SB)/8, $-1\n")
	g.raw("DATA lowBytes<>+16(SB)/8, $0x808080800C080400\nDATA lowBytes<>+24(SB)/8, $-1\n")
	g.raw("GLOBL lowBytes<>(SB), RODATA|NOPTR, $32\n")
	g.raw("\n// func interleaveAVX2(dst, src *uint8, n, count, dstStep, srcStep int, flip uint8)\n")
	g.raw("TEXT ·interleaveAVX2(SB), NOSPLIT, $0-49\n")
	g.op("MOVQ dst+0(FP), DI")
	g.op("MOVQ src+8(FP), SI")
	g.op("MOVQ n+16(FP), DX")
	g.op("MOVQ count+24(FP), CX")
	g.op("MOVQ dstStep+32(FP), R8")
	g.op("MOVQ srcStep+40(FP), R9")
	g.op("VPBROADCASTB flip+48(FP), X15")
	g.op("LEAQ (R9)(R9*2), R10")
	g.label("rows")
	g.op("MOVQ DI, R11")
	g.op("MOVQ SI, R12")
	g.op("MOVQ DX, BX")
	g.label("columns")
	for i, at := range []string{"(R12)", "(R12)(R9*1)", "(R12)(R9*2)", "(R12)(R10*1)"} {
		g.op("VPXOR %s, X15, X%d", at, i)
	}
	g.op("VPUNPCKLBW X1, X0, X4")
	g.op("VPUNPCKHBW X1, X0, X5")
	g.op("VPUNPCKLBW X3, X2, X6")
	g.op("VPUNPCKHBW X3, X2, X7")
	for i, half := range []string{"L", "H"} {
		g.op("VPUNPCK%sWD X6, X4, X%d", half, 8+i)
		g.op("VPUNPCK%sWD X7, X5, X%d", half, 10+i)
	}
	for i := range 4 {
		g.op("VMOVDQU X%d, %d(R11)", 8+i, 16*i)
	}
	g.op("ADDQ $16, R12")
	g.op("ADDQ $64, R11")
	g.op("SUBQ $16, BX")
	g.op("JNZ columns")
	g.op("LEAQ (SI)(R9*4), SI")
	g.op("ADDQ R8, DI")
	g.op("DECQ CX")
	g.op("JNZ rows")
	g.op("VZEROUPPER")
	g.op("RET")
}

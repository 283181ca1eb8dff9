package main

// Between sums, bytes and numbers for arm64: the loops of integer.go over 16 elements at a time.

// neonScalars emits registers that have an argument in every lane, one of 32 bits.
func (g *generator) neonScalars(args map[int]string) {
	for r := range 32 {
		if arg, ok := args[r]; ok {
			g.op("MOVW %s, R9", arg)
			g.op("VDUP R9, V%d.S4", r)
		}
	}
}

// neonEachOrOne emits a pointer to four elements and its step, 16 bytes: those of an argument, where
// the flag says that it has one for each element, or else its one, four times on the stack, and
// a step of 0.
func (g *generator) neonEachOrOne(arg, flag, slot, pointer, step string) {
	g.op("MOVD %s, %s", arg, pointer)
	g.op("MOVD $16, %s", step)
	g.op("MOVBU %s, R9", flag)
	g.op("CBNZ R9, %seach", slot)
	g.op("VLD1R (%s), [V0.S4]", pointer)
	g.op("MOVD $%s, %s", slotAddress[slot], pointer)
	g.op("FMOVQ F0, (%s)", pointer)
	g.op("MOVD $0, %s", step)
	g.label("%seach", slot)
}

// slotAddress has where the elements of [generator.neonEachOrOne] lie.
var slotAddress = map[string]string{"adds": "adds-16(SP)", "scales": "scales-32(SP)"}

// neonSixteen emits a loop over the elements that R2 counts, 16 at a time.
func (g *generator) neonSixteen(body func()) {
	g.label("next")
	body()
	g.op("SUB $16, R2")
	g.op("CBNZ R2, next")
	g.op("RET")
}

// neonToBytes emits the rounding of the numbers in registers 0 to 3 to bytes in register 0: registers 28
// and 29 have the least and the most, 30 the zero, and NaN becomes the least.
func (g *generator) neonToBytes() {
	for q := range 4 {
		g.word(neonFMAXNM, true, q, q, 28)
		g.word(neonFMINNM, true, q, q, 29)
		g.word(neonFCVTNS, true, q, q, 0)
		g.neonOp("VPADDD", q, q, 30)
	}
	g.op("VUZP1 V1.H8, V0.H8, V0.H8")
	g.op("VUZP1 V3.H8, V2.H8, V2.H8")
	g.op("VUZP1 V2.B16, V0.B16, V0.B16")
}

// neonToNumbers emits what the 16 bytes of register from stand for, in four registers from to on, which
// are not that one: flipped by register 31, without zero and times scale.
func (g *generator) neonToNumbers(from, to, zero, scale int) {
	g.neonOp("XOR", from, from, 31)
	g.word(neonUXTL8, false, to, from, 0)
	g.word(neonUXTL8|neonHigh, false, to+2, from, 0)
	for q := 0; q < 4; q += 2 {
		g.word(neonUXTL16|neonHigh, false, to+q+1, to+q, 0)
		g.word(neonUXTL16, false, to+q, to+q, 0)
	}
	for q := to; q < to+4; q++ {
		g.neonOp("VPSUBD", q, q, zero)
		g.neonOp("VCVTDQ2", q, q, 0)
		g.neonOp("VMUL", q, q, scale)
	}
}

func (g *generator) neonShiftSums() {
	g.raw("\n// func shiftSumsNEON(s *int32, n int, add *int32, addEach bool, base int32)\n")
	g.raw("TEXT ·shiftSumsNEON(SB), NOSPLIT, $16-32\n")
	g.op("MOVD s+0(FP), R0")
	g.op("MOVD n+8(FP), R2")
	g.neonScalars(map[int]string{27: "base+28(FP)"})
	g.neonEachOrOne("add+16(FP)", "addEach+24(FP)", "adds", "R3", "R4")
	g.neonSixteen(func() {
		for q := range 4 {
			g.op("FMOVQ %d(R0), F%d", 16*q, q)
		}
		g.neonShifted()
		for q := range 4 {
			g.op("FMOVQ.P F%d, 16(R0)", q)
		}
	})
}

// neonShifted emits the addition of what R3 points to, R4 bytes apart, and of register 27 to
// registers 0 to 3.
func (g *generator) neonShifted() {
	for q := range 4 {
		g.op("FMOVQ (R3), F4")
		g.op("ADD R4, R3")
		g.neonOp("VPADDD", q, q, 4)
		g.neonOp("VPADDD", q, q, 27)
	}
}

func (g *generator) neonRequantize() {
	g.raw("\n// func requantizeNEON(y *uint8, s *int32, n int, add *int32, addEach bool, base int32, scale *float32, scaleEach bool, least, most float32, zero int32)\n")
	g.raw("TEXT ·requantizeNEON(SB), NOSPLIT, $32-64\n")
	g.op("MOVD y+0(FP), R0")
	g.op("MOVD s+8(FP), R1")
	g.op("MOVD n+16(FP), R2")
	g.neonScalars(map[int]string{27: "base+36(FP)", 28: "least+52(FP)", 29: "most+56(FP)", 30: "zero+60(FP)"})
	g.neonEachOrOne("add+24(FP)", "addEach+32(FP)", "adds", "R3", "R4")
	g.neonEachOrOne("scale+40(FP)", "scaleEach+48(FP)", "scales", "R5", "R6")
	g.neonSixteen(func() {
		for q := range 4 {
			g.op("FMOVQ.P 16(R1), F%d", q)
		}
		g.neonShifted()
		for q := range 4 {
			g.op("FMOVQ (R5), F4")
			g.op("ADD R6, R5")
			g.neonOp("VCVTDQ2", q, q, 0)
			g.neonOp("VMUL", q, q, 4)
		}
		g.neonToBytes()
		g.op("FMOVQ.P F0, 16(R0)")
	})
}

func (g *generator) neonQuantize() {
	g.raw("\n// func quantizeNEON(y *uint8, x *float32, n int, scale, least, most float32, zero int32)\n")
	g.raw("TEXT ·quantizeNEON(SB), NOSPLIT, $0-40\n")
	g.op("MOVD y+0(FP), R0")
	g.op("MOVD x+8(FP), R1")
	g.op("MOVD n+16(FP), R2")
	g.neonScalars(map[int]string{27: "scale+24(FP)", 28: "least+28(FP)", 29: "most+32(FP)", 30: "zero+36(FP)"})
	g.neonSixteen(func() {
		for q := range 4 {
			g.op("FMOVQ.P 16(R1), F%d", q)
			g.neonOp("VDIV", q, q, 27)
		}
		g.neonToBytes()
		g.op("FMOVQ.P F0, 16(R0)")
	})
}

func (g *generator) neonDequantize() {
	g.raw("\n// func dequantizeNEON(y *float32, x *uint8, n int, scale float32, zero int32, flip uint8)\n")
	g.raw("TEXT ·dequantizeNEON(SB), NOSPLIT, $0-33\n")
	g.op("MOVD y+0(FP), R0")
	g.op("MOVD x+8(FP), R1")
	g.op("MOVD n+16(FP), R2")
	g.neonScalars(map[int]string{27: "scale+24(FP)", 28: "zero+28(FP)"})
	g.op("MOVBU flip+32(FP), R9")
	g.op("VDUP R9, V31.B16")
	g.neonSixteen(func() {
		g.op("FMOVQ.P 16(R1), F8")
		g.neonToNumbers(8, 0, 28, 27)
		for q := range 4 {
			g.op("FMOVQ.P F%d, 16(R0)", q)
		}
	})
}

func (g *generator) neonAddQuantized() {
	g.raw("\n// func addQuantizedNEON(y, a, b *uint8, n int, scaleA, scaleB, scaleY, least, most float32, zeroA, zeroB, zeroY int32, flip uint8)\n")
	g.raw("TEXT ·addQuantizedNEON(SB), NOSPLIT, $0-65\n")
	g.op("MOVD y+0(FP), R0")
	g.op("MOVD a+8(FP), R1")
	g.op("MOVD b+16(FP), R3")
	g.op("MOVD n+24(FP), R2")
	g.neonScalars(map[int]string{
		23: "scaleA+32(FP)", 24: "scaleB+36(FP)", 25: "scaleY+40(FP)", 28: "least+44(FP)", 29: "most+48(FP)",
		26: "zeroA+52(FP)", 27: "zeroB+56(FP)", 30: "zeroY+60(FP)",
	})
	g.op("MOVBU flip+64(FP), R9")
	g.op("VDUP R9, V31.B16")
	g.neonSixteen(func() {
		g.op("FMOVQ.P 16(R1), F8")
		g.neonToNumbers(8, 0, 26, 23)
		g.op("FMOVQ.P 16(R3), F8")
		g.neonToNumbers(8, 4, 27, 24)
		for q := range 4 {
			g.neonOp("VADD", q, q, 4+q)
			g.neonOp("VDIV", q, q, 25)
		}
		g.neonToBytes()
		g.op("FMOVQ.P F0, 16(R0)")
	})
}

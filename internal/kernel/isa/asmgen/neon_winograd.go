package main

// The loops of winograd.go for arm64, about the same transforms. In all of them R0 and R1 are where dst
// and src begin, R5 and R6 the steps of each in bytes, R7 counts elements, R8 to R13 are the lines
// of the result and R20 to R25 those of the source.
const neonLineOut, neonLineIn = 8, 20

func (g *generator) neonWinograd() {
	g.kind = kind{name: "32NEON", neon: true, width: 4}
	g.winogradConstants()
	g.neonInRows()
	g.neonInCols()
	g.neonOutRows()
	g.neonOutCols()
}

// neonConstants emits the loads of a table of constants into registers 9 to 14.
func (g *generator) neonConstants(table string) {
	g.op("MOVD $%s<>(SB), R11", table)
	for i := range 6 {
		g.op("VLD1R.P 4(R11), [V%d.S4]", 9+i)
	}
}

// neonStoreLine emits the store of a register, or of its first lane, to line i of the result, and
// neonLoadLine the load of register k from that line of the source. Pointers are moved along.
func (g *generator) neonStoreLine(lane bool, reg, i int) {
	g.op("%s.P F%d, %d(R%d)", g.neonMoveOf(lane), reg, g.neonBytesOf(lane), neonLineOut+i)
}

func (g *generator) neonLoadLine(lane bool, k int) {
	g.op("%s.P %d(R%d), F%d", g.neonMoveOf(lane), g.neonBytesOf(lane), neonLineIn+k, k)
}

func (g *generator) neonBytesOf(lane bool) int {
	if lane {
		return g.width
	}
	return g.bytes()
}

// neonAcross emits a loop over planes, R3 and R4 bytes apart, and in each over n elements of lines
// that lie across rows. To emits the pointers to lines of the result, and transform what makes these.
func (g *generator) neonAcross(to func(), transform func(store func(i, reg int))) {
	g.neonArgs(false, map[int]string{0: "dst+0(FP)", 1: "src+8(FP)", 2: "planes+16(FP)"})
	g.neonArgs(true, map[int]string{3: "dstPlane+24(FP)", 4: "srcPlane+32(FP)", 5: "dstStep+40(FP)", 6: "srcStep+48(FP)"})
	g.label("plane")
	to()
	g.neonLines(neonLineIn, 6, "R1", "R6")
	g.op("MOVD n+56(FP), R7")
	g.neonSpans([]int{1}, "R7", "next", func(_ int, lane bool) {
		for k := range 6 {
			g.neonLoadLine(lane, k)
		}
		transform(func(i, reg int) { g.neonStoreLine(lane, reg, i) })
	})
	g.op("ADD R3, R0")
	g.op("ADD R4, R1")
	g.op("SUB $1, R2")
	g.op("CBNZ R2, plane")
	g.op("RET")
}

func (g *generator) neonInRows() {
	g.raw("\n// func winogradInRowsNEON(dst, src *float32, planes, dstPlane, srcPlane, dstStep, srcStep, n int)\n")
	g.raw("TEXT ·winogradInRowsNEON(SB), NOSPLIT, $0-64\n")
	g.neonConstants("winogradIn")
	g.neonAcross(func() { g.neonLines(neonLineOut, 6, "R0", "R5") }, g.input)
}

func (g *generator) neonOutRows() {
	g.raw("\n// func winogradOutRowsNEON(dst, src *float32, planes, dstPlane, srcPlane, dstStep, srcStep, n, lines int)\n")
	g.raw("TEXT ·winogradOutRowsNEON(SB), NOSPLIT, $0-72\n")
	g.neonConstants("winogradOut")
	g.op("MOVD lines+64(FP), R14")
	g.neonAcross(func() {
		// A line that is not wanted is stored where the first is to be, before that.
		g.neonLines(neonLineOut, 4, "R0", "R5")
		for i := 1; i < 4; i++ {
			g.op("CMP $%d, R14", i+1)
			g.op("CSEL LT, R0, R%d, R%[1]d", neonLineOut+i)
		}
	}, func(store func(i, reg int)) {
		g.output()
		for i := len(outputs) - 1; i >= 0; i-- {
			store(i, outputs[i])
		}
	})
}

// neonInCols emits the transform of the columns of tiles, of which four are loaded at a time: the last
// two elements of a tile are the first of the next. R15 is where the results of a row begin.
func (g *generator) neonInCols() {
	g.raw("\n// func winogradInColsNEON(dst, src *float32, planes, dstPlane, dstStep, srcStep, n int)\n")
	g.raw("TEXT ·winogradInColsNEON(SB), NOSPLIT, $0-56\n")
	g.neonConstants("winogradIn")
	g.neonArgs(false, map[int]string{0: "dst+0(FP)", 1: "src+8(FP)", 2: "planes+16(FP)"})
	g.neonArgs(true, map[int]string{3: "dstPlane+24(FP)", 5: "dstStep+32(FP)", 6: "srcStep+40(FP)"})
	g.label("plane")
	g.op("MOVD R0, R15")
	g.op("MOVD $6, R16")
	g.label("row")
	g.neonLines(neonLineOut, 6, "R15", "R5")
	g.op("ADD R5, R%d, R15", neonLineOut+5)
	g.op("MOVD R1, R20")
	g.op("MOVD n+48(FP), R7")
	g.neonSpans([]int{1}, "R7", "next", func(_ int, lane bool) {
		g.op("ADD $16, R20, R21")
		g.op("VLD4 (R20), [V0.S4, V1.S4, V2.S4, V3.S4]")
		g.op("VLD4 (R21), [V4.S4, V5.S4, V6.S4, V7.S4]")
		g.input(func(i, reg int) { g.neonStoreLine(lane, reg, i) })
		g.op("ADD $%d, R20", 4*g.neonBytesOf(lane))
	})
	g.op("ADD R6, R1")
	g.op("SUB $1, R16")
	g.op("CBNZ R16, row")
	g.op("ADD R3, R0")
	g.op("SUB $1, R2")
	g.op("CBNZ R2, plane")
	g.op("RET")
}

// neonOutCols emits the transform to columns of tiles, of which four are stored at a time, and go by
// the stack where they are not all wanted.
func (g *generator) neonOutCols() {
	g.raw("\n// func winogradOutColsNEON(dst, src *float32, rows, dstStep, srcStep, n int)\n")
	g.raw("TEXT ·winogradOutColsNEON(SB), NOSPLIT, $64-48\n")
	g.neonConstants("winogradOut")
	g.neonArgs(false, map[int]string{0: "dst+0(FP)", 1: "src+8(FP)", 2: "rows+16(FP)"})
	g.neonArgs(true, map[int]string{5: "dstStep+24(FP)", 6: "srcStep+32(FP)"})
	const tiles = "[V16.S4, V17.S4, V18.S4, V19.S4]"
	g.label("row")
	g.neonLines(neonLineIn, 6, "R1", "R6")
	g.op("ADD R6, R%d, R1", neonLineIn+5)
	g.op("MOVD R0, R8")
	g.op("MOVD n+40(FP), R7")
	g.label("next")
	for k := range 6 {
		g.neonLoadLine(false, k)
	}
	g.output()
	for i, reg := range outputs {
		g.neonCopy(reg, 16+i)
	}
	g.op("CMP $16, R7")
	g.op("BLT rest")
	g.op("VST4.P %s, 64(R8)", tiles)
	g.op("SUB $16, R7")
	g.op("CBNZ R7, next")
	g.op("B done")
	g.label("rest")
	g.op("MOVD $tiles-64(SP), R9")
	g.op("VST4 %s, (R9)", tiles)
	g.label("lane")
	g.op("MOVWU.P 4(R9), R10")
	g.op("MOVW.P R10, 4(R8)")
	g.op("SUB $1, R7")
	g.op("CBNZ R7, lane")
	g.label("done")
	g.op("ADD R5, R0")
	g.op("SUB $1, R2")
	g.op("CBNZ R2, row")
	g.op("RET")
}

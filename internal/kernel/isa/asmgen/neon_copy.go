package main

import "fmt"

// What convolutions copy with, for arm64: depthwise.go, direct.go and conv.go.

func (g *generator) neonCopyRows() {
	fmt.Fprintf(g, "\n// func copyRows%s(y, x *float%d, grid *Grid)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·copyRows%s(SB), NOSPLIT, $0-24\n", g.name)
	g.neonWalk(neonWalk{
		blocks: []int{4, 1}, row: none, begin: func(int) {}, plane: none,
		end: func(b neonBlock) { g.neonCopyBlock(b.regs, b.lane, "R14", "R13") },
	})
}

// neonCopyBlock emits the copy of registers or of one lane.
func (g *generator) neonCopyBlock(regs int, lane bool, from, to string) {
	for j := range regs {
		g.neonLoad(lane, fmt.Sprintf("%d(%s)", 16*j, from), j)
	}
	for j := range regs {
		g.neonStore(lane, j, fmt.Sprintf("%d(%s)", 16*j, to))
	}
}

// neonHalves emits the load of two registers of elements at R5, those with even and those with
// odd numbers apart, to registers 0 and 1; R5 is moved along.
func (g *generator) neonHalves() {
	g.op("VLD2.P 32(R5), [V0.%s, V1.%[1]s]", g.neonArrangement())
}

// neonSplit emits the copies of rows to two. R0, R16 and R1 are where a plane begins of the even
// elements, of the odd ones and of x; R8, R9 and R10 where a row does; and R6, R7 and R5 walk
// these.
func (g *generator) neonSplit() {
	fmt.Fprintf(g, "\n// func split%s(even, odd, x *float%d, grid *Grid)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·split%s(SB), NOSPLIT, $0-32\n", g.name)
	g.neonArgs(false, map[int]string{0: "even+0(FP)", 16: "odd+8(FP)", 1: "x+16(FP)", 2: "grid+24(FP)"})
	g.op("MOVD %d(R2), R13", planes)
	g.label("plane")
	g.op("MOVD R0, R8")
	g.op("MOVD R16, R9")
	g.op("MOVD R1, R10")
	g.op("MOVD %d(R2), R14", rows)
	g.label("row")
	g.op("MOVD R8, R6")
	g.op("MOVD R9, R7")
	g.op("MOVD R10, R5")
	g.op("MOVD %d(R2), R15", cols)
	g.label("next")
	g.op("SUBS $%d, R15", 2*g.lanes())
	g.op("BLT rest")
	g.neonHalves()
	g.op("FMOVQ.P F0, 16(R6)")
	g.op("FMOVQ.P F1, 16(R7)")
	g.op("B next")
	g.label("rest")
	g.op("ADD $%d, R15", 2*g.lanes())
	g.label("element")
	for _, to := range []string{"R6", "R7"} {
		g.op("CBZ R15, done")
		g.op("%s.P %d(R5), F0", g.neonMove(), g.width)
		g.op("%s.P F0, %d(%s)", g.neonMove(), g.width, to)
		g.op("SUB $1, R15")
	}
	g.op("B element")
	g.label("done")
	g.neonStep(rowY, "R8")
	g.neonStep(rowY, "R9")
	g.neonStep(rowX, "R10")
	g.op("SUB $1, R14")
	g.op("CBNZ R14, row")
	g.neonStep(planeY, "R0")
	g.neonStep(planeY, "R16")
	g.neonStep(planeX, "R1")
	g.op("SUB $1, R13")
	g.op("CBNZ R13, plane")
	g.op("RET")
}

// neonCountedRows emits a loop over as many rows as an argument counts, with R0 and R1 where one begins
// in dst and in src, and R6 and R5 to walk it.
func (g *generator) neonCountedRows(row func()) {
	g.neonArgs(false, map[int]string{0: "dst+0(FP)", 1: "src+8(FP)", 2: "count+16(FP)"})
	g.neonArgs(true, map[int]string{3: "dstStep+24(FP)", 4: "srcStep+32(FP)"})
	g.label("row")
	g.op("MOVD R0, R6")
	g.op("MOVD R1, R5")
	row()
	g.op("ADD R3, R0")
	g.op("ADD R4, R1")
	g.op("SUB $1, R2")
	g.op("CBNZ R2, row")
	g.op("RET")
}

// neonPick emits the copies of even elements. The last register of them is taken one by one, as the
// odd one behind it need not be there.
func (g *generator) neonPick() {
	fmt.Fprintf(g, "\n// func pick%s(dst, src *float%d, count, dstStep, srcStep, n int)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·pick%s(SB), NOSPLIT, $0-48\n", g.name)
	g.neonCountedRows(func() {
		g.op("MOVD n+40(FP), R7")
		g.label("next")
		g.op("CMP $%d, R7", g.lanes())
		g.op("BLE element")
		g.neonHalves()
		g.op("FMOVQ.P F0, 16(R6)")
		g.op("SUB $%d, R7", g.lanes())
		g.op("B next")
		g.label("element")
		g.op("%s.P %d(R5), F0", g.neonMove(), 2*g.width)
		g.op("%s.P F0, %d(R6)", g.neonMove(), g.width)
		g.op("SUB $1, R7")
		g.op("CBNZ R7, element")
	})
}

// neonSpread emits the packing of a run of an image row for several channels: the elements [a, b) of n
// lanes are copied, the others of the n are 0. Register 8 is 0.
func (g *generator) neonSpread() {
	fmt.Fprintf(g, "\n// func spread%s(dst, src *float%d, count, dstStep, srcStep, a, b, n int)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·spread%s(SB), NOSPLIT, $0-64\n", g.name)
	g.neonZero(8)
	g.neonArgs(false, map[int]string{8: "a+40(FP)", 9: "b+48(FP)", 10: "n+56(FP)"})
	g.op("SUB R9, R10")
	g.op("SUB R8, R9")
	zeros := func(count, name string) {
		g.op("MOVD %s, R7", count)
		g.neonSpans([]int{1}, "R7", name, func(_ int, lane bool) { g.neonStore(lane, 8, "(R6)") }, "R6")
	}
	g.neonCountedRows(func() {
		zeros("R8", "before")
		g.op("MOVD R9, R7")
		g.neonSpans([]int{1}, "R7", "copy", func(_ int, lane bool) { g.neonCopyBlock(1, lane, "R5", "R6") }, "R5", "R6")
		zeros("R10", "behind")
	})
}

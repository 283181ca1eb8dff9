package main

import "fmt"

// The poolings of pool.go and channels.go for arm64.

func (g *generator) neonMaxRows() {
	fmt.Fprintf(g, "\n// func maxRows%s(y, x *float%d, grid *Grid, offsets *int, taps int)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·maxRows%s(SB), NOSPLIT, $0-40\n", g.name)
	g.neonMaxima(neonWalk{taps: "taps+32(FP)"})
}

func (g *generator) neonLastMax() {
	fmt.Fprintf(g, "\n// func lastMax%s(y, x *float%d, grid *Grid, offsets *int, atX, taps int)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·lastMax%s(SB), NOSPLIT, $0-48\n", g.name)
	g.neonMaxima(neonWalk{last: true, taps: "taps+40(FP)", atX: "atX+32(FP)"})
}

// neonMaxima emits the maxima of taps, from the lowest number on, which is in register 31. Of equal zeros
// the first stays, whatever its sign.
func (g *generator) neonMaxima(w neonWalk) {
	const most = 16 // the first register
	g.op("MOVD $%#x, R12", map[int]uint64{4: 0xff800000, 8: 0xfff0000000000000}[g.width])
	g.op("VDUP R12, V31.%s", g.neonArrangement())
	w.blocks, w.row, w.plane = []int{8, 1}, none, none
	w.begin = func(regs int) {
		for j := range regs {
			g.neonCopy(31, most+j)
		}
	}
	w.tap = func(regs int, lane bool) {
		for j := range regs {
			g.neonLoad(lane, fmt.Sprintf("%d(R11)", 16*j), j)
			g.word(neonFCMGE, true, 8+j, most+j, j)
			g.neonOp("MAXIMUM", j, most+j, j)
			g.word(neonBIF, false, most+j, j, 8+j)
		}
	}
	w.end = func(b neonBlock) {
		for j := range b.regs {
			g.neonStore(b.lane, most+j, fmt.Sprintf("%d(R13)", 16*j))
		}
	}
	g.neonWalk(w)
}

// neonMeanRows emits the means of taps. R24 walks the counts of the columns of a row, and R25 the lines,
// of which there is a number for each row of a plane.
func (g *generator) neonMeanRows() {
	fmt.Fprintf(g, "\n// func meanRows%s(y, x *float%d, grid *Grid, offsets *int, taps int, counts, lines *float64)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·meanRows%s(SB), NOSPLIT, $0-56\n", g.name)
	g.op("MOVD lines+48(FP), R25")
	g.neonMeans(neonWalk{
		taps: "taps+32(FP)",
		row: func() {
			g.op("MOVD counts+40(FP), R24")
			g.op("VLD1R.P 8(R25), [V31.D2]")
		},
		plane: func() { g.op("MOVD lines+48(FP), R25") },
	}, func(b neonBlock, j int) {
		if b.lane {
			g.op("FMOVD.P 8(R24), F0")
		} else {
			g.op("FMOVQ.P 16(R24), F0")
		}
		g.neonWide("VMUL", 0, 0, 31)
		g.neonWide("VDIV", j, j, 0)
	})
}

// neonLastMean emits the means of taps with channels last. R24 walks the counts, of which
// there is one for each row of a plane, and R25 the lines, of which there is a number for each plane.
func (g *generator) neonLastMean() {
	fmt.Fprintf(g, "\n// func lastMean%s(y, x *float%d, grid *Grid, offsets *int, atX, taps int, counts, lines *float64)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·lastMean%s(SB), NOSPLIT, $0-64\n", g.name)
	g.op("MOVD counts+48(FP), R24")
	g.op("MOVD lines+56(FP), R25")
	g.neonMeans(neonWalk{
		last: true, taps: "taps+40(FP)", atX: "atX+32(FP)",
		row: func() {
			g.op("VLD1R.P 8(R24), [V31.D2]")
			g.op("VLD1R (R25), [V0.D2]")
			g.neonWide("VMUL", 31, 31, 0)
		},
		plane: func() {
			g.op("MOVD counts+48(FP), R24")
			g.op("ADD $8, R25")
		},
	}, func(_ neonBlock, j int) { g.neonWide("VDIV", j, j, 31) })
}

// neonMeans emits the sums of taps as float64, in registers from 16 on, and their division.
func (g *generator) neonMeans(w neonWalk, divide func(b neonBlock, j int)) {
	const sum = 16
	w.blocks = []int{4, 1}
	w.begin = func(regs int) {
		for j := range regs * g.wides() {
			g.neonZero(sum + j)
		}
	}
	w.tap = func(regs int, lane bool) {
		for j := range regs {
			g.neonAddWide(lane, fmt.Sprintf("%d(R11)", 16*j), sum+j*g.wides())
		}
	}
	w.end = func(b neonBlock) {
		wides := b.regs * g.wides()
		if b.lane {
			wides = 1
		}
		for j := range wides {
			divide(b, sum+j)
		}
		for j := range b.regs {
			g.neonStoreWide(b.lane, sum+j*g.wides(), fmt.Sprintf("%d(R13)", 16*j))
		}
	}
	g.neonWalk(w)
}

// wides returns how many registers of float64 the elements of one fill.
func (g *generator) wides() int { return 8 / g.width }

// neonWide is neonOp of float64.
func (g *generator) neonWide(name string, d, n, m int) {
	g.op("WORD $%#08x", neonWords[name]|1<<22|uint32(m)<<16|uint32(n)<<5|uint32(d))
}

// neonAddWide emits the addition of a register of elements, or of one, to sums of float64. It
// spoils registers 0 and 1.
func (g *generator) neonAddWide(lane bool, from string, sum int) {
	g.neonLoad(lane, from, 0)
	if g.width == 4 {
		g.word(neonFCVTLWide|neonHigh, false, 1, 0, 0)
		g.word(neonFCVTLWide, false, 0, 0, 0)
	}
	for k := range g.wides() {
		g.neonWide("VADD", sum+k, sum+k, k)
	}
}

// neonStoreWide emits the store of registers of float64 as elements, which spoils them.
func (g *generator) neonStoreWide(lane bool, from int, to string) {
	if g.width == 4 {
		g.word(neonFCVTNWide, false, from, from, 0)
		g.word(neonFCVTNWide|neonHigh, false, from, from+1, 0)
	}
	g.neonStore(lane, from, to)
}

// neonLastPlane emits the means of planes in four sums each: register k*wides+j has part j of sum k.
// R5 walks the positions, and R6 counts them down.
func (g *generator) neonLastPlane() {
	const sum = 16
	fmt.Fprintf(g, "\n// func lastPlane%s(y, x *float%d, channels, positions, step int)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·lastPlane%s(SB), NOSPLIT, $0-40\n", g.name)
	g.op("MOVD y+0(FP), R0")
	g.op("MOVD x+8(FP), R1")
	g.op("MOVD channels+16(FP), R2")
	g.op("MOVD positions+24(FP), R3")
	g.op("MOVD step+32(FP), R4")
	g.op("LSL $%d, R4, R4", g.shift())
	g.op("SCVTFD R3, F31")
	g.op("VDUP V31.D[0], V31.D2")
	g.neonSpans([]int{1}, "R2", "next", func(_ int, lane bool) {
		name := map[bool]string{true: "lane", false: "register"}[lane]
		for i := range 4 * g.wides() {
			g.neonZero(sum + i)
		}
		g.op("MOVD R1, R5")
		for _, together := range []int{4, 1} {
			label := fmt.Sprintf("%s%d", name, together)
			if together == 4 {
				g.op("LSR $2, R3, R6")
			} else {
				g.op("AND $3, R3, R6")
			}
			g.op("CBZ R6, %safter", label)
			g.label("%s", label)
			for k := range together {
				g.neonAddWide(lane, "(R5)", sum+k*g.wides())
				g.op("ADD R4, R5")
			}
			g.op("SUB $1, R6")
			g.op("CBNZ R6, %s", label)
			g.label("%safter", label)
		}
		for j := range g.wides() {
			at := func(k int) int { return sum + k*g.wides() + j }
			g.neonWide("VADD", at(0), at(0), at(1))
			g.neonWide("VADD", at(2), at(2), at(3))
			g.neonWide("VADD", at(0), at(0), at(2))
			g.neonWide("VDIV", at(0), at(0), 31)
		}
		g.neonStoreWide(lane, sum, "(R0)")
	}, "R0", "R1")
	g.op("RET")
}

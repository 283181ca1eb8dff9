package main

import "fmt"

// neonMulRow emits the product of a row by a matrix, as a tile of one row with many columns.
// R5 walks the row and R6 a column of registers, R12 and R13 count terms as in a tile, and
// R21 has whether there is something in c.
func (g *generator) neonMulRow() {
	const first = 8 // of the registers of sums
	fmt.Fprintf(g, "\n// func mulRow%s(n, k int, a, b *float%d, ldb int, c *float%[2]d, add bool)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·mulRow%s(SB), NOSPLIT, $0-49\n", g.name)
	g.op("MOVD n+0(FP), R0")
	g.op("MOVD b+24(FP), R2")
	g.op("MOVD ldb+32(FP), R3")
	g.op("LSL $%d, R3, R3", g.shift())
	g.op("MOVD c+40(FP), R4")
	g.neonSpans([]int{16, 4, 1}, "R0", "next", func(regs int, lane bool) {
		name := fmt.Sprintf("r%d", regs)
		if lane {
			name = "lane"
		}
		g.op("MOVD a+16(FP), R5")
		g.op("MOVD R2, R6")
		g.op("MOVD k+8(FP), R12")
		g.op("MOVBU add+48(FP), R21")
		g.label("%schain", name)
		for j := range regs {
			g.neonZero(first + j)
		}
		g.neonChain()
		g.label("%sterm", name)
		g.op("%s.P %d(R5), F0", g.neonMove(), g.width)
		for j := 0; j < regs; j += 4 {
			n := min(4, regs-j)
			if lane {
				g.neonLoad(lane, "(R6)", 1)
			} else {
				for i := range n {
					g.op("FMOVQ %d(R6), F%d", 16*(j+i), 1+i)
				}
			}
			for i := range n {
				g.neonByElement(first+j+i, 1+i, 0, 0)
			}
		}
		g.op("ADD R3, R6")
		g.op("SUB $1, R13")
		g.op("CBNZ R13, %sterm", name)
		g.op("CBZ R21, %sset", name)
		for j := range regs {
			g.neonLoad(lane, fmt.Sprintf("%d(R4)", 16*j), 1)
			g.neonOp("VADD", first+j, 1, first+j)
		}
		g.label("%sset", name)
		for j := range regs {
			g.neonStore(lane, first+j, fmt.Sprintf("%d(R4)", 16*j))
		}
		g.op("MOVD $1, R21")
		g.op("CBNZ R12, %schain", name)
	}, "R2", "R4")
	g.op("RET")
}

// neonLanes is how many rows a group of dot products has, and lanes a wide transposition: two
// registers of them.
func (g *generator) neonLanes() int { return 32 / g.width }

// neonDots emits dot products of groups of rows, a lane for each, with a vector. The rows are
// transposed in registers, so that each lane is a chain in the order of its terms. R4 to R11
// walk the rows of a group.
func (g *generator) neonDots() {
	n, lanes := g.neonLanes(), g.lanes()
	fmt.Fprintf(g, "\n// func dots%s(groups, k int, a, b *float%d, ldb int, c *float%[2]d)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·dots%s(SB), NOSPLIT, $0-48\n", g.name)
	g.op("MOVD groups+0(FP), R0")
	g.op("MOVD b+24(FP), R2")
	g.op("MOVD ldb+32(FP), R3")
	g.op("LSL $%d, R3, R3", g.shift())
	g.op("MOVD c+40(FP), R14")
	g.label("group")
	g.op("MOVD a+16(FP), R1")
	g.op("MOVD k+8(FP), R12")
	for i := range n {
		g.op("MOVD R2, R%d", 4+i)
		g.op("ADD R3, R2")
	}
	g.op("MOVD $0, R21") // nothing is in c
	g.label("chain")
	g.neonZero(30)
	g.neonZero(31)
	g.neonChain()
	g.label("block")
	g.op("CMP $%d, R13", lanes)
	g.op("BLT term")
	g.op("FMOVQ.P 16(R1), F0")
	for half := range 2 {
		g.neonColumns(4+half*lanes, 16)
		for p := range lanes {
			g.neonByElement(30+half, neonColumn(p), 0, p)
		}
	}
	g.op("SUB $%d, R13", lanes)
	g.op("B block")
	g.label("term")
	g.op("CBZ R13, summed")
	g.op("%s.P %d(R1), F0", g.neonMove(), g.width)
	for half := range 2 {
		for i := range lanes {
			g.op("VLD1.P %d(R%d), V%d.%c[%d]", g.width, 4+half*lanes+i, 1+half, g.neonArrangement()[0], i)
		}
		g.neonByElement(30+half, 1+half, 0, 0)
	}
	g.op("SUB $1, R13")
	g.op("B term")
	g.label("summed")
	g.op("CBZ R21, set")
	g.op("FLDPQ (R14), (F0, F1)")
	g.neonOp("VADD", 30, 0, 30)
	g.neonOp("VADD", 31, 1, 31)
	g.label("set")
	g.op("FSTPQ (F30, F31), (R14)")
	g.op("MOVD $1, R21")
	g.op("CBNZ R12, chain")
	g.op("ADD $32, R14")
	g.op("SUB $1, R0")
	g.op("CBNZ R0, group")
	g.op("RET")
}

// neonColumn returns the register in which neonColumns leaves column i.
func neonColumn(i int) int { return 24 + i }

// neonColumns emits the loads of a register from each of as many lanes as one has, by pointers
// in registers from one on, which move by so many bytes, and their transposition: to
// registers 24 and up. It spoils registers from 16 on.
func (g *generator) neonColumns(pointer, bytes int) {
	if g.width == 8 {
		for i := range 2 {
			g.op("FMOVQ.P %d(R%d), F%d", bytes, pointer+i, 16+i)
		}
		g.op("VZIP1 V17.D2, V16.D2, V24.D2")
		g.op("VZIP2 V17.D2, V16.D2, V25.D2")
		return
	}
	for i := range 4 {
		g.op("FMOVQ.P %d(R%d), F%d", bytes, pointer+i, 16+i)
	}
	for i := range 2 { // pairs of lanes 0 and 1, and of 2 and 3
		g.op("VTRN1 V%d.S4, V%d.S4, V%d.S4", 17+2*i, 16+2*i, 20+2*i)
		g.op("VTRN2 V%d.S4, V%d.S4, V%d.S4", 17+2*i, 16+2*i, 21+2*i)
	}
	for i := range 2 {
		g.op("VZIP1 V%d.D2, V%d.D2, V%d.D2", 22+i, 20+i, 24+i)
		g.op("VZIP2 V%d.D2, V%d.D2, V%d.D2", 22+i, 20+i, 26+i)
	}
}

// neonTranspose emits the transposition of n lanes of blocks of elements. A step takes as
// many elements of each lane as a register has, or twice as many with lanes of one register.
func (g *generator) neonTranspose(n int) {
	lanes := g.lanes()
	fmt.Fprintf(g, "\n// func transpose%dx%d(dst, src *float%[2]d, lane, steps, width int)\n", n, 8*g.width)
	fmt.Fprintf(g, "TEXT ·transpose%dx%d(SB), NOSPLIT, $0-40\n", n, 8*g.width)
	g.op("MOVD dst+0(FP), R0")
	g.op("MOVD src+8(FP), R4")
	g.op("MOVD lane+16(FP), R1")
	g.op("MOVD steps+24(FP), R2")
	g.op("MOVD width+32(FP), R3")
	g.op("LSL $%d, R3, R3", g.shift())
	for i := 1; i < n; i++ {
		g.op("ADD R1<<%d, R%d, R%d", g.shift(), 3+i, 4+i)
	}
	g.label("loop")
	for range 2 * lanes / n { // of a step: twice, or once with the lanes of two registers
		for half := range n / lanes {
			g.neonColumns(4+half*lanes, 16)
			g.op("ADD $%d, R0, R12", 16*half)
			for p := range lanes {
				g.op("FMOVQ F%d, (R12)", neonColumn(p))
				g.op("ADD R3, R12")
			}
		}
		g.op("ADD R3<<%d, R0", 4-g.shift())
	}
	g.op("SUB $1, R2")
	g.op("CBNZ R2, loop")
	g.op("RET")
}

package main

import "fmt"

// neonTapRows emits the sum of taps of rows, each of which has one weight in a plane.
func (g *generator) neonTapRows() {
	fmt.Fprintf(g, "\n// func tapRows%s(y, x *float%d, grid *Grid, offsets *int, weights *float%[2]d, taps, planeW int, bias *float%[2]d, add bool)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·tapRows%s(SB), NOSPLIT, $0-65\n", g.name)
	g.op("MOVD planeW+48(FP), R23")
	g.op("MOVD x+8(FP), R1")
	g.op("MOVBU add+64(FP), R20")
	g.neonTaps(0, "taps+40(FP)")
}

// neonLastTaps emits the sum of taps of images with their channels last, each of which has a
// weight for every channel.
func (g *generator) neonLastTaps() {
	fmt.Fprintf(g, "\n// func lastTaps%s(y, x *float%d, grid *Grid, offsets *int, weights *float%[2]d, taps, pitch int, bias *float%[2]d, add bool, atX int)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·lastTaps%s(SB), NOSPLIT, $0-80\n", g.name)
	g.op("MOVBU add+64(FP), R20")
	g.neonFrom("atX+72(FP)")
	g.neonTaps(1, "taps+40(FP)")
}

// neonLastLines emits the same sum where taps come in lines of n, at even steps.
func (g *generator) neonLastLines(n int) {
	fmt.Fprintf(g, "\n// func last%dLines%s(y, x *float%d, grid *Grid, offsets *int, weights *float%[3]d, lines, pitch int, bias *float%[3]d, within, step, atX int)\n", n, g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·last%dLines%s(SB), NOSPLIT, $0-88\n", n, g.name)
	g.op("MOVD within+64(FP), R26")
	g.op("LSL $%d, R26, R26", g.shift())
	g.op("MOVD $0, R20")
	g.neonFrom("atX+80(FP)")
	g.neonTaps(n, "lines+40(FP)")
}

// neonFrom emits where x begins with channels last, and the step of their weights.
func (g *generator) neonFrom(atX string) {
	g.op("MOVD pitch+48(FP), R23")
	g.op("MOVD x+8(FP), R1")
	g.op("MOVD %s, R12", atX)
	g.op("ADD R12<<%d, R1", g.shift())
}

// neonTaps emits the loops over the planes, rows and columns of a grid. Line is how many taps
// have one offset with channels last, R26 bytes apart, and 0 with channels first. Count is the
// argument that has the number of offsets of a plane.
//
// R0 and R1 are where a plane of y and of x begins, R4 and R5 a row, and R13 and R14 a block
// of columns. R15, R3 and R6 count planes, rows and columns down, and R8 offsets. R21 has the
// offsets of a plane, and R7 walks them; R22 and R19 have its weights and biases, R24 and R25 those
// of a block, and R10 walks the weights. R23 is from one weight to the next with channels last,
// and else from one plane to the next. R20 has whether sums are added to y.
func (g *generator) neonTaps(line int, count string) {
	const x, sum = 1, 16 // the first registers
	last := line > 0
	g.op("LSL $%d, R23, R23", g.shift())
	g.op("MOVD y+0(FP), R0")
	g.op("MOVD grid+16(FP), R2")
	g.op("MOVD offsets+24(FP), R21")
	g.op("MOVD weights+32(FP), R22")
	g.op("MOVD bias+56(FP), R19")
	g.op("MOVD %d(R2), R15", planes)
	g.label("plane")
	g.op("MOVD R0, R4")
	g.op("MOVD R1, R5")
	g.op("MOVD %d(R2), R3", rows)
	g.label("row")
	g.op("MOVD R4, R13")
	g.op("MOVD R5, R14")
	g.op("MOVD R22, R24")
	g.op("MOVD R19, R25")
	g.op("MOVD %d(R2), R6", cols)
	moved := []string{"R13", "R14"}
	if last {
		moved = append(moved, "R24", "R25")
	}
	g.neonSpans([]int{8, 1}, "R6", "next", func(regs int, lane bool) {
		name := fmt.Sprintf("r%d", regs)
		if lane {
			name = "lane"
		}
		for j := range regs {
			g.neonZero(sum + j)
		}
		g.op("MOVD R21, R7")
		g.op("MOVD R24, R10")
		g.op("MOVD %s, R8", count)
		g.label("%stap", name)
		g.op("MOVD.P 8(R7), R11")
		if last {
			g.op("TBNZ $63, R11, %spadding", name)
		}
		g.op("ADD R11<<%d, R14, R11", g.shift())
		loads := func() {
			for j := range regs {
				g.neonLoad(lane, fmt.Sprintf("%d(R11)", 16*j), x+j)
			}
		}
		weigh := func() {
			for j := range regs {
				g.neonLoad(lane, fmt.Sprintf("%d(R10)", 16*j), 0)
				g.neonFused(sum+j, x+j, 0)
			}
			g.op("ADD R23, R10")
		}
		if last {
			for i := range line {
				if i > 0 {
					g.op("ADD R26, R11")
				}
				loads()
				weigh()
			}
			g.label("%snext", name)
		} else {
			loads()
			g.op("%s.P %d(R10), F0", g.neonMove(), g.width)
			for j := range regs {
				g.neonByElement(sum+j, x+j, 0, 0)
			}
		}
		g.op("SUB $1, R8")
		g.op("CBNZ R8, %stap", name)
		g.op("CBZ R20, %sbias", name)
		for j := range regs {
			g.neonLoad(lane, fmt.Sprintf("%d(R13)", 16*j), 0)
			g.neonOp("VADD", sum+j, 0, sum+j)
		}
		g.label("%sbias", name)
		g.op("CBZ R19, %sstore", name)
		if !last {
			g.op("VLD1R (R19), [V0.%s]", g.neonArrangement())
		}
		for j := range regs {
			if last {
				g.neonLoad(lane, fmt.Sprintf("%d(R25)", 16*j), 0)
			}
			g.neonOp("VADD", sum+j, sum+j, 0)
		}
		g.label("%sstore", name)
		for j := range regs {
			g.neonStore(lane, sum+j, fmt.Sprintf("%d(R13)", 16*j))
		}
		if last {
			g.op("B %sdone", name)
			g.label("%spadding", name)
			for j := range regs {
				g.neonZero(x + j)
			}
			for range line {
				weigh()
			}
			g.op("B %snext", name)
			g.label("%sdone", name)
		}
	}, moved...)
	g.neonStep(rowY, "R4")
	g.neonStep(rowX, "R5")
	g.op("SUB $1, R3")
	g.op("CBNZ R3, row")
	g.neonStep(planeY, "R0")
	g.neonStep(planeX, "R1")
	if last {
		g.op("MOVD %s, R12", count)
		g.op("ADD R12<<3, R21")
	} else {
		g.op("ADD R23, R22")
		g.op("CBZ R19, biased")
		g.op("ADD $%d, R19", g.width)
		g.label("biased")
	}
	g.op("SUB $1, R15")
	g.op("CBNZ R15, plane")
	g.op("RET")
}

// neonStep moves a pointer by a step of the grid at R2.
func (g *generator) neonStep(field int, pointer string) {
	g.op("MOVD %d(R2), R12", field)
	g.op("ADD R12<<%d, %s", g.shift(), pointer)
}

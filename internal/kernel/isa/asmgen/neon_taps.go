package main

import "fmt"

// neonTapRows emits the sum of taps of rows, each of which has one weight in a plane.
func (g *generator) neonTapRows() {
	fmt.Fprintf(g, "\n// func tapRows%s(y, x *float%d, grid *Grid, offsets *int, weights *float%[2]d, taps, planeW int, bias *float%[2]d, add bool)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·tapRows%s(SB), NOSPLIT, $0-65\n", g.name)
	g.op("MOVD planeW+48(FP), R23")
	g.op("MOVBU add+64(FP), R20")
	g.neonTaps(0, neonWalk{taps: "taps+40(FP)"})
}

// neonLastTaps emits the sum of taps of images with their channels last, each of which has a
// weight for every channel.
func (g *generator) neonLastTaps() {
	fmt.Fprintf(g, "\n// func lastTaps%s(y, x *float%d, grid *Grid, offsets *int, weights *float%[2]d, taps, pitch int, bias *float%[2]d, add bool, atX int)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·lastTaps%s(SB), NOSPLIT, $0-80\n", g.name)
	g.op("MOVD pitch+48(FP), R23")
	g.op("MOVBU add+64(FP), R20")
	g.neonTaps(1, neonWalk{last: true, taps: "taps+40(FP)", atX: "atX+72(FP)"})
}

// neonLastLines emits the same sum where taps come in lines of n, at even steps.
func (g *generator) neonLastLines(n int) {
	fmt.Fprintf(g, "\n// func last%dLines%s(y, x *float%d, grid *Grid, offsets *int, weights *float%[3]d, lines, pitch int, bias *float%[3]d, within, step, atX int)\n", n, g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·last%dLines%s(SB), NOSPLIT, $0-88\n", n, g.name)
	g.op("MOVD pitch+48(FP), R23")
	g.op("MOVD within+64(FP), R26")
	g.op("LSL $%d, R26, R26", g.shift())
	g.op("MOVD $0, R20")
	g.neonTaps(n, neonWalk{last: true, taps: "lines+40(FP)", atX: "atX+80(FP)"})
}

// neonTaps emits the sums of taps. Line is how many taps have one offset with channels last, R26
// bytes apart.
//
// R22 and R19 have the weights and biases of a plane, R24 and R25 those of a block, and R10 walks the
// weights. R23 is from one weight to the next with channels last, and else from one plane to the
// next. R20 has whether sums are added to y.
func (g *generator) neonTaps(line int, w neonWalk) {
	const x, sum = 1, 16 // the first registers
	g.op("LSL $%d, R23, R23", g.shift())
	g.op("MOVD weights+32(FP), R22")
	g.op("MOVD bias+56(FP), R19")
	w.blocks = []int{8, 1}
	w.row = func() {
		g.op("MOVD R22, R24")
		g.op("MOVD R19, R25")
	}
	w.begin = func(regs int) {
		for j := range regs {
			g.neonZero(sum + j)
		}
		g.op("MOVD R24, R10")
	}
	load := func(regs int, lane bool) {
		for j := range regs {
			g.neonLoad(lane, fmt.Sprintf("%d(R11)", 16*j), x+j)
		}
	}
	w.end = func(b neonBlock) {
		g.op("CBZ R20, %sbias", b.name)
		for j := range b.regs {
			g.neonLoad(b.lane, fmt.Sprintf("%d(R13)", 16*j), 0)
			g.neonOp("VADD", sum+j, 0, sum+j)
		}
		g.label("%sbias", b.name)
		g.op("CBZ R19, %sstore", b.name)
		if !w.last {
			g.op("VLD1R (R19), [V0.%s]", g.neonArrangement())
		}
		for j := range b.regs {
			if w.last {
				g.neonLoad(b.lane, fmt.Sprintf("%d(R25)", 16*j), 0)
			}
			g.neonOp("VADD", sum+j, sum+j, 0)
		}
		g.label("%sstore", b.name)
		for j := range b.regs {
			g.neonStore(b.lane, sum+j, fmt.Sprintf("%d(R13)", 16*j))
		}
	}
	if w.last {
		weigh := func(regs int, lane bool) {
			for j := range regs {
				g.neonLoad(lane, fmt.Sprintf("%d(R10)", 16*j), 0)
				g.neonFused(sum+j, x+j, 0)
			}
			g.op("ADD R23, R10")
		}
		w.tap = func(regs int, lane bool) {
			for i := range line {
				if i > 0 {
					g.op("ADD R26, R11")
				}
				load(regs, lane)
				weigh(regs, lane)
			}
		}
		w.pad = func(regs int, lane bool) {
			for j := range regs {
				g.neonZero(x + j)
			}
			for range line {
				weigh(regs, lane)
			}
		}
		w.moved, w.plane = []string{"R24", "R25"}, none
	} else {
		w.tap = func(regs int, lane bool) {
			load(regs, lane)
			g.op("%s.P %d(R10), F0", g.neonMove(), g.width)
			for j := range regs {
				g.neonByElement(sum+j, x+j, 0, 0)
			}
		}
		w.plane = func() {
			g.op("ADD R23, R22")
			g.op("CBZ R19, biased")
			g.op("ADD $%d, R19", g.width)
			g.label("biased")
		}
	}
	g.neonWalk(w)
}

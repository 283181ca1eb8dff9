package main

import "fmt"

// The folds of folds.go for arm64, where each is an instruction: FMAX and FMIN give NaN if
// an operand is one, and tell zeros apart. The peak is the maximum.
var neonFoldings = []struct{ name, join string }{
	{"sum", "VADD"},
	{"max", "MAXIMUM"},
	{"min", "MINIMUM"},
}

func (g *generator) neonFoldFile() {
	g.eachNEON(func() {
		for _, f := range neonFoldings {
			g.neonFold(f.name, f.join)
			g.neonFoldRows(f.name, f.join)
		}
	})
}

// neonEight emits the join of registers 0 to 7 in pairs, to register 0.
func (g *generator) neonEight(join string) {
	for step := 1; step < 8; step *= 2 {
		for i := 0; i < 8; i += 2 * step {
			g.neonOp(join, i, i, i+step)
		}
	}
}

// neonFold emits the fold of a block. Its eight lanes are in the registers from 24 on, and go to
// the stack, one after the other, for the elements behind the last eight. R1 walks the block, and R2
// counts elements down.
func (g *generator) neonFold(name, join string) {
	const lane = 24
	parts := 8 / g.lanes()
	fmt.Fprintf(g, "\n// func %s%s(x *float%d, n int, identity float%[3]d) float%[3]d\n", name, g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·%s%s(SB), NOSPLIT, $64-%d\n", name, g.name, 24+g.width)
	g.op("MOVD x+0(FP), R1")
	g.op("MOVD n+8(FP), R2")
	g.op("%s identity+16(FP), F0", g.neonMove())
	for i := range parts {
		g.op("VDUP V0.%c[0], V%d.%s", g.neonArrangement()[0], lane+i, g.neonArrangement())
	}
	for _, rows := range []int{8, 1} {
		g.label("next%d", rows)
		g.op("CMP $%d, R2", 8*rows)
		g.op("BLT %s", map[int]string{8: "next1", 1: "rest"}[rows])
		for part := range parts {
			for row := range rows {
				g.op("FMOVQ %d(R1), F%d", 8*row*g.width+16*part, row)
			}
			if rows == 8 {
				g.neonEight(join)
			}
			g.neonOp(join, lane+part, lane+part, 0)
		}
		g.op("ADD $%d, R1", 8*rows*g.width)
		g.op("SUB $%d, R2", 8*rows)
		g.op("B next%d", rows)
	}
	g.label("rest")
	g.op("CBZ R2, joined")
	g.op("MOVD $lanes-64(SP), R3")
	for i := range parts {
		g.op("FMOVQ F%d, %d(R3)", lane+i, 16*i)
	}
	g.label("lane")
	g.op("%s.P %d(R1), F0", g.neonMove(), g.width)
	g.op("%s (R3), F1", g.neonMove())
	g.neonOp(join, 1, 1, 0)
	g.op("%s.P F1, %d(R3)", g.neonMove(), g.width)
	g.op("SUB $1, R2")
	g.op("CBNZ R2, lane")
	g.op("MOVD $lanes-64(SP), R3")
	g.neonLoads(parts, "R3", lane)
	// Halves: 4 lanes, 2, and 1.
	g.label("joined")
	for n := parts / 2; n > 0; n /= 2 {
		for i := range n {
			g.neonOp(join, lane+i, lane+i, lane+n+i)
		}
	}
	for n := g.lanes() / 2; n > 0; n /= 2 {
		g.op("VEXT $%d, V%d.B16, V%[2]d.B16, V0.B16", n*g.width, lane)
		g.neonOp(join, lane, lane, 0)
	}
	g.op("%s F%d, ret+24(FP)", g.neonMove(), lane)
	g.op("RET")
}

// neonFoldRows emits the loop that joins the elements of eight rows, in registers R1 to R8, in pairs,
// and then to those of acc.
func (g *generator) neonFoldRows(name, join string) {
	fmt.Fprintf(g, "\n// func %sEight%s(acc, r0, r1, r2, r3, r4, r5, r6, r7 *float%d, n int)\n", name, g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·%sEight%s(SB), NOSPLIT, $0-80\n", name, g.name)
	g.op("MOVD acc+0(FP), R0")
	for i := range 8 {
		g.op("MOVD r%d+%d(FP), R%d", i, 8+8*i, 1+i)
	}
	g.op("MOVD n+72(FP), R9")
	g.label("next")
	g.op("SUBS $%d, R9", g.lanes())
	g.op("BLT done")
	for i := range 8 {
		g.op("FMOVQ.P 16(R%d), F%d", 1+i, i)
	}
	g.neonEight(join)
	g.op("FMOVQ (R0), F8")
	g.neonOp(join, 0, 8, 0)
	g.op("FMOVQ.P F0, 16(R0)")
	g.op("B next")
	g.label("done")
	g.op("RET")
}

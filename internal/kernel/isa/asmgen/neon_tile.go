package main

import (
	"fmt"

	"github.com/berth-go/berth/internal/kernel/isa/numbers"
)

// Products for arm64: a tile of 8 rows and of 3 registers of columns. Its 24 sums, a row of the
// right strip and the columns of the left one share 32 registers. A column of eight rows
// that follow one another in memory is loaded at once, and multiplied element by element;
// other rows have a pointer each.
//
// Loops, those of bytes too, keep to these registers:
//
//	R0-R7  the rows of the left strip, or R0 alone where they follow one another
//	R8     how far into them the column is, in bytes
//	R9     from one column to the next, in bytes
//	R10    the row of the right strip
//	R11    from one to the next, in bytes
//	R12    the terms that are left, and R13 those of this chain
//	R14    the first row of c, and R15 from one to the next, in bytes
//	R19    the offset of this term
//	R20    where the last register of columns goes of the first row, and R24 from one row to the
//	       next, in bytes: in c, or on the stack
//	R21    whether sums are added to c
//	R22    the rows of the tile
//	R26    the lanes wanted of the last register of columns
//	R23    the columns until a loop is chosen, and R25 the step between rows of the left strip;
//	       in loops, what is computed in between

// Registers of columns and rows of a full tile.
const (
	neonRegs = 3
	neonRows = 8
)

// A neonProduct is one of the products: where the columns of the left strip or the rows of the right
// one are told by offsets, leftTaps or rightTaps says so; otherwise they follow at steps.
type neonProduct struct {
	leftTaps, rightTaps bool
}

func (g *generator) neonMulTile() {
	fmt.Fprintf(g, "\n// func mulTile%s(h, w, k int, a *float%d, rowA, colA int, b *float%[2]d, ldb, next int, ahead, c *float%[2]d, ldc int, add bool)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·mulTile%s(SB), NOSPLIT, $128-97\n", g.name)
	g.neonTarget("w+8(FP)", "k+16(FP)", "c+80(FP)", "ldc+88(FP)", "add+96(FP)")
	g.neonLeft("a+24(FP)", "rowA+32(FP)")
	g.op("MOVD colA+40(FP), R9")
	g.op("LSL $%d, R9, R9", g.shift())
	g.op("MOVD b+48(FP), R10")
	g.op("MOVD ldb+56(FP), R11")
	g.op("LSL $%d, R11, R11", g.shift())
	g.neonProduct(neonProduct{})
	g.neonEnd("w+8(FP)")
	g.op("RET")
}

func (g *generator) neonMulTaps() {
	fmt.Fprintf(g, "\n// func mulTaps%s(h, w, k int, a, b *float%d, offsets *int, c *float%[2]d, ldc int, add bool)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·mulTaps%s(SB), NOSPLIT, $128-65\n", g.name)
	g.neonTarget("w+8(FP)", "k+16(FP)", "c+48(FP)", "ldc+56(FP)", "add+64(FP)")
	g.neonLeft("a+24(FP)", "$1")
	g.op("MOVD $%d, R9", neonRows*g.width)
	g.op("MOVD b+32(FP), R10")
	g.op("MOVD offsets+40(FP), R19")
	g.neonProduct(neonProduct{rightTaps: true})
	g.neonEnd("w+8(FP)")
	g.op("RET")
}

// neonMulWindows emits the products of tiles one below the other, each as if it were the only one:
// behind a tile, the arguments left and c are moved to the next, and tiles counts down.
func (g *generator) neonMulWindows() {
	fmt.Fprintf(g, "\n// func mulWindows%s(h, tiles, w, k int, left *float%d, row int, offsets *int, b *float%[2]d, next int, ahead, bias, c *float%[2]d, ldc int, add bool)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·mulWindows%s(SB), NOSPLIT, $128-105\n", g.name)
	g.label("tile")
	g.neonTarget("w+16(FP)", "k+24(FP)", "c+88(FP)", "ldc+96(FP)", "add+104(FP)")
	g.neonLeft("left+32(FP)", "row+40(FP)")
	g.op("MOVD offsets+48(FP), R19")
	g.op("MOVD b+56(FP), R10")
	g.op("MOVD $%d, R11", 16*neonRegs)
	g.neonProduct(neonProduct{leftTaps: true})
	g.neonEnd("w+16(FP)")
	// The bias, on all rows of c.
	g.op("MOVD bias+80(FP), R0")
	g.op("CBZ R0, biased")
	g.label("biasRow")
	g.op("MOVD w+16(FP), R1")
	g.op("MOVD R0, R2")
	g.op("MOVD R14, R3")
	g.neonSpans([]int{1}, "R1", "bias", func(_ int, lane bool) {
		g.neonLoad(lane, "0(R2)", 0)
		g.neonLoad(lane, "0(R3)", 1)
		g.neonOp("VADD", 1, 1, 0)
		g.neonStore(lane, 1, "0(R3)")
	}, "R2", "R3")
	g.op("ADD R15, R14")
	g.op("SUB $1, R22")
	g.op("CBNZ R22, biasRow")
	g.label("biased")
	g.op("MOVD tiles+8(FP), R0")
	g.op("SUB $1, R0")
	g.op("CBZ R0, done")
	g.op("MOVD R0, tiles+8(FP)")
	g.op("MOVD h+0(FP), R0")
	for _, side := range []struct{ first, step string }{{"left+32(FP)", "row+40(FP)"}, {"c+88(FP)", "ldc+96(FP)"}} {
		g.op("MOVD %s, R1", side.step)
		g.op("MUL R0, R1")
		g.op("MOVD %s, R2", side.first)
		g.op("ADD R1<<%d, R2", g.shift())
		g.op("MOVD R2, %s", side.first)
	}
	g.op("B tile")
	g.label("done")
	g.op("RET")
}

// neonLeft emits the pointers to the rows of the left strip, from where the first and the step
// between them are found. R25 is then the step, in elements. The pointers to rows that the
// tile does not have are not used.
func (g *generator) neonLeft(first, step string) {
	g.op("MOVD %s, R0", first)
	g.op("MOVD %s, R25", step)
	for i := 1; i < neonRows; i++ {
		g.op("ADD R25<<%d, R%d, R%d", g.shift(), i-1, i)
	}
	g.op("MOVD $0, R8")
}

// neonTarget emits the loads of what is told of the terms and of c. Where not all lanes of the last
// register of columns are wanted, its sums are kept on the stack, and begin as what c has there if
// they are added to it.
func (g *generator) neonTarget(w, k, c, ldc, add string) {
	g.op("MOVD %s, R12", k)
	g.op("MOVD %s, R14", c)
	g.op("MOVD %s, R15", ldc)
	g.op("LSL $%d, R15, R15", g.shift())
	g.op("MOVBU %s, R21", add)
	g.op("MOVD h+0(FP), R22")
	g.op("MOVD %s, R23", w)
	g.op("SUB $1, R23, R26")
	g.op("AND $%d, R26", g.lanes()-1)
	g.op("ADD $1, R26")
	g.neonLastOfC(w)
	g.op("MOVD R15, R24")
	g.op("CMP $%d, R26", g.lanes())
	g.op("BEQ whole")
	g.op("MOVD $16, R24")
	g.op("MOVD $last-128(SP), R0")
	g.op("CBZ R21, begun")
	g.neonCopyLanes("begin", "R20", "R15", "R0", "R24")
	g.label("begun")
	g.op("MOVD $last-128(SP), R20")
	g.label("whole")
}

// neonEnd emits the way of what is on the stack to c.
func (g *generator) neonEnd(w string) {
	g.op("CMP $%d, R26", g.lanes())
	g.op("BEQ ended")
	g.neonLastOfC(w)
	g.op("MOVD $last-128(SP), R0")
	g.neonCopyLanes("end", "R0", "R24", "R20", "R15")
	g.label("ended")
}

// neonLastOfC sets R20 to where the last register of columns begins in c.
func (g *generator) neonLastOfC(w string) {
	g.op("MOVD %s, R20", w)
	g.op("SUB R26, R20")
	g.op("ADD R20<<%d, R14, R20", g.shift())
}

// neonCopyLanes emits the copy of R26 elements of each of R22 rows, by pointers and steps in bytes. It
// spoils R1 and R2.
func (g *generator) neonCopyLanes(name, from, fromStep, to, toStep string) {
	g.op("MOVD R22, R1")
	g.label("%srow", name)
	g.op("SUB $1, R26, R2")
	g.label("%slane", name)
	g.op("%s (%s)(R2<<%d), F0", g.neonMove(), from, g.shift())
	g.op("%s F0, (%s)(R2<<%d)", g.neonMove(), to, g.shift())
	g.op("SUBS $1, R2")
	g.op("BPL %slane", name)
	g.op("ADD %s, %s", fromStep, from)
	g.op("ADD %s, %s", toStep, to)
	g.op("SUB $1, R1")
	g.op("CBNZ R1, %srow", name)
}

// neonProduct emits a loop for each number of rows and of registers of columns, and one for
// each of these where 8 rows follow one another: where R25 is 1, unless columns have offsets.
func (g *generator) neonProduct(p neonProduct) {
	if !p.leftTaps {
		g.op("CMP $1, R25")
		g.op("BNE apart")
		g.op("CMP $%d, R22", neonRows)
		g.op("BNE apart")
		for v := 1; v <= neonRegs; v++ {
			if v < neonRegs {
				g.op("CMP $%d, R23", v*g.lanes())
				g.op("BGT packed%d", v+1)
			}
			g.neonLoop(p, v, neonRows, true)
			if v < neonRegs {
				g.label("packed%d", v+1)
			}
		}
		g.label("apart")
	}
	g.neonEachTile(neonRegs, neonRows, func(v, h int) { g.neonLoop(p, v, h, false) })
}

// neonEachTile emits a loop, which begins at a label by its extents and ends with a jump to summed,
// for each number of rows and of registers of columns, and the choice of one.
func (g *generator) neonEachTile(regs, rows int, loop func(v, h int)) {
	for v := 1; v <= regs; v++ {
		if v < regs {
			g.op("CMP $%d, R23", v*g.lanes())
			g.op("BGT wide%d", v+1)
		}
		for h := 1; h < rows; h++ {
			g.op("CMP $%d, R22", h)
			g.op("BEQ v%dh%d", v, h)
		}
		for h := rows; h > 0; h-- {
			loop(v, h)
		}
		if v < regs {
			g.label("wide%d", v+1)
		}
	}
	g.label("summed")
}

// neonLoop emits the product by v registers of columns of h rows.
func (g *generator) neonLoop(p neonProduct, v, h int, packed bool) {
	name := fmt.Sprintf("v%dh%d", v, h)
	if packed {
		name += "packed"
	}
	sum := func(i, j int) int { return neonRows + v*i + j }
	g.label("%s", name)
	for i := range h {
		for j := range v {
			g.neonZero(sum(i, j))
		}
	}
	g.neonChain()
	g.label("%sloop", name)
	right := "R10"
	if p.rightTaps {
		g.op("MOVD.P 8(R19), R23")
		g.op("ADD R23<<%d, R10, R23", g.shift())
		right = "R23"
	}
	if p.leftTaps {
		g.op("MOVD.P 8(R19), R8")
		g.op("LSL $%d, R8, R8", g.shift())
	}
	g.neonLoads(v, right, 0)
	if packed {
		g.neonLoads(neonRows*g.width/16, "R0", neonRegs)
	}
	for i := range h {
		column, lane := neonRegs+i%(neonRows-neonRegs), 0
		if packed {
			column, lane = neonRegs+i*g.width/16, i*g.width%16/g.width
		} else {
			g.op("%s (R%d)(R8), F%d", g.neonMove(), i, column)
		}
		for j := range v {
			g.neonByElement(sum(i, j), j, column, lane)
		}
	}
	switch {
	case packed:
		g.op("ADD R9, R0")
	case !p.leftTaps:
		g.op("ADD R9, R8")
	}
	if !p.rightTaps {
		g.op("ADD R11, R10")
	}
	g.op("SUB $1, R13")
	g.op("CBNZ R13, %sloop", name)
	g.neonStoreTile(name, "VADD", v, h, sum)
	g.op("MOVD $1, R21")
	g.op("CBNZ R12, %s", name)
	g.op("B summed")
}

// neonStoreTile emits the way of sums to c, to which they are added, as R21 says.
func (g *generator) neonStoreTile(name, add string, v, h int, sum func(i, j int) int) {
	atC := func(each func(row, j int, at string)) {
		g.op("MOVD R14, R23")
		g.op("MOVD R20, R25")
		for i := range h {
			for j := range v - 1 {
				each(i, j, fmt.Sprintf("%d(R23)", 16*j))
			}
			each(i, v-1, "(R25)")
			if i < h-1 {
				g.op("ADD R15, R23")
				g.op("ADD R24, R25")
			}
		}
	}
	g.op("CBZ R21, %sset", name)
	atC(func(i, j int, at string) {
		g.op("FMOVQ %s, F0", at)
		g.neonOp(add, sum(i, j), 0, sum(i, j))
	})
	g.label("%sset", name)
	atC(func(i, j int, at string) { g.op("FMOVQ F%d, %s", sum(i, j), at) })
}

// neonChain sets R13 to the terms of the next chain, out of the R12 that are left.
func (g *generator) neonChain() {
	g.op("MOVD $%d, R13", numbers.Chain)
	g.op("CMP R13, R12")
	g.op("CSEL LT, R12, R13, R13")
	g.op("SUB R13, R12")
}

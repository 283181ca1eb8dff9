package main

import (
	"fmt"
	"strings"

	"github.com/berth-go/berth/internal/kernel/isa/numbers"
)

// A product of a vector and a matrix reads the matrix once and does little with
// it, so its loops are about reading: along the rows for the sums of columns, and
// along each of several rows for dot products.

// mulRow emits the product of a row by a matrix whose rows are dense: as a tile of
// one row, with more columns at a time, so that each piece of a row that is read is
// long. Each step fetches what is read eight steps on, which is elsewhere. Pieces of
// 256 bytes were measured to be read fastest: at the speed of a matrix that lies in
// that order.
//
// The matrix may be of a half type, named as Go names its type, which is widened as it is read;
// without masks of such elements, AVX2 takes whole registers of columns alone.
func (g *generator) mulRow(half string) {
	block := 256 / g.bytes() // registers of columns in the main loop
	name, b, shift, piece := "mulRow"+g.name, fmt.Sprintf("float%d", 8*g.width), g.shift(), g.bytes()
	if half != "" {
		name, b, shift, piece = "mulRow"+half+strings.TrimPrefix(g.name, "32"), "uint16", 1, 2*g.lanes()
	}
	fmt.Fprintf(g, "\n// func %s(n, k int, a *float%d, b *%s, ldb int, c *float%d, add bool)\n", name, 8*g.width, b, 8*g.width)
	fmt.Fprintf(g, "TEXT ·%s(SB), NOSPLIT, $0-49\n", name)
	g.op("MOVQ n+0(FP), CX")
	g.op("MOVQ b+24(FP), SI")
	g.op("MOVQ ldb+32(FP), R8")
	g.op("SHLQ $%d, R8", shift)
	g.op("MOVQ c+40(FP), DI")
	for _, v := range []int{block, 1} {
		g.label("next%d", v)
		if v == 1 {
			g.op("TESTQ CX, CX")
			g.op("JLE done")
			// What is left of CX may fill the register or not.
			g.op("MOVQ CX, R13")
			g.op("MOVL $%d, R12", g.lanes())
			g.op("CMPQ R13, R12")
			g.op("CMOVQGT R12, R13")
			if g.avx512 {
				g.op("MOVL $1, R12")
				g.op("XCHGQ CX, R13")
				g.op("SHLQ CX, R12")
				g.op("XCHGQ CX, R13")
				g.op("DECQ R12")
				g.op("KMOVW R12, K1")
			} else {
				g.op("SHLQ $%d, R13", g.shift())
				g.op("LEAQ masks<>+32(SB), R12")
				g.op("SUBQ R13, R12")
				g.op("VMOVUPS (R12), Y9")
			}
		} else {
			g.op("CMPQ CX, $%d", v*g.lanes())
			g.op("JLT next1")
		}
		g.op("MOVQ a+16(FP), AX")
		g.op("MOVQ SI, BX")
		g.op("MOVQ k+8(FP), DX")
		g.op("MOVBLZX add+48(FP), R11")
		g.label("chain%d", v)
		for j := range v {
			g.zero(g.reg(j))
		}
		g.op("MOVL $%d, R13", numbers.Chain)
		g.op("CMPQ DX, R13")
		g.op("CMOVQLT DX, R13")
		g.op("SUBQ R13, DX")
		g.label("loop%d", v)
		g.op("%s (AX), %s", g.broadcast(), g.reg(8))
		for j := range v {
			if v > 1 && j*piece%64 == 0 {
				g.op("PREFETCHT0 %d(BX)(R8*8)", j*piece)
			}
			switch {
			case half != "":
				mask := ""
				if v == 1 && g.avx512 {
					mask = "K1, "
				}
				g.widened(half, fmt.Sprintf("%d(BX)", j*piece), mask, g.reg(10))
				g.op("%s %s, %s, %s", g.ins("VFMADD231"), g.reg(10), g.reg(8), g.reg(j))
			case v > 1:
				g.op("%s %d(BX), %s, %s", g.ins("VFMADD231"), j*piece, g.reg(8), g.reg(j))
			case g.avx512:
				g.op("%s.Z (BX), K1, Z10", g.ins("VMOVU"))
				g.op("%s Z10, Z8, Z0", g.ins("VFMADD231"))
			default:
				g.op("%s (BX), Y9, Y10", g.ins("VMASKMOV"))
				g.op("%s Y10, Y8, Y0", g.ins("VFMADD231"))
			}
		}
		g.op("ADDQ $%d, AX", g.width)
		g.op("ADDQ R8, BX")
		g.op("DECQ R13")
		g.op("JNZ loop%d", v)
		g.op("TESTL R11, R11")
		g.op("JZ store%d", v)
		for j := range v {
			switch {
			case v > 1:
				g.op("%s %d(DI), %s, %s", g.ins("VADD"), j*g.bytes(), g.reg(j), g.reg(j))
			case g.avx512:
				g.op("%s.Z (DI), K1, Z10", g.ins("VMOVU"))
				g.op("%s Z10, Z0, Z0", g.ins("VADD"))
			default:
				g.op("%s (DI), Y9, Y10", g.ins("VMASKMOV"))
				g.op("%s Y10, Y0, Y0", g.ins("VADD"))
			}
		}
		g.label("store%d", v)
		for j := range v {
			switch {
			case v > 1:
				g.op("%s %s, %d(DI)", g.ins("VMOVU"), g.reg(j), j*g.bytes())
			case g.avx512:
				g.op("%s Z0, K1, (DI)", g.ins("VMOVU"))
			default:
				g.op("%s Y0, Y9, (DI)", g.ins("VMASKMOV"))
			}
		}
		g.op("MOVL $1, R11")
		g.op("TESTQ DX, DX")
		g.op("JNZ chain%d", v)
		g.op("ADDQ $%d, SI", v*piece)
		g.op("ADDQ $%d, DI", v*g.bytes())
		g.op("SUBQ $%d, CX", v*g.lanes())
		g.op("JMP next%d", v)
	}
	g.label("done")
	g.op("VZEROUPPER")
	g.op("RET")
}

// widened emits the load of a register of halves as float32, under a mask or without one.
func (g *generator) widened(half, from, mask, to string) {
	zeroed := ""
	if mask != "" {
		zeroed = ".Z"
	}
	if half == "Float16" {
		g.op("VCVTPH2PS%s %s, %s%s", zeroed, from, mask, to)
		return
	}
	g.op("VPMOVZXWD%s %s, %s%s", zeroed, from, mask, to)
	g.op("VPSLLD $16, %s, %s", to, to)
}

// dots emits dot products of groups of rows, a lane for each, with a vector. The
// rows are transposed in registers, so that each lane is a chain in order of its
// terms. Two chains of a row go on at once, as one alone would wait for its sums, and
// as more would read in more places than processors foresee.
func (g *generator) dots() {
	n, half := 32/g.width, 16/g.width
	fmt.Fprintf(g, "\n// func dots%d(groups, k int, a, b *float%d, ldb int, c *float%d)\n", 8*g.width, 8*g.width, 8*g.width)
	fmt.Fprintf(g, "TEXT ·dots%d(SB), NOSPLIT, $0-48\n", 8*g.width)
	g.op("MOVQ groups+0(FP), BX")
	g.op("MOVQ b+24(FP), CX")
	g.op("MOVQ ldb+32(FP), R8")
	g.op("SHLQ $%d, R8", g.shift())
	g.op("MOVQ c+40(FP), DI")
	g.label("group")
	g.op("MOVQ CX, SI")
	g.lanePointers(n)
	g.op("MOVQ a+16(FP), AX")
	g.op("MOVQ k+8(FP), DX")
	g.op("XORL R9, R9") // nothing is in c
	for _, chains := range []int{2, 1} {
		g.label("next%d", chains)
		if chains > 1 {
			g.op("CMPQ DX, $%d", chains*numbers.Chain)
			g.op("JLT next1")
			g.op("SUBQ $%d, DX", chains*numbers.Chain)
			g.op("MOVL $%d, R13", numbers.Chain)
		} else {
			g.op("TESTQ DX, DX")
			g.op("JZ done")
			g.op("MOVL $%d, R13", numbers.Chain)
			g.op("CMPQ DX, R13")
			g.op("CMOVQLT DX, R13")
			g.op("SUBQ R13, DX")
		}
		for u := range chains {
			g.zero(g.reg(12 + u))
		}
		if chains == 1 {
			g.op("CMPQ R13, $%d", half)
			g.op("JLT rest")
		}
		g.label("loop%d", chains)
		for u := range chains {
			g.columns(n, u*numbers.Chain*g.width)
			for p := range half {
				g.op("%s %d(AX), Y%d", g.broadcast(), (u*numbers.Chain+p)*g.width, 4+p)
				g.op("%s Y%d, Y%d, Y%d", g.ins("VFMADD231"), p, 4+p, 12+u)
			}
		}
		g.op("ADDQ $%d, AX", 16)
		g.advanceLanes(n, 16)
		g.op("SUBQ $%d, R13", half)
		g.op("CMPQ R13, $%d", half)
		g.op("JGE loop%d", chains)
		if chains > 1 {
			g.op("ADDQ $%d, AX", (chains-1)*numbers.Chain*g.width)
			g.advanceLanes(n, (chains-1)*numbers.Chain*g.width)
		} else {
			g.label("rest")
			g.op("TESTQ R13, R13")
			g.op("JZ sum1")
			g.column(n)
			g.op("%s (AX), Y4", g.broadcast())
			g.op("%s Y0, Y4, Y12", g.ins("VFMADD231"))
			g.op("ADDQ $%d, AX", g.width)
			g.advanceLanes(n, g.width)
			g.op("DECQ R13")
			g.op("JMP rest")
		}
		g.label("sum%d", chains)
		g.op("TESTL R9, R9")
		g.op("JZ store%d", chains)
		g.op("%s (DI), Y12, Y12", g.ins("VADD"))
		g.label("store%d", chains)
		for u := 1; u < chains; u++ {
			g.op("%s Y%d, Y12, Y12", g.ins("VADD"), 12+u)
		}
		g.op("%s Y12, (DI)", g.ins("VMOVU"))
		g.op("MOVL $1, R9")
		g.op("JMP next%d", chains)
	}
	g.label("done")
	g.op("ADDQ $32, DI")
	g.op("LEAQ (CX)(R8*%d), CX", n)
	g.op("DECQ BX")
	g.op("JNZ group")
	g.op("VZEROUPPER")
	g.op("RET")
}

// column sets Y0 to an element of each of n lanes.
func (g *generator) column(n int) {
	for side := range 2 { // of the register
		for i := range n / 2 {
			at := g.lane(side*n/2+i, 0)
			switch {
			case i == 0 && g.width == 4:
				g.op("VMOVSS %s, X%d", at, side)
			case i == 0:
				g.op("VMOVSD %s, X%d", at, side)
			case g.width == 4:
				g.op("VINSERTPS $%d, %s, X%d, X%d", 16*i, at, side, side)
			default:
				g.op("VMOVHPD %s, X%d, X%d", at, side, side)
			}
		}
	}
	g.op("VINSERTF128 $1, X1, Y0, Y0")
}

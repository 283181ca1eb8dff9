package main

import (
	"fmt"

	"github.com/berth-go/berth/internal/kernel/isa/numbers"
)

// A tile kernel keeps a block of partial sums in registers: for each k it loads
// a row of the right strip, and multiplies it by each element of the left
// strip's column, broadcast, in one fused multiply-add. There is a loop for
// each number of rows, and for one and two registers of columns, so that a
// thin product does no work that is thrown away; an element is the same chain
// of operations in every loop.

// Registers that hold the arguments. AX walks the left strip and BX the right
// one; DX is what is left of k, and R13 of a chain; R8 and R9 are the steps in
// bytes of b and c; R11 says to add. With AVX2, R12 is where the mask of the last
// register of columns lies.
func (g *generator) mulTile() {
	shift := g.shift()
	fmt.Fprintf(g, "\n// func mulTile%s(h, w, k int, a, b *float%d, ldb int, c *float%d, ldc int, add bool)\n", g.name, 8*g.width, 8*g.width)
	fmt.Fprintf(g, "TEXT ·mulTile%s(SB), NOSPLIT, $0-65\n", g.name)
	g.op("MOVQ h+0(FP), SI")
	g.op("MOVQ w+8(FP), CX")
	g.op("MOVQ k+16(FP), DX")
	g.op("MOVQ a+24(FP), AX")
	g.op("MOVQ b+32(FP), BX")
	g.op("MOVQ ldb+40(FP), R8")
	g.op("SHLQ $%d, R8", shift)
	g.op("MOVQ c+48(FP), DI")
	g.op("MOVQ ldc+56(FP), R9")
	g.op("SHLQ $%d, R9", shift)
	g.op("MOVBLZX add+64(FP), R11")
	if g.avx512 {
		g.masksOfCX(1)
	}
	g.op("CMPQ CX, $%d", g.lanes())
	g.op("JLE one")
	for _, v := range []int{2, 1} {
		if v == 1 {
			g.label("one")
		}
		if !g.avx512 {
			g.op("SHLQ $%d, CX", g.shift())
			g.op("LEAQ masks<>+%d(SB), R12", 32*v)
			g.op("SUBQ CX, R12")
		}
		for h := 1; h < g.rows; h++ {
			g.op("CMPQ SI, $%d", h)
			g.op("JEQ v%dh%d", v, h)
		}
		for h := g.rows; h > 0; h-- {
			g.loop(v, h)
		}
	}
}

// sum returns the register of the sums of a row's v-th register of columns.
func (g *generator) sum(row, v int) string { return g.reg(4 + 2*row + v) }

// loop emits the kernel for v registers of columns and h rows.
func (g *generator) loop(v, h int) {
	g.label("v%dh%d", v, h)
	for i := range h {
		for j := range v {
			g.zero(g.sum(i, j))
		}
	}
	g.op("MOVL $%d, R13", numbers.Chain)
	g.op("CMPQ DX, R13")
	g.op("CMOVQLT DX, R13")
	g.op("SUBQ R13, DX")
	g.op("PCALIGN $32") // as the processor fetches; elsewhere a loop may take 5% longer
	g.label("v%dh%dloop", v, h)
	for j := range v {
		g.op("%s %d(BX), %s", g.ins("VMOVU"), j*g.bytes(), g.reg(j))
	}
	for i := range h {
		b := g.reg(2 + i%2)
		g.op("%s %d(AX), %s", g.broadcast(), i*g.width, b)
		for j := range v {
			g.op("%s %s, %s, %s", g.ins("VFMADD231"), g.reg(j), b, g.sum(i, j))
		}
	}
	g.op("ADDQ $%d, AX", g.rows*g.width)
	g.op("ADDQ R8, BX")
	g.op("DECQ R13")
	g.op("JNZ v%dh%dloop", v, h)
	g.store(v, h)
	g.op("MOVL $1, R11")
	g.op("TESTQ DX, DX")
	g.op("JNZ v%dh%d", v, h)
	g.op("VZEROUPPER")
	g.op("RET")
}

// store emits the end of a chain, whose sums are added to c or written.
func (g *generator) store(v, h int) {
	if !g.avx512 {
		g.op("VMOVUPS (R12), %s", g.reg(v-1))
	}
	g.op("TESTL R11, R11")
	g.op("JZ v%dh%dstore", v, h)
	g.op("MOVQ DI, R10")
	for i := range h {
		for j := range v {
			at, t := fmt.Sprintf("%d(R10)", j*g.bytes()), g.reg(2+j)
			switch {
			case g.avx512:
				g.op("%s.Z %s, K%d, %s", g.ins("VMOVU"), at, j+1, t)
			case j == v-1:
				g.op("%s %s, %s, %s", g.ins("VMASKMOV"), at, g.reg(j), t)
			default:
				g.op("%s %s, %s", g.ins("VMOVU"), at, t)
			}
			g.op("%s %s, %s, %s", g.ins("VADD"), t, g.sum(i, j), g.sum(i, j))
		}
		if i < h-1 {
			g.op("ADDQ R9, R10")
		}
	}
	g.label("v%dh%dstore", v, h)
	g.op("MOVQ DI, R10")
	for i := range h {
		for j := range v {
			at := fmt.Sprintf("%d(R10)", j*g.bytes())
			switch {
			case g.avx512:
				g.op("%s %s, K%d, %s", g.ins("VMOVU"), g.sum(i, j), j+1, at)
			case j == v-1:
				g.op("%s %s, %s, %s", g.ins("VMASKMOV"), g.sum(i, j), g.reg(j), at)
			default:
				g.op("%s %s, %s", g.ins("VMOVU"), g.sum(i, j), at)
			}
		}
		if i < h-1 {
			g.op("ADDQ R9, R10")
		}
	}
}

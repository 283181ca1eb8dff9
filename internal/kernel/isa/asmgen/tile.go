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

// Registers that hold the arguments. BX walks the right strip; the bases walk the
// left matrix, each for three rows, which lie R14 bytes apart, by R11 bytes for
// each k. DX is what is left of k, and R13 of a chain; R8 and R9 are the steps in
// bytes of b and c. With AVX2, R12 is where the mask of the last register of
// columns lies.
var bases = []string{"AX", "SI", "CX", "R10"}

func (g *generator) mulTile() {
	shift := g.shift()
	fmt.Fprintf(g, "\n// func mulTile%s(h, w, k int, a *float%d, rowA, colA int, b *float%d, ldb int, c *float%d, ldc int, add bool)\n",
		g.name, 8*g.width, 8*g.width, 8*g.width)
	fmt.Fprintf(g, "TEXT ·mulTile%s(SB), NOSPLIT, $0-81\n", g.name)
	g.op("MOVQ h+0(FP), SI")
	g.op("MOVQ w+8(FP), CX")
	g.op("MOVQ k+16(FP), DX")
	g.op("MOVQ a+24(FP), AX")
	g.op("MOVQ rowA+32(FP), R14")
	g.op("SHLQ $%d, R14", shift)
	g.op("MOVQ colA+40(FP), R11")
	g.op("SHLQ $%d, R11", shift)
	g.op("MOVQ b+48(FP), BX")
	g.op("MOVQ ldb+56(FP), R8")
	g.op("SHLQ $%d, R8", shift)
	g.op("MOVQ c+64(FP), DI")
	g.op("MOVQ ldc+72(FP), R9")
	g.op("SHLQ $%d, R9", shift)
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
	used := bases[:(h+2)/3]
	for i := range used[1:] {
		g.op("LEAQ (%s)(R14*2), %s", used[i], used[i+1])
		g.op("ADDQ R14, %s", used[i+1])
	}
	// What will be added to is fetched while the chain is summed.
	g.op("CMPB add+%d(FP), $0", 80)
	g.op("JEQ v%dh%dfetched", v, h)
	g.op("MOVQ DI, R13")
	for i := range h {
		for at := 0; at < v*g.bytes(); at += 64 {
			g.op("PREFETCHT0 %d(R13)", at)
		}
		if i < h-1 {
			g.op("ADDQ R9, R13")
		}
	}
	g.label("v%dh%dfetched", v, h)
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
		g.op("%s %s, %s", g.broadcast(), fmt.Sprintf([]string{"(%s)", "(%s)(R14*1)", "(%s)(R14*2)"}[i%3], bases[i/3]), b)
		for j := range v {
			g.op("%s %s, %s, %s", g.ins("VFMADD231"), g.reg(j), b, g.sum(i, j))
		}
	}
	for _, base := range used {
		g.op("ADDQ R11, %s", base)
	}
	g.op("ADDQ R8, BX")
	g.op("DECQ R13")
	g.op("JNZ v%dh%dloop", v, h)
	g.store(v, h, 80)
	g.op("MOVB $1, add+80(FP)")
	g.op("TESTQ DX, DX")
	g.op("JNZ v%dh%d", v, h)
	g.op("VZEROUPPER")
	g.op("RET")
}

// store emits the end of a chain, whose sums are added to c or written, as the argument add
// says, which lies that many bytes behind the first.
func (g *generator) store(v, h, add int) {
	g.addSums(v, h, add)
	g.storeSums(v, h)
}

// addSums emits the addition of c to the sums, if the argument add says so.
func (g *generator) addSums(v, h, add int) {
	if !g.avx512 {
		g.op("VMOVUPS (R12), %s", g.reg(v-1))
	}
	g.op("CMPB add+%d(FP), $0", add)
	g.op("JEQ v%dh%dstore", v, h)
	g.op("MOVQ DI, R13")
	for i := range h {
		for j := range v {
			at, t := fmt.Sprintf("%d(R13)", j*g.bytes()), g.reg(2+j)
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
			g.op("ADDQ R9, R13")
		}
	}
	g.label("v%dh%dstore", v, h)
}

// storeSums emits the writing of the sums to c.
func (g *generator) storeSums(v, h int) {
	g.op("MOVQ DI, R13")
	for i := range h {
		for j := range v {
			at := fmt.Sprintf("%d(R13)", j*g.bytes())
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
			g.op("ADDQ R9, R13")
		}
	}
}

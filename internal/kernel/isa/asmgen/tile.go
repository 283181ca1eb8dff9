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
//
// With AVX-512 there are also loops for four registers of columns, those of two strips. A
// term of 6 rows takes 10 loads there for 24 multiplications, and one of 12 rows and two
// registers takes 14: the processor spends its time on little else than multiplying also
// where another thread has a part of it.

// Registers that hold the arguments. BX walks the right strip; the bases walk the
// left matrix, each for three rows, which lie R14 bytes apart, by R11 bytes for
// each k. DX is what is left of k, and R13 of a chain; R8 and R9 are the steps in
// bytes of b and c. With AVX2, R12 is where the mask of the last register of
// columns lies.
var bases = []string{"AX", "SI", "CX", "R10"}

func (g *generator) mulTile() {
	shift := g.shift()
	fmt.Fprintf(g, "\n// func mulTile%s(h, w, k int, a *float%d, rowA, colA int, b *float%d, ldb, next int, ahead, c *float%d, ldc int, add bool)\n",
		g.name, 8*g.width, 8*g.width, 8*g.width)
	fmt.Fprintf(g, "TEXT ·mulTile%s(SB), NOSPLIT, $0-97\n", g.name)
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
	g.op("MOVQ c+80(FP), DI")
	g.op("MOVQ ldc+88(FP), R9")
	g.op("SHLQ $%d, R9", shift)
	if g.avx512 {
		g.wideOrMasks()
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
	if g.avx512 {
		g.wideTile()
	}
}

// wideRows is the most rows of a loop for four registers of columns.
const wideRows = 6

// wideOrMasks emits a jump to where CX columns are more than those of a strip, and the masks
// of the columns of one.
func (g *generator) wideOrMasks() {
	g.op("CMPQ CX, $%d", 2*g.lanes())
	g.op("JGT wide")
	g.masksOfCX(1)
}

// wideMasks emits the masks of the columns of the second of two strips, and the way to the loop
// for as many rows as a register says. R10 and R12 are then three and five times R14.
func (g *generator) wideMasks(rows string) {
	g.label("wide")
	g.op("SUBQ $%d, CX", 2*g.lanes())
	g.masksOfCX(1)
	g.op("LEAQ (R14)(R14*2), R10")
	g.op("LEAQ (R14)(R14*4), R12")
	for h := 1; h < wideRows; h++ {
		g.op("CMPQ %s, $%d", rows, h)
		g.op("JEQ v4h%d", h)
	}
}

// wideRow returns the address of an element of a row of the left matrix behind a base.
func wideRow(base string, row int) string {
	return fmt.Sprintf([]string{"(%s)", "(%s)(R14*1)", "(%s)(R14*2)", "(%s)(R10*1)", "(%s)(R14*4)", "(%s)(R12*1)"}[row], base)
}

// secondStrip emits the loads of how far the second strip is behind the first, and of what is
// fetched ahead, which are arguments from some bytes on.
func (g *generator) secondStrip(next int) {
	g.op("MOVQ next+%d(FP), SI", next)
	g.op("SHLQ $%d, SI", g.shift())
	g.op("MOVQ ahead+%d(FP), R15", next+8)
}

// fetchAhead emits the fetching that goes with four terms.
func (g *generator) fetchAhead(terms int) {
	if terms < 4 {
		return
	}
	for at := 0; at < numbers.AheadBytes; at += 64 {
		g.op("PREFETCHT1 %d(R15)", at)
		g.op("PREFETCHT1 %d(R15)(SI*1)", at)
	}
	g.op("ADDQ $%d, R15", numbers.AheadBytes)
}

// inStrips returns where a register of columns lies of a row that begins some bytes behind
// BX, and SI bytes behind that in the second strip.
func (g *generator) inStrips(row int) func(j int) string {
	return func(j int) string {
		return fmt.Sprintf([]string{"%d(BX)", "%d(BX)(SI*1)"}[j/2], row+j%2*g.bytes())
	}
}

// wideTile emits the loops of mulTile for two strips, of which the second begins SI bytes
// behind the first, and whose left rows begin at AX.
func (g *generator) wideTile() {
	g.wideMasks("SI")
	for h := wideRows; h > 0; h-- {
		g.label("v4h%d", h)
		g.secondStrip(64)
		g.label("v4h%dchain", h)
		g.startChain(4, h, 96)
		g.wideChain(h, func(int) {
			g.wideTerm(h, func(i int) string { return wideRow("AX", i) }, g.inStrips(0))
			g.op("ADDQ R11, AX")
			g.op("ADDQ R8, BX")
		}, func(n int) { g.fetchAhead(n) })
		g.store(4, h, 96)
		g.op("MOVB $1, add+96(FP)")
		g.op("TESTQ DX, DX")
		g.op("JNZ v4h%dchain", h)
		g.op("VZEROUPPER")
		g.op("RET")
	}
}

// wideTerm emits the products of a term for h rows: of the registers of columns that lie where
// right says by the elements that lie where left says.
func (g *generator) wideTerm(h int, left, right func(int) string) {
	for j := range 4 {
		g.op("%s %s, %s", g.ins("VMOVU"), right(j), g.reg(j))
	}
	for i := range h {
		b := g.reg(4 + i%4)
		g.op("%s %s, %s", g.broadcast(), left(i), b)
		for j := range 4 {
			g.op("%s %s, %s, %s", g.ins("VFMADD231"), g.reg(j), b, g.sum(4, i, j))
		}
	}
}

// wideChain emits the loops over the R13 terms of a chain: four terms at a time, and those
// that CX counts then one by one. Term emits one, the u-th of those at a time, and advance
// what is to be done after so many.
func (g *generator) wideChain(h int, term, advance func(int)) {
	g.op("MOVQ R13, CX")
	g.op("ANDQ $3, CX")
	g.op("SHRQ $2, R13")
	g.op("JZ v4h%dlast", h)
	g.op("PCALIGN $32")
	g.label("v4h%dfour", h)
	for u := range 4 {
		term(u)
	}
	advance(4)
	g.op("DECQ R13")
	g.op("JNZ v4h%dfour", h)
	g.label("v4h%dlast", h)
	g.op("TESTQ CX, CX")
	g.op("JZ v4h%dsummed", h)
	g.label("v4h%done", h)
	term(0)
	advance(1)
	g.op("DECQ CX")
	g.op("JNZ v4h%done", h)
	g.label("v4h%dsummed", h)
}

// sum returns the register of the sums of a row's j-th of v registers of columns.
func (g *generator) sum(v, row, j int) string {
	if v == 4 {
		return g.reg(8 + 4*row + j)
	}
	return g.reg(4 + 2*row + j)
}

// columns returns the mask of the j-th of v registers of columns, with a comma before it, or ""
// where all of them are wanted.
func columns(v, j int) string {
	switch {
	case v < 4:
		return fmt.Sprintf(", K%d", j+1)
	case j < 2:
		return ""
	}
	return fmt.Sprintf(", K%d", j-1)
}

// startChain emits what comes before the terms of a chain, and has R13 count these: sums of 0,
// and what will be added to is fetched while the chain is summed, if the argument add says so.
func (g *generator) startChain(v, h, add int) {
	for i := range h {
		for j := range v {
			g.zero(g.sum(v, i, j))
		}
	}
	g.op("CMPB add+%d(FP), $0", add)
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
}

// loop emits the kernel for v registers of columns and h rows.
func (g *generator) loop(v, h int) {
	g.label("v%dh%d", v, h)
	used := bases[:(h+2)/3]
	for i := range used[1:] {
		g.op("LEAQ (%s)(R14*2), %s", used[i], used[i+1])
		g.op("ADDQ R14, %s", used[i+1])
	}
	g.startChain(v, h, 96)
	g.op("PCALIGN $32") // as the processor fetches; elsewhere a loop may take 5% longer
	g.label("v%dh%dloop", v, h)
	for j := range v {
		g.op("%s %d(BX), %s", g.ins("VMOVU"), j*g.bytes(), g.reg(j))
	}
	for i := range h {
		b := g.reg(2 + i%2)
		g.op("%s %s, %s", g.broadcast(), fmt.Sprintf([]string{"(%s)", "(%s)(R14*1)", "(%s)(R14*2)"}[i%3], bases[i/3]), b)
		for j := range v {
			g.op("%s %s, %s, %s", g.ins("VFMADD231"), g.reg(j), b, g.sum(v, i, j))
		}
	}
	for _, base := range used {
		g.op("ADDQ R11, %s", base)
	}
	g.op("ADDQ R8, BX")
	g.op("DECQ R13")
	g.op("JNZ v%dh%dloop", v, h)
	g.store(v, h, 96)
	g.op("MOVB $1, add+96(FP)")
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
			at, t := fmt.Sprintf("%d(R13)", j*g.bytes()), g.reg(max(v, 2)+j)
			switch {
			case g.avx512 && columns(v, j) != "":
				g.op("%s.Z %s%s, %s", g.ins("VMOVU"), at, columns(v, j), t)
			case g.avx512:
				g.op("%s %s, %s", g.ins("VMOVU"), at, t)
			case j == v-1:
				g.op("%s %s, %s, %s", g.ins("VMASKMOV"), at, g.reg(j), t)
			default:
				g.op("%s %s, %s", g.ins("VMOVU"), at, t)
			}
			g.op("%s %s, %s, %s", g.ins("VADD"), t, g.sum(v, i, j), g.sum(v, i, j))
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
				g.op("%s %s%s, %s", g.ins("VMOVU"), g.sum(v, i, j), columns(v, j), at)
			case j == v-1:
				g.op("%s %s, %s, %s", g.ins("VMASKMOV"), g.sum(v, i, j), g.reg(j), at)
			default:
				g.op("%s %s, %s", g.ins("VMOVU"), g.sum(v, i, j), at)
			}
		}
		if i < h-1 {
			g.op("ADDQ R9, R13")
		}
	}
}

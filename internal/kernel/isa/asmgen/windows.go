package main

import (
	"fmt"
)

// windowRows returns the rows of [isa.Tile.MulWindows]: as many as leave four registers
// for the right row and for broadcasts.
func (g *generator) windowRows() int {
	if g.avx512 {
		return 14
	}
	return 6
}

// mulWindows emits the products of windows that are read in place. It is mulTile but for
// where an element of the left matrix lies: AX and SI are the bases of seven rows each,
// which lie R14 bytes apart, R11 is three times and R10 five times as far, R8 walks the
// offsets, and CX and R12 are the bases and the offset of this term.
func (g *generator) mulWindows() {
	bits := 8 * g.width
	fmt.Fprintf(g, "\n// func mulWindows%s(h, tiles, w, k int, left *float%d, row int, offsets *int, b *float%d, next int, ahead, bias, c *float%d, ldc int, add bool)\n", g.name, bits, bits, bits)
	fmt.Fprintf(g, "TEXT ·mulWindows%s(SB), NOSPLIT, $8-105\n", g.name)
	g.op("MOVQ h+0(FP), DX")
	g.op("MOVQ w+16(FP), CX")
	g.op("MOVQ left+32(FP), AX")
	g.op("MOVQ row+40(FP), R14")
	g.op("SHLQ $%d, R14", g.shift())
	g.op("MOVQ offsets+48(FP), R8")
	g.op("MOVQ b+56(FP), BX")
	g.op("MOVQ c+88(FP), DI")
	g.op("MOVQ ldc+96(FP), R9")
	g.op("SHLQ $%d, R9", g.shift())
	g.op("MOVBLZX add+104(FP), R11")
	g.op("MOVQ R11, first-8(SP)")
	if g.avx512 {
		g.wideOrMasks()
	}
	g.op("LEAQ (R14)(R14*2), R11")
	g.op("LEAQ (R14)(R14*4), R10")
	g.op("LEAQ (R10)(R14*2), SI")
	g.op("ADDQ AX, SI")
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
		for h := g.windowRows(); h > 1; h-- {
			g.op("CMPQ DX, $%d", h)
			g.op("JEQ v%dh%d", v, h)
		}
		for h := range g.windowRows() {
			g.windowLoop(v, h+1)
		}
	}
	if g.avx512 {
		g.wideWindows()
	}
}

// wideWindows emits the loops for two strips, of which the second begins SI bytes behind the
// first.
func (g *generator) wideWindows() {
	g.wideMasks("DX")
	for h := wideRows; h > 0; h-- {
		g.label("v4h%d", h)
		g.label("v4h%dtile", h)
		g.secondStrip(64)
		g.op("MOVQ k+24(FP), DX")
		g.label("v4h%dchain", h)
		g.startChain(4, h, 104)
		g.wideChain(h, func(u int) {
			g.op("MOVQ %d(R8), R11", 8*u)
			g.op("LEAQ (AX)(R11*%d), R11", g.width)
			g.wideTerm(h, func(i int) string { return wideRow("R11", i) }, g.inStrips(2*u*g.bytes()))
		}, func(n int) {
			g.op("ADDQ $%d, BX", 2*n*g.bytes())
			g.op("ADDQ $%d, R8", 8*n)
			g.fetchAhead(n)
		})
		g.endWindows(4, h)
	}
}

// windowLoop emits mulWindows for v registers of columns and h rows.
func (g *generator) windowLoop(v, h int) {
	g.label("v%dh%d", v, h)
	g.label("v%dh%dtile", v, h)
	g.op("MOVQ k+24(FP), DX")
	g.label("v%dh%dchain", v, h)
	g.startChain(v, h, 104)
	g.op("PCALIGN $32")
	g.label("v%dh%dloop", v, h)
	g.op("MOVQ (R8), CX")
	if h > 7 {
		g.op("LEAQ (SI)(CX*%d), R12", g.width)
	}
	g.op("LEAQ (AX)(CX*%d), CX", g.width)
	for j := range v {
		g.op("%s %d(BX), %s", g.ins("VMOVU"), j*g.bytes(), g.reg(j))
	}
	for i := range h {
		from := fmt.Sprintf([]string{"(%s)", "(%s)(R14*1)", "(%s)(R14*2)", "(%s)(R11*1)", "(%s)(R14*4)", "(%s)(R10*1)", "(%s)(R11*2)"}[i%7], []string{"CX", "R12"}[i/7])
		if v == 1 && g.avx512 {
			g.op("%s.BCST %s, %s, %s", g.ins("VFMADD231"), from, g.reg(0), g.sum(v, i, 0))
			continue
		}
		b := g.reg(2 + i%2)
		g.op("%s %s, %s", g.broadcast(), from, b)
		for j := range v {
			g.op("%s %s, %s, %s", g.ins("VFMADD231"), g.reg(j), b, g.sum(v, i, j))
		}
	}
	g.op("ADDQ $%d, BX", 2*g.bytes())
	g.op("ADDQ $8, R8")
	g.op("DECQ R13")
	g.op("JNZ v%dh%dloop", v, h)
	g.endWindows(v, h)
}

// endWindows emits the end of a chain: sums are added to c if the argument add says so, the bias
// is added behind the last, and they are written. Behind the last chain of a tile comes the next
// tile, to which the argument add is what it was at first.
func (g *generator) endWindows(v, h int) {
	g.addSums(v, h, 104)
	g.op("TESTQ DX, DX")
	g.op("JNZ v%dh%dbiased", v, h)
	g.op("MOVQ bias+80(FP), R13")
	g.op("TESTQ R13, R13")
	g.op("JZ v%dh%dbiased", v, h)
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
		for i := range h {
			g.op("%s %s, %s, %s", g.ins("VADD"), t, g.sum(v, i, j), g.sum(v, i, j))
		}
	}
	g.label("v%dh%dbiased", v, h)
	g.storeSums(v, h)
	g.op("MOVB $1, add+104(FP)")
	g.op("TESTQ DX, DX")
	g.op("JNZ v%dh%dchain", v, h)
	// The tile of the rows below.
	g.op("DECQ tiles+8(FP)")
	g.op("JZ v%dh%ddone", v, h)
	g.op("IMUL3Q $%d, R14, R13", h)
	g.op("ADDQ R13, AX")
	if h > 7 {
		g.op("ADDQ R13, SI")
	}
	g.op("IMUL3Q $%d, R9, R13", h)
	g.op("ADDQ R13, DI")
	g.op("MOVQ offsets+48(FP), R8")
	g.op("MOVQ b+56(FP), BX")
	g.op("MOVQ first-8(SP), R13")
	g.op("MOVB R13, add+104(FP)")
	g.op("JMP v%dh%dtile", v, h)
	g.label("v%dh%ddone", v, h)
	g.op("VZEROUPPER")
	g.op("RET")
}

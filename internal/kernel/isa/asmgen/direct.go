package main

import (
	"fmt"

	"github.com/berth-go/berth/internal/kernel/isa/numbers"
)

// mulTaps emits the products of a strip by rows that begin at offsets. It is
// mulTile but for where a right row lies: R8 walks the offsets, and R10 is the
// one of this row.
func (g *generator) mulTaps() {
	fmt.Fprintf(g, "\n// func mulTaps%s(h, w, k int, a, b *float%d, offsets *int, c *float%d, ldc int, add bool)\n", g.name, 8*g.width, 8*g.width)
	fmt.Fprintf(g, "TEXT ·mulTaps%s(SB), NOSPLIT, $0-65\n", g.name)
	g.op("MOVQ h+0(FP), SI")
	g.op("MOVQ w+8(FP), CX")
	g.op("MOVQ k+16(FP), DX")
	g.op("MOVQ a+24(FP), AX")
	g.op("MOVQ b+32(FP), BX")
	g.op("MOVQ offsets+40(FP), R8")
	g.op("MOVQ c+48(FP), DI")
	g.op("MOVQ ldc+56(FP), R9")
	g.op("SHLQ $%d, R9", g.shift())
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
			g.tapLoop(v, h)
		}
	}
	if g.avx512 {
		g.wideTaps()
	}
}

// wideTaps emits the loops of mulTaps for two strips side by side.
func (g *generator) wideTaps() {
	g.wideMasks("SI")
	for h := wideRows; h > 0; h-- {
		g.label("v4h%d", h)
		g.startChain(4, h, 64)
		g.wideChain(h, func(u int) {
			g.op("MOVQ %d(R8), R11", 8*u)
			g.wideTerm(h, func(i int) string { return fmt.Sprintf("%d(AX)", (u*g.rows+i)*g.width) },
				func(j int) string { return fmt.Sprintf("%d(BX)(R11*%d)", j*g.bytes(), g.width) })
		}, func(n int) {
			g.op("ADDQ $%d, AX", n*g.rows*g.width)
			g.op("ADDQ $%d, R8", 8*n)
		})
		g.store(4, h, 64)
		g.op("MOVB $1, add+64(FP)")
		g.op("TESTQ DX, DX")
		g.op("JNZ v4h%d", h)
		g.op("VZEROUPPER")
		g.op("RET")
	}
}

// tapLoop emits mulTaps for v registers of columns and h rows.
func (g *generator) tapLoop(v, h int) {
	g.label("v%dh%d", v, h)
	for i := range h {
		for j := range v {
			g.zero(g.sum(v, i, j))
		}
	}
	g.op("MOVL $%d, R13", numbers.Chain)
	g.op("CMPQ DX, R13")
	g.op("CMOVQLT DX, R13")
	g.op("SUBQ R13, DX")
	g.op("PCALIGN $32")
	g.label("v%dh%dloop", v, h)
	g.op("MOVQ (R8), R10")
	for j := range v {
		g.op("%s %d(BX)(R10*%d), %s", g.ins("VMOVU"), j*g.bytes(), g.width, g.reg(j))
	}
	for i := range h {
		b := g.reg(2 + i%2)
		g.op("%s %d(AX), %s", g.broadcast(), i*g.width, b)
		for j := range v {
			g.op("%s %s, %s, %s", g.ins("VFMADD231"), g.reg(j), b, g.sum(v, i, j))
		}
	}
	g.op("ADDQ $%d, AX", g.rows*g.width)
	g.op("ADDQ $8, R8")
	g.op("DECQ R13")
	g.op("JNZ v%dh%dloop", v, h)
	g.store(v, h, 64)
	g.op("MOVB $1, add+64(FP)")
	g.op("TESTQ DX, DX")
	g.op("JNZ v%dh%d", v, h)
	g.op("VZEROUPPER")
	g.op("RET")
}

// pick emits the copy of every second element. X86 has no load with a step, but
// two registers of neighbours hold one of the elements wanted: with AVX-512 a
// permutation of both takes them, with AVX2 a shuffle within the halves, and one
// of the quarters that puts them in order.
func (g *generator) pick() {
	fmt.Fprintf(g, "\n// func pick%s(dst, src *float%d, count, dstStep, srcStep, n int)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·pick%s(SB), NOSPLIT, $0-48\n", g.name)
	g.op("MOVQ dst+0(FP), DI")
	g.op("MOVQ src+8(FP), SI")
	g.op("MOVQ count+16(FP), DX")
	g.op("MOVQ dstStep+24(FP), R8")
	g.op("SHLQ $%d, R8", g.shift())
	g.op("MOVQ srcStep+32(FP), R9")
	g.op("SHLQ $%d, R9", g.shift())
	// The last elements of a row, up to a register of them, have masks: 3 of where
	// they go, and 1 and 2 of where they are, as the last has no neighbour.
	g.op("MOVQ n+40(FP), CX")
	g.op("DECQ CX")
	g.op("ANDQ $%d, CX", g.lanes()-1)
	g.op("INCQ CX")
	g.masksOfCX(3)
	g.op("LEAQ -1(CX)(CX*1), CX")
	g.masksOfCX(1)
	if g.avx512 {
		g.op("VMOVDQU32 evens%d<>(SB), Z7", 8*g.width)
	}
	g.label("row")
	g.op("MOVQ n+40(FP), CX")
	g.op("MOVQ DI, AX")
	g.op("MOVQ SI, BX")
	g.op("SUBQ $%d, CX", g.lanes()+1)
	g.op("JL rest")
	g.label("loop")
	for j := range 2 {
		g.op("%s %d(BX), %s", g.ins("VMOVU"), j*g.bytes(), g.reg(5+j))
	}
	g.evenOfTwo()
	g.op("%s %s, (AX)", g.ins("VMOVU"), g.reg(5))
	g.op("ADDQ $%d, BX", 2*g.bytes())
	g.op("ADDQ $%d, AX", g.bytes())
	g.op("SUBQ $%d, CX", g.lanes())
	g.op("JGE loop")
	g.label("rest")
	for j := range 2 {
		if g.avx512 {
			g.op("%s.Z %d(BX), K%d, Z%d", g.ins("VMOVU"), j*g.bytes(), 1+j, 5+j)
		} else {
			g.op("%s %d(BX), Y%d, Y%d", g.ins("VMASKMOV"), j*g.bytes(), 1+j, 5+j)
		}
	}
	g.evenOfTwo()
	if g.avx512 {
		g.op("%s Z5, K3, (AX)", g.ins("VMOVU"))
	} else {
		g.op("%s Y5, Y3, (AX)", g.ins("VMASKMOV"))
	}
	g.op("ADDQ R8, DI")
	g.op("ADDQ R9, SI")
	g.op("DECQ DX")
	g.op("JNZ row")
	g.op("VZEROUPPER")
	g.op("RET")
}

// evenOfTwo sets register 5 to every second element of registers 5 and 6.
func (g *generator) evenOfTwo() {
	switch {
	case g.avx512:
		g.op("%s Z6, Z7, Z5", g.ins("VPERMT2"))
	case g.width == 4:
		g.op("VSHUFPS $0x88, Y6, Y5, Y5")
		g.op("VPERMPD $0xd8, Y5, Y5")
	default:
		g.op("VUNPCKLPD Y6, Y5, Y5")
		g.op("VPERMPD $0xd8, Y5, Y5")
	}
}

// evens emits the indices of every second element of two registers.
func (g *generator) evens() {
	for _, width := range []int{4, 8} {
		mask := 8 * width
		for i := range 64 / width {
			fmt.Fprintf(g, "DATA evens%d<>+%d(SB)/%d, $%d\n", mask, i*width, width, 2*i)
		}
		fmt.Fprintf(g, "GLOBL evens%d<>(SB), RODATA|NOPTR, $64\n", mask)
	}
}

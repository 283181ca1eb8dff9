package main

import "fmt"

// spread emits the packing of a run of an image row for several channels: the
// elements [a, b) of n lanes are copied, the others of the n are 0.
func (g *generator) spread() {
	fmt.Fprintf(g, "\n// func spread%s(dst, src *float%d, count, dstStep, srcStep, a, b, n int)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·spread%s(SB), NOSPLIT, $0-64\n", g.name)
	g.op("MOVQ dst+0(FP), DI")
	g.op("MOVQ src+8(FP), SI")
	g.op("MOVQ count+16(FP), DX")
	g.op("MOVQ dstStep+24(FP), R8")
	g.op("SHLQ $%d, R8", g.shift())
	g.op("MOVQ srcStep+32(FP), R9")
	g.op("SHLQ $%d, R9", g.shift())
	// The lanes to load, masks 1 and 2, are the first b less the first a; those
	// to store, masks 3 and 4, the first n.
	g.op("MOVQ b+48(FP), CX")
	g.masksOfCX(1)
	g.op("MOVQ a+40(FP), CX")
	g.masksOfCX(3)
	for i := 1; i <= 2; i++ {
		if g.avx512 {
			g.op("KANDNW K%d, K%d, K%d", i, i+2, i)
		} else {
			g.op("VANDNPS Y%d, Y%d, Y%d", i, i+2, i)
		}
	}
	g.op("SHLQ $%d, CX", g.shift())
	g.op("SUBQ CX, SI") // lane 0 of the source, which need not be there
	g.op("MOVQ n+56(FP), CX")
	g.masksOfCX(3)
	g.op("CMPQ CX, $%d", g.lanes())
	g.op("JLE one")
	for _, v := range []int{2, 1} {
		if v == 1 {
			g.label("one")
		}
		g.label("loop%d", v)
		for j := range v {
			at := j * g.bytes()
			if g.avx512 {
				g.op("%s.Z %d(SI), K%d, Z%d", g.ins("VMOVU"), at, 1+j, 5+j)
				g.op("%s Z%d, K%d, %d(DI)", g.ins("VMOVU"), 5+j, 3+j, at)
			} else {
				g.op("%s %d(SI), Y%d, Y%d", g.ins("VMASKMOV"), at, 1+j, 5+j)
				g.op("%s Y%d, Y%d, %d(DI)", g.ins("VMASKMOV"), 5+j, 3+j, at)
			}
		}
		g.op("ADDQ R9, SI")
		g.op("ADDQ R8, DI")
		g.op("DECQ DX")
		g.op("JNZ loop%d", v)
		g.op("VZEROUPPER")
		g.op("RET")
	}
}

// tapSum emits the sum of taps for a run of elements of a depthwise
// convolution. R10 and R11 walk the taps, which BX counts down; AX is where the
// tap meets the run.
func (g *generator) tapSum() {
	const block = 4 // registers of sums in the main loop
	fmt.Fprintf(g, "\n// func tapSum%s(y, x *float%d, n int, offsets *int, weights *float%d, taps int, add bool)\n",
		g.name, 8*g.width, 8*g.width)
	fmt.Fprintf(g, "TEXT ·tapSum%s(SB), NOSPLIT, $0-49\n", g.name)
	g.op("MOVQ y+0(FP), DI")
	g.op("MOVQ x+8(FP), SI")
	g.op("MOVQ n+16(FP), CX")
	g.op("MOVQ offsets+24(FP), R8")
	g.op("MOVQ weights+32(FP), R9")
	g.op("MOVQ taps+40(FP), DX")
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
				g.op("VMOVUPS (R12), Y6")
			}
		} else {
			g.op("CMPQ CX, $%d", v*g.lanes())
			g.op("JLT next1")
		}
		for j := range v {
			g.zero(g.reg(j))
		}
		g.op("MOVQ R8, R10")
		g.op("MOVQ R9, R11")
		g.op("MOVQ DX, BX")
		g.label("taps%d", v)
		g.op("MOVQ (R10), AX")
		g.op("LEAQ (SI)(AX*%d), AX", g.width)
		g.op("%s (R11), %s", g.broadcast(), g.reg(4))
		for j := range v {
			switch {
			case v > 1:
				g.op("%s %d(AX), %s, %s", g.ins("VFMADD231"), j*g.bytes(), g.reg(4), g.reg(j))
			case g.avx512:
				g.op("%s.Z (AX), K1, Z7", g.ins("VMOVU"))
				g.op("%s Z7, Z4, Z0", g.ins("VFMADD231"))
			default:
				g.op("%s (AX), Y6, Y7", g.ins("VMASKMOV"))
				g.op("%s Y7, Y4, Y0", g.ins("VFMADD231"))
			}
		}
		g.op("ADDQ $8, R10")
		g.op("ADDQ $%d, R11", g.width)
		g.op("DECQ BX")
		g.op("JNZ taps%d", v)
		g.op("MOVBLZX add+48(FP), BX")
		g.op("TESTL BX, BX")
		g.op("JZ store%d", v)
		for j := range v {
			switch {
			case v > 1:
				g.op("%s %d(DI), %s, %s", g.ins("VADD"), j*g.bytes(), g.reg(j), g.reg(j))
			case g.avx512:
				g.op("%s.Z (DI), K1, Z7", g.ins("VMOVU"))
				g.op("%s Z7, Z0, Z0", g.ins("VADD"))
			default:
				g.op("%s (DI), Y6, Y7", g.ins("VMASKMOV"))
				g.op("%s Y7, Y0, Y0", g.ins("VADD"))
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
				g.op("%s Y0, Y6, (DI)", g.ins("VMASKMOV"))
			}
		}
		g.op("ADDQ $%d, SI", v*g.bytes())
		g.op("ADDQ $%d, DI", v*g.bytes())
		g.op("SUBQ $%d, CX", v*g.lanes())
		g.op("JMP next%d", v)
	}
	g.label("done")
	g.op("VZEROUPPER")
	g.op("RET")
}

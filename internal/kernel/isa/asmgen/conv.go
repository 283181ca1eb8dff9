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

package main

import "fmt"

// The loops over bytes of integer.go for arm64. There are three tiles. Where an instruction multiplies
// and adds four unsigned bytes by signed ones, it does all. Older dot products have both operands
// signed or neither, so that the bytes of b, of the other kind, are flipped, which adds ±128 times
// each byte of a, and has to be taken away again. The other processors multiply words, which the
// products of two bytes fit, and add these in pairs.

// neonIntegerRows is the rows of each tile.
const neonIntegerRows = 4

func (g *generator) neonIntegerFile() {
	g.kind = kind{name: "NEON", neon: true, width: 4, rows: neonIntegerRows}
	for _, signedLeft := range []bool{true, false} {
		g.neonIntegerTile("Mixed", signedLeft, 4, g.neonMixedLoop)
		g.neonIntegerTile("Dot", signedLeft, 4, g.neonDotLoop)
		g.neonIntegerTile("", signedLeft, 2, g.neonWordLoop)
	}
	g.neonInterleave()
	g.neonTapQuads()
	g.neonShiftSums()
	g.neonRequantize()
	g.neonQuantize()
	g.neonDequantize()
	g.neonAddQuantized()
}

// neonIntegerTile emits a product of bytes of up to so many registers of columns. R0 to R3 are
// the rows of a, R9 from one of its quads to the next, R10 the quads of b and R11 from one
// to the next; the others are as in a tile of numbers.
func (g *generator) neonIntegerTile(by string, signedLeft bool, regs int, loop func(v, h int, signedLeft bool, sum func(i, j int) int)) {
	name := map[bool]string{true: "mulSignedLeft", false: "mulSignedRight"}[signedLeft] + by + g.name
	fmt.Fprintf(g, "\n// func %s(h, w, quads int, a *uint8, row, step int, b *uint8, ldb int, c *int32, ldc int, add bool)\n", name)
	fmt.Fprintf(g, "TEXT ·%s(SB), NOSPLIT, $128-81\n", name)
	g.neonTarget("w+8(FP)", "quads+16(FP)", "c+64(FP)", "ldc+72(FP)", "add+80(FP)")
	g.op("MOVD row+32(FP), R25")
	g.neonLines(0, neonIntegerRows, "a+24(FP)", "R25")
	g.op("MOVD step+40(FP), R9")
	g.op("MOVD b+48(FP), R10")
	g.op("MOVD ldb+56(FP), R11")
	g.neonEachTile(regs, neonIntegerRows, func(v, h int) {
		name := fmt.Sprintf("v%dh%d", v, h)
		sum := func(i, j int) int { return 8 + v*i + j }
		g.label("%s", name)
		loop(v, h, signedLeft, sum)
		g.neonStoreTile(name, "VPADDD", v, h, sum)
		g.op("B summed")
	})
	g.neonEnd("w+8(FP)")
	g.op("RET")
}

// neonQuads emits the loop over the quads of a tile: term for each, where registers from 4 on have
// the quad of each row in every four bytes.
func (g *generator) neonQuads(v, h int, term func()) {
	g.label("v%dh%dquad", v, h)
	g.neonLoads(v, "R10", 0)
	g.op("ADD R11, R10")
	for i := range h {
		g.op("VLD1R (R%d), [V%d.S4]", i, 4+i)
		g.op("ADD R9, R%d", i)
	}
	term()
	g.op("SUB $1, R12")
	g.op("CBNZ R12, v%dh%dquad", v, h)
}

// neonMixedLoop emits the sums of a tile by dot products of unsigned bytes with signed ones.
func (g *generator) neonMixedLoop(v, h int, signedLeft bool, sum func(i, j int) int) {
	for i := range h {
		for j := range v {
			g.neonZero(sum(i, j))
		}
	}
	g.neonQuads(v, h, func() {
		for i := range h {
			for j := range v {
				unsigned, signed := 4+i, j
				if signedLeft {
					unsigned, signed = signed, unsigned
				}
				g.word(neonUSDOT, false, sum(i, j), unsigned, signed)
			}
		}
	})
}

// neonDotLoop emits the sums of a tile by dot products. What flipping adds to those of row i is in
// register 24+i.
func (g *generator) neonDotLoop(v, h int, signedLeft bool, sum func(i, j int) int) {
	dot := map[bool]uint32{true: neonSDOT, false: neonUDOT}[signedLeft]
	g.op("VMOVI $128, V31.B16")
	for i := range h {
		g.neonZero(24 + i)
		for j := range v {
			g.neonZero(sum(i, j))
		}
	}
	g.neonQuads(v, h, func() {
		for j := range v {
			g.neonOp("XOR", j, j, 31)
		}
		for i := range h {
			g.word(dot, false, 24+i, 4+i, 31)
			for j := range v {
				g.word(dot, false, sum(i, j), 4+i, j)
			}
		}
	})
	for i := range h {
		for j := range v {
			g.neonOp("VPSUBD", sum(i, j), sum(i, j), 24+i)
		}
	}
}

// neonWordLoop emits the sums of a tile by products of words. Those of a quad's first and of its last
// two bytes are apart, so that four columns have two registers of sums, until the end.
func (g *generator) neonWordLoop(v, h int, signedLeft bool, sum func(i, j int) int) {
	signed, unsigned := [2]uint32{neonSXTL8, neonSXTL8 | neonHigh}, [2]uint32{neonUXTL8, neonUXTL8 | neonHigh}
	left, right := unsigned, signed
	if signedLeft {
		left, right = signed, unsigned
	}
	half := func(i, j, k int) int { return 8 + 2*(v*i+j) + k }
	for i := range h {
		for j := range v {
			g.neonZero(half(i, j, 0))
			g.neonZero(half(i, j, 1))
		}
	}
	g.neonQuads(v, h, func() {
		for j := range v {
			for k := range 2 {
				g.word(right[k], false, 24+2*j+k, j, 0)
			}
		}
		for i := range h {
			g.word(left[0], false, 4+i, 4+i, 0)
			for j := range v {
				for k := range 2 {
					g.neonPairs(half(i, j, k), 4+i, 24+2*j+k)
				}
			}
		}
	})
	for i := range h {
		for j := range v {
			g.word(neonADDP, false, sum(i, j), half(i, j, 0), half(i, j, 1))
		}
	}
}

// neonPairs emits d += the sums of pairs of products of the words of n and m. It spoils register 0.
func (g *generator) neonPairs(d, n, m int) {
	g.word(neonMULWords, false, 0, n, m)
	g.word(neonSADALP, false, d, 0, 0)
}

func (g *generator) neonInterleave() {
	g.raw("\n// func interleaveNEON(dst, src *uint8, n, count, dstStep, srcStep int, flip uint8)\n")
	g.raw("TEXT ·interleaveNEON(SB), NOSPLIT, $0-49\n")
	g.op("MOVD dst+0(FP), R0")
	g.op("MOVD src+8(FP), R1")
	g.op("MOVD count+24(FP), R2")
	g.op("MOVD dstStep+32(FP), R3")
	g.op("MOVD srcStep+40(FP), R4")
	g.op("MOVBU flip+48(FP), R5")
	g.op("VDUP R5, V31.B16")
	g.label("quad")
	g.neonLines(8, 4, "R1", "R4")
	g.op("ADD R4, R11, R1")
	g.op("MOVD R0, R6")
	g.op("MOVD n+16(FP), R7")
	g.label("next")
	for i := range 4 {
		g.op("FMOVQ.P 16(R%d), F%d", 8+i, i)
		g.neonOp("XOR", i, i, 31)
	}
	g.op("VST4.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R6)")
	g.op("SUB $16, R7")
	g.op("CBNZ R7, next")
	g.op("ADD R3, R0")
	g.op("SUB $1, R2")
	g.op("CBNZ R2, quad")
	g.op("RET")
}

// neonTapQuads emits the sums of quads of taps at four positions at a time, whose bytes a shuffle
// gathers out of 16.
func (g *generator) neonTapQuads() {
	g.raw("\n// func tapQuadsNEON(y *int32, n int, x *uint8, stride int, offsets *int, weights *uint8, taps int, shuffle *uint8)\n")
	g.raw("TEXT ·tapQuadsNEON(SB), NOSPLIT, $0-64\n")
	g.op("MOVD y+0(FP), R0")
	g.op("MOVD n+8(FP), R1")
	g.op("MOVD x+16(FP), R2")
	g.op("MOVD stride+24(FP), R3")
	g.op("MOVD shuffle+56(FP), R4")
	g.op("FMOVQ (R4), F31")
	g.label("next")
	g.op("MOVD offsets+32(FP), R5")
	g.op("MOVD weights+40(FP), R6")
	g.op("MOVD taps+48(FP), R7")
	g.neonZero(1)
	g.neonZero(2)
	g.label("tap")
	g.op("MOVD.P 8(R5), R8")
	g.op("ADD R2, R8")
	g.op("FMOVQ (R8), F3")
	g.op("VTBL V31.B16, [V3.B16], V3.B16")
	g.op("VLD1R.P 4(R6), [V4.S4]")
	g.word(neonUXTL8|neonHigh, false, 5, 3, 0)
	g.word(neonUXTL8, false, 3, 3, 0)
	g.word(neonSXTL8, false, 4, 4, 0)
	g.neonPairs(1, 3, 4)
	g.neonPairs(2, 5, 4)
	g.op("SUB $1, R7")
	g.op("CBNZ R7, tap")
	g.word(neonADDP, false, 1, 1, 2)
	g.op("FMOVQ.P F1, 16(R0)")
	g.op("ADD R3<<2, R2")
	g.op("SUB $4, R1")
	g.op("CBNZ R1, next")
	g.op("RET")
}

package main

import "fmt"

// The loops over images with their channels last have a block of some positions by some
// registers of channels. Offsets of taps below 0 are padding.

// lastTaps emits the sum of any taps, whose weights are vectors. R10 and R11 walk the
// taps, which BX counts down; AX is where the tap meets the block.
func (g *generator) lastTaps() {
	fmt.Fprintf(g, "\n// func lastTaps%s(y, x *float%d, grid *Grid, offsets *int, weights *float%[2]d, taps, pitch int, bias *float%[2]d, add bool, atX int)\n",
		g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·lastTaps%s(SB), NOSPLIT, $8-80\n", g.name)
	g.op("SHLQ $%d, pitch+48(FP)", g.shift())
	steps := g.beginLast("atX+72(FP)")
	g.blocks("", areas(blockRegs), 12, "R8", "R9", func(b *block) {
		g.clearSums(b)
		g.op("MOVQ weights+32(FP), R11")
		g.op("ADDQ R13, R11")
		weight := func(v int) string { return g.reg(8 + v) }
		g.eachTap(b, func() {
			for v := range b.regs {
				g.load(b, fmt.Sprintf("%d(R11)", v*g.bytes()), weight(v))
			}
			for j := range b.rows {
				for v := range b.regs {
					at := fmt.Sprintf("%d%s", v*g.bytes(), steps[j])
					if b.masked {
						g.load(b, at, g.reg(13))
						at = g.reg(13)
					}
					g.op("%s %s, %s, %s", g.ins("VFMADD231"), at, weight(v), b.sum(j, v))
				}
			}
		}, func() {
			g.zero(g.reg(9))
			for v := range b.regs {
				g.load(b, fmt.Sprintf("%d(R11)", v*g.bytes()), g.reg(8))
				for j := range b.rows {
					g.op("%s %s, %s, %s", g.ins("VFMADD231"), g.reg(9), g.reg(8), b.sum(j, v))
				}
			}
		}, func() { g.op("ADDQ pitch+48(FP), R11") })
		g.op("MOVBLZX add+64(FP), BX")
		g.op("TESTL BX, BX")
		g.op("JZ %sbias", b.label)
		g.eachSum(b, "R9", func(sum, at string) {
			g.load(b, at, g.reg(8))
			g.op("%s %s, %s, %s", g.ins("VADD"), sum, g.reg(8), sum)
		})
		g.label("%sbias", b.label)
		g.addBiases(b, g.reg(8))
	}, func() { g.nextOffsets("taps+40(FP)") })
	g.done()
}

// lastLines emits the sum of taps in lines of n, with steps from one tap to the next and,
// once or twice as long, from position to position. A column of x is loaded once for all positions that it is
// a tap of. R10 and R11 walk the lines and the weights, BX counts the lines down, and AX walks
// the columns, which are R8 bytes apart.
func (g *generator) lastLines(n int) {
	fmt.Fprintf(g, "\n// func last%dLines%s(y, x *float%d, grid *Grid, offsets *int, weights *float%[3]d, lines, pitch int, bias *float%[3]d, within, step, atX int)\n",
		n, g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·last%dLines%s(SB), NOSPLIT, $8-88\n", n, g.name)
	g.op("SHLQ $%d, pitch+48(FP)", g.shift())
	g.beginLast("atX+80(FP)")
	g.op("MOVQ R8, R12")
	g.op("MOVQ within+64(FP), R8")
	g.op("SHLQ $%d, R8", g.shift())
	shapes, weights := []area{{8, 1}, {4, 1}, {2, 1}, {1, 1}}, 8
	if g.avx512 {
		shapes, weights = []area{{8, 2}, {4, 2}, {2, 2}, {1, 2}}, 16
	}
	g.op("MOVQ step+72(FP), AX")
	g.op("CMPQ AX, $2")
	g.op("JEQ s2")
	for step := 1; step <= 2; step++ {
		prefix := fmt.Sprintf("s%d", step)
		g.label("%s", prefix)
		g.blocks(prefix, shapes, 15, "R12", "R9", func(b *block) {
			weight := func(i, v int) string { return g.reg(weights + i*b.regs + v) }
			x := func(i int) string { return g.reg(weights + n*b.regs + i%(15-n-8)) }
			g.clearSums(b)
			g.op("MOVQ weights+32(FP), R11")
			g.op("ADDQ R13, R11")
			g.op("MOVQ offsets+24(FP), R10")
			g.op("MOVQ lines+40(FP), BX")
			g.label("%sline", b.label)
			for i := range n {
				for v := range b.regs {
					g.load(b, fmt.Sprintf("%d(R11)", v*g.bytes()), weight(i, v))
				}
				g.op("ADDQ pitch+48(FP), R11")
			}
			g.op("MOVQ (R10), AX")
			g.op("ADDQ $8, R10")
			g.op("TESTQ AX, AX")
			g.op("JLT %spadding", b.label)
			g.op("LEAQ (SI)(AX*%d), AX", g.width)
			loads := 0
			for column := range (b.rows-1)*step + n {
				for v := range b.regs {
					at := fmt.Sprintf("%d(AX)%s", v*g.bytes(), []string{"", "(R8*1)"}[column%2])
					g.load(b, at, x(loads))
					for j := range b.rows {
						if i := column - j*step; 0 <= i && i < n {
							g.op("%s %s, %s, %s", g.ins("VFMADD231"), x(loads), weight(i, v), b.sum(j, v))
						}
					}
					loads++
				}
				if column%2 == 1 {
					g.op("LEAQ (AX)(R8*2), AX")
				}
			}
			g.label("%safter", b.label)
			g.op("DECQ BX")
			g.op("JNZ %sline", b.label)
			g.op("JMP %ssummed", b.label)
			g.label("%spadding", b.label)
			g.zero(x(0))
			for i := range n {
				for v := range b.regs {
					for j := range b.rows {
						g.op("%s %s, %s, %s", g.ins("VFMADD231"), x(0), weight(i, v), b.sum(j, v))
					}
				}
			}
			g.op("JMP %safter", b.label)
			g.label("%ssummed", b.label)
			g.addBiases(b, x(0))
		}, func() { g.nextOffsets("lines+40(FP)") })
	}
	g.done()
}

// addBiases emits the adding of the channels that bias+56(FP) points to, unless that is nil,
// to the sums of a block. It spoils AX and register x.
func (g *generator) addBiases(b *block, x string) {
	g.op("MOVQ bias+56(FP), AX")
	g.op("TESTQ AX, AX")
	g.op("JZ %sstore", b.label)
	for v := range b.regs {
		g.load(b, fmt.Sprintf("%d(AX)(R13*1)", v*g.bytes()), x)
		for j := range b.rows {
			g.op("%s %s, %s, %s", g.ins("VADD"), b.sum(j, v), x, b.sum(j, v))
		}
	}
	g.label("%sstore", b.label)
}

// nextOffsets emits the step to the offsets of the next plane. Count is the argument that has
// how many there are of each.
func (g *generator) nextOffsets(count string) {
	g.op("MOVQ %s, AX", count)
	g.op("SHLQ $3, AX")
	g.op("ADDQ AX, offsets+24(FP)")
}

// beginLast emits the beginning of a loop over planes, from one row to the next of which
// are R8 bytes of x, moved on by atX elements, and R9 of y. It returns where four positions
// are from AX on.
func (g *generator) beginLast(atX string) []string {
	g.op("MOVQ %s, AX", atX)
	g.op("SHLQ $%d, AX", g.shift())
	g.op("ADDQ AX, x+8(FP)")
	g.beginPlanes("R9")
	g.op("MOVQ %d(AX), R8", rowX)
	g.op("SHLQ $%d, R8", g.shift())
	g.op("LEAQ (R8)(R8*2), R12")
	return []string{"(AX)", "(AX)(R8*1)", "(AX)(R8*2)", "(AX)(R12*1)"}
}

// eachTap emits the loop over taps: with AX where one meets the block at SI, with nothing
// for one in the padding, and what follows either. R10 and BX walk them.
func (g *generator) eachTap(b *block, tap, padding, next func()) {
	g.op("MOVQ offsets+24(FP), R10")
	g.op("MOVQ taps+40(FP), BX")
	g.label("%stap", b.label)
	g.op("MOVQ (R10), AX")
	g.op("TESTQ AX, AX")
	g.op("JLT %spadding", b.label)
	g.op("LEAQ (SI)(AX*%d), AX", g.width)
	tap()
	g.label("%safter", b.label)
	next()
	g.op("ADDQ $8, R10")
	g.op("DECQ BX")
	g.op("JNZ %stap", b.label)
	g.op("JMP %ssummed", b.label)
	g.label("%spadding", b.label)
	padding()
	g.op("JMP %safter", b.label)
	g.label("%ssummed", b.label)
}

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

// lastMax emits the largest of taps, as maxRows does, but that there may be none.
func (g *generator) lastMax() {
	const regs = 4
	fmt.Fprintf(g, "\n// func lastMax%s(y, x *float%d, grid *Grid, offsets *int, atX, taps int)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·lastMax%s(SB), NOSPLIT, $8-48\n", g.name)
	steps := g.beginLast("atX+32(FP)")
	g.blocks("", areas(regs), 10, "R8", "R9", func(b *block) {
		g.beginMaxima(regs)
		g.eachTap(b, func() {
			for j := range b.rows {
				for v := range b.regs {
					g.load(b, fmt.Sprintf("%d%s", v*g.bytes(), steps[j]), g.reg(8))
					g.joinMaxima(j*b.regs + v)
				}
			}
		}, func() {}, func() {})
		g.endMaxima(b)
	}, func() { g.nextOffsets("taps+40(FP)") })
	g.done()
}

// lastMean emits the means of taps, summed in float64. R9 walks the positions' counts, DX of
// them; CX counts the channels down, and R8 is how far into them DI and SI are, in bytes. R10
// walks the taps, which BX counts down.
func (g *generator) lastMean() {
	fmt.Fprintf(g, "\n// func lastMean%s(y, x *float%d, grid *Grid, offsets *int, atX, taps int, counts, lines *float64)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·lastMean%s(SB), NOSPLIT, $8-64\n", g.name)
	g.beginLast("atX+32(FP)")
	g.op("MOVQ R8, R12")
	g.op("MOVQ R9, R11")
	g.op("MOVQ counts+48(FP), R9")
	g.label("row")
	g.op("MOVQ lines+56(FP), AX")
	g.op("VBROADCASTSD (AX), %s", g.reg(8))
	g.op("VBROADCASTSD (R9), %s", g.reg(9))
	g.op("VMULPD %s, %s, %s", g.reg(8), g.reg(9), g.reg(9))
	g.op("ADDQ $8, R9")
	g.op("MOVQ grid+16(FP), AX")
	g.op("MOVQ %d(AX), CX", cols)
	g.wideChannels(4, func(v int, masked bool) {
		for j := range v {
			g.zero(g.reg(j))
		}
		b := &block{generator: g, label: fmt.Sprintf("block%d", v)}
		g.eachTap(b, func() {
			for j := range v {
				g.addWide(j, j, "AX", masked)
			}
		}, func() {}, func() {})
	})
	g.op("ADDQ R12, SI")
	g.op("ADDQ R11, DI")
	g.op("DECQ DX")
	g.op("JNZ row")
	g.endPlanes(func() {
		g.nextOffsets("taps+40(FP)")
		g.op("ADDQ $8, lines+56(FP)")
	})
	g.done()
}

// wideChannels emits the loop over CX channels, in blocks of so many registers and then of one.
// Reduce emits the sums of the channels of v registers at SI, which registers from 0 on get. They
// are divided by register 9 and stored at DI. R8 is how far DI and SI are moved meanwhile.
func (g *generator) wideChannels(block int, reduce func(v int, masked bool)) {
	lanes := g.bytes() / 8
	g.op("XORL R8, R8")
	for _, v := range []int{block, 1} {
		masked := v == 1
		g.label("next%d", v)
		if masked {
			g.op("TESTQ CX, CX")
			g.op("JLE end")
			g.maskWide()
		} else {
			g.op("CMPQ CX, $%d", v*lanes)
			g.op("JLT next1")
		}
		reduce(v, masked)
		for j := range v {
			g.op("VDIVPD %s, %s, %s", g.reg(9), g.reg(j), g.reg(j))
			g.storeWide(j, fmt.Sprintf("%d(DI)", j*lanes*g.width), masked)
		}
		g.op("ADDQ $%d, SI", v*lanes*g.width)
		g.op("ADDQ $%d, DI", v*lanes*g.width)
		g.op("ADDQ $%d, R8", v*lanes*g.width)
		g.op("SUBQ $%d, CX", v*lanes)
		g.op("JMP next%d", v)
	}
	g.label("end")
	g.op("SUBQ R8, SI")
	g.op("SUBQ R8, DI")
}

// addWide emits the adding of register j of the channels at a place to a sum.
func (g *generator) addWide(sum, j int, at string, masked bool) {
	g.loadWide(fmt.Sprintf("%d(%s)", j*g.bytes()/8*g.width, at), masked, 8)
	g.op("VADDPD %s, %s, %s", g.reg(8), g.reg(sum), g.reg(sum))
}

// lastPlane emits the means of planes in four sums each. Sum k of register j of v registers of
// channels is register k*v+j. AX walks DX positions, which BX counts down.
func (g *generator) lastPlane() {
	fmt.Fprintf(g, "\n// func lastPlane%s(y, x *float%d, channels, positions, step int)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·lastPlane%s(SB), NOSPLIT, $0-40\n", g.name)
	g.op("MOVQ y+0(FP), DI")
	g.op("MOVQ x+8(FP), SI")
	g.op("MOVQ channels+16(FP), CX")
	g.op("MOVQ positions+24(FP), DX")
	g.op("MOVQ step+32(FP), R11")
	g.op("SHLQ $%d, R11", g.shift())
	g.op("CVTSQ2SD DX, X9")
	g.op("VBROADCASTSD X9, %s", g.reg(9))
	g.wideChannels(2, func(v int, masked bool) {
		for i := range 4 * v {
			g.zero(g.reg(i))
		}
		g.op("MOVQ SI, AX")
		for _, together := range []int{4, 1} {
			g.op("MOVQ DX, BX")
			if together == 4 {
				g.op("SHRQ $2, BX")
			} else {
				g.op("ANDQ $3, BX")
			}
			g.op("JZ after%dx%d", v, together)
			g.label("sum%dx%d", v, together)
			for k := range together {
				for j := range v {
					g.addWide(k*v+j, j, "AX", masked)
				}
				g.op("ADDQ R11, AX")
			}
			g.op("DECQ BX")
			g.op("JNZ sum%dx%d", v, together)
			g.label("after%dx%d", v, together)
		}
		for _, pair := range [][2]int{{0, 1}, {2, 3}, {0, 2}} {
			for j := range v {
				a, b := g.reg(pair[0]*v+j), g.reg(pair[1]*v+j)
				g.op("VADDPD %s, %s, %s", b, a, a)
			}
		}
	})
	g.done()
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

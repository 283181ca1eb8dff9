package main

import "fmt"

// The loops of poolings go over blocks of positions as those of depthwise convolutions
// do. A maximum and whether all elements were numbers are apart until the end:
// the instruction for the larger of two gives the second if one is NaN.

// maxRows emits the largest of taps. R10 walks these, which BX counts down, and AX is
// where the tap meets the block.
func (g *generator) maxRows() {
	const regs = 4
	fmt.Fprintf(g, "\n// func maxRows%s(y, x *float%d, grid *Grid, offsets *int, taps int)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·maxRows%s(SB), NOSPLIT, $8-40\n", g.name)
	g.beginPlanes("R9")
	g.op("MOVQ %d(AX), R8", rowX)
	g.op("SHLQ $%d, R8", g.shift())
	g.op("LEAQ (R8)(R8*2), R12")
	steps := []string{"(AX)", "(AX)(R8*1)", "(AX)(R8*2)", "(AX)(R12*1)"}
	g.blocks("", areas(regs), 10, "R8", "R9", func(b *block) {
		g.beginMaxima(regs)
		g.op("MOVQ offsets+24(FP), R10")
		g.op("MOVQ taps+32(FP), BX")
		g.label("%staps", b.label)
		g.op("MOVQ (R10), AX")
		g.op("LEAQ (SI)(AX*%d), AX", g.width)
		for j := range b.rows {
			for v := range b.regs {
				g.load(b, fmt.Sprintf("%d%s", v*g.bytes(), steps[j]), g.reg(8))
				g.joinMaxima(j*b.regs + v)
			}
		}
		g.op("ADDQ $8, R10")
		g.op("DECQ BX")
		g.op("JNZ %staps", b.label)
		g.endMaxima(b)
	}, func() {})
	g.done()
}

// beginMaxima emits what maxima begin with. Those so far are registers from 0 on; lanes
// without NaN are mask registers from 2 on with AVX-512, and registers from 4 on otherwise.
func (g *generator) beginMaxima(regs int) {
	g.op("%s lowest%d<>(SB), %s", g.broadcast(), 8*g.width, g.reg(0))
	for i := 1; i < regs; i++ {
		g.op("VMOVAPS %s, %s", g.reg(0), g.reg(i))
	}
	for i := range regs {
		if g.avx512 {
			g.op("KXNORW K%d, K%d, K%d", 2+i, 2+i, 2+i)
		} else {
			g.op("VPCMPEQD Y%d, Y%d, Y%d", 4+i, 4+i, 4+i)
		}
	}
}

// joinMaxima emits the joining of register 8 to maximum i.
func (g *generator) joinMaxima(i int) {
	if g.avx512 {
		g.op("%s $7, Z8, Z8, K%d, K%d", g.ins("VCMP"), 2+i, 2+i)
	} else {
		g.op("%s $7, Y8, Y8, Y9", g.ins("VCMP"))
		g.op("VANDPS Y9, Y%d, Y%d", 4+i, 4+i)
	}
	g.op("%s %s, %s, %s", g.ins("VMAX"), g.reg(i), g.reg(8), g.reg(i))
}

// endMaxima emits the end of the maxima of a block.
func (g *generator) endMaxima(b *block) {
	g.op("%s nan%d<>(SB), %s", g.broadcast(), 8*g.width, g.reg(8))
	for i := range b.rows * b.regs {
		if g.avx512 {
			g.op("KNOTW K%d, K%d", 2+i, 2+i)
			g.op("%s Z8, K%d, Z%d", g.ins("VMOVA"), 2+i, i)
		} else {
			g.op("%s Y%d, Y%d, Y8, Y%d", g.ins("VBLENDV"), 4+i, i, i)
		}
	}
}

// extremes emits the values that maxima begin with, and NaN.
func (g *generator) extremes() {
	g.raw("\nDATA lowest32<>+0(SB)/4, $0xff800000\nGLOBL lowest32<>(SB), RODATA|NOPTR, $4\n")
	g.raw("\nDATA lowest64<>+0(SB)/8, $0xfff0000000000000\nGLOBL lowest64<>(SB), RODATA|NOPTR, $8\n")
	g.raw("\nDATA nan32<>+0(SB)/4, $0x7fc00000\nGLOBL nan32<>(SB), RODATA|NOPTR, $4\n")
	g.raw("\nDATA nan64<>+0(SB)/8, $0x7ff8000000000001\nGLOBL nan64<>(SB), RODATA|NOPTR, $8\n")
}

// meanRows emits the means of taps, summed in float64. R13 walks the lines, of which
// there is a number for each row, and R9 the counts of its columns, which CX counts
// down; R8 is how far into the row DI and SI are, in bytes. R10 walks the taps, which
// BX counts down. A register of float32 is half as wide as those of the sums.
func (g *generator) meanRows() {
	const block = 4
	lanes := g.bytes() / 8
	fmt.Fprintf(g, "\n// func meanRows%s(y, x *float%d, grid *Grid, offsets *int, taps int, counts, lines *float64)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·meanRows%s(SB), NOSPLIT, $8-56\n", g.name)
	g.beginPlanes("R11")
	g.op("MOVQ %d(AX), R12", rowX)
	g.op("SHLQ $%d, R12", g.shift())
	g.op("MOVQ lines+48(FP), R13")
	g.label("row")
	g.op("VBROADCASTSD (R13), %s", g.reg(9))
	g.op("ADDQ $8, R13")
	g.op("MOVQ grid+16(FP), AX")
	g.op("MOVQ %d(AX), CX", cols)
	g.op("MOVQ counts+40(FP), R9")
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
		for j := range v {
			g.zero(g.reg(j))
		}
		g.op("MOVQ offsets+24(FP), R10")
		g.op("MOVQ taps+32(FP), BX")
		g.label("taps%d", v)
		g.op("MOVQ (R10), AX")
		g.op("LEAQ (SI)(AX*%d), AX", g.width)
		for j := range v {
			g.loadWide(fmt.Sprintf("%d(AX)", j*lanes*g.width), masked, 8)
			g.op("VADDPD %s, %s, %s", g.reg(8), g.reg(j), g.reg(j))
		}
		g.op("ADDQ $8, R10")
		g.op("DECQ BX")
		g.op("JNZ taps%d", v)
		for j := range v {
			at, x := fmt.Sprintf("%d(R9)", j*g.bytes()), g.reg(j)
			switch {
			case !masked:
				g.op("VMOVUPD %s, %s", at, g.reg(8))
			case g.avx512:
				g.op("VMOVUPD.Z %s, K1, Z8", at)
			default:
				g.op("VMASKMOVPD %s, Y10, Y8", at)
			}
			g.op("VMULPD %s, %s, %s", g.reg(8), g.reg(9), g.reg(8))
			g.op("VDIVPD %s, %s, %s", g.reg(8), x, x)
			g.storeWide(j, fmt.Sprintf("%d(DI)", j*lanes*g.width), masked)
		}
		g.op("ADDQ $%d, SI", v*lanes*g.width)
		g.op("ADDQ $%d, DI", v*lanes*g.width)
		g.op("ADDQ $%d, R8", v*lanes*g.width)
		g.op("ADDQ $%d, R9", v*g.bytes())
		g.op("SUBQ $%d, CX", v*lanes)
		g.op("JMP next%d", v)
	}
	g.label("end")
	g.op("SUBQ R8, SI")
	g.op("SUBQ R8, DI")
	g.op("ADDQ R12, SI")
	g.op("ADDQ R11, DI")
	g.op("DECQ DX")
	g.op("JNZ row")
	g.endPlanes(func() {})
	g.done()
}

// maskWide emits the masks of the first CX lanes of float64, or of all: K1 with AVX-512, and
// otherwise Y10, and X11 for as many of float32. It spoils AX and BX.
func (g *generator) maskWide() {
	lanes := g.bytes() / 8
	if g.avx512 {
		g.op("MOVL $%d, AX", 1<<lanes-1)
		g.op("BZHIL CX, AX, AX")
		g.op("KMOVW AX, K1")
		return
	}
	g.op("MOVQ CX, BX")
	g.op("MOVL $%d, AX", lanes)
	g.op("CMPQ BX, AX")
	g.op("CMOVQGT AX, BX")
	g.op("NEGQ BX")
	g.op("LEAQ masks<>+32(SB), AX")
	g.op("VMOVUPS (AX)(BX*8), Y10")
	g.op("VMOVUPS (AX)(BX*4), X11")
}

// loadWide emits the loading of elements as float64.
func (g *generator) loadWide(at string, masked bool, to int) {
	name := map[int]string{4: "VCVTPS2PD", 8: "VMOVUPD"}[g.width]
	switch {
	case !masked:
		g.op("%s %s, %s", name, at, g.reg(to))
	case g.avx512:
		g.op("%s.Z %s, K1, Z%d", name, at, to)
	case g.width == 4:
		g.op("VMASKMOVPS %s, X11, X%d", at, to)
		g.op("VCVTPS2PD X%d, Y%d", to, to)
	default:
		g.op("VMASKMOVPD %s, Y10, Y%d", at, to)
	}
}

// storeWide emits the storing of a register of float64 as elements, which spoils it.
func (g *generator) storeWide(from int, at string, masked bool) {
	x, half := g.reg(from), fmt.Sprintf("%c%d", map[bool]byte{true: 'Y', false: 'X'}[g.avx512], from)
	if g.width == 4 {
		if g.avx512 {
			g.op("VCVTPD2PS %s, %s", x, half)
		} else {
			g.op("VCVTPD2PSY %s, %s", x, half)
		}
	}
	switch {
	case !masked && g.width == 4:
		g.op("VMOVUPS %s, %s", half, at)
	case !masked:
		g.op("VMOVUPD %s, %s", x, at)
	case g.avx512 && g.width == 4:
		g.op("VMOVUPS %s, K1, %s", half, at)
	case g.avx512:
		g.op("VMOVUPD %s, K1, %s", x, at)
	case g.width == 4:
		g.op("VMASKMOVPS %s, X11, %s", half, at)
	default:
		g.op("VMASKMOVPD %s, Y10, %s", x, at)
	}
}

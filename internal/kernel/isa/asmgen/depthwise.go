package main

import (
	"fmt"

	"github.com/berth-go/berth/internal/kernel/isa/numbers"
)

// The loops of depthwise convolutions keep the sums of a block of positions in
// registers: a few rows by as many registers of columns. What is left of a row
// after the last whole block is done a register at a time under a mask.

// blockRegs is how many registers of positions a block has at most.
const blockRegs = 8

// An area is the rows of a block, and the registers of each.
type area struct{ rows, regs int }

// areas returns those of blocks of so many registers, the highest first.
func areas(regs int) (list []area) {
	for rows := numbers.TapRows; rows > 0; rows /= 2 {
		list = append(list, area{rows, regs / rows})
	}
	return list
}

// tapRows emits the sum of any taps, each of which is broadcast once for all
// positions of a block. R10 and R11 walk the taps, which BX counts down; AX is
// where the tap meets the block.
func (g *generator) tapRows() {
	fmt.Fprintf(g, "\n// func tapRows%s(y, x *float%d, grid *Grid, offsets *int, weights *float%[2]d, taps, planeW int, bias *float%[2]d, add bool)\n",
		g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·tapRows%s(SB), NOSPLIT, $8-65\n", g.name)
	g.beginPlanes("R9")
	g.op("MOVQ %d(AX), R8", rowX)
	g.op("SHLQ $%d, R8", g.shift())
	g.op("LEAQ (R8)(R8*2), R12")
	steps := []string{"(AX)", "(AX)(R8*1)", "(AX)(R8*2)", "(AX)(R12*1)"}
	g.blocks("", areas(blockRegs), 10, "R8", "R9", func(b *block) {
		g.clearSums(b)
		g.op("MOVQ offsets+24(FP), R10")
		g.op("MOVQ weights+32(FP), R11")
		g.op("MOVQ taps+40(FP), BX")
		g.label("%staps", b.label)
		g.op("MOVQ (R10), AX")
		g.op("LEAQ (SI)(AX*%d), AX", g.width)
		g.op("%s (R11), %s", g.broadcast(), g.reg(8))
		for j := range b.rows {
			for v := range b.regs {
				at := fmt.Sprintf("%d%s", v*g.bytes(), steps[j])
				switch {
				case !b.masked:
					g.op("%s %s, %s, %s", g.ins("VFMADD231"), at, g.reg(8), b.sum(j, v))
				case g.avx512:
					g.op("%s %s, %s, K1, %s", g.ins("VFMADD231"), at, g.reg(8), b.sum(j, v))
				default:
					g.load(b, at, g.reg(9))
					g.op("%s %s, %s, %s", g.ins("VFMADD231"), g.reg(9), g.reg(8), b.sum(j, v))
				}
			}
		}
		g.op("ADDQ $8, R10")
		g.op("ADDQ $%d, R11", g.width)
		g.op("DECQ BX")
		g.op("JNZ %staps", b.label)
		g.op("MOVBLZX add+64(FP), BX")
		g.op("TESTL BX, BX")
		g.op("JZ %sbias", b.label)
		g.eachSum(b, "R9", func(sum, at string) {
			g.load(b, at, g.reg(8))
			g.op("%s %s, %s, %s", g.ins("VADD"), sum, g.reg(8), sum)
		})
		g.label("%sbias", b.label)
		g.addBias(b, g.reg(8))
	}, func() {
		g.op("MOVQ planeW+48(FP), AX")
		g.op("SHLQ $%d, AX", g.shift())
		g.nextWeights()
	})
	g.done()
}

// tap3x3 emits the sum of 3x3 taps, whose weights stay in registers, for one step
// from row to row of positions after the other. Each row of x is loaded once for
// all rows of a block that it is a tap of, whole registers always, as masks would take
// the time of multiply-adds. AX walks these rows, and R8, R9 and R10 are the offsets of
// the three columns.
func (g *generator) tap3x3() {
	fmt.Fprintf(g, "\n// func tap3x3%s(y, x *float%d, grid *Grid, offsets *int, weights *float%[2]d, pitch, step int, bias *float%[2]d)\n",
		g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·tap3x3%s(SB), NOSPLIT, $8-64\n", g.name)
	g.beginPlanes("R12")
	g.op("MOVQ pitch+40(FP), R11")
	g.op("SHLQ $%d, R11", g.shift())
	g.op("MOVQ offsets+24(FP), AX")
	for w := range 3 {
		g.op("MOVQ %d(AX), R%d", 8*w, 8+w)
		g.op("SHLQ $%d, R%d", g.shift(), 8+w)
	}
	g.op("MOVQ weights+32(FP), AX")
	weights, regs := 7, numbers.TapRows // the weights are the last registers
	if g.avx512 {
		weights, regs = 23, blockRegs
	}
	for t := range 9 {
		g.op("%s %d(AX), %s", g.broadcast(), t*g.width, g.reg(weights+t))
	}
	g.op("MOVQ step+48(FP), AX")
	g.op("CMPQ AX, $2")
	g.op("JEQ s2")
	for stride := 1; stride <= 2; stride++ {
		prefix, step := fmt.Sprintf("s%d", stride), "R11"
		g.label("%s", prefix)
		if stride == 2 {
			step = "BX"
			g.op("LEAQ (R11)(R11*1), BX")
		}
		g.blocks(prefix, areas(regs), regs+2, step, "R12", func(b *block) {
			g.clearSums(b)
			g.op("MOVQ SI, AX")
			loads := 0
			for line := range (b.rows-1)*stride + 3 {
				if line > 0 {
					g.op("ADDQ R11, AX")
				}
				for w := range 3 {
					for v := range b.regs {
						x := g.reg(regs + loads%2)
						loads++
						g.op("%s %d(AX)(R%d*1), %s", g.ins("VMOVU"), v*g.bytes(), 8+w, x)
						for j := range b.rows {
							if h := line - j*stride; 0 <= h && h < 3 {
								g.op("%s %s, %s, %s", g.ins("VFMADD231"), x, g.reg(weights+3*h+w), b.sum(j, v))
							}
						}
					}
				}
			}
			g.addBias(b, g.reg(regs))
		}, func() {
			g.op("MOVL $%d, AX", 9*g.width)
			g.nextWeights()
		})
	}
	g.done()
}

// A block is some rows of positions by some registers of columns.
type block struct {
	*generator
	label      string // begins the labels of its code
	rows, regs int
	masked     bool   // the one register of columns is not full
	mask       string // what has the mask with AVX2
}

// sum returns the register of the sums of a row's v-th register of columns.
func (b *block) sum(row, v int) string { return b.reg(row*b.regs + v) }

// load emits the loading of a register of a block.
func (g *generator) load(b *block, at, reg string) {
	switch {
	case !b.masked:
		g.op("%s %s, %s", g.ins("VMOVU"), at, reg)
	case g.avx512:
		g.op("%s.Z %s, K1, %s", g.ins("VMOVU"), at, reg)
	default:
		g.op("%s %s, %s, %s", g.ins("VMASKMOV"), at, b.mask, reg)
	}
}

// Where the fields of isa.Grid are.
const (
	planes = 8 * iota
	rows
	cols
	planeY
	rowY
	planeX
	rowX
)

// beginPlanes emits the beginning of a loop over planes, the rest of which is
// endPlanes: what is before the loops over a plane, which begins at y+0(FP) and
// x+8(FP). DX gets its rows, and ldy the bytes from one in y to the next; AX is the
// grid.
func (g *generator) beginPlanes(ldy string) {
	g.op("MOVQ grid+16(FP), AX")
	g.op("MOVQ %d(AX), CX", planes)
	g.op("MOVQ CX, left-8(SP)")
	g.label("plane")
	g.op("MOVQ grid+16(FP), AX")
	g.op("MOVQ y+0(FP), DI")
	g.op("MOVQ x+8(FP), SI")
	g.op("MOVQ %d(AX), DX", rows)
	g.op("MOVQ %d(AX), %s", rowY, ldy)
	g.op("SHLQ $%d, %s", g.shift(), ldy)
}

// done emits the end of a function.
func (g *generator) done() {
	g.label("done")
	g.op("VZEROUPPER")
	g.op("RET")
}

// endPlanes emits the end of a plane; next emits what else the next one needs.
func (g *generator) endPlanes(next func()) {
	g.op("DECQ left-8(SP)")
	g.op("JZ done")
	g.op("MOVQ grid+16(FP), CX")
	for i, at := range []string{"y+0(FP)", "x+8(FP)"} {
		g.op("MOVQ %d(CX), AX", []int{planeY, planeX}[i])
		g.op("SHLQ $%d, AX", g.shift())
		g.op("ADDQ AX, %s", at)
	}
	next()
	g.op("JMP plane")
}

// nextWeights emits the step to the weights of the next plane, AX bytes on, and to its
// bias where there is one.
func (g *generator) nextWeights() {
	g.op("ADDQ AX, weights+32(FP)")
	g.op("MOVQ bias+56(FP), AX")
	g.op("TESTQ AX, AX")
	g.op("JZ plane")
	g.op("ADDQ $%d, AX", g.width)
	g.op("MOVQ AX, bias+56(FP)")
}

// clearSums emits the clearing of the sums of a block.
func (g *generator) clearSums(b *block) {
	for i := range b.rows * b.regs {
		g.zero(g.reg(i))
	}
}

// addBias emits the adding of what bias+56(FP) points to, unless that is nil, to the
// sums of a block. It spoils AX and register x.
func (g *generator) addBias(b *block, x string) {
	g.op("MOVQ bias+56(FP), AX")
	g.op("TESTQ AX, AX")
	g.op("JZ %sstore", b.label)
	g.op("%s (AX), %s", g.broadcast(), x)
	for i := range b.rows * b.regs {
		g.op("%s %s, %s, %s", g.ins("VADD"), g.reg(i), x, g.reg(i))
	}
	g.label("%sstore", b.label)
}

// eachSum calls emit for each register of sums of a block with where its results
// belong. It spoils AX.
func (g *generator) eachSum(b *block, ldy string, emit func(sum, at string)) {
	g.op("MOVQ DI, AX")
	for j := range b.rows {
		if j > 0 {
			g.op("ADDQ %s, AX", ldy)
		}
		for v := range b.regs {
			emit(b.sum(j, v), fmt.Sprintf("%d(AX)", v*g.bytes()))
		}
	}
}

// blocks emits the loops over DX rows of positions, from one of which to the next
// are step bytes of x at SI and ldy bytes of y at DI, and over their columns, and then
// [generator.endPlanes]. Reduce emits what computes a block, which has one of the areas, and with AVX2 the register mask is that. CX counts the columns down, and
// R13 is how far into the rows DI and SI are, in bytes.
func (g *generator) blocks(prefix string, areas []area, mask int, step, ldy string, reduce func(b *block), nextPlane func()) {
	g.label("%snext", prefix)
	for _, a := range areas {
		g.op("CMPQ DX, $%d", a.rows)
		g.op("JGE %srows%d", prefix, a.rows)
	}
	g.endPlanes(nextPlane)
	for _, a := range areas {
		rows := a.rows
		g.label("%srows%d", prefix, rows)
		g.op("MOVQ grid+16(FP), CX")
		g.op("MOVQ %d(CX), CX", cols)
		g.op("XORL R13, R13")
		for _, masked := range []bool{false, true} {
			b := &block{g, fmt.Sprintf("%srows%dwhole", prefix, rows), rows, a.regs, masked, g.reg(mask)}
			if masked {
				b.label, b.regs = fmt.Sprintf("%srows%drest", prefix, rows), 1
			}
			g.label("%s", b.label)
			if masked {
				g.op("TESTQ CX, CX")
				g.op("JLE %srows%dend", prefix, rows)
				g.maskOfCX(b)
			} else {
				g.op("CMPQ CX, $%d", b.regs*g.lanes())
				g.op("JLT %srows%drest", prefix, rows)
			}
			reduce(b)
			g.eachSum(b, ldy, func(sum, at string) {
				switch {
				case !masked:
					g.op("%s %s, %s", g.ins("VMOVU"), sum, at)
				case g.avx512:
					g.op("%s %s, K1, %s", g.ins("VMOVU"), sum, at)
				default:
					g.op("%s %s, %s, %s", g.ins("VMASKMOV"), sum, b.mask, at)
				}
			})
			g.op("ADDQ $%d, SI", b.regs*g.bytes())
			g.op("ADDQ $%d, DI", b.regs*g.bytes())
			g.op("ADDQ $%d, R13", b.regs*g.bytes())
			g.op("SUBQ $%d, CX", b.regs*g.lanes())
			g.op("JMP %s", b.label)
		}
		g.label("%srows%dend", prefix, rows)
		g.op("SUBQ R13, SI")
		g.op("SUBQ R13, DI")
		for range rows {
			g.op("ADDQ %s, SI", step)
			g.op("ADDQ %s, DI", ldy)
		}
		g.op("SUBQ $%d, DX", rows)
		g.op("JMP %snext", prefix)
	}
}

// maskOfCX sets the mask of a block to the first CX lanes, or to all. It spoils AX.
func (g *generator) maskOfCX(b *block) {
	if g.avx512 {
		g.op("MOVL $%d, AX", 1<<g.lanes()-1)
		g.op("BZHIL CX, AX, AX") // of which the bits from CX on are cleared; CX is below 256
		g.op("KMOVW AX, K1")
		return
	}
	g.op("LEAQ masks<>+0(SB), AX")
	g.op("CMPQ CX, $%d", g.lanes())
	g.op("JGE %smask", b.label)
	g.op("LEAQ masks<>+32(SB), AX")
	g.op("NEGQ CX")
	g.op("LEAQ (AX)(CX*%d), AX", g.width)
	g.op("NEGQ CX")
	g.label("%smask", b.label)
	g.op("VMOVUPS (AX), %s", b.mask)
}

// split emits the sorting of rows into their even and their odd elements.
func (g *generator) split() {
	fmt.Fprintf(g, "\n// func split%s(even, odd, x *float%d, grid *Grid)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·split%s(SB), NOSPLIT, $8-32\n", g.name)
	g.op("MOVQ grid+24(FP), AX")
	g.op("MOVQ %d(AX), BX", cols)
	g.op("MOVQ %d(AX), R9", rowY)
	g.op("SHLQ $%d, R9", g.shift())
	g.op("MOVQ %d(AX), R11", rowX)
	g.op("SHLQ $%d, R11", g.shift())
	g.op("MOVQ %d(AX), CX", planes)
	g.op("MOVQ CX, left-8(SP)")
	// The masks of what is left after whole registers: 1 and 2 to load, 3 of the
	// even elements, 5 of the odd ones.
	g.op("MOVQ BX, CX")
	g.op("ANDQ $%d, CX", 2*g.lanes()-1)
	g.masksOfCX(1)
	g.op("INCQ CX")
	g.op("SHRQ $1, CX")
	g.masksOfCX(3)
	g.op("MOVQ BX, CX")
	g.op("ANDQ $%d, CX", 2*g.lanes()-1)
	g.op("SHRQ $1, CX")
	g.masksOfCX(5)
	if g.avx512 {
		g.op("VMOVDQU64 evens%d<>(SB), Z10", 8*g.width)
		g.op("VMOVDQU64 odds%d<>(SB), Z11", 8*g.width)
	}
	g.label("plane")
	g.op("MOVQ grid+24(FP), AX")
	g.op("MOVQ even+0(FP), DI")
	g.op("MOVQ odd+8(FP), R8")
	g.op("MOVQ x+16(FP), SI")
	g.op("MOVQ %d(AX), DX", rows)
	g.label("row")
	g.op("MOVQ BX, CX")
	g.op("XORL R10, R10") // into the destinations, in bytes
	g.op("XORL R13, R13") // into the source
	g.label("whole")
	g.op("CMPQ CX, $%d", 2*g.lanes())
	g.op("JLT rest")
	g.op("%s (SI)(R13*1), %s", g.ins("VMOVU"), g.reg(7))
	g.op("%s %d(SI)(R13*1), %s", g.ins("VMOVU"), g.bytes(), g.reg(8))
	g.evensAndOdds()
	g.op("%s %s, (DI)(R10*1)", g.ins("VMOVU"), g.reg(9))
	g.op("%s %s, (R8)(R10*1)", g.ins("VMOVU"), g.reg(7))
	g.op("ADDQ $%d, R10", g.bytes())
	g.op("ADDQ $%d, R13", 2*g.bytes())
	g.op("SUBQ $%d, CX", 2*g.lanes())
	g.op("JMP whole")
	g.label("rest")
	g.op("TESTQ CX, CX")
	g.op("JZ end")
	if g.avx512 {
		g.op("%s.Z (SI)(R13*1), K1, Z7", g.ins("VMOVU"))
		g.op("%s.Z %d(SI)(R13*1), K2, Z8", g.ins("VMOVU"), g.bytes())
		g.evensAndOdds()
		g.op("%s Z9, K3, (DI)(R10*1)", g.ins("VMOVU"))
		g.op("%s Z7, K5, (R8)(R10*1)", g.ins("VMOVU"))
	} else {
		g.op("%s (SI)(R13*1), Y1, Y7", g.ins("VMASKMOV"))
		g.op("%s %d(SI)(R13*1), Y2, Y8", g.ins("VMASKMOV"), g.bytes())
		g.evensAndOdds()
		g.op("%s Y9, Y3, (DI)(R10*1)", g.ins("VMASKMOV"))
		g.op("%s Y7, Y5, (R8)(R10*1)", g.ins("VMASKMOV"))
	}
	g.label("end")
	g.op("ADDQ R11, SI")
	g.op("ADDQ R9, DI")
	g.op("ADDQ R9, R8")
	g.op("DECQ DX")
	g.op("JNZ row")
	g.op("DECQ left-8(SP)")
	g.op("JZ done")
	g.op("MOVQ grid+24(FP), CX")
	for i, at := range []string{"even+0(FP)", "odd+8(FP)", "x+16(FP)"} {
		g.op("MOVQ %d(CX), AX", []int{planeY, planeY, planeX}[i])
		g.op("SHLQ $%d, AX", g.shift())
		g.op("ADDQ AX, %s", at)
	}
	g.op("JMP plane")
	g.done()
}

// evensAndOdds emits the sorting of registers 7 and 8 into the even elements, in 9,
// and the odd ones, in 7.
func (g *generator) evensAndOdds() {
	switch {
	case g.avx512:
		g.op("VMOVAPD Z7, Z9")
		g.op("%s Z8, Z10, Z9", g.ins("VPERMT2"))
		g.op("%s Z8, Z11, Z7", g.ins("VPERMT2"))
		return
	case g.width == 4:
		g.op("VSHUFPS $0x88, Y8, Y7, Y9")
		g.op("VSHUFPS $0xdd, Y8, Y7, Y7")
	default:
		g.op("VUNPCKLPD Y8, Y7, Y9")
		g.op("VUNPCKHPD Y8, Y7, Y7")
	}
	// Quarters are in the order of the halves of the registers.
	g.op("VPERMPD $0xd8, Y9, Y9")
	g.op("VPERMPD $0xd8, Y7, Y7")
}

// indices emits what AVX-512 picks even and odd elements with.
func (g *generator) indices() {
	for _, width := range []int{4, 8} {
		for odd, name := range []string{"evens", "odds"} {
			g.raw("\n")
			for i := range 64 / width {
				fmt.Fprintf(g, "DATA %s%d<>+%d(SB)/%d, $%d\n", name, 8*width, i*width, width, 2*i+odd)
			}
			fmt.Fprintf(g, "GLOBL %s%d<>(SB), RODATA|NOPTR, $64\n", name, 8*width)
		}
	}
}

// copyRows emits the copying of rows of elements.
func (g *generator) copyRows() {
	fmt.Fprintf(g, "\n// func copyRows%s(y, x *float%d, grid *Grid)\n", g.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·copyRows%s(SB), NOSPLIT, $8-24\n", g.name)
	g.op("MOVQ grid+16(FP), AX")
	g.op("MOVQ %d(AX), BX", cols)
	g.op("MOVQ BX, CX")
	g.op("ANDQ $%d, CX", g.lanes()-1)
	g.masksOfCX(1)
	g.op("MOVQ CX, R11") // elements behind whole registers
	g.op("SHLQ $%d, BX", g.shift())
	g.op("ANDQ $-%d, BX", g.bytes())
	g.beginPlanes("R8")
	g.op("MOVQ %d(AX), R9", rowX)
	g.op("SHLQ $%d, R9", g.shift())
	g.label("row")
	g.op("XORL R13, R13")
	g.op("JMP more")
	g.label("whole")
	g.op("%s (SI)(R13*1), %s", g.ins("VMOVU"), g.reg(7))
	g.op("%s %s, (DI)(R13*1)", g.ins("VMOVU"), g.reg(7))
	g.op("ADDQ $%d, R13", g.bytes())
	g.label("more")
	g.op("CMPQ R13, BX")
	g.op("JLT whole")
	g.op("TESTQ R11, R11")
	g.op("JZ end")
	if g.avx512 {
		g.op("%s.Z (SI)(R13*1), K1, Z7", g.ins("VMOVU"))
		g.op("%s Z7, K1, (DI)(R13*1)", g.ins("VMOVU"))
	} else {
		g.op("%s (SI)(R13*1), Y1, Y7", g.ins("VMASKMOV"))
		g.op("%s Y7, Y1, (DI)(R13*1)", g.ins("VMASKMOV"))
	}
	g.label("end")
	g.op("ADDQ R9, SI")
	g.op("ADDQ R8, DI")
	g.op("DECQ DX")
	g.op("JNZ row")
	g.endPlanes(func() {})
	g.done()
}

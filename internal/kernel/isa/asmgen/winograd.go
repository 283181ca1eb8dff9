package main

import (
	"fmt"
	"math"
)

// The transforms of isa.Winograd. A line of 6 lies in registers 0 to 5 and its
// loadConstants in 9 to 14, each with as many lanes as there are lines; registers 6 to 8
// are for what lies between.

// The points of isa.Winograd.
const (
	winogradA = 5.0 / 8
	winogradB = 3.0 / 2
)

// winograd emits the loops for one set.
func (g *generator) winograd() {
	g.winogradInRows()
	g.winogradInCols()
	g.winogradOutRows()
	g.winogradOutCols()
}

// winogradConstants emits the constants of both transforms, in the order of their registers.
func (g *generator) winogradConstants() {
	const a, b = winogradA, winogradB
	for _, table := range []struct {
		name   string
		values []float32
	}{
		{"winogradIn", []float32{a, b, a * a, b * b, a*a + b*b, a * a * b * b}},
		{"winogradOut", []float32{a, b, a * a, b * b, a * a * a, b * b * b}},
	} {
		g.words(table.name, len(table.values), func(i int) uint32 { return math.Float32bits(table.values[i]) })
	}
}

// winogradLanes emits, for AVX-512, the lanes that gather and lay out columns.
func (g *generator) winogradLanes() {
	// Of 32 lanes, the 8 of each of two columns out of 4.
	for c := 0; c < 4; c += 2 {
		g.words(fmt.Sprintf("columns%d%d", c, c+1), 16, func(i int) uint32 { return uint32(i%8*4 + c + i/8) })
	}
	// Of two registers, the lanes of either half in turn; then pairs of lanes.
	for half := range 2 {
		g.words(fmt.Sprintf("lanes%d", half), 16, func(i int) uint32 { return uint32(i%2*16 + half*8 + i/2) })
	}
	for half := range 2 {
		g.words(fmt.Sprintf("pairs%d", half), 16, func(i int) uint32 { return uint32(i/2%2*16 + half*8 + i/4*2 + i%2) })
	}
}

// words emits a table of 32-bit numbers.
func (g *generator) words(name string, n int, value func(i int) uint32) {
	g.raw("\n")
	for i := range n {
		fmt.Fprintf(g, "DATA %s<>+%d(SB)/4, $%#x\n", name, 4*i, value(i))
	}
	fmt.Fprintf(g, "GLOBL %s<>(SB), RODATA|NOPTR, $%d\n", name, 4*n)
}

// loadConstants loads a table of [generator.winogradConstants] into registers 9 to 14.
func (g *generator) loadConstants(table string) {
	for i := range 6 {
		g.op("VBROADCASTSS %s<>+%d(SB), %s", table, 4*i, g.reg(9+i))
	}
}

// vectors emits an instruction with registers as operands, the result last.
func (g *generator) vectors(ins string, regs ...int) {
	if g.neon {
		n := len(regs)
		g.word(neonVectors[ins], true, regs[n-1], regs[n-2], regs[0])
		return
	}
	text := ins
	for i, r := range regs {
		text += map[bool]string{true: " ", false: ", "}[i == 0] + g.reg(r)
	}
	g.op("%s", text)
}

// input emits the transform of the line in registers 0 to 5. Store takes what is in a
// register as element i of the result.
func (g *generator) input(store func(i, reg int)) {
	const a, b, aa, bb, s, p = 9, 10, 11, 12, 13, 14
	g.vectors("VMOVAPS", 4, 6)
	g.vectors("VFNMADD231PS", s, 2, 6)
	g.vectors("VFMADD231PS", p, 0, 6)
	store(0, 6)
	g.vectors("VFNMADD231PS", s, 3, 5)
	g.vectors("VFMADD231PS", p, 1, 5)
	store(5, 5)
	g.vectors("VMOVAPS", 4, 6)
	g.vectors("VMOVAPS", 3, 7)
	g.vectors("VFNMADD231PS", bb, 2, 6)
	g.vectors("VFNMADD231PS", bb, 1, 7)
	g.vectors("VFNMADD231PS", aa, 2, 4)
	g.vectors("VFNMADD231PS", aa, 1, 3)
	g.vectors("VMOVAPS", 6, 8)
	g.vectors("VFMADD231PS", a, 7, 8)
	store(1, 8)
	g.vectors("VFNMADD231PS", a, 7, 6)
	store(2, 6)
	g.vectors("VMOVAPS", 4, 0)
	g.vectors("VFMADD231PS", b, 3, 0)
	store(3, 0)
	g.vectors("VFNMADD231PS", b, 3, 4)
	store(4, 4)
}

// outputs are the registers that output leaves the elements of its result in.
var outputs = [4]int{0, 4, 2, 5}

// output emits the transform of the line in registers 0 to 5.
func (g *generator) output() {
	const a, b, aa, bb, aaa, bbb = 9, 10, 11, 12, 13, 14
	g.vectors("VADDPS", 2, 1, 6) // e
	g.vectors("VSUBPS", 2, 1, 1) // g
	g.vectors("VADDPS", 4, 3, 2) // f
	g.vectors("VSUBPS", 4, 3, 3) // h
	g.vectors("VADDPS", 6, 0, 0)
	g.vectors("VADDPS", 2, 0, 0)
	g.vectors("VMULPS", b, 3, 4)
	g.vectors("VFMADD231PS", a, 1, 4)
	g.vectors("VMULPS", bb, 2, 2)
	g.vectors("VFMADD231PS", aa, 6, 2)
	g.vectors("VFMADD231PS", bbb, 3, 5)
	g.vectors("VFMADD231PS", aaa, 1, 5)
}

// lanesOfCX sets the mask of a register, K1 or Y15, to its first CX lanes, at most all.
// It spoils R10 and R12.
func (g *generator) lanesOfCX() {
	g.op("MOVL $%d, R12", g.lanes())
	g.op("CMPQ CX, R12")
	g.op("CMOVQLT CX, R12")
	g.maskOfR12(1, 15)
}

// maskOfR12 sets mask register k, or vector register y, to the first R12 lanes.
func (g *generator) maskOfR12(k, y int) {
	if g.avx512 {
		g.op("MOVL $-1, R10")
		g.op("BZHIL R12, R10, R10")
		g.op("KMOVW R10, K%d", k)
		return
	}
	g.op("NEGQ R12")
	g.op("LEAQ masks<>+32(SB), R10")
	g.op("VMOVUPS (R10)(R12*4), Y%d", y)
}

// loadMasked and storeMasked emit a masked access to memory.
func (g *generator) loadMasked(at string, k, y, reg int) {
	if g.avx512 {
		g.op("VMOVUPS.Z %s, K%d, Z%d", at, k, reg)
	} else {
		g.op("VMASKMOVPS %s, Y%d, Y%d", at, y, reg)
	}
}

func (g *generator) storeMasked(reg, k, y int, at string) {
	if g.avx512 {
		g.op("VMOVUPS Z%d, K%d, %s", reg, k, at)
	} else {
		g.op("VMASKMOVPS Y%d, Y%d, %s", reg, y, at)
	}
}

// sixth emits what has DX and BX be 3 and 5 times R9: with R9, the steps to the rows
// of a line.
func (g *generator) sixth() {
	g.op("LEAQ (R9)(R9*2), DX")
	g.op("LEAQ (R9)(R9*4), BX")
}

// lineRows are the rows of a line behind register SI.
var lineRows = [6]string{"(SI)", "(SI)(R9*1)", "(SI)(R9*2)", "(SI)(DX*1)", "(SI)(R9*4)", "(SI)(BX*1)"}

// lineLoop emits a loop over planes, and in each over n elements of some lines that lie across
// rows: body for whole registers, and once more for what is left of n, with loads and stores
// of its lanes alone. SI and DI are where the lines of a plane begin.
func (g *generator) lineLoop(body func(load func(at string, reg int), store func(reg int, at string))) {
	g.op("MOVQ n+56(FP), R12")
	g.op("ANDQ $%d, R12", g.lanes()-1)
	g.maskOfR12(1, 15)
	g.label("plane")
	g.op("MOVQ dst+0(FP), DI")
	g.op("MOVQ src+8(FP), SI")
	g.op("MOVQ n+56(FP), CX")
	g.op("SUBQ $%d, CX", g.lanes())
	g.op("JLT rest")
	g.label("loop")
	body(func(at string, reg int) { g.op("VMOVUPS %s, %s", at, g.reg(reg)) },
		func(reg int, at string) { g.op("VMOVUPS %s, %s", g.reg(reg), at) })
	g.op("ADDQ $%d, SI", g.bytes())
	g.op("ADDQ $%d, DI", g.bytes())
	g.op("SUBQ $%d, CX", g.lanes())
	g.op("JGE loop")
	g.label("rest")
	g.op("ADDQ $%d, CX", g.lanes())
	g.op("JEQ next")
	body(func(at string, reg int) { g.loadMasked(at, 1, 15, reg) },
		func(reg int, at string) { g.storeMasked(reg, 1, 15, at) })
	g.label("next")
	for i, name := range []string{"dst", "src"} {
		g.op("MOVQ %sPlane+%d(FP), R10", name, 24+8*i)
		g.op("SHLQ $2, R10")
		g.op("ADDQ R10, %s+%d(FP)", name, 8*i)
	}
	g.op("DECQ planes+16(FP)")
	g.op("JNZ plane")
	g.op("VZEROUPPER")
	g.op("RET")
}

func (g *generator) winogradInRows() {
	fmt.Fprintf(g, "\n// func winogradInRows%s(dst, src *float32, planes, dstPlane, srcPlane, dstStep, srcStep, n int)\n", g.set())
	fmt.Fprintf(g, "TEXT ·winogradInRows%s(SB), NOSPLIT, $0-64\n", g.set())
	g.op("MOVQ dstStep+40(FP), R8")
	g.op("SHLQ $2, R8")
	g.op("LEAQ (R8)(R8*2), R11")
	g.op("LEAQ (R8)(R8*4), R13")
	g.op("MOVQ srcStep+48(FP), R9")
	g.op("SHLQ $2, R9")
	g.sixth()
	g.loadConstants("winogradIn")
	to := [6]string{"(DI)", "(DI)(R8*1)", "(DI)(R8*2)", "(DI)(R11*1)", "(DI)(R8*4)", "(DI)(R13*1)"}
	g.lineLoop(func(load func(at string, reg int), store func(reg int, at string)) {
		for k, at := range lineRows {
			load(at, k)
		}
		g.input(func(i, reg int) { store(reg, to[i]) })
	})
}

func (g *generator) winogradInCols() {
	fmt.Fprintf(g, "\n// func winogradInCols%s(dst, src *float32, planes, dstPlane, dstStep, srcStep, n int)\n", g.set())
	fmt.Fprintf(g, "TEXT ·winogradInCols%s(SB), NOSPLIT, $0-56\n", g.set())
	g.op("MOVQ dstStep+32(FP), R8")
	g.op("SHLQ $2, R8")
	g.op("LEAQ (R8)(R8*2), R11")
	g.op("LEAQ (R8)(R8*4), R13")
	g.op("MOVQ srcStep+40(FP), R9")
	g.op("SHLQ $2, R9")
	g.loadConstants("winogradIn")
	if g.avx512 {
		g.op("VMOVUPS columns01<>(SB), Z16")
		g.op("VMOVUPS columns23<>(SB), Z17")
	}
	to := [6]string{"(AX)", "(AX)(R8*1)", "(AX)(R8*2)", "(AX)(R11*1)", "(AX)(R8*4)", "(AX)(R13*1)"}
	g.label("plane")
	g.op("MOVQ dst+0(FP), DI")
	g.op("MOVQ src+8(FP), SI")
	g.op("MOVQ n+48(FP), CX")
	g.label("next")
	g.lanesOfCX()
	g.op("MOVQ SI, DX")
	g.op("MOVQ DI, AX")
	g.op("MOVL $6, BX")
	g.label("row")
	g.gather()
	g.input(func(i, reg int) { g.storeMasked(reg, 1, 15, to[i]) })
	g.op("ADDQ R9, DX")
	g.op("LEAQ (AX)(R11*2), AX")
	g.op("DECQ BX")
	g.op("JNZ row")
	g.op("ADDQ $%d, SI", 4*g.bytes())
	g.op("ADDQ $%d, DI", g.bytes())
	g.op("SUBQ $%d, CX", g.lanes())
	g.op("JG next")
	g.op("LEAQ (R9)(R9*2), R10")
	g.op("ADDQ R10, R10")
	g.op("ADDQ R10, src+8(FP)")
	g.op("MOVQ dstPlane+24(FP), R10")
	g.op("SHLQ $2, R10")
	g.op("ADDQ R10, dst+0(FP)")
	g.op("DECQ planes+16(FP)")
	g.op("JNZ plane")
	g.op("VZEROUPPER")
	g.op("RET")
}

// gather loads the six elements of each tile that begins 4 elements behind the one
// before, the first at DX, into registers 0 to 5.
func (g *generator) gather() {
	if g.avx512 {
		for i := range 4 {
			g.op("VMOVUPS %d(DX), Z%d", 64*i, 18+i)
		}
		for half := range 2 {
			from := 18 + 2*half
			for pair := range 2 {
				to := 22 + 2*pair + half
				g.op("VMOVAPS Z%d, Z%d", 16+pair, to)
				g.op("VPERMI2PS Z%d, Z%d, Z%d", from+1, from, to)
			}
		}
		for i := range 4 {
			lo := 22 + i/2*2
			g.op("VSHUFF32X4 $%#x, Z%d, Z%d, Z%d", []int{0x44, 0xee}[i%2], lo+1, lo, i)
		}
		g.op("VMOVSS 256(DX), X18")
		g.op("VMOVSS 260(DX), X19")
		g.op("VALIGND $1, Z0, Z18, Z4")
		g.op("VALIGND $1, Z1, Z19, Z5")
		return
	}
	// Tiles i and i+4 in the halves of a register, 4 of these transposed. The last two
	// elements are the first two of the next tile.
	for i := range 4 {
		g.op("VMOVUPS %d(DX), X%d", 16*i, i)
		g.op("VINSERTF128 $1, %d(DX), Y%d, Y%d", 16*(i+4), i, i)
	}
	g.op("VUNPCKLPS Y1, Y0, Y4") // elements 0 and 1 of tiles 0 and 1
	g.op("VUNPCKHPS Y1, Y0, Y5") // elements 2 and 3
	g.op("VUNPCKLPS Y3, Y2, Y6")
	g.op("VUNPCKHPS Y3, Y2, Y7")
	g.op("VUNPCKLPD Y6, Y4, Y0")
	g.op("VUNPCKHPD Y6, Y4, Y1")
	g.op("VUNPCKLPD Y7, Y5, Y2")
	g.op("VUNPCKHPD Y7, Y5, Y3")
	for i := range 4 {
		g.op("VMOVUPS %d(DX), X%d", 16*(i+1), 4+i)
		g.op("VINSERTF128 $1, %d(DX), Y%d, Y%d", 16*(i+5), 4+i, 4+i)
	}
	g.op("VUNPCKLPS Y5, Y4, Y4")
	g.op("VUNPCKLPS Y7, Y6, Y6")
	g.op("VUNPCKHPD Y6, Y4, Y5")
	g.op("VUNPCKLPD Y6, Y4, Y4")
}

func (g *generator) winogradOutRows() {
	fmt.Fprintf(g, "\n// func winogradOutRows%s(dst, src *float32, planes, dstPlane, srcPlane, dstStep, srcStep, n, lines int)\n", g.set())
	fmt.Fprintf(g, "TEXT ·winogradOutRows%s(SB), NOSPLIT, $0-72\n", g.set())
	g.op("MOVQ srcStep+48(FP), R9")
	g.op("SHLQ $2, R9")
	g.sixth()
	g.loadConstants("winogradOut")
	// A line that is not wanted is stored where the first is to be, before that.
	to := [4]string{"(DI)", "(DI)(R8*1)", "(DI)(R11*1)", "(DI)(R13*1)"}
	g.op("MOVQ dstStep+40(FP), R10")
	g.op("SHLQ $2, R10")
	g.op("XORL R12, R12")
	g.op("MOVQ lines+64(FP), AX")
	for i, at := range []string{"R8", "R11", "R13"} {
		if i == 0 {
			g.op("MOVQ R10, R8")
		} else {
			g.op("LEAQ (R10)(R10*%d), %s", i, at)
		}
		g.op("CMPQ AX, $%d", i+2)
		g.op("CMOVQLT R12, %s", at)
	}
	g.lineLoop(func(load func(at string, reg int), store func(reg int, at string)) {
		for k, at := range lineRows {
			load(at, k)
		}
		g.output()
		for i := len(outputs) - 1; i >= 0; i-- {
			store(outputs[i], to[i])
		}
	})
}

func (g *generator) winogradOutCols() {
	fmt.Fprintf(g, "\n// func winogradOutCols%s(dst, src *float32, rows, dstStep, srcStep, n int)\n", g.set())
	fmt.Fprintf(g, "TEXT ·winogradOutCols%s(SB), NOSPLIT, $0-48\n", g.set())
	g.op("MOVQ rows+16(FP), R11")
	g.op("MOVQ dstStep+24(FP), R8")
	g.op("SHLQ $2, R8")
	g.op("MOVQ srcStep+32(FP), R9")
	g.op("SHLQ $2, R9")
	g.sixth()
	g.loadConstants("winogradOut")
	if g.avx512 {
		for i := range 2 {
			g.op("VMOVUPS lanes%d<>(SB), Z%d", i, 16+i)
			g.op("VMOVUPS pairs%d<>(SB), Z%d", i, 18+i)
		}
	}
	g.op("MOVQ dst+0(FP), AX")
	g.op("MOVQ src+8(FP), R13")
	g.label("row")
	g.op("MOVQ AX, DI")
	g.op("MOVQ R13, SI")
	g.op("MOVQ n+40(FP), CX")
	g.label("loop")
	for k, at := range lineRows {
		g.op("VMOVUPS %s, %s", at, g.reg(k))
	}
	g.output()
	g.interleaveColumns()
	for i, reg := range []int{0, 1, 2, 3} {
		// What is left of CX, held to [0, lanes].
		g.op("MOVL $%d, R12", g.lanes())
		g.op("CMPQ CX, R12")
		g.op("CMOVQLT CX, R12")
		g.maskOfR12(1, 15)
		g.storeMasked(reg, 1, 15, fmt.Sprintf("%d(DI)", i*g.bytes()))
		g.op("SUBQ $%d, CX", g.lanes())
		if i < 3 {
			g.op("JLE done")
		}
	}
	g.op("ADDQ $%d, SI", g.bytes())
	g.op("ADDQ $%d, DI", 4*g.bytes())
	g.op("TESTQ CX, CX")
	g.op("JG loop")
	g.label("done")
	g.op("ADDQ R8, AX")
	g.op("LEAQ (R13)(DX*2), R13")
	g.op("DECQ R11")
	g.op("JNZ row")
	g.op("VZEROUPPER")
	g.op("RET")
}

// interleaveColumns lays what output has left, a column of each tile in a register, out as
// rows of whole tiles, in registers 0 to 3.
func (g *generator) interleaveColumns() {
	if g.avx512 {
		for half := range 2 {
			for pair := range 2 {
				to := 20 + 2*pair + half
				g.op("VMOVAPS Z%d, Z%d", 16+half, to)
				g.op("VPERMI2PS Z%d, Z%d, Z%d", outputs[2*pair+1], outputs[2*pair], to)
			}
		}
		for i := range 4 {
			g.op("VMOVAPS Z%d, Z%d", 18+i%2, i)
			g.op("VPERMI2PS Z%d, Z%d, Z%d", 22+i/2, 20+i/2, i)
		}
		return
	}
	c := outputs
	g.op("VUNPCKLPS Y%d, Y%d, Y6", c[1], c[0]) // columns 0 and 1 of tiles 0 and 1
	g.op("VUNPCKHPS Y%d, Y%d, Y7", c[1], c[0]) // of tiles 2 and 3
	g.op("VUNPCKLPS Y%d, Y%d, Y8", c[3], c[2])
	g.op("VUNPCKHPS Y%d, Y%d, Y5", c[3], c[2])
	g.op("VUNPCKLPD Y8, Y6, Y4") // tiles 0 and 4
	g.op("VUNPCKHPD Y8, Y6, Y6") // 1 and 5
	g.op("VUNPCKLPD Y5, Y7, Y8") // 2 and 6
	g.op("VUNPCKHPD Y5, Y7, Y7") // 3 and 7
	g.op("VPERM2F128 $0x20, Y6, Y4, Y0")
	g.op("VPERM2F128 $0x20, Y7, Y8, Y1")
	g.op("VPERM2F128 $0x31, Y6, Y4, Y2")
	g.op("VPERM2F128 $0x31, Y7, Y8, Y3")
}

// set returns the name of the instruction set, without the element width.
func (g *generator) set() string { return g.name[2:] }

package main

import "fmt"

// A fold joins the elements of a block in eight lanes, in the order that package lines
// states. Its join is one of functions.
type fold struct {
	name string
	join func(g *generator, v *vector, a, b value) value
	// Numbers, where it is there, is join for elements of which none is NaN. Whether
	// one is, the loop finds apart, in fewer instructions.
	numbers func(v *vector, a, b value) value
	rows    bool // there is a loop over rows too
}

var foldings = []fold{
	{"sum", func(g *generator, v *vector, a, b value) value { return v.add(a, b) }, nil, true},
	// Of equal numbers VMAX and VMIN give the second: zeros that differ meet in the bits.
	{"max", (*generator).maximum, func(v *vector, a, b value) value { return v.and(v.most(a, b), v.most(b, a)) }, true},
	{"min", (*generator).minimum, func(v *vector, a, b value) value { return v.or(v.least(a, b), v.least(b, a)) }, true},
	{"peak", func(g *generator, v *vector, a, b value) value { return v.most(b, a) }, nil, false},
}

// foldFile writes the loops, of 256 bits for either set: eight lanes of float32 are a
// register, those of float64 two.
func (g *generator) foldFile() {
	g.masks()
	for _, k := range kinds {
		if k.avx512 {
			continue
		}
		for _, f := range foldings {
			g.kind = k
			g.foldLoop(f)
			if f.rows {
				g.foldRows(f)
			}
		}
	}
	if len(g.constants) > 0 {
		g.emitConstants()
	}
}

// foldLoop writes one. The lanes are in the registers from 8 on, what is joined to them is
// computed in those below. Y12 has ones, which are a NaN, in lanes where one was found. CX
// counts elements.
func (g *generator) foldLoop(f fold) {
	parts := 8 / g.lanes()
	lane := func(i int) value { return value{index: -1, name: g.reg(8 + i)} }
	row := func(i, part int) string { return fmt.Sprintf("%d(SI)", (8*i+part*g.lanes())*g.width) }
	bits := 8 * g.width
	fmt.Fprintf(g, "\n// func %s%dAVX2(x *float%d, n int, identity float%d) float%d\n", f.name, bits, bits, bits, bits)
	fmt.Fprintf(g, "TEXT ·%s%dAVX2(SB), NOSPLIT, $0-%d\n", f.name, bits, map[int]int{4: 28, 8: 32}[g.width])
	g.op("MOVQ x+0(FP), SI")
	g.op("MOVQ n+8(FP), CX")
	for i := range parts {
		g.op("%s identity+16(FP), %s", g.broadcast(), lane(i).name)
	}
	nan := value{index: -1, name: "Y12"}
	if f.numbers != nil {
		g.zero(nan.name)
	}
	join := func(into, part int, rows int) {
		v := new(vector)
		join := func(a, b value) value { return f.join(g, v, a, b) }
		if f.numbers != nil {
			found := nan
			for i := 0; i < rows; i += 2 {
				a := v.append("LOAD", row(i, part))
				b := a
				if rows > 1 {
					b = v.append("LOAD", row(i+1, part))
				}
				found = v.or(v.unordered(a, b), found)
			}
			g.op("%s %s, %s", g.ins("VMOVA"), g.emit(v, found, 8), nan.name)
			v = new(vector)
			join = func(a, b value) value { return f.numbers(v, a, b) }
		}
		var tree func(from, n int) value
		tree = func(from, n int) value {
			if n == 1 {
				return v.append("LOAD", row(from, part))
			}
			return join(tree(from, n/2), tree(from+n/2, n/2))
		}
		g.op("%s %s, %s", g.ins("VMOVA"), g.emit(v, join(lane(into), tree(0, rows)), 8), lane(into).name)
	}
	for _, rows := range []int{8, 1} {
		g.label("next%d", rows)
		g.op("CMPQ CX, $%d", 8*rows)
		g.op("JLT %s", map[int]string{8: "next1", 1: "rest"}[rows])
		for i := range parts {
			join(i, i, rows)
		}
		g.op("ADDQ $%d, SI", 8*rows*g.width)
		g.op("SUBQ $%d, CX", 8*rows)
		g.op("JMP next%d", rows)
	}
	// The lanes that are left, of as many registers.
	g.label("rest")
	g.op("TESTQ CX, CX")
	g.op("JZ done")
	g.op("MOVQ CX, DX")
	for i := range parts {
		if i > 0 {
			g.op("SUBQ $%d, DX", g.lanes())
			g.op("JLE done")
		}
		// The bytes wanted of this register.
		g.op("MOVQ DX, R10")
		if parts > 1 && i == 0 {
			g.op("MOVL $%d, R11", g.lanes())
			g.op("CMPQ R10, R11")
			g.op("CMOVQGT R11, R10")
		}
		g.op("SHLQ $%d, R10", g.shift())
		g.op("LEAQ masks<>+32(SB), R11")
		g.op("SUBQ R10, R11")
		g.op("VMOVUPS (R11), Y15")
		g.op("%s %s, Y15, Y14", g.ins("VMASKMOV"), row(0, i))
		v := new(vector)
		r := g.emit(v, f.join(g, v, lane(i), value{index: -1, name: "Y14"}), 8)
		g.op("%s Y15, %s, %s, %s", map[int]string{4: "VBLENDVPS", 8: "VBLENDVPD"}[g.width], r, lane(i).name, lane(i).name)
	}
	g.label("done")
	if f.numbers != nil {
		g.op("%s %s, %s, %s", g.ins("VOR"), nan.name, lane(0).name, lane(0).name)
	}
	// Halves: 4 lanes, 2, and 1.
	half := func(a, b string) {
		v := new(vector)
		r := g.emit(v, f.join(g, v, value{index: -1, name: a}, value{index: -1, name: b}), 8)
		g.op("%s %s, Y8", g.ins("VMOVA"), r)
	}
	if parts == 2 {
		half("Y8", "Y9")
		g.op("VEXTRACTF128 $1, Y8, X14")
		half("Y8", "Y14")
		g.op("VPERMILPD $1, X8, X14")
		half("Y8", "Y14")
		g.op("VMOVSD X8, ret+24(FP)")
	} else {
		g.op("VEXTRACTF128 $1, Y8, X14")
		half("Y8", "Y14")
		g.op("VPERMILPS $0xee, X8, X14")
		half("Y8", "Y14")
		g.op("VPERMILPS $1, X8, X14")
		half("Y8", "Y14")
		g.op("VMOVSS X8, ret+24(FP)")
	}
	g.op("VZEROUPPER")
	g.op("RET")
}

// foldRows writes the loop that joins the elements of eight rows in pairs, and then to those of
// acc. R12 is how far into the rows it is, in bytes, and CX counts elements, of which it leaves
// what does not fill a register.
func (g *generator) foldRows(f fold) {
	rows := []string{"AX", "BX", "DX", "SI", "DI", "R8", "R9", "R10"}
	fmt.Fprintf(g, "\n// func %sEight%dAVX2(acc, r0, r1, r2, r3, r4, r5, r6, r7 *float%[2]d, n int)\n", f.name, 8*g.width)
	fmt.Fprintf(g, "TEXT ·%sEight%dAVX2(SB), NOSPLIT, $0-80\n", f.name, 8*g.width)
	g.op("MOVQ acc+0(FP), R11")
	for i, r := range rows {
		g.op("MOVQ r%d+%d(FP), %s", i, 8+8*i, r)
	}
	g.op("MOVQ n+72(FP), CX")
	g.op("XORL R12, R12")
	g.label("next")
	g.op("SUBQ $%d, CX", g.lanes())
	g.op("JLT done")
	v := new(vector)
	var tree func(from, n int) value
	tree = func(from, n int) value {
		if n == 1 {
			return v.append("LOAD", fmt.Sprintf("(%s)(R12*1)", rows[from]))
		}
		return f.join(g, v, tree(from, n/2), tree(from+n/2, n/2))
	}
	acc := v.append("LOAD", "(R11)(R12*1)")
	g.op("%s %s, (R11)(R12*1)", g.ins("VMOVU"), g.emit(v, f.join(g, v, acc, tree(0, 8)), 16))
	g.op("ADDQ $%d, R12", g.bytes())
	g.op("JMP next")
	g.done()
}

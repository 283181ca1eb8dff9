package main

import "fmt"

// A comparison is an elementwise comparison of elements of 32 bits, by the name that package
// elementwise gives it and by the predicates of the instructions.
type comparison struct {
	name           string
	floats, signed int // of VCMPPS, which hold as stated beside NaN; and of VPCMPD
}

var comparisons = []comparison{
	{"eq", 0, 0},
	{"ne", 4, 4},
	{"lt", 17, 1},
	{"le", 18, 2},
	{"gt", 30, 6},
	{"ge", 29, 5},
}

// compared is a loop over elements in an assembly file.
type compared struct {
	comparison
	dtype  string // Float32 or Int32
	scalar bool   // the second operand is one for all lanes
}

func (c compared) label(set string) string {
	return fmt.Sprintf("%s%s%s%s", c.name, c.dtype, map[bool]string{true: "One"}[c.scalar], set)
}

func everyComparison() (all []compared) {
	for _, c := range comparisons {
		for _, dtype := range []string{"Float32", "Int32"} {
			all = append(all, compared{c, dtype, false}, compared{c, dtype, true})
		}
	}
	return all
}

// compareFile writes the loops of both sets.
func (g *generator) compareFile() {
	for _, set := range []string{"AVX512", "AVX2"} {
		g.kind = kind{name: set, avx512: set == "AVX512", width: 4}
		for _, c := range everyComparison() {
			g.compareLoop(c)
		}
	}
	g.emitConstants()
}

// compareLoop writes a loop over whole registers. Register 15 has the scalar, and register 14 ones.
func (g *generator) compareLoop(c compared) {
	fmt.Fprintf(g, "\n// func %s(dst, a, b *byte, n int)\n", c.label(g.name))
	fmt.Fprintf(g, "TEXT ·%s(SB), NOSPLIT, $0-32\n", c.label(g.name))
	g.op("MOVQ dst+0(FP), DI")
	g.op("MOVQ a+8(FP), SI")
	g.op("MOVQ b+16(FP), DX")
	g.op("MOVQ n+24(FP), CX")
	if c.scalar {
		g.op("VBROADCASTSS (DX), %s", g.reg(15))
	}
	g.op("%s %s, %s", g.ins("VMOVU"), g.bits32(1).name, g.reg(14))
	g.label("next")
	g.op("SUBQ $%d, CX", g.lanes())
	g.op("JLT done")
	g.op("VMOVUPS (SI), %s", g.reg(8))
	b := g.reg(15)
	if !c.scalar {
		b = g.reg(9)
		g.op("VMOVUPS (DX), %s", b)
		g.op("ADDQ $%d, DX", g.bytes())
	}
	g.compare(c, g.reg(8), b)
	g.op("ADDQ $%d, SI", g.bytes())
	g.op("ADDQ $%d, DI", g.lanes())
	g.op("JMP next")
	g.label("done")
	g.op("VZEROUPPER")
	g.op("RET")
}

// compare writes a byte for each lane of two registers.
func (g *generator) compare(c compared, a, b string) {
	floats := c.dtype == "Float32"
	if g.avx512 {
		if floats {
			g.op("VCMPPS $%d, %s, %s, K1", c.floats, b, a)
		} else {
			g.op("VPCMPD $%d, %s, %s, K1", c.signed, b, a)
		}
		g.op("VMOVDQA32.Z Z14, K1, Z10")
		g.op("VPMOVDB Z10, (DI)")
		return
	}
	// AVX2 has two comparisons of integers: equal, and greater.
	inverse := false
	switch {
	case floats:
		g.op("VCMPPS $%d, %s, %s, Y10", c.floats, b, a)
	case c.name == "eq" || c.name == "ne":
		g.op("VPCMPEQD %s, %s, Y10", b, a)
		inverse = c.name == "ne"
	case c.name == "gt" || c.name == "le":
		g.op("VPCMPGTD %s, %s, Y10", b, a)
		inverse = c.name == "le"
	default:
		g.op("VPCMPGTD %s, %s, Y10", a, b)
		inverse = c.name == "ge"
	}
	if inverse {
		g.op("VPANDN Y14, Y10, Y10")
	} else {
		g.op("VPAND Y14, Y10, Y10")
	}
	g.op("VEXTRACTI128 $1, Y10, X11")
	g.op("VPACKUSDW X11, X10, X10")
	g.op("VPACKUSWB X10, X10, X10")
	g.op("VMOVQ X10, (DI)")
}

// compareStubs writes their declarations in Go, and the tables of them, for some sets.
func (g *generator) compareStubs(sets ...string) {
	g.raw("\nimport \"github.com/berth-go/berth/dtype\"\n")
	for _, set := range sets {
		for _, c := range everyComparison() {
			fmt.Fprintf(g, "\n//go:noescape\nfunc %s(dst, a, b *byte, n int)\n", c.label(set))
		}
		lanes := map[string]int{"AVX512": 16, "AVX2": 8, "NEON": 16}[set]
		fmt.Fprintf(g, "\nvar comparisons%s = map[CompareKey]Compare{\n", set)
		for _, c := range everyComparison() {
			fmt.Fprintf(g, "\t{%q, dtype.%s, %t}: checkedCompare(%d, %t, %s),\n", c.name, c.dtype, c.scalar, lanes, c.scalar, c.label(set))
		}
		g.raw("}\n")
	}
}

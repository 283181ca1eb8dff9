package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-go/berth/internal/kernel/isa/numbers"
)

// A function is an elementwise function, by the name that package elementwise gives it.
// Its body computes a lane from the operands and the attributes.
type function struct {
	name    string
	widths  []int // bytes of an element: 4, 8
	arity   int
	attrs   int
	scalars []int // for each loop, the operands that are the same for all lanes, as bits
	short   bool  // so few instructions that the counting would show
	body    func(g *generator, v *vector, x []value) value
}

var (
	both   = []int{4, 8}
	single = []int{4}
	double = []int{8}
)

// functions are all that have a loop in assembly. What a body computes, to the bit, is
// what the plain loop does: those of package elementwise, and single.go of package isa.
var functions = withJoined([]function{
	{"neg", both, 1, 0, []int{0}, true, func(g *generator, v *vector, x []value) value { return v.xor(x[0], g.signBit()) }},
	{"abs", both, 1, 0, []int{0}, true, func(g *generator, v *vector, x []value) value { return v.and(x[0], g.magnitude()) }},
	{"square", both, 1, 0, []int{0}, true, func(g *generator, v *vector, x []value) value { return v.mul(x[0], x[0]) }},
	{"reciprocal", both, 1, 0, []int{0}, true, func(g *generator, v *vector, x []value) value { return v.div(g.number(1), x[0]) }},
	{"sqrt", both, 1, 0, []int{0}, true, func(g *generator, v *vector, x []value) value { return v.sqrt(x[0]) }},
	{"floor", both, 1, 0, []int{0}, true, func(g *generator, v *vector, x []value) value { return v.round(x[0], 1) }},
	{"ceil", both, 1, 0, []int{0}, true, func(g *generator, v *vector, x []value) value { return v.round(x[0], 2) }},
	{"round", both, 1, 0, []int{0}, true, func(g *generator, v *vector, x []value) value { return v.round(x[0], 0) }},
	{"trunc", both, 1, 0, []int{0}, true, func(g *generator, v *vector, x []value) value { return v.round(x[0], 3) }},
	{"relu", both, 1, 0, []int{0}, true, func(g *generator, v *vector, x []value) value {
		return v.add(v.most(g.number(0), x[0]), g.number(0)) // the sum makes 0 of -0
	}},
	{"leaky_relu", both, 1, 1, []int{0}, true, func(g *generator, v *vector, x []value) value {
		return v.choose(v.less(x[0], g.number(0)), v.mul(x[0], x[1]), x[0])
	}},
	{"rsqrt", both, 1, 0, []int{0}, true, func(g *generator, v *vector, x []value) value { return v.div(g.number(1), v.sqrt(x[0])) }},
	{"sign", both, 1, 0, []int{0}, true, func(g *generator, v *vector, x []value) value {
		zero := g.number(0)
		rest := v.choose(v.less(x[0], zero), g.number(-1), v.add(x[0], zero)) // the sum makes 0 of -0
		return v.choose(v.less(zero, x[0]), g.number(1), rest)
	}},
	{"softsign", both, 1, 0, []int{0}, true, func(g *generator, v *vector, x []value) value {
		return v.div(x[0], v.add(v.and(x[0], g.magnitude()), g.number(1)))
	}},
	{"thresholded_relu", both, 1, 1, []int{0}, true, func(g *generator, v *vector, x []value) value {
		return v.choose(v.less(x[1], x[0]), x[0], g.number(0))
	}},
	{"shrink", both, 1, 2, []int{0}, true, func(g *generator, v *vector, x []value) value {
		below := v.less(x[0], v.xor(x[1], g.signBit()))
		return v.choose(below, v.add(x[0], x[2]), v.choose(v.less(x[1], x[0]), v.sub(x[0], x[2]), g.number(0)))
	}},
	{"hard_swish", both, 1, 0, []int{0}, true, func(g *generator, v *vector, x []value) value {
		third := v.mul(v.add(x[0], g.number(3)), g.number(1./6))
		return v.mul(x[0], g.atMost(v, g.atLeast(v, third, g.number(0)), g.number(1)))
	}},
	{"hard_sigmoid", both, 1, 2, []int{0}, true, func(g *generator, v *vector, x []value) value {
		return g.atMost(v, g.atLeast(v, v.fma(x[0], x[1], x[2]), g.number(0)), g.number(1))
	}},
	{"add", both, 2, 0, []int{0, 1, 2}, true, func(g *generator, v *vector, x []value) value { return v.add(x[0], x[1]) }},
	{"sub", both, 2, 0, []int{0, 1, 2}, true, func(g *generator, v *vector, x []value) value { return v.sub(x[0], x[1]) }},
	{"mul", both, 2, 0, []int{0, 1, 2}, true, func(g *generator, v *vector, x []value) value { return v.mul(x[0], x[1]) }},
	{"div", both, 2, 0, []int{0, 1, 2}, true, func(g *generator, v *vector, x []value) value { return v.div(x[0], x[1]) }},
	{"minimum", both, 2, 0, []int{0, 1, 2}, true, func(g *generator, v *vector, x []value) value { return g.minimum(v, x[0], x[1]) }},
	{"maximum", both, 2, 0, []int{0, 1, 2}, true, func(g *generator, v *vector, x []value) value { return g.maximum(v, x[0], x[1]) }},
	{"prelu", both, 2, 0, []int{0, 2}, true, func(g *generator, v *vector, x []value) value {
		return v.choose(v.less(x[0], g.number(0)), v.mul(x[0], x[1]), x[0])
	}},
	{"clip", both, 3, 0, []int{0, 6}, true, (*generator).clip},

	{"deviation", both, 2, 0, []int{0, 2}, true, func(g *generator, v *vector, x []value) value {
		d := v.sub(x[0], x[1])
		return v.mul(d, d)
	}},
	{"normalized", both, 3, 2, []int{0, 4, 6}, true, func(g *generator, v *vector, x []value) value {
		return v.add(v.mul(v.mul(v.sub(x[0], x[3]), x[4]), x[1]), x[2])
	}},

	{"round_float16", single, 1, 0, []int{0}, true, func(g *generator, v *vector, x []value) value { return v.halved(x[0]) }},
	{"round_bfloat16", single, 1, 0, []int{0}, false, func(g *generator, v *vector, x []value) value {
		return v.and(g.brain(v, x[0]), g.bits32(0xffff0000))
	}},

	{"exp_chunk", double, 1, 0, []int{0}, false, (*generator).expChunk},
	{"exp", single, 1, 0, []int{0}, false, (*generator).exp},
	{"exp_shift", single, 2, 0, []int{0, 2}, false, (*generator).expShift},
	{"sigmoid", single, 1, 0, []int{0}, false, func(g *generator, v *vector, x []value) value { return g.logistic(v, nil, x[0], nil) }},
	{"swish", single, 1, 1, []int{0}, false, func(g *generator, v *vector, x []value) value {
		u := v.mul(x[1], x[0])
		low := v.choose(v.less(g.abs(v, u), g.number(-numbers.TailLeast)), v.fms(x[1], x[0], u), g.number(0))
		return g.logistic(v, &x[0], u, &low)
	}},
	{"gelu_tanh", single, 1, 0, []int{0}, false, (*generator).geluTanh},
	{"tanh", single, 1, 0, []int{0}, false, (*generator).tanh},
	{"erf", single, 1, 0, []int{0}, false, (*generator).erf},
	{"gelu", single, 1, 0, []int{0}, false, (*generator).gelu},
	{"log", single, 1, 0, []int{0}, false, (*generator).log},
	{"softplus", single, 1, 0, []int{0}, false, (*generator).softplus},
	{"expm1", single, 1, 0, []int{0}, false, func(g *generator, v *vector, x []value) value { return g.expm1(v, x[0]) }},
	{"elu", single, 1, 1, []int{0}, false, func(g *generator, v *vector, x []value) value { return g.linearUnit(v, x[0], x[0], x[1]) }},
	{"selu", single, 1, 2, []int{0}, false, func(g *generator, v *vector, x []value) value {
		return v.mul(x[2], g.linearUnit(v, x[0], x[0], x[1]))
	}},
	{"celu", single, 1, 1, []int{0}, false, func(g *generator, v *vector, x []value) value {
		return g.linearUnit(v, x[0], v.div(x[0], x[1]), x[1])
	}},
	{"mish", single, 1, 0, []int{0}, false, (*generator).mish},
})

// mapped is a loop over elements in an assembly file.
type mapped struct {
	function *function
	set      string
	width    int
	scalars  int
}

func (m mapped) label() string {
	return fmt.Sprintf("%s%d%d%s", strings.NewReplacer("_", "", "+", "").Replace(m.function.name), 8*m.width, m.scalars, m.set)
}

// mappedOf returns the loops of a set.
func mappedOf(set string) (all []mapped) {
	for _, width := range []int{4, 8} {
		for i := range functions {
			f := &functions[i]
			for _, m := range f.scalars {
				if slices.Contains(f.widths, width) {
					all = append(all, mapped{f, set, width, m})
				}
			}
		}
	}
	return all
}

// maps writes the loops of some sets.
func (g *generator) maps(sets ...string) {
	if sets[0] != "NEON" {
		g.masks()
	}
	for _, set := range sets {
		for _, m := range mappedOf(set) {
			g.kind = kind{name: set, avx512: set == "AVX512", neon: set == "NEON", width: m.width}
			fmt.Fprintf(g, "\n// func %s(dst, a, b, c *byte, n int, p *[2]float64)\n", m.label())
			if g.neon {
				g.mapLoopNEON(m)
			} else {
				g.mapLoop(m)
			}
		}
	}
	g.emitConstants()
}

// mapStubs writes their declarations in Go, and the tables of them.
func (g *generator) mapStubs(sets ...string) {
	for _, set := range sets {
		for _, m := range mappedOf(set) {
			fmt.Fprintf(g, "\n//go:noescape\nfunc %s(dst, a, b, c *byte, n int, p *[2]float64)\n", m.label())
		}
		fmt.Fprintf(g, "\nvar maps%s = map[MapKey]Map{\n", set)
		for _, m := range mappedOf(set) {
			fmt.Fprintf(g, "\t{%q, %d, %d}: checkedMap(%d, %d, %d, %s),\n", m.function.name, 8*m.width, m.scalars, m.width, m.function.arity, m.scalars, m.label())
		}
		g.raw("}\n")
	}
}

// The pointers to the operands.
var pointers = [...]string{"SI", "DX", "R8"}

// mapLoop writes a loop: whole registers first, four in a row where the body is short, and
// then the lanes that are left, with masks. CX counts elements.
func (g *generator) mapLoop(m mapped) {
	f := m.function
	fmt.Fprintf(g, "TEXT ·%s(SB), NOSPLIT, $0-48\n", m.label())
	g.op("MOVQ dst+0(FP), DI")
	for i, arg := range []string{"a", "b", "c"}[:f.arity] {
		g.op("MOVQ %s+%d(FP), %s", arg, 8+8*i, pointers[i])
	}
	g.op("MOVQ n+32(FP), CX")
	// Scalars have registers of their own, from the top.
	last := 16
	if g.avx512 {
		last = 32
	}
	operands := make([]value, f.arity+f.attrs)
	own := func() value {
		last--
		return value{index: -1, name: g.reg(last)}
	}
	for i := range f.arity {
		if m.scalars>>i&1 == 1 {
			operands[i] = own()
			g.op("%s (%s), %s", g.broadcast(), pointers[i], operands[i].name)
		}
	}
	for i := range f.attrs {
		if i == 0 {
			g.op("MOVQ p+40(FP), R9")
		}
		operands[f.arity+i] = own()
		r := operands[f.arity+i].name
		if g.width == 8 {
			g.op("VBROADCASTSD %d(R9), %s", 8*i, r)
			continue
		}
		g.op("VMOVSD %d(R9), X0", 8*i)
		g.op("VCVTSD2SS X0, X0, X0")
		g.op("VBROADCASTSS X0, %s", r)
	}
	program := func(at int) (*vector, value) {
		v, x := new(vector), slices.Clone(operands)
		for i := range f.arity {
			if m.scalars>>i&1 == 0 {
				x[i] = v.append("LOAD", fmt.Sprintf("%d(%s)", at*g.bytes(), pointers[i]))
			}
		}
		return v, f.body(g, v, x)
	}
	// What is the same for all lanes is computed once.
	once := make(map[int]value)
	v, result := program(0)
	for _, i := range v.invariants(result) {
		r := own()
		g.op("%s %s, %s", g.ins("VMOVU"), g.emitted(v, value{index: i}, once, last), r.name)
		once[i] = r
	}
	body := func(at int) string {
		v, result := program(at)
		return g.emitted(v, result, once, last)
	}
	advance := func(n int) {
		for i := range f.arity {
			if m.scalars>>i&1 == 0 {
				g.op("ADDQ $%d, %s", n*g.bytes(), pointers[i])
			}
		}
		g.op("ADDQ $%d, DI", n*g.bytes())
		g.op("SUBQ $%d, CX", n*g.lanes())
	}
	loop := func(n int, then string) {
		g.label("next%d", n)
		g.op("CMPQ CX, $%d", n*g.lanes())
		g.op("JLT %s", then)
		for i := range n {
			g.op("%s %s, %d(DI)", g.ins("VMOVU"), body(i), i*g.bytes())
		}
		advance(n)
		g.op("JMP next%d", n)
	}
	if f.short {
		loop(4, "next1")
	}
	loop(1, "rest")
	g.label("rest")
	g.op("TESTQ CX, CX")
	g.op("JZ done")
	if g.avx512 {
		g.op("MOVL $1, R10")
		g.op("SHLQ CX, R10")
		g.op("DECQ R10")
		g.op("KMOVW R10, K7")
		g.lanesLeft = "K7"
	} else {
		g.op("SHLQ $%d, CX", g.shift())
		g.op("LEAQ masks<>+32(SB), R10")
		g.op("SUBQ CX, R10")
		g.lanesLeft = "(R10)"
	}
	r := body(0)
	if g.avx512 {
		g.op("%s %s, K7, (DI)", g.ins("VMOVU"), r)
	} else {
		mask := g.maskRegister(r)
		g.op("VMOVUPS (R10), %s", mask)
		g.op("%s %s, %s, (DI)", g.ins("VMASKMOV"), r, mask)
	}
	g.lanesLeft = ""
	g.label("done")
	g.op("VZEROUPPER")
	g.op("RET")
}

// maskRegister returns a register other than r.
func (g *generator) maskRegister(r string) string {
	if r == g.reg(0) {
		return g.reg(1)
	}
	return g.reg(0)
}

// loadLanes writes the load of a register, of the lanes that are left where there are not all.
func (g *generator) loadLanes(from, to string) {
	switch {
	case g.lanesLeft == "":
		g.op("%s %s, %s", g.ins("VMOVU"), from, to)
	case g.avx512:
		g.op("%s.Z %s, %s, %s", g.ins("VMOVU"), from, g.lanesLeft, to)
	default:
		g.op("VMOVUPS %s, %s", g.lanesLeft, to)
		g.op("%s %s, %s, %s", g.ins("VMASKMOV"), from, to, to)
	}
}

func (g *generator) signBit() value {
	if g.width == 8 {
		return g.constant(1<<63, 8)
	}
	return g.bits32(1 << 31)
}

func (g *generator) magnitude() value {
	if g.width == 8 {
		return g.constant(1<<63-1, 8)
	}
	return g.bits32(1<<31 - 1)
}

// clip is the lesser of the greater of x[0] and x[1], and of x[2]. Bounds that are the same
// for all lanes have the choice between zeros, and NaN, of which VMIN and VMAX take x[0] alone, made
// before the loop.
func (g *generator) clip(v *vector, x []value) value {
	low, high := x[1], x[2]
	if g.neon || low.index >= 0 || high.index >= 0 {
		return g.minimum(v, g.maximum(v, x[0], low), high)
	}
	zero := g.number(0)
	// Added, 0 makes 0 of -0, -0 leaves both, and NaN is what a bound may be.
	added := v.choose(v.equal(low, zero), low, g.signBit())
	added = v.choose(v.unordered(low, high), v.add(low, high), added)
	sign := v.choose(v.equal(high, zero), high, zero)
	return v.or(v.add(v.least(high, v.most(low, x[0])), added), sign)
}

// maximum is the greater of two numbers: NaN if one is, and 0 of -0 and 0.
func (g *generator) maximum(v *vector, a, b value) value {
	if g.neon {
		return v.append("MAXIMUM", "", a, b)
	}
	// Of equal numbers, and beside NaN, VMAX gives the second.
	m := v.choose(v.equal(a, b), v.and(a, b), v.most(a, b))
	return v.choose(v.unordered(a, b), v.add(a, b), m)
}

// minimum is the lesser of two numbers: NaN if one is, and -0 of -0 and 0.
func (g *generator) minimum(v *vector, a, b value) value {
	if g.neon {
		return v.append("MINIMUM", "", a, b)
	}
	m := v.choose(v.equal(a, b), v.or(a, b), v.least(a, b))
	return v.choose(v.unordered(a, b), v.add(a, b), m)
}

package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A vector is a straight-line program over vector registers, one element in each lane, while
// it is being written. Its methods append an instruction and return its result. Emit
// gives the values registers.
//
//	y := v.add(v.mul(a, b), v.number(1))	// a*b + 1 in every lane
type vector struct {
	code []instruction
}

// A value is the result of an instruction, an operand or a constant of a vector.
type value struct {
	index int    // of the instruction; -1 for constants and operands
	name  string // of the register or the memory of the others
	mem   bool
	mask  bool // a mask of lanes, as comparisons give
}

type instruction struct {
	name string // of the instruction set, but for those that emit knows
	imm  string
	args []value
	mask bool
}

func (v *vector) append(name, imm string, args ...value) value {
	v.code = append(v.code, instruction{name: name, imm: imm, args: args})
	return value{index: len(v.code) - 1}
}

// The arithmetic. Least(a, b) is a if a < b and else b, most(a, b) is a if a > b and else b.

func (v *vector) add(a, b value) value   { return v.append("VADD", "", a, b) }
func (v *vector) sub(a, b value) value   { return v.append("VSUB", "", a, b) }
func (v *vector) mul(a, b value) value   { return v.append("VMUL", "", a, b) }
func (v *vector) div(a, b value) value   { return v.append("VDIV", "", a, b) }
func (v *vector) least(a, b value) value { return v.append("VMIN", "", a, b) }
func (v *vector) most(a, b value) value  { return v.append("VMAX", "", a, b) }
func (v *vector) sqrt(a value) value     { return v.append("VSQRT", "", a) }

// fma is a*b + c, and fms a*b - c, rounded once.
func (v *vector) fma(a, b, c value) value { return v.append("FMA", "", a, b, c) }
func (v *vector) fms(a, b, c value) value { return v.append("FMS", "", a, b, c) }

// round rounds to an integer: to the nearest, ties to even, downwards, upwards, or to zero,
// by the modes 0 to 3.
func (v *vector) round(a value, mode int) value {
	return v.append("ROUND", fmt.Sprintf("$%d", 8|mode), a)
}

// halved rounds to a float16, the nearest, ties to even.
func (v *vector) halved(a value) value { return v.append("HALF", "", a) }

// Bits.

func (v *vector) and(a, b value) value { return v.append("AND", "", a, b) }
func (v *vector) or(a, b value) value  { return v.append("OR", "", a, b) }
func (v *vector) xor(a, b value) value { return v.append("XOR", "", a, b) }

// Lanes as integers of 32 bits.

func (v *vector) addInts(a, b value) value  { return v.append("VPADDD", "", a, b) }
func (v *vector) subInts(a, b value) value  { return v.append("VPSUBD", "", a, b) }
func (v *vector) mostInts(a, b value) value { return v.append("VPMAXSD", "", a, b) }
func (v *vector) left(a value, n int) value { return v.append("VPSLLD", fmt.Sprintf("$%d", n), a) }
func (v *vector) half(a value, n int) value { return v.append("VPSRAD", fmt.Sprintf("$%d", n), a) }
func (v *vector) right(a value, n int) value {
	return v.append("VPSRLD", fmt.Sprintf("$%d", n), a)
}
func (v *vector) leftLong(a value, n int) value { // of 64 bits
	return v.append("VPSLLQ", fmt.Sprintf("$%d", n), a)
}
func (v *vector) floats(a value) value { return v.append("VCVTDQ2", "", a) }

// scale is a*2ᵇ, rounded once, for integers b in floating point. AVX-512 alone has it.
func (v *vector) scale(a, b value) value { return v.append("VSCALEF", "", a, b) }

// Masks of lanes, and the choice by them.

func (v *vector) compare(a, b value, predicate int) value {
	x := v.append("VCMP", fmt.Sprintf("$%d", predicate), a, b)
	v.code[x.index].mask, x.mask = true, true
	return x
}

// Of the comparisons, unordered and above alone hold beside NaN.
func (v *vector) less(a, b value) value      { return v.compare(a, b, 17) }
func (v *vector) equal(a, b value) value     { return v.compare(a, b, 0) }
func (v *vector) unordered(a, b value) value { return v.compare(a, b, 3) }
func (v *vector) above(a, b value) value     { return v.compare(a, b, 22) } // not <=

// choose is a where the mask is set, and else b.
func (v *vector) choose(mask, a, b value) value { return v.append("CHOOSE", "", mask, a, b) }

// number is a constant in every lane, and bits one by its bits.
func (g *generator) number(x float64) value {
	if g.width == 8 {
		return g.constant(math.Float64bits(x), 8)
	}
	return g.bits32(math.Float32bits(float32(x)))
}

func (g *generator) bits32(x uint32) value { return g.constant(uint64(x)<<32|uint64(x), 4) }

// constant returns the memory that has x in each of its 8 words.
func (g *generator) constant(x uint64, width int) value {
	i := slices.Index(g.constants, x)
	if i < 0 {
		i = len(g.constants)
		g.constants = append(g.constants, x)
	}
	return value{index: -1, name: fmt.Sprintf("vectors<>+%d(SB)", 64*i), mem: true}
}

// emitConstants writes the memory of the constants.
func (g *generator) emitConstants() {
	g.raw("\n")
	for i, x := range g.constants {
		for j := range 8 {
			fmt.Fprintf(g, "DATA vectors<>+%d(SB)/8, $%#x\n", 64*i+8*j, x)
		}
	}
	fmt.Fprintf(g, "GLOBL vectors<>(SB), RODATA|NOPTR, $%d\n", 64*len(g.constants))
}

// lastUses returns the number of the last instruction that reads each result; that of the
// program itself is read after the last.
func (v *vector) lastUses(result value) []int {
	uses := make([]int, len(v.code))
	for i, ins := range v.code {
		for _, a := range ins.args {
			if a.index >= 0 {
				uses[a.index] = i
			}
		}
	}
	uses[result.index] = len(v.code)
	return uses
}

// invariants returns the instructions that depend on no lane that is loaded, of those that
// others read which do: what may be computed before a loop. Masks are none of them, of which
// there are few registers.
func (v *vector) invariants(result value) (list []int) {
	fixed, needed := make([]bool, len(v.code)), make([]bool, len(v.code))
	for i, ins := range v.code {
		fixed[i] = ins.name != "LOAD" && !slices.ContainsFunc(ins.args, func(a value) bool { return a.index >= 0 && !fixed[a.index] })
	}
	needed[result.index] = true
	for i, ins := range slices.Backward(v.code) {
		if fixed[i] = fixed[i] && !(ins.mask && needed[i]); fixed[i] {
			continue
		}
		for _, a := range ins.args {
			if a.index >= 0 {
				needed[a.index] = true
			}
		}
	}
	for i := range v.code {
		if fixed[i] && needed[i] {
			list = append(list, i)
		}
	}
	return list
}

// only returns the program of what a result needs, in which some values are operands.
func (v *vector) only(result value, operands map[int]value) (*vector, value) {
	needed := make([]bool, len(v.code))
	needed[result.index] = true
	for i, ins := range slices.Backward(v.code) {
		for _, a := range ins.args {
			if _, given := operands[a.index]; needed[i] && a.index >= 0 && !given {
				needed[a.index] = true
			}
		}
	}
	o, to := new(vector), maps.Clone(operands)
	for i, ins := range v.code {
		if !needed[i] {
			continue
		}
		ins.args = slices.Clone(ins.args)
		for j, a := range ins.args {
			if a.index >= 0 {
				ins.args[j] = to[a.index]
			}
		}
		to[i] = value{index: len(o.code), mask: ins.mask}
		o.code = append(o.code, ins)
	}
	return o, to[result.index]
}

// emit writes the program with its values in registers below last, and returns that of
// the result.
func (g *generator) emit(v *vector, result value, last int) string {
	uses := v.lastUses(result)
	masks := pool{6, 5, 4, 3, 2, 1}
	regs := poolBelow(last)
	at := make([]int, len(v.code))
	where := func(a value) string {
		if a.index < 0 {
			return a.name
		}
		if g.avx512 && v.code[a.index].mask {
			return fmt.Sprintf("K%d", at[a.index])
		}
		return g.reg(at[a.index])
	}
	for i, ins := range v.code {
		dies := func(a value) bool { return a.index >= 0 && uses[a.index] == i }
		free := func() {
			for j, a := range ins.args {
				if dies(a) && !slices.ContainsFunc(ins.args[:j], func(b value) bool { return b.index == a.index }) {
					if g.avx512 && v.code[a.index].mask {
						masks.put(at[a.index])
					} else {
						regs.put(at[a.index])
					}
				}
			}
		}
		// loaded returns a register that holds a.
		loaded := func(a value) (string, func()) {
			if !a.mem {
				return where(a), func() {}
			}
			r := regs.take()
			g.op("%s %s, %s", g.ins("VMOVU"), a.name, g.reg(r))
			return g.reg(r), func() { regs.put(r) }
		}
		switch ins.name {
		case "LOAD":
			at[i] = regs.take()
			g.loadLanes(ins.imm, g.reg(at[i]))
			continue
		case "HALF":
			from := where(ins.args[0])
			free()
			at[i] = regs.take()
			short := map[bool]string{true: "Y", false: "X"}[g.avx512] + strconv.Itoa(at[i])
			g.op("VCVTPS2PH $0, %s, %s", from, short)
			g.op("VCVTPH2PS %s, %s", short, g.reg(at[i]))
			continue
		case "FMA", "FMS":
			at[i] = g.fused(ins, dies, where, &regs, at)
			continue
		case "CHOOSE":
			no, done := loaded(ins.args[2])
			mask, yes := where(ins.args[0]), where(ins.args[1])
			free()
			at[i] = regs.take()
			if g.avx512 {
				g.op("%s %s, %s, %s, %s", map[int]string{4: "VBLENDMPS", 8: "VBLENDMPD"}[g.width], yes, no, mask, g.reg(at[i]))
			} else {
				g.op("%s %s, %s, %s, %s", map[int]string{4: "VBLENDVPS", 8: "VBLENDVPD"}[g.width], mask, yes, no, g.reg(at[i]))
			}
			done()
			continue
		}
		name := ins.name
		switch {
		case name == "ROUND" && g.avx512:
			name = g.ins("VRNDSCALE")
		case name == "ROUND":
			name = g.ins("VROUND")
		case (name == "AND" || name == "OR" || name == "XOR") && g.avx512:
			name = "VP" + name + map[int]string{4: "D", 8: "Q"}[g.width]
		case name == "AND" || name == "OR" || name == "XOR":
			name = g.ins("V" + name)
		case !strings.HasPrefix(name, "VP"):
			name = g.ins(name)
		}
		var operands []string
		if ins.imm != "" {
			operands = append(operands, ins.imm)
		}
		done := func() {}
		switch len(ins.args) {
		case 1:
			operands = append(operands, where(ins.args[0]))
		case 2:
			var first string
			first, done = loaded(ins.args[0])
			operands = append(operands, where(ins.args[1]), first)
		}
		free()
		if ins.mask && g.avx512 {
			at[i] = masks.take()
			operands = append(operands, fmt.Sprintf("K%d", at[i]))
		} else {
			at[i] = regs.take()
			operands = append(operands, g.reg(at[i]))
		}
		g.op("%s %s", name, strings.Join(operands, ", "))
		done()
	}
	return where(result)
}

// emitted emits what a result needs, where some values are operands.
func (g *generator) emitted(v *vector, result value, operands map[int]value, last int) string {
	o, r := v.only(result, operands)
	return g.emit(o, r, last)
}

// fused emits a*b+c or a*b-c over the register of an operand that nothing else reads, or
// over a copy of one.
func (g *generator) fused(ins instruction, dies func(value) bool, where func(value) string, regs *pool, at []int) int {
	name := map[string]string{"FMA": "VFMADD", "FMS": "VFMSUB"}[ins.name]
	a, b, c := ins.args[0], ins.args[1], ins.args[2]
	if a.mem || !dies(a) && dies(b) && !b.mem {
		a, b = b, a
	}
	own := func(x, other, another value) bool {
		return dies(x) && x.index != other.index && x.index != another.index
	}
	release := func(keep int) {
		seen := []int{keep}
		for _, x := range []value{a, b, c} {
			if dies(x) && !slices.Contains(seen, x.index) {
				regs.put(at[x.index])
				seen = append(seen, x.index)
			}
		}
	}
	switch {
	case own(a, b, c) && !(b.mem && c.mem):
		r := at[a.index]
		if c.mem { // a = a*b + c
			g.op("%s %s, %s, %s", g.ins(name+"213"), where(c), where(b), g.reg(r))
		} else {
			g.op("%s %s, %s, %s", g.ins(name+"132"), where(b), where(c), g.reg(r))
		}
		release(a.index)
		return r
	case own(c, a, b):
		r := at[c.index]
		g.op("%s %s, %s, %s", g.ins(name+"231"), where(b), where(a), g.reg(r))
		release(c.index)
		return r
	}
	r := regs.take()
	g.op("%s %s, %s", g.ins("VMOVU"), where(c), g.reg(r))
	if a.mem { // both are constants
		panic("asmgen: a product of constants")
	}
	g.op("%s %s, %s, %s", g.ins(name+"231"), where(b), where(a), g.reg(r))
	release(-1)
	return r
}

// A pool has the registers that are free.
type pool []int

// poolBelow returns registers 0 to last-1, the first of which is taken first.
func poolBelow(last int) (p pool) {
	for i := last - 1; i >= 0; i-- {
		p = append(p, i)
	}
	return p
}

func (p *pool) take() int {
	last := len(*p) - 1
	if last < 0 {
		panic("asmgen: the program needs more registers than there are")
	}
	r := (*p)[last]
	*p = (*p)[:last]
	return r
}

func (p *pool) put(r int) { *p = append(*p, r) }

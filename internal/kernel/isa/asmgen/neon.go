package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The instructions of arm64 on vectors of four float32 or two float64, most of which Go's
// assembler does not have: they are written as words, with the registers d, n and m put in.
// Those of floating-point numbers have bit 22 set for float64.
//
// Source: Arm, "Arm Architecture Reference Manual for A-profile architecture", C7.2.
var neonWords = map[string]uint32{
	"VADD": 0x4e20d400, "VSUB": 0x4ea0d400, "VMUL": 0x6e20dc00, "VDIV": 0x6e20fc00,
	"MAXIMUM": 0x4e20f400, "MINIMUM": 0x4ea0f400,
	"VSQRT": 0x6ea1f800, "VCVTDQ2": 0x4e21d800,
	"AND": 0x4e201c00, "OR": 0x4ea01c00, "XOR": 0x6e201c00,
	"VPADDD": 0x4ea08400, "VPSUBD": 0x6ea08400, "VPMAXSD": 0x4ea06400,
}

// neonVectors are the instructions of [generator.vectors], by their names for amd64. A register is
// moved as n | n.
var neonVectors = map[string]uint32{
	"VMOVAPS": neonORR, "VADDPS": neonWords["VADD"], "VSUBPS": neonWords["VSUB"], "VMULPS": neonWords["VMUL"],
	"VFMADD231PS": neonFMLA, "VFNMADD231PS": neonFMLS,
}

const (
	neonFMLS  = 0x4ea0cc00 // d -= n*m
	neonFMLA  = 0x4e20cc00 // d += n*m
	neonFCMGT = 0x6ea0e400 // n > m
	neonFCMGE = 0x6e20e400
	neonFCMEQ = 0x4e20e400
	neonCMGT  = 0x4ea03400 // of 32-bit integers
	neonCMGE  = 0x4ea03c00
	neonCMEQ  = 0x6ea08c00
	neonFNEG  = 0x6ea0f800
	neonNOT   = 0x6e205800
	neonAND   = 0x4e201c00
	neonBSL   = 0x6e601c00 // d = d ? n : m
	neonBIF   = 0x6ee01c00 // d = m ? d : n
	neonORR   = 0x4ea01c00
	neonSHL   = 0x4f005400
	neonSSHR  = 0x4f000400
	neonUSHR  = 0x6f000400
	neonFCVTN = 0x0e216800 // four float16 of four float32
	neonFCVTL = 0x0e217800 // and back

	neonFCVTLWide = 0x0e617800 // two float64 of two float32
	neonFCVTNWide = 0x0e616800 // and back

	neonSHLL16 = 0x2e613800 // four 16-bit lanes to the upper halves of 32-bit ones
	neonSHRN16 = 0x0f108400 // and back
	// Lanes widened to twice their bits: unsigned and signed ones of 8 and of 16.
	neonUXTL8, neonUXTL16 = 0x2f08a400, 0x2f10a400
	neonSXTL8, neonSXTL16 = 0x0f08a400, 0x0f10a400
	neonHigh              = 1 << 30 // of the upper half of the lanes

	neonSDOT     = 0x4e809400 // four bytes of n by four of m, added to each lane
	neonUDOT     = 0x6e809400
	neonUSDOT    = 0x4e809c00 // those of n unsigned, and those of m signed
	neonMULWords = 0x4e609c00 // of 16 bits
	neonSADALP   = 0x4e606800 // d += the pairs of signed words of n
	neonADDP     = 0x4ea0bc00 // the pairs of n, and then of m
	neonFMAXNM   = 0x4e20c400 // the greater, or the one that is no NaN
	neonFMINNM   = 0x4ea0c400
	neonFCVTNS   = 0x4e21a800 // to the nearest integer, ties to even
)

// neonRounds are the instructions that round, by the modes of [vector.round].
var neonRounds = [4]uint32{0x4e218800, 0x4e219800, 0x4ea18800, 0x4ea19800}

// floating reports whether an instruction is about floating-point numbers.
func floating(name string) bool {
	return name != "AND" && name != "OR" && name != "XOR" && !strings.HasPrefix(name, "VP")
}

func (g *generator) word(base uint32, float bool, d, n, m int) {
	if float && g.width == 8 {
		base |= 1 << 22
	}
	g.op("WORD $%#08x", base|uint32(m)<<16|uint32(n)<<5|uint32(d))
}

// neonReg returns the number in the name of a register.
func neonReg(name string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "V"))
	if err != nil {
		panic(err)
	}
	return n
}

// emitNEON is emit for arm64, and returns how many registers it takes as well: R10 is where the constants
// begin.
func (g *generator) emitNEON(v *vector, result value, last int) (register, used int) {
	uses, regs, at := v.lastUses(result), poolBelow(last), make([]int, len(v.code))
	take := func() int {
		r := regs.take()
		used = max(used, r+1)
		return r
	}
	for i, ins := range v.code {
		var temporary []int
		in := func(a value) int {
			switch {
			case a.mem:
				r := take()
				temporary = append(temporary, r)
				g.neonConstant(a.name, r)
				return r
			case a.index < 0:
				return neonReg(a.name)
			}
			return at[a.index]
		}
		// free gives back the registers of what is read here last, but for one.
		free := func(but int) {
			seen := []int{but}
			for _, a := range ins.args {
				if a.index >= 0 && uses[a.index] == i && !slices.Contains(seen, at[a.index]) {
					regs.put(at[a.index])
					seen = append(seen, at[a.index])
				}
			}
			for _, r := range temporary {
				if r != but {
					regs.put(r)
				}
			}
		}
		// over returns a register with a that may be written over, while the others are read.
		over := func(a value, others ...value) int {
			r := in(a)
			own := a.mem || a.index >= 0 && uses[a.index] == i
			for _, o := range others {
				own = own && (o.index < 0 || o.index != a.index)
			}
			if own {
				return r
			}
			c := take()
			g.word(neonORR, false, c, r, r)
			return c
		}
		switch ins.name {
		case "LOAD":
			at[i] = take()
			g.op("FMOVQ %s, F%d", ins.imm, at[i])
		case "HALF":
			n := in(ins.args[0])
			free(-1)
			at[i] = take()
			g.word(neonFCVTN, false, at[i], n, 0)
			g.word(neonFCVTL, false, at[i], at[i], 0)
		case "FMA", "FMS":
			a, b, c := ins.args[0], ins.args[1], ins.args[2]
			n, m := in(a), in(b)
			d := over(c, a, b)
			if ins.name == "FMS" {
				g.word(neonFNEG, true, d, d, 0)
			}
			g.word(neonFMLA, true, d, n, m)
			free(d)
			at[i] = d
		case "CHOOSE":
			n, m := in(ins.args[1]), in(ins.args[2])
			d := over(ins.args[0])
			g.word(neonBSL, false, d, n, m)
			free(d)
			at[i] = d
		case "VCMP", "VMIN", "VMAX":
			n, m := in(ins.args[0]), in(ins.args[1])
			d := take()
			switch ins.name + ins.imm {
			case "VMIN":
				g.word(neonFCMGT, true, d, m, n)
			case "VMAX":
				g.word(neonFCMGT, true, d, n, m)
			case "VCMP$17": // less
				g.word(neonFCMGT, true, d, m, n)
			case "VCMP$0": // equal
				g.word(neonFCMEQ, true, d, n, m)
			case "VCMP$22": // above
				g.word(neonFCMGE, true, d, m, n)
				g.word(neonNOT, false, d, d, 0)
			case "VCMP$3": // unordered
				r := take()
				g.word(neonFCMEQ, true, d, n, n)
				g.word(neonFCMEQ, true, r, m, m)
				g.word(neonAND, false, d, d, r)
				g.word(neonNOT, false, d, d, 0)
				regs.put(r)
			default:
				panic("asmgen: no comparison " + ins.imm)
			}
			if ins.name != "VCMP" {
				g.word(neonBSL, false, d, n, m)
			}
			free(d)
			at[i] = d
		default:
			n, m := in(ins.args[0]), 0
			base, ok := neonWords[ins.name]
			imm, _ := strconv.Atoi(strings.TrimPrefix(ins.imm, "$"))
			switch ins.name {
			case "ROUND":
				base = neonRounds[imm&3]
			case "VPSLLD":
				base = neonSHL | uint32(32+imm)<<16
			case "VPSLLQ":
				base = neonSHL | uint32(64+imm)<<16
			case "VPSRAD":
				base = neonSSHR | uint32(64-imm)<<16
			case "VPSRLD":
				base = neonUSHR | uint32(64-imm)<<16
			default:
				if !ok {
					panic("asmgen: no instruction " + ins.name)
				}
			}
			if len(ins.args) > 1 {
				m = in(ins.args[1])
			}
			free(-1)
			at[i] = take()
			g.word(base, floating(ins.name), at[i], n, m)
		}
	}
	return at[result.index], used
}

// neonConstant emits the load of a constant by the name of its memory.
func (g *generator) neonConstant(name string, to int) {
	g.op("FMOVQ %s(R10), F%d", strings.TrimSuffix(strings.TrimPrefix(name, "vectors<>+"), "(SB)"), to)
}

// memory returns the names of the constants that a program reads, in the order in which it does.
func (v *vector) memory() (names []string) {
	for _, ins := range v.code {
		for _, a := range ins.args {
			if a.mem && !slices.Contains(names, a.name) {
				names = append(names, a.name)
			}
		}
	}
	return names
}

// hold has a program read some constants from registers.
func (v *vector) hold(constants map[string]value) {
	for _, ins := range v.code {
		for i, a := range ins.args {
			if held, ok := constants[a.name]; ok && a.mem {
				ins.args[i] = held
			}
		}
	}
}

// mapLoopNEON is mapLoop for arm64. The lanes that are left go through a buffer on the stack,
// 16 bytes for each operand and for the result.
func (g *generator) mapLoopNEON(m mapped) {
	f, pointers, lanes := m.function, []string{"R1", "R2", "R3"}, g.lanes()
	arrangement := map[int]string{4: "S4", 8: "D2"}[g.width]
	fmt.Fprintf(g, "TEXT ·%s(SB), NOSPLIT, $64-48\n", m.label())
	g.op("MOVD dst+0(FP), R0")
	for i, arg := range []string{"a", "b", "c"}[:f.arity] {
		g.op("MOVD %s+%d(FP), %s", arg, 8+8*i, pointers[i])
	}
	g.op("MOVD n+32(FP), R4")
	g.op("MOVD $vectors<>(SB), R10")
	last, operands := 32, make([]value, f.arity+f.attrs)
	own := func() value {
		last--
		return value{index: -1, name: fmt.Sprintf("V%d", last)}
	}
	for i := range f.arity {
		if m.scalars>>i&1 == 1 {
			operands[i] = own()
			g.op("VLD1R (%s), [%s.%s]", pointers[i], operands[i].name, arrangement)
		}
	}
	for i := range f.attrs {
		if i == 0 {
			g.op("MOVD p+40(FP), R5")
		}
		operands[f.arity+i] = own()
		g.op("FMOVD %d(R5), F0", 8*i)
		if g.width == 4 {
			g.op("FCVTDS F0, F0")
		}
		g.op("VDUP V0.%c[0], %s.%s", arrangement[0], operands[f.arity+i].name, arrangement)
	}
	program := func(address func(operand int) string) (*vector, value) {
		v, x := new(vector), slices.Clone(operands)
		for i := range f.arity {
			if m.scalars>>i&1 == 0 {
				x[i] = v.append("LOAD", address(i))
			}
		}
		return v, f.body(g, v, x)
	}
	// What is the same for all lanes is computed once, and constants stay in the registers that the
	// program leaves.
	once, held := make(map[int]value), make(map[string]value)
	v, result := program(func(int) string { return "" })
	for _, i := range v.invariants(result) {
		o, r := v.only(value{index: i}, once)
		from, _ := g.emitNEON(o, r, last)
		once[i] = own()
		g.neonCopy(from, last)
	}
	o, left := v.only(result, once)
	_, used := (&generator{kind: g.kind}).emitNEON(o, left, last)
	for _, name := range o.memory() {
		if last > used {
			held[name] = own()
			g.neonConstant(name, last)
		}
	}
	body := func(address func(operand int) string) int {
		v, result := program(address)
		o, r := v.only(result, once)
		o.hold(held)
		register, _ := g.emitNEON(o, r, last)
		return register
	}
	loop := func(n int, then string) {
		g.label("next%d", n)
		g.op("CMP $%d, R4", n*lanes)
		g.op("BLT %s", then)
		for k := range n {
			r := body(func(i int) string { return fmt.Sprintf("%d(%s)", 16*k, pointers[i]) })
			g.op("FMOVQ F%d, %d(R0)", r, 16*k)
		}
		for i := range f.arity {
			if m.scalars>>i&1 == 0 {
				g.op("ADD $%d, %s", 16*n, pointers[i])
			}
		}
		g.op("ADD $%d, R0", 16*n)
		g.op("SUB $%d, R4", n*lanes)
		g.op("B next%d", n)
	}
	if f.short {
		loop(4, "next1")
	}
	loop(1, "rest")
	g.label("rest")
	g.op("CBZ R4, done")
	move := map[int]string{4: "MOVWU", 8: "MOVD"}[g.width]
	store := map[int]string{4: "MOVW", 8: "MOVD"}[g.width]
	g.op("MOVD $buf-64(SP), R11")
	g.op("MOVD $0, R12")
	g.label("fetch")
	for i := range f.arity {
		if m.scalars>>i&1 == 0 {
			g.op("ADD $%d, R11, R14", 16*i)
			g.op("%s (%s)(R12<<%d), R13", move, pointers[i], g.shift())
			g.op("%s R13, (R14)(R12<<%d)", store, g.shift())
		}
	}
	g.op("ADD $1, R12")
	g.op("CMP R4, R12")
	g.op("BLT fetch")
	r := body(func(i int) string { return fmt.Sprintf("%d(R11)", 16*i) })
	g.op("FMOVQ F%d, 48(R11)", r)
	g.op("ADD $48, R11")
	g.op("MOVD $0, R12")
	g.label("write")
	g.op("%s (R11)(R12<<%d), R13", move, g.shift())
	g.op("%s R13, (R0)(R12<<%d)", store, g.shift())
	g.op("ADD $1, R12")
	g.op("CMP R4, R12")
	g.op("BLT write")
	g.label("done")
	g.op("RET")
}

package main

import "fmt"

// What the loops for arm64 are written with. There are no masks of lanes: what does not fill a
// register is done a lane at a time, by the same instructions.

var neonKinds = []kind{
	{name: "32NEON", neon: true, width: 4, rows: neonRows},
	{name: "64NEON", neon: true, width: 8, rows: neonRows},
}

// eachNEON calls emit for either width of elements.
func (g *generator) eachNEON(emit func()) {
	for _, g.kind = range neonKinds {
		emit()
	}
}

// neonFMLAElement is d += n*m[lane].
const neonFMLAElement = 0x4f801000

// neonByElement emits d += n*m[lane].
func (g *generator) neonByElement(d, n, m, lane int) {
	base := uint32(neonFMLAElement)
	if g.width == 4 {
		base |= uint32(lane&1)<<21 | uint32(lane>>1)<<11
	} else {
		base |= uint32(lane) << 11
	}
	g.word(base, true, d, n, m)
}

// neonFused emits d += n*m.
func (g *generator) neonFused(d, n, m int) { g.word(neonFMLA, true, d, n, m) }

// neonOp emits d = n op m, by a name of [neonWords].
func (g *generator) neonOp(name string, d, n, m int) {
	g.word(neonWords[name], floating(name), d, n, m)
}

// neonCopy emits the copy of a register.
func (g *generator) neonCopy(from, to int) { g.word(neonORR, false, to, from, from) }

func (g *generator) neonZero(r int) { g.op("VEOR V%d.B16, V%[1]d.B16, V%[1]d.B16", r) }

// neonMove returns the instruction that moves an element.
func (g *generator) neonMove() string { return map[int]string{4: "FMOVS", 8: "FMOVD"}[g.width] }

// neonArrangement returns how registers hold elements.
func (g *generator) neonArrangement() string { return map[int]string{4: "S4", 8: "D2"}[g.width] }

// neonLoad emits the load of a register, or of its first lane, which makes the others 0.
func (g *generator) neonLoad(lane bool, from string, to int) {
	g.op("%s %s, F%d", g.neonMoveOf(lane), from, to)
}

// neonStore emits the store of a register, or of its first lane.
func (g *generator) neonStore(lane bool, from int, to string) {
	g.op("%s F%d, %s", g.neonMoveOf(lane), from, to)
}

func (g *generator) neonMoveOf(lane bool) string {
	if lane {
		return g.neonMove()
	}
	return "FMOVQ"
}

// neonLoads emits the loads of registers from one on, of what follows one another.
func (g *generator) neonLoads(n int, from string, to int) {
	for i := 0; i < n; i += 2 {
		if i+1 < n {
			g.op("FLDPQ %d(%s), (F%d, F%d)", 16*i, from, to+i, to+i+1)
		} else {
			g.op("FMOVQ %d(%s), F%d", 16*i, from, to+i)
		}
	}
}

// neonSpans emits a loop over as many elements as a register counts, which it leaves at 0: in
// blocks of so many registers, most first, and then by lanes. Pointers are moved along.
func (g *generator) neonSpans(blocks []int, count, name string, body func(regs int, lane bool), pointers ...string) {
	lanes := g.lanes()
	step := func(label, next string, elements, regs int, lane bool) {
		g.label("%s", label)
		g.op("CMP $%d, %s", elements, count)
		g.op("BLT %s", next)
		body(regs, lane)
		for _, p := range pointers {
			g.op("ADD $%d, %s", elements*g.width, p)
		}
		g.op("SUB $%d, %s", elements, count)
		g.op("B %s", label)
	}
	for i, regs := range blocks {
		next := name + "lane"
		if i+1 < len(blocks) {
			next = fmt.Sprintf("%s%d", name, blocks[i+1])
		}
		step(fmt.Sprintf("%s%d", name, regs), next, regs*lanes, regs, false)
	}
	step(name+"lane", name+"end", 1, 1, true)
	g.label("%send", name)
}

// neonArgs emits the loads of arguments, and steps in bytes of those of elements.
func (g *generator) neonArgs(steps bool, to map[int]string) {
	for r := range 31 {
		if arg, ok := to[r]; ok {
			g.op("MOVD %s, R%d", arg, r)
			if steps {
				g.op("LSL $%d, R%d, R%[2]d", g.shift(), r)
			}
		}
	}
}

// neonLines emits pointers to n lines, in registers from first on: at from, and a step apart.
func (g *generator) neonLines(first, n int, from, step string) {
	g.op("MOVD %s, R%d", from, first)
	for i := 1; i < n; i++ {
		g.op("ADD %s, R%d, R%d", step, first+i-1, first+i)
	}
}

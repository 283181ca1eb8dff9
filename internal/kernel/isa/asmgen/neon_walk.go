package main

import "fmt"

// A neonWalk is a loop for arm64 over the planes and rows of a grid and over blocks of their columns, and
// in each block over taps.
//
// R0 and R1 are where a plane of y and of x begins, R4 and R5 a row, and R13 and R14 a block
// of columns. R2 is the grid. R15, R3 and R6 count planes, rows and columns down, and R8 taps. R21 has the
// offsets of a plane, and R7 walks them. R11 and R12 are for what is computed in between.
type neonWalk struct {
	last   bool     // channels are last: each plane has offsets of its own, and some are below 0, of padding
	atX    string   // the argument that says where x begins, if one does
	taps   string   // the argument that has the number of offsets of a plane; there are none without
	blocks []int    // registers of columns
	moved  []string // pointers to columns beside R13 and R14

	row   func()                    // what is done before a row
	begin func(regs int)            // before the taps of a block
	tap   func(regs int, lane bool) // for a tap, which meets the block at R11
	pad   func(regs int, lane bool) // for one in the padding; nothing if nil
	end   func(b neonBlock)         // behind the taps
	plane func()                    // behind a plane
}

// A neonBlock is a number of registers of columns, or one lane.
type neonBlock struct {
	name string // begins labels
	regs int
	lane bool
}

// none is what does nothing.
func none() {}

func (g *generator) neonWalk(w neonWalk) {
	g.op("MOVD y+0(FP), R0")
	g.op("MOVD x+8(FP), R1")
	if w.atX != "" {
		g.op("MOVD %s, R12", w.atX)
		g.op("ADD R12<<%d, R1", g.shift())
	}
	g.op("MOVD grid+16(FP), R2")
	if w.taps != "" {
		g.op("MOVD offsets+24(FP), R21")
	}
	g.op("MOVD %d(R2), R15", planes)
	g.label("plane")
	g.op("MOVD R0, R4")
	g.op("MOVD R1, R5")
	g.op("MOVD %d(R2), R3", rows)
	g.label("row")
	g.op("MOVD R4, R13")
	g.op("MOVD R5, R14")
	w.row()
	g.op("MOVD %d(R2), R6", cols)
	g.neonSpans(w.blocks, "R6", "next", func(regs int, lane bool) {
		b := neonBlock{fmt.Sprintf("r%d", regs), regs, lane}
		if lane {
			b.name = "lane"
		}
		w.begin(regs)
		if w.taps != "" {
			g.neonWalkTaps(w, b)
		}
		w.end(b)
	}, append([]string{"R13", "R14"}, w.moved...)...)
	g.neonStep(rowY, "R4")
	g.neonStep(rowX, "R5")
	g.op("SUB $1, R3")
	g.op("CBNZ R3, row")
	g.neonStep(planeY, "R0")
	g.neonStep(planeX, "R1")
	if w.last {
		g.op("MOVD %s, R12", w.taps)
		g.op("ADD R12<<3, R21")
	}
	w.plane()
	g.op("SUB $1, R15")
	g.op("CBNZ R15, plane")
	g.op("RET")
}

// neonWalkTaps emits the loop over the taps of a block.
func (g *generator) neonWalkTaps(w neonWalk, b neonBlock) {
	g.op("MOVD R21, R7")
	g.op("MOVD %s, R8", w.taps)
	g.label("%stap", b.name)
	g.op("MOVD.P 8(R7), R11")
	if w.last {
		g.op("TBNZ $63, R11, %s%s", b.name, map[bool]string{true: "padding", false: "after"}[w.pad != nil])
	}
	g.op("ADD R11<<%d, R14, R11", g.shift())
	w.tap(b.regs, b.lane)
	g.label("%safter", b.name)
	g.op("SUB $1, R8")
	g.op("CBNZ R8, %stap", b.name)
	if w.pad != nil {
		g.op("B %stapped", b.name)
		g.label("%spadding", b.name)
		w.pad(b.regs, b.lane)
		g.op("B %safter", b.name)
		g.label("%stapped", b.name)
	}
}

// neonStep moves a pointer by a step of the grid at R2.
func (g *generator) neonStep(field int, pointer string) {
	g.op("MOVD %d(R2), R12", field)
	g.op("ADD R12<<%d, %s", g.shift(), pointer)
}

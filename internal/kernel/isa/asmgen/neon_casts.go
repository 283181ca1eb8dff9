package main

import "fmt"

// neonCasts are the conversions of casts.go for arm64, by their names: of four elements, which begin
// register 8, to the others in their place.
var neonCasts = map[string]func(g *generator){
	"Float16ToFloat32":  func(g *generator) { g.word(neonFCVTL, false, 8, 8, 0) },
	"Float32ToFloat16":  func(g *generator) { g.word(neonFCVTN, false, 8, 8, 0) },
	"BFloat16ToFloat32": func(g *generator) { g.word(neonSHLL16, false, 8, 8, 0) },
	"Float32ToBFloat16": func(g *generator) {
		v := new(vector)
		r, _ := g.emitNEON(v, g.brain(v, value{index: -1, name: "V8"}), 8)
		g.word(neonSHRN16, false, 8, r, 0)
	},
	"Uint8ToFloat32": func(g *generator) { g.neonFloats(neonUXTL8, neonUXTL16) },
	"Int8ToFloat32":  func(g *generator) { g.neonFloats(neonSXTL8, neonSXTL16) },
	"Int32ToFloat32": func(g *generator) { g.neonFloats() },
}

// neonFloats widens the integers in register 8 and converts them.
func (g *generator) neonFloats(widen ...uint32) {
	for _, w := range widen {
		g.word(w, false, 8, 8, 0)
	}
	g.neonOp("VCVTDQ2", 8, 8, 0)
}

func (g *generator) neonCastFile() {
	g.kind = kind{name: "NEON", neon: true, width: 4}
	for _, c := range castsOf("NEON") {
		g.neonCastLoop(c)
	}
	g.emitConstants()
}

func (g *generator) neonCastLoop(c castLoop) {
	move := map[int]string{4: "FMOVS", 8: "FMOVD", 16: "FMOVQ"} // by bytes
	from, to := c.from*g.lanes(), c.to*g.lanes()
	fmt.Fprintf(g, "\n// func cast%sNEON(dst, a *byte, n int)\n", c.name)
	fmt.Fprintf(g, "TEXT ·cast%sNEON(SB), NOSPLIT, $0-24\n", c.name)
	g.op("MOVD dst+0(FP), R0")
	g.op("MOVD a+8(FP), R1")
	g.op("MOVD n+16(FP), R2")
	g.op("MOVD $vectors<>(SB), R10")
	for _, n := range []int{4, 1} {
		g.label("next%d", n)
		g.op("CMP $%d, R2", n*g.lanes())
		g.op("BLT %s", map[int]string{4: "next1", 1: "done"}[n])
		for i := range n {
			g.op("%s %d(R1), F8", move[from], i*from)
			neonCasts[c.name](g)
			g.op("%s F8, %d(R0)", move[to], i*to)
		}
		g.op("ADD $%d, R1", n*from)
		g.op("ADD $%d, R0", n*to)
		g.op("SUB $%d, R2", n*g.lanes())
		g.op("B next%d", n)
	}
	g.label("done")
	g.op("RET")
}

package main

import "fmt"

// neonComparisons are the comparisons of compare.go for arm64: an instruction, of float32 and of int32,
// with its operands in turn or the second first, and whether the opposite is meant, which so holds
// beside NaN.
var neonComparisons = map[string]struct {
	float32, int32   uint32
	second, opposite bool
}{
	"eq": {neonFCMEQ, neonCMEQ, false, false},
	"ne": {neonFCMEQ, neonCMEQ, false, true},
	"lt": {neonFCMGT, neonCMGT, true, false},
	"le": {neonFCMGE, neonCMGE, true, false},
	"gt": {neonFCMGT, neonCMGT, false, false},
	"ge": {neonFCMGE, neonCMGE, false, false},
}

func (g *generator) neonCompareFile() {
	g.kind = kind{name: "NEON", neon: true, width: 4}
	for _, c := range everyComparison() {
		g.neonCompareLoop(c)
	}
}

// neonCompareLoop writes a loop over four registers at a time, whose results fill one. Register 31 has
// the scalar, and register 30 ones.
func (g *generator) neonCompareLoop(c compared) {
	as := neonComparisons[c.name]
	ins := map[string]uint32{"Float32": as.float32, "Int32": as.int32}[c.dtype]
	fmt.Fprintf(g, "\n// func %s(dst, a, b *byte, n int)\n", c.label(g.name))
	fmt.Fprintf(g, "TEXT ·%s(SB), NOSPLIT, $0-32\n", c.label(g.name))
	g.op("MOVD dst+0(FP), R0")
	g.op("MOVD a+8(FP), R1")
	g.op("MOVD b+16(FP), R2")
	g.op("MOVD n+24(FP), R3")
	if c.scalar {
		g.op("VLD1R (R2), [V31.S4]")
	}
	g.op("VMOVI $1, V30.B16")
	g.label("next")
	g.op("SUBS $16, R3")
	g.op("BLT done")
	for q := range 4 {
		n, m := q, 31
		g.op("FMOVQ.P 16(R1), F%d", q)
		if !c.scalar {
			m = 4 + q
			g.op("FMOVQ.P 16(R2), F%d", m)
		}
		if as.second {
			n, m = m, n
		}
		g.word(ins, false, q, n, m)
	}
	g.op("VUZP1 V1.H8, V0.H8, V0.H8")
	g.op("VUZP1 V3.H8, V2.H8, V2.H8")
	g.op("VUZP1 V2.B16, V0.B16, V0.B16")
	g.neonOp("AND", 0, 0, 30)
	if as.opposite {
		g.neonOp("XOR", 0, 0, 30)
	}
	g.op("FMOVQ.P F0, 16(R0)")
	g.op("B next")
	g.label("done")
	g.op("RET")
}

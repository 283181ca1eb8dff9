package main

import (
	"fmt"
	"slices"
	"strings"
)

// A castLoop converts whole registers of elements: load gives float32 in lanes of what lies
// in memory, store writes them back; nil where that side is float32 itself.
type castLoop struct {
	name        string // the types of package dtype, with "To" between
	from, to    int    // bytes of an element
	load, store func(g *generator, at string)
}

// The lanes are in register 8.

func (g *generator) loadHalf(at string)  { g.op("VCVTPH2PS %s, %s", at, g.reg(8)) }
func (g *generator) storeHalf(at string) { g.op("VCVTPS2PH $0, %s, %s", g.reg(8), at) }

func (g *generator) loadBrain(at string) {
	g.op("VPMOVZXWD %s, %s", at, g.reg(8))
	g.op("VPSLLD $16, %s, %s", g.reg(8), g.reg(8))
}

// brain rounds to a bfloat16 in the upper half of the lane, the nearest, ties to even: it adds
// half a unit less one, and one more where the last bit that stays is set. NaN would carry
// over, and keeps its upper bits, quiet.
func (g *generator) brain(v *vector, x value) value {
	odd := v.and(v.right(x, 16), g.bits32(1))
	rounded := v.addInts(v.addInts(x, g.bits32(0x7fff)), odd)
	return v.choose(v.unordered(x, x), v.or(x, g.bits32(1<<22)), rounded)
}

func (g *generator) storeBrain(at string) {
	v := new(vector)
	r := g.emit(v, v.right(g.brain(v, value{index: -1, name: g.reg(8)}), 16), 8)
	if g.avx512 {
		g.op("VPMOVDW %s, %s", r, at)
		return
	}
	// The lower words of eight lanes, as four and four.
	low := "X" + r[1:]
	g.op("VEXTRACTI128 $1, %s, X9", r)
	g.op("VPACKUSDW X9, %s, %s", low, low)
	g.op("VMOVDQU %s, %s", low, at)
}

func (g *generator) loadByte(at string)  { g.loadInt("VPMOVZXBD", at) }
func (g *generator) loadInt8(at string)  { g.loadInt("VPMOVSXBD", at) }
func (g *generator) loadInt32(at string) { g.op("VCVTDQ2PS %s, %s", at, g.reg(8)) }

func (g *generator) loadInt(widen, at string) {
	g.op("%s %s, %s", widen, at, g.reg(8))
	g.op("VCVTDQ2PS %s, %s", g.reg(8), g.reg(8))
}

var castLoops = []castLoop{
	{name: "Float16ToFloat32", from: 2, to: 4, load: (*generator).loadHalf},
	{name: "Float32ToFloat16", from: 4, to: 2, store: (*generator).storeHalf},
	{name: "BFloat16ToFloat32", from: 2, to: 4, load: (*generator).loadBrain},
	{name: "Float32ToBFloat16", from: 4, to: 2, store: (*generator).storeBrain},
	{name: "Uint8ToFloat32", from: 1, to: 4, load: (*generator).loadByte},
	{name: "Int8ToFloat32", from: 1, to: 4, load: (*generator).loadInt8},
	{name: "Int32ToFloat32", from: 4, to: 4, load: (*generator).loadInt32},
}

// castFile writes the loops of both sets.
func (g *generator) castFile() {
	for _, set := range []string{"AVX512", "AVX2"} {
		g.kind = kind{name: set, avx512: set == "AVX512", width: 4}
		for _, c := range castLoops {
			g.castLoop(c)
		}
	}
	g.emitConstants()
}

func (g *generator) castLoop(c castLoop) {
	fmt.Fprintf(g, "\n// func cast%s%s(dst, a *byte, n int)\n", c.name, g.name)
	fmt.Fprintf(g, "TEXT ·cast%s%s(SB), NOSPLIT, $0-24\n", c.name, g.name)
	g.op("MOVQ dst+0(FP), DI")
	g.op("MOVQ a+8(FP), SI")
	g.op("MOVQ n+16(FP), CX")
	for _, n := range []int{4, 1} {
		g.label("next%d", n)
		g.op("CMPQ CX, $%d", n*g.lanes())
		g.op("JLT %s", map[int]string{4: "next1", 1: "done"}[n])
		for i := range n {
			from, to := fmt.Sprintf("%d(SI)", i*c.from*g.lanes()), fmt.Sprintf("%d(DI)", i*c.to*g.lanes())
			if c.load != nil {
				c.load(g, from)
			} else {
				g.op("VMOVUPS %s, %s", from, g.reg(8))
			}
			if c.store != nil {
				c.store(g, to)
			} else {
				g.op("VMOVUPS %s, %s", g.reg(8), to)
			}
		}
		g.op("ADDQ $%d, SI", n*c.from*g.lanes())
		g.op("ADDQ $%d, DI", n*c.to*g.lanes())
		g.op("SUBQ $%d, CX", n*g.lanes())
		g.op("JMP next%d", n)
	}
	g.label("done")
	g.op("VZEROUPPER")
	g.op("RET")
}

// castsOf returns the conversions of a set.
func castsOf(set string) []castLoop {
	if set != "NEON" {
		return castLoops
	}
	return slices.DeleteFunc(slices.Clone(castLoops), func(c castLoop) bool { return neonCasts[c.name] == nil })
}

// castStubs writes their declarations in Go, and the tables of them, for some sets.
func (g *generator) castStubs(sets ...string) {
	g.raw("\nimport \"github.com/berth-go/berth/dtype\"\n")
	for _, set := range sets {
		for _, c := range castsOf(set) {
			fmt.Fprintf(g, "\n//go:noescape\nfunc cast%s%s(dst, a *byte, n int)\n", c.name, set)
		}
		fmt.Fprintf(g, "\nvar casts%s = map[CastKey]Cast{\n", set)
		lanes := map[string]int{"AVX512": 16, "AVX2": 8, "NEON": 4}[set]
		for _, c := range castsOf(set) {
			from, to, _ := strings.Cut(c.name, "To")
			fmt.Fprintf(g, "\t{dtype.%s, dtype.%s}: checkedCast(%d, %d, %d, cast%s%s),\n", from, to, lanes, c.from, c.to, c.name, set)
		}
		g.raw("}\n")
	}
}

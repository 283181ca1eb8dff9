package main

import "fmt"

// Blocks of a matrix are transposed in registers of 256 bits by every set: the
// two halves of one work side by side, and more lanes at a time would have strips
// of more heights fall into none.

// transpose emits the transposition of n lanes of blocks of elements. A step of
// the loop takes as many elements of each lane as half a register has, or, with
// as many lanes, as a whole one.
func (g *generator) transpose(n int) {
	half := 16 / g.width
	step := half
	if n == half {
		step = 2 * half
	}
	fmt.Fprintf(g, "\n// func transpose%dx%d(dst, src *float%d, lane, steps, width int)\n", n, 8*g.width, 8*g.width)
	fmt.Fprintf(g, "TEXT ·transpose%dx%d(SB), NOSPLIT, $0-40\n", n, 8*g.width)
	g.op("MOVQ dst+0(FP), DI")
	g.op("MOVQ src+8(FP), SI")
	g.op("MOVQ lane+16(FP), R8")
	g.op("SHLQ $%d, R8", g.shift())
	g.op("MOVQ steps+24(FP), CX")
	g.op("MOVQ width+32(FP), R9")
	g.op("SHLQ $%d, R9", g.shift())
	g.lanePointers(n)
	g.label("loop")
	g.columns(n, 0)
	for k := range half {
		if n == half {
			g.op("VMOVUPS X%d, (DI)", k)
			g.op("LEAQ (DI)(R9*%d), R13", half)
			g.op("VEXTRACTF128 $1, Y%d, (R13)", k)
		} else {
			g.op("VMOVUPS Y%d, (DI)", k)
		}
		g.op("ADDQ R9, DI")
	}
	if n == half {
		g.op("LEAQ (DI)(R9*%d), DI", half)
	}
	g.advanceLanes(n, step*g.width)
	g.op("DECQ CX")
	g.op("JNZ loop")
	g.op("VZEROUPPER")
	g.op("RET")
}

// lanePointers sets the bases from which lanes R8 bytes apart are reached, SI
// being the first: each serves two lanes.
func (g *generator) lanePointers(n int) {
	at := []string{"SI", "R10", "R11", "R12"}
	for i := 2; i < n; i += 2 {
		g.op("LEAQ (%s)(R8*2), %s", at[i/2-1], at[i/2])
	}
}

// lane returns the address of lane i, at bytes on.
func (g *generator) lane(i, at int) string {
	return fmt.Sprintf([]string{"%d(%s)", "%d(%s)(R8*1)"}[i%2], at, []string{"SI", "R10", "R11", "R12"}[i/2])
}

// advanceLanes moves the pointers of n lanes by so many bytes.
func (g *generator) advanceLanes(n, bytes int) {
	for _, r := range []string{"SI", "R10", "R11", "R12"}[:n/2] {
		g.op("ADDQ $%d, %s", bytes, r)
	}
}

// columns loads the elements of n lanes from at bytes on and sets Y0, Y1, ... to
// the first, second, ... of all lanes. With n lanes to half a register, the upper
// halves have the elements that follow.
func (g *generator) columns(n, at int) {
	half := 16 / g.width
	for i := range half {
		if n == half {
			g.op("VMOVUPS %s, Y%d", g.lane(i, at), 4+i)
		} else {
			g.op("VMOVUPS %s, X%d", g.lane(i, at), 4+i)
			g.op("VINSERTF128 $1, %s, Y%d, Y%d", g.lane(half+i, at), 4+i, 4+i)
		}
	}
	if half == 2 {
		g.op("VUNPCKLPD Y5, Y4, Y0")
		g.op("VUNPCKHPD Y5, Y4, Y1")
		return
	}
	for i := range 2 { // lanes 0 and 1, 2 and 3
		g.op("VUNPCKLPS Y%d, Y%d, Y%d", 5+2*i, 4+2*i, 8+2*i)
		g.op("VUNPCKHPS Y%d, Y%d, Y%d", 5+2*i, 4+2*i, 9+2*i)
	}
	for i := range 2 {
		g.op("VUNPCKLPD Y%d, Y%d, Y%d", 10+i, 8+i, 2*i)
		g.op("VUNPCKHPD Y%d, Y%d, Y%d", 10+i, 8+i, 2*i+1)
	}
}

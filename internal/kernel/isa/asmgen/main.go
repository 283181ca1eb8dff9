// Asmgen writes the assembly of package isa, a file for each kind of loop, and
// declarations where these are many.
//
//	go generate ./internal/kernel/isa
//
// # Where to find what
//
//	main.go       the files, and what every loop is written with
//	tile.go       products
//	matvec.go     products of vectors and matrices
//	pack.go       packing for products
//	direct.go     products of images read in place
//	windows.go    products of windows read in place
//	conv.go       the packing of images for them
//	winograd.go   transforms of convolutions by minimal filtering
//	depthwise.go  convolutions of each channel for itself
//	pool.go       poolings
//	channels.go   both of images with their channels last
//	integer.go    products of bytes, and what is made of them
//	vector.go     programs over vectors, and their registers
//	maps.go       loops over elements, each a program
//	joined.go     functions in a row as one
//	functions.go  the programs of exponentials and the like
//	folds.go      sums, maxima and minima of blocks
//	casts.go      conversions
//	compare.go    comparisons
//
// For arm64, which has registers of 16 bytes and no masks of lanes, that is
//
//	neon.go          programs over vectors, and loops over elements
//	neon_moves.go    what the others are written with
//	neon_tile.go     products: tile.go, direct.go, windows.go
//	neon_vector.go   matvec.go, pack.go
//	neon_walk.go     what goes through the planes of a grid
//	neon_taps.go     sums of taps of depthwise.go and channels.go
//	neon_pool.go     pool.go, and the poolings of channels.go
//	neon_copy.go     what convolutions copy with
//	neon_winograd.go loads and stores of winograd.go
//	neon_integer.go  products of integer.go, and neon_quantize.go the rest of it
//	neon_folds.go, neon_casts.go, neon_compare.go
//	                 folds.go, casts.go, compare.go
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"log"
	"os"
	"path/filepath"
)

// files has what writes each file for one set and element width.
var files = map[string]func(g *generator){
	"tile_amd64.s": func(g *generator) {
		g.masks()
		g.each(func() {
			g.mulTile()
			g.spread()
		})
	},
	"depthwise_amd64.s": func(g *generator) {
		g.masks()
		g.indices()
		g.each(func() {
			g.tapRows()
			g.tap3x3()
			g.copyRows()
			g.split()
		})
	},
	"pool_amd64.s": func(g *generator) {
		g.masks()
		g.extremes()
		g.each(func() {
			g.maxRows()
			g.meanRows()
		})
	},
	"channels_amd64.s": func(g *generator) {
		g.masks()
		g.extremes()
		g.each(func() {
			g.lastTaps()
			g.lastLines(3)
			g.lastLines(5)
			g.lastMax()
			g.lastMean()
			g.lastPlane()
		})
	},
	"maps_amd64.s":     func(g *generator) { g.maps("AVX512", "AVX2") },
	"maps_amd64.go":    func(g *generator) { g.mapStubs("AVX512", "AVX2") },
	"maps_arm64.s":     func(g *generator) { g.maps("NEON") },
	"maps_arm64.go":    func(g *generator) { g.mapStubs("NEON") },
	"folds_amd64.s":    (*generator).foldFile,
	"casts_amd64.s":    (*generator).castFile,
	"casts_amd64.go":   func(g *generator) { g.castStubs("AVX512", "AVX2") },
	"casts_arm64.s":    (*generator).neonCastFile,
	"casts_arm64.go":   func(g *generator) { g.castStubs("NEON") },
	"compare_amd64.s":  (*generator).compareFile,
	"compare_amd64.go": func(g *generator) { g.compareStubs("AVX512", "AVX2") },
	"integer_amd64.s":  (*generator).integerLoops,
	"vector_amd64.s": func(g *generator) {
		g.masks()
		g.each(func() {
			g.mulRow("")
			if g.width == 4 {
				g.mulRow("Float16")
				g.mulRow("BFloat16")
			}
		})
		for _, g.kind = range kinds[2:] {
			g.dots()
		}
	},
	"pack_amd64.s": func(g *generator) {
		for _, g.kind = range kinds[2:] {
			g.transpose(32 / g.width)
			g.transpose(16 / g.width)
		}
	},
	"direct_amd64.s": func(g *generator) {
		g.masks()
		g.evens()
		g.each(func() {
			g.mulTaps()
			g.pick()
		})
	},
	"windows_amd64.s": func(g *generator) {
		g.masks()
		g.each(g.mulWindows)
	},
	"winograd_amd64.s": func(g *generator) {
		g.masks()
		g.winogradConstants()
		g.winogradLanes()
		g.each(func() {
			if g.width == 4 {
				g.winograd()
			}
		})
	},
	"tile_arm64.s": func(g *generator) {
		g.eachNEON(func() {
			g.neonMulTile()
			g.neonMulTaps()
			g.neonMulWindows()
			g.neonPick()
			g.neonSpread()
		})
	},
	"taps_arm64.s": func(g *generator) {
		g.eachNEON(func() {
			g.neonTapRows()
			g.neonLastTaps()
			g.neonLastLines(3)
			g.neonLastLines(5)
			g.neonCopyRows()
			g.neonSplit()
			g.neonMaxRows()
			g.neonMeanRows()
			g.neonLastMax()
			g.neonLastMean()
			g.neonLastPlane()
		})
	},
	"vector_arm64.s": func(g *generator) {
		g.eachNEON(func() {
			g.neonMulRow()
			g.neonDots()
			g.neonTranspose(g.neonLanes())
			g.neonTranspose(g.neonLanes() / 2)
		})
	},
	"folds_arm64.s":    (*generator).neonFoldFile,
	"compare_arm64.s":  (*generator).neonCompareFile,
	"compare_arm64.go": func(g *generator) { g.compareStubs("NEON") },
	"integer_arm64.s":  (*generator).neonIntegerFile,
	"winograd_arm64.s": (*generator).neonWinograd,
}

func main() {
	dir := flag.String("dir", ".", "`folder` to write to")
	flag.Parse()
	for name := range files {
		if err := os.WriteFile(filepath.Join(*dir, name), generate(name), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// generate returns an assembly file.
func generate(name string) []byte {
	g := &generator{}
	g.raw("// Code generated by asmgen. DO NOT EDIT.\n\n//go:build !purego\n\n")
	if filepath.Ext(name) == ".s" {
		g.raw("#include \"textflag.h\"\n")
	} else {
		g.raw("package isa\n")
	}
	files[name](g)
	if filepath.Ext(name) == ".s" {
		return g.Bytes()
	}
	source, err := format.Source(g.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	return source
}

// A kind is an instruction set and an element width.
type kind struct {
	name   string // ends each function's name
	avx512 bool
	neon   bool
	width  int // bytes of an element
	rows   int // of a full tile
}

// Two registers of columns and these rows leave registers for the right row
// and for broadcasts, out of 32 and of 16.
var kinds = []kind{
	{name: "32AVX512", avx512: true, width: 4, rows: 12},
	{name: "64AVX512", avx512: true, width: 8, rows: 12},
	{name: "32AVX2", width: 4, rows: 6},
	{name: "64AVX2", width: 8, rows: 6},
}

type generator struct {
	bytes.Buffer
	kind
	constants []uint64 // of vectors, each filling a register; see constant
	lanesLeft string   // what loads take their lanes from in a loop's rest: a mask register or the address of a mask
}

// each calls emit for each kind.
func (g *generator) each(emit func()) {
	for _, k := range kinds {
		g.kind = k
		emit()
	}
}

func (g *generator) raw(s string) { g.WriteString(s) }

func (g *generator) op(format string, args ...any) {
	g.WriteByte('\t')
	fmt.Fprintf(g, format, args...)
	g.WriteByte('\n')
}

func (g *generator) label(format string, args ...any) {
	fmt.Fprintf(g, "\n"+format+":\n", args...)
}

// masks emits what AVX2 takes its masks of columns from: the 32 bytes that
// begin n bytes before the middle select the first n bytes.
func (g *generator) masks() {
	g.raw("\nDATA masks<>+0(SB)/8, $-1\n")
	for i := 8; i < 64; i += 8 {
		fmt.Fprintf(g, "DATA masks<>+%d(SB)/8, $%d\n", i, map[bool]int{true: -1}[i < 32])
	}
	g.raw("GLOBL masks<>(SB), RODATA|NOPTR, $64\n")
}

// shift returns the logarithm of the element width.
func (g *generator) shift() int { return map[int]int{4: 2, 8: 3}[g.width] }

// masksOfCX sets masks i and i+1 to the first CX lanes of two registers. Masks
// are mask registers with AVX-512, and vector registers otherwise. It spoils
// R10 and R12.
func (g *generator) masksOfCX(i int) {
	if g.avx512 {
		g.op("MOVQ $1, R10")
		g.op("SHLQ CX, R10")
		g.op("DECQ R10")
		g.op("KMOVW R10, K%d", i)
		g.op("SHRQ $%d, R10", g.lanes())
		g.op("KMOVW R10, K%d", i+1)
		return
	}
	for j := range 2 {
		// The bytes wanted of this register, held to [0, 32].
		g.op("MOVQ CX, R12")
		g.op("SHLQ $%d, R12", g.shift())
		g.op("SUBQ $%d, R12", 32*j)
		g.op("MOVL $0, R10")
		g.op("CMPQ R12, R10")
		g.op("CMOVQLT R10, R12")
		g.op("MOVL $32, R10")
		g.op("CMPQ R12, R10")
		g.op("CMOVQGT R10, R12")
		g.op("LEAQ masks<>+32(SB), R10")
		g.op("SUBQ R12, R10")
		g.op("VMOVUPS (R10), Y%d", i+j)
	}
}

// lanes returns the elements of a register.
func (g *generator) lanes() int { return g.bytes() / g.width }

// bytes returns those of a register.
func (g *generator) bytes() int {
	switch {
	case g.avx512:
		return 64
	case g.neon:
		return 16
	}
	return 32
}

// ins returns an instruction name for the element width: "PS" or "PD" after it.
func (g *generator) ins(name string) string {
	return name + map[int]string{4: "PS", 8: "PD"}[g.width]
}

func (g *generator) broadcast() string {
	return map[int]string{4: "VBROADCASTSS", 8: "VBROADCASTSD"}[g.width]
}

func (g *generator) reg(i int) string {
	return fmt.Sprintf("%c%d", map[bool]byte{true: 'Z', false: 'Y'}[g.avx512], i)
}

// zero emits the clearing of a register.
func (g *generator) zero(r string) {
	if g.avx512 {
		g.op("VPXORD %s, %s, %s", r, r, r)
	} else {
		g.op("%s %s, %s, %s", g.ins("VXOR"), r, r, r)
	}
}

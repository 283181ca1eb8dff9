//go:build !purego

package isa

import (
	"math"

	"golang.org/x/sys/cpu"
)

// avx2 is the set for x86 processors with registers of 256 bits and fused multiply-adds.
var avx2 = Loops{
	Name: "avx2",
	here: cpu.X86.HasAVX2 && cpu.X86.HasFMA,
	Float32: tileLoops[float32]{
		rows: 6, cols: 16, windowRows: 6,
		mul: mulTile32AVX2, mulTaps: mulTaps32AVX2, windows: mulWindows32AVX2, pick: pick32AVX2, spread: spread32AVX2, transpose: transpose32,
		taps:     tapLoops[float32]{tapRows32AVX2, tap3x332AVX2, copyRows32AVX2, split32AVX2, maxRows32AVX2, meanRows32AVX2, 7},
		channels: channels32AVX2, vectors: vectors32AVX2,
	}.checked(),
	Float64: tileLoops[float64]{
		rows: 6, cols: 8, windowRows: 6,
		mul: mulTile64AVX2, mulTaps: mulTaps64AVX2, windows: mulWindows64AVX2, pick: pick64AVX2, spread: spread64AVX2, transpose: transpose64,
		taps:     tapLoops[float64]{tapRows64AVX2, tap3x364AVX2, copyRows64AVX2, split64AVX2, maxRows64AVX2, meanRows64AVX2, 3},
		channels: channels64AVX2, vectors: vectors64AVX2,
	}.checked(),
	Winograd: checkedWinograd(winogradInRowsAVX2, winogradInColsAVX2, winogradOutRowsAVX2, winogradOutColsAVX2),
	Exp:      expOf(mapsAVX2),
	Maps:     mapsAVX2,
	Casts:    castsAVX2,
	Compares: comparisonsAVX2,
	HalfRows: halfRowsAVX2,
	Folds32:  folds32,
	Folds64:  folds64,
	Integer:  integerAVX2,
}

var (
	folds32 = Folds[float32]{
		checkedFold(float32(math.Copysign(0, -1)), sum32AVX2),
		checkedFold(float32(math.Inf(-1)), max32AVX2),
		checkedFold(float32(math.Inf(1)), min32AVX2),
		checkedFold(float32(math.Inf(-1)), peak32AVX2),
		checkedFoldRows(8, sumEight32AVX2), checkedFoldRows(8, maxEight32AVX2), checkedFoldRows(8, minEight32AVX2),
	}
	folds64 = Folds[float64]{
		checkedFold(math.Copysign(0, -1), sum64AVX2),
		checkedFold(math.Inf(-1), max64AVX2),
		checkedFold(math.Inf(1), min64AVX2),
		checkedFold(math.Inf(-1), peak64AVX2),
		checkedFoldRows(4, sumEight64AVX2), checkedFoldRows(4, maxEight64AVX2), checkedFoldRows(4, minEight64AVX2),
	}
)

var integerAVX2 = integerAssembly{
	rows: 4, cols: 8, signedLeft: mulSignedLeftAVX2, signedRight: mulSignedRightAVX2, interleave: interleaveAVX2,
	tapQuads: tapQuadsAVX2, positions: 8, shiftSums: shiftSumsAVX2, requantize: requantizeAVX2,
	quantize: quantizeAVX2, dequantize: dequantizeAVX2, addQuantized: addQuantizedAVX2,
}.checked()

//go:noescape
func sum32AVX2(x *float32, n int, identity float32) float32

//go:noescape
func max32AVX2(x *float32, n int, identity float32) float32

//go:noescape
func min32AVX2(x *float32, n int, identity float32) float32

//go:noescape
func peak32AVX2(x *float32, n int, identity float32) float32

//go:noescape
func sum64AVX2(x *float64, n int, identity float64) float64

//go:noescape
func max64AVX2(x *float64, n int, identity float64) float64

//go:noescape
func min64AVX2(x *float64, n int, identity float64) float64

//go:noescape
func peak64AVX2(x *float64, n int, identity float64) float64

//go:noescape
func mulTile32AVX2(h, w, k int, a *float32, rowA, colA int, b *float32, ldb, next int, ahead, c *float32, ldc int, add bool)

//go:noescape
func mulTile64AVX2(h, w, k int, a *float64, rowA, colA int, b *float64, ldb, next int, ahead, c *float64, ldc int, add bool)

//go:noescape
func mulTaps32AVX2(h, w, k int, a, b *float32, offsets *int, c *float32, ldc int, add bool)

//go:noescape
func mulWindows32AVX2(h, tiles, w, k int, left *float32, row int, offsets *int, b *float32, next int, ahead, bias, c *float32, ldc int, add bool)

//go:noescape
func pick32AVX2(dst, src *float32, count, dstStep, srcStep, n int)

//go:noescape
func spread32AVX2(dst, src *float32, count, dstStep, srcStep, a, b, n int)

//go:noescape
func mulTaps64AVX2(h, w, k int, a, b *float64, offsets *int, c *float64, ldc int, add bool)

//go:noescape
func mulWindows64AVX2(h, tiles, w, k int, left *float64, row int, offsets *int, b *float64, next int, ahead, bias, c *float64, ldc int, add bool)

//go:noescape
func pick64AVX2(dst, src *float64, count, dstStep, srcStep, n int)

//go:noescape
func spread64AVX2(dst, src *float64, count, dstStep, srcStep, a, b, n int)

//go:noescape
func tapRows32AVX2(y, x *float32, grid *Grid, offsets *int, weights *float32, taps, planeW int, bias *float32, add bool)

//go:noescape
func tap3x332AVX2(y, x *float32, grid *Grid, offsets *int, weights *float32, pitch, step int, bias *float32)

//go:noescape
func copyRows32AVX2(y, x *float32, grid *Grid)

//go:noescape
func split32AVX2(even, odd, x *float32, grid *Grid)

//go:noescape
func maxRows32AVX2(y, x *float32, grid *Grid, offsets *int, taps int)

//go:noescape
func meanRows32AVX2(y, x *float32, grid *Grid, offsets *int, taps int, counts, lines *float64)

//go:noescape
func tapRows64AVX2(y, x *float64, grid *Grid, offsets *int, weights *float64, taps, planeW int, bias *float64, add bool)

//go:noescape
func tap3x364AVX2(y, x *float64, grid *Grid, offsets *int, weights *float64, pitch, step int, bias *float64)

//go:noescape
func copyRows64AVX2(y, x *float64, grid *Grid)

//go:noescape
func split64AVX2(even, odd, x *float64, grid *Grid)

//go:noescape
func maxRows64AVX2(y, x *float64, grid *Grid, offsets *int, taps int)

//go:noescape
func meanRows64AVX2(y, x *float64, grid *Grid, offsets *int, taps int, counts, lines *float64)

//go:noescape
func winogradInRowsAVX2(dst, src *float32, planes, dstPlane, srcPlane, dstStep, srcStep, n int)

//go:noescape
func winogradInColsAVX2(dst, src *float32, planes, dstPlane, dstStep, srcStep, n int)

//go:noescape
func winogradOutRowsAVX2(dst, src *float32, planes, dstPlane, srcPlane, dstStep, srcStep, n, lines int)

//go:noescape
func winogradOutColsAVX2(dst, src *float32, rows, dstStep, srcStep, n int)

//go:noescape
func sumEight32AVX2(acc, r0, r1, r2, r3, r4, r5, r6, r7 *float32, n int)

//go:noescape
func sumEight64AVX2(acc, r0, r1, r2, r3, r4, r5, r6, r7 *float64, n int)

//go:noescape
func maxEight32AVX2(acc, r0, r1, r2, r3, r4, r5, r6, r7 *float32, n int)

//go:noescape
func maxEight64AVX2(acc, r0, r1, r2, r3, r4, r5, r6, r7 *float64, n int)

//go:noescape
func minEight32AVX2(acc, r0, r1, r2, r3, r4, r5, r6, r7 *float32, n int)

//go:noescape
func minEight64AVX2(acc, r0, r1, r2, r3, r4, r5, r6, r7 *float64, n int)

//go:noescape
func mulSignedLeftAVX2(h, w, quads int, a *uint8, row, step int, b *uint8, ldb int, c *int32, ldc int, add bool)

//go:noescape
func mulSignedRightAVX2(h, w, quads int, a *uint8, row, step int, b *uint8, ldb int, c *int32, ldc int, add bool)

//go:noescape
func tapQuadsAVX2(y *int32, n int, x *uint8, stride int, offsets *int, weights *uint8, taps int, shuffle *uint8)

//go:noescape
func requantizeAVX2(y *uint8, s *int32, n int, add *int32, addEach bool, base int32, scale *float32, scaleEach bool, least, most float32, zero int32)

//go:noescape
func interleaveAVX2(dst, src *uint8, n, count, dstStep, srcStep int, flip uint8)

//go:noescape
func shiftSumsAVX2(s *int32, n int, add *int32, addEach bool, base int32)

//go:noescape
func quantizeAVX2(y *uint8, x *float32, n int, scale, least, most float32, zero int32)

//go:noescape
func dequantizeAVX2(y *float32, x *uint8, n int, scale float32, zero int32, flip uint8)

//go:noescape
func addQuantizedAVX2(y, a, b *uint8, n int, scaleA, scaleB, scaleY, least, most float32, zeroA, zeroB, zeroY int32, flip uint8)

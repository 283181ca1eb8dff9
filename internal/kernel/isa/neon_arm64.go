//go:build !purego

package isa

import (
	"math"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// neon is the set for arm64, every processor of which has it.
var neon = Loops{
	Name: "neon",
	here: true,
	Float32: tileLoops[float32]{
		rows: 8, cols: 12, windowRows: 8,
		mul: mulTile32NEON, mulTaps: mulTaps32NEON, windows: mulWindows32NEON, pick: pick32NEON, spread: spread32NEON,
		transpose: checkedTranspose(8, 4, transpose8x32, transpose4x32),
		vectors:   checkedVectors(8, mulRow32NEON, dots32NEON),
		taps:      tapLoops[float32]{tapRows32NEON, tap3x332NEON, copyRows32NEON, split32NEON, maxRows32NEON, meanRows32NEON, 0},
		channels:  channelLoops[float32]{lastTaps32NEON, last3Lines32NEON, last5Lines32NEON, lastMax32NEON, lastMean32NEON, lastPlane32NEON},
	}.checked(),
	Float64: tileLoops[float64]{
		rows: 8, cols: 6, windowRows: 8,
		mul: mulTile64NEON, mulTaps: mulTaps64NEON, windows: mulWindows64NEON, pick: pick64NEON, spread: spread64NEON,
		transpose: checkedTranspose(4, 2, transpose4x64, transpose2x64),
		vectors:   checkedVectors(4, mulRow64NEON, dots64NEON),
		taps:      tapLoops[float64]{tapRows64NEON, tap3x364NEON, copyRows64NEON, split64NEON, maxRows64NEON, meanRows64NEON, 0},
		channels:  channelLoops[float64]{lastTaps64NEON, last3Lines64NEON, last5Lines64NEON, lastMax64NEON, lastMean64NEON, lastPlane64NEON},
	}.checked(),
	Exp:      expOf(mapsNEON),
	Integer:  integerNEON(),
	Winograd: checkedWinograd(winogradInRowsNEON, winogradInColsNEON, winogradOutRowsNEON, winogradOutColsNEON),
	Maps:     mapsNEON,
	Casts:    castsNEON,
	Compares: comparisonsNEON,
	Folds32: Folds[float32]{
		Sum: checkedFold(float32(math.Copysign(0, -1)), sum32NEON),
		Max: checkedFold(float32(math.Inf(-1)), max32NEON), Min: checkedFold(float32(math.Inf(1)), min32NEON),
		Peak:    checkedFold(float32(math.Inf(-1)), max32NEON),
		SumRows: checkedFoldRows(4, sumEight32NEON), MaxRows: checkedFoldRows(4, maxEight32NEON), MinRows: checkedFoldRows(4, minEight32NEON),
	},
	Folds64: Folds[float64]{
		Sum: checkedFold(math.Copysign(0, -1), sum64NEON),
		Max: checkedFold(math.Inf(-1), max64NEON), Min: checkedFold(math.Inf(1), min64NEON),
		Peak:    checkedFold(math.Inf(-1), max64NEON),
		SumRows: checkedFoldRows(2, sumEight64NEON), MaxRows: checkedFoldRows(2, maxEight64NEON), MinRows: checkedFoldRows(2, minEight64NEON),
	},
}

// The loops over bytes: for every processor, for those with dot products of bytes, and for those
// with dot products of unsigned bytes with signed ones.
var integerWords, integerDots, integerMixed = func() (words, dots, mixed IntegerTile) {
	a := integerAssembly{
		rows: 4, cols: 8, signedLeft: mulSignedLeftNEON, signedRight: mulSignedRightNEON, interleave: interleaveNEON,
		tapQuads: tapQuadsNEON, positions: 4, shiftSums: shiftSumsNEON, requantize: requantizeNEON,
		quantize: quantizeNEON, dequantize: dequantizeNEON, addQuantized: addQuantizedNEON,
	}
	words = a.checked()
	a.cols, a.signedLeft, a.signedRight = 16, mulSignedLeftDotNEON, mulSignedRightDotNEON
	dots = a.checked()
	a.signedLeft, a.signedRight = mulSignedLeftMixedNEON, mulSignedRightMixedNEON
	return words, dots, a.checked()
}()

func integerNEON() IntegerTile {
	switch {
	case cpu.ARM64.HasI8MM:
		return integerMixed
	case cpu.ARM64.HasASIMDDP:
		return integerDots
	}
	return integerWords
}

func tap3x332NEON(y, x *float32, grid *Grid, offsets *int, weights *float32, pitch, _ int, bias *float32) {
	taps := taps3x3(pitch, (*[3]int)(unsafe.Pointer(offsets)))
	tapRows32NEON(y, x, grid, &taps[0], weights, len(taps), len(taps), bias, false)
}

func tap3x364NEON(y, x *float64, grid *Grid, offsets *int, weights *float64, pitch, _ int, bias *float64) {
	taps := taps3x3(pitch, (*[3]int)(unsafe.Pointer(offsets)))
	tapRows64NEON(y, x, grid, &taps[0], weights, len(taps), len(taps), bias, false)
}

//go:noescape
func mulTile32NEON(h, w, k int, a *float32, rowA, colA int, b *float32, ldb, next int, ahead, c *float32, ldc int, add bool)

//go:noescape
func mulTaps32NEON(h, w, k int, a, b *float32, offsets *int, c *float32, ldc int, add bool)

//go:noescape
func mulWindows32NEON(h, tiles, w, k int, left *float32, row int, offsets *int, b *float32, next int, ahead, bias, c *float32, ldc int, add bool)

//go:noescape
func mulRow32NEON(n, k int, a, b *float32, ldb int, c *float32, add bool)

//go:noescape
func dots32NEON(groups, k int, a, b *float32, ldb int, c *float32)

//go:noescape
func transpose8x32(dst, src *float32, lane, steps, width int)

//go:noescape
func transpose4x32(dst, src *float32, lane, steps, width int)

//go:noescape
func mulTile64NEON(h, w, k int, a *float64, rowA, colA int, b *float64, ldb, next int, ahead, c *float64, ldc int, add bool)

//go:noescape
func mulTaps64NEON(h, w, k int, a, b *float64, offsets *int, c *float64, ldc int, add bool)

//go:noescape
func mulWindows64NEON(h, tiles, w, k int, left *float64, row int, offsets *int, b *float64, next int, ahead, bias, c *float64, ldc int, add bool)

//go:noescape
func mulRow64NEON(n, k int, a, b *float64, ldb int, c *float64, add bool)

//go:noescape
func dots64NEON(groups, k int, a, b *float64, ldb int, c *float64)

//go:noescape
func transpose4x64(dst, src *float64, lane, steps, width int)

//go:noescape
func transpose2x64(dst, src *float64, lane, steps, width int)

//go:noescape
func tapRows32NEON(y, x *float32, grid *Grid, offsets *int, weights *float32, taps, planeW int, bias *float32, add bool)

//go:noescape
func lastTaps32NEON(y, x *float32, grid *Grid, offsets *int, weights *float32, taps, pitch int, bias *float32, add bool, atX int)

//go:noescape
func last3Lines32NEON(y, x *float32, grid *Grid, offsets *int, weights *float32, lines, pitch int, bias *float32, within, step, atX int)

//go:noescape
func last5Lines32NEON(y, x *float32, grid *Grid, offsets *int, weights *float32, lines, pitch int, bias *float32, within, step, atX int)

//go:noescape
func tapRows64NEON(y, x *float64, grid *Grid, offsets *int, weights *float64, taps, planeW int, bias *float64, add bool)

//go:noescape
func lastTaps64NEON(y, x *float64, grid *Grid, offsets *int, weights *float64, taps, pitch int, bias *float64, add bool, atX int)

//go:noescape
func last3Lines64NEON(y, x *float64, grid *Grid, offsets *int, weights *float64, lines, pitch int, bias *float64, within, step, atX int)

//go:noescape
func last5Lines64NEON(y, x *float64, grid *Grid, offsets *int, weights *float64, lines, pitch int, bias *float64, within, step, atX int)

//go:noescape
func sum32NEON(x *float32, n int, identity float32) float32

//go:noescape
func max32NEON(x *float32, n int, identity float32) float32

//go:noescape
func min32NEON(x *float32, n int, identity float32) float32

//go:noescape
func sumEight32NEON(acc, r0, r1, r2, r3, r4, r5, r6, r7 *float32, n int)

//go:noescape
func maxEight32NEON(acc, r0, r1, r2, r3, r4, r5, r6, r7 *float32, n int)

//go:noescape
func minEight32NEON(acc, r0, r1, r2, r3, r4, r5, r6, r7 *float32, n int)

//go:noescape
func sum64NEON(x *float64, n int, identity float64) float64

//go:noescape
func max64NEON(x *float64, n int, identity float64) float64

//go:noescape
func min64NEON(x *float64, n int, identity float64) float64

//go:noescape
func sumEight64NEON(acc, r0, r1, r2, r3, r4, r5, r6, r7 *float64, n int)

//go:noescape
func maxEight64NEON(acc, r0, r1, r2, r3, r4, r5, r6, r7 *float64, n int)

//go:noescape
func minEight64NEON(acc, r0, r1, r2, r3, r4, r5, r6, r7 *float64, n int)

//go:noescape
func winogradInRowsNEON(dst, src *float32, planes, dstPlane, srcPlane, dstStep, srcStep, n int)

//go:noescape
func winogradInColsNEON(dst, src *float32, planes, dstPlane, dstStep, srcStep, n int)

//go:noescape
func winogradOutRowsNEON(dst, src *float32, planes, dstPlane, srcPlane, dstStep, srcStep, n, lines int)

//go:noescape
func winogradOutColsNEON(dst, src *float32, rows, dstStep, srcStep, n int)

//go:noescape
func mulSignedLeftNEON(h, w, quads int, a *uint8, row, step int, b *uint8, ldb int, c *int32, ldc int, add bool)

//go:noescape
func mulSignedRightNEON(h, w, quads int, a *uint8, row, step int, b *uint8, ldb int, c *int32, ldc int, add bool)

//go:noescape
func mulSignedLeftDotNEON(h, w, quads int, a *uint8, row, step int, b *uint8, ldb int, c *int32, ldc int, add bool)

//go:noescape
func mulSignedRightDotNEON(h, w, quads int, a *uint8, row, step int, b *uint8, ldb int, c *int32, ldc int, add bool)

//go:noescape
func tapQuadsNEON(y *int32, n int, x *uint8, stride int, offsets *int, weights *uint8, taps int, shuffle *uint8)

//go:noescape
func requantizeNEON(y *uint8, s *int32, n int, add *int32, addEach bool, base int32, scale *float32, scaleEach bool, least, most float32, zero int32)

//go:noescape
func interleaveNEON(dst, src *uint8, n, count, dstStep, srcStep int, flip uint8)

//go:noescape
func shiftSumsNEON(s *int32, n int, add *int32, addEach bool, base int32)

//go:noescape
func quantizeNEON(y *uint8, x *float32, n int, scale, least, most float32, zero int32)

//go:noescape
func dequantizeNEON(y *float32, x *uint8, n int, scale float32, zero int32, flip uint8)

//go:noescape
func addQuantizedNEON(y, a, b *uint8, n int, scaleA, scaleB, scaleY, least, most float32, zeroA, zeroB, zeroY int32, flip uint8)

//go:noescape
func maxRows32NEON(y, x *float32, grid *Grid, offsets *int, taps int)

//go:noescape
func meanRows32NEON(y, x *float32, grid *Grid, offsets *int, taps int, counts, lines *float64)

//go:noescape
func lastMax32NEON(y, x *float32, grid *Grid, offsets *int, atX, taps int)

//go:noescape
func lastMean32NEON(y, x *float32, grid *Grid, offsets *int, atX, taps int, counts, lines *float64)

//go:noescape
func lastPlane32NEON(y, x *float32, channels, positions, step int)

//go:noescape
func maxRows64NEON(y, x *float64, grid *Grid, offsets *int, taps int)

//go:noescape
func meanRows64NEON(y, x *float64, grid *Grid, offsets *int, taps int, counts, lines *float64)

//go:noescape
func lastMax64NEON(y, x *float64, grid *Grid, offsets *int, atX, taps int)

//go:noescape
func lastMean64NEON(y, x *float64, grid *Grid, offsets *int, atX, taps int, counts, lines *float64)

//go:noescape
func lastPlane64NEON(y, x *float64, channels, positions, step int)

//go:noescape
func pick32NEON(dst, src *float32, count, dstStep, srcStep, n int)

//go:noescape
func spread32NEON(dst, src *float32, count, dstStep, srcStep, a, b, n int)

//go:noescape
func copyRows32NEON(y, x *float32, grid *Grid)

//go:noescape
func split32NEON(even, odd, x *float32, grid *Grid)

//go:noescape
func pick64NEON(dst, src *float64, count, dstStep, srcStep, n int)

//go:noescape
func spread64NEON(dst, src *float64, count, dstStep, srcStep, a, b, n int)

//go:noescape
func copyRows64NEON(y, x *float64, grid *Grid)

//go:noescape
func split64NEON(even, odd, x *float64, grid *Grid)

//go:noescape
func mulSignedLeftMixedNEON(h, w, quads int, a *uint8, row, step int, b *uint8, ldb int, c *int32, ldc int, add bool)

//go:noescape
func mulSignedRightMixedNEON(h, w, quads int, a *uint8, row, step int, b *uint8, ldb int, c *int32, ldc int, add bool)

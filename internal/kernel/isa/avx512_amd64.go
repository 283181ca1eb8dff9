//go:build !purego

package isa

import "golang.org/x/sys/cpu"

// avx512 is the set for x86 processors with registers of 512 bits.
var avx512 = Loops{
	Name: "avx512",
	here: cpu.X86.HasAVX512F && cpu.X86.HasBMI2,
	Float32: tileLoops[float32]{
		rows: 12, cols: 32, windowRows: 14, wideRows: 6,
		mul: mulTile32AVX512, mulTaps: mulTaps32AVX512, windows: mulWindows32AVX512, pick: pick32AVX512, spread: spread32AVX512, transpose: transpose32,
		taps:     tapLoops[float32]{tapRows32AVX512, tap3x332AVX512, copyRows32AVX512, split32AVX512, maxRows32AVX512, meanRows32AVX512, 15},
		channels: channels32AVX512, vectors: vectors32AVX512,
	}.checked(),
	Float64: tileLoops[float64]{
		rows: 12, cols: 16, windowRows: 14, wideRows: 6,
		mul: mulTile64AVX512, mulTaps: mulTaps64AVX512, windows: mulWindows64AVX512, pick: pick64AVX512, spread: spread64AVX512, transpose: transpose64,
		taps:     tapLoops[float64]{tapRows64AVX512, tap3x364AVX512, copyRows64AVX512, split64AVX512, maxRows64AVX512, meanRows64AVX512, 7},
		channels: channels64AVX512, vectors: vectors64AVX512,
	}.checked(),
	Winograd: checkedWinograd(winogradInRowsAVX512, winogradInColsAVX512, winogradOutRowsAVX512, winogradOutColsAVX512),
	Exp:      expOf(mapsAVX512),
	Maps:     mapsAVX512,
	Casts:    castsAVX512,
	Compares: comparisonsAVX512,
	HalfRows: halfRowsAVX512,
	Folds32:  folds32,
	Folds64:  folds64,
	Integer:  integerAVX512(),
}

// integerAVX512 returns the loops for processors with registers of 512 bits, of which
// some do not multiply bytes, or do not shuffle them over a whole register.
func integerAVX512() IntegerTile {
	if !cpu.X86.HasAVX512VNNI || !cpu.X86.HasAVX512BW {
		return integerAVX2
	}
	a := integerAssembly{
		rows: 12, cols: 32, signedLeft: mulSignedLeftAVX512, signedRight: mulSignedRightAVX512, interleave: interleaveAVX2,
		tapQuads: tapQuadsAVX512, positions: 16, shiftSums: shiftSumsAVX512, requantize: requantizeAVX512,
		quantize: quantizeAVX512, dequantize: dequantizeAVX512, addQuantized: addQuantizedAVX512,
	}
	if !cpu.X86.HasAVX512VBMI {
		a.tapQuads, a.positions = tapQuadsAVX2, 8
	}
	return a.checked()
}

//go:noescape
func mulTile32AVX512(h, w, k int, a *float32, rowA, colA int, b *float32, ldb, next int, ahead, c *float32, ldc int, add bool)

//go:noescape
func mulTile64AVX512(h, w, k int, a *float64, rowA, colA int, b *float64, ldb, next int, ahead, c *float64, ldc int, add bool)

//go:noescape
func mulTaps32AVX512(h, w, k int, a, b *float32, offsets *int, c *float32, ldc int, add bool)

//go:noescape
func mulWindows32AVX512(h, tiles, w, k int, left *float32, row int, offsets *int, b *float32, next int, ahead, bias, c *float32, ldc int, add bool)

//go:noescape
func pick32AVX512(dst, src *float32, count, dstStep, srcStep, n int)

//go:noescape
func spread32AVX512(dst, src *float32, count, dstStep, srcStep, a, b, n int)

//go:noescape
func mulTaps64AVX512(h, w, k int, a, b *float64, offsets *int, c *float64, ldc int, add bool)

//go:noescape
func mulWindows64AVX512(h, tiles, w, k int, left *float64, row int, offsets *int, b *float64, next int, ahead, bias, c *float64, ldc int, add bool)

//go:noescape
func pick64AVX512(dst, src *float64, count, dstStep, srcStep, n int)

//go:noescape
func spread64AVX512(dst, src *float64, count, dstStep, srcStep, a, b, n int)

//go:noescape
func tapRows32AVX512(y, x *float32, grid *Grid, offsets *int, weights *float32, taps, planeW int, bias *float32, add bool)

//go:noescape
func tap3x332AVX512(y, x *float32, grid *Grid, offsets *int, weights *float32, pitch, step int, bias *float32)

//go:noescape
func copyRows32AVX512(y, x *float32, grid *Grid)

//go:noescape
func split32AVX512(even, odd, x *float32, grid *Grid)

//go:noescape
func maxRows32AVX512(y, x *float32, grid *Grid, offsets *int, taps int)

//go:noescape
func meanRows32AVX512(y, x *float32, grid *Grid, offsets *int, taps int, counts, lines *float64)

//go:noescape
func tapRows64AVX512(y, x *float64, grid *Grid, offsets *int, weights *float64, taps, planeW int, bias *float64, add bool)

//go:noescape
func tap3x364AVX512(y, x *float64, grid *Grid, offsets *int, weights *float64, pitch, step int, bias *float64)

//go:noescape
func copyRows64AVX512(y, x *float64, grid *Grid)

//go:noescape
func split64AVX512(even, odd, x *float64, grid *Grid)

//go:noescape
func maxRows64AVX512(y, x *float64, grid *Grid, offsets *int, taps int)

//go:noescape
func meanRows64AVX512(y, x *float64, grid *Grid, offsets *int, taps int, counts, lines *float64)

//go:noescape
func winogradInRowsAVX512(dst, src *float32, planes, dstPlane, srcPlane, dstStep, srcStep, n int)

//go:noescape
func winogradInColsAVX512(dst, src *float32, planes, dstPlane, dstStep, srcStep, n int)

//go:noescape
func winogradOutRowsAVX512(dst, src *float32, planes, dstPlane, srcPlane, dstStep, srcStep, n, lines int)

//go:noescape
func winogradOutColsAVX512(dst, src *float32, rows, dstStep, srcStep, n int)

//go:noescape
func mulSignedLeftAVX512(h, w, quads int, a *uint8, row, step int, b *uint8, ldb int, c *int32, ldc int, add bool)

//go:noescape
func mulSignedRightAVX512(h, w, quads int, a *uint8, row, step int, b *uint8, ldb int, c *int32, ldc int, add bool)

//go:noescape
func tapQuadsAVX512(y *int32, n int, x *uint8, stride int, offsets *int, weights *uint8, taps int, shuffle *uint8)

//go:noescape
func requantizeAVX512(y *uint8, s *int32, n int, add *int32, addEach bool, base int32, scale *float32, scaleEach bool, least, most float32, zero int32)

//go:noescape
func shiftSumsAVX512(s *int32, n int, add *int32, addEach bool, base int32)

//go:noescape
func quantizeAVX512(y *uint8, x *float32, n int, scale, least, most float32, zero int32)

//go:noescape
func dequantizeAVX512(y *float32, x *uint8, n int, scale float32, zero int32, flip uint8)

//go:noescape
func addQuantizedAVX512(y, a, b *uint8, n int, scaleA, scaleB, scaleY, least, most float32, zeroA, zeroB, zeroY int32, flip uint8)

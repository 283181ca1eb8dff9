//go:build !purego

package isa

import "golang.org/x/sys/cpu"

// avx2 is the set for x86 processors with registers of 256 bits and fused multiply-adds.
var avx2 = Loops{
	Name:     "avx2",
	here:     cpu.X86.HasAVX2 && cpu.X86.HasFMA,
	Float32:  checkedTile(6, 16, mulTile32AVX2, spread32AVX2, tapSum32AVX2),
	Float64:  checkedTile(6, 8, mulTile64AVX2, spread64AVX2, tapSum64AVX2),
	Winograd: checkedWinograd(winogradInRowsAVX2, winogradInColsAVX2, winogradOutRowsAVX2, winogradOutColsAVX2),
	Exp:      checkedExp(expChunkAVX2),
	ExpShift: checkedExpShift(exp32RowAVX2, exp32TileAVX2),
}

//go:noescape
func mulTile32AVX2(h, w, k int, a, b *float32, ldb int, c *float32, ldc int, add bool)

//go:noescape
func mulTile64AVX2(h, w, k int, a, b *float64, ldb int, c *float64, ldc int, add bool)

//go:noescape
func spread32AVX2(dst, src *float32, count, dstStep, srcStep, a, b, n int)

//go:noescape
func spread64AVX2(dst, src *float64, count, dstStep, srcStep, a, b, n int)

//go:noescape
func tapSum32AVX2(y, x *float32, n int, offsets *int, weights *float32, taps int, add bool)

//go:noescape
func tapSum64AVX2(y, x *float64, n int, offsets *int, weights *float64, taps int, add bool)

//go:noescape
func expChunkAVX2(x *float64, n int, constants *float64)

//go:noescape
func exp32RowAVX2(dst, src *float32, n int, shift *float32, constants *float64)

//go:noescape
func exp32TileAVX2(dst, src *float32, n int, shift *float32, constants *float64)

//go:noescape
func winogradInRowsAVX2(dst, src *float32, planes, srcPlane, dstStep, srcStep, n int)

//go:noescape
func winogradInColsAVX2(dst, src *float32, planes, dstPlane, dstStep, srcStep, n int)

//go:noescape
func winogradOutRowsAVX2(x *float32, step, n int)

//go:noescape
func winogradOutColsAVX2(dst, src *float32, rows, dstStep, srcStep, n int)

//go:build !purego

package isa

import "golang.org/x/sys/cpu"

// avx512 is the set for x86 processors with registers of 512 bits.
var avx512 = Loops{
	Name:     "avx512",
	here:     cpu.X86.HasAVX512F && cpu.X86.HasBMI2,
	Float32:  checkedTile(12, 32, mulTile32AVX512, spread32AVX512, tapSum32AVX512),
	Float64:  checkedTile(12, 16, mulTile64AVX512, spread64AVX512, tapSum64AVX512),
	Winograd: checkedWinograd(winogradInRowsAVX512, winogradInColsAVX512, winogradOutRowsAVX512, winogradOutColsAVX512),
	Exp:      checkedExp(expChunkAVX512),
	ExpShift: checkedExpShift(exp32RowAVX512, exp32TileAVX512),
}

//go:noescape
func mulTile32AVX512(h, w, k int, a, b *float32, ldb int, c *float32, ldc int, add bool)

//go:noescape
func mulTile64AVX512(h, w, k int, a, b *float64, ldb int, c *float64, ldc int, add bool)

//go:noescape
func spread32AVX512(dst, src *float32, count, dstStep, srcStep, a, b, n int)

//go:noescape
func spread64AVX512(dst, src *float64, count, dstStep, srcStep, a, b, n int)

//go:noescape
func tapSum32AVX512(y, x *float32, n int, offsets *int, weights *float32, taps int, add bool)

//go:noescape
func tapSum64AVX512(y, x *float64, n int, offsets *int, weights *float64, taps int, add bool)

//go:noescape
func expChunkAVX512(x *float64, n int, constants *float64)

//go:noescape
func exp32RowAVX512(dst, src *float32, n int, shift *float32, constants *float64)

//go:noescape
func exp32TileAVX512(dst, src *float32, n int, shift *float32, constants *float64)

//go:noescape
func winogradInRowsAVX512(dst, src *float32, planes, srcPlane, dstStep, srcStep, n int)

//go:noescape
func winogradInColsAVX512(dst, src *float32, planes, dstPlane, dstStep, srcStep, n int)

//go:noescape
func winogradOutRowsAVX512(x *float32, step, n int)

//go:noescape
func winogradOutColsAVX512(dst, src *float32, rows, dstStep, srcStep, n int)

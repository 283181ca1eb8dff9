//go:build !purego

package kernel

import (
	"math"

	"golang.org/x/sys/cpu"
)

// expConstants is what the vector forms of expLoop read, in this order.
var expConstants = [...]float64{
	-ExpRange, ExpRange, math.Log2E, ExpRound, math.Ln2, 1,
	ExpPoly5, ExpPoly4, ExpPoly3, ExpPoly2, ExpPoly1, ExpPoly0, math.Inf(1),
}

// exp32Native does the first elements of LoadExp32 that this processor has a
// vector form for, and returns their number.
func exp32Native(dst, src, shift []float32) int {
	n := len(dst) &^ 7
	if n == 0 {
		return 0
	}
	src = src[:n]
	one := len(shift) == 1
	if !one {
		shift = shift[:n]
	}
	switch {
	case cpu.X86.HasAVX512F && one:
		exp32RowAVX512(&dst[0], &src[0], n, &shift[0], &expConstants[0])
	case cpu.X86.HasAVX512F:
		exp32TileAVX512(&dst[0], &src[0], n, &shift[0], &expConstants[0])
	case cpu.X86.HasAVX2 && one:
		exp32RowAVX2(&dst[0], &src[0], n, &shift[0], &expConstants[0])
	case cpu.X86.HasAVX2:
		exp32TileAVX2(&dst[0], &src[0], n, &shift[0], &expConstants[0])
	default:
		return 0
	}
	return n
}

// expChunkNative does the same for ExpChunk.
func expChunkNative(x []float64) int {
	n := len(x) &^ 7
	switch {
	case n == 0:
	case cpu.X86.HasAVX512F:
		expChunkAVX512(&x[0], n, &expConstants[0])
	case cpu.X86.HasAVX2:
		expChunkAVX2(&x[0], n, &expConstants[0])
	default:
		return 0
	}
	return n
}

// The vector forms of LoadExp32 do n elements, a multiple of 8 above 0:
//
//	for i := range n { dst[i] = float32(exp64(float64(src[i]) - float64(shift[0]))) }
//
// or, the tile forms, with shift[i].

//go:noescape
func exp32RowAVX512(dst, src *float32, n int, shift *float32, constants *float64)

//go:noescape
func exp32TileAVX512(dst, src *float32, n int, shift *float32, constants *float64)

//go:noescape
func exp32RowAVX2(dst, src *float32, n int, shift *float32, constants *float64)

//go:noescape
func exp32TileAVX2(dst, src *float32, n int, shift *float32, constants *float64)

// The vector forms of expLoop do n elements, a multiple of 8 above 0.

//go:noescape
func expChunkAVX512(x *float64, n int, constants *float64)

//go:noescape
func expChunkAVX2(x *float64, n int, constants *float64)

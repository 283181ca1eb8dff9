//go:build !purego

package kernel

import (
	"math"

	"golang.org/x/sys/cpu"
)

// exp32Constants is what the vector forms of exp32 read, in this order.
var exp32Constants = [...]float64{
	exp32Low, exp32High, math.Log2E, exp32Round, math.Ln2, 1,
	exp32Poly5, exp32Poly4, exp32Poly3, exp32Poly2, exp32Poly1, exp32Poly0,
}

// exp32Native does the first elements of loadExp32 that this processor has a
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
		exp32RowAVX512(&dst[0], &src[0], n, &shift[0], &exp32Constants[0])
	case cpu.X86.HasAVX512F:
		exp32TileAVX512(&dst[0], &src[0], n, &shift[0], &exp32Constants[0])
	case cpu.X86.HasAVX2 && one:
		exp32RowAVX2(&dst[0], &src[0], n, &shift[0], &exp32Constants[0])
	case cpu.X86.HasAVX2:
		exp32TileAVX2(&dst[0], &src[0], n, &shift[0], &exp32Constants[0])
	default:
		return 0
	}
	return n
}

// The vector forms of exp32 do n elements, a multiple of 8 above 0:
//
//	for i := range n { dst[i] = exp32(float64(src[i]) - float64(shift[0])) }
//
// or, the tile forms, with shift[i]. They give the same bits as exp32.

//go:noescape
func exp32RowAVX512(dst, src *float32, n int, shift *float32, constants *float64)

//go:noescape
func exp32TileAVX512(dst, src *float32, n int, shift *float32, constants *float64)

//go:noescape
func exp32RowAVX2(dst, src *float32, n int, shift *float32, constants *float64)

//go:noescape
func exp32TileAVX2(dst, src *float32, n int, shift *float32, constants *float64)

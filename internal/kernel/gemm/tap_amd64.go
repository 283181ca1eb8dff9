//go:build !purego

package gemm

import "github.com/berth-go/berth/internal/kernel"

// The loops in assembly read and write the elements that Tile.Spread and
// Tile.TapSum state, with count, n and the number of taps above 0, and check
// nothing.

//go:noescape
func spread32AVX512(dst, src *float32, count, dstStep, srcStep, a, b, n int)

//go:noescape
func spread64AVX512(dst, src *float64, count, dstStep, srcStep, a, b, n int)

//go:noescape
func spread32AVX2(dst, src *float32, count, dstStep, srcStep, a, b, n int)

//go:noescape
func spread64AVX2(dst, src *float64, count, dstStep, srcStep, a, b, n int)

//go:noescape
func tapSum32AVX512(y, x *float32, n int, offsets *int, weights *float32, taps int, bias float32)

//go:noescape
func tapSum64AVX512(y, x *float64, n int, offsets *int, weights *float64, taps int, bias float64)

//go:noescape
func tapSum32AVX2(y, x *float32, n int, offsets *int, weights *float32, taps int, bias float32)

//go:noescape
func tapSum64AVX2(y, x *float64, n int, offsets *int, weights *float64, taps int, bias float64)

func spread32By512(dst, src []float32, count, dstStep, srcStep, a, b, n int) {
	checkSpread(dst, src, count, dstStep, srcStep, a, b, n, 32)
	spread32AVX512(&dst[0], &src[0], count, dstStep, srcStep, a, b, n)
}

func spread64By512(dst, src []float64, count, dstStep, srcStep, a, b, n int) {
	checkSpread(dst, src, count, dstStep, srcStep, a, b, n, 16)
	spread64AVX512(&dst[0], &src[0], count, dstStep, srcStep, a, b, n)
}

func spread32By256(dst, src []float32, count, dstStep, srcStep, a, b, n int) {
	checkSpread(dst, src, count, dstStep, srcStep, a, b, n, 16)
	spread32AVX2(&dst[0], &src[0], count, dstStep, srcStep, a, b, n)
}

func spread64By256(dst, src []float64, count, dstStep, srcStep, a, b, n int) {
	checkSpread(dst, src, count, dstStep, srcStep, a, b, n, 8)
	spread64AVX2(&dst[0], &src[0], count, dstStep, srcStep, a, b, n)
}

func tapSum32By512(y, x []float32, offsets []int, weights []float32, bias float32) {
	if checkTaps(y, x, offsets, weights) {
		tapSum32AVX512(&y[0], &x[0], len(y), &offsets[0], &weights[0], len(offsets), bias)
	}
}

func tapSum64By512(y, x []float64, offsets []int, weights []float64, bias float64) {
	if checkTaps(y, x, offsets, weights) {
		tapSum64AVX512(&y[0], &x[0], len(y), &offsets[0], &weights[0], len(offsets), bias)
	}
}

func tapSum32By256(y, x []float32, offsets []int, weights []float32, bias float32) {
	if checkTaps(y, x, offsets, weights) {
		tapSum32AVX2(&y[0], &x[0], len(y), &offsets[0], &weights[0], len(offsets), bias)
	}
}

func tapSum64By256(y, x []float64, offsets []int, weights []float64, bias float64) {
	if checkTaps(y, x, offsets, weights) {
		tapSum64AVX2(&y[0], &x[0], len(y), &offsets[0], &weights[0], len(offsets), bias)
	}
}

// checkSpread panics unless the slices hold what a loop touches.
func checkSpread[T kernel.Number](dst, src []T, count, dstStep, srcStep, a, b, n, lanes int) {
	if count <= 0 || dstStep < 0 || srcStep < 0 || a < 0 || a >= b || b > n || n > lanes {
		panic("gemm: lanes out of range")
	}
	_ = dst[(count-1)*dstStep+n-1]
	_ = src[(count-1)*srcStep+b-a-1]
}

// checkTaps panics unless the slices hold what a loop touches, and reports
// whether there is anything to do.
func checkTaps[T kernel.Number](y, x []T, offsets []int, weights []T) bool {
	if len(y) == 0 {
		return false
	}
	_ = weights[len(offsets)-1]
	for _, at := range offsets {
		_ = x[at : at+len(y)]
	}
	return true
}

package isa

import "github.com/berth-go/berth/internal/kernel"

// The loops in assembly check nothing. What stands around each here panics
// unless the slices hold all that it reads and writes, and leaves out calls
// without work.

// A Tile's loops in assembly. H, w, k, count, n and taps are above 0.
type (
	mulAssembly[T any]    func(h, w, k int, a, b *T, ldb int, c *T, ldc int, add bool)
	spreadAssembly[T any] func(dst, src *T, count, dstStep, srcStep, a, b, n int)
	tapSumAssembly[T any] func(y, x *T, n int, offsets *int, weights *T, taps int, add bool)
)

// checkedTile returns the tile of the given extents whose loops are in assembly.
func checkedTile[T kernel.Number](rows, cols int, mul mulAssembly[T], spread spreadAssembly[T], tapSum tapSumAssembly[T]) Tile[T] {
	return Tile[T]{
		Rows: rows, Cols: cols,
		Mul: func(h, w, k int, a, b []T, ldb int, c []T, ldc int, add bool) {
			if h <= 0 || h > rows || w <= 0 || w > cols || k <= 0 || ldb < 0 || ldc < 0 {
				panic("isa: tile out of range")
			}
			_ = a[k*rows-1]
			_ = b[(k-1)*ldb+cols-1]
			_ = c[(h-1)*ldc+w-1]
			mul(h, w, k, &a[0], &b[0], ldb, &c[0], ldc, add)
		},
		Spread: func(dst, src []T, count, dstStep, srcStep, a, b, n int) {
			if count <= 0 || dstStep < 0 || srcStep < 0 || a < 0 || a >= b || b > n || n > cols {
				panic("isa: lanes out of range")
			}
			_ = dst[(count-1)*dstStep+n-1]
			_ = src[(count-1)*srcStep+b-a-1]
			spread(&dst[0], &src[0], count, dstStep, srcStep, a, b, n)
		},
		TapSum: func(y, x []T, offsets []int, weights []T, add bool) {
			if len(y) == 0 {
				return
			}
			_ = weights[len(offsets)-1]
			for _, at := range offsets {
				_ = x[at : at+len(y)]
			}
			tapSum(&y[0], &x[0], len(y), &offsets[0], &weights[0], len(offsets), add)
		},
	}
}

// checkedWinograd returns the transforms of [Winograd] out of assembly, for extents above 0.
func checkedWinograd(
	inRows, inCols func(dst, src *float32, planes, plane, dstStep, srcStep, n int),
	outRows func(x *float32, step, n int),
	outCols func(dst, src *float32, rows, dstStep, srcStep, n int),
) Winograd {
	return Winograd{
		InRows: func(dst, src []float32, planes, srcPlane, dstStep, srcStep, n int) {
			if planes <= 0 || n <= 0 || srcPlane < 0 || dstStep < 0 || srcStep < 0 {
				panic("isa: rows out of range")
			}
			_, _ = dst[(6*planes-1)*dstStep+n-1], src[(planes-1)*srcPlane+5*srcStep+n-1]
			inRows(&dst[0], &src[0], planes, srcPlane, dstStep, srcStep, n)
		},
		InCols: func(dst, src []float32, planes, dstPlane, dstStep, srcStep, n int) {
			if planes <= 0 || n <= 0 || dstPlane < 0 || dstStep < 0 || srcStep < 0 {
				panic("isa: tiles out of range")
			}
			_, _ = dst[(planes-1)*dstPlane+35*dstStep+n-1], src[(6*planes-1)*srcStep+4*n+1+WinogradBeyond]
			inCols(&dst[0], &src[0], planes, dstPlane, dstStep, srcStep, n)
		},
		OutRows: func(x []float32, step, n int) {
			if n <= 0 || step < 0 {
				panic("isa: rows out of range")
			}
			_ = x[5*step+n-1]
			outRows(&x[0], step, n)
		},
		OutCols: func(dst, src []float32, rows, dstStep, srcStep, n int) {
			if n <= 0 || rows <= 0 || rows > 4 || dstStep < 0 || srcStep < 0 {
				panic("isa: tiles out of range")
			}
			_, _ = dst[(rows-1)*dstStep+n-1], src[(6*rows-1)*srcStep+(n-1)/4+WinogradBeyond]
			outCols(&dst[0], &src[0], rows, dstStep, srcStep, n)
		},
	}
}

// checkedExp returns [Loops.Exp] out of assembly for n elements, a multiple of 8
// above 0.
func checkedExp(assembly func(x *float64, n int, constants *float64)) func(x []float64) {
	return func(x []float64) {
		n := len(x) &^ 7
		if n > 0 {
			assembly(&x[0], n, &expConstants[0])
		}
		exp(x[n:])
	}
}

// checkedExpShift returns [Loops.ExpShift] out of assembly for n elements, a
// multiple of 8 above 0: row for one shift, and rows for as many as elements.
func checkedExpShift(row, rows func(dst, src *float32, n int, shift *float32, constants *float64)) func(dst, src, shift []float32) {
	return func(dst, src, shift []float32) {
		src = src[:len(dst)]
		n := len(dst) &^ 7
		assembly := row
		if len(shift) > 1 {
			assembly, shift = rows, shift[:len(dst)]
		}
		if n > 0 {
			assembly(&dst[0], &src[0], n, &shift[0], &expConstants[0])
		}
		if len(shift) > 1 {
			shift = shift[n:]
		}
		expShift(dst[n:], src[n:], shift)
	}
}

package isa

import "github.com/berth-go/berth/internal/kernel"

// The loops in assembly check nothing. What stands around each here panics
// unless the slices hold all that it reads and writes, and leaves out calls
// without work.

// A Tile's loops in assembly. H, w, k, count and n are above 0.
type (
	mulAssembly[T any]     func(h, w, k int, a *T, rowA, colA int, b *T, ldb int, c *T, ldc int, add bool)
	mulTapsAssembly[T any] func(h, w, k int, a, b *T, offsets *int, c *T, ldc int, add bool)
	pickAssembly[T any]    func(dst, src *T, count, dstStep, srcStep, n int)
	spreadAssembly[T any]  func(dst, src *T, count, dstStep, srcStep, a, b, n int)
)

// checkedTile returns the tile of the given extents whose loops are in assembly.
func checkedTile[T kernel.Number](
	rows, cols int, mul mulAssembly[T], mulTaps mulTapsAssembly[T], pick pickAssembly[T], spread spreadAssembly[T], transpose transposeLoop[T], taps tapLoops[T], vectors Vectors[T],
) Tile[T] {
	mulFrom := func(h, w, k int, a []T, rowA, colA int, b []T, ldb int, c []T, ldc int, add bool) {
		if h <= 0 || h > rows || w <= 0 || w > cols || k <= 0 || rowA < 0 || colA < 0 || ldb < 0 || ldc < 0 {
			panic("isa: tile out of range")
		}
		_ = a[(h-1)*rowA+(k-1)*colA]
		_ = b[(k-1)*ldb+cols-1]
		_ = c[(h-1)*ldc+w-1]
		mul(h, w, k, &a[0], rowA, colA, &b[0], ldb, &c[0], ldc, add)
	}
	return Tile[T]{
		Rows: rows, Cols: cols,
		Mul: func(h, w, k int, a, b []T, ldb int, c []T, ldc int, add bool) {
			mulFrom(h, w, k, a, 1, rows, b, ldb, c, ldc, add)
		},
		MulFrom: mulFrom,
		Vectors: vectors,
		MulTaps: func(h, w int, a, b []T, taps Taps, c []T, ldc int, add bool) {
			k := taps.Len()
			if h <= 0 || h > rows || w <= 0 || w > cols || k == 0 || ldc < 0 {
				panic("isa: tile out of range")
			}
			_ = a[k*rows-1]
			_ = b[taps.last+cols-1]
			_ = c[(h-1)*ldc+w-1]
			mulTaps(h, w, k, &a[0], &b[0], &taps.offsets[0], &c[0], ldc, add)
		},
		Pick: func(dst, src []T, count, dstStep, srcStep, n int) {
			if count <= 0 || dstStep < 0 || srcStep < 0 || n <= 0 {
				panic("isa: lanes out of range")
			}
			_ = dst[(count-1)*dstStep+n-1]
			_ = src[(count-1)*srcStep+2*(n-1)]
			pick(&dst[0], &src[0], count, dstStep, srcStep, n)
		},
		Spread: func(dst, src []T, count, dstStep, srcStep, a, b, n int) {
			if count <= 0 || dstStep < 0 || srcStep < 0 || a < 0 || a >= b || b > n || n > cols {
				panic("isa: lanes out of range")
			}
			_ = dst[(count-1)*dstStep+n-1]
			_ = src[(count-1)*srcStep+b-a-1]
			spread(&dst[0], &src[0], count, dstStep, srcStep, a, b, n)
		},
		Transpose: transpose,
		TapRows:   taps.checkedRows, Tap3x3: taps.checked3x3, CopyRows: taps.checkedCopy, Split: taps.checkedSplit,
		MaxRows: taps.checkedMax, MeanRows: taps.checkedMean,
	}
}

// A transposeLoop is [Tile.Transpose].
type transposeLoop[T any] func(dst, src []T, lanes, lane, depth, width int)

// checkedTranspose returns [Tile.Transpose] out of assembly for wide lanes and for
// half as many. Wide ones are taken in steps of half as many elements, and half as
// many lanes in steps of wide elements.
func checkedTranspose[T kernel.Number](wide, half int, ofWide, ofHalf func(dst, src *T, lane, steps, width int)) transposeLoop[T] {
	return func(dst, src []T, lanes, lane, depth, width int) {
		if lanes <= 0 || lane < 0 || depth <= 0 || width < lanes {
			panic("isa: transposition out of range")
		}
		_ = dst[(depth-1)*width+lanes-1]
		_ = src[(lanes-1)*lane+depth-1]
		for lanes > 0 {
			n, step, assembly := wide, half, ofWide
			if lanes < wide {
				n, step, assembly = half, wide, ofHalf
			}
			if lanes < half {
				transposeLanes(dst, src, lanes, lane, depth, width)
				return
			}
			whole := depth / step * step
			if whole > 0 {
				assembly(&dst[0], &src[0], lane, whole/step, width)
			}
			if whole < depth {
				transposeLanes(dst[whole*width:], src[whole:], n, lane, depth-whole, width)
			}
			if lanes -= n; lanes > 0 {
				dst, src = dst[n:], src[n*lane:]
			}
		}
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

// checkedMap returns the loop over elements of a number of bytes out of assembly, for a
// function of so many operands.
func checkedMap(width, arity, scalars int, assembly func(dst, a, b, c *byte, n int, p *[2]float64)) Map {
	return func(dst, a, b, c []byte, p *[2]float64) {
		if len(dst) == 0 {
			return
		}
		var first [3]*byte
		for i, x := range [...][]byte{a, b, c} {
			if i == arity {
				break
			}
			last := len(dst) - 1
			if scalars>>i&1 == 1 {
				last = width - 1
			}
			_ = x[last]
			first[i] = &x[0]
		}
		assembly(&dst[0], first[0], first[1], first[2], len(dst)/width, p)
	}
}

// checkedFold returns a fold out of assembly, whose lanes begin at the identity.
func checkedFold[T kernel.Float](identity T, assembly func(x *T, n int, identity T) T) func(x []T) T {
	return func(x []T) T { return assembly(&x[0], len(x), identity) }
}

// checkedCast returns a conversion out of assembly, of elements of so many bytes to others, for
// multiples of a number of lanes.
func checkedCast(lanes, from, to int, assembly func(dst, a *byte, n int)) Cast {
	return func(dst, a []byte) int {
		n := len(dst) / to &^ (lanes - 1)
		if n > 0 {
			_ = a[n*from-1]
			assembly(&dst[0], &a[0], n)
		}
		return n
	}
}

package isa

import "github.com/berth-go/berth/internal/kernel"

// The loops in assembly check nothing. What stands around each here panics
// unless the slices hold all that it reads and writes, and leaves out calls
// without work.

// tileLoops are those of a [Tile] in assembly, for h, w, k, count and n above 0.
type tileLoops[T kernel.Number] struct {
	rows, cols, windowRows, wideRows int

	mul       func(h, w, k int, a *T, rowA, colA int, b *T, ldb, next int, ahead, c *T, ldc int, add bool)
	mulTaps   func(h, w, k int, a, b *T, offsets *int, c *T, ldc int, add bool)
	windows   func(h, tiles, w, k int, left *T, row int, offsets *int, b *T, next int, ahead, bias, c *T, ldc int, add bool)
	pick      func(dst, src *T, count, dstStep, srcStep, n int)
	spread    func(dst, src *T, count, dstStep, srcStep, a, b, n int)
	transpose transposeLoop[T]
	taps      tapLoops[T]
	channels  channelLoops[T]
	vectors   Vectors[T]
}

// holds panics unless a tile of h rows, rows at most, and w columns is one that there are loops for.
func (l *tileLoops[T]) holds(h, w, rows int) {
	if w > l.cols {
		rows, w = l.wideRows, w-l.cols
	}
	if h <= 0 || h > rows || w <= 0 || w > l.cols {
		panic("isa: tile out of range")
	}
}

// strips returns the first element of b, of which k rows are read and w columns wanted.
func (l *tileLoops[T]) strips(b *Strips[T], w, k int) *T {
	if b.Row < 0 || b.Next < 0 {
		panic("isa: tile out of range")
	}
	_ = b.Data[(k-1)*b.Row+l.cols-1]
	if w > l.cols {
		_ = b.Data[b.Next:][(k-1)*b.Row+l.cols-1]
	}
	return &b.Data[0]
}

// ahead returns where Ahead begins, or else where Data does.
func (b *Strips[T]) ahead() *T {
	if len(b.Ahead) > 0 {
		return &b.Ahead[0]
	}
	return &b.Data[0]
}

// checked returns the tile of the loops.
func (l tileLoops[T]) checked() Tile[T] {
	mulFrom := func(h, w, k int, a []T, rowA, colA int, b Strips[T], c []T, ldc int, add bool) {
		l.holds(h, w, l.rows)
		if k <= 0 || rowA < 0 || colA < 0 || ldc < 0 {
			panic("isa: tile out of range")
		}
		_ = a[(h-1)*rowA+(k-1)*colA]
		_ = c[(h-1)*ldc+w-1]
		l.mul(h, w, k, &a[0], rowA, colA, l.strips(&b, w, k), b.Row, b.Next, b.ahead(), &c[0], ldc, add)
	}
	return Tile[T]{
		Rows: l.rows, Cols: l.cols, WideRows: l.wideRows,
		Mul: func(h, w, k int, a, b []T, ldb int, c []T, ldc int, add bool) {
			mulFrom(h, w, k, a, 1, l.rows, Strips[T]{Data: b, Row: ldb}, c, ldc, add)
		},
		MulFrom: mulFrom,
		Vectors: l.vectors,
		MulTaps: func(h, w int, a, b []T, taps Taps, c []T, ldc int, add bool) {
			k := taps.Len()
			l.holds(h, w, l.rows)
			if k == 0 || ldc < 0 {
				panic("isa: tile out of range")
			}
			_ = a[(k-1)*l.rows+h-1]
			_ = b[taps.last+kernel.CeilDiv(w, l.cols)*l.cols-1]
			_ = c[(h-1)*ldc+w-1]
			l.mulTaps(h, w, k, &a[0], &b[0], &taps.offsets[0], &c[0], ldc, add)
		},
		WindowRows: l.windowRows,
		MulWindows: func(h, tiles, w int, left []T, row int, taps Taps, b Strips[T], bias, c []T, ldc int, add bool) {
			k := taps.Len()
			l.holds(h, w, l.windowRows)
			if tiles <= 0 || k == 0 || row < 0 || ldc < 0 || b.Row != l.cols {
				panic("isa: tile out of range")
			}
			_ = left[(h*tiles-1)*row+taps.last]
			_ = c[(h*tiles-1)*ldc+w-1]
			if len(bias) > 0 {
				_ = bias[w-1]
			}
			l.windows(h, tiles, w, k, &left[0], row, &taps.offsets[0], l.strips(&b, w, k), b.Next, b.ahead(), first(bias), &c[0], ldc, add)
		},
		Pick: func(dst, src []T, count, dstStep, srcStep, n int) {
			if count <= 0 || dstStep < 0 || srcStep < 0 || n <= 0 {
				panic("isa: lanes out of range")
			}
			_ = dst[(count-1)*dstStep+n-1]
			_ = src[(count-1)*srcStep+2*(n-1)]
			l.pick(&dst[0], &src[0], count, dstStep, srcStep, n)
		},
		Spread: func(dst, src []T, count, dstStep, srcStep, a, b, n int) {
			if count <= 0 || dstStep < 0 || srcStep < 0 || a < 0 || a >= b || b > n || n > l.cols {
				panic("isa: lanes out of range")
			}
			_ = dst[(count-1)*dstStep+n-1]
			_ = src[(count-1)*srcStep+b-a-1]
			l.spread(&dst[0], &src[0], count, dstStep, srcStep, a, b, n)
		},
		Transpose: l.transpose,
		TapRows:   l.taps.checkedRows, Tap3x3: l.taps.checked3x3, CopyRows: l.taps.checkedCopy, Split: l.taps.checkedSplit,
		MaxRows: l.taps.checkedMax, MeanRows: l.taps.checkedMean, Channels: l.channels.checked(),
	}
}

// A transposeLoop is [Tile.Transpose].
type transposeLoop[T any] func(dst, src []T, lanes, lane, depth, width int)

// checkedTranspose returns [Tile.Transpose] out of assembly for wide lanes and for
// half as many. Wide ones are taken in steps of half as many elements, and half as
// many lanes in steps of wide elements. Dst must not be src.
func checkedTranspose[T kernel.Number](wide, half int, ofWide, ofHalf func(dst, src *T, lane, steps, width int)) transposeLoop[T] {
	return func(dst, src []T, lanes, lane, depth, width int) {
		if lanes <= 0 || lane < 0 || depth <= 0 || width < lanes {
			panic("isa: transposition out of range")
		}
		_ = dst[(depth-1)*width+lanes-1]
		_ = src[(lanes-1)*lane+depth-1]
		for l := 0; l < lanes; {
			n, step, assembly := wide, half, ofWide
			if lanes-l < wide {
				n, step, assembly = half, wide, ofHalf
			}
			if lanes < half || depth < step {
				transposeLanes(dst[l:], src[l*lane:], min(n, lanes-l), lane, depth, width)
				l += n
				continue
			}
			// What is left of lanes or of depth is done with some that are done already.
			l = min(l, lanes-n)
			assembly(&dst[l], &src[l*lane], lane, depth/step, width)
			if depth%step > 0 {
				assembly(&dst[(depth-step)*width+l], &src[l*lane+depth-step], lane, 1, width)
			}
			l += n
		}
	}
}

// checkedWinograd returns the transforms of [Winograd] out of assembly, for extents above 0.
func checkedWinograd(
	inRows func(dst, src *float32, planes, dstPlane, srcPlane, dstStep, srcStep, n int),
	inCols func(dst, src *float32, planes, plane, dstStep, srcStep, n int),
	outRows func(dst, src *float32, planes, dstPlane, srcPlane, dstStep, srcStep, n, lines int),
	outCols func(dst, src *float32, rows, dstStep, srcStep, n int),
) Winograd {
	return Winograd{
		InRows: func(dst, src []float32, planes, dstPlane, srcPlane, dstStep, srcStep, n int) {
			if planes <= 0 || n <= 0 || dstPlane < 0 || srcPlane < 0 || dstStep < 0 || srcStep < 0 {
				panic("isa: rows out of range")
			}
			_, _ = dst[(planes-1)*dstPlane+5*dstStep+n-1], src[(planes-1)*srcPlane+5*srcStep+n-1]
			inRows(&dst[0], &src[0], planes, dstPlane, srcPlane, dstStep, srcStep, n)
		},
		InCols: func(dst, src []float32, planes, dstPlane, dstStep, srcStep, n int) {
			if planes <= 0 || n <= 0 || dstPlane < 0 || dstStep < 0 || srcStep < 0 {
				panic("isa: tiles out of range")
			}
			_, _ = dst[(planes-1)*dstPlane+35*dstStep+n-1], src[(6*planes-1)*srcStep+4*n+1+WinogradBeyond]
			inCols(&dst[0], &src[0], planes, dstPlane, dstStep, srcStep, n)
		},
		OutRows: func(dst, src []float32, planes, dstPlane, srcPlane, dstStep, srcStep, n, lines int) {
			if planes <= 0 || n <= 0 || lines <= 0 || lines > 4 || dstPlane < 0 || srcPlane < 0 || dstStep < 0 || srcStep < 0 {
				panic("isa: rows out of range")
			}
			_, _ = dst[(planes-1)*dstPlane+(lines-1)*dstStep+n-1], src[(planes-1)*srcPlane+5*srcStep+n-1]
			outRows(&dst[0], &src[0], planes, dstPlane, srcPlane, dstStep, srcStep, n, lines)
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

// checkedFoldRows returns a fold of rows out of assembly, for multiples of a number of lanes.
func checkedFoldRows[T kernel.Float](lanes int, assembly func(acc, r0, r1, r2, r3, r4, r5, r6, r7 *T, n int)) func(acc, r0, r1, r2, r3, r4, r5, r6, r7 []T) int {
	return func(acc, r0, r1, r2, r3, r4, r5, r6, r7 []T) int {
		n := len(acc) &^ (lanes - 1)
		if n == 0 {
			return 0
		}
		_, _, _, _ = r0[n-1], r1[n-1], r2[n-1], r3[n-1]
		_, _, _, _ = r4[n-1], r5[n-1], r6[n-1], r7[n-1]
		assembly(&acc[0], &r0[0], &r1[0], &r2[0], &r3[0], &r4[0], &r5[0], &r6[0], &r7[0], n)
		return n
	}
}

// checkedCompare returns a comparison out of assembly, for multiples of a number of lanes.
func checkedCompare(lanes int, scalar bool, assembly func(dst, a, b *byte, n int)) Compare {
	return func(dst, a, b []byte) int {
		n := len(dst) &^ (lanes - 1)
		if n > 0 {
			last := 4 * n
			_ = a[last-1]
			if scalar {
				last = 4
			}
			_ = b[last-1]
			assembly(&dst[0], &a[0], &b[0], n)
		}
		return n
	}
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

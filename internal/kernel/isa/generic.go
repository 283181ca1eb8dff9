package isa

import "github.com/berth-go/berth/internal/kernel"

// Generic is the portable set. Each multiplication is rounded before it is
// added, on every processor: the conversions forbid fused multiply-adds.
var Generic = Loops{
	Name:     "generic",
	Float32:  genericTile[float32](),
	Float64:  genericTile[float64](),
	Winograd: genericWinograd,
	Exp:      exp,
	Maps:     singleMaps(),
	Integer:  genericInteger,
}

// genericIntegers are pointers to the portable tiles, made once, as making one allocates.
var genericIntegers = [...]any{
	genericPointer[int8](), genericPointer[int16](), genericPointer[int32](), genericPointer[int64](),
	genericPointer[uint8](), genericPointer[uint16](), genericPointer[uint32](), genericPointer[uint64](),
}

func genericPointer[T kernel.Number]() *Tile[T] {
	t := genericTile[T]()
	return &t
}

// TileOf returns the loops of the active set for T, and the portable ones for integers. It
// allocates nothing.
func TileOf[T kernel.Number]() Tile[T] {
	if t, ok := any(&active.Float32).(*Tile[T]); ok {
		return *t
	}
	if t, ok := any(&active.Float64).(*Tile[T]); ok {
		return *t
	}
	for _, of := range genericIntegers {
		if t, ok := of.(*Tile[T]); ok {
			return *t
		}
	}
	panic("isa: no tile for this type")
}

func genericTile[T kernel.Number]() Tile[T] {
	return Tile[T]{
		Rows: 4, Cols: 4,
		Mul: mulPacked4x4[T], MulFrom: mulTile4x4[T], MulTaps: mulTaps4x4[T], WindowRows: 4, MulWindows: mulWindows4x4[T], Pick: pickEvens[T], Vectors: genericVectors[T](),
		Spread: spreadLanes[T], Transpose: transposeLanes[T],
		TapRows: tapRows[T], Tap3x3: tap3x3[T], CopyRows: copyRows[T], Split: split[T],
		MaxRows: maxRows[T], MeanRows: meanRows[T], Channels: genericChannels[T](),
	}
}

func mulPacked4x4[T kernel.Number](h, w, k int, a, b []T, ldb int, c []T, ldc int, add bool) {
	mulTile4x4(h, w, k, a, 1, 4, Strips[T]{Data: b, Row: ldb}, c, ldc, add)
}

func mulTile4x4[T kernel.Number](h, w, k int, a []T, rowA, colA int, strip Strips[T], c []T, ldc int, add bool) {
	ldb := strip.Row
	// Rows that are not there stand for the last one that is.
	var rows [4]int
	for i := range rows {
		rows[i] = min(i, h-1) * rowA
	}
	for from := 0; from < k; from += Chain {
		n := min(Chain, k-from)
		a, b := a[from*colA:], strip.Data[from*ldb:]
		var s [4][4]T
		half4x2(&s, 0, n, a, &rows, colA, b, ldb)
		if w > 2 {
			half4x2(&s, 2, n, a, &rows, colA, b[2:], ldb)
		}
		addTile(c, &s, h, w, ldc, add || from > 0)
	}
}

// addTile ends a chain: its sums are added to c, or written.
func addTile[T kernel.Number](c []T, s *[4][4]T, h, w, ldc int, add bool) {
	for i := range min(h, 4) {
		row := c[i*ldc : i*ldc+w]
		sums := s[i][:w]
		if add {
			for j, v := range sums {
				row[j] += v
			}
		} else {
			copy(row, sums)
		}
	}
}

// half4x2 sums columns at and at+1 of a 4×4 tile. Eight sums and their
// operands fit the registers of every 64-bit processor; sixteen do not.
func half4x2[T kernel.Number](s *[4][4]T, at, k int, a []T, rows *[4]int, colA int, b []T, ldb int) {
	var s00, s01, s10, s11, s20, s21, s30, s31 T
	last := (k - 1) * colA
	r0, r1 := a[rows[0]:][:last+1], a[rows[1]:][:last+1]
	r2, r3 := a[rows[2]:][:last+1], a[rows[3]:][:last+1]
	p, q := 0, 0
	for range k {
		bp := b[p : p+2 : p+2]
		b0, b1 := bp[0], bp[1]
		a0, a1, a2, a3 := r0[q], r1[q], r2[q], r3[q]
		s00 += T(a0 * b0)
		s01 += T(a0 * b1)
		s10 += T(a1 * b0)
		s11 += T(a1 * b1)
		s20 += T(a2 * b0)
		s21 += T(a2 * b1)
		s30 += T(a3 * b0)
		s31 += T(a3 * b1)
		p, q = p+ldb, q+colA
	}
	s[0][at], s[0][at+1] = s00, s01
	s[1][at], s[1][at+1] = s10, s11
	s[2][at], s[2][at+1] = s20, s21
	s[3][at], s[3][at+1] = s30, s31
}

func spreadLanes[T kernel.Number](dst, src []T, count, dstStep, srcStep, a, b, n int) {
	for r := range count {
		to, from := dst[r*dstStep:r*dstStep+n], src[r*srcStep:r*srcStep+b-a]
		for i := range a {
			to[i] = 0
		}
		for i, v := range from {
			to[a+i] = v
		}
		for i := b; i < n; i++ {
			to[i] = 0
		}
	}
}

// transposeLanes takes eight lanes at a time.
func transposeLanes[T kernel.Number](dst, data []T, n, lane, depth, width int) {
	l := 0
	for ; l+8 <= n; l += 8 {
		f := l * lane
		r0 := data[f : f+depth]
		r1 := data[f+lane:][:len(r0)]
		r2 := data[f+2*lane:][:len(r0)]
		r3 := data[f+3*lane:][:len(r0)]
		r4 := data[f+4*lane:][:len(r0)]
		r5 := data[f+5*lane:][:len(r0)]
		r6 := data[f+6*lane:][:len(r0)]
		r7 := data[f+7*lane:][:len(r0)]
		to := l
		for k, v := range r0 {
			d := dst[to : to+8 : to+8]
			d[0], d[1], d[2], d[3] = v, r1[k], r2[k], r3[k]
			d[4], d[5], d[6], d[7] = r4[k], r5[k], r6[k], r7[k]
			to += width
		}
	}
	for ; l+2 <= n; l += 2 {
		f := l * lane
		r0 := data[f : f+depth]
		r1 := data[f+lane:][:len(r0)]
		to := l
		for k, v := range r0 {
			d := dst[to : to+2 : to+2]
			d[0], d[1] = v, r1[k]
			to += width
		}
	}
	if l < n {
		f := l * lane
		for k, v := range data[f : f+depth] {
			dst[k*width+l] = v
		}
	}
}

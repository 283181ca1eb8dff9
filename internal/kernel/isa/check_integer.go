package isa

// integerAssembly is an [IntegerTile] in assembly. All extents are above 0; n is a
// multiple of 16, or of the positions of taps that a register has.
type integerAssembly struct {
	rows, cols, positions   int
	signedLeft, signedRight func(h, w, quads int, a *uint8, row, step int, b *uint8, ldb int, c *int32, ldc int, add bool)
	interleave              func(dst, src *uint8, n, count, dstStep, srcStep int, flip uint8)
	tapQuads                func(y *int32, n int, x *uint8, stride int, offsets *int, weights *uint8, taps int, shuffle *uint8)
	shiftSums               func(s *int32, n int, add *int32, addEach bool, base int32)
	requantize              func(y *uint8, s *int32, n int, add *int32, addEach bool, base int32, scale *float32, scaleEach bool, least, most float32, zero int32)
	quantize                func(y *uint8, x *float32, n int, scale, least, most float32, zero int32)
	dequantize              func(y *float32, x *uint8, n int, scale float32, zero int32, flip uint8)
	addQuantized            func(y, a, b *uint8, n int, scaleA, scaleB, scaleY, least, most float32, zeroA, zeroB, zeroY int32, flip uint8)
}

// checked returns the loops over slices, which compute what is left of whole registers
// as the portable ones do.
func (s integerAssembly) checked() IntegerTile {
	return IntegerTile{
		Rows: s.rows, Cols: s.cols,
		SignedLeft: s.mul(s.signedLeft), SignedRight: s.mul(s.signedRight),
		Interleave: func(dst, src []uint8, n, count, dstStep, srcStep int, flip uint8) {
			if count <= 0 {
				return
			}
			if dstStep < 0 || srcStep < 0 {
				panic("isa: quads out of range")
			}
			whole := n &^ 15
			if whole > 0 {
				_ = dst[(count-1)*dstStep+4*whole-1]
				_ = src[(4*count-1)*srcStep+whole-1]
				s.interleave(&dst[0], &src[0], whole, count, dstStep, srcStep, flip)
			}
			if whole < n {
				interleave(dst[4*whole:], src[whole:], n-whole, count, dstStep, srcStep, flip)
			}
		},
		TapQuads: func(y []int32, x []uint8, stride int, offsets []int, weights []uint8) {
			whole := len(y) / s.positions * s.positions
			if stride < 1 || stride > maxTapStride || len(offsets) == 0 {
				whole = 0
			}
			if whole > 0 {
				_ = weights[4*len(offsets)-1]
				for _, at := range offsets {
					_ = x[at : at+(whole-1)*stride+TapSlack]
				}
				s.tapQuads(&y[0], whole, &x[0], stride, &offsets[0], &weights[0], len(offsets), &tapShuffles[stride-1][0])
			}
			if whole < len(y) {
				tapQuads(y[whole:], x[whole*stride:], stride, offsets, weights)
			}
		},
		ShiftSums: func(sums, add []int32, base int32) {
			whole := len(sums) &^ 15
			if whole > 0 {
				checkEach(add, whole)
				s.shiftSums(&sums[0], whole, &add[0], len(add) > 1, base)
			}
			if whole < len(sums) {
				shiftSums(sums[whole:], from(add, whole), base)
			}
		},
		Requantize: func(y []uint8, sums, add []int32, base int32, scale []float32, zero int32, signed bool) {
			whole := len(y) &^ 15
			if whole > 0 {
				least, most := bounds(zero, signed)
				_ = sums[whole-1]
				checkEach(add, whole)
				checkEach(scale, whole)
				s.requantize(&y[0], &sums[0], whole, &add[0], len(add) > 1, base, &scale[0], len(scale) > 1, least, most, zero)
			}
			if whole < len(y) {
				requantize(y[whole:], sums[whole:], from(add, whole), base, from(scale, whole), zero, signed)
			}
		},
		Quantize: func(y []uint8, x []float32, scale float32, zero int32, signed bool) {
			whole := len(y) &^ 15
			if whole > 0 {
				least, most := bounds(zero, signed)
				_ = x[whole-1]
				s.quantize(&y[0], &x[0], whole, scale, least, most, zero)
			}
			quantize(y[whole:], x[whole:], scale, zero, signed)
		},
		Dequantize: func(y []float32, x []uint8, scale float32, zero int32, signed bool) {
			whole := len(y) &^ 15
			if whole > 0 {
				flip, more := unsigned(signed)
				_ = x[whole-1]
				s.dequantize(&y[0], &x[0], whole, scale, zero+more, flip)
			}
			dequantize(y[whole:], x[whole:], scale, zero, signed)
		},
		AddQuantized: func(y, a, b []uint8, scaleA, scaleB, scaleY float32, zeroA, zeroB, zeroY int32, signed bool) {
			whole := len(y) &^ 15
			if whole > 0 {
				least, most := bounds(zeroY, signed)
				flip, more := unsigned(signed)
				_, _ = a[whole-1], b[whole-1]
				s.addQuantized(&y[0], &a[0], &b[0], whole, scaleA, scaleB, scaleY, least, most, zeroA+more, zeroB+more, zeroY, flip)
			}
			addQuantized(y[whole:], a[whole:], b[whole:], scaleA, scaleB, scaleY, zeroA, zeroB, zeroY, signed)
		},
	}
}

func (s integerAssembly) mul(assembly func(h, w, quads int, a *uint8, row, step int, b *uint8, ldb int, c *int32, ldc int, add bool)) IntegerMul {
	return func(h, w, quads int, a []uint8, row, step int, b []uint8, ldb int, c []int32, ldc int, add bool) {
		if h <= 0 || h > s.rows || w <= 0 || w > s.cols || quads <= 0 || row < 0 || step < 0 || ldb < 0 || ldc < 0 {
			panic("isa: tile out of range")
		}
		_ = a[(h-1)*row+(quads-1)*step+3]
		_ = b[(quads-1)*ldb+4*s.cols-1]
		_ = c[(h-1)*ldc+w-1]
		assembly(h, w, quads, &a[0], row, step, &b[0], ldb, &c[0], ldc, add)
	}
}

// unsigned returns what is to be flipped of bytes to make them unsigned, and how much
// greater they are then.
func unsigned(signed bool) (flip uint8, more int32) {
	if signed {
		return 0x80, 0x80
	}
	return 0, 0
}

// checkEach panics if s, unless it is one number for all, has fewer than n.
func checkEach[T any](s []T, n int) {
	if len(s) > 1 {
		_ = s[n-1]
	}
}

// from returns the numbers of s from the given one on: all where one serves all.
func from[T any](s []T, at int) []T {
	if len(s) > 1 {
		return s[at:]
	}
	return s
}

// maxTapStride is the widest stride of [IntegerTile.TapQuads] in assembly.
const maxTapStride = 4

// tapShuffles has, for each stride, where the bytes of the quads of 16 positions lie.
var tapShuffles = func() (table [maxTapStride][64]uint8) {
	for stride := range table {
		for i := range table[stride] {
			table[stride][i] = uint8(i/4*(stride+1) + i%4)
		}
	}
	return table
}()

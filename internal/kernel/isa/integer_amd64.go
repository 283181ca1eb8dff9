//go:build !purego

package isa

import "golang.org/x/sys/cpu"

var integerAVX2 = checkedInteger(4, 8, mulSignedLeftAVX2, mulSignedRightAVX2, interleaveAVX2, tapQuadsAVX2, 8, shiftSumsAVX2, requantizeAVX2)

// integerAVX512 returns the loops for processors with registers of 512 bits, of which
// some do not multiply bytes, or do not shuffle them over a whole register.
func integerAVX512() IntegerTile {
	if !cpu.X86.HasAVX512VNNI || !cpu.X86.HasAVX512BW {
		return integerAVX2
	}
	taps, positions := tapQuadsAVX512, 16
	if !cpu.X86.HasAVX512VBMI {
		taps, positions = tapQuadsAVX2, 8
	}
	return checkedInteger(12, 32, mulSignedLeftAVX512, mulSignedRightAVX512, interleaveAVX2, taps, positions, shiftSumsAVX512, requantizeAVX512)
}

// The loops of an [IntegerTile] in assembly. All extents are above 0; n is a multiple of
// what a register holds.
type (
	integerMulAssembly func(h, w, quads int, a *uint8, row, step int, b *uint8, ldb int, c *int32, ldc int, add bool)
	interleaveAssembly func(dst, src *uint8, n, count, dstStep, srcStep int, flip uint8)
	tapQuadsAssembly   func(y *int32, n int, x *uint8, stride int, offsets *int, weights *uint8, taps int, shuffle *uint8)
	shiftAssembly      func(s *int32, n int, add *int32, addEach bool, base int32)
	requantizeAssembly func(y *uint8, s *int32, n int, add *int32, addEach bool, base int32, scale *float32, scaleEach bool, least, most float32, zero int32)
)

// checkedInteger returns the tile of the given extents whose loops are in assembly.
// A register has so many positions of taps.
func checkedInteger(rows, cols int, left, right integerMulAssembly, quads interleaveAssembly, taps tapQuadsAssembly, positions int,
	shift shiftAssembly, round requantizeAssembly) IntegerTile {
	mul := func(assembly integerMulAssembly) IntegerMul {
		return func(h, w, quads int, a []uint8, row, step int, b []uint8, ldb int, c []int32, ldc int, add bool) {
			if h <= 0 || h > rows || w <= 0 || w > cols || quads <= 0 || row < 0 || step < 0 || ldb < 0 || ldc < 0 {
				panic("isa: tile out of range")
			}
			_ = a[(h-1)*row+(quads-1)*step+3]
			_ = b[(quads-1)*ldb+4*cols-1]
			_ = c[(h-1)*ldc+w-1]
			assembly(h, w, quads, &a[0], row, step, &b[0], ldb, &c[0], ldc, add)
		}
	}
	return IntegerTile{
		Rows: rows, Cols: cols,
		SignedLeft: mul(left), SignedRight: mul(right),
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
				quads(&dst[0], &src[0], whole, count, dstStep, srcStep, flip)
			}
			if whole < n {
				interleave(dst[4*whole:], src[whole:], n-whole, count, dstStep, srcStep, flip)
			}
		},
		TapQuads: func(y []int32, x []uint8, stride int, offsets []int, weights []uint8) {
			whole := len(y) / positions * positions
			if stride < 1 || stride > maxTapStride || len(offsets) == 0 {
				whole = 0
			}
			if whole > 0 {
				_ = weights[4*len(offsets)-1]
				for _, at := range offsets {
					_ = x[at : at+(whole-1)*stride+TapSlack]
				}
				taps(&y[0], whole, &x[0], stride, &offsets[0], &weights[0], len(offsets), &tapShuffles[stride-1][0])
			}
			if whole < len(y) {
				tapQuads(y[whole:], x[whole*stride:], stride, offsets, weights)
			}
		},
		ShiftSums: func(s, add []int32, base int32) {
			whole := len(s) &^ 15
			if whole > 0 {
				each := len(add) > 1
				if each {
					_ = add[whole-1]
				}
				shift(&s[0], whole, &add[0], each, base)
			}
			if whole < len(s) {
				shiftSums(s[whole:], from(add, whole), base)
			}
		},
		Requantize: func(y []uint8, s, add []int32, base int32, scale []float32, zero int32, signed bool) {
			whole := len(y) &^ 15
			if whole > 0 {
				least, most := bounds(zero, signed)
				_ = s[whole-1]
				addEach, scaleEach := len(add) > 1, len(scale) > 1
				if addEach {
					_ = add[whole-1]
				}
				if scaleEach {
					_ = scale[whole-1]
				}
				round(&y[0], &s[0], whole, &add[0], addEach, base, &scale[0], scaleEach, least, most, zero)
			}
			if whole < len(y) {
				requantize(y[whole:], s[whole:], from(add, whole), base, from(scale, whole), zero, signed)
			}
		},
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

//go:noescape
func mulSignedLeftAVX512(h, w, quads int, a *uint8, row, step int, b *uint8, ldb int, c *int32, ldc int, add bool)

//go:noescape
func mulSignedRightAVX512(h, w, quads int, a *uint8, row, step int, b *uint8, ldb int, c *int32, ldc int, add bool)

//go:noescape
func tapQuadsAVX512(y *int32, n int, x *uint8, stride int, offsets *int, weights *uint8, taps int, shuffle *uint8)

//go:noescape
func requantizeAVX512(y *uint8, s *int32, n int, add *int32, addEach bool, base int32, scale *float32, scaleEach bool, least, most float32, zero int32)

//go:noescape
func mulSignedLeftAVX2(h, w, quads int, a *uint8, row, step int, b *uint8, ldb int, c *int32, ldc int, add bool)

//go:noescape
func mulSignedRightAVX2(h, w, quads int, a *uint8, row, step int, b *uint8, ldb int, c *int32, ldc int, add bool)

//go:noescape
func tapQuadsAVX2(y *int32, n int, x *uint8, stride int, offsets *int, weights *uint8, taps int, shuffle *uint8)

//go:noescape
func requantizeAVX2(y *uint8, s *int32, n int, add *int32, addEach bool, base int32, scale *float32, scaleEach bool, least, most float32, zero int32)

//go:noescape
func interleaveAVX2(dst, src *uint8, n, count, dstStep, srcStep int, flip uint8)

//go:noescape
func shiftSumsAVX512(s *int32, n int, add *int32, addEach bool, base int32)

//go:noescape
func shiftSumsAVX2(s *int32, n int, add *int32, addEach bool, base int32)

package isa

import (
	"math"
	"unsafe"
)

// The exponential function that float32 is served by. It computes in float64,
// good to 2.3e-10 of the value, so that rounding to float32 is nearly all of
// the error: the result is within 0.51 units in the last place.

// The constants of [exp]. ExpPoly0 to ExpPoly5 are the coefficients of
// (exp(r) - 1 - r) / r², fitted at the Chebyshev nodes of |r| <= ln(2)/2.
const (
	// ExpRange is the greatest magnitude that counts: far beyond what float32
	// can tell from 0 and infinity, as is the reciprocal.
	ExpRange = 300
	// ExpRound rounds a number that is added to it to an integer, and leaves
	// that in the low bits of the sum, with the bias of float64 exponents.
	ExpRound = 3<<51 + 1023
	ExpPoly0 = 0.5000000013457736
	ExpPoly1 = 0.16666666681613992
	ExpPoly2 = 0.041666465005954896
	ExpPoly3 = 0.008333310934543002
	ExpPoly4 = 0.0013933641041144783
	ExpPoly5 = 0.00019890980807240783
)

// expConstants is what the vector forms of exp read, in this order.
var expConstants = [...]float64{
	-ExpRange, ExpRange, math.Log2E, ExpRound, math.Ln2, 1,
	ExpPoly5, ExpPoly4, ExpPoly3, ExpPoly2, ExpPoly1, ExpPoly0, math.Inf(1),
}

// exp sets each of x to eˣ: 0 and +Inf beyond [ExpRange], NaN of NaN.
//
// With k the integer nearest to x/ln 2 and r = x - k ln 2, the exponential is
// 2ᵏ eʳ. The conversions forbid fused multiply-adds, so that every processor,
// and the vector forms of this loop, give the same bits.
func exp(x []float64) {
	for i, v := range x {
		c := v
		if c > ExpRange {
			c = ExpRange
		}
		if c < -ExpRange {
			c = -ExpRange
		}
		t := float64(c*math.Log2E) + ExpRound
		r := c - float64((t-ExpRound)*math.Ln2)
		q := float64(ExpPoly5*r) + ExpPoly4
		q = float64(q*r) + ExpPoly3
		q = float64(q*r) + ExpPoly2
		q = float64(q*r) + ExpPoly1
		q = float64(q*r) + ExpPoly0
		p := (1 + r) + float64(float64(r*r)*q)
		e := p * math.Float64frombits(math.Float64bits(t)<<52)
		if v > ExpRange {
			e = math.Inf(1)
		}
		if v < -ExpRange {
			e = 0
		}
		x[i] = e
	}
}

// ExpChunk is [Loops.Exp] of the active set.
func ExpChunk(x []float64) { active.Exp(unkept(x)) }

// unkept returns x, and hides from the compiler that it does: a buffer on the
// stack can stay there although it is handed to a loop that is only known when
// the program runs. That keeps none of its operands, as [Loops] states.
func unkept[T any](x []T) []T {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(x)))
	return unsafe.Slice(*(**T)(unsafe.Pointer(&at)), len(x))
}

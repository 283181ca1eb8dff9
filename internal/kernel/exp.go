package kernel

import "math"

// The exponential function that float32 is served by. It computes in float64,
// good to 2.3e-10 of the value, so that rounding to float32 is nearly all of
// the error. Reductions and softmax load elements through it, and elementwise
// programs run it over blocks; every form gives the same bits.

// The constants of expLoop. expPoly are the coefficients of (exp(r) - 1 - r) / r²,
// fitted at the Chebyshev nodes of |r| <= ln(2)/2.
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

// ExpChunk sets each of x to eˣ: 0 and +Inf beyond [ExpRange], NaN of NaN.
func ExpChunk(x []float64) { expLoop(x[expChunkNative(x):]) }

// expLoop is [ExpChunk] without vector instructions.
//
// With k the integer nearest to x/ln 2 and r = x - k ln 2, the exponential is
// 2ᵏ eʳ. The conversions forbid fused multiply-adds, so that every processor,
// and the vector forms of this loop, give the same bits.
func expLoop(x []float64) {
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

// ExpFloat32 sets dst to eˣ, rounded to float32, for each x of a.
func ExpFloat32(dst, a []float32) {
	var zero [1]float32
	LoadExp32(dst, a, 0, 1, zero[:])
}

// LoadExp32 is [lines.Lines.LoadExp] for float32: within 0.51 units in the last place.
func LoadExp32(dst []float32, src []float32, at, step int, shift []float32) {
	if step == 1 {
		src = src[at : at+len(dst)]
		done := exp32Native(dst, src, shift)
		if len(shift) > 1 {
			shift = shift[done:]
		}
		dst, src, at = dst[done:], src[done:], 0
	}
	if len(dst) == 0 {
		return
	}
	var buf [32]float64 // short, as it is cleared for each row
	for len(dst) > 0 {
		x := buf[:min(len(dst), len(buf))]
		if len(shift) == 1 {
			m := float64(shift[0])
			for i := range x {
				x[i] = float64(src[at]) - m
				at += step
			}
		} else {
			for i, m := range shift[:len(x)] {
				x[i] = float64(src[at]) - float64(m)
				at += step
			}
			shift = shift[len(x):]
		}
		ExpChunk(x)
		for i, e := range x {
			dst[i] = float32(e)
		}
		dst = dst[len(x):]
	}
}

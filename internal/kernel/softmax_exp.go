package kernel

import "math"

// loadExp32 is [loadExp] for float32, by [exp32].
func loadExp32(dst []float32, src []float32, at, step int, shift []float32) {
	if step == 1 {
		src = src[at : at+len(dst)]
		done := exp32Native(dst, src, shift)
		if len(shift) > 1 {
			shift = shift[done:]
		}
		dst, src, at = dst[done:], src[done:], 0
	}
	if len(shift) == 1 {
		m := float64(shift[0])
		for i := range dst {
			dst[i] = exp32(float64(src[at]) - m)
			at += step
		}
		return
	}
	for i := range dst {
		dst[i] = exp32(float64(src[at]) - float64(shift[i]))
		at += step
	}
}

// The constants of exp32. exp32Poly are the coefficients of
// (exp(r) - 1 - r) / r^2, fitted at the Chebyshev nodes of |r| <= ln(2)/2,
// where the exponential they give is within 2.3e-10 of the right one.
const (
	exp32Low   = -110 // of which float32 makes 0
	exp32High  = 100  // of which float32 makes +Inf
	exp32Round = 3 << 51
	exp32Poly0 = 0.5000000013457736
	exp32Poly1 = 0.16666666681613992
	exp32Poly2 = 0.041666465005954896
	exp32Poly3 = 0.008333310934543002
	exp32Poly4 = 0.0013933641041144783
	exp32Poly5 = 0.00019890980807240783
)

// exp32 returns the exponential of x, rounded to float32: within 0.51 units
// in the last place, 0 and +Inf where float32 has nothing nearer, NaN of NaN.
//
// With k the integer nearest to x/ln 2 and r = x - k ln 2, exp(x) is
// 2^k exp(r). Adding 3*2^51 rounds x/ln 2 to an integer and leaves it in the
// low bits of the sum, from where it is added to the exponent. (The low bits
// of a NaN that comes from float32 are 0.)
//
// The conversions forbid fused multiply-adds, so that every processor, and
// the vector forms of this function, give the same bits.
func exp32(x float64) float32 {
	if x > exp32High {
		x = exp32High
	}
	if x < exp32Low {
		x = exp32Low
	}
	t := float64(x*math.Log2E) + exp32Round
	r := x - float64((t-exp32Round)*math.Ln2)
	q := float64(exp32Poly5*r) + exp32Poly4
	q = float64(q*r) + exp32Poly3
	q = float64(q*r) + exp32Poly2
	q = float64(q*r) + exp32Poly1
	q = float64(q*r) + exp32Poly0
	p := (1 + r) + float64(float64(r*r)*q)
	return float32(math.Float64frombits(math.Float64bits(p) + math.Float64bits(t)<<52))
}

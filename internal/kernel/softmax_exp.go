package kernel

import "math"

// loadExp32 is [loadExp] for float32, by [exp32].
func loadExp32(dst []float32, src []float32, at, step int, shift []float32) {
	switch {
	case len(shift) == 1 && step == 1:
		m := float64(shift[0])
		for i, x := range src[at : at+len(dst)] {
			dst[i] = exp32(float64(x) - m)
		}
	case len(shift) == 1:
		m := float64(shift[0])
		for i := range dst {
			dst[i] = exp32(float64(src[at]) - m)
			at += step
		}
	default:
		for i := range dst {
			dst[i] = exp32(float64(src[at]) - float64(shift[i]))
			at += step
		}
	}
}

// exp32 returns the exponential of x, rounded to float32: within 0.51 units
// in the last place, exactly 0 and +Inf where float32 has nothing nearer.
//
// With k the integer nearest to x/ln 2 and r = x - k ln 2, exp(x) is
// 2^k exp(r), |r| <= ln(2)/2. The Taylor polynomial of degree 8 is off by
// less than 3e-10 there. Adding 3*2^51 rounds x/ln 2 to an integer and leaves
// it in the low bits of the sum, from where it is added to the exponent.
func exp32(x float64) float32 {
	if !(x >= -104 && x <= 89) {
		return exp32Limits(x)
	}
	const round = 3 << 51
	t := x*math.Log2E + round
	r := x - (t-round)*math.Ln2
	r2 := r * r
	p := (1 + r) + r2*(1./2+r*(1./6)) + r2*r2*((1./24+r*(1./120))+r2*(1./720+r*(1./5040)+r2*(1./40320)))
	return float32(math.Float64frombits(math.Float64bits(p) + math.Float64bits(t)<<52))
}

func exp32Limits(x float64) float32 {
	switch {
	case x < 0:
		return 0
	case x > 0:
		return float32(math.Inf(1))
	}
	return float32(x) // NaN
}

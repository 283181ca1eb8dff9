package elementwise

import "math"

// A pair is the sum of two float64, of which lo is what rounding hi left over:
// a number of some 106 bits. Functions whose argument is a product, or that
// cancel, are computed on pairs where float64 would lose digits.
//
// Source: Dekker, "A floating-point technique for extending the available
// precision", 1971.
//
// Conversions to float64 keep products apart from the sums they go into.
type pair struct{ hi, lo float64 }

// sumOf is a + b, exactly.
func sumOf(a, b float64) pair {
	a, b = float64(a), float64(b)
	s := a + b
	t := s - a
	return pair{s, (a - (s - t)) + (b - t)}
}

// orderedSum is a + b, exactly, for |a| >= |b|.
func orderedSum(a, b float64) pair {
	a, b = float64(a), float64(b)
	s := a + b
	return pair{s, b - (s - a)}
}

// productOf is a * b, exactly.
func productOf(a, b float64) pair {
	p := float64(a * b)
	return pair{p, math.FMA(a, b, -p)}
}

func (x pair) plus(y pair) pair {
	s := sumOf(x.hi, y.hi)
	return orderedSum(s.hi, s.lo+(x.lo+y.lo))
}

func (x pair) times(y pair) pair {
	p := productOf(x.hi, y.hi)
	return orderedSum(p.hi, p.lo+(float64(x.hi*y.lo)+float64(x.lo*y.hi)))
}

// over is x / y, rounded but for a little.
func (x pair) over(y pair) float64 {
	q := x.hi / y.hi
	if math.IsInf(q, 0) {
		return q
	}
	return q + (madd(-q, y.lo, math.FMA(-q, y.hi, x.hi))+x.lo)/y.hi
}

// madd is x*y + z, with the product rounded: written plainly, the two are one
// fused operation on some processors, and results would not be the same on all.
// So it is with a z that is a product.
func madd(x, y, z float64) float64 { return float64(x*y) + float64(z) }

// polynomial is c[0] + c[1]*x + c[2]*x² + ...
func polynomial(x float64, c []float64) float64 {
	y := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		y = madd(y, x, c[i])
	}
	return y
}

const (
	ln2Hi = 0x1.62e42fefa38p-1 // 42 bits, so that its products with exponents are exact
	ln2Lo = math.Ln2 - ln2Hi
)

// (eˣ - 1 - x)/x², for |x| <= ln(2)/2.
var expCoefficients = [...]float64{
	1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040, 1. / 40320, 1. / 362880,
	1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800, 1. / 87178291200,
}

// exp is 2ⁿ eˣ, for |n| up to 100, rounded but for a tenth of a unit in the last
// place.
//
// With k the integer nearest to x/ln 2 and r = x - k ln 2, it is 2^(k+n) eʳ.
func (x pair) exp(n int) float64 {
	switch {
	case math.IsNaN(x.hi):
		return x.hi
	case x.hi > 1000:
		return math.Inf(1)
	case x.hi < -1000:
		return 0
	}
	k := math.RoundToEven(x.hi * math.Log2E)
	r := sumOf(math.FMA(-k, ln2Hi, x.hi), madd(-k, ln2Lo, x.lo))
	tail := madd(r.hi*r.hi, polynomial(r.hi, expCoefficients[:]), madd(r.lo, r.hi, r.lo))
	one := orderedSum(1, r.hi)
	y := one.hi + (one.lo + tail)
	// In two steps, of which the first is exact.
	n += int(k)
	return y * powerOf2(n/2) * powerOf2(n-n/2)
}

// powerOf2 is 2ⁿ for n from -1022 to 1023.
func powerOf2(n int) float64 { return math.Float64frombits(uint64(1023+n) << 52) }

// (artanh(x) - x - x³/3)/x⁵ in x², twice, for |x| <= (√2-1)/(√2+1).
var logCoefficients = [...]float64{
	2. / 5, 2. / 7, 2. / 9, 2. / 11, 2. / 13, 2. / 15, 2. / 17, 2. / 19, 2. / 21, 2. / 23, 2. / 25,
}

// logPair is ln x, to 64 bits or so, for x that is positive and finite.
//
// It writes x = 2ᵏ*m with m in [√½, √2), and ln m = 2 artanh s for
// s = (m-1)/(m+1).
func logPair(x float64) pair {
	const (
		root    = 0x3fe6a09e00000000 // √½, a little below
		one     = 0x3ff0000000000000
		thirds  = 0x1.5555555555555p-1
		subnorm = 0x1p-1022
	)
	var k float64
	if x < subnorm {
		x, k = x*0x1p54, -54
	}
	b := math.Float64bits(x) + (one - root)
	k += float64(int64(b>>52) - 1023)
	f := math.Float64frombits(b&(1<<52-1)+root) - 1
	d := orderedSum(2, f)
	s := pair{hi: f / d.hi}
	s.lo = madd(-s.hi, d.lo, math.FMA(-s.hi, d.hi, f)) / d.hi
	z := s.times(s)
	high := z.hi * z.hi * polynomial(z.hi, logCoefficients[:])
	cubic := z.times(pair{thirds, 2./3 - thirds}).plus(pair{hi: high})
	log := pair{2 * s.hi, 2 * s.lo}.plus(s.times(cubic))
	return sumOf(k*ln2Hi, log.hi).plus(pair{k * ln2Lo, log.lo})
}

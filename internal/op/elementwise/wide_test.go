package elementwise

import (
	"math"
	"math/big"
	"sync"
)

// A wide is a number of as many bits as it was made with; a result has those of
// the wider operand. Its functions are series, slow and plain, to hold the
// float64 ones against. Arguments are finite and in the domains.
type wide struct{ *big.Float }

// wideBits are what relative errors of 2^-100 need, with all that cancels.
const wideBits = 320

func widen(x float64, bits uint) wide { return wide{new(big.Float).SetPrec(bits).SetFloat64(x)} }

func (x wide) of(v float64) wide { return widen(v, x.Prec()) }
func (x wide) plus(y wide) wide  { return wide{new(big.Float).Add(x.Float, y.Float)} }
func (x wide) minus(y wide) wide { return wide{new(big.Float).Sub(x.Float, y.Float)} }
func (x wide) times(y wide) wide { return wide{new(big.Float).Mul(x.Float, y.Float)} }
func (x wide) over(y wide) wide  { return wide{new(big.Float).Quo(x.Float, y.Float)} }
func (x wide) scaled(e int) wide { return wide{new(big.Float).SetMantExp(x.Float, e)} }
func (x wide) neg() wide         { return wide{new(big.Float).Neg(x.Float)} }
func (x wide) abs() wide         { return wide{new(big.Float).Abs(x.Float)} }
func (x wide) root() wide        { return wide{new(big.Float).Sqrt(x.Float)} }
func (x wide) below(e int) bool  { return x.Sign() == 0 || x.MantExp(nil) <= e } // |x| < 2^e
func (x wide) float() float64    { f, _ := x.Float64(); return f }
func (x wide) nearest() (n *big.Int) {
	n, _ = x.plus(x.of(math.Copysign(0.5, x.float()))).Int(nil)
	return n
}

// sum adds terms from n = 0 on, until they fall below the bits of the sum.
func sum(term func(n float64) wide) wide {
	s := term(0)
	for n := 1.; ; n++ {
		t := term(n)
		if t.Sign() == 0 || t.MantExp(nil) < s.MantExp(nil)-int(s.Prec()) {
			return s
		}
		s = s.plus(t)
	}
}

// powers returns first, first*ratio(1), first*ratio(1)*ratio(2), ...
func powers(first wide, ratio func(n float64) wide) func(n float64) wide {
	t := first
	return func(n float64) wide {
		if n > 0 {
			t = t.times(ratio(n))
		}
		return t
	}
}

// odd is Σ ±x^(2n+1)/(2n+1): artanh x, and with alternating signs arctan x.
func (x wide) odd(sign float64) wide {
	square := x.times(x).times(x.of(sign))
	power := powers(x, func(float64) wide { return square })
	return sum(func(n float64) wide { return power(n).over(x.of(2*n + 1)) })
}

// The greatest float64 has 1024 bits before the point, and next to a multiple
// of π/2 another 60 go.
var widePi = sync.OnceValue(func() wide {
	inverse := func(n float64) wide { return widen(1, 2000).over(widen(n, 2000)).odd(-1) }
	return inverse(5).times(widen(16, 2000)).minus(inverse(239).times(widen(4, 2000)))
})

var wideLn2 = sync.OnceValue(func() wide { return widen(2, 2000).over(widen(3, 2000)).scaled(-1).odd(1).scaled(1) })

func (x wide) rounded(bits uint) wide { return wide{new(big.Float).SetPrec(bits).Set(x.Float)} }

func (x wide) exp() wide {
	if x.float() < -2000 {
		return x.of(0).plus(x.of(1).scaled(-2800))
	}
	ln2 := wideLn2().rounded(x.Prec() + 20)
	k := math.RoundToEven(x.float() / math.Ln2)
	const halvings = 16
	r := x.minus(x.of(k).times(ln2)).scaled(-halvings).rounded(x.Prec() + 20)
	y := sum(powers(x.of(1), func(n float64) wide { return r.over(x.of(n)) }))
	for range halvings {
		y = y.times(y)
	}
	return y.scaled(int(k)).rounded(x.Prec())
}

func (x wide) expm1() wide {
	if x.below(-20) {
		return sum(powers(x, func(n float64) wide { return x.over(x.of(n + 1)) }))
	}
	return x.exp().minus(x.of(1))
}

// log has x = 2ᵏ*m with m about 1, and ln m = 2 artanh((m-1)/(m+1)).
func (x wide) log() wide {
	k := x.MantExp(nil)
	m := x.scaled(-k)
	if m.float() < math.Sqrt2/2 {
		m, k = m.scaled(1), k-1
	}
	u := m.minus(x.of(1)).over(m.plus(x.of(1)))
	return u.odd(1).scaled(1).plus(x.of(float64(k)).times(wideLn2().rounded(x.Prec())))
}

func (x wide) log1p() wide {
	if x.below(-20) {
		return x.over(x.plus(x.of(2))).odd(1).scaled(1)
	}
	return x.plus(x.of(1)).log()
}

func (x wide) sinCos() (sin, cos wide) {
	half := widePi().scaled(-1)
	q := x.rounded(2000).over(half).nearest()
	r := x.rounded(2000).minus(wide{new(big.Float).SetPrec(2000).SetInt(q)}.times(half)).rounded(x.Prec())
	square := r.times(r).neg()
	sin = sum(powers(r, func(n float64) wide { return square.over(r.of(2 * n * (2*n + 1))) }))
	cos = sum(powers(r.of(1), func(n float64) wide { return square.over(r.of(2 * n * (2*n - 1))) }))
	switch new(big.Int).And(q, big.NewInt(3)).Int64() {
	case 1:
		return cos, sin.neg()
	case 2:
		return sin.neg(), cos.neg()
	case 3:
		return cos.neg(), sin
	}
	return sin, cos
}

func (x wide) atan() wide {
	one := x.of(1)
	if !x.below(1) {
		right := widePi().scaled(-1).rounded(x.Prec())
		if x.Sign() < 0 {
			right = right.neg()
		}
		return right.minus(one.over(x).atan())
	}
	const halvings = 3
	for range halvings {
		x = x.over(one.plus(one.plus(x.times(x)).root()))
	}
	return x.odd(-1).scaled(halvings)
}

func (x wide) asin() wide {
	one := x.of(1)
	c := one.minus(x).times(one.plus(x)).root()
	if c.Sign() == 0 {
		return widePi().scaled(-1).rounded(x.Prec()).times(x)
	}
	return x.over(c).atan()
}

func (x wide) acos() wide {
	one := x.of(1)
	if x.Cmp(one.neg().Float) == 0 {
		return widePi().rounded(x.Prec())
	}
	return one.minus(x).over(one.plus(x)).root().atan().scaled(1)
}

func (x wide) sinh() wide {
	if x.below(-20) {
		square := x.times(x)
		return sum(powers(x, func(n float64) wide { return square.over(x.of(2 * n * (2*n + 1))) }))
	}
	return x.exp().minus(x.neg().exp()).scaled(-1)
}

func (x wide) cosh() wide { return x.exp().plus(x.neg().exp()).scaled(-1) }

func (x wide) tanh() wide { n := x.scaled(1).expm1(); return n.over(n.plus(x.of(2))) }

func (x wide) asinh() wide {
	a, one := x.abs(), x.of(1)
	square := a.times(a)
	y := a.plus(square.over(one.plus(one.plus(square).root()))).log1p()
	if x.Sign() < 0 {
		return y.neg()
	}
	return y
}

func (x wide) acosh() wide {
	t := x.minus(x.of(1))
	return t.plus(t.times(t.plus(x.of(2))).root()).log1p()
}

func (x wide) atanh() wide { return x.scaled(1).over(x.of(1).minus(x)).log1p().scaled(-1) }

// erf is 2/√π exp(-x²) Σ 2ⁿ x^(2n+1)/(1*3*...*(2n+1)).
func (x wide) erf() wide {
	square := x.times(x)
	s := sum(powers(x, func(n float64) wide { return square.scaled(1).over(x.of(2*n + 1)) }))
	return s.times(square.neg().exp()).scaled(1).over(widePi().rounded(x.Prec()).root())
}

// erfc has the bits that cancel on top.
func (x wide) erfc() wide {
	f := x.float()
	y := x.rounded(x.Prec() + uint(3*f*f))
	return y.of(1).minus(y.erf()).rounded(x.Prec())
}

// logistic is y/(1+exp(-x)).
func (x wide) logistic(y wide) wide { return y.over(x.of(1).plus(x.neg().exp())) }

// wideLogTimes is n ln x, which need not be as wide, for its exponential.
func wideLogTimes(x, n float64) wide { return widen(x, 160).log().times(widen(n, 160)) }

// widePow is xⁿ rounded once, where that is a question of digits.
func widePow(x, n float64) float64 {
	switch {
	case x < 0 && n == math.Trunc(n):
		return math.Copysign(widePow(-x, n), math.Pow(-1, n))
	case !(x > 0 && x <= math.MaxFloat64) || !(math.Abs(n*math.Log(x)) < 800):
		return math.Pow(x, n)
	}
	return wideLogTimes(x, n).exp().float()
}

// ulpsTo returns the distance from x to v in units of the last place of the
// float64 nearest to x.
func (x wide) ulpsTo(v float64) float64 {
	if f := x.float(); math.IsNaN(v) || math.IsInf(v, 0) || math.IsInf(f, 0) {
		if f == v {
			return 0
		}
		return math.Inf(1)
	}
	unit := max(x.MantExp(nil)-53, -1074)
	return math.Abs(x.minus(x.of(v)).scaled(-unit).float())
}

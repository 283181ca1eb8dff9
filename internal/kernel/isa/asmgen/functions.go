package main

import (
	"math"

	"github.com/berth-go/berth/internal/kernel/isa/numbers"
)

// expChunk is the exponential of float64 as exp.go of package isa has it.
func (g *generator) expChunk(v *vector, x []value) value {
	c := g.atMost(v, g.atLeast(v, x[0], g.number(-numbers.ExpRange)), g.number(numbers.ExpRange))
	t := v.add(v.mul(c, g.number(math.Log2E)), g.number(numbers.ExpRound))
	r := v.sub(c, v.mul(v.sub(t, g.number(numbers.ExpRound)), g.number(math.Ln2)))
	q := v.add(v.mul(r, g.number(numbers.ExpPoly5)), g.number(numbers.ExpPoly4))
	for _, c := range []float64{numbers.ExpPoly3, numbers.ExpPoly2, numbers.ExpPoly1, numbers.ExpPoly0} {
		q = v.add(v.mul(q, r), g.number(c))
	}
	p := v.add(v.add(r, g.number(1)), v.mul(v.mul(r, r), q))
	e := v.mul(p, v.leftLong(t, 52))
	e = v.choose(v.less(x[0], g.number(-numbers.ExpRange)), g.number(0), e)
	return v.choose(v.less(g.number(numbers.ExpRange), x[0]), g.number(math.Inf(1)), e)
}

// The functions of float32, instruction by instruction as single.go of package isa has them.

func (g *generator) horner(v *vector, x value, c ...float32) value {
	y := v.fma(x, g.number(float64(c[0])), g.number(float64(c[1])))
	for _, k := range c[2:] {
		y = v.fma(y, x, g.number(float64(k)))
	}
	return y
}

// power is exp(x+low) = y*2ᵏ; low may be nil for 0.
func (g *generator) power(v *vector, x value, low *value) (y, k value) {
	p, k := g.powerLess1(v, x, low)
	return v.add(p, g.number(1)), k
}

func (g *generator) powerLess1(v *vector, x value, low *value) (p, k value) {
	rounding := g.number(numbers.Rounding)
	t := v.fma(x, g.number(math.Log2E), rounding)
	n := v.sub(t, rounding)
	r := v.fma(n, g.number(-numbers.Ln2Upper), x)
	r = v.fma(n, g.number(-numbers.Ln2Lower), r)
	if low != nil {
		r = v.add(r, *low)
	}
	p = v.fma(v.mul(r, r), g.horner(v, r, numbers.ExpTerms...), r)
	return p, v.subInts(t, rounding)
}

func (g *generator) powerOf2(v *vector, k value) value {
	return v.left(v.addInts(k, g.bits32(127)), 23)
}

func (g *generator) scaled(v *vector, y, k value) value {
	if g.avx512 {
		return v.scale(y, v.floats(k))
	}
	half := v.half(k, 1)
	return v.mul(v.mul(y, g.powerOf2(v, half)), g.powerOf2(v, v.subInts(k, half)))
}

func (g *generator) lowered(v *vector, y, k value) value {
	t := v.mostInts(v.subInts(g.bits32(uint32(0xffffffff-23+1)), v.mostInts(k, g.bits32(uint32(0xffffffff-277+1)))), g.bits32(0))
	y = v.choose(v.above(g.abs(v, y), v.left(t, 23)), y, g.number(0))
	if g.avx512 {
		return v.scale(y, v.floats(k))
	}
	least := g.bits32(uint32(0xffffffff - 120 + 1))
	first := v.mostInts(k, least)
	rest := v.subInts(k, first)
	second := v.mostInts(rest, least)
	y = v.mul(y, g.powerOf2(v, v.subInts(rest, second)))
	return v.mul(v.mul(y, g.powerOf2(v, second)), g.powerOf2(v, first))
}

func (g *generator) atLeast(v *vector, x, least value) value { return v.most(least, x) }
func (g *generator) atMost(v *vector, x, most value) value   { return v.least(most, x) }

func (g *generator) abs(v *vector, x value) value         { return v.and(x, g.magnitude()) }
func (g *generator) withSign(v *vector, x, y value) value { return v.or(x, v.and(y, g.signBit())) }

func (g *generator) exp(v *vector, x []value) value {
	y, k := g.vanishing(v, x[0], nil)
	return g.scaled(v, y, k)
}

func (g *generator) vanishing(v *vector, x value, low *value) (y, k value) {
	y, k = g.power(v, g.atMost(v, g.atLeast(v, x, g.number(numbers.ExpLeast)), g.number(numbers.ExpMost)), low)
	return v.choose(v.less(x, g.number(numbers.ExpLeast)), g.number(0), y), k
}

// notable is k, or a power of 2 that beside 1 does not show.
func (g *generator) notable(v *vector, k value) value {
	return v.mostInts(k, g.bits32(uint32(0xffffffff+numbers.Negligible+1)))
}

func (g *generator) expShift(v *vector, x []value) value {
	d := v.sub(x[0], x[1])
	u := v.sub(d, x[0])
	low := v.sub(v.sub(x[0], v.sub(d, u)), v.add(x[1], u))
	low = v.choose(v.less(g.abs(v, d), g.number(-numbers.ExpLeast)), low, g.number(0))
	y, k := g.vanishing(v, d, &low)
	return g.scaled(v, y, k)
}

func (g *generator) expm1(v *vector, x value) value {
	one := g.number(1)
	p, k := g.powerLess1(v, g.atMost(v, g.atLeast(v, x, g.number(numbers.ExpLeast)), g.number(numbers.ExpMost)), nil)
	k = g.notable(v, k)
	s := g.scaled(v, one, k)
	near := v.fma(p, s, v.sub(s, one))
	y := v.choose(v.less(g.number(60), x), g.scaled(v, v.add(p, one), k), near)
	return g.withSign(v, g.abs(v, y), x)
}

func (g *generator) linearUnit(v *vector, x, z, alpha value) value {
	return v.choose(v.less(x, g.number(0)), v.mul(alpha, g.expm1(v, z)), x)
}

func (g *generator) mish(v *vector, x []value) value {
	below := v.less(x[0], g.number(0))
	m, k := g.power(v, g.atMost(v, g.atLeast(v, x[0], g.number(numbers.TailLeast)), g.number(20)), nil)
	e := g.scaled(v, m, g.notable(v, k))
	w := v.fma(e, e, v.add(e, e))
	m = v.choose(below, m, e)
	k = v.choose(below, k, g.number(0))
	m = v.choose(v.less(x[0], g.number(numbers.TailLeast)), g.number(0), m)
	two := g.number(2)
	return g.lowered(v, v.mul(x[0], v.div(v.mul(m, v.add(e, two)), v.add(w, two))), k)
}

// logistic is v/(1+exp(-x-low)), factor being that v or nil for 1; low may be nil for 0.
func (g *generator) logistic(v *vector, factor *value, x value, low *value) value {
	below := v.less(x, g.number(0))
	if low != nil {
		l := v.choose(below, *low, v.xor(*low, g.signBit()))
		low = &l
	}
	m, k := g.power(v, g.atLeast(v, v.or(x, g.signBit()), g.number(numbers.TailLeast)), low)
	e := g.scaled(v, m, g.notable(v, k))
	m = v.choose(below, m, g.number(1))
	k = v.choose(below, k, g.number(0))
	m = v.choose(v.less(x, g.number(numbers.TailLeast)), g.number(0), m)
	if factor != nil {
		m = v.mul(*factor, m)
	}
	return g.lowered(v, v.div(m, v.add(e, g.number(1))), k)
}

func (g *generator) geluTanh(v *vector, x []value) value {
	w := g.atMost(v, g.atLeast(v, x[0], g.number(-20)), g.number(20))
	square := v.mul(w, w)
	rest := v.fms(w, w, square)
	p := v.mul(square, g.number(numbers.CubicUpper))
	s := v.add(p, g.number(numbers.LinearUpper))
	t := v.sub(s, g.number(numbers.LinearUpper))
	low := v.add(v.sub(g.number(numbers.LinearUpper), v.sub(s, t)), v.sub(p, t))
	low = v.add(low, v.fms(square, g.number(numbers.CubicUpper), p))
	low = v.fma(rest, g.number(numbers.CubicUpper), v.fma(square, g.number(numbers.CubicLower), v.add(low, g.number(numbers.LinearLower))))
	product := v.mul(w, s)
	low = v.fma(w, low, v.fms(w, s, product))
	return g.logistic(v, &x[0], product, &low)
}

func (g *generator) tanh(v *vector, x []value) value {
	m := g.abs(v, x[0])
	y, k := g.power(v, g.atMost(v, v.add(m, m), g.number(40)), nil)
	far := v.sub(g.number(1), v.div(g.number(2), v.add(g.scaled(v, y, k), g.number(1))))
	z := v.mul(m, m)
	near := v.fma(v.mul(m, z), g.horner(v, z, numbers.TanhTerms...), m)
	return g.withSign(v, v.choose(v.less(m, g.number(numbers.TanhNear)), near, far), x[0])
}

// tail is erfc(m) = y*2ᵏ.
func (g *generator) tail(v *vector, d, square, low value) (y, k value) {
	negative := v.xor(low, g.signBit())
	y, k = g.power(v, v.xor(square, g.signBit()), &negative)
	t := v.div(g.number(1), d)
	y = v.mul(y, t)
	y = v.fma(y, v.fma(v.xor(d, g.signBit()), t, g.number(1)), y)
	return v.mul(y, g.horner(v, v.sub(t, g.number(numbers.ErfcMiddle)), numbers.ErfcTerms...)), k
}

func (g *generator) erf(v *vector, x []value) value {
	m := g.atMost(v, g.abs(v, x[0]), g.number(4))
	z := v.mul(m, m)
	y, k := g.tail(v, v.fma(m, g.number(0.4), g.number(1)), z, v.fms(m, m, z))
	far := v.sub(g.number(1), g.scaled(v, y, k))
	near := v.fma(m, g.horner(v, z, numbers.ErfTerms...), m)
	return g.withSign(v, v.choose(v.less(m, g.number(numbers.ErfNear)), near, far), x[0])
}

func (g *generator) gelu(v *vector, x []value) value {
	half := g.number(0.5)
	w := g.atMost(v, g.abs(v, x[0]), g.number(15))
	z := v.mul(w, w)
	m := v.mul(w, g.number(math.Sqrt2/2))
	z2 := v.mul(z, half)
	y, k := g.tail(v, v.fma(w, g.number(0.4*math.Sqrt2/2), g.number(1)), z2, v.mul(v.fms(w, w, z), half))
	y = v.mul(y, half)
	y = v.choose(v.less(x[0], g.number(-15)), g.number(0), y)
	h := v.mul(g.withSign(v, m, x[0]), half)
	phi := v.add(v.fma(h, g.horner(v, z2, numbers.ErfTerms...), h), half)
	near := v.less(m, g.number(numbers.ErfNear))
	phi = v.choose(near, phi, v.sub(g.number(1), g.scaled(v, y, k)))
	below := v.less(x[0], g.number(0))
	left := g.scaled(v, v.mul(x[0], y), k)
	right := v.mul(x[0], phi)
	return v.choose(near, right, v.choose(below, left, right))
}

func (g *generator) log(v *vector, x []value) value {
	const (
		root = 0x3f3504f3
		one  = 0x3f800000
	)
	small := v.less(x[0], g.number(0x1p-126))
	u := v.choose(small, v.mul(x[0], g.number(0x1p23)), x[0])
	extra := v.choose(small, g.number(-23), g.number(0))
	b := v.addInts(u, g.bits32(one-root))
	k := v.add(v.floats(v.subInts(v.right(b, 23), g.bits32(127))), extra)
	f := v.sub(v.addInts(v.and(b, g.bits32(1<<23-1)), g.bits32(root)), g.number(1))
	square := v.mul(f, f)
	y := v.fma(k, g.number(numbers.Ln2Lower), v.mul(v.mul(square, f), g.horner(v, f, numbers.LogTerms...)))
	y = v.fma(k, g.number(numbers.Ln2Upper), v.add(f, v.fma(square, g.number(-0.5), y)))
	y = v.choose(v.less(x[0], g.number(0)), g.number(math.NaN()), y)
	y = v.choose(v.equal(x[0], g.number(0)), g.number(math.Inf(-1)), y)
	return v.choose(v.above(x[0], g.number(math.MaxFloat32)), x[0], y)
}

func (g *generator) softplus(v *vector, x []value) value {
	y, k := g.vanishing(v, v.or(x[0], g.signBit()), nil)
	e := g.scaled(v, y, k)
	s := v.div(e, v.add(e, g.number(2)))
	z := v.choose(v.less(s, g.number(numbers.SquareLeast)), g.number(0), v.mul(s, s))
	return v.add(v.fma(v.mul(s, z), g.horner(v, z, numbers.ArtanhTerms...), v.add(s, s)), g.atLeast(v, x[0], g.number(0)))
}

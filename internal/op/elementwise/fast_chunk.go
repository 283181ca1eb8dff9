package elementwise

import (
	"math"

	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// The functions of float32 that are made of exponentials, for at most [chunk]
// elements, so that [isa.ExpChunk] does them together. Their loops have no
// calls, and no branches that the elements could make unpredictable.

// expm1All sets each of x to eˣ - 1, which for -0 is -0. It is s*q + (s-1) for
// the s, a power of 2, and the q with s + s*q = eˣ that [isa.ExpChunk] finds.
func expm1All(x []float64) {
	for i, v := range x {
		t := madd(v, math.Log2E, isa.ExpRound)
		r := madd(isa.ExpRound-t, math.Ln2, v)
		p := madd(r, isa.ExpPoly5, isa.ExpPoly4)
		p = madd(r, p, isa.ExpPoly3)
		p = madd(r, p, isa.ExpPoly2)
		p = madd(r, p, isa.ExpPoly1)
		p = madd(r, p, isa.ExpPoly0)
		s := math.Float64frombits(math.Float64bits(t) << 52)
		e := madd(s, madd(r*r, p, r), s-1)
		if v > isa.ExpRange {
			e = math.Inf(1)
		}
		if v < -isa.ExpRange {
			e = -1
		}
		if v == 0 {
			e = v
		}
		x[i] = e
	}
}

func expm1Chunk(dst, a []float32) {
	var buf [chunk]float64
	y := buf[:len(dst)]
	kernel.Each(y, a, func(x float32) float64 { return float64(x) })
	expm1All(y)
	kernel.Each(dst, y, func(e float64) float32 { return float32(e) })
}

// negative returns a where x has its sign bit set, and b elsewhere.
func negative(x, a, b float64) float64 {
	m := uint64(int64(math.Float64bits(x)) >> 63)
	return math.Float64frombits(math.Float64bits(a)&m | math.Float64bits(b)&^m)
}

// sinhChunk is (n + n/(n+1))/2 for n = exp(x)-1, on |x|.
func sinhChunk(dst, a []float32) {
	var buf [chunk]float64
	y := buf[:len(dst)]
	kernel.Each(y, a, func(x float32) float64 { return min(math.Abs(float64(x)), isa.ExpRange) }) // so that n is finite
	expm1All(y)
	kernel.Each2(dst, y, a, func(n float64, x float32) float32 {
		return float32(math.Copysign(0.5*(n+n/(n+1)), float64(x)))
	})
}

// coshChunk is (e + 1/e)/2 for e = exp(|x|).
func coshChunk(dst, a []float32) {
	var buf [chunk]float64
	y := buf[:len(dst)]
	kernel.Each(y, a, func(x float32) float64 { return math.Abs(float64(x)) })
	isa.ExpChunk(y)
	kernel.Each(dst, y, func(e float64) float32 { return float32(0.5 * (e + 1/e)) })
}

// tanhChunk is n/(n+2) for n = exp(2x)-1, on |x|.
func tanhChunk(dst, a []float32) {
	var buf [chunk]float64
	y := buf[:len(dst)]
	kernel.Each(y, a, func(x float32) float64 { return 2 * min(math.Abs(float64(x)), 100) }) // beyond which it is 1
	expm1All(y)
	kernel.Each2(dst, y, a, func(n float64, x float32) float32 {
		return float32(math.Copysign(n/(n+2), float64(x)))
	})
}

// sigmoidChunk is 1/(1+exp(-x)).
func sigmoidChunk(dst, a []float32) {
	var buf [chunk]float64
	y := buf[:len(dst)]
	kernel.Each(y, a, func(x float32) float64 { return -float64(x) })
	isa.ExpChunk(y)
	kernel.Each(dst, y, func(e float64) float32 { return float32(1 / (1 + e)) })
}

// softplusChunk is ln(1+exp(x)) = max(x, 0) + ln(1+exp(-|x|)).
func softplusChunk(dst, a []float32) {
	var buf [chunk]float64
	y := buf[:len(dst)]
	kernel.Each(y, a, func(x float32) float64 { return -math.Abs(float64(x)) })
	isa.ExpChunk(y)
	kernel.Each(y, y, fastLog1p)
	kernel.Each2(dst, y, a, func(l float64, x float32) float32 { return float32(max(float64(x), 0) + l) })
}

// swishChunk is x/(1+exp(-alpha*x)).
func swishChunk(dst, a []float32, alpha, _ float64) {
	var buf [chunk]float64
	y := buf[:len(dst)]
	kernel.Each(y, a, func(x float32) float64 { return -alpha * float64(x) })
	isa.ExpChunk(y)
	kernel.Each2(dst, y, a, func(e float64, x float32) float32 { return float32(float64(x) / (1 + e)) })
}

// geluTanhChunk is x times the sigmoid of 2u, which is (1+tanh u)/2, for
// u = √(2/π)*(x+0.044715*x³).
func geluTanhChunk(dst, a []float32) {
	const c = -2 / (math.SqrtPi / math.Sqrt2)
	var buf [chunk]float64
	y := buf[:len(dst)]
	for i, v := range a[:len(y)] {
		x := float64(v)
		y[i] = c * madd(0.044715*x*x, x, x)
	}
	isa.ExpChunk(y)
	kernel.Each2(dst, y, a, func(e float64, x float32) float32 { return float32(float64(x) / (1 + e)) })
}

// mishChunk is x*n/(n+2) for n = (1+exp(x))²-1; see [mish].
func mishChunk(dst, a []float32) {
	var buf [chunk]float64
	y := buf[:len(dst)]
	kernel.Each(y, a, func(x float32) float64 { return float64(x) })
	isa.ExpChunk(y)
	for i, e := range y {
		e = min(e, 1e20) // so that n is finite
		n := float64(e * (e + 2))
		dst[i] = float32(float64(a[i]) * (n / (n + 2)))
	}
}

func eluChunk(dst, a []float32, alpha, _ float64)      { linearUnits(dst, a, alpha, 1, 1) }
func seluChunk(dst, a []float32, alpha, gamma float64) { linearUnits(dst, a, alpha, gamma, 1) }
func celuChunk(dst, a []float32, alpha, _ float64)     { linearUnits(dst, a, alpha, 1, alpha) }

// linearUnits is gamma*alpha*(exp(x/scale)-1) for x < 0, else gamma*x.
func linearUnits(dst, a []float32, alpha, gamma, scale float64) {
	var buf [chunk]float64
	y := buf[:len(dst)]
	kernel.Each(y, a, func(x float32) float64 { return float64(x) / scale })
	expm1All(y)
	for i, e := range y {
		x := float64(a[i])
		dst[i] = float32(gamma * negative(x, alpha*e, x))
	}
}

// erfcScaled is exp(x²)*erfc(x) for 0 <= x <= 10.3; beyond, erfc is less than
// what float32 can tell from 0.
//
// (1+2x) exp(x²) erfc(x) is smooth in u = (x-k)/(x+k) up to infinity.
//
// Source: Shepherd and Laframboise, "Chebyshev approximation of
// (1+2x)exp(x²)erfc x in 0 <= x < ∞", 1981.
func erfcScaled(x float64) float64 {
	const k = 3.75
	u := (x - k) / (x + k)
	u2 := u * u
	u4 := u2 * u2
	low := madd(u2, madd(u, 0.082276111103827323, 0.0035854384317628362), madd(u, -0.14024058621745567, 1.237512630666477))
	middle := madd(u2, madd(u, 0.028320000277151433, -0.058680319117075873), madd(u, 0.092312889821045691, -0.10880476666992297))
	high := madd(u2, madd(u, -0.0002095494755914775, 0.00048493553392139182), madd(u, 0.0018085287102210998, -0.0098305235489053676))
	return madd(u4, madd(u4, high, middle), low) / madd(2, x, 1)
}

// erfChunk is 1-erfc(|x|) with the sign of x; near 0, where that has no digits
// left, an odd polynomial.
func erfChunk(dst, a []float32) {
	var buf [chunk]float64
	y := buf[:len(dst)]
	kernel.Each(y, a, func(x float32) float64 { return -float64(x) * float64(x) })
	isa.ExpChunk(y)
	for i, e := range y {
		x := float64(a[i])
		m := math.Abs(x)
		far := 1 - float64(e*erfcScaled(min(m, 10.3)))
		z := x * x
		p := madd(z, 0.0047190825672188139, -0.026757732735015516)
		p = madd(z, p, 0.11282831428465862)
		p = madd(z, p, -0.37612609007469803)
		near := m * madd(z, p, 1.1283791656017915)
		dst[i] = float32(math.Copysign(negative(m-0.5, near, far), x))
	}
}

// geluChunk is x*Φ(x) for the normal distribution Φ. The half of it below 0 is
// what is computed, as that is where its digits are.
func geluChunk(dst, a []float32) {
	var buf [chunk]float64
	y := buf[:len(dst)]
	kernel.Each(y, a, func(x float32) float64 { return -0.5 * float64(x) * float64(x) })
	isa.ExpChunk(y)
	for i, e := range y {
		x := float64(a[i])
		tail := float64(0.5 * e * erfcScaled(min(math.Abs(x)*(1/math.Sqrt2), 10.3)))
		dst[i] = float32(x * negative(x, tail, 1-tail))
	}
}

package elementwise

import (
	"math"

	"github.com/berth-go/berth/internal/kernel"
)

// Activations over chunks of float64, for float32: without calls or branches
// within the loops that the elements could make unpredictable. x is replaced by
// the result; y is working memory of the same length.

// expm1Chunk sets each of x to eˣ - 1, which for -0 is -0.
func expm1Chunk(x []float64) {
	for i, v := range x {
		t := v*math.Log2E + kernel.ExpRound
		r := v - (t-kernel.ExpRound)*math.Ln2
		z := r * r
		p := (kernel.ExpPoly0 + r*kernel.ExpPoly1) + z*((kernel.ExpPoly2+r*kernel.ExpPoly3)+z*(kernel.ExpPoly4+r*kernel.ExpPoly5))
		s := math.Float64frombits(math.Float64bits(t) << 52)
		e := s*(r+z*p) + (s - 1)
		if v > kernel.ExpRange {
			e = math.Inf(1)
		}
		if v < -kernel.ExpRange {
			e = -1
		}
		if v == 0 {
			e = v
		}
		x[i] = e
	}
}

// negative returns a where x has its sign bit set, and b elsewhere.
func negative(x, a, b float64) float64 {
	m := uint64(int64(math.Float64bits(x)) >> 63)
	return math.Float64frombits(math.Float64bits(a)&m | math.Float64bits(b)&^m)
}

// sigmoidChunk is 1/(1+exp(-x)).
func sigmoidChunk(x []float64) {
	for i, v := range x {
		x[i] = -v
	}
	kernel.ExpChunk(x)
	for i, e := range x {
		x[i] = 1 / (1 + e)
	}
}

// tanhChunk is n/(n+2) for n = exp(2x)-1, on |x|.
func tanhChunk(x, y []float64) {
	for i, v := range x {
		y[i] = 2 * min(math.Abs(v), 100) // beyond which it is 1
	}
	expm1Chunk(y)
	for i, n := range y[:len(x)] {
		x[i] = math.Copysign(n/(n+2), x[i])
	}
}

// softplusChunk is ln(1+exp(x)) = max(x, 0) + ln(1+exp(-|x|)).
func softplusChunk(x, y []float64) {
	for i, v := range x {
		y[i] = -math.Abs(v)
	}
	kernel.ExpChunk(y)
	for i, e := range y[:len(x)] {
		x[i] = max(x[i], 0) + fastLog1p(e)
	}
}

// swishChunk is x/(1+exp(-alpha*x)).
func swishChunk(x, y []float64, alpha float64) {
	for i, v := range x {
		y[i] = -alpha * v
	}
	kernel.ExpChunk(y)
	for i, e := range y[:len(x)] {
		x[i] /= 1 + e
	}
}

// geluTanhChunk is x times the sigmoid of 2u, which is (1+tanh u)/2, for
// u = √(2/π)*(x+0.044715*x³).
func geluTanhChunk(x, y []float64) {
	const c = -2 / (math.SqrtPi / math.Sqrt2)
	for i, v := range x {
		y[i] = c * (v + 0.044715*v*v*v)
	}
	kernel.ExpChunk(y)
	for i, e := range y[:len(x)] {
		x[i] /= 1 + e
	}
}

// mishChunk is x*n/(n+2) for n = (1+exp(x))²-1; see [mish64].
func mishChunk(x, y []float64) {
	copy(y, x)
	kernel.ExpChunk(y)
	for i, e := range y[:len(x)] {
		e = min(e, 1e20) // so that n is finite
		n := e * (e + 2)
		x[i] *= n / (n + 2)
	}
}

// eluChunk is gamma*x for x >= 0, else gamma*alpha*(exp(x/scale)-1).
func eluChunk(x, y []float64, alpha, gamma, scale float64) {
	for i, v := range x {
		y[i] = v / scale
	}
	expm1Chunk(y)
	for i, e := range y[:len(x)] {
		x[i] = gamma * negative(x[i], alpha*e, x[i])
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
	p := ((1.237512630666477 + u*-0.14024058621745567) + u2*(0.0035854384317628362+u*0.082276111103827323)) +
		u4*(((-0.10880476666992297+u*0.092312889821045691)+u2*(-0.058680319117075873+u*0.028320000277151433))+
			u4*((-0.0098305235489053676+u*0.0018085287102210998)+u2*(0.00048493553392139182+u*-0.0002095494755914775)))
	return p / (1 + 2*x)
}

// erfChunk is 1-erfc(|x|) with the sign of x; near 0, where that has no digits
// left, an odd polynomial.
func erfChunk(x, y []float64) {
	for i, v := range x {
		y[i] = -v * v
	}
	kernel.ExpChunk(y)
	for i, e := range y[:len(x)] {
		v := x[i]
		a := math.Abs(v)
		far := 1 - e*erfcScaled(min(a, 10.3))
		z := v * v
		near := a * (1.1283791656017915 + z*(-0.37612609007469803+
			z*(0.11282831428465862+z*(-0.026757732735015516+z*0.0047190825672188139))))
		x[i] = math.Copysign(negative(a-0.5, near, far), v)
	}
}

// geluChunk is x*Φ(x) for the normal distribution Φ. The half of it below 0 is
// what is computed, as that is where its digits are.
func geluChunk(x, y []float64) {
	for i, v := range x {
		y[i] = -0.5 * v * v
	}
	kernel.ExpChunk(y)
	for i, e := range y[:len(x)] {
		v := x[i]
		tail := 0.5 * e * erfcScaled(min(math.Abs(v)*(1/math.Sqrt2), 10.3))
		x[i] = v * negative(v, tail, 1-tail)
	}
}

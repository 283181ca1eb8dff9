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

package isa

import (
	"math"
	"unsafe"

	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa/numbers"
)

// The exponential function that float32 is served by. It computes in float64,
// good to 2.3e-10 of the value, so that rounding to float32 is nearly all of
// the error: the result is within 0.51 units in the last place.

// The constants of [exp], which package numbers explains.
const (
	ExpRange = numbers.ExpRange
	ExpRound = numbers.ExpRound
	ExpPoly0 = numbers.ExpPoly0
	ExpPoly1 = numbers.ExpPoly1
	ExpPoly2 = numbers.ExpPoly2
	ExpPoly3 = numbers.ExpPoly3
	ExpPoly4 = numbers.ExpPoly4
	ExpPoly5 = numbers.ExpPoly5
)

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

// expOf returns [Loops.Exp] out of loops over elements.
func expOf(maps map[MapKey]Map) func(x []float64) {
	loop := maps[MapKey{"exp_chunk", 64, 0}]
	return func(x []float64) { loop(kernel.Bytes(x), kernel.Bytes(x), nil, nil, nil) }
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

package isa

import (
	"math"
	"testing"
)

// TestExp32 checks the exponential, rounded to float32, over all of its range.
func TestExp32(t *testing.T) {
	exp32 := func(x float64) float32 { return float32(exp64(x)) }
	worst := 0.
	for b := uint32(0); b < math.Float32bits(112); b += 641 {
		for _, x := range [...]float32{math.Float32frombits(b), -math.Float32frombits(b)} {
			exact := math.Exp(float64(x))
			want := float32(exact)
			got := exp32(float64(x))
			if want == 0 || math.IsInf(float64(want), 0) {
				if got != want {
					t.Fatalf("exp32(%v) is %v, want %v", x, got, want)
				}
				continue
			}
			unit := float64(math.Nextafter32(want, 1e38)) - float64(want)
			worst = max(worst, math.Abs(float64(got)-exact)/unit)
		}
	}
	if worst > 0.51 {
		t.Errorf("the exponential is off by up to %.3f units in the last place", worst)
	}
	inf := math.Inf(1)
	if got := exp32(inf); got != float32(inf) {
		t.Errorf("exp32(+Inf) is %v", got)
	}
	if got := exp32(-inf); got != 0 {
		t.Errorf("exp32(-Inf) is %v", got)
	}
	for _, b := range [...]uint32{0x7fc00000, 0xffc00000, 0x7f800001, 0xffffffff} {
		if got := exp32(float64(math.Float32frombits(b))); got == got {
			t.Errorf("exp32 of the NaN %#x is %v", b, got)
		}
	}
	if got := exp32(inf - inf); got == got {
		t.Errorf("exp32(Inf - Inf) is %v", got)
	}
}

// TestExpNaN: a NaN stays one, whatever its payload.
func TestExpNaN(t *testing.T) {
	for shift := range 52 {
		for _, sign := range [...]uint64{0, 1 << 63} {
			x := math.Float64frombits(sign | 0x7ff<<52 | 1<<shift)
			if got := exp64(x); got == got {
				t.Errorf("exp64 of the NaN %#x is %v", math.Float64bits(x), got)
			}
		}
	}
}

// exp64 is [exp] for a single number.
func exp64(x float64) float64 {
	one := [1]float64{x}
	exp(one[:])
	return one[0]
}

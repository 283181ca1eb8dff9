package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/x448/float16"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
)

// halfFormat describes a 16-bit format: bits of the fraction, and the bias of
// the exponent.
func halfFormat(t dtype.Type) (fraction int, bias int) {
	if t == dtype.Float16 {
		return 10, 15
	}
	return 7, 127
}

// nearestHalf finds the bits of the number of a half type nearest to v by its
// definition: a multiple of the unit of v's binade.
func nearestHalf(t dtype.Type, v float64) uint16 {
	fraction, bias := halfFormat(t)
	var sign uint16
	if math.Signbit(v) {
		sign, v = 0x8000, -v
	}
	exps := uint16(1)<<(15-fraction) - 1 // the exponent of infinity and NaN
	switch {
	case math.IsNaN(v):
		return sign | exps<<fraction | 1<<(fraction-1)
	case v == 0:
		return sign
	}
	_, e := math.Frexp(v)
	e = max(e-1, 1-bias)
	if math.IsInf(v, 0) || e > bias {
		return sign | exps<<fraction
	}
	units := math.RoundToEven(math.Ldexp(v, fraction-e)) // exact but for the rounding
	// Units count on from the subnormals through the binades.
	return sign | uint16(int(units)+(e+bias-1)<<fraction)
}

func TestHalfWidening(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		if got, want := kernel.Float16ToFloat32(h), float16.Frombits(h).Float32(); math.Float32bits(got) != math.Float32bits(want) {
			// That library makes signalling NaNs quiet.
			if want == want || math.Float32bits(got)|1<<22 != math.Float32bits(want) {
				t.Fatalf("float16 %#x widens to %v (%#x), want %v (%#x)", h, got, math.Float32bits(got), want, math.Float32bits(want))
			}
		}
		if got := kernel.Float32ToFloat16(kernel.Float16ToFloat32(h)); got != h && got != h|0x200 {
			t.Fatalf("float16 %#x there and back is %#x", h, got)
		}
		if got := kernel.Float32ToBFloat16(kernel.BFloat16ToFloat32(h)); got != h && got != h|0x40 {
			t.Fatalf("bfloat16 %#x there and back is %#x", h, got)
		}
	}
}

func TestHalfNarrowing(t *testing.T) {
	check := func(f float32) {
		t.Helper()
		if got, want := kernel.Float32ToFloat16(f), nearestHalf(dtype.Float16, float64(f)); got != want && f == f {
			t.Fatalf("%v (%#x) narrows to float16 %#x, want %#x", f, math.Float32bits(f), got, want)
		}
		if got, want := kernel.Float32ToFloat16(f), uint16(float16.Fromfloat32(f)); got != want && f == f {
			t.Fatalf("%v (%#x) narrows to float16 %#x, the library says %#x", f, math.Float32bits(f), got, want)
		}
		if got, want := kernel.Float32ToBFloat16(f), nearestHalf(dtype.BFloat16, float64(f)); got != want && f == f {
			t.Fatalf("%v (%#x) narrows to bfloat16 %#x, want %#x", f, math.Float32bits(f), got, want)
		}
	}
	// Every half, every middle between two, and the float32 on either side.
	step := uint32(1)
	if underRace {
		step = 17
	}
	for i := uint32(0); i < 1<<16; i += step {
		for d := -2; d <= 2; d++ {
			check(math.Float32frombits(i<<16 + uint32(d)))
			check(math.Float32frombits(i<<16 + 0x8000 + uint32(d)))
			f := kernel.Float16ToFloat32(uint16(i))
			check(math.Float32frombits(math.Float32bits(f) + uint32(d)))
			check(math.Float32frombits(math.Float32bits(f) + 0x1000 + uint32(d)))
		}
	}
	rng := rand.New(rand.NewPCG(1, 7))
	for range 1 << 20 / step {
		check(math.Float32frombits(rng.Uint32()))
	}
	if got := kernel.Float32ToFloat16(float32(math.NaN())); got != 0x7e00 {
		t.Errorf("NaN narrows to float16 %#x", got)
	}
	if got := kernel.Float32ToBFloat16(math.Float32frombits(0x7f800001)); got != 0x7fc0 {
		t.Errorf("a NaN of small payload narrows to bfloat16 %#x", got)
	}
}

package dtype_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/x448/float16"

	"github.com/berth-go/berth/dtype"
)

// TestHalfWidening compares every half to its definition.
func TestHalfWidening(t *testing.T) {
	for i := range 1 << 16 {
		h, b := dtype.F16(i), dtype.BF16(i)
		got, want := math.Float32bits(h.Float32()), math.Float32bits(float16.Frombits(uint16(h)).Float32())
		// That library makes signalling NaNs quiet.
		if nan := h&0x7fff > 0x7c00; got != want && !(nan && got|1<<22 == want) {
			t.Fatalf("float16 %#x widens to %#x, want %#x", h, got, want)
		}
		if back := dtype.ToF16(h.Float32()); back != h && back != h|0x200 {
			t.Fatalf("float16 %#x there and back is %#x", h, back)
		}
		if got := math.Float32bits(b.Float32()); got != uint32(b)<<16 {
			t.Fatalf("bfloat16 %#x widens to %#x", b, got)
		}
		if back := dtype.ToBF16(b.Float32()); back != b && back != b|0x40 {
			t.Fatalf("bfloat16 %#x there and back is %#x", b, back)
		}
	}
}

// TestHalfNarrowing holds what a number became to the neighbours of that: none
// may be nearer, nor as near if it is even. For this an infinity lies where the
// first number too large would.
func TestHalfNarrowing(t *testing.T) {
	nearest := func(f float32, bits uint16, wide func(uint16) float64) bool {
		sign, magnitude := bits&0x8000, bits&0x7fff
		if (sign != 0) != math.Signbit(float64(f)) {
			return false
		}
		x := math.Abs(float64(f))
		if math.IsInf(x, 0) {
			return math.IsInf(wide(magnitude), 0)
		}
		place := func(bits uint16) float64 {
			if v := wide(bits); !math.IsInf(v, 0) {
				return v
			}
			return 2*wide(bits-1) - wide(bits-2) // the step before it once more
		}
		if v := wide(magnitude); v != v {
			return false
		}
		off := math.Abs(x - place(magnitude))
		if magnitude > 0 {
			if d := math.Abs(x - place(magnitude-1)); d < off || d == off && magnitude&1 != 0 {
				return false
			}
		}
		if math.IsInf(wide(magnitude), 0) {
			return true
		}
		d := math.Abs(x - place(magnitude+1))
		return d > off || d == off && magnitude&1 == 0
	}
	check := func(f float32) {
		t.Helper()
		h, b := dtype.ToF16(f), dtype.ToBF16(f)
		if f != f {
			if h.Float32() == h.Float32() || b.Float32() == b.Float32() {
				t.Fatalf("a NaN (%#x) narrows to float16 %#x and bfloat16 %#x", math.Float32bits(f), h, b)
			}
			return
		}
		if !nearest(f, uint16(h), func(h uint16) float64 { return float64(dtype.F16(h).Float32()) }) {
			t.Fatalf("%v (%#x) narrows to float16 %#x", f, math.Float32bits(f), h)
		}
		if want := uint16(float16.Fromfloat32(f)); uint16(h) != want {
			t.Fatalf("%v (%#x) narrows to float16 %#x, the library says %#x", f, math.Float32bits(f), h, want)
		}
		if !nearest(f, uint16(b), func(b uint16) float64 { return float64(dtype.BF16(b).Float32()) }) {
			t.Fatalf("%v (%#x) narrows to bfloat16 %#x", f, math.Float32bits(f), b)
		}
	}
	// Every half, every middle between two, and the float32 on either side.
	for i := range uint32(1 << 16) {
		for d := -2; d <= 2; d++ {
			check(math.Float32frombits(i<<16 + uint32(d)))
			check(math.Float32frombits(i<<16 + 0x8000 + uint32(d)))
			f := dtype.F16(i).Float32()
			check(math.Float32frombits(math.Float32bits(f) + uint32(d)))
			check(math.Float32frombits(math.Float32bits(f) + 0x1000 + uint32(d)))
		}
	}
	rng := rand.New(rand.NewPCG(1, 7))
	for range 1 << 18 {
		check(math.Float32frombits(rng.Uint32()))
	}
	if got := dtype.ToF16(float32(math.NaN())); got != 0x7e00 {
		t.Errorf("NaN narrows to float16 %#x", got)
	}
	if got := dtype.ToBF16(math.Float32frombits(0x7f800001)); got != 0x7fc0 {
		t.Errorf("a NaN of small payload narrows to bfloat16 %#x", got)
	}
}

package dtype

import (
	"math"
	"testing"
)

// TestHalfRoundTrip converts every stored half to float32 and back.
func TestHalfRoundTrip(t *testing.T) {
	for i := range 1 << 16 {
		if h := F16(i); h.Float32() == h.Float32() && ToF16(h.Float32()) != h {
			t.Fatalf("float16 %#04x became %#04x", h, ToF16(h.Float32()))
		}
		if b := BF16(i); b.Float32() == b.Float32() && ToBF16(b.Float32()) != b {
			t.Fatalf("bfloat16 %#04x became %#04x", b, ToBF16(b.Float32()))
		}
	}
	if nan := float32(math.NaN()); ToF16(nan).Float32() == ToF16(nan).Float32() || ToBF16(nan).Float32() == ToBF16(nan).Float32() {
		t.Fatal("a NaN became a number")
	}
}

// TestBF16Rounding checks ties to even and the step to infinity.
func TestBF16Rounding(t *testing.T) {
	for _, c := range []struct {
		in, want uint32
	}{
		{0x3f808000, 0x3f800000}, {0x3f818000, 0x3f820000}, {0x3f808001, 0x3f810000},
		{0x7f7fffff, 0x7f800000}, {0xff7fffff, 0xff800000}, {0x7f800000, 0x7f800000},
	} {
		if got := ToBF16(math.Float32frombits(c.in)); uint32(got)<<16 != c.want {
			t.Errorf("%#08x rounds to %#04x, want %#04x", c.in, got, c.want>>16)
		}
	}
}

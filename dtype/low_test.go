package dtype_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
)

// A lowFloat is one type of floating-point numbers of at most 8 bits.
type lowFloat struct {
	typ      dtype.Type
	bits     int
	fraction int
	round    func(float32) uint8
	value    func(uint8) float32
	// What the format has beside numbers.
	infinities, nan, negativeZero bool
	most                          float64
	// What a number that is too large becomes.
	beyond func(sign float64) float64
}

func (l lowFloat) String() string { return l.typ.String() }

func lowFloats() []lowFloat {
	nan := func(float64) float64 { return math.NaN() }
	return []lowFloat{
		{dtype.Float4E2M1, 4, 1, func(f float32) uint8 { return uint8(dtype.ToF4E2M1(f)) }, func(b uint8) float32 { return dtype.F4E2M1(b).Float32() },
			false, false, true, 6, func(sign float64) float64 { return math.Copysign(6, sign) }},
		{dtype.Float8E4M3FN, 8, 3, func(f float32) uint8 { return uint8(dtype.ToF8E4M3FN(f)) }, func(b uint8) float32 { return dtype.F8E4M3FN(b).Float32() },
			false, true, true, 448, nan},
		{dtype.Float8E4M3FNUZ, 8, 3, func(f float32) uint8 { return uint8(dtype.ToF8E4M3FNUZ(f)) }, func(b uint8) float32 { return dtype.F8E4M3FNUZ(b).Float32() },
			false, true, false, 240, nan},
		{dtype.Float8E5M2, 8, 2, func(f float32) uint8 { return uint8(dtype.ToF8E5M2(f)) }, func(b uint8) float32 { return dtype.F8E5M2(b).Float32() },
			true, true, true, 57344, func(sign float64) float64 { return math.Inf(int(sign)) }},
		{dtype.Float8E5M2FNUZ, 8, 2, func(f float32) uint8 { return uint8(dtype.ToF8E5M2FNUZ(f)) }, func(b uint8) float32 { return dtype.F8E5M2FNUZ(b).Float32() },
			false, true, false, 57344, nan},
	}
}

// definition is what a byte stands for, read field by field.
func (l lowFloat) definition(b uint8) float64 {
	sign := 1.
	if b>>(l.bits-1)&1 != 0 {
		sign = -1
	}
	exponentBits := l.bits - 1 - l.fraction
	exponent := int(b) >> l.fraction & (1<<exponentBits - 1)
	fraction := float64(int(b)&(1<<l.fraction-1)) / float64(int(1)<<l.fraction)
	bias := 1<<(exponentBits-1) - 1
	last := exponent == 1<<exponentBits-1
	ones := last && int(b)&(1<<l.fraction-1) == 1<<l.fraction-1
	switch {
	case !l.negativeZero && b == 0x80:
		return math.NaN()
	case l.infinities && last && fraction == 0:
		return math.Inf(int(sign))
	case l.infinities && last, l.nan && l.negativeZero && ones:
		return math.NaN()
	case !l.negativeZero:
		bias++
	}
	if exponent == 0 {
		return sign * fraction * math.Exp2(float64(1-bias))
	}
	return sign * (1 + fraction) * math.Exp2(float64(exponent-bias))
}

// nearest looks through all numbers of the type for the one nearest to f, the one
// of even code if two are. The first number too large is among them, where the
// format would go on.
func (l lowFloat) nearest(f float32) float64 {
	x := math.Abs(float64(f))
	if f != f {
		if !l.nan {
			return math.Copysign(0, -1)
		}
		return math.NaN()
	}
	best, off, even := 0., math.Inf(1), false
	try := func(v float64, isEven bool) {
		if d := math.Abs(x - v); d < off || d == off && isEven && !even {
			best, off, even = v, d, isEven
		}
	}
	top := uint8(0)
	for b := range uint8(1 << (l.bits - 1)) {
		if v := l.definition(b); v <= l.most {
			try(v, b&1 == 0)
			if v == l.most {
				top = b
			}
		}
	}
	next := 2*l.most - l.definition(top-1)
	if try(next, top&1 != 0); x >= next { // so far off that the distances are one number
		best = next
	}
	if best == next {
		return l.beyond(math.Copysign(1, float64(f)))
	}
	if best == 0 && !l.negativeZero {
		return 0
	}
	return math.Copysign(best, float64(f))
}

func sameFloat(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

// TestLowFloats compares every number to its definition, and the rounding of
// every number, of every middle between two and of their neighbours to a search.
func TestLowFloats(t *testing.T) {
	for _, l := range lowFloats() {
		t.Run(l.String(), func(t *testing.T) {
			for i := range 256 {
				b := uint8(i) & (1<<l.bits - 1) // what lies above does not count
				if got, want := float64(l.value(uint8(i))), l.definition(b); !sameFloat(got, want) {
					t.Fatalf("%#x is %v, want %v", i, got, want)
				}
			}
			check := func(f float32) {
				t.Helper()
				b := l.round(f)
				if got, want := float64(l.value(b)), l.nearest(f); !sameFloat(got, want) {
					t.Fatalf("%v (%#x) rounds to %#x, which is %v, want %v", f, math.Float32bits(f), b, got, want)
				}
				if b>>l.bits != 0 {
					t.Fatalf("%v rounds to %#x, which has more than %d bits", f, b, l.bits)
				}
			}
			for i := range 256 {
				for _, j := range []int{i, i + 1} {
					bits := math.Float32bits((l.value(uint8(i)) + l.value(uint8(j))) / 2)
					for d := range uint32(5) {
						check(math.Float32frombits(bits + d - 2))
					}
				}
			}
			for i := range uint32(1 << 16) {
				check(math.Float32frombits(i << 16))
			}
			rng := rand.New(rand.NewPCG(1, 8))
			for range 1 << 14 {
				check(math.Float32frombits(rng.Uint32()))
			}
			nan := math.Float32frombits(0xff800001)
			if b := l.round(nan); l.nan && l.value(b) == l.value(b) {
				t.Errorf("a negative NaN rounds to %#x", b)
			}
		})
	}
}

// TestPowersOf2 compares every F8E8M0 to its definition, and the rounding to a
// search.
func TestPowersOf2(t *testing.T) {
	value := func(b int) float64 {
		if b == 255 {
			return math.NaN()
		}
		return math.Exp2(float64(b - 127))
	}
	for i := range 256 {
		if got := float64(dtype.F8E8M0(i).Float32()); !sameFloat(got, value(i)) {
			t.Errorf("%#x is %v, want %v", i, got, value(i))
		}
	}
	check := func(f float32) {
		t.Helper()
		// Powers beyond the ends win where they are nearer, and are none.
		x, best, off := math.Abs(float64(f)), 255, math.Inf(1)
		for e := -150; e <= 128; e++ {
			if d := math.Abs(x - math.Exp2(float64(e))); d <= off { // a tie goes up
				best, off = e+127, d
			}
		}
		if x == 0 || x != x || math.IsInf(x, 0) || best < 0 || best > 254 {
			best = 255
		}
		if got := dtype.ToF8E8M0(f); int(got) != best {
			t.Fatalf("%v (%#x) rounds to %#x, want %#x", f, math.Float32bits(f), got, best)
		}
	}
	for e := range uint32(512) {
		for _, fraction := range []uint32{0, 1 << 21, 1 << 22, 3 << 21} {
			for d := range uint32(5) {
				check(math.Float32frombits(e<<23 + fraction + d - 2))
			}
		}
	}
	for i := range uint32(1 << 16) {
		check(math.Float32frombits(i << 16))
	}
}

// TestLowIntegers takes every byte.
func TestLowIntegers(t *testing.T) {
	for i := range 256 {
		unsigned := func(bits int) int { return i % (1 << bits) }
		signed := func(bits int) int {
			if v := unsigned(bits); v < 1<<(bits-1) {
				return v
			}
			return unsigned(bits) - 1<<bits
		}
		s, u := int8(i), uint8(i)
		for _, c := range []struct {
			typ                 dtype.Type
			stored, value, want int
		}{
			{dtype.Int2, int(dtype.ToI2(s)), int(dtype.I2(s).Int8()), signed(2)},
			{dtype.Uint2, int(dtype.ToU2(u)), int(dtype.U2(u).Uint8()), unsigned(2)},
			{dtype.Int4, int(dtype.ToI4(s)), int(dtype.I4(s).Int8()), signed(4)},
			{dtype.Uint4, int(dtype.ToU4(u)), int(dtype.U4(u).Uint8()), unsigned(4)},
		} {
			if c.stored != c.want || c.value != c.want {
				t.Errorf("%#x as %v is stored as %d and read as %d, want %d", i, c.typ, c.stored, c.value, c.want)
			}
		}
	}
}

package elementwise

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/race"
)

// fewSamples reports that a test without concurrency of its own is to do what finds
// a wrong function, and leave it to others to find a wrong digit: where the race
// detector or an emulator makes everything some twenty times slower.
func fewSamples() bool { return testing.Short() || race.Enabled }

// scalarSamples returns elements of type t: the awkward ones, then random ones.
func scalarSamples(rng *rand.Rand, t dtype.Type, random int) []kernel.Scalar {
	var out []kernel.Scalar
	add := func(v float64) { out = append(out, kernel.Float64Scalar(v).Cast(t)) }
	switch {
	case t == dtype.Bool:
		return []kernel.Scalar{kernel.BoolScalar(false), kernel.BoolScalar(true)}
	case t.IsLowPrecision():
		all := lowElements(t)
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return all[:min(len(all), random+4)]
	case t.IsFloat():
		inf := math.Inf(1)
		for _, v := range []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, 2, 2.5, -2.5, 3, -3, 1e-7, -1e-7, 1e-42, 88.5, -103, 300, 65504, 70000, -1e30, inf, -inf, math.NaN()} {
			add(v)
		}
		for range random {
			add(rng.NormFloat64() * math.Exp2(float64(rng.IntN(12)-8)))
		}
	default:
		bits := 8 * t.Size()
		top := uint64(1) << (bits - 1)
		for _, v := range []uint64{0, 1, 2, 3, 7, top - 1, top, top + 1, math.MaxUint64 >> (64 - bits), math.MaxUint64>>(64-bits) - 1} {
			out = append(out, kernel.Scalar{DType: t, Bits: v})
		}
		for i := range random {
			v := rng.Uint64()
			if i%2 == 0 {
				v %= 16
			}
			out = append(out, kernel.Scalar{DType: t, Bits: v << (64 - bits) >> (64 - bits)})
		}
	}
	return out
}

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

func castSamples(rng *rand.Rand, t dtype.Type) []kernel.Scalar {
	n := 1000
	if fewSamples() {
		n = 50
	}
	out := scalarSamples(rng, t, n)
	if t == dtype.Bool || t.IsLowPrecision() {
		return out
	}
	for _, low := range dtype.All() {
		for _, m := range lowMiddlesOf[low] {
			if fewSamples() && rng.IntN(10) != 0 {
				continue
			}
			m = math.Copysign(m, rng.Float64()-0.5)
			short := float32(m)
			for _, v := range []float64{
				m, math.Nextafter(m, 0), math.Nextafter(m, 2*m), float64(math.Nextafter32(short, 0)), float64(math.Nextafter32(short, 2*short)),
			} {
				out = append(out, kernel.Float64Scalar(v).Cast(t))
			}
		}
	}
	// Values around every power of 2, where formats end and ties lie.
	for e := range 70 {
		for _, d := range []float64{-1, -0.5, 0, 0.5, 1} {
			for _, sign := range []float64{-1, 1} {
				v := sign * (math.Ldexp(1, e) + d)
				if t.IsFloat() {
					out = append(out, kernel.Float64Scalar(v).Cast(t))
					out = append(out, kernel.Float64Scalar(math.Nextafter(v, 0)).Cast(t))
				}
			}
		}
	}
	if t == dtype.Float64 {
		// Ties of the half types, missed by so little that float32 cannot tell.
		for range n {
			tie := float64(dtype.F16(rng.IntN(0x7c00)).Float32()) * (1 + math.Ldexp(1, -11))
			tie2 := float64(dtype.BF16(rng.IntN(0x7f80)).Float32()) * (1 + math.Ldexp(1, -8))
			for _, v := range []float64{tie, tie2} {
				out = append(out, kernel.Float64Scalar(v), kernel.Float64Scalar(math.Nextafter(v, 0)), kernel.Float64Scalar(math.Nextafter(v, 1e300)))
			}
		}
	}
	if t.IsInteger() && t.Size() == 8 {
		for _, d := range []uint64{0, 1, math.MaxUint64} { // a tie of powers of 2, likewise
			out = append(out, kernel.Scalar{DType: t, Bits: 3<<61 + d})
		}
		for range n { // ties of bfloat16, missed by less than float64 can tell
			v := (uint64(1)<<8 | uint64(rng.IntN(1<<7))<<1 | 1) << (45 + rng.IntN(10))
			for _, d := range []uint64{0, 1, math.MaxUint64} {
				out = append(out, kernel.Scalar{DType: t, Bits: v + d})
			}
		}
	}
	return out
}

func castReference(s kernel.Scalar, to dtype.Type) kernel.Scalar {
	if s.DType.IsLowPrecision() && s.DType != to {
		s = lowValue(s)
	}
	switch {
	case s.DType == to:
		return s
	case to.IsLowPrecision():
		return lowReference(s, to)
	case to == dtype.Bool && s.DType.IsFloat():
		return kernel.BoolScalar(s.Float64() != 0)
	case to == dtype.Bool:
		return kernel.BoolScalar(s.Bits != 0)
	case to.IsFloat() && s.DType.IsFloat():
		f := s.Float64()
		if to == dtype.Float16 || to == dtype.BFloat16 {
			return kernel.Scalar{DType: to, Bits: uint64(nearestHalf(to, f))}
		}
		return roundedTo(to, f)
	case to.IsFloat():
		return nearestFloat(to, scalarInt(s))
	case s.DType.IsFloat():
		return truncated(to, s.Float64())
	}
	return wrappedTo(to, scalarInt(s))
}

// nearestFloat rounds an integer once.
func nearestFloat(to dtype.Type, v *big.Int) kernel.Scalar {
	digits := map[dtype.Type]uint{dtype.Float64: 53, dtype.Float32: 24, dtype.Float16: 11, dtype.BFloat16: 8}[to]
	f, _ := new(big.Float).SetPrec(digits).SetInt(v).Float64() // rounds to even
	if to == dtype.Float16 || to == dtype.BFloat16 {
		return kernel.Scalar{DType: to, Bits: uint64(nearestHalf(to, f))} // only 65520 and more change
	}
	return roundedTo(to, f)
}

// truncated drops the fraction; what does not fit is what x86 makes of it.
func truncated(to dtype.Type, f float64) kernel.Scalar {
	through := map[dtype.Type]uint{
		dtype.Int8: 31, dtype.Int16: 31, dtype.Uint8: 31, dtype.Uint16: 31, dtype.Int32: 31,
		dtype.Int64: 63, dtype.Uint32: 63, dtype.Uint64: 63,
	}[to]
	least := new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), through))
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return wrappedTo(to, least)
	}
	v, _ := big.NewFloat(f).Int(nil)
	end := new(big.Int).Neg(least)
	if to == dtype.Uint64 {
		end.Lsh(end, 1)
	}
	if v.Cmp(least) < 0 || v.Cmp(end) >= 0 {
		return wrappedTo(to, least)
	}
	return wrappedTo(to, v)
}

func powReference(x, n kernel.Scalar) kernel.Scalar {
	t := x.DType
	if t.IsFloat() {
		return roundedTo(t, widePow(x.Float64(), n.Float64()))
	}
	if n.DType.IsFloat() {
		return truncated(t, widePow(x.Float64(), n.Float64()))
	}
	e := scalarInt(n)
	if e.Sign() < 0 {
		switch v := scalarInt(x); {
		case v.IsInt64() && v.Int64() == 1:
			return x
		case v.IsInt64() && v.Int64() == -1 && e.Bit(0) == 1:
			return x
		case v.IsInt64() && v.Int64() == -1:
			return wrappedTo(t, big.NewInt(1))
		}
		return wrappedTo(t, big.NewInt(0))
	}
	m := new(big.Int).Lsh(big.NewInt(1), uint(8*t.Size()))
	return wrappedTo(t, new(big.Int).Exp(new(big.Int).Mod(scalarInt(x), m), e, m))
}

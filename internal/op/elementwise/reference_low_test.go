package elementwise

import (
	"math"
	"math/big"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
)

// lowBits returns how many bits of a byte count in the integers of a type of low
// precision; 0 for other types.
func lowBits(t dtype.Type) uint {
	return map[dtype.Type]uint{dtype.Int2: 2, dtype.Uint2: 2, dtype.Int4: 4, dtype.Uint4: 4}[t]
}

// lowElements returns every element of a type of low precision.
func lowElements(t dtype.Type) (out []kernel.Scalar) {
	for i := range 256 {
		n := lowBits(t)
		switch {
		case t == dtype.Float4E2M1:
			n = 4
		case n == 0:
			n = 8
		}
		if i>>n > 0 {
			break
		}
		bits := uint64(i)
		if t.Wide() == dtype.Int8 {
			bits = uint64(uint8(int8(i<<(8-n)) >> (8 - n)))
		}
		out = append(out, kernel.Scalar{DType: t, Bits: bits})
	}
	return out
}

// lowValue returns the number that s, of low precision, is, as an int64 or a
// float64. Package dtype tests that.
func lowValue(s kernel.Scalar) kernel.Scalar {
	switch b := uint8(s.Bits); s.DType {
	case dtype.Int2:
		return kernel.Int64Scalar(int64(dtype.I2(b).Int8()))
	case dtype.Uint2:
		return kernel.Int64Scalar(int64(dtype.U2(b).Uint8()))
	case dtype.Int4:
		return kernel.Int64Scalar(int64(dtype.I4(b).Int8()))
	case dtype.Uint4:
		return kernel.Int64Scalar(int64(dtype.U4(b).Uint8()))
	case dtype.Float4E2M1:
		return kernel.Float64Scalar(float64(dtype.F4E2M1(b).Float32()))
	case dtype.Float8E4M3FN:
		return kernel.Float64Scalar(float64(dtype.F8E4M3FN(b).Float32()))
	case dtype.Float8E4M3FNUZ:
		return kernel.Float64Scalar(float64(dtype.F8E4M3FNUZ(b).Float32()))
	case dtype.Float8E5M2:
		return kernel.Float64Scalar(float64(dtype.F8E5M2(b).Float32()))
	case dtype.Float8E5M2FNUZ:
		return kernel.Float64Scalar(float64(dtype.F8E5M2FNUZ(b).Float32()))
	}
	return kernel.Float64Scalar(float64(dtype.F8E8M0(s.Bits).Float32()))
}

// lowMiddlesOf has [lowMiddles] of all types.
var lowMiddlesOf = func() map[dtype.Type][]float64 {
	all := map[dtype.Type][]float64{}
	for _, t := range dtype.All() {
		all[t] = lowMiddles(t)
	}
	return all
}()

// lowMiddles returns, for a floating-point type of low precision, the middles
// between each magnitude and the next, in ascending order; the last is that to
// the number which would come next if the type went on.
func lowMiddles(t dtype.Type) (middles []float64) {
	if !t.IsLowPrecision() || !t.Wide().IsFloat() {
		return nil
	}
	var last, step float64
	for i, s := range lowElements(t) {
		v := lowValue(s).Float64()
		if i > 0 {
			if !(v > last && !math.IsInf(v, 0)) {
				break
			}
			step = v - last
			middles = append(middles, last+step/2)
		}
		last = v
	}
	if t == dtype.Float8E8M0 {
		step *= 2
	}
	return append(middles, last+step/2)
}

// lowReference converts s to a type of low precision: the elements whose middles
// with the next one are below it are counted.
func lowReference(s kernel.Scalar, to dtype.Type) kernel.Scalar {
	low := func(bits int) kernel.Scalar { return kernel.Scalar{DType: to, Bits: uint64(bits)} }
	if n := lowBits(to); n > 0 {
		wide := s
		if s.DType.IsFloat() {
			wide = truncated(dtype.Int32, s.Float64())
		}
		bits := int(wrappedTo(dtype.Int64, scalarInt(wide)).Bits & (1<<n - 1))
		if to.Wide() == dtype.Int8 && bits>>(n-1) != 0 {
			bits += 256 - 1<<n
		}
		return low(bits)
	}
	x, nan := new(big.Float), false
	if s.DType.IsFloat() {
		if nan = math.IsNaN(s.Float64()); !nan {
			x.SetFloat64(s.Float64())
		}
	} else {
		x.SetInt(scalarInt(s))
	}
	negative, count := x.Signbit(), 0
	x.Abs(x)
	middles := lowMiddlesOf[to]
	for _, m := range middles {
		if c := x.Cmp(big.NewFloat(m)); c < 0 || c == 0 && count%2 == 0 && to != dtype.Float8E8M0 {
			break
		}
		count++
	}
	beyond := count == len(middles)
	switch {
	case to == dtype.Float4E2M1:
		if beyond {
			count--
		}
		if nan || negative {
			count += 8
		}
		if nan {
			count = 8
		}
		return low(count)
	case to == dtype.Float8E8M0:
		if nan || beyond || x.Cmp(big.NewFloat(0x3p-129)) < 0 {
			count = 255
		}
		return low(count)
	case nan && to == dtype.Float8E5M2:
		return low(0x7e)
	case to == dtype.Float8E4M3FNUZ || to == dtype.Float8E5M2FNUZ:
		if nan || beyond {
			return low(0x80)
		}
		if count == 0 {
			return low(0)
		}
	case nan:
		return low(0x7f)
	}
	if negative {
		count += 0x80
	}
	return low(count) // beyond the last number is what is too large, NaN or infinity
}

package dtype

import "math"

// The Go types of integers of 2 and 4 bits. One is stored as a byte, of which
// the low bits count alone; conversions extend them to the whole byte.
type (
	I2 int8
	U2 uint8
	I4 int8
	U4 uint8
)

// ToI2 returns the low two bits of v, from -2 to 1.
func ToI2(v int8) I2 { return I2(v << 6 >> 6) }

// ToU2 returns the low two bits of v, from 0 to 3.
func ToU2(v uint8) U2 { return U2(v & 3) }

// ToI4 returns the low four bits of v, from -8 to 7.
func ToI4(v int8) I4 { return I4(v << 4 >> 4) }

// ToU4 returns the low four bits of v, from 0 to 15.
func ToU4(v uint8) U4 { return U4(v & 15) }

// Int8 returns the number.
func (i I2) Int8() int8 { return int8(i) << 6 >> 6 }

// Uint8 returns the number.
func (u U2) Uint8() uint8 { return uint8(u) & 3 }

// Int8 returns the number.
func (i I4) Int8() int8 { return int8(i) << 4 >> 4 }

// Uint8 returns the number.
func (u U4) Uint8() uint8 { return uint8(u) & 15 }

// The Go types of floating-point numbers of at most 8 bits, as they are stored:
// sign, exponent and fraction from the upper bits down. An F4E2M1 takes the low
// half of its byte, and the other half does not count.
//
// Their formats are those of the Open Compute Project (OFP8 and MX), and for the
// names that end in FNUZ those of Noune et al., "8-bit numerical formats for deep
// neural networks", 2022.
type (
	F4E2M1     uint8
	F8E4M3FN   uint8
	F8E4M3FNUZ uint8
	F8E5M2     uint8
	F8E5M2FNUZ uint8
)

// An F8E8M0 is a power of 2 as it is stored: the exponent plus 127, and 255 for
// NaN.
type F8E8M0 uint8

// ToF4E2M1 returns f rounded to the nearest number, ties to even. Numbers beyond
// 6, and infinities, become 6 with their sign; NaN becomes -0.
func ToF4E2M1(f float32) F4E2M1 { return F4E2M1(e2m1.round(f)) }

// ToF8E4M3FN returns f rounded to the nearest number, ties to even. Numbers
// that do not round to at most 448, and infinities, become NaN.
func ToF8E4M3FN(f float32) F8E4M3FN { return F8E4M3FN(e4m3fn.round(f)) }

// ToF8E4M3FNUZ returns f rounded to the nearest number, ties to even. Numbers
// that do not round to at most 240, and infinities, become NaN.
func ToF8E4M3FNUZ(f float32) F8E4M3FNUZ { return F8E4M3FNUZ(e4m3fnuz.round(f)) }

// ToF8E5M2 returns f rounded to the nearest number, ties to even. Numbers that do
// not round to at most 57344 become infinities.
func ToF8E5M2(f float32) F8E5M2 { return F8E5M2(e5m2.round(f)) }

// ToF8E5M2FNUZ returns f rounded to the nearest number, ties to even. Numbers
// that do not round to at most 57344, and infinities, become NaN.
func ToF8E5M2FNUZ(f float32) F8E5M2FNUZ { return F8E5M2FNUZ(e5m2fnuz.round(f)) }

// ToF8E8M0 returns the power of 2 nearest to the magnitude of f, ties to the
// greater one. What does not round to 2^-127 to 2^127, such as 0, becomes NaN.
func ToF8E8M0(f float32) F8E8M0 {
	bits := math.Float32bits(f) & 0x7fffffff
	const least = 1 << 22 // 2^-127, a subnormal
	switch {
	case bits < least-least/4: // rounds to 2^-128
		return 0xff
	case bits < least+least/2:
		return 0
	}
	return F8E8M0(min((bits+1<<22)>>23, 0xff))
}

// Float32 returns the number exactly.
func (f F4E2M1) Float32() float32 { return e2m1Values[f&15] }

// Float32 returns the number exactly.
func (f F8E4M3FN) Float32() float32 { return e4m3fnValues[f] }

// Float32 returns the number exactly.
func (f F8E4M3FNUZ) Float32() float32 { return e4m3fnuzValues[f] }

// Float32 returns the number exactly.
func (f F8E5M2) Float32() float32 { return e5m2Values[f] }

// Float32 returns the number exactly.
func (f F8E5M2FNUZ) Float32() float32 { return e5m2fnuzValues[f] }

// Float32 returns the number exactly.
func (f F8E8M0) Float32() float32 {
	switch f {
	case 0: // subnormal
		return math.Float32frombits(1 << 22)
	case 0xff:
		return float32(math.NaN())
	}
	return math.Float32frombits(uint32(f) << 23)
}

// A minifloat is a floating-point format of at most 8 bits. Magnitudes are
// what a number is without its sign.
type minifloat struct {
	fraction int   // bits
	bias     int   // of the exponent
	sign     uint8 // the bit of the sign
	most     uint8 // the greatest finite magnitude
	beyond   uint8 // the magnitude that stands for those greater still
	nan      uint8
	unsigned bool // zero and NaN have no sign: its bit alone is NaN
}

var (
	e2m1     = minifloat{fraction: 1, bias: 1, sign: 0x8, most: 0x7, beyond: 0x7, nan: 0x8}
	e4m3fn   = minifloat{fraction: 3, bias: 7, sign: 0x80, most: 0x7e, beyond: 0x7f, nan: 0x7f}
	e4m3fnuz = minifloat{fraction: 3, bias: 8, sign: 0x80, most: 0x7f, beyond: 0x80, nan: 0x80, unsigned: true}
	e5m2     = minifloat{fraction: 2, bias: 15, sign: 0x80, most: 0x7b, beyond: 0x7c, nan: 0x7e}
	e5m2fnuz = minifloat{fraction: 2, bias: 16, sign: 0x80, most: 0x7f, beyond: 0x80, nan: 0x80, unsigned: true}

	e2m1Values     = e2m1.values()
	e4m3fnValues   = e4m3fn.values()
	e4m3fnuzValues = e4m3fnuz.values()
	e5m2Values     = e5m2.values()
	e5m2fnuzValues = e5m2fnuz.values()
)

// round returns f rounded to the nearest number, ties to even.
func (m *minifloat) round(f float32) uint8 {
	bits := math.Float32bits(f)
	var sign uint8
	if bits>>31 != 0 {
		sign = m.sign
	}
	bits &= 0x7fffffff
	if bits > 0x7f800000 {
		return m.nan | sign
	}
	var rounded uint32
	if shift := 23 - m.fraction; bits >= uint32(128-m.bias)<<23 { // normal in the format
		// Adding half a unit, less one when the result is even, rounds; a carry
		// runs on into the exponent.
		rounded = (bits+1<<(shift-1)-1+bits>>shift&1)>>shift - uint32(127-m.bias)<<m.fraction
	} else {
		// Adding 2^23 units of a subnormal moves these to the end of the fraction,
		// where the addition itself rounds to even.
		units := uint32(127+1-m.bias+shift) << 23
		rounded = math.Float32bits(math.Float32frombits(bits)+math.Float32frombits(units)) - units
	}
	if rounded > uint32(m.most) {
		rounded = uint32(m.beyond)
	}
	if m.unsigned && rounded == 0 {
		return 0
	}
	return uint8(rounded) | sign
}

// values returns what each byte stands for.
func (m *minifloat) values() (values [256]float32) {
	for b := range values {
		magnitude := uint8(b) & (m.sign - 1)
		fraction := float64(magnitude & (1<<m.fraction - 1))
		exponent := int(magnitude >> m.fraction)
		if exponent > 0 {
			fraction += float64(int(1) << m.fraction)
			exponent--
		}
		v := math.Ldexp(fraction, exponent+1-m.bias-m.fraction)
		switch {
		case m.unsigned && uint8(b) == m.nan:
			v = math.NaN()
		case magnitude > m.most && magnitude == m.beyond && m.beyond != m.nan:
			v = math.Inf(1)
		case magnitude > m.most:
			v = math.NaN()
		}
		if uint8(b)&m.sign != 0 {
			v = -v
		}
		values[b] = float32(v)
	}
	return values
}

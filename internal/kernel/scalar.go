package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/berth-go/berth/dtype"
)

// A Scalar is one element: its type, and its bits as they are stored, in the
// low bits of Bits. Scalars are comparable, and equal when their bits are.
type Scalar struct {
	DType dtype.Type
	Bits  uint64
}

// Float64Scalar returns the float64 element v.
func Float64Scalar(v float64) Scalar { return Scalar{dtype.Float64, math.Float64bits(v)} }

// Int64Scalar returns the int64 element v.
func Int64Scalar(v int64) Scalar { return Scalar{dtype.Int64, uint64(v)} }

// BoolScalar returns the bool element v.
func BoolScalar(v bool) Scalar { return Scalar{dtype.Bool, uint64(Truth(v))} }

// ScalarAt returns element i of the storage data, which holds elements of
// type t.
func ScalarAt(t dtype.Type, data []byte, i int) Scalar {
	var bits [8]byte
	copy(bits[:], data[i*t.Size():(i+1)*t.Size()])
	return Scalar{t, binary.LittleEndian.Uint64(bits[:])}
}

// Put stores s as element 0 of data.
func (s Scalar) Put(data []byte) {
	var bits [8]byte
	binary.LittleEndian.PutUint64(bits[:], s.Bits)
	copy(data[:s.DType.Size()], bits[:])
}

// Float64 returns the value of s as a float64, rounded where it is a wide
// integer.
func (s Scalar) Float64() float64 {
	switch s.DType {
	case dtype.Float64:
		return math.Float64frombits(s.Bits)
	case dtype.Float32:
		return float64(math.Float32frombits(uint32(s.Bits)))
	case dtype.Float16:
		return float64(dtype.F16(s.Bits).Float32())
	case dtype.BFloat16:
		return float64(dtype.BF16(s.Bits).Float32())
	}
	if s.DType.IsLowPrecision() {
		return s.Cast(s.DType.Wide()).Float64()
	}
	if s.DType.Kind() == dtype.KindInt {
		return float64(s.Int64())
	}
	return float64(s.Bits)
}

// Int64 returns the value of s, which is a bool or an integer of any width, as an
// int64; a uint64 from 1<<63 on wraps.
func (s Scalar) Int64() int64 {
	if s.DType.IsLowPrecision() {
		s = s.Cast(s.DType.Wide())
	}
	if s.DType.Kind() != dtype.KindInt {
		return int64(s.Bits)
	}
	shift := 64 - 8*s.DType.Size()
	return int64(s.Bits<<shift) >> shift
}

// Cast returns s converted to type t by the rules of an elementwise cast, which
// are those of [NativeCast] and the rounding of [Narrowing].
func (s Scalar) Cast(t dtype.Type) Scalar {
	if s.DType == t {
		return s
	}
	from, wide := s.DType.Wide(), t.Wide()
	if s.DType != from {
		s = s.converted(from, Widening(s.DType))
	}
	if f := Casting(from, t); f != nil {
		s = s.converted(wide, f)
	}
	if t != wide {
		s = s.converted(t, Narrowing(t))
	}
	return s
}

// converted returns what f makes of s, of type t.
func (s Scalar) converted(t dtype.Type, f Conversion) Scalar {
	var from, to [1]uint64
	s.Put(Bytes(from[:]))
	data := Bytes(to[:])
	f(data[:t.Size()], Bytes(from[:])[:s.DType.Size()])
	return ScalarAt(t, data, 0)
}

// Convert returns s as an element of type t. A floating-point type rounds the
// value; an integer type and bool must hold it exactly, or else it is an
// error.
func (s Scalar) Convert(t dtype.Type) (Scalar, error) {
	fits := true
	switch {
	case !t.Valid() || !s.DType.Valid():
		fits = false
	case t.Wide().IsFloat() || t == s.DType:
	case s.DType.IsLowPrecision():
		return s.Cast(s.DType.Wide()).Convert(t)
	case t.IsLowPrecision():
		wide, err := s.Convert(t.Wide())
		fits = err == nil && wide.Cast(t).Int64() == wide.Int64()
	case s.DType.IsFloat():
		lo, hi := integerRange(t)
		f := s.Float64()
		// hi itself may round up to the first value out of range.
		fits = f == math.Trunc(f) && f >= float64(lo) && (f < float64(hi) || f == float64(hi) && hi < 1<<53)
	case s.DType.Kind() == dtype.KindInt && s.Int64() < 0:
		lo, _ := integerRange(t)
		fits = s.Int64() >= lo
	default:
		_, hi := integerRange(t)
		fits = s.Bits <= hi
	}
	if !fits {
		return Scalar{}, fmt.Errorf("%v does not fit the element type %v", s, t)
	}
	return s.Cast(t), nil
}

// integerRange returns the least and the greatest value of a bool or integer
// type.
func integerRange(t dtype.Type) (lo int64, hi uint64) {
	bits := 8 * t.Size()
	switch t.Kind() {
	case dtype.KindBool:
		return 0, 1
	case dtype.KindUint:
		return 0, math.MaxUint64 >> (64 - bits)
	}
	return math.MinInt64 >> (64 - bits), math.MaxInt64 >> (64 - bits)
}

// String prints s as in "0.1:float32", in the fewest digits that
// [ParseScalar] reads back to the same bits.
func (s Scalar) String() string {
	var value string
	wide := s.DType.Wide()
	switch f := s.Float64(); {
	case wide.IsFloat() && math.IsNaN(f):
		value = "nan"
		if s != Float64Scalar(math.NaN()).Cast(s.DType) {
			value = "0x" + strconv.FormatUint(s.Bits, 16)
		}
	case s.DType == dtype.Float64:
		value = strconv.FormatFloat(f, 'g', -1, 64)
	case wide.IsFloat():
		value = strconv.FormatFloat(f, 'g', -1, 32)
	case wide.Kind() == dtype.KindInt:
		value = strconv.FormatInt(s.Int64(), 10)
	default:
		value = strconv.FormatUint(uint64(s.Int64()), 10)
	}
	return value + ":" + s.DType.String()
}

// MarshalText returns what String prints; an error for an invalid type.
func (s Scalar) MarshalText() ([]byte, error) {
	if !s.DType.Valid() {
		return nil, fmt.Errorf("%v is not an element type", s.DType)
	}
	return []byte(s.String()), nil
}

// UnmarshalText sets s as [ParseScalar] does.
func (s *Scalar) UnmarshalText(text []byte) error {
	v, err := ParseScalar(string(text))
	if err == nil {
		*s = v
	}
	return err
}

// ParseScalar returns the scalar that [Scalar.String] prints as text. The
// value of a floating-point type may also be its bits, as in
// "0x7fc00001:float32".
func ParseScalar(text string) (Scalar, error) {
	value, name, ok := strings.Cut(text, ":")
	if !ok {
		return Scalar{}, fmt.Errorf("%q lacks an element type, as in 2:float32", text)
	}
	t, err := dtype.Parse(name)
	if err != nil {
		return Scalar{}, err
	}
	if wide := t.Wide(); t.IsLowPrecision() && !wide.IsFloat() {
		s, err := ParseScalar(value + ":" + wide.String())
		if err != nil {
			return Scalar{}, err
		}
		return s.Convert(t)
	}
	s := Scalar{DType: t}
	bits := 8 * t.Size()
	hex, isHex := strings.CutPrefix(value, "0x")
	switch {
	case t == dtype.Bool:
		s.Bits, err = strconv.ParseUint(value, 10, 1)
	case t.Kind() == dtype.KindUint:
		s.Bits, err = strconv.ParseUint(value, 10, bits)
	case t.Kind() == dtype.KindInt:
		var v int64
		v, err = strconv.ParseInt(value, 10, bits)
		s.Bits = uint64(v) << (64 - bits) >> (64 - bits)
	case isHex:
		s.Bits, err = strconv.ParseUint(hex, 16, bits)
	default:
		var f float64
		if f, err = strconv.ParseFloat(value, max(bits, 32)); err == nil {
			s = Float64Scalar(f).Cast(t)
		}
	}
	if err != nil {
		return Scalar{}, fmt.Errorf("%q is not a %v: %w", value, t, err)
	}
	return s, nil
}

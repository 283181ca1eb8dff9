package elementwise

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
)

// TestCasts compares the conversion between every two element types with
// its rule.
func TestCasts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, from := range dtype.All() {
		elems := castSamples(rng, from)
		in := []*kernel.Operand{scalarVector(from, elems)}
		for _, to := range dtype.All() {
			prog := []Instr{{Code: Cast, To: to, Args: [3]Arg{InputArg(0)}}}
			k, err := newKernel(prog, []dtype.Type{from})
			if err != nil {
				t.Fatal(err)
			}
			out := kerneltest.Dense(to, len(elems))
			if err := kerneltest.All(rng, k, in, []*kernel.Operand{out}); err != nil {
				t.Fatal(err)
			}
			for i, got := range scalarsOf(out) {
				want := castReference(elems[i], to)
				if !withinUlps(got, want, 0) {
					t.Fatalf("%v cast to %v is %v, want %v", elems[i], to, got, want)
				}
				if single := elems[i].Cast(to); !withinUlps(single, want, 0) {
					t.Fatalf("the scalar %v cast to %v is %v, want %v", elems[i], to, single, want)
				}
			}
		}
	}
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
	out := scalarSamples(rng, t, 1000)
	if t == dtype.Bool {
		return out
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
		for range 1000 {
			tie := float64(dtype.F16(rng.IntN(0x7c00)).Float32()) * (1 + math.Ldexp(1, -11))
			tie2 := float64(dtype.BF16(rng.IntN(0x7f80)).Float32()) * (1 + math.Ldexp(1, -8))
			for _, v := range []float64{tie, tie2} {
				out = append(out, kernel.Float64Scalar(v), kernel.Float64Scalar(math.Nextafter(v, 0)), kernel.Float64Scalar(math.Nextafter(v, 1e300)))
			}
		}
	}
	if t.IsInteger() && t.Size() == 8 {
		for range 1000 { // ties of bfloat16, missed by less than float64 can tell
			v := (uint64(1)<<9 | uint64(rng.IntN(1<<8))<<1 | 1) << (t.Size()*8 - 11)
			for _, d := range []uint64{0, 1, math.MaxUint64} {
				out = append(out, kernel.Scalar{DType: t, Bits: v + d})
			}
		}
	}
	return out
}

func castReference(s kernel.Scalar, to dtype.Type) kernel.Scalar {
	switch {
	case s.DType == to:
		return s
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

// TestPow compares powers over every pair of element types with exact
// arithmetic or float64.
func TestPow(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, base := range dtype.All() {
		for _, exponent := range dtype.All() {
			prog := []Instr{{Code: Pow, Args: [3]Arg{InputArg(0), InputArg(1)}}}
			k, err := newKernel(prog, []dtype.Type{base, exponent})
			if base == dtype.Bool || exponent == dtype.Bool {
				if err == nil {
					t.Fatalf("%v to the power of %v is accepted", base, exponent)
				}
				continue
			}
			var xs, ns []kernel.Scalar
			for _, x := range scalarSamples(rng, base, 30) {
				for _, n := range scalarSamples(rng, exponent, 30) {
					if x.DType.IsInteger() && x.Bits == 0 && n.DType.IsInteger() && n.Float64() < 0 {
						continue
					}
					xs, ns = append(xs, x), append(ns, n)
				}
			}
			in := []*kernel.Operand{scalarVector(base, xs), scalarVector(exponent, ns)}
			out := kerneltest.Dense(base, len(xs))
			if err := kerneltest.All(rng, k, in, []*kernel.Operand{out}); err != nil {
				t.Fatal(err)
			}
			for i, got := range scalarsOf(out) {
				if want := powReference(xs[i], ns[i]); !withinUlps(got, want, 1) {
					t.Fatalf("pow(%v, %v) = %v, want %v", xs[i], ns[i], got, want)
				}
			}
		}
	}
}

func powReference(x, n kernel.Scalar) kernel.Scalar {
	t := x.DType
	if t.IsFloat() {
		return roundedTo(t, math.Pow(x.Float64(), n.Float64()))
	}
	if n.DType.IsFloat() {
		return truncated(t, math.Pow(x.Float64(), n.Float64()))
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

// TestDivideByZero checks that integer division by zero is an error that
// names the code, and that nothing panics for the least integer over -1.
func TestDivideByZero(t *testing.T) {
	for _, code := range []Code{Div, Mod, Fmod, FloorDiv, Pow} {
		for _, dt := range dtype.All() {
			if !dt.IsInteger() || code == Pow && dt.Kind() != dtype.KindInt {
				continue
			}
			bad := kernel.Int64Scalar(0).Cast(dt)
			one := kernel.Int64Scalar(1).Cast(dt)
			in := []*kernel.Operand{scalarVector(dt, []kernel.Scalar{one, one, one}), scalarVector(dt, []kernel.Scalar{one, one, bad})}
			if code == Pow { // 0 to the power of -1
				minus := kernel.Int64Scalar(-1).Cast(dt)
				in = []*kernel.Operand{scalarVector(dt, []kernel.Scalar{one, one, bad}), scalarVector(dt, []kernel.Scalar{one, one, minus})}
			}
			prog := []Instr{{Code: code, Args: [3]Arg{InputArg(0), InputArg(1)}}}
			k, err := newKernel(prog, []dtype.Type{dt, dt})
			if err != nil {
				t.Fatal(err)
			}
			err = kerneltest.Run(rand.New(rand.NewPCG(1, 1)), k, in, []*kernel.Operand{kerneltest.Dense(dt, 3)})
			if want := fmt.Sprintf("%v: integer division by zero", code); !errors.Is(err, ErrDivideByZero) || err.Error() != want {
				t.Errorf("%v of %v by 0: error %v, want %q", code, dt, err, want)
			}
		}
	}
}

// TestCastsStrided converts between all widths where both sides are copied
// through working memory.
func TestCastsStrided(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, from := range dtype.All() {
		for _, to := range dtype.All() {
			prog := []Instr{{Code: Cast, To: to, Args: [3]Arg{InputArg(0)}}}
			k, err := newKernel(prog, []dtype.Type{from})
			if err != nil {
				t.Fatal(err)
			}
			for _, dims := range [][]int{{30, 7}, {3, 2000}} {
				x, y := kerneltest.Dense(from, dims[1], dims[0]), kerneltest.Dense(to, dims[1], dims[0])
				for _, o := range []*kernel.Operand{x, y} { // transposed
					o.Shape, o.Strides = dims, []int{1, dims[0]}
				}
				randomElements(rng, x)
				if err := kerneltest.All(rng, k, []*kernel.Operand{x}, []*kernel.Operand{y}); err != nil {
					t.Fatal(err)
				}
				in, out := scalarsOf(x), scalarsOf(y)
				for i, got := range out {
					if want := in[i].Cast(to); !withinUlps(got, want, 0) {
						t.Fatalf("element %d of %v: %v cast to %v is %v, want %v", i, dims, in[i], to, got, want)
					}
				}
			}
		}
	}
}

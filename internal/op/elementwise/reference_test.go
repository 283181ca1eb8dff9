package elementwise

import (
	"fmt"
	"math"
	"math/big"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
)

// codeTolerance is how many units in the last place the code may be off.
func codeTolerance(code Code) int64 {
	switch code {
	case Softsign, HardSigmoid, Shrink, Rsqrt, LeakyRelu:
		return 1
	case Mish:
		return 4
	case Fmod:
		return 0
	case Sigmoid, Swish, GeluTanh, Softplus:
		return 3
	case Gelu:
		return 6
	}
	if code.Costly() || code == HardSwish {
		return 2
	}
	return 0
}

// withinUlps reports whether a and b are at most ulps representable numbers apart.
// NaNs are alike.
func withinUlps(a, b kernel.Scalar, ulps int64) bool {
	if a == b {
		return true
	}
	if a.DType != b.DType || !a.DType.Wide().IsFloat() {
		return false
	}
	if math.IsNaN(a.Float64()) || math.IsNaN(b.Float64()) {
		return math.IsNaN(a.Float64()) && math.IsNaN(b.Float64())
	}
	d := ulpOrder(a) - ulpOrder(b)
	return d <= ulps && d >= -ulps
}

// ulpOrder numbers the values of a floating-point type in ascending order.
func ulpOrder(s kernel.Scalar) int64 {
	bits := 8 * s.DType.Size()
	mag := int64(s.Bits &^ (1 << (bits - 1)))
	if s.Bits>>(bits-1) != 0 {
		return -mag
	}
	return mag
}

// reference computes an instruction on single elements.
func reference(ins Instr, a []kernel.Scalar) kernel.Scalar {
	code, attrs, t := ins.Code, ins.Attrs, a[0].DType
	if t != dtype.Float64 { // of the type that computes
		attrs = [2]float64{float64(float32(attrs[0])), float64(float32(attrs[1]))}
	}
	switch code {
	case Ident:
		return a[0]
	case Cast:
		return castReference(a[0], ins.To)
	case Pow:
		return powReference(a[0], a[1])
	case Where:
		if a[0].Bits != 0 {
			return a[1]
		}
		return a[2]
	case Not:
		return kernel.BoolScalar(a[0].Bits == 0)
	case And:
		return kernel.BoolScalar(a[0].Bits+a[1].Bits == 2)
	case Or:
		return kernel.BoolScalar(a[0].Bits+a[1].Bits > 0)
	case Xor:
		return kernel.BoolScalar(a[0].Bits+a[1].Bits == 1)
	}
	if v, ok := wideReference(code, a); ok {
		return v
	}
	if t.IsLowPrecision() {
		a = []kernel.Scalar{lowValue(a[0]), lowValue(a[1])}
		t = a[0].DType
	}
	if t.IsFloat() {
		x, y, z := a[0].Float64(), 0.0, 0.0
		if len(a) > 1 {
			y = a[1].Float64()
		}
		if len(a) > 2 {
			z = a[2].Float64()
		}
		if truth, ok := floatTest(code, attrs, x, y); ok {
			return kernel.BoolScalar(truth)
		}
		return roundedTo(t, floatFormula(code, attrs, x, y, z))
	}
	x, y, z := scalarInt(a[0]), new(big.Int), new(big.Int)
	if len(a) > 1 {
		y = scalarInt(a[1])
	}
	if len(a) > 2 {
		z = scalarInt(a[2])
	}
	c := x.Cmp(y)
	switch code {
	case Equal:
		return kernel.BoolScalar(c == 0)
	case NotEqual:
		return kernel.BoolScalar(c != 0)
	case Less:
		return kernel.BoolScalar(c < 0)
	case LessEqual:
		return kernel.BoolScalar(c <= 0)
	case Greater:
		return kernel.BoolScalar(c > 0)
	case GreaterEqual:
		return kernel.BoolScalar(c >= 0)
	}
	return wrappedTo(t, integerFormula(code, t, x, y, z))
}

// wideReference computes functions of one float64, for which formulas in
// float64 will not do.
func wideReference(code Code, a []kernel.Scalar) (v kernel.Scalar, ok bool) {
	for _, w := range wideFunctions {
		if x := a[0].Float64(); w.code == code && a[0].DType == dtype.Float64 && w.from <= x && x <= w.to && x != 0 {
			return kernel.Float64Scalar(w.f(widen(x, wideBits)).float()), true
		}
	}
	return kernel.Scalar{}, false
}

func scalarInt(s kernel.Scalar) *big.Int {
	if s.DType.Kind() == dtype.KindInt {
		return big.NewInt(s.Int64())
	}
	return new(big.Int).SetUint64(s.Bits)
}

// wrappedTo takes the low bits of v.
func wrappedTo(t dtype.Type, v *big.Int) kernel.Scalar {
	m := new(big.Int).Lsh(big.NewInt(1), uint(8*t.Size()))
	return kernel.Scalar{DType: t, Bits: new(big.Int).Mod(v, m).Uint64()}
}

func integerFormula(code Code, t dtype.Type, x, y, z *big.Int) *big.Int {
	r, zero := new(big.Int), new(big.Int)
	lesser := func(a, b *big.Int) *big.Int {
		if a.Cmp(b) < 0 {
			return a
		}
		return b
	}
	greater := func(a, b *big.Int) *big.Int {
		if a.Cmp(b) < 0 {
			return b
		}
		return a
	}
	switch code {
	case Neg:
		return r.Neg(x)
	case Abs:
		return r.Abs(x)
	case Sign:
		return r.SetInt64(int64(x.Sign()))
	case Square:
		return r.Mul(x, x)
	case Relu:
		return greater(x, zero)
	case BitNot:
		return r.Not(x)
	case Add:
		return r.Add(x, y)
	case Sub:
		return r.Sub(x, y)
	case Mul:
		return r.Mul(x, y)
	case Div:
		return r.Quo(x, y)
	case Fmod:
		return r.Rem(x, y)
	case Mod, FloorDiv:
		q, m := new(big.Int).QuoRem(x, y, r)
		if m.Sign() != 0 && m.Sign() != y.Sign() {
			q.Sub(q, big.NewInt(1))
			m.Add(m, y)
		}
		if code == Mod {
			return m
		}
		return q
	case Minimum:
		return lesser(x, y)
	case Maximum:
		return greater(x, y)
	case BitAnd:
		return r.And(x, y)
	case BitOr:
		return r.Or(x, y)
	case BitXor:
		return r.Xor(x, y)
	case ShiftLeft, ShiftRight:
		n := uint(8 * t.Size())
		if y.Sign() >= 0 && y.Cmp(big.NewInt(int64(n))) < 0 {
			n = uint(y.Uint64())
		}
		if code == ShiftLeft {
			return r.Lsh(x, n)
		}
		return r.Rsh(x, n)
	case PRelu:
		if x.Sign() < 0 {
			return r.Mul(x, y)
		}
		return x
	case Clip:
		return lesser(greater(x, y), z)
	}
	panic(fmt.Sprintf("no reference for %v over integers", code))
}

func floatTest(code Code, attrs [2]float64, x, y float64) (truth, ok bool) {
	switch code {
	case IsNaN:
		return math.IsNaN(x), true
	case IsInf:
		return math.IsInf(x, -1) && attrs[0] != 0 || math.IsInf(x, 1) && attrs[1] != 0, true
	case Equal:
		return x == y, true
	case NotEqual:
		return x != y, true
	case Less:
		return x < y, true
	case LessEqual:
		return x <= y, true
	case Greater:
		return x > y, true
	case GreaterEqual:
		return x >= y, true
	}
	return false, false
}

func floatFormula(code Code, attrs [2]float64, x, y, z float64) float64 {
	alpha, beta := attrs[0], attrs[1]
	sigmoid := func(x float64) float64 {
		if x < 0 {
			return math.Exp(x) / (1 + math.Exp(x))
		}
		return 1 / (1 + math.Exp(-x))
	}
	choose := func(c bool, a, b float64) float64 {
		if c {
			return a
		}
		return b
	}
	switch code {
	case Neg:
		return -x
	case Abs:
		return math.Abs(x)
	case Sign:
		if x == 0 || math.IsNaN(x) {
			return x + 0
		}
		return math.Copysign(1, x)
	case Square:
		return x * x
	case Reciprocal:
		return 1 / x
	case Sqrt:
		return math.Sqrt(x)
	case Rsqrt:
		return 1 / math.Sqrt(x)
	case Floor:
		return math.Floor(x)
	case Ceil:
		return math.Ceil(x)
	case Round:
		return math.RoundToEven(x)
	case Trunc:
		return math.Trunc(x)
	case Exp:
		return math.Exp(x)
	case Expm1:
		return math.Expm1(x)
	case Log:
		return math.Log(x)
	case Log1p:
		return math.Log1p(x)
	case Log2:
		return math.Log2(x)
	case Sin:
		return math.Sin(x)
	case Cos:
		return math.Cos(x)
	case Tan:
		return math.Tan(x)
	case Asin:
		return math.Asin(x)
	case Acos:
		return math.Acos(x)
	case Atan:
		return math.Atan(x)
	case Sinh:
		return math.Sinh(x)
	case Cosh:
		return math.Cosh(x)
	case Tanh:
		return math.Tanh(x)
	case Asinh:
		return math.Asinh(x)
	case Acosh:
		return math.Acosh(x)
	case Atanh:
		return math.Atanh(x)
	case Erf:
		return math.Erf(x)
	case Sigmoid:
		return sigmoid(x)
	case Softplus:
		return choose(x > 0, x+math.Log1p(math.Exp(-x)), math.Log1p(math.Exp(x)))
	case Softsign:
		return x / (1 + math.Abs(x))
	case Relu:
		return choose(x <= 0, 0, x)
	case LeakyRelu:
		return choose(x < 0, alpha*x, x)
	case Elu:
		return choose(x < 0, alpha*math.Expm1(x), x)
	case Selu:
		return choose(x > 0, beta*x, beta*alpha*math.Expm1(x))
	case Celu:
		return choose(x < 0, alpha*math.Expm1(x/alpha), x)
	case ThresholdedRelu:
		return choose(x > alpha, x, 0)
	case Gelu:
		return x * math.Erfc(-x/math.Sqrt2) / 2
	case GeluTanh:
		u := math.Sqrt(2/math.Pi) * (x + 0.044715*x*x*x)
		return choose(u < 0, x*sigmoid(2*u), x*0.5*(1+math.Tanh(u)))
	case HardSigmoid:
		return max(0, min(1, alpha*x+beta))
	case HardSwish:
		return x * max(0, min(1, x/6+0.5))
	case Mish:
		return x * math.Tanh(math.Max(x, 0)+math.Log1p(math.Exp(-math.Abs(x))))
	case Swish:
		return x * sigmoid(alpha*x)
	case PowerOf2:
		p := math.Abs(x)
		if p == 0 || !(p <= math.MaxFloat64) {
			return p
		}
		for p = 0x1p-1074; 2*p <= math.Abs(x); p *= 2 {
		}
		return choose(math.Abs(x)-p < 2*p-math.Abs(x), p, 2*p)
	case Shrink:
		return choose(x < -alpha, x+beta, choose(x > alpha, x-beta, 0))
	case Add:
		return x + y
	case Sub:
		return x - y
	case Mul:
		return x * y
	case Div:
		return x / y
	case Minimum:
		return choose(math.IsNaN(x+y) && !math.IsInf(x-y, 0), math.NaN(), math.Min(x, y))
	case Maximum:
		return choose(math.IsNaN(x+y) && !math.IsInf(x-y, 0), math.NaN(), math.Max(x, y))
	case Fmod:
		return math.Mod(x, y)
	case Mod:
		r := math.Mod(x, y)
		if r == 0 {
			return math.Copysign(r, y)
		}
		return choose(math.Signbit(r) != math.Signbit(y), r+y, r)
	case FloorDiv:
		return floorQuotient(x, y)
	case Atan2:
		return math.Atan2(x, y)
	case PRelu:
		return choose(x < 0, x*y, x)
	case Clip:
		return min(max(x, y), z)
	}
	panic(fmt.Sprintf("no reference for %v over floating point", code))
}

// floorQuotient is floor(x/y) in rational arithmetic where that exists.
func floorQuotient(x, y float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsNaN(y) || math.IsInf(x, 0) || y == 0:
		return x / y
	case math.IsInf(y, 0):
		if x != 0 && math.Signbit(x) != math.Signbit(y) {
			return -1
		}
		return x / y
	}
	q := new(big.Rat).Quo(new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(y))
	// Div of big.Int is Euclidean: floor for the positive denominator.
	n := new(big.Int).Div(q.Num(), q.Denom())
	f, _ := new(big.Float).SetInt(n).Float64()
	if f == 0 {
		return math.Copysign(0, x/y)
	}
	return f
}

// roundedTo returns the element of t nearest to v, which was computed in
// float32 on the way if t is narrower.
func roundedTo(t dtype.Type, v float64) kernel.Scalar {
	switch t {
	case dtype.Float64:
		return kernel.Float64Scalar(v)
	case dtype.Float32:
		return kernel.Scalar{DType: dtype.Float32, Bits: uint64(math.Float32bits(float32(v)))}
	}
	return kernel.Scalar{DType: t, Bits: uint64(nearestHalf(t, float64(float32(v))))}
}

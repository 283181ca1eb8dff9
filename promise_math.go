package berth

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// Binary operations broadcast their operands by NumPy's rules and do not
// convert element types: both operands have the same one.

// ErrDivideByZero is wrapped by the error of a run that divides an integer by
// zero.
var ErrDivideByZero = elementwise.ErrDivideByZero

// each applies a code with its attributes to operands.
func each(code elementwise.Code, attrs []float64, in ...*Promise) *Promise {
	return build(func(in []graph.Value) (graph.Value, error) { return elementwise.Apply(code, attrs, in...) }, in...)
}

func (p *Promise) unary(code elementwise.Code, attrs ...float64) *Promise {
	return each(code, attrs, p)
}

func (p *Promise) binary(code elementwise.Code, q *Promise) *Promise { return each(code, nil, p, q) }

// scalar applies a code to p and c, or to c and p.
func (p *Promise) scalar(code elementwise.Code, c float64, first bool) *Promise {
	return build(func(in []graph.Value) (graph.Value, error) {
		return elementwise.WithScalar(code, in[0], kernel.Float64Scalar(c), first)
	}, p)
}

// Add returns p + q.
func (p *Promise) Add(q *Promise) *Promise { return p.binary(elementwise.Add, q) }

// Sub returns p - q.
func (p *Promise) Sub(q *Promise) *Promise { return p.binary(elementwise.Sub, q) }

// Mul returns p * q.
func (p *Promise) Mul(q *Promise) *Promise { return p.binary(elementwise.Mul, q) }

// Div returns p / q. Integers are divided towards zero; a zero divisor among them is an error of Materialize.
func (p *Promise) Div(q *Promise) *Promise { return p.binary(elementwise.Div, q) }

// Pow returns p to the power of q: 1 for q = 0 and for p = 1, whatever the other.
func (p *Promise) Pow(q *Promise) *Promise { return p.binary(elementwise.Pow, q) }

// Mod returns the remainder of p / q with the sign of q.
func (p *Promise) Mod(q *Promise) *Promise { return p.binary(elementwise.Mod, q) }

// Minimum returns the smaller of p and q, NaN if either is.
func (p *Promise) Minimum(q *Promise) *Promise { return p.binary(elementwise.Minimum, q) }

// Maximum returns the larger of p and q, NaN if either is.
func (p *Promise) Maximum(q *Promise) *Promise { return p.binary(elementwise.Maximum, q) }

// Atan2 returns the angle of the point (q, p), in (-pi, pi].
func (p *Promise) Atan2(q *Promise) *Promise { return p.binary(elementwise.Atan2, q) }

// Equal returns p == q, a bool.
func (p *Promise) Equal(q *Promise) *Promise { return p.binary(elementwise.Equal, q) }

// NotEqual returns p != q, a bool.
func (p *Promise) NotEqual(q *Promise) *Promise { return p.binary(elementwise.NotEqual, q) }

// Less returns p < q, a bool.
func (p *Promise) Less(q *Promise) *Promise { return p.binary(elementwise.Less, q) }

// LessEqual returns p <= q, a bool.
func (p *Promise) LessEqual(q *Promise) *Promise { return p.binary(elementwise.LessEqual, q) }

// Greater returns p > q, a bool.
func (p *Promise) Greater(q *Promise) *Promise { return p.binary(elementwise.Greater, q) }

// GreaterEqual returns p >= q, a bool.
func (p *Promise) GreaterEqual(q *Promise) *Promise { return p.binary(elementwise.GreaterEqual, q) }

// And returns p and q, of bools.
func (p *Promise) And(q *Promise) *Promise { return p.binary(elementwise.And, q) }

// Or returns p or q, of bools.
func (p *Promise) Or(q *Promise) *Promise { return p.binary(elementwise.Or, q) }

// Xor returns p exclusive or q, of bools.
func (p *Promise) Xor(q *Promise) *Promise { return p.binary(elementwise.Xor, q) }

// BitAnd returns the bits set in both integers.
func (p *Promise) BitAnd(q *Promise) *Promise { return p.binary(elementwise.BitAnd, q) }

// BitOr returns the bits set in either integer.
func (p *Promise) BitOr(q *Promise) *Promise { return p.binary(elementwise.BitOr, q) }

// BitXor returns the bits set in one of the integers.
func (p *Promise) BitXor(q *Promise) *Promise { return p.binary(elementwise.BitXor, q) }

// Scalars take the element type of the promise; where that holds integers, a
// scalar with a fraction or out of range is an error. Chains of operations
// with scalars run as one step: (x+1)*2 does.

// AddScalar returns p + c.
func (p *Promise) AddScalar(c float64) *Promise { return p.scalar(elementwise.Add, c, false) }

// SubScalar returns p - c.
func (p *Promise) SubScalar(c float64) *Promise { return p.scalar(elementwise.Sub, c, false) }

// ScalarSub returns c - p.
func (p *Promise) ScalarSub(c float64) *Promise { return p.scalar(elementwise.Sub, c, true) }

// MulScalar returns p * c.
func (p *Promise) MulScalar(c float64) *Promise { return p.scalar(elementwise.Mul, c, false) }

// DivScalar returns p / c.
func (p *Promise) DivScalar(c float64) *Promise { return p.scalar(elementwise.Div, c, false) }

// ScalarDiv returns c / p.
func (p *Promise) ScalarDiv(c float64) *Promise { return p.scalar(elementwise.Div, c, true) }

// PowScalar returns p to the power of c.
func (p *Promise) PowScalar(c float64) *Promise { return p.scalar(elementwise.Pow, c, false) }

// MinimumScalar returns the smaller of p and c.
func (p *Promise) MinimumScalar(c float64) *Promise { return p.scalar(elementwise.Minimum, c, false) }

// MaximumScalar returns the larger of p and c.
func (p *Promise) MaximumScalar(c float64) *Promise { return p.scalar(elementwise.Maximum, c, false) }

// EqualScalar returns p == c, a bool.
func (p *Promise) EqualScalar(c float64) *Promise { return p.scalar(elementwise.Equal, c, false) }

// LessScalar returns p < c, a bool.
func (p *Promise) LessScalar(c float64) *Promise { return p.scalar(elementwise.Less, c, false) }

// GreaterScalar returns p > c, a bool.
func (p *Promise) GreaterScalar(c float64) *Promise { return p.scalar(elementwise.Greater, c, false) }

// Neg returns -p.
func (p *Promise) Neg() *Promise { return p.unary(elementwise.Neg) }

// Abs returns the absolute value.
func (p *Promise) Abs() *Promise { return p.unary(elementwise.Abs) }

// Sign returns -1, 0 or 1; NaN of NaN.
func (p *Promise) Sign() *Promise { return p.unary(elementwise.Sign) }

// Exp returns e to the power of p.
func (p *Promise) Exp() *Promise { return p.unary(elementwise.Exp) }

// Log returns the natural logarithm.
func (p *Promise) Log() *Promise { return p.unary(elementwise.Log) }

// Log1p returns the natural logarithm of 1 + p, accurate near 0.
func (p *Promise) Log1p() *Promise { return p.unary(elementwise.Log1p) }

// Expm1 returns e to the power of p, less 1, accurate near 0.
func (p *Promise) Expm1() *Promise { return p.unary(elementwise.Expm1) }

// Sqrt returns the square root.
func (p *Promise) Sqrt() *Promise { return p.unary(elementwise.Sqrt) }

// Square returns p * p.
func (p *Promise) Square() *Promise { return p.unary(elementwise.Square) }

// Reciprocal returns 1 / p.
func (p *Promise) Reciprocal() *Promise { return p.unary(elementwise.Reciprocal) }

// Sin returns the sine of radians.
func (p *Promise) Sin() *Promise { return p.unary(elementwise.Sin) }

// Cos returns the cosine of radians.
func (p *Promise) Cos() *Promise { return p.unary(elementwise.Cos) }

// Tan returns the tangent of radians.
func (p *Promise) Tan() *Promise { return p.unary(elementwise.Tan) }

// Asin returns the inverse sine.
func (p *Promise) Asin() *Promise { return p.unary(elementwise.Asin) }

// Acos returns the inverse cosine.
func (p *Promise) Acos() *Promise { return p.unary(elementwise.Acos) }

// Atan returns the inverse tangent.
func (p *Promise) Atan() *Promise { return p.unary(elementwise.Atan) }

// Sinh returns the hyperbolic sine.
func (p *Promise) Sinh() *Promise { return p.unary(elementwise.Sinh) }

// Cosh returns the hyperbolic cosine.
func (p *Promise) Cosh() *Promise { return p.unary(elementwise.Cosh) }

// Tanh returns the hyperbolic tangent.
func (p *Promise) Tanh() *Promise { return p.unary(elementwise.Tanh) }

// Asinh returns the inverse hyperbolic sine.
func (p *Promise) Asinh() *Promise { return p.unary(elementwise.Asinh) }

// Acosh returns the inverse hyperbolic cosine.
func (p *Promise) Acosh() *Promise { return p.unary(elementwise.Acosh) }

// Atanh returns the inverse hyperbolic tangent.
func (p *Promise) Atanh() *Promise { return p.unary(elementwise.Atanh) }

// Floor returns the largest integer not above p.
func (p *Promise) Floor() *Promise { return p.unary(elementwise.Floor) }

// Ceil returns the smallest integer not below p.
func (p *Promise) Ceil() *Promise { return p.unary(elementwise.Ceil) }

// Round returns the nearest integer, halves to the even one.
func (p *Promise) Round() *Promise { return p.unary(elementwise.Round) }

// Trunc returns p without its fraction.
func (p *Promise) Trunc() *Promise { return p.unary(elementwise.Trunc) }

// Erf returns the error function.
func (p *Promise) Erf() *Promise { return p.unary(elementwise.Erf) }

// IsNaN returns whether p is NaN, a bool.
func (p *Promise) IsNaN() *Promise { return p.unary(elementwise.IsNaN) }

// Not returns the opposite of a bool.
func (p *Promise) Not() *Promise { return p.unary(elementwise.Not) }

// BitNot returns every bit of an integer turned over.
func (p *Promise) BitNot() *Promise { return p.unary(elementwise.BitNot) }

// Relu returns max(p, 0); NaN of NaN.
func (p *Promise) Relu() *Promise { return p.unary(elementwise.Relu) }

// Sigmoid returns 1 / (1 + exp(-p)).
func (p *Promise) Sigmoid() *Promise { return p.unary(elementwise.Sigmoid) }

// Softplus returns log(1 + exp(p)).
func (p *Promise) Softplus() *Promise { return p.unary(elementwise.Softplus) }

// Softsign returns p / (1 + |p|).
func (p *Promise) Softsign() *Promise { return p.unary(elementwise.Softsign) }

// Gelu returns p times the normal distribution function of p.
func (p *Promise) Gelu() *Promise { return p.unary(elementwise.Gelu) }

// GeluTanh returns Gelu by its approximation with tanh.
func (p *Promise) GeluTanh() *Promise { return p.unary(elementwise.GeluTanh) }

// HardSwish returns p * max(0, min(1, p/6 + 1/2)).
func (p *Promise) HardSwish() *Promise { return p.unary(elementwise.HardSwish) }

// Mish returns p * tanh(log(1 + exp(p))).
func (p *Promise) Mish() *Promise { return p.unary(elementwise.Mish) }

// IsInf returns whether p is an infinity of either sign, a bool.
func (p *Promise) IsInf() *Promise { return p.unary(elementwise.IsInf) }

// LeakyRelu returns alpha * p where p is negative, and p elsewhere.
func (p *Promise) LeakyRelu(alpha float64) *Promise { return p.unary(elementwise.LeakyRelu, alpha) }

// Elu returns alpha * (exp(p) - 1) where p is negative, and p elsewhere.
func (p *Promise) Elu(alpha float64) *Promise { return p.unary(elementwise.Elu, alpha) }

// Selu returns the scaled exponential unit with its usual constants.
func (p *Promise) Selu() *Promise { return p.unary(elementwise.Selu) }

// Swish returns p / (1 + exp(-p)), also known as SiLU.
func (p *Promise) Swish() *Promise { return p.unary(elementwise.Swish) }

// HardSigmoid returns max(0, min(1, alpha*p + beta)).
func (p *Promise) HardSigmoid(alpha, beta float64) *Promise {
	return p.unary(elementwise.HardSigmoid, alpha, beta)
}

// Clip returns p with what is below low or above high replaced by these.
func (p *Promise) Clip(low, high float64) *Promise {
	return build(func(in []graph.Value) (graph.Value, error) {
		return elementwise.ApplyOperands(elementwise.Clip, nil, elementwise.Operand{Value: in[0]},
			elementwise.Operand{Scalar: kernel.Float64Scalar(low)}, elementwise.Operand{Scalar: kernel.Float64Scalar(high)})
	}, p)
}

// Where returns the elements of a where the bool p is true, those of b
// elsewhere.
func (p *Promise) Where(a, b *Promise) *Promise { return each(elementwise.Where, nil, p, a, b) }

// Cast returns p converted to another element type. Floating-point numbers
// lose their fraction on the way to integers, integers that do not fit keep
// their low bits, and every number but 0 is true.
func (p *Promise) Cast(t DType) *Promise {
	return build(func(in []graph.Value) (graph.Value, error) { return elementwise.CastTo(in[0], t) }, p)
}

package elementwise

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
)

// A Code is one elementwise instruction. The zero value is none.
type Code uint8

// The instructions. Each equals the formula that [Code.Formula] returns,
// taken element by element.
const (
	_ Code = iota

	Ident
	Cast
	Neg
	Abs
	Sign
	Square
	Reciprocal
	Sqrt
	Rsqrt
	Floor
	Ceil
	Round
	Trunc
	Exp
	Expm1
	Log
	Log1p
	Log2
	Sin
	Cos
	Tan
	Asin
	Acos
	Atan
	Sinh
	Cosh
	Tanh
	Asinh
	Acosh
	Atanh
	Erf
	Sigmoid
	Softplus
	Softsign
	Relu
	LeakyRelu
	Elu
	Selu
	Celu
	ThresholdedRelu
	Gelu
	GeluTanh
	HardSigmoid
	HardSwish
	Mish
	Swish
	Shrink
	IsNaN
	IsInf
	Not
	BitNot

	Add
	Sub
	Mul
	Div
	Pow
	Minimum
	Maximum
	Mod
	Fmod
	FloorDiv
	Atan2
	Equal
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	And
	Or
	Xor
	BitAnd
	BitOr
	BitXor
	ShiftLeft
	ShiftRight
	PRelu

	Where
	Clip

	numCodes
)

// A kindSet holds one bit for each [dtype.Kind].
type kindSet uint8

const (
	boolKind    kindSet = 1 << dtype.KindBool
	integerKind kindSet = 1<<dtype.KindInt | 1<<dtype.KindUint
	floatKind   kindSet = 1 << dtype.KindFloat
	numberKind          = integerKind | floatKind
	anyKind             = numberKind | boolKind
)

func (s kindSet) has(t dtype.Type) bool { return t.Valid() && s>>t.Kind()&1 != 0 }

func (s kindSet) String() string {
	switch s {
	case boolKind:
		return "bool"
	case integerKind:
		return "an integer type"
	case floatKind:
		return "a floating-point type"
	case numberKind:
		return "a numeric type"
	}
	return "an element type"
}

// A typeRule says how the element type of a result follows from those of the
// operands.
type typeRule uint8

const (
	typeSame  typeRule = iota // operands alike, the result like them
	typeTest                  // operands alike, the result bool
	typeCast                  // one operand, the result as the instruction says
	typePow                   // operands may differ, the result like the first
	typeWhere                 // bool, then two alike, the result like those
)

type row struct {
	name    string
	formula string
	arity   uint8
	rule    typeRule
	kinds   kindSet   // of the operands; of the last one for typeWhere
	costly  bool      // not worth computing twice
	exact   bool      // a float16 or bfloat16 result needs no rounding
	attrs   []float64 // default values; nil where the code has none
}

var table = [numCodes]row{
	Ident:      {name: "ident", formula: "x", arity: 1, kinds: anyKind, exact: true},
	Cast:       {name: "cast", formula: "T(x)", arity: 1, rule: typeCast, kinds: anyKind},
	Neg:        {name: "neg", formula: "-x", arity: 1, kinds: numberKind, exact: true},
	Abs:        {name: "abs", formula: "|x|", arity: 1, kinds: numberKind, exact: true},
	Sign:       {name: "sign", formula: "-1, 0 or 1 as x < 0, x = 0, x > 0; NaN for NaN", arity: 1, kinds: numberKind, exact: true},
	Square:     {name: "square", formula: "x * x", arity: 1, kinds: numberKind},
	Reciprocal: {name: "reciprocal", formula: "1 / x", arity: 1, kinds: floatKind},
	Sqrt:       {name: "sqrt", formula: "√x", arity: 1, kinds: floatKind},
	Rsqrt:      {name: "rsqrt", formula: "1 / √x", arity: 1, kinds: floatKind},
	Floor:      {name: "floor", formula: "the greatest integer <= x", arity: 1, kinds: floatKind, exact: true},
	Ceil:       {name: "ceil", formula: "the least integer >= x", arity: 1, kinds: floatKind, exact: true},
	Round:      {name: "round", formula: "the nearest integer, halves to even", arity: 1, kinds: floatKind, exact: true},
	Trunc:      {name: "trunc", formula: "x without its fraction", arity: 1, kinds: floatKind, exact: true},

	Exp:   {name: "exp", formula: "eˣ", arity: 1, kinds: floatKind, costly: true},
	Expm1: {name: "expm1", formula: "eˣ - 1, accurate near 0", arity: 1, kinds: floatKind, costly: true},
	Log:   {name: "log", formula: "ln x", arity: 1, kinds: floatKind, costly: true},
	Log1p: {name: "log1p", formula: "ln(1 + x), accurate near 0", arity: 1, kinds: floatKind, costly: true},
	Log2:  {name: "log2", formula: "log₂ x", arity: 1, kinds: floatKind, costly: true},
	Sin:   {name: "sin", formula: "sin x", arity: 1, kinds: floatKind, costly: true},
	Cos:   {name: "cos", formula: "cos x", arity: 1, kinds: floatKind, costly: true},
	Tan:   {name: "tan", formula: "tan x", arity: 1, kinds: floatKind, costly: true},
	Asin:  {name: "asin", formula: "arcsin x", arity: 1, kinds: floatKind, costly: true},
	Acos:  {name: "acos", formula: "arccos x", arity: 1, kinds: floatKind, costly: true},
	Atan:  {name: "atan", formula: "arctan x", arity: 1, kinds: floatKind, costly: true},
	Sinh:  {name: "sinh", formula: "sinh x", arity: 1, kinds: floatKind, costly: true},
	Cosh:  {name: "cosh", formula: "cosh x", arity: 1, kinds: floatKind, costly: true},
	Tanh:  {name: "tanh", formula: "tanh x", arity: 1, kinds: floatKind, costly: true},
	Asinh: {name: "asinh", formula: "arsinh x", arity: 1, kinds: floatKind, costly: true},
	Acosh: {name: "acosh", formula: "arcosh x", arity: 1, kinds: floatKind, costly: true},
	Atanh: {name: "atanh", formula: "artanh x", arity: 1, kinds: floatKind, costly: true},
	Erf:   {name: "erf", formula: "2/√π ∫₀ˣ exp(-t²) dt", arity: 1, kinds: floatKind, costly: true},

	Sigmoid:         {name: "sigmoid", formula: "1 / (1 + exp(-x))", arity: 1, kinds: floatKind, costly: true},
	Softplus:        {name: "softplus", formula: "ln(1 + eˣ)", arity: 1, kinds: floatKind, costly: true},
	Softsign:        {name: "softsign", formula: "x / (1 + |x|)", arity: 1, kinds: floatKind},
	Relu:            {name: "relu", formula: "max(x, 0); NaN for NaN", arity: 1, kinds: numberKind, exact: true},
	LeakyRelu:       {name: "leaky_relu", formula: "x for x >= 0, else alpha*x; [alpha]", arity: 1, kinds: floatKind, attrs: []float64{0.01}},
	Elu:             {name: "elu", formula: "x for x >= 0, else alpha*(eˣ-1); [alpha]", arity: 1, kinds: floatKind, costly: true, attrs: []float64{1}},
	Selu:            {name: "selu", formula: "gamma*x for x > 0, else gamma*alpha*(eˣ-1); [alpha, gamma]", arity: 1, kinds: floatKind, costly: true, attrs: []float64{1.67326319217681884765625, 1.05070102214813232421875}},
	Celu:            {name: "celu", formula: "x for x >= 0, else alpha*(exp(x/alpha)-1); [alpha]", arity: 1, kinds: floatKind, costly: true, attrs: []float64{1}},
	ThresholdedRelu: {name: "thresholded_relu", formula: "x for x > alpha, else 0; [alpha]", arity: 1, kinds: floatKind, exact: true, attrs: []float64{1}},
	Gelu:            {name: "gelu", formula: "x/2 * (1 + erf(x/√2))", arity: 1, kinds: floatKind, costly: true},
	GeluTanh:        {name: "gelu_tanh", formula: "x/2 * (1 + tanh(√(2/π) * (x + 0.044715*x³)))", arity: 1, kinds: floatKind, costly: true},
	HardSigmoid:     {name: "hard_sigmoid", formula: "max(0, min(1, alpha*x + beta)); [alpha, beta]", arity: 1, kinds: floatKind, attrs: []float64{0.2, 0.5}},
	HardSwish:       {name: "hard_swish", formula: "x * max(0, min(1, x/6 + 1/2))", arity: 1, kinds: floatKind},
	Mish:            {name: "mish", formula: "x * tanh(ln(1 + eˣ))", arity: 1, kinds: floatKind, costly: true},
	Swish:           {name: "swish", formula: "x / (1 + exp(-alpha*x)); [alpha]", arity: 1, kinds: floatKind, costly: true, attrs: []float64{1}},
	Shrink:          {name: "shrink", formula: "x + bias for x < -lambda, x - bias for x > lambda, else 0; [lambda, bias]", arity: 1, kinds: floatKind, attrs: []float64{0.5, 0}},

	IsNaN:  {name: "is_nan", formula: "x is NaN", arity: 1, rule: typeTest, kinds: floatKind},
	IsInf:  {name: "is_inf", formula: "x is an infinity of a sign asked for; [negative, positive]", arity: 1, rule: typeTest, kinds: floatKind, attrs: []float64{1, 1}},
	Not:    {name: "not", formula: "!x", arity: 1, kinds: boolKind},
	BitNot: {name: "bit_not", formula: "^x", arity: 1, kinds: integerKind},

	Add:      {name: "add", formula: "a + b", arity: 2, kinds: numberKind},
	Sub:      {name: "sub", formula: "a - b", arity: 2, kinds: numberKind},
	Mul:      {name: "mul", formula: "a * b", arity: 2, kinds: numberKind},
	Div:      {name: "div", formula: "a / b; integers round to zero", arity: 2, kinds: numberKind},
	Pow:      {name: "pow", formula: "aᵇ", arity: 2, rule: typePow, kinds: numberKind, costly: true},
	Minimum:  {name: "minimum", formula: "the lesser of a and b; NaN if either is", arity: 2, kinds: numberKind, exact: true},
	Maximum:  {name: "maximum", formula: "the greater of a and b; NaN if either is", arity: 2, kinds: numberKind, exact: true},
	Mod:      {name: "mod", formula: "a - b*floor(a/b), the sign that of b", arity: 2, kinds: numberKind, costly: true},
	Fmod:     {name: "fmod", formula: "a - b*trunc(a/b), the sign that of a", arity: 2, kinds: numberKind, costly: true},
	FloorDiv: {name: "floor_div", formula: "floor(a/b)", arity: 2, kinds: numberKind, costly: true},
	Atan2:    {name: "atan2", formula: "the angle of the point (b, a)", arity: 2, kinds: floatKind, costly: true},

	Equal:        {name: "eq", formula: "a == b", arity: 2, rule: typeTest, kinds: anyKind},
	NotEqual:     {name: "ne", formula: "a != b", arity: 2, rule: typeTest, kinds: anyKind},
	Less:         {name: "lt", formula: "a < b", arity: 2, rule: typeTest, kinds: numberKind},
	LessEqual:    {name: "le", formula: "a <= b", arity: 2, rule: typeTest, kinds: numberKind},
	Greater:      {name: "gt", formula: "a > b", arity: 2, rule: typeTest, kinds: numberKind},
	GreaterEqual: {name: "ge", formula: "a >= b", arity: 2, rule: typeTest, kinds: numberKind},
	And:          {name: "and", formula: "a && b", arity: 2, kinds: boolKind},
	Or:           {name: "or", formula: "a || b", arity: 2, kinds: boolKind},
	Xor:          {name: "xor", formula: "a != b", arity: 2, kinds: boolKind},
	BitAnd:       {name: "bit_and", formula: "a & b", arity: 2, kinds: integerKind},
	BitOr:        {name: "bit_or", formula: "a | b", arity: 2, kinds: integerKind},
	BitXor:       {name: "bit_xor", formula: "a ^ b", arity: 2, kinds: integerKind},
	ShiftLeft:    {name: "shift_left", formula: "a << b; 0 for b outside [0, width)", arity: 2, kinds: integerKind},
	ShiftRight:   {name: "shift_right", formula: "a >> b; the sign alone for b outside [0, width)", arity: 2, kinds: integerKind},
	PRelu:        {name: "prelu", formula: "a for a >= 0, else b*a", arity: 2, kinds: numberKind},

	Where: {name: "where", formula: "b if a, else c", arity: 3, rule: typeWhere, kinds: anyKind, exact: true},
	Clip:  {name: "clip", formula: "min(max(a, b), c)", arity: 3, kinds: numberKind, exact: true},
}

// Codes returns every code, in ascending order.
func Codes() []Code {
	all := make([]Code, 0, numCodes-1)
	for c := Code(1); c < numCodes; c++ {
		all = append(all, c)
	}
	return all
}

// ParseCode returns the code that [Code.String] spells as name.
func ParseCode(name string) (Code, error) {
	for c := Code(1); c < numCodes; c++ {
		if table[c].name == name {
			return c, nil
		}
	}
	return 0, fmt.Errorf("unknown elementwise code %q", name)
}

// Valid reports whether c is one of the codes above.
func (c Code) Valid() bool { return c > 0 && c < numCodes }

// String returns the name of c in text forms, such as "leaky_relu".
func (c Code) String() string {
	if !c.Valid() {
		return fmt.Sprintf("code(%d)", uint8(c))
	}
	return table[c].name
}

// Formula returns what c computes of its operands x, or a, b and c, followed
// by the names of its attributes in brackets.
func (c Code) Formula() string { return table[c].formula }

// Arity returns the number of operands of c, 1 to 3.
func (c Code) Arity() int { return int(table[c].arity) }

// Attrs returns the default values of the attributes of c, which must not be
// changed; nil when it has none.
func (c Code) Attrs() []float64 { return table[c].attrs }

// Costly reports whether c takes several times as long as an addition, so
// that it is better to store its result than to compute it twice.
func (c Code) Costly() bool { return table[c].costly }

// Result returns the element type that c yields for operands of the given
// types, which are as many as its arity. To is the target of a cast.
func (c Code) Result(to dtype.Type, args ...dtype.Type) (dtype.Type, error) {
	info := table[c]
	first := 0
	if info.rule == typeWhere {
		if args[0] != dtype.Bool {
			return dtype.Invalid, fmt.Errorf("the condition is %v, not bool", args[0])
		}
		first = 1
	}
	for i, t := range args[first:] {
		if !info.kinds.has(t) {
			return dtype.Invalid, fmt.Errorf("operand %d is %v, not %v", first+i, t, info.kinds)
		}
		if t != args[first] && info.rule != typePow {
			return dtype.Invalid, fmt.Errorf("operands are %v and %v", args[first], t)
		}
	}
	switch info.rule {
	case typeTest:
		return dtype.Bool, nil
	case typeCast:
		if !to.Valid() {
			return dtype.Invalid, fmt.Errorf("%v is not an element type to cast to", to)
		}
		return to, nil
	}
	return args[first], nil
}

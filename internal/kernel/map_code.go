package kernel

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
)

// A MapCode is one elementwise instruction. The zero value is none.
type MapCode uint8

// The instructions. Each equals the formula that [MapCode.Formula] returns,
// taken element by element.
const (
	_ MapCode = iota

	MapIdent
	MapCast
	MapNeg
	MapAbs
	MapSign
	MapSquare
	MapReciprocal
	MapSqrt
	MapRsqrt
	MapFloor
	MapCeil
	MapRound
	MapTrunc
	MapExp
	MapExpm1
	MapLog
	MapLog1p
	MapLog2
	MapSin
	MapCos
	MapTan
	MapAsin
	MapAcos
	MapAtan
	MapSinh
	MapCosh
	MapTanh
	MapAsinh
	MapAcosh
	MapAtanh
	MapErf
	MapSigmoid
	MapSoftplus
	MapSoftsign
	MapRelu
	MapLeakyRelu
	MapElu
	MapSelu
	MapCelu
	MapThresholdedRelu
	MapGelu
	MapGeluTanh
	MapHardSigmoid
	MapHardSwish
	MapMish
	MapSwish
	MapShrink
	MapIsNaN
	MapIsInf
	MapNot
	MapBitNot

	MapAdd
	MapSub
	MapMul
	MapDiv
	MapPow
	MapMinimum
	MapMaximum
	MapMod
	MapFmod
	MapFloorDiv
	MapAtan2
	MapEqual
	MapNotEqual
	MapLess
	MapLessEqual
	MapGreater
	MapGreaterEqual
	MapAnd
	MapOr
	MapXor
	MapBitAnd
	MapBitOr
	MapBitXor
	MapShiftLeft
	MapShiftRight
	MapPRelu

	MapWhere
	MapClip

	numMapCodes
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

type mapInfo struct {
	name    string
	formula string
	arity   uint8
	rule    typeRule
	kinds   kindSet   // of the operands; of the last one for typeWhere
	costly  bool      // not worth computing twice
	exact   bool      // a float16 or bfloat16 result needs no rounding
	attrs   []float64 // default values; nil where the code has none
}

var mapInfos = [numMapCodes]mapInfo{
	MapIdent:      {name: "ident", formula: "x", arity: 1, kinds: anyKind, exact: true},
	MapCast:       {name: "cast", formula: "T(x)", arity: 1, rule: typeCast, kinds: anyKind},
	MapNeg:        {name: "neg", formula: "-x", arity: 1, kinds: numberKind, exact: true},
	MapAbs:        {name: "abs", formula: "|x|", arity: 1, kinds: numberKind, exact: true},
	MapSign:       {name: "sign", formula: "-1, 0 or 1 as x < 0, x = 0, x > 0; NaN for NaN", arity: 1, kinds: numberKind, exact: true},
	MapSquare:     {name: "square", formula: "x * x", arity: 1, kinds: numberKind},
	MapReciprocal: {name: "reciprocal", formula: "1 / x", arity: 1, kinds: floatKind},
	MapSqrt:       {name: "sqrt", formula: "√x", arity: 1, kinds: floatKind},
	MapRsqrt:      {name: "rsqrt", formula: "1 / √x", arity: 1, kinds: floatKind},
	MapFloor:      {name: "floor", formula: "the greatest integer <= x", arity: 1, kinds: floatKind, exact: true},
	MapCeil:       {name: "ceil", formula: "the least integer >= x", arity: 1, kinds: floatKind, exact: true},
	MapRound:      {name: "round", formula: "the nearest integer, halves to even", arity: 1, kinds: floatKind, exact: true},
	MapTrunc:      {name: "trunc", formula: "x without its fraction", arity: 1, kinds: floatKind, exact: true},

	MapExp:   {name: "exp", formula: "eˣ", arity: 1, kinds: floatKind, costly: true},
	MapExpm1: {name: "expm1", formula: "eˣ - 1, accurate near 0", arity: 1, kinds: floatKind, costly: true},
	MapLog:   {name: "log", formula: "ln x", arity: 1, kinds: floatKind, costly: true},
	MapLog1p: {name: "log1p", formula: "ln(1 + x), accurate near 0", arity: 1, kinds: floatKind, costly: true},
	MapLog2:  {name: "log2", formula: "log₂ x", arity: 1, kinds: floatKind, costly: true},
	MapSin:   {name: "sin", formula: "sin x", arity: 1, kinds: floatKind, costly: true},
	MapCos:   {name: "cos", formula: "cos x", arity: 1, kinds: floatKind, costly: true},
	MapTan:   {name: "tan", formula: "tan x", arity: 1, kinds: floatKind, costly: true},
	MapAsin:  {name: "asin", formula: "arcsin x", arity: 1, kinds: floatKind, costly: true},
	MapAcos:  {name: "acos", formula: "arccos x", arity: 1, kinds: floatKind, costly: true},
	MapAtan:  {name: "atan", formula: "arctan x", arity: 1, kinds: floatKind, costly: true},
	MapSinh:  {name: "sinh", formula: "sinh x", arity: 1, kinds: floatKind, costly: true},
	MapCosh:  {name: "cosh", formula: "cosh x", arity: 1, kinds: floatKind, costly: true},
	MapTanh:  {name: "tanh", formula: "tanh x", arity: 1, kinds: floatKind, costly: true},
	MapAsinh: {name: "asinh", formula: "arsinh x", arity: 1, kinds: floatKind, costly: true},
	MapAcosh: {name: "acosh", formula: "arcosh x", arity: 1, kinds: floatKind, costly: true},
	MapAtanh: {name: "atanh", formula: "artanh x", arity: 1, kinds: floatKind, costly: true},
	MapErf:   {name: "erf", formula: "2/√π ∫₀ˣ exp(-t²) dt", arity: 1, kinds: floatKind, costly: true},

	MapSigmoid:         {name: "sigmoid", formula: "1 / (1 + exp(-x))", arity: 1, kinds: floatKind, costly: true},
	MapSoftplus:        {name: "softplus", formula: "ln(1 + eˣ)", arity: 1, kinds: floatKind, costly: true},
	MapSoftsign:        {name: "softsign", formula: "x / (1 + |x|)", arity: 1, kinds: floatKind},
	MapRelu:            {name: "relu", formula: "max(x, 0); NaN for NaN", arity: 1, kinds: numberKind, exact: true},
	MapLeakyRelu:       {name: "leaky_relu", formula: "x for x >= 0, else alpha*x; [alpha]", arity: 1, kinds: floatKind, attrs: []float64{0.01}},
	MapElu:             {name: "elu", formula: "x for x >= 0, else alpha*(eˣ-1); [alpha]", arity: 1, kinds: floatKind, costly: true, attrs: []float64{1}},
	MapSelu:            {name: "selu", formula: "gamma*x for x > 0, else gamma*alpha*(eˣ-1); [alpha, gamma]", arity: 1, kinds: floatKind, costly: true, attrs: []float64{1.67326319217681884765625, 1.05070102214813232421875}},
	MapCelu:            {name: "celu", formula: "x for x >= 0, else alpha*(exp(x/alpha)-1); [alpha]", arity: 1, kinds: floatKind, costly: true, attrs: []float64{1}},
	MapThresholdedRelu: {name: "thresholded_relu", formula: "x for x > alpha, else 0; [alpha]", arity: 1, kinds: floatKind, exact: true, attrs: []float64{1}},
	MapGelu:            {name: "gelu", formula: "x/2 * (1 + erf(x/√2))", arity: 1, kinds: floatKind, costly: true},
	MapGeluTanh:        {name: "gelu_tanh", formula: "x/2 * (1 + tanh(√(2/π) * (x + 0.044715*x³)))", arity: 1, kinds: floatKind, costly: true},
	MapHardSigmoid:     {name: "hard_sigmoid", formula: "max(0, min(1, alpha*x + beta)); [alpha, beta]", arity: 1, kinds: floatKind, attrs: []float64{0.2, 0.5}},
	MapHardSwish:       {name: "hard_swish", formula: "x * max(0, min(1, x/6 + 1/2))", arity: 1, kinds: floatKind},
	MapMish:            {name: "mish", formula: "x * tanh(ln(1 + eˣ))", arity: 1, kinds: floatKind, costly: true},
	MapSwish:           {name: "swish", formula: "x / (1 + exp(-alpha*x)); [alpha]", arity: 1, kinds: floatKind, costly: true, attrs: []float64{1}},
	MapShrink:          {name: "shrink", formula: "x + bias for x < -lambda, x - bias for x > lambda, else 0; [lambda, bias]", arity: 1, kinds: floatKind, attrs: []float64{0.5, 0}},

	MapIsNaN:  {name: "is_nan", formula: "x is NaN", arity: 1, rule: typeTest, kinds: floatKind},
	MapIsInf:  {name: "is_inf", formula: "x is an infinity of a sign asked for; [negative, positive]", arity: 1, rule: typeTest, kinds: floatKind, attrs: []float64{1, 1}},
	MapNot:    {name: "not", formula: "!x", arity: 1, kinds: boolKind},
	MapBitNot: {name: "bit_not", formula: "^x", arity: 1, kinds: integerKind},

	MapAdd:      {name: "add", formula: "a + b", arity: 2, kinds: numberKind},
	MapSub:      {name: "sub", formula: "a - b", arity: 2, kinds: numberKind},
	MapMul:      {name: "mul", formula: "a * b", arity: 2, kinds: numberKind},
	MapDiv:      {name: "div", formula: "a / b; integers round to zero", arity: 2, kinds: numberKind},
	MapPow:      {name: "pow", formula: "aᵇ", arity: 2, rule: typePow, kinds: numberKind, costly: true},
	MapMinimum:  {name: "minimum", formula: "the lesser of a and b; NaN if either is", arity: 2, kinds: numberKind, exact: true},
	MapMaximum:  {name: "maximum", formula: "the greater of a and b; NaN if either is", arity: 2, kinds: numberKind, exact: true},
	MapMod:      {name: "mod", formula: "a - b*floor(a/b), the sign that of b", arity: 2, kinds: numberKind, costly: true},
	MapFmod:     {name: "fmod", formula: "a - b*trunc(a/b), the sign that of a", arity: 2, kinds: numberKind, costly: true},
	MapFloorDiv: {name: "floor_div", formula: "floor(a/b)", arity: 2, kinds: numberKind, costly: true},
	MapAtan2:    {name: "atan2", formula: "the angle of the point (b, a)", arity: 2, kinds: floatKind, costly: true},

	MapEqual:        {name: "eq", formula: "a == b", arity: 2, rule: typeTest, kinds: anyKind},
	MapNotEqual:     {name: "ne", formula: "a != b", arity: 2, rule: typeTest, kinds: anyKind},
	MapLess:         {name: "lt", formula: "a < b", arity: 2, rule: typeTest, kinds: numberKind},
	MapLessEqual:    {name: "le", formula: "a <= b", arity: 2, rule: typeTest, kinds: numberKind},
	MapGreater:      {name: "gt", formula: "a > b", arity: 2, rule: typeTest, kinds: numberKind},
	MapGreaterEqual: {name: "ge", formula: "a >= b", arity: 2, rule: typeTest, kinds: numberKind},
	MapAnd:          {name: "and", formula: "a && b", arity: 2, kinds: boolKind},
	MapOr:           {name: "or", formula: "a || b", arity: 2, kinds: boolKind},
	MapXor:          {name: "xor", formula: "a != b", arity: 2, kinds: boolKind},
	MapBitAnd:       {name: "bit_and", formula: "a & b", arity: 2, kinds: integerKind},
	MapBitOr:        {name: "bit_or", formula: "a | b", arity: 2, kinds: integerKind},
	MapBitXor:       {name: "bit_xor", formula: "a ^ b", arity: 2, kinds: integerKind},
	MapShiftLeft:    {name: "shift_left", formula: "a << b; 0 for b outside [0, width)", arity: 2, kinds: integerKind},
	MapShiftRight:   {name: "shift_right", formula: "a >> b; the sign alone for b outside [0, width)", arity: 2, kinds: integerKind},
	MapPRelu:        {name: "prelu", formula: "a for a >= 0, else b*a", arity: 2, kinds: numberKind},

	MapWhere: {name: "where", formula: "b if a, else c", arity: 3, rule: typeWhere, kinds: anyKind, exact: true},
	MapClip:  {name: "clip", formula: "min(max(a, b), c)", arity: 3, kinds: numberKind, exact: true},
}

// MapCodes returns every code, in ascending order.
func MapCodes() []MapCode {
	all := make([]MapCode, 0, numMapCodes-1)
	for c := MapCode(1); c < numMapCodes; c++ {
		all = append(all, c)
	}
	return all
}

// ParseMapCode returns the code that [MapCode.String] spells as name.
func ParseMapCode(name string) (MapCode, error) {
	for c := MapCode(1); c < numMapCodes; c++ {
		if mapInfos[c].name == name {
			return c, nil
		}
	}
	return 0, fmt.Errorf("unknown elementwise code %q", name)
}

// Valid reports whether c is one of the codes above.
func (c MapCode) Valid() bool { return c > 0 && c < numMapCodes }

// String returns the name of c in text forms, such as "leaky_relu".
func (c MapCode) String() string {
	if !c.Valid() {
		return fmt.Sprintf("code(%d)", uint8(c))
	}
	return mapInfos[c].name
}

// Formula returns what c computes of its operands x, or a, b and c, followed
// by the names of its attributes in brackets.
func (c MapCode) Formula() string { return mapInfos[c].formula }

// Arity returns the number of operands of c, 1 to 3.
func (c MapCode) Arity() int { return int(mapInfos[c].arity) }

// Attrs returns the default values of the attributes of c, which must not be
// changed; nil when it has none.
func (c MapCode) Attrs() []float64 { return mapInfos[c].attrs }

// Costly reports whether c takes several times as long as an addition, so
// that it is better to store its result than to compute it twice.
func (c MapCode) Costly() bool { return mapInfos[c].costly }

// Result returns the element type that c yields for operands of the given
// types, which are as many as its arity. To is the target of a cast.
func (c MapCode) Result(to dtype.Type, args ...dtype.Type) (dtype.Type, error) {
	info := mapInfos[c]
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

package elementwise

import (
	"math"
	"sync"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// A row is all that there is to know of a code.
//
// Its loops are for operands of type bool, of one integer type and of one
// floating-point type; those that the signature does not admit are empty. Half
// types are computed as float32.
type row struct {
	name    string
	formula string
	types   signature
	attrs   []float64 // default values; nil where the code has none
	costly  bool      // not worth computing twice
	closed  bool      // of halves gives halves, with nothing to round

	bool, integer, float loops
	// The form for float32, where that has one faster than float and package isa has
	// none. It is good to two units in the last place.
	fast loops
}

// rows returns the table, with the loops of the integer type I and the
// floating-point type F.
func rows[I kernel.Integer, F kernel.Float]() *[numCodes]row {
	return &[numCodes]row{
		// Lowered without a loop of their own.
		Ident: {name: "ident", formula: "x", types: same(1, anything), closed: true},
		Cast:  {name: "cast", formula: "T(x); true for NaN, an integer by its rule for what does not fit", types: signature{1, castType, anything}},

		Neg:        {name: "neg", formula: "-x", types: same(1, numbers), closed: true, integer: unary(neg[I]), float: unary(neg[F])},
		Abs:        {name: "abs", formula: "|x|", types: same(1, numbers), closed: true, integer: unary(absInteger[I]), float: unary(absFloat[F])},
		Sign:       {name: "sign", formula: "-1, 0 or 1 as x < 0, x = 0, x > 0", types: same(1, numbers), closed: true, integer: unary(sign[I]), float: unary(sign[F])},
		Square:     {name: "square", formula: "x * x", types: same(1, numbers), integer: unary(square[I]), float: unary(square[F])},
		Reciprocal: {name: "reciprocal", formula: "1 / x", types: same(1, floats), float: unary(reciprocal[F])},
		Sqrt:       {name: "sqrt", formula: "√x", types: same(1, floats), float: unary(sqrt[F])},
		Rsqrt:      {name: "rsqrt", formula: "1 / √x", types: same(1, floats), float: unary(rsqrt[F])},
		Floor:      {name: "floor", formula: "the greatest integer <= x", types: same(1, floats), closed: true, float: unary(floor[F])},
		Ceil:       {name: "ceil", formula: "the least integer >= x", types: same(1, floats), closed: true, float: unary(ceil[F])},
		Round:      {name: "round", formula: "the nearest integer, halves to even", types: same(1, floats), closed: true, float: unary(round[F])},
		Trunc:      {name: "trunc", formula: "x without its fraction", types: same(1, floats), closed: true, float: unary(trunc[F])},

		Exp:   {name: "exp", formula: "eˣ", types: same(1, floats), costly: true, float: each[F](exp)},
		Expm1: {name: "expm1", formula: "eˣ - 1, accurate near 0", types: same(1, floats), costly: true, float: each[F](math.Expm1)},
		Log:   {name: "log", formula: "ln x", types: same(1, floats), costly: true, float: each[F](log)},
		Log1p: {name: "log1p", formula: "ln(1 + x), accurate near 0", types: same(1, floats), costly: true, float: each[F](math.Log1p), fast: each[float32](fastLog1p)},
		Log2:  {name: "log2", formula: "log₂ x", types: same(1, floats), costly: true, float: each[F](log2), fast: each[float32](fastLog2)},
		Sin:   {name: "sin", formula: "sin x", types: same(1, floats), costly: true, float: each[F](sin), fast: each[float32](fastSin)},
		Cos:   {name: "cos", formula: "cos x", types: same(1, floats), costly: true, float: each[F](cos), fast: each[float32](fastCos)},
		Tan:   {name: "tan", formula: "tan x", types: same(1, floats), costly: true, float: each[F](tan), fast: each[float32](fastTan)},
		Asin:  {name: "asin", formula: "arcsin x", types: same(1, floats), costly: true, float: each[F](asin)},
		Acos:  {name: "acos", formula: "arccos x", types: same(1, floats), costly: true, float: each[F](acos)},
		Atan:  {name: "atan", formula: "arctan x", types: same(1, floats), costly: true, float: each[F](math.Atan)},
		Sinh:  {name: "sinh", formula: "sinh x", types: same(1, floats), costly: true, float: each[F](sinh), fast: chunks(sinhChunk)},
		Cosh:  {name: "cosh", formula: "cosh x", types: same(1, floats), costly: true, float: each[F](cosh), fast: chunks(coshChunk)},
		Tanh:  {name: "tanh", formula: "tanh x", types: same(1, floats), costly: true, float: each[F](math.Tanh)},
		Asinh: {name: "asinh", formula: "arsinh x", types: same(1, floats), costly: true, float: each[F](math.Asinh), fast: each[float32](fastAsinh)},
		Acosh: {name: "acosh", formula: "arcosh x", types: same(1, floats), costly: true, float: each[F](math.Acosh), fast: each[float32](fastAcosh)},
		Atanh: {name: "atanh", formula: "artanh x", types: same(1, floats), costly: true, float: each[F](math.Atanh), fast: each[float32](fastAtanh)},
		Erf:   {name: "erf", formula: "2/√π ∫₀ˣ exp(-t²) dt", types: same(1, floats), costly: true, float: each[F](math.Erf)},

		Sigmoid:         {name: "sigmoid", formula: "1 / (1 + exp(-x))", types: same(1, floats), costly: true, float: each[F](sigmoid)},
		Softplus:        {name: "softplus", formula: "ln(1 + eˣ)", types: same(1, floats), costly: true, float: each[F](softplus)},
		Softsign:        {name: "softsign", formula: "x / (1 + |x|)", types: same(1, floats), float: unary(softsign[F])},
		Relu:            {name: "relu", formula: "max(x, 0)", types: same(1, numbers), closed: true, integer: unary(relu[I]), float: unary(relu[F])},
		LeakyRelu:       {name: "leaky_relu", formula: "alpha*x for x < 0, else x; [alpha]", types: same(1, floats), attrs: []float64{0.01}, float: unaryWith(leakyRelu[F])},
		Elu:             {name: "elu", formula: "alpha*(eˣ-1) for x < 0, else x; [alpha]", types: same(1, floats), attrs: []float64{1}, costly: true, float: eachWith[F](elu)},
		Selu:            {name: "selu", formula: "gamma*alpha*(eˣ-1) for x <= 0, else gamma*x; [alpha, gamma]", types: same(1, floats), attrs: []float64{1.67326319217681884765625, 1.05070102214813232421875}, costly: true, float: eachWith[F](selu)},
		Celu:            {name: "celu", formula: "alpha*(exp(x/alpha)-1) for x < 0, else x; [alpha]", types: same(1, floats), attrs: []float64{1}, costly: true, float: eachWith[F](celu)},
		ThresholdedRelu: {name: "thresholded_relu", formula: "x for x > alpha, else 0, as for NaN; [alpha]", types: same(1, floats), attrs: []float64{1}, closed: true, float: unaryWith(thresholdedRelu[F])},
		Gelu:            {name: "gelu", formula: "x/2 * (1 + erf(x/√2))", types: same(1, floats), costly: true, float: each[F](gelu)},
		GeluTanh:        {name: "gelu_tanh", formula: "x/2 * (1 + tanh(√(2/π) * (x + 0.044715*x³)))", types: same(1, floats), costly: true, float: each[F](geluTanh)},
		HardSigmoid:     {name: "hard_sigmoid", formula: "max(0, min(1, alpha*x + beta)); [alpha, beta]", types: same(1, floats), attrs: []float64{0.2, 0.5}, float: unaryWith(hardSigmoid[F])},
		HardSwish:       {name: "hard_swish", formula: "x * max(0, min(1, x/6 + 1/2))", types: same(1, floats), float: unary(hardSwish[F])},
		Mish:            {name: "mish", formula: "x * tanh(ln(1 + eˣ))", types: same(1, floats), costly: true, float: each[F](mish)},
		Swish:           {name: "swish", formula: "x / (1 + exp(-alpha*x)); [alpha]", types: same(1, floats), attrs: []float64{1}, costly: true, float: eachWith[F](swish)},
		Shrink:          {name: "shrink", formula: "x + bias for x < -lambda, x - bias for x > lambda, else 0, as for NaN; [lambda, bias]", types: same(1, floats), attrs: []float64{0.5, 0}, float: unaryWith(shrink[F])},
		PowerOf2:        {name: "power_of_2", formula: "the power of 2 nearest to |x|, a tie upwards; for mode > 0 the least one from |x| on, for mode < 0 the greatest up to |x|; |x| for 0 and infinities; [mode]", types: same(1, floats), attrs: []float64{0}, float: eachWith[F](nearPowerOf2)},

		IsNaN:  {name: "is_nan", formula: "x is NaN", types: test(1, floats), float: unary(isNaN[F])},
		IsInf:  {name: "is_inf", formula: "x is an infinity of a sign asked for, which NaN is not; [negative, positive]", types: test(1, floats), attrs: []float64{1, 1}, float: unaryWith(isInf[F])},
		Not:    {name: "not", formula: "!x", types: same(1, bools), bool: unary(not)},
		BitNot: {name: "bit_not", formula: "^x", types: same(1, integers), integer: unary(bitNot[I])},

		Add:      {name: "add", formula: "a + b", types: same(2, numbers), integer: addLoops[I](), float: addLoops[F]()},
		Sub:      {name: "sub", formula: "a - b", types: same(2, numbers), integer: subLoops[I](), float: subLoops[F]()},
		Mul:      {name: "mul", formula: "a * b", types: same(2, numbers), integer: mulLoops[I](), float: mulLoops[F]()},
		Div:      {name: "div", formula: "a / b; integers round to zero", types: same(2, numbers), integer: binaryTry(divInteger[I]), float: divLoops[F]()},
		Pow:      {name: "pow", formula: "aᵇ; 1 for b = 0 and for a = 1, also beside NaN", types: signature{2, powType, numbers}, costly: true, integer: binaryTry(powInteger[I]), float: powLoops[F](), fast: fastPowLoops()},
		Minimum:  {name: "minimum", formula: "the lesser of a and b", types: same(2, numbers), closed: true, integer: minimumLoops[I](), float: minimumLoops[F]()},
		Maximum:  {name: "maximum", formula: "the greater of a and b", types: same(2, numbers), closed: true, integer: maximumLoops[I](), float: maximumLoops[F]()},
		Mod:      {name: "mod", formula: "a - b*floor(a/b), the sign that of b", types: same(2, numbers), costly: true, integer: binaryTry(modInteger[I]), float: each2[F](mod)},
		Fmod:     {name: "fmod", formula: "a - b*trunc(a/b), the sign that of a", types: same(2, numbers), costly: true, integer: binaryTry(fmodInteger[I]), float: each2[F](math.Mod)},
		FloorDiv: {name: "floor_div", formula: "floor(a/b)", types: same(2, numbers), costly: true, integer: binaryTry(floorDivInteger[I]), float: each2[F](floorDiv)},
		Atan2:    {name: "atan2", formula: "the angle of the point (b, a)", types: same(2, floats), costly: true, float: each2[F](atan2)},

		Equal:        {name: "eq", formula: "a == b, false beside NaN", types: test(2, anything), bool: equalLoops[uint8](), integer: equalLoops[I](), float: equalLoops[F]()},
		NotEqual:     {name: "ne", formula: "a != b, true beside NaN", types: test(2, anything), bool: notEqualLoops[uint8](), integer: notEqualLoops[I](), float: notEqualLoops[F]()},
		Less:         {name: "lt", formula: "a < b, false beside NaN", types: test(2, numbers), integer: lessLoops[I](), float: lessLoops[F]()},
		LessEqual:    {name: "le", formula: "a <= b, false beside NaN", types: test(2, numbers), integer: lessEqualLoops[I](), float: lessEqualLoops[F]()},
		Greater:      {name: "gt", formula: "a > b, false beside NaN", types: test(2, numbers), integer: reversed(lessLoops[I]()), float: reversed(lessLoops[F]())},
		GreaterEqual: {name: "ge", formula: "a >= b, false beside NaN", types: test(2, numbers), integer: reversed(lessEqualLoops[I]()), float: reversed(lessEqualLoops[F]())},
		And:          {name: "and", formula: "a && b", types: same(2, bools), bool: binary(bitAnd[uint8])},
		Or:           {name: "or", formula: "a || b", types: same(2, bools), bool: binary(bitOr[uint8])},
		Xor:          {name: "xor", formula: "a != b", types: same(2, bools), bool: binary(bitXor[uint8])},
		BitAnd:       {name: "bit_and", formula: "a & b", types: same(2, integers), integer: binary(bitAnd[I])},
		BitOr:        {name: "bit_or", formula: "a | b", types: same(2, integers), integer: binary(bitOr[I])},
		BitXor:       {name: "bit_xor", formula: "a ^ b", types: same(2, integers), integer: binary(bitXor[I])},
		ShiftLeft:    {name: "shift_left", formula: "a << b; 0 for b outside [0, width)", types: same(2, integers), integer: binary(shiftLeft[I])},
		ShiftRight:   {name: "shift_right", formula: "a >> b; the sign alone for b outside [0, width)", types: same(2, integers), integer: binary(shiftRight[I])},
		PRelu:        {name: "prelu", formula: "b*a for a < 0, else a, also beside NaN", types: same(2, numbers), integer: preluLoops[I](), float: preluLoops[F]()},

		Where: {name: "where", formula: "b if a, else c, which may be NaN", types: signature{3, chooseType, anything}, closed: true, bool: ternary(where[uint8]), integer: ternary(where[I]), float: ternary(where[F])},
		Clip:  {name: "clip", formula: "min(max(a, b), c)", types: same(3, numbers), closed: true, integer: clipLoops[I](), float: clipLoops[F]()},
	}
}

// table is the instance of rows for the widest types. What does not depend on
// the types is read off it.
var table = rows[int64, float64]()

// tables are the instances that have the loops of an element type, made when
// they are first asked for.
var tables = map[dtype.Type]func() *[numCodes]row{
	dtype.Uint8:   narrowest,
	dtype.Uint16:  sync.OnceValue(rows[uint16, float32]),
	dtype.Uint32:  sync.OnceValue(rows[uint32, float32]),
	dtype.Uint64:  sync.OnceValue(rows[uint64, float32]),
	dtype.Int8:    sync.OnceValue(rows[int8, float32]),
	dtype.Int16:   sync.OnceValue(rows[int16, float32]),
	dtype.Int32:   sync.OnceValue(rows[int32, float32]),
	dtype.Float32: narrowest,
}

var narrowest = sync.OnceValue(rows[uint8, float32])

// loopsOf returns the loops of a code whose last operand is of type t, which is
// no half type: where the active instruction set has one, that.
func loopsOf(code Code, t dtype.Type) loops {
	r := &table[code]
	if other := tables[t]; other != nil {
		r = &other()[code]
	}
	switch {
	case t == dtype.Bool:
		return r.bool
	case t.IsInteger():
		return compared(r.integer, r.name, t)
	}
	l := r.float
	if t == dtype.Float32 && r.fast[0] != nil {
		l = r.fast
	}
	for scalars := range l {
		if f := isa.Active().Maps[isa.MapKey{Function: r.name, Bits: 8 * t.Size(), Scalars: scalars}]; f != nil {
			l[scalars] = mapped(f)
		}
	}
	return compared(l, r.name, t)
}

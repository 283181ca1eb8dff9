package elementwise

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
)

// A Code is one elementwise function. The zero value is none.
type Code uint8

// The codes, in the order of the table, where each has its row. A code equals
// the formula that [Code.Formula] returns, taken element by element. An operand
// that is NaN makes the result NaN, unless the formula says otherwise.
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
	PowerOf2
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

// Codes returns every code, in ascending order.
func Codes() []Code {
	all := make([]Code, 0, numCodes-1)
	for c := Code(1); c < numCodes; c++ {
		all = append(all, c)
	}
	return all
}

// parseCode returns the code that [Code.String] spells as name.
func parseCode(name string) (Code, error) {
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
func (c Code) Arity() int { return int(table[c].types.arity) }

// Attrs returns the default values of the attributes of c, which must not be
// changed; nil when it has none.
func (c Code) Attrs() []float64 { return table[c].attrs }

// Costly reports whether c takes several times as long as an addition, so
// that it is better to store its result than to compute it twice.
func (c Code) Costly() bool { return table[c].costly }

// Result returns the element type that c yields for operands of the given
// types, which are as many as its arity. To is the target of a cast.
func (c Code) Result(to dtype.Type, args ...dtype.Type) (dtype.Type, error) {
	return table[c].types.result(to, args)
}

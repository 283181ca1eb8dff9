package circuit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// RowsName is the name by which expressions refer to the row count of a step.
const RowsName = "n"

// maxTerms bounds the length of an expression that a circuit may hold.
const maxTerms = 1 << 12

// An Expr is a size: a number made of constants, named dimensions and the row
// count n of a step, with + - * and ceil(a/b), floor(a/b), min(a, b), max(a, b).
// The zero value is the expression that is not given; see [Expr.IsZero].
//
// No expression shrinks as n or another dimension that varies grows: a divisor
// and the right side of a difference must not depend on one. So what is sized for
// the largest values is large enough for all others. All numbers on the way are
// in [0, 2^63): a difference below zero is an error, not a negative size.
//
// Expressions are immutable values.
type Expr struct {
	terms []term // in postfix order
}

// A term is an operand or an operation on the two operands before it.
type term struct {
	op    op
	value int64  // of opConst
	name  string // of opName
}

type op uint8

const (
	opConst op = iota
	opName
	opAdd
	opSub
	opMul
	opCeil
	opFloor
	opMin
	opMax
)

func (o op) isOperand() bool { return o <= opName }

// Binding strengths.
const (
	levelSum = iota
	levelProduct
	levelOperand
)

// operations says how each is written: its sign or name, how strongly it binds, and
// what stands between the operands of a function, which is an operand itself.
var operations = [...]struct {
	sign  string
	level int
	comma byte
}{
	opAdd:   {"+", levelSum, 0},
	opSub:   {"-", levelSum, 0},
	opMul:   {"*", levelProduct, 0},
	opCeil:  {"ceil", levelOperand, '/'},
	opFloor: {"floor", levelOperand, '/'},
	opMin:   {"min", levelOperand, ','},
	opMax:   {"max", levelOperand, ','},
}

// Const returns the expression of a number, which must not be negative; of a
// negative one every use is an error.
func Const(value int64) Expr { return Expr{[]term{{op: opConst, value: value}}} }

// Var returns the expression of a named dimension, or of the row count when the
// name is [RowsName].
func Var(name string) Expr { return Expr{[]term{{op: opName, name: name}}} }

// N returns the expression of the row count.
func N() Expr { return Var(RowsName) }

// Sum returns the sum of expressions. It is not given if one of them is not.
func Sum(first Expr, rest ...Expr) Expr { return chain(opAdd, first, rest) }

// Product returns the product of expressions. It is not given if one of them is
// not.
func Product(first Expr, rest ...Expr) Expr { return chain(opMul, first, rest) }

// CeilDiv returns a/b rounded up. The divisor must not depend on the row count, nor
// on another dimension that varies.
func CeilDiv(a, b Expr) Expr { return chain(opCeil, a, []Expr{b}) }

func chain(o op, first Expr, rest []Expr) Expr {
	if first.IsZero() {
		return Expr{}
	}
	terms := slices.Clone(first.terms)
	for _, e := range rest {
		if e.IsZero() {
			return Expr{}
		}
		terms = append(append(terms, e.terms...), term{op: o})
	}
	return Expr{terms}
}

// IsZero reports whether the expression is not given.
func (e Expr) IsZero() bool { return len(e.terms) == 0 }

// Equal reports whether two expressions are the same, term by term.
func (e Expr) Equal(other Expr) bool { return slices.Equal(e.terms, other.terms) }

// DependsOnRows reports whether the value may change with the row count.
func (e Expr) DependsOnRows() bool {
	return slices.ContainsFunc(e.terms, func(t term) bool { return t.op == opName && t.name == RowsName })
}

// Eval computes the value; lookup gives the values of the names, and nil gives
// none. The error wraps [ErrNoSize] when the expression is not given, otherwise
// [ErrDimension], [ErrNegative], [ErrZero] or [ErrOverflow].
func (e Expr) Eval(lookup func(name string) (value int64, ok bool)) (int64, error) {
	if e.IsZero() {
		return 0, fmt.Errorf("%w: the expression is not given", ErrNoSize)
	}
	var space [16]int64
	stack := space[:0]
	for _, t := range e.terms {
		v := t.value
		switch {
		case t.op == opName:
			known := false
			if lookup != nil {
				v, known = lookup(t.name)
			}
			if !known {
				return 0, fmt.Errorf("%w: %q in %s", ErrDimension, t.name, e)
			}
		case !t.op.isOperand():
			a, b := stack[len(stack)-2], stack[len(stack)-1]
			stack = stack[:len(stack)-2]
			var kind Kind
			if v, kind = t.op.apply(a, b); kind != "" {
				return 0, fmt.Errorf("%w: %d and %d in %s", kind, a, b, e)
			}
		}
		if v < 0 {
			return 0, fmt.Errorf("%w: %d in %s", ErrNegative, v, e)
		}
		stack = append(stack, v)
	}
	return stack[0], nil
}

// apply computes an operation on numbers that are not negative. The kind is
// empty unless that is impossible.
func (o op) apply(a, b int64) (int64, Kind) {
	switch o {
	case opAdd:
		if a > math.MaxInt64-b {
			return 0, ErrOverflow
		}
		return a + b, ""
	case opSub:
		if a < b {
			return 0, ErrNegative
		}
		return a - b, ""
	case opMul:
		if b != 0 && a > math.MaxInt64/b {
			return 0, ErrOverflow
		}
		return a * b, ""
	case opCeil, opFloor:
		if b == 0 {
			return 0, ErrZero
		}
		q := a / b
		if o == opCeil && a%b != 0 {
			q++
		}
		return q, ""
	case opMin:
		return min(a, b), ""
	}
	return max(a, b), ""
}

// check says what keeps e from being a size: it is too long, holds a negative
// number or a name that is no identifier, or may shrink as one of the names that
// vary grows.
func (e Expr) check(varies map[string]bool) error {
	if len(e.terms) > maxTerms {
		return fmt.Errorf("%w: %d terms are more than %d", ErrExpr, len(e.terms), maxTerms)
	}
	var stack []string // of each operand, a varying name that it depends on
	for _, t := range e.terms {
		switch {
		case t.op == opConst && t.value < 0:
			return fmt.Errorf("%w: %d in %s", ErrNegative, t.value, e)
		case t.op == opName && !isIdentifier(t.name):
			return fmt.Errorf("%w: %q is not a name", ErrExpr, t.name)
		case t.op.isOperand():
			name := ""
			if t.op == opName && varies[t.name] {
				name = t.name
			}
			stack = append(stack, name)
			continue
		}
		a, b := stack[len(stack)-2], stack[len(stack)-1]
		if b != "" && (t.op == opSub || t.op == opCeil || t.op == opFloor) {
			return fmt.Errorf("%w: %s may shrink as %s grows", ErrExpr, e, b)
		}
		stack = append(stack[:len(stack)-2], cmp.Or(a, b))
	}
	return nil
}

// String returns the text that [ParseExpr] reads, without spaces: "n*top_k",
// "ceil(n/4)*4". An expression that is not given is "".
func (e Expr) String() string {
	type piece struct {
		text  string
		level int
	}
	var stack []piece
	for _, t := range e.terms {
		switch t.op {
		case opConst:
			stack = append(stack, piece{strconv.FormatInt(t.value, 10), levelOperand})
			continue
		case opName:
			stack = append(stack, piece{t.name, levelOperand})
			continue
		}
		a, b := stack[len(stack)-2], stack[len(stack)-1]
		stack = stack[:len(stack)-2]
		o := operations[t.op]
		if o.level == levelOperand {
			stack = append(stack, piece{o.sign + "(" + a.text + string(o.comma) + b.text + ")", o.level})
			continue
		}
		// Operations group to the left, so the right side of an equal level
		// keeps its parentheses.
		if a.level < o.level {
			a.text = "(" + a.text + ")"
		}
		if b.level <= o.level {
			b.text = "(" + b.text + ")"
		}
		stack = append(stack, piece{a.text + o.sign + b.text, o.level})
	}
	if len(stack) == 0 {
		return ""
	}
	return stack[0].text
}

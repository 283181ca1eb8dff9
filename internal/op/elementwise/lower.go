package elementwise

import (
	"errors"
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
)

// ErrDivideByZero is what the error of a run wraps when an integer was divided
// by 0.
var ErrDivideByZero = errors.New("integer division by zero")

// A value is what one loop of a lowered program hands to another, an input,
// or a constant. The types are those that loops compute in: a half type, or one of
// low precision, is stored in inputs and the output, and is wide in between.
type value struct {
	kind  valueKind
	width int // bytes of an element
	index int // of the input; of the constant's first byte
	last  int // the last loop that reads it
}

type valueKind uint8

const (
	valueTemp valueKind = iota
	valueInput
	valueConst
	valueOutput
)

// A call is one loop of a lowered program with the values it reads and
// writes, by their index.
type call struct {
	loops loops
	attrs [2]float64
	args  [3]int
	n     int // operands
	dst   int
	err   error // when the loop reports false

	function string     // of float32, as package isa names it; "" where join is not to know
	half     dtype.Type // to which the results are rounded last
}

// A lowered program is a list of calls that need no more decisions about
// types.
type lowered struct {
	values  []value
	calls   []call
	consts  []byte
	in      []dtype.Type
	types   []dtype.Type // of the results
	results []int        // values, of wide types
	wide    []int        // wide forms of inputs of other types, or -1
}

func (l *lowered) value(v value) int {
	l.values = append(l.values, v)
	return len(l.values) - 1
}

// emit appends a call whose result has elements of the given width.
func (l *lowered) emit(loops loops, width int, args ...int) int {
	o := call{loops: loops, n: len(args), dst: l.value(value{width: width})}
	copy(o.args[:], args)
	for _, a := range args {
		l.values[a].last = len(l.calls)
	}
	l.calls = append(l.calls, o)
	return o.dst
}

// arg returns the value of an operand and its type.
func (l *lowered) arg(a Arg) (int, dtype.Type) {
	switch a.Kind {
	case ArgResult:
		return l.results[a.Index], l.types[a.Index]
	case ArgScalar:
		return l.constant(a.Scalar.Cast(a.Scalar.DType.Wide())), a.Scalar.DType
	}
	t := l.in[a.Index]
	if t == t.Wide() {
		return a.Index, t
	}
	if l.wide[a.Index] < 0 {
		l.wide[a.Index] = l.emit(castLoops(t, t.Wide(), kernel.Widening(t)), t.Wide().Size(), a.Index)
	}
	return l.wide[a.Index], t
}

func (l *lowered) constant(s kernel.Scalar) int {
	at := len(l.consts)
	l.consts = append(l.consts, make([]byte, 8)...) // all are aligned for any type
	s.Put(l.consts[at:])
	return l.value(value{kind: valueConst, width: s.DType.Size(), index: at})
}

// instr appends the calls of instruction i. The result of the last one is not
// rounded to a type that is not wide, as storing it does that.
func (l *lowered) instr(i int, ins Instr, last bool) {
	var v [3]int
	var t [3]dtype.Type
	arity := ins.Code.Arity()
	for j := range arity {
		v[j], t[j] = l.arg(ins.Args[j])
	}
	args, first := v[:arity], len(l.calls)
	var r int
	switch ins.Code {
	case Ident:
		r = v[0]
	case Cast:
		r = l.cast(v[0], t[0], ins.To)
	case Pow:
		r = l.power(args, t[0].Wide(), t[1].Wide())
	default:
		r = l.emit(loopsOf(ins.Code, t[arity-1].Wide()), l.types[i].Wide().Size(), args...)
		if row := table[ins.Code]; len(row.attrs) == 0 && t[arity-1].Wide() == dtype.Float32 {
			l.calls[len(l.calls)-1].function = row.name
		}
	}
	for j := first; j < len(l.calls); j++ {
		l.calls[j].attrs = ins.Attrs
		l.calls[j].err = fmt.Errorf("%v: %w", ins.Code, ErrDivideByZero)
	}
	if to := l.types[i]; to != to.Wide() && !table[ins.Code].closed && !last {
		r = l.emit(roundLoops(to), to.Wide().Size(), r)
		if to.IsHalf() {
			c := &l.calls[len(l.calls)-1]
			c.function, c.half = roundName(to), to
		}
	}
	l.results = append(l.results, r)
}

// cast converts a value between types, but for the rounding to a type that is not
// wide.
func (l *lowered) cast(v int, from, to dtype.Type) int {
	f := kernel.Casting(from, to)
	if f == nil {
		return v
	}
	if to != to.Wide() {
		return l.emit(converting(f), to.Wide().Size(), v) // rounds in a way of its own
	}
	return l.emit(castLoops(from.Wide(), to, f), to.Size(), v)
}

// power raises elements of the type base to powers of the type exponent. The
// loops take the exponents of floating point as float64, and those of integers
// as int64; integers are raised to fractions as float64.
func (l *lowered) power(args []int, base, exponent dtype.Type) int {
	x, n := args[0], args[1]
	switch {
	case base.IsFloat():
		return l.emit(loopsOf(Pow, base), base.Size(), x, l.cast(n, exponent, dtype.Float64))
	case exponent.IsFloat():
		y := l.emit(loopsOf(Pow, dtype.Float64), 8, l.cast(x, base, dtype.Float64), l.cast(n, exponent, dtype.Float64))
		return l.cast(y, dtype.Float64, base)
	case exponent == dtype.Uint64:
		n = l.emit(unary(wrapExponent), 8, n)
	default:
		n = l.cast(n, exponent, dtype.Int64)
	}
	return l.emit(loopsOf(Pow, base), base.Size(), x, n)
}

// lower lowers prog for inputs of the given types. Values 0 to len(in)-1 are
// the inputs; the last call writes the output.
func lower(prog []Instr, in []dtype.Type) (*lowered, error) {
	types, err := check(prog, in)
	if err != nil {
		return nil, err
	}
	l := &lowered{in: in, types: types}
	for i, t := range in {
		l.value(value{kind: valueInput, width: t.Size(), index: i})
		l.wide = append(l.wide, -1)
	}
	for i, ins := range prog {
		l.instr(i, ins, i == len(prog)-1)
	}
	r, out := l.results[len(prog)-1], types[len(prog)-1]
	switch {
	case out != out.Wide():
		r = l.emit(castLoops(out.Wide(), out, kernel.Narrowing(out)), out.Size(), r)
	case l.values[r].kind != valueTemp || l.calls[len(l.calls)-1].dst != r:
		r = l.emit(loops{copyLoop}, out.Size(), r)
	}
	l.values[r].kind = valueOutput
	l.join()
	return l, nil
}

package elementwise

import (
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
)

// An Operand is an operand of an elementwise code: a value, or a scalar where the
// value is zero.
type Operand struct {
	Value  graph.Value
	Scalar kernel.Scalar
}

// Apply returns code applied to values, which are as many as its arity
// and broadcast against each other. Attrs are the attributes of the code in
// the order of its formula, or none for their default values.
//
// Arithmetic does not convert element types: operands of one code agree, but
// for the exponent of [Pow] and the condition of [Where].
func Apply(code Code, attrs []float64, in ...graph.Value) (graph.Value, error) {
	args := make([]Operand, len(in))
	for i, v := range in {
		args[i].Value = v
	}
	return ApplyOperands(code, attrs, args...)
}

// WithScalar returns a binary code applied to x and the scalar s, or to s and
// x. The scalar is converted to the element type of x; it is an error when x
// holds integers and that type does not have the value of s. As the exponent
// of [Pow] a scalar keeps its own type.
func WithScalar(code Code, x graph.Value, s kernel.Scalar, scalarFirst bool) (graph.Value, error) {
	if x.IsZero() {
		return graph.Value{}, fmt.Errorf("%v: the operand beside the scalar %v is absent", code, s)
	}
	if scalarFirst {
		return ApplyOperands(code, nil, Operand{Scalar: s}, Operand{Value: x})
	}
	return ApplyOperands(code, nil, Operand{Value: x}, Operand{Scalar: s})
}

// CastTo returns x converted to the element type t, or x itself when it has
// that type. Conversions that lose are defined by what float-to-integer and
// narrowing conversions do on the common processors: integers keep their low
// bits, floating point loses its fraction, and what is too large becomes the
// least int32 or int64, or the low bits of that for the other types.
func CastTo(x graph.Value, t dtype.Type) (graph.Value, error) {
	if x.IsZero() {
		return graph.Value{}, fmt.Errorf("cast to %v: the operand is absent", t)
	}
	if x.Type().DType == t {
		return x, nil
	}
	if !t.Valid() {
		return graph.Value{}, fmt.Errorf("cast of %v: %v is not an element type", x.Type(), t)
	}
	return build(Instr{Code: Cast, To: t}, []Operand{{Value: x}})
}

// ApplyOperands is [Apply] with scalars among the operands, converted
// as [WithScalar] says to the type of the values beside them. At least one
// operand is a value.
func ApplyOperands(code Code, attrs []float64, args ...Operand) (graph.Value, error) {
	switch {
	case !code.Valid():
		return graph.Value{}, fmt.Errorf("%v is not an elementwise code", code)
	case len(args) != code.Arity():
		return graph.Value{}, fmt.Errorf("%v: takes %d operands, got %d", code, code.Arity(), len(args))
	case code == Cast:
		return graph.Value{}, fmt.Errorf("cast: has no target type; CastTo gives it one")
	}
	ins := Instr{Code: code}
	if len(attrs) == 0 {
		attrs = code.Attrs()
	}
	if len(attrs) != len(code.Attrs()) {
		return graph.Value{}, fmt.Errorf("%v: takes %d attributes, got %d", code, len(code.Attrs()), len(attrs))
	}
	copy(ins.Attrs[:], attrs)
	args = slices.Clone(args)
	if err := convertScalars(code, args); err != nil {
		return graph.Value{}, fmt.Errorf("%v: %w", code, err)
	}
	return build(ins, args)
}

// convertScalars gives the scalars among args the element type of the values.
func convertScalars(code Code, args []Operand) error {
	like := dtype.Invalid
	for i, a := range args {
		if !a.Value.IsZero() && !(code == Where && i == 0) {
			like = a.Value.Type().DType
			break
		}
	}
	for i := range args {
		a := &args[i]
		switch {
		case !a.Value.IsZero():
		case !a.Scalar.DType.Valid():
			return fmt.Errorf("operand %d is absent", i)
		case code == Where && i == 0 || like == dtype.Invalid:
		case code == Pow && i == 1:
			a.Scalar = integralExponent(a.Scalar, like)
		default:
			s, err := a.Scalar.Convert(like)
			if err != nil {
				return fmt.Errorf("operand %d: %w", i, err)
			}
			a.Scalar = s
		}
	}
	return nil
}

// integralExponent returns the exponent s as an integer if it is one and the
// base holds integers, so that the power is exact.
func integralExponent(s kernel.Scalar, base dtype.Type) kernel.Scalar {
	if f := s.Float64(); base.IsInteger() && s.DType.IsFloat() && f == math.Trunc(f) {
		if n, err := s.Convert(dtype.Int64); err == nil {
			return n
		}
	}
	return s
}

// build returns a Map of the one instruction ins over args.
func build(ins Instr, args []Operand) (graph.Value, error) {
	var inputs []graph.Value
	var types []graph.Type
	var elems []dtype.Type
	for i, a := range args {
		if a.Value.IsZero() {
			ins.Args[i] = ScalarArg(a.Scalar)
			elems = append(elems, a.Scalar.DType)
			types = append(types, graph.Type{DType: a.Scalar.DType})
			continue
		}
		at := slices.Index(inputs, a.Value)
		if at < 0 {
			at = len(inputs)
			inputs = append(inputs, a.Value)
		}
		ins.Args[i] = InputArg(at)
		elems = append(elems, a.Value.Type().DType)
		types = append(types, a.Value.Type())
	}
	if len(inputs) == 0 {
		return graph.Value{}, fmt.Errorf("%v: all operands are scalars", ins.Code)
	}
	// Checked here so that the error speaks of the code, not of a program.
	if _, err := ins.Code.Result(ins.To, elems...); err != nil {
		return graph.Value{}, fmt.Errorf("%v(%s): %w", ins.Code, typeList(types), err)
	}
	if _, err := broadcast(types); err != nil {
		return graph.Value{}, fmt.Errorf("%v: %w", ins.Code, err)
	}
	n, err := graph.New(Map{Program{ins}}, inputs...)
	if err != nil {
		return graph.Value{}, err
	}
	return n.Output(0), nil
}

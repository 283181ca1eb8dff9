package elementwise

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
)

// The limits of a program that [check] accepts. They bound the working
// memory of a worker.
const (
	MaxInputs = 8
	MaxInstrs = 64
)

// An ArgKind says where an instruction takes an operand from.
type ArgKind uint8

// The kinds of operands of an instruction; the zero ArgKind is none.
const (
	ArgNone   ArgKind = iota
	ArgInput          // an input of the program
	ArgResult         // the result of an earlier instruction
	ArgScalar         // a constant element
)

// An Arg is an operand of an instruction.
type Arg struct {
	Kind   ArgKind
	Index  int           // of the input or of the instruction
	Scalar kernel.Scalar // of an ArgScalar
}

// InputArg returns the operand that is input i of the program.
func InputArg(i int) Arg { return Arg{Kind: ArgInput, Index: i} }

// ResultArg returns the operand that is the result of instruction i.
func ResultArg(i int) Arg { return Arg{Kind: ArgResult, Index: i} }

// ScalarArg returns the operand that is s.
func ScalarArg(s kernel.Scalar) Arg { return Arg{Kind: ArgScalar, Scalar: s} }

// An Instr is one instruction of a straight-line program: a code, its
// attributes, and as many operands as the code has.
type Instr struct {
	Code  Code
	To    dtype.Type // of a cast
	Attrs [2]float64 // those that the code does not have are 0
	Args  [3]Arg
}

// A Program is the straight-line program of a [Map]. Its text form lists the
// instructions as in
//
//	t0=add(x0,x1);t1=leaky_relu[0.01](t0);t2=mul(t1,2:float32);t3=cast[int32](t2)
//
// with x0, x1, ... the inputs, t0, t1, ... the results, and attributes in
// brackets. It reads back to the same program, to the last bit.
type Program []Instr

// Append returns p with the instructions of q after its own. What q reads as its
// input i is input(i): an input of the whole, a result of p, or a scalar. As with
// append, the result may share its memory with p.
func (p Program) Append(q Program, input func(i int) Arg) Program {
	first := len(p)
	for _, ins := range q {
		for j, a := range ins.Args[:ins.Code.Arity()] {
			switch a.Kind {
			case ArgInput:
				ins.Args[j] = input(a.Index)
			case ArgResult:
				ins.Args[j] = ResultArg(first + a.Index)
			}
		}
		p = append(p, ins)
	}
	return p
}

// After returns the program that runs first and then p on its result. Input 0 of
// p is that result; the others follow the inputs of first, of which there are n.
// Either may be empty.
func (p Program) After(first Program, n int) Program {
	if len(first) == 0 {
		return p
	}
	return slices.Clip(first).Append(p, func(i int) Arg {
		if i == 0 {
			return ResultArg(len(first) - 1)
		}
		return InputArg(n - 1 + i)
	})
}

// check returns the element type of the result of each instruction of
// prog, for inputs of the given types; the last is the type of the output. An
// error names the instruction that is wrong, an input that is not read, or a
// result that is lost.
func check(prog []Instr, in []dtype.Type) ([]dtype.Type, error) {
	switch {
	case len(prog) == 0:
		return nil, fmt.Errorf("the program is empty")
	case len(prog) > MaxInstrs:
		return nil, fmt.Errorf("the program has %d instructions, more than %d", len(prog), MaxInstrs)
	case len(in) > MaxInputs:
		return nil, fmt.Errorf("the program has %d inputs, more than %d", len(in), MaxInputs)
	}
	types := make([]dtype.Type, len(prog))
	var inputUsed [MaxInputs]bool
	var resultUsed [MaxInstrs]bool
	for i, ins := range prog {
		if !ins.Code.Valid() {
			return nil, fmt.Errorf("t%d: %v is not an elementwise code", i, ins.Code)
		}
		var args [3]dtype.Type
		for j, a := range ins.Args[:ins.Code.Arity()] {
			switch {
			case a.Kind == ArgInput && a.Index >= 0 && a.Index < len(in):
				args[j] = in[a.Index]
				inputUsed[a.Index] = true
			case a.Kind == ArgResult && a.Index >= 0 && a.Index < i:
				args[j] = types[a.Index]
				resultUsed[a.Index] = true
			case a.Kind == ArgScalar && a.Scalar.DType.Valid():
				args[j] = a.Scalar.DType
			case a.Kind == ArgInput:
				return nil, fmt.Errorf("t%d: %v reads input %d of %d", i, ins.Code, a.Index, len(in))
			case a.Kind == ArgResult:
				return nil, fmt.Errorf("t%d: %v reads the result t%d, which is not there yet", i, ins.Code, a.Index)
			default:
				return nil, fmt.Errorf("t%d: %v lacks operand %d", i, ins.Code, j)
			}
		}
		t, err := ins.Code.Result(ins.To, args[:ins.Code.Arity()]...)
		if err != nil {
			return nil, fmt.Errorf("t%d: %v: %w", i, ins.Code, err)
		}
		types[i] = t
	}
	for i := range in {
		if !inputUsed[i] {
			return nil, fmt.Errorf("input %d is not read", i)
		}
	}
	for i := range prog[:len(prog)-1] {
		if !resultUsed[i] {
			return nil, fmt.Errorf("the result t%d is lost", i)
		}
	}
	return types, nil
}

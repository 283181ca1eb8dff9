package recurrent

import (
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// A phase is a part of a step: a product, which makes some of the gates, and then
// formulas, one after the other on each row.
type phase struct {
	// left times the weights of gates [from, to), transposed, are these gates. x is
	// added to those before added.
	left            source
	from, to, added int
	updates         []update
}

// A source is where H elements of a row lie.
type source struct {
	in    place
	block int // which H elements of the place
}

// A place is what holds elements of each row, or of a layer.
type place uint8

const (
	gateBlocks  place = iota // the gates of this step, by number
	xBlocks                  // what x adds to them
	hiddenState              // after the step before, then after this one
	cellState                // likewise
	resetState               // the hidden state, as far as it is not reset
	paramBlocks              // parameters of the layer
)

// The sources of one block alone.
var (
	hidden = source{in: hiddenState}
	cell   = source{in: cellState}
	reset  = source{in: resetState}
)

func gate(i int) source  { return source{gateBlocks, i} }
func xGate(i int) source { return source{xBlocks, i} }
func param(i int) source { return source{paramBlocks, i} }

// An update sets a source to what a program makes of others. It may be one of
// these.
type update struct {
	to      source
	program elementwise.Program
	from    []source // the inputs of the program
}

// formulas make updates for elements of one type.
type formulas struct {
	dtype  dtype.Type
	clip   float64
	params bool // the layer has parameters
}

// A formula is an update being written.
type formula struct {
	*formulas
	update
}

// of begins a formula.
func (fs *formulas) of(to source) *formula { return &formula{fs, update{to: to}} }

// read returns s as an operand.
func (f *formula) read(s source) elementwise.Arg {
	i := slices.Index(f.from, s)
	if i < 0 {
		i = len(f.from)
		f.from = append(f.from, s)
	}
	return elementwise.InputArg(i)
}

// do returns the result of code.
func (f *formula) do(code elementwise.Code, args ...elementwise.Arg) elementwise.Arg {
	ins := elementwise.Instr{Code: code}
	copy(ins.Args[:], args)
	f.program = append(f.program, ins)
	return elementwise.ResultArg(len(f.program) - 1)
}

func (f *formula) add(a, b elementwise.Arg) elementwise.Arg { return f.do(elementwise.Add, a, b) }
func (f *formula) mul(a, b elementwise.Arg) elementwise.Arg { return f.do(elementwise.Mul, a, b) }

// rest returns 1 - a.
func (f *formula) rest(a elementwise.Arg) elementwise.Arg {
	return f.do(elementwise.Sub, f.scalar(1), a)
}

func (f *formula) scalar(v float64) elementwise.Arg {
	return elementwise.ScalarArg(kernel.Float64Scalar(v).Cast(f.dtype))
}

// apply returns function(a).
func (f *formula) apply(function elementwise.Program, a elementwise.Arg) elementwise.Arg {
	f.program = f.program.Append(function, func(int) elementwise.Arg { return a })
	return elementwise.ResultArg(len(f.program) - 1)
}

// activate returns function(a) of a gate, with a between -clip and clip.
func (f *formula) activate(function elementwise.Program, a elementwise.Arg) elementwise.Arg {
	if f.clip != 0 {
		a = f.do(elementwise.Clip, a, f.scalar(-f.clip), f.scalar(f.clip))
	}
	return f.apply(function, a)
}

// Package recurrent holds layers that carry a state from step to step of a
// sequence. The products of their inputs, which do not depend on the state, are
// no part of the ops: x is one product of all steps.
//
// # Where to find what
//
//	recurrent.go            what the ops have in common: attributes, operands, shapes
//	rnn.go, gru.go, lstm.go the ops, and the formulas of a step
//	formula.go              formulas as elementwise programs
//	kernel.go, kernel_run.go
//	                        the kernel of all of them: products of the state, and
//	                        formulas, step by step
package recurrent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/shape"
)

// A Direction is the order in which a layer takes the steps of a sequence.
type Direction uint8

// The directions. A bidirectional layer is two, of which the second is reverse.
const (
	Forward Direction = iota
	Reverse
	Bidirectional
)

var directions = op.Enum{Kind: "direction", Names: []string{
	Forward: "forward", Reverse: "reverse", Bidirectional: "bidirectional",
}}

// String returns the name of d.
func (d Direction) String() string { return directions.Text(uint8(d)) }

// MarshalText implements [encoding.TextMarshaler].
func (d Direction) MarshalText() ([]byte, error) { return directions.Marshal(uint8(d)) }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Direction) UnmarshalText(text []byte) error { return op.UnmarshalEnum(directions, text, d) }

// Layers returns 2 for a bidirectional layer, and 1 for others.
func (d Direction) Layers() int {
	if d == Bidirectional {
		return 2
	}
	return 1
}

// Functions are activation functions, each a program of one input. Their text is
// that of the programs, with bars between, as in "t0=sigmoid(x0)|t0=tanh(x0)".
type Functions []elementwise.Program

// functionsOf returns the functions that codes stand for.
func functionsOf(codes ...elementwise.Code) Functions {
	fs := make(Functions, len(codes))
	for i, c := range codes {
		fs[i] = elementwise.Program{{Code: c, Args: [3]elementwise.Arg{elementwise.InputArg(0)}}}
	}
	return fs
}

// MarshalText implements [encoding.TextMarshaler].
func (fs Functions) MarshalText() ([]byte, error) {
	words := make([]string, len(fs))
	for i, f := range fs {
		words[i] = f.String()
	}
	return []byte(strings.Join(words, "|")), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (fs *Functions) UnmarshalText(text []byte) error {
	var out Functions
	for word := range strings.SplitSeq(string(text), "|") {
		var p elementwise.Program
		if err := p.UnmarshalText([]byte(word)); err != nil {
			return fmt.Errorf("function %d: %w", len(out), err)
		}
		out = append(out, p)
	}
	*fs = out
	return nil
}

// mostInstrs bounds the instructions of an activation function, so that formulas
// keep [elementwise.MaxInstrs].
const mostInstrs = 8

// check reports functions that are not programs of one input, with a result like
// it for elements of type t.
func (fs Functions) check(t dtype.Type) error {
	if t.IsHalf() {
		t = dtype.Float32
	}
	for i, f := range fs {
		if len(f) == 0 || len(f) > mostInstrs {
			return fmt.Errorf("activation function %d has %d instructions, not 1 to %d", i, len(f), mostInstrs)
		}
		if err := f.CheckEpilogue(graph.Type{DType: t}, nil); err != nil {
			return fmt.Errorf("activation function %d: %w", i, err)
		}
	}
	return nil
}

// A layer is what the ops of this package have in common. Its operands are, with
// S steps, B rows, L layers (1, or 2 if bidirectional), G gates and H elements of
// the hidden state:
//
//	in   x [S, B, L*G*H]  what the inputs of all steps add to the gates
//	     r [L, G*H, H]    the recurrence weights
//	     lens [B]         int32; how many steps each row has, S if absent
//	     h [L, B, H]      the state before the first step, 0 if absent
//	     c [L, B, H]      where there are cells: theirs, 0 if absent
//	     p [L, P*H]       where P is not 0: parameters, if not absent
//	out  y [S, L, B, H]   the hidden state after each step, unless final
//	     h [L, B, H]      that after the last step
//	     c [L, B, H]      where there are cells: theirs
//
// A row takes its first steps alone, also backwards. In y it has zeros behind
// these, and its last states are those after the last step that it takes.
type layer struct {
	direction Direction
	functions Functions
	clip      float64 // bounds what goes into functions of gates; 0 for none
	final     bool

	gates  int
	cells  bool
	params int // P
	// phases returns the parts of a step, given the activation functions of the
	// direction, and whether there are parameters.
	phases func(f Functions, b *formulas) []phase
}

// The inputs of a layer, by number. Parameters are the last.
const (
	inX = iota
	inR
	inLens
	inHidden
	inCells
)

// inputs returns the most inputs that the layer takes.
func (l *layer) inputs() int {
	n := inCells
	if l.cells {
		n++
	}
	if l.params > 0 {
		n++
	}
	return n
}

// given returns the activation functions asked for, or else the defaults for
// each of the layers of d.
func given(asked Functions, d Direction, defaults ...elementwise.Code) Functions {
	if len(asked) > 0 {
		return asked
	}
	return slices.Repeat(functionsOf(defaults...), d.Layers())
}

// infer is the shape rule of layers, with the number of activation functions of
// one of them.
func (l *layer) infer(in []graph.Type, functions int) ([]graph.Type, error) {
	if err := op.Count(in, inR+1, l.inputs()); err != nil {
		return nil, err
	}
	if err := directions.Check(uint8(l.direction)); err != nil {
		return nil, err
	}
	if !(l.clip >= 0) {
		return nil, fmt.Errorf("clip is %v, not a bound", l.clip)
	}
	x, r := in[inX], in[inR]
	for i, name := range [...]string{"x", "r"} {
		switch t := in[i]; {
		case t.Check() != nil:
			return nil, fmt.Errorf("%s: %w", name, t.Check())
		case !t.DType.IsFloat() || t.DType != x.DType || len(t.Shape) != 3:
			return nil, fmt.Errorf("%s is %v, not of 3 axes and one floating-point type with x", name, t)
		}
	}
	layers, hidden := l.direction.Layers(), r.Shape[2]
	if r.Shape[0] != layers || r.Shape[1]%l.gates != 0 || r.Shape[1]/l.gates != hidden {
		return nil, fmt.Errorf("r is %v, not [%d %d*hidden hidden]: %v, of %d gates", r, layers, l.gates, l.direction, l.gates)
	}
	if x.Shape[2]%layers != 0 || x.Shape[2]/layers != r.Shape[1] {
		return nil, fmt.Errorf("x is %v, but the gates of %d layers with r %v are %d*%d", x, layers, r, layers, r.Shape[1])
	}
	if len(l.functions) != layers*functions {
		return nil, fmt.Errorf("there are %d activation functions, not %d for each of %d layers", len(l.functions), functions, layers)
	}
	if err := l.functions.check(x.DType); err != nil {
		return nil, err
	}
	steps, rows := x.Shape[0], x.Shape[1]
	state := graph.Type{DType: x.DType, Shape: shape.Shape{layers, rows, hidden}}
	optional := []struct {
		name string
		want graph.Type
	}{{"lens", graph.Type{DType: dtype.Int32, Shape: shape.Shape{rows}}}, {"h", state}}
	if l.cells {
		optional = append(optional, struct {
			name string
			want graph.Type
		}{"c", state})
	}
	if l.params > 0 {
		optional = append(optional, struct {
			name string
			want graph.Type
		}{"p", graph.Type{DType: x.DType, Shape: shape.Shape{layers, l.params * hidden}}})
	}
	for i, o := range optional {
		if op.Given(in, inLens+i) && !in[inLens+i].Equal(o.want) {
			return nil, fmt.Errorf("%s is %v, not %v", o.name, in[inLens+i], o.want)
		}
	}
	outs := []graph.Type{state}
	if l.cells {
		outs = append(outs, state)
	}
	if !l.final {
		outs = slices.Insert(outs, 0, graph.Type{DType: x.DType, Shape: shape.Shape{steps, layers, rows, hidden}})
	}
	return outs, nil
}

// kernel returns the kernel of the layer.
func (l *layer) kernel(in []graph.Type) kernel.Kernel {
	return kernel.OfFloat(in[inX].DType, kernelParams{l, l.params > 0 && op.Given(in, l.inputs()-1), in[inX].DType}, newKernel[float32], newKernel[float64])
}

// denseAxes is the [op.Strider] rule of layers: the last axis lies dense.
func denseAxes(rank int) int { return min(rank, 1) }

// products returns the multiplications of a layer with the inputs in: each weight of the input
// and of the state meets each step of each sequence.
func products(in []graph.Type) int64 {
	x, w, r := in[0].Shape, in[1].Shape, in[2].Shape
	return int64(x[0]) * int64(x[1]) * int64(w.Elems()+r.Elems())
}

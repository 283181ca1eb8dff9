package recurrent

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// LSTM is a layer with cells, the long short-term memory. Its gates are, in the
// order of x and r, input, output, forget and candidate; p has the weights of
// peepholes, by which cells look at the first three, in the same order:
//
//	i = f(xi + h·riᵀ + pi*c)
//	e = f(xe + h·reᵀ + pe*c)     or, with InputForget, 1-i
//	c = e*c + i*g(xc + h·rcᵀ)
//	o = f(xo + h·roᵀ + po*c)
//	h = o*h(c)
//
// The operands are those of [layer]: x, r, lens, h, c and p [L, 3*H] in; y, h and
// c out. With Final there is no y. Activations are f, g and h, for each direction;
// none stand for sigmoid, tanh and tanh. What goes into f and g is bounded by
// Clip, unless that is 0; cells are not.
//
// Source: Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997; Gers and
// Schmidhuber, "Recurrent Nets that Time and Count", 2000, for peepholes.
type LSTM struct {
	Direction   Direction
	Activations Functions
	Clip        float64
	InputForget bool
	Final       bool
}

// Name returns "lstm".
func (LSTM) Name() string { return "lstm" }

// The gates of an LSTM, and its peepholes.
const (
	lstmInput = iota
	lstmOutput
	lstmForget
	lstmCandidate
	lstmGates
	lstmPeepholes = lstmCandidate
)

func (o LSTM) layer() *layer {
	return &layer{
		direction: o.Direction, clip: o.Clip, final: o.Final, gates: lstmGates, cells: true, params: lstmPeepholes,
		functions: given(o.Activations, o.Direction, elementwise.Sigmoid, elementwise.Tanh, elementwise.Tanh),
		phases:    o.phases,
	}
}

func (o LSTM) phases(fs Functions, b *formulas) []phase {
	c := b.of(cell)
	input := c.peeping(fs[0], lstmInput)
	var forget elementwise.Arg
	if o.InputForget {
		forget = c.rest(input)
	} else {
		forget = c.peeping(fs[0], lstmForget)
	}
	candidate := c.activate(fs[1], c.read(gate(lstmCandidate)))
	c.add(c.mul(forget, c.read(cell)), c.mul(input, candidate))

	h := b.of(hidden)
	output := h.peeping(fs[0], lstmOutput)
	h.mul(output, h.apply(fs[2], h.read(cell)))
	return []phase{{left: hidden, to: lstmGates, added: lstmGates, updates: []update{c.update, h.update}}}
}

// peeping returns function of a gate that cells look at, where there are peepholes.
func (f *formula) peeping(function elementwise.Program, i int) elementwise.Arg {
	v := f.read(gate(i))
	if f.params {
		v = f.add(v, f.mul(f.read(param(i)), f.read(cell)))
	}
	return f.activate(function, v)
}

// Infer implements [graph.Op].
func (o LSTM) Infer(in []graph.Type) ([]graph.Type, error) { return o.layer().infer(in, 3) }

// Kernel implements [op.Computer].
func (o LSTM) Kernel(in, _ []graph.Type) kernel.Kernel { return o.layer().kernel(in) }

// DenseAxes implements [op.Strider].
func (LSTM) DenseAxes(_, rank int) int { return denseAxes(rank) }

// Products implements [op.Multiplier].
func (LSTM) Products(in, _ []graph.Type) int64 { return products(in) }

// ComputesInFloat32 implements [op.Widener].
func (LSTM) ComputesInFloat32() {}

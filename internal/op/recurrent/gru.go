package recurrent

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// GRU is a gated recurrent unit. Its gates are, in the order of x and r, update,
// reset and candidate:
//
//	z = f(xz + h·rzᵀ)
//	r = f(xr + h·rrᵀ)
//	n = g(xn + (r*h)·rnᵀ)        or, with LinearBeforeReset,
//	n = g(xn + r*(h·rnᵀ + p))
//	h = (1-z)*n + z*h
//
// The operands are those of [layer]: x, r, lens, h and, with LinearBeforeReset, p
// [L, H] in; y and h out. With Final there is no y. Activations are f and g, for
// each direction; none stand for sigmoid and tanh. What goes into them is bounded
// by Clip, unless that is 0.
//
// Source: Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder
// for Statistical Machine Translation", 2014.
type GRU struct {
	Direction         Direction
	Activations       Functions
	Clip              float64
	LinearBeforeReset bool
	Final             bool
}

// Name returns "gru".
func (GRU) Name() string { return "gru" }

func (o GRU) layer() *layer {
	l := &layer{
		direction: o.Direction, clip: o.Clip, final: o.Final, gates: 3,
		functions: given(o.Activations, o.Direction, elementwise.Sigmoid, elementwise.Tanh),
		phases:    gruPhases,
	}
	if o.LinearBeforeReset {
		l.params, l.phases = 1, gruLinearPhases
	}
	return l
}

// The gates of a GRU.
const (
	gruUpdate = iota
	gruReset
	gruCandidate
	gruGates
)

// gruPhases resets the hidden state before it is multiplied.
func gruPhases(fs Functions, b *formulas) []phase {
	kept := b.of(reset)
	kept.mul(kept.activate(fs[0], kept.read(gate(gruReset))), kept.read(hidden))
	h := b.of(hidden)
	h.blend(fs, h.read(gate(gruCandidate)))
	return []phase{
		{left: hidden, to: gruCandidate, added: gruCandidate, updates: []update{kept.update}},
		{left: reset, from: gruCandidate, to: gruGates, added: gruGates, updates: []update{h.update}},
	}
}

// gruLinearPhases resets the product.
func gruLinearPhases(fs Functions, b *formulas) []phase {
	h := b.of(hidden)
	product := h.read(gate(gruCandidate))
	if b.params {
		product = h.add(product, h.read(param(0)))
	}
	r := h.activate(fs[0], h.read(gate(gruReset)))
	h.blend(fs, h.add(h.read(xGate(gruCandidate)), h.mul(r, product)))
	return []phase{{left: hidden, to: gruGates, added: gruCandidate, updates: []update{h.update}}}
}

// blend ends a formula with the candidate and the state before it, by the update
// gate.
func (f *formula) blend(fs Functions, candidate elementwise.Arg) {
	n := f.activate(fs[1], candidate)
	z := f.activate(fs[0], f.read(gate(gruUpdate)))
	f.add(f.mul(f.rest(z), n), f.mul(z, f.read(hidden)))
}

// Infer implements [graph.Op].
func (o GRU) Infer(in []graph.Type) ([]graph.Type, error) { return o.layer().infer(in, 2) }

// Kernel implements [op.Computer].
func (o GRU) Kernel(in, _ []graph.Type) kernel.Kernel { return o.layer().kernel(in) }

// DenseAxes implements [op.Strider].
func (GRU) DenseAxes(_, rank int) int { return denseAxes(rank) }

// Products implements [op.Multiplier].
func (GRU) Products(in, _ []graph.Type) int64 { return products(in) }

// ComputesInFloat32 implements [op.Widener].
func (GRU) ComputesInFloat32() {}

package recurrent

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
)

// RNN is a layer of one gate, which is the hidden state:
//
//	h = f(x + h·rᵀ)
//
// The operands are those of [layer]: x, r, lens and h in; y and h out. With Final
// there is no y. Activations are f, for each direction; none stand for tanh.
// What goes into f is bounded by Clip, unless that is 0.
type RNN struct {
	Direction   Direction
	Activations Functions
	Clip        float64
	Final       bool
}

// Name returns "rnn".
func (RNN) Name() string { return "rnn" }

func (o RNN) layer() *layer {
	return &layer{
		direction: o.Direction, clip: o.Clip, final: o.Final, gates: 1,
		functions: given(o.Activations, o.Direction, elementwise.Tanh),
		phases: func(fs Functions, b *formulas) []phase {
			h := b.of(hidden)
			h.activate(fs[0], h.read(gate(0)))
			return []phase{{left: hidden, to: 1, added: 1, updates: []update{h.update}}}
		},
	}
}

// Infer implements [graph.Op].
func (o RNN) Infer(in []graph.Type) ([]graph.Type, error) { return o.layer().infer(in, 1) }

// Kernel implements [op.Computer].
func (o RNN) Kernel(in, _ []graph.Type) kernel.Kernel { return o.layer().kernel(in) }

// DenseAxes implements [op.Strider].
func (RNN) DenseAxes(_, rank int) int { return denseAxes(rank) }

// Products implements [op.Multiplier].
func (RNN) Products(in, _ []graph.Type) int64 { return products(in) }

// ComputesInFloat32 implements [op.Widener].
func (RNN) ComputesInFloat32() {}

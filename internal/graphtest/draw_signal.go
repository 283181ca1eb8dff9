package graphtest

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/random"
	"github.com/berth-go/berth/internal/op/signal"
	"github.com/berth-go/berth/internal/op/view"
)

// drawn returns how numbers may be drawn.
func (b *builder) drawn() (dims []int, t dtype.Type, seed int) {
	return []int{b.extent(), b.extent()}, []dtype.Type{dtype.Float32, dtype.Float64}[b.rng.IntN(2)], b.rng.IntN(3)
}

func uniform(b *builder, _ graph.Value) ([]graph.Value, error) {
	dims, t, seed := b.drawn()
	return b.tame(ops.Apply(random.Uniform{Shape: dims, DType: t, Seed: seed, Low: -2, High: 5}))
}

func normal(b *builder, _ graph.Value) ([]graph.Value, error) {
	dims, t, seed := b.drawn()
	return b.tame(ops.Apply(random.Normal{Shape: dims, DType: t, Seed: seed, Mean: 1, Scale: 3}))
}

// fourier transforms x, whose last axis becomes the parts of numbers.
func fourier(b *builder, x graph.Value, axis int) ([]graph.Value, error) {
	s := x.Type().Shape
	o := signal.DFT{Axis: axis, Length: 1 + b.rng.IntN(7), Inverse: b.oneIn(2), OneSided: b.oneIn(2)}
	parts := 1 + b.rng.IntN(2)
	if o.OneSided {
		parts = 1
		if o.Inverse {
			parts = 2
		}
	}
	to := append(s.Clone(), parts)
	v, err := ops.One(view.BroadcastTo{Shape: to}, b.one(view.Reshape{Shape: append(s.Clone(), 1)}, b.float(x)))
	if err != nil {
		return nil, err
	}
	return b.tame(ops.Apply(o, v))
}

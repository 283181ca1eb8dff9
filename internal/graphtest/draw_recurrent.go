package graphtest

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/ops"
	"github.com/berth-go/berth/internal/op/recurrent"
	"github.com/berth-go/berth/shape"
)

// A layerOf is a layer with a state being drawn.
type layerOf struct {
	b         *builder
	direction recurrent.Direction
	x         graph.Value
	hidden    int
}

// layer draws a direction, and an x of so many gates out of x.
func (b *builder) layer(x graph.Value, gates int) layerOf {
	l := layerOf{b, recurrent.Direction(b.rng.IntN(3)), b.float(x), b.extent()}
	last := l.direction.Layers() * gates * l.hidden
	if s := x.Type().Shape; len(s) != 3 || s[2] != last {
		l.x = b.of(graph.Type{DType: l.x.Type().DType, Shape: shape.Shape{b.extent(), b.extent(), last}})
	}
	return l
}

// inputs returns x, r, lens and h, and after these more states and parameters.
func (l layerOf) inputs(gates, states, params int) []graph.Value {
	t, layers := l.x.Type().DType, l.direction.Layers()
	steps, rows := l.x.Type().Shape[0], l.x.Type().Shape[1]
	lens := graph.Value{}
	if l.b.oneIn(2) {
		lens = l.b.numbers(graph.Type{DType: dtype.Int32, Shape: shape.Shape{rows}}, 0, steps+1)
	}
	in := []graph.Value{l.x, l.b.of(graph.Type{DType: t, Shape: shape.Shape{layers, gates * l.hidden, l.hidden}}), lens}
	for range states {
		in = append(in, l.b.maybe(graph.Type{DType: t, Shape: shape.Shape{layers, rows, l.hidden}}))
	}
	if params > 0 {
		in = append(in, l.b.maybe(graph.Type{DType: t, Shape: shape.Shape{layers, params * l.hidden}}))
	}
	return in
}

func rnn(b *builder, x graph.Value) ([]graph.Value, error) {
	l := b.layer(x, 1)
	return ops.Apply(recurrent.RNN{Direction: l.direction, Final: b.oneIn(3)}, l.inputs(1, 1, 0)...)
}

func gru(b *builder, x graph.Value) ([]graph.Value, error) {
	l := b.layer(x, 3)
	o := recurrent.GRU{Direction: l.direction, Clip: float64(b.rng.IntN(2)), LinearBeforeReset: b.oneIn(2), Final: b.oneIn(3)}
	params := 0
	if o.LinearBeforeReset {
		params = 1
	}
	return ops.Apply(o, l.inputs(3, 1, params)...)
}

func lstm(b *builder, x graph.Value) ([]graph.Value, error) {
	l := b.layer(x, 4)
	o := recurrent.LSTM{Direction: l.direction, Clip: float64(b.rng.IntN(2)), InputForget: b.oneIn(3), Final: b.oneIn(3)}
	return ops.Apply(o, l.inputs(4, 2, 3)...)
}

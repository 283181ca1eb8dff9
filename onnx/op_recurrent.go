package onnx

import (
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/recurrent"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// recurrentOps are the layers with a state.
var recurrentOps = []row{
	{"", "RNN", 1, 3, 6, convertRNN},
	{"", "GRU", 1, 3, 6, convertGRU},
	{"", "LSTM", 1, 3, 8, convertLSTM},
}

func convertRNN(c *call) []graph.Value {
	l := c.recurrence(1, 1)
	return l.outputs(recurrent.RNN{
		Direction: l.direction, Activations: l.functions, Clip: l.clip, Final: !c.wants(0),
	}, l.biases(1))
}

// convertGRU leaves the recurrence bias of the candidate, the last gate, to the op
// where it is reset with the product.
func convertGRU(c *call) []graph.Value {
	c.attrSince(3, "linear_before_reset")
	l := c.recurrence(3, 2)
	o := recurrent.GRU{
		Direction: l.direction, Activations: l.functions, Clip: l.clip, Final: !c.wants(0),
		LinearBeforeReset: c.flag("linear_before_reset", false),
	}
	if !o.LinearBeforeReset {
		return l.outputs(o, l.biases(3))
	}
	bias := l.biases(2)
	if bias.IsZero() {
		return l.outputs(o, bias)
	}
	bias = c.one(move.Concat{Axis: 1}, bias, l.bias(2, 3))
	return l.outputs(o, bias, l.bias(5, 6))
}

func convertLSTM(c *call) []graph.Value {
	l := c.recurrence(4, 3)
	o := recurrent.LSTM{
		Direction: l.direction, Activations: l.functions, Clip: l.clip, Final: !c.wants(0),
		InputForget: c.flag("input_forget", false),
	}
	return l.outputs(o, l.biases(4), l.state(6, "initial_c"), l.operand(7, "P", l.layers, 3*l.size))
}

// A recurrence is a layer with a state being converted: what the three operators
// have in common. The operands of halves are float32.
type recurrence struct {
	*call
	direction  recurrent.Direction
	functions  recurrent.Functions
	clip       float64
	batchFirst bool // the batch is the first axis of sequences and states

	gates, layers       int
	steps, batch, width int // of the input
	size                int // elements of a state
}

// recurrence reads what there is in each of the operators, of so many gates, and
// activation functions in each direction.
func (c *call) recurrence(gates, functions int) *recurrence {
	c.attrSince(14, "layout")
	l := &recurrence{call: c, gates: gates}
	l.direction = choice(c, "direction", "forward", map[string]recurrent.Direction{
		"forward": recurrent.Forward, "reverse": recurrent.Reverse, "bidirectional": recurrent.Bidirectional,
	})
	l.layers = l.direction.Layers()
	l.batchFirst = c.layout()
	if c.rank(0) != 3 || c.rank(2) != 3 {
		c.failf("X has shape %v and R %v, which are not of 3 axes", c.shape(0), c.shape(2))
	}
	x := c.shape(0)
	l.steps, l.batch, l.width = x[0], x[1], x[2]
	if l.batchFirst {
		l.steps, l.batch = l.batch, l.steps
	}
	l.size = c.shape(2)[2]
	if n := c.int("hidden_size", l.size); n != l.size {
		c.failf("attribute hidden_size is %d, but R has shape %v", n, c.shape(2))
	}
	if x := c.in[0].Type().DType; !x.IsFloat() {
		c.failf("X is of type %v, not of a floating-point type", x)
	}
	if c.hasAttr("clip") {
		if l.clip = c.float("clip", 0); !(l.clip > 0) {
			c.failf("attribute clip is %v, not above 0", l.clip)
		}
	}
	l.functions = c.activations(functions, l.layers, computeType(c.in[0].Type().DType))
	return l
}

// layout reads whether the batch is the first axis.
func (c *call) layout() bool {
	n := c.int("layout", 0)
	if n != 0 && n != 1 {
		c.failf("attribute layout is %d, not 0 or 1", n)
	}
	return n == 1
}

// computeType returns the type in which elements of type t are computed.
func computeType(t dtype.Type) dtype.Type {
	if t.IsHalf() {
		return dtype.Float32
	}
	return t
}

// operand returns input i, called name, in the type that is computed in, or the
// zero Value where it is absent. It must have the type of X and the given extents.
func (l *recurrence) operand(i int, name string, dims ...int) graph.Value {
	if !l.has(i) {
		return graph.Value{}
	}
	want := graph.Type{DType: l.in[0].Type().DType, Shape: dims}
	if got := l.in[i].Type(); !got.Equal(want) {
		l.failf("%s is %v, not %v, beside X %v and R %v", name, got, want, l.in[0].Type(), l.in[2].Type())
	}
	return l.castTo(l.in[i], computeType(want.DType))
}

// state returns input i, a state of each direction and row of the batch.
func (l *recurrence) state(i int, name string) graph.Value {
	if !l.batchFirst {
		return l.operand(i, name, l.layers, l.batch, l.size)
	}
	return l.swapped(l.operand(i, name, l.batch, l.layers, l.size))
}

// swapped returns v with its first two axes exchanged.
func (l *recurrence) swapped(v graph.Value) graph.Value {
	if v.IsZero() {
		return v
	}
	return l.one(view.Permute{Perm: []int{1, 0, 2}}, v)
}

// bias returns what the bias holds for the gates [from, to), those of the input
// weights and then those of the recurrence weights; the zero Value where there is
// none.
func (l *recurrence) bias(from, to int) graph.Value {
	b := l.operand(3, "B", l.layers, 2*l.gates*l.size)
	if b.IsZero() {
		return b
	}
	return l.sliceAxis(b, 1, from*l.size, to*l.size, 1)
}

// biases returns the sum of both biases of the first n gates.
func (l *recurrence) biases(n int) graph.Value {
	b := l.bias(0, n)
	if b.IsZero() {
		return b
	}
	return l.elementwise(elementwise.Add, nil, b, l.bias(l.gates, l.gates+n))
}

// outputs returns the outputs of the operator, made by o, which has more operands
// beside the common ones. Of the gates, what follows from the inputs of all steps
// and the bias is one product.
func (l *recurrence) outputs(o graph.Op, bias graph.Value, more ...graph.Value) []graph.Value {
	rows := l.gates * l.size
	r := l.operand(2, "R", l.layers, rows, l.size)
	w := l.operand(1, "W", l.layers, rows, l.width)
	rows *= l.layers
	w = l.one(view.Permute{Perm: []int{1, 0}}, l.reshape(w, rows, l.width))
	x := l.one(linear.MatMul{}, l.castTo(l.in[0], computeType(l.in[0].Type().DType)), w)
	if !bias.IsZero() {
		x = l.elementwise(elementwise.Add, nil, x, l.reshape(bias, rows))
	}
	if l.batchFirst {
		x = l.swapped(x)
	}
	if l.has(4) {
		want := graph.Type{DType: dtype.Int32, Shape: shape.Shape{l.batch}}
		if got := l.in[4].Type(); !got.Equal(want) {
			l.failf("sequence_lens is %v, not %v, beside X %v", got, want, l.in[0].Type())
		}
	}
	outs := l.all(o, append([]graph.Value{x, r, l.input(4), l.state(5, "initial_h")}, more...)...)
	if !l.wants(0) {
		outs = slices.Insert(outs, 0, graph.Value{})
	}
	for i, v := range outs {
		if v.IsZero() {
			continue
		}
		if l.batchFirst {
			perm := []int{1, 0, 2}
			if i == 0 {
				perm = []int{2, 0, 1, 3}
			}
			v = l.one(view.Permute{Perm: perm}, v)
		}
		outs[i] = l.castTo(v, l.in[0].Type().DType)
	}
	return outs
}

package onnx

import (
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/conv"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/view"
)

// convertCausalConv is a convolution of each channel with what came before it:
// the end of the input of the last call, or zeros. What the next call needs is
// the second output.
func convertCausalConv(c *call) []graph.Value {
	x, w := c.shape(0), c.shape(1)
	if len(x) != 3 || len(w) != 3 || w[0] != x[1] || w[1] != 1 || w[2] < 1 {
		c.failf("the input has the shape %v and the weights %v, want batch, channels, length and channels, 1, taps", x, w)
	}
	state := []int{x[0], x[1], w[2] - 1}
	past := c.input(3)
	if past.IsZero() {
		past = c.one(move.Fill{Shape: state, Value: zeroOf(c.in[0].Type().DType)})
	} else if !c.shape(3).Equal(state) {
		c.failf("past_state has the shape %v, not %v", c.shape(3), state)
	}
	all := c.one(move.Concat{Axis: 2}, past, c.in[0])
	y := c.one(conv.Conv{Group: x[1]}, all, c.in[1], c.input(2))
	if choice(c, "activation", "none", map[string]bool{"none": false, "silu": true, "swish": true}) {
		y = c.elementwise(elementwise.Swish, nil, y)
	}
	return list(y, c.one(view.SliceView{Axis: 2, Start: x[2], N: w[2] - 1, Step: 1}, all))
}

// convertLinearAttention keeps a matrix for each head instead of keys and values.
// The update rule says whether it fades, and whether what it has for a key is
// taken off a value first. The state is computed in float32 at least, and keeps
// its own type.
func convertLinearAttention(c *call) []graph.Value {
	c.require("q_num_heads")
	c.require("kv_num_heads")
	c.int("chunk_size", 0) // how others cut the work
	heads, groups := c.int("q_num_heads", 0), c.int("kv_num_heads", 0)
	type rule struct{ decay, beta bool }
	r := choice(c, "update_rule", "gated_delta", map[string]rule{
		"linear": {}, "gated": {decay: true}, "delta": {beta: true}, "gated_delta": {true, true},
	})
	if c.has(4) != r.decay || c.has(5) != r.beta {
		c.failf("the update rule wants a decay: %v, and beta: %v, but they are there: %v and %v", r.decay, r.beta, c.has(4), c.has(5))
	}
	types := []dtype.Type{c.in[0].Type().DType, c.in[1].Type().DType, c.in[2].Type().DType}
	for _, t := range types {
		if !t.IsFloat() {
			c.failf("queries, keys and values are of the types %v, want floating-point types", types)
		}
	}
	wide := wider(types...)
	apart := func(i, heads int, name string) graph.Value {
		return c.castTo(c.splitHeads(c.in[i], heads, name), wide)
	}
	q, k, v := apart(0, heads, "query"), apart(1, groups, "key"), apart(2, groups, "value")
	ks := k.Type().Shape
	batch, length, keySize := ks[0], ks[2], ks[3]
	scale := c.float("scale", 0)
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(keySize))
	}
	in := []graph.Value{c.withScalar(elementwise.Mul, q, scale), k, v, {}, {}, {}}
	stateType := types[0]
	if c.has(3) {
		stateType = c.in[3].Type().DType
		in[3] = c.castTo(c.in[3], wide)
	} else {
		in[3] = c.one(move.Fill{Shape: []int{batch, groups, keySize, v.Type().Shape[3]}, Value: zeroOf(wide)})
	}
	if r.decay {
		// One for each head, or for each of its elements.
		decay := apart(4, groups, "decay")
		in[4] = c.one(view.BroadcastTo{Shape: ks}, decay)
	}
	if r.beta {
		// One for each head, or for all of them.
		if c.rank(5) != 3 {
			c.failf("beta has the shape %v, want batch, length, and heads or 1", c.shape(5))
		}
		beta := c.one(view.Permute{Perm: []int{0, 2, 1}}, c.castTo(c.in[5], wide))
		in[5] = c.one(view.BroadcastTo{Shape: []int{batch, groups, length}}, beta)
	}
	outs := c.all(linear.Recurrence{}, in...)
	return list(c.joinHeads(c.castTo(outs[0], types[0])), c.castTo(outs[1], stateType))
}

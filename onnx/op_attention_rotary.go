package onnx

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/view"
)

// convertRotaryEmbedding turns pairs of elements of every head by angles that
// depend on the position of the token. The cosines and sines are those of each
// token or, with positions, those of each position.
func convertRotaryEmbedding(c *call) []graph.Value {
	cos, sin := c.in[1], c.in[2]
	if c.has(3) {
		if x, ids := c.shape(0), c.shape(3); len(ids) != 2 {
			c.failf("position_ids have the shape %v, want batch and length of %v", ids, x)
		}
		cos, sin = c.one(move.Gather{}, cos, c.in[3]), c.one(move.Gather{}, sin, c.in[3])
	}
	r := rotary{cos: cos, sin: sin, dim: c.int("rotary_embedding_dim", 0), interleaved: c.flag("interleaved", false)}
	heads := c.int("num_heads", 0)
	if c.rank(0) != 3 {
		return list(c.rotate(c.in[0], r))
	}
	c.require("num_heads")
	return list(c.joinHeads(c.rotate(c.splitHeads(c.in[0], heads, "X"), r)))
}

// A rotary says how heads are turned: the cosines and sines of the angles, of
// shape [batch or 1, length, dim/2], and of how many elements, from the first on;
// 0 stands for all. Pairs are elements i and dim/2+i or, interleaved, 2i and
// 2i+1.
type rotary struct {
	cos, sin    graph.Value
	dim         int
	interleaved bool
}

// rotate returns x, of shape [batch, heads, length, size], with its heads turned.
func (c *call) rotate(x graph.Value, r rotary) graph.Value {
	s := x.Type().Shape
	if len(s) != 4 {
		c.failf("the input to be turned has the shape %v, want 3 or 4 axes", c.shape(0))
	}
	size, dim := s[3], r.dim
	if dim == 0 {
		dim = size
	}
	if dim < 0 || dim > size || dim%2 != 0 {
		c.failf("%d elements of heads of %d are to be turned, want an even number of at most all", dim, size)
	}
	half := dim / 2
	t := x.Type().DType
	wide := wider(t)
	angle := func(v graph.Value) graph.Value {
		got := v.Type().Shape
		if len(got) != 3 || got[0] != s[0] && got[0] != 1 || got[1] != s[2] || got[2] != half {
			c.failf("cosines or sines have the shape %v, want [%d %d %d]: batch, length, and one for each pair", got, s[0], s[2], half)
		}
		return c.one(view.Reshape{Shape: []int{got[0], 1, got[1], half}}, c.castTo(v, wide))
	}
	cos, sin := angle(r.cos), angle(r.sin)
	a, b := view.SliceView{Axis: 3, N: half, Step: 1}, view.SliceView{Axis: 3, Start: half, N: half, Step: 1}
	if r.interleaved {
		a, b = view.SliceView{Axis: 3, N: half, Step: 2}, view.SliceView{Axis: 3, Start: 1, N: half, Step: 2}
	}
	x1, x2 := c.castTo(c.one(a, x), wide), c.castTo(c.one(b, x), wide)
	times := func(a, b graph.Value) graph.Value { return c.elementwise(elementwise.Mul, nil, a, b) }
	real := c.elementwise(elementwise.Sub, nil, times(cos, x1), times(sin, x2))
	imag := c.elementwise(elementwise.Add, nil, times(sin, x1), times(cos, x2))
	parts := []graph.Value{c.castTo(real, t), c.castTo(imag, t)}
	if r.interleaved {
		parts = list(c.interleave(parts[0], parts[1]))
	}
	if dim < size {
		parts = append(parts, c.one(view.SliceView{Axis: 3, Start: dim, N: size - dim, Step: 1}, x))
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return c.one(move.Concat{Axis: 3}, parts...)
}

// interleave returns the elements of a and b, of one shape of four axes, in
// turn along the last axis.
func (c *call) interleave(a, b graph.Value) graph.Value {
	s := a.Type().Shape
	apart := []int{s[0], s[1], s[2], s[3], 1}
	both := c.one(move.Concat{Axis: 4}, c.one(view.Reshape{Shape: apart}, a), c.one(view.Reshape{Shape: apart}, b))
	return c.one(view.Reshape{Shape: []int{s[0], s[1], s[2], 2 * s[3]}}, both)
}

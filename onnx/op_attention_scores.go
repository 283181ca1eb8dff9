package onnx

import (
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// An attention is softmax(scale * q * kᵀ + bias) * v over the last two axes of
//
//	q  [batch, heads, queries, size]
//	k  [batch, groups, keys, size]
//	v  [batch, groups, keys, valueSize]
//
// where heads/groups neighbouring heads of q share those of k and v. All steps
// are computed in one type that is as wide as all inputs and at least float32.
type attention struct {
	c                              *call
	q, k, v                        graph.Value
	batch, heads, groups           int
	queries, keys, size, valueSize int
	wide                           dtype.Type

	scale   float64
	softcap float64 // scores become softcap*tanh(scores/softcap), unless it is 0
	// precision is the type to which scores are rounded before the softmax.
	precision dtype.Type

	// bias is added to the scores, and allowed says which keys a query may
	// look at; either may be absent. They broadcast to the scores.
	bias, allowed graph.Value
	// scoreMod and probMod change the scores before, and the probabilities after the
	// softmax; nil where they stay as they are.
	scoreMod, probMod *body
	// bare says that there may be queries which may look at no key. Their
	// results are zero.
	bare bool

	// stages are the scores, of shape [batch, heads, queries, keys]: as
	// products, after softcap, with bias, and after the softmax.
	stages [4]graph.Value
}

// newAttention checks that the shapes of q, k and v go together.
func (c *call) newAttention(q, k, v graph.Value) *attention {
	qs, ks, vs := q.Type().Shape, k.Type().Shape, v.Type().Shape
	if len(qs) != 4 || len(ks) != 4 || len(vs) != 4 {
		c.failf("queries %v, keys %v and values %v must all have 3 axes or all have 4", qs, ks, vs)
	}
	a := &attention{
		c: c, q: q, k: k, v: v,
		batch: qs[0], heads: qs[1], groups: ks[1],
		queries: qs[2], keys: ks[2], size: qs[3], valueSize: vs[3],
	}
	if !ks.Equal(shape.Shape{a.batch, a.groups, a.keys, a.size}) || !vs.Equal(shape.Shape{a.batch, a.groups, a.keys, a.valueSize}) {
		c.failf("queries %v, keys %v and values %v, of axes batch, heads, length and size, do not go together", qs, ks, vs)
	}
	if a.groups < 1 || a.heads%a.groups != 0 {
		c.failf("%d heads of queries do not divide into groups for %d heads of keys", a.heads, a.groups)
	}
	types := [...]dtype.Type{q.Type().DType, k.Type().DType, v.Type().DType}
	for _, t := range types {
		if !t.IsFloat() {
			c.failf("queries, keys and values are of the types %v, want floating-point types", types)
		}
	}
	a.wide = wider(types[:]...)
	a.precision = a.wide
	a.scale = 1 / math.Sqrt(float64(a.size))
	return a
}

// readPrecision reads the type to which scores are rounded, if it is given.
func (a *attention) readPrecision() {
	if a.precision = a.c.dtype("softmax_precision", a.wide); !a.precision.IsFloat() {
		a.c.failf("attribute softmax_precision is %v, not a floating-point type", a.precision)
	}
}

// run computes the result, of shape [batch, heads, queries, valueSize], and
// the stages.
func (a *attention) run() graph.Value {
	c := a.c
	// To scale the queries scales the product, and leaves the keys alone, which
	// may be many.
	q := c.withScalar(elementwise.Mul, c.castTo(a.q, a.wide), a.scale)
	k := c.one(view.Permute{Perm: []int{0, 1, 3, 2}}, c.castTo(a.k, a.wide))
	scores := a.ungrouped(c.one(linear.MatMul{}, a.grouped(q), k))
	a.stages[0] = scores
	if a.softcap != 0 {
		scores = c.withScalar(elementwise.Div, scores, a.softcap)
		scores = c.elementwise(elementwise.Tanh, nil, scores)
		scores = c.withScalar(elementwise.Mul, scores, a.softcap)
	}
	a.stages[1] = scores
	bias := a.fullBias()
	if !bias.IsZero() {
		scores = c.elementwise(elementwise.Add, nil, scores, bias)
		if want := a.stages[0].Type().Shape; !scores.Type().Shape.Equal(want) {
			c.failf("a mask of shape %v does not broadcast to the scores, of shape %v", bias.Type().Shape, want)
		}
	}
	a.stages[2] = scores
	p := c.one(norm.Softmax{Axis: -1}, a.changed(a.scoreMod, c.castTo(scores, a.precision)))
	p = c.castTo(a.changed(a.probMod, p), a.wide)
	if a.bare {
		p = a.zeroWhereBare(p, bias)
	}
	a.stages[3] = p
	return a.ungrouped(c.one(linear.MatMul{}, a.grouped(p), c.castTo(a.v, a.wide)))
}

// changed returns what a graph makes of scores or probabilities, which keep their type and
// shape; these themselves where there is no graph.
func (a *attention) changed(b *body, v graph.Value) graph.Value {
	if b == nil {
		return v
	}
	if len(b.inputs) != 1 || len(b.graph.Outputs) != 1 {
		a.c.failf("%v has %d inputs and %d outputs, want one of each", b, len(b.inputs), len(b.graph.Outputs))
	}
	out := a.c.inline(b, v)[0]
	if !out.Type().Equal(v.Type()) {
		a.c.failf("%v makes %v of %v", b, out.Type(), v.Type())
	}
	return out
}

// grouped lays the heads that share keys one below the other, so that one
// product is all of theirs: [batch, groups, heads/groups*queries, ...].
func (a *attention) grouped(x graph.Value) graph.Value {
	if a.heads == a.groups {
		return x
	}
	last := x.Type().Shape[3]
	return a.c.one(view.Reshape{Shape: []int{a.batch, a.groups, a.heads / a.groups * a.queries, last}}, x)
}

// ungrouped is the reverse of [attention.grouped].
func (a *attention) ungrouped(x graph.Value) graph.Value {
	if a.heads == a.groups {
		return x
	}
	last := x.Type().Shape[3]
	return a.c.one(view.Reshape{Shape: []int{a.batch, a.heads, a.queries, last}}, x)
}

// fullBias returns the bias with -Inf where a query may not look, or the zero
// Value when there is neither.
func (a *attention) fullBias() graph.Value {
	if a.allowed.IsZero() {
		return a.bias
	}
	return a.c.biasOf(a.allowed, elementwise.Operand{Value: a.bias, Scalar: zeroOf(a.wide)}, a.wide)
}

// biasOf returns bias where allowed holds and -Inf elsewhere.
func (c *call) biasOf(allowed graph.Value, bias elementwise.Operand, t dtype.Type) graph.Value {
	never := elementwise.Operand{Scalar: kernel.Float64Scalar(math.Inf(-1)).Cast(t)}
	return must(elementwise.ApplyOperands(elementwise.Where, nil, elementwise.Operand{Value: allowed}, bias, never))
}

// zeroWhereBare returns p with zeros for the queries that may look at no key.
// The softmax made NaN of these. They are told by the bias, since the scores of
// others may be -Inf as well.
func (a *attention) zeroWhereBare(p, bias graph.Value) graph.Value {
	c := a.c
	most := c.one(reduce.Reduce{Kind: reduce.Max, Axes: []int{-1}, KeepDims: true}, bias)
	none := c.withScalar(elementwise.Equal, most, math.Inf(-1))
	return must(elementwise.ApplyOperands(elementwise.Where, nil, elementwise.Operand{Value: none},
		elementwise.Operand{Scalar: zeroOf(a.wide)}, elementwise.Operand{Value: p}))
}

// allow leaves only those keys that also the truth values in more allow.
func (a *attention) allow(more graph.Value) {
	if !a.allowed.IsZero() {
		more = a.c.elementwise(elementwise.And, nil, a.allowed, more)
	}
	a.allowed = more
}

// keyPositions returns 0, 1, ... along the axis of keys.
func (a *attention) keyPositions() graph.Value { return a.c.positions(a.keys, 0, 3) }

// allowBefore leaves only the keys at positions below end.
func (a *attention) allowBefore(end graph.Value) {
	a.allow(a.c.elementwise(elementwise.Less, nil, a.keyPositions(), end))
}

// causal leaves only the keys at the position of the query or before.
func (a *attention) causal(query graph.Value) {
	a.allow(a.c.elementwise(elementwise.LessEqual, nil, a.keyPositions(), query))
}

// window leaves only the keys that are at most so many positions left and
// right of the query. There is no bound where the number is -1.
func (a *attention) window(query graph.Value, left, right int) {
	c := a.c
	if left < -1 || right < -1 {
		c.failf("attributes left_window_size and right_window_size are %d and %d, want at least -1", left, right)
	}
	distance := func() graph.Value { return c.elementwise(elementwise.Sub, nil, query, a.keyPositions()) }
	if left >= 0 {
		a.allow(c.withScalar(elementwise.LessEqual, distance(), float64(left)))
		a.bare = true // a query far behind the last key
	}
	if right >= 0 {
		a.allow(c.withScalar(elementwise.GreaterEqual, distance(), -float64(right)))
	}
}

// addMask adds a mask that broadcasts to the scores: truth values say which keys
// may be looked at, numbers are added. With pad, a mask with fewer keys than
// there are goes on with keys that may not be looked at.
func (a *attention) addMask(mask graph.Value, pad bool) {
	c := a.c
	a.bare = true
	t := mask.Type()
	switch {
	case t.DType == dtype.Bool:
		a.allow(a.padMask(mask, pad, graph.Value{}))
	case t.DType.IsFloat():
		never := c.castTo(constant([]float64{math.Inf(-1)}, 1), t.DType)
		a.addBias(a.padMask(mask, pad, never))
	default:
		c.failf("the mask is %v, neither of truth values nor of floating-point numbers", t)
	}
}

// addBias adds numbers that broadcast to the scores.
func (a *attention) addBias(bias graph.Value) {
	bias = a.c.castTo(bias, a.wide)
	if !a.bias.IsZero() {
		bias = a.c.elementwise(elementwise.Add, nil, a.bias, bias)
	}
	a.bias = bias
}

// padMask returns a mask whose last axis goes on with elements of value, or
// with zeros, if it is shorter than that of keys and pad is set.
func (a *attention) padMask(mask graph.Value, pad bool, value graph.Value) graph.Value {
	s := mask.Type().Shape
	rank := len(s)
	if !pad || rank == 0 || s[rank-1] >= a.keys {
		return mask
	}
	pads := make([]int, 2*rank)
	pads[2*rank-1] = a.keys - s[rank-1]
	return a.c.one(move.Pad{Pads: pads}, mask, value)
}

// positions returns n positions from first on along one of four axes.
func (c *call) positions(n, first, axis int) graph.Value {
	return c.along(c.one(move.Iota{N: n, Start: int64Scalar(first), Delta: int64Scalar(1)}), axis, 4)
}

// endingAt returns the positions of so many queries of which the last one is
// just before end, for each element of the batch. They may be negative.
func (c *call) endingAt(end graph.Value, queries int) graph.Value {
	if t := end.Type().DType; t != dtype.Int64 {
		end = c.castTo(end, dtype.Int64)
	}
	return c.elementwise(elementwise.Add, nil, end, c.positions(queries, -queries, 2))
}

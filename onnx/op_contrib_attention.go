package onnx

import (
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/view"
	"github.com/berth-go/berth/shape"
)

// contribAttentionOps are the attentions of ONNX Runtime.
var contribAttentionOps = []row{
	{microsoft, "Attention", 1, 2, 6, contribAttention},
	{microsoft, "GroupQueryAttention", 1, 1, 11, groupQueryAttention},
	{microsoft, "MultiHeadAttention", 1, 1, 8, multiHeadAttention},
	{microsoft, "RotaryEmbedding", 1, 4, 4, contribRotary},
}

// contribAttention makes queries, keys and values by one product with weights
// that lie side by side.
func contribAttention(c *call) []graph.Value {
	w := c.checkPacked()
	sizes := c.ints("qkv_hidden_sizes")
	if sizes == nil {
		sizes = []int{w[1] / 3, w[1] / 3, w[1] / 3}
	}
	all := c.one(linear.MatMul{}, c.in[0], c.in[1])
	if c.has(2) {
		all = c.addLike(all, c.in[2])
	}
	return c.packedAttention(all, sizes, 3, 4, 5)
}

// checkPacked checks the ranks of inputs 0 and 1, the tokens and the weights, whose
// shape it returns.
func (c *call) checkPacked() shape.Shape {
	x, w := c.shape(0), c.shape(1)
	if len(x) != 3 || len(w) != 2 {
		c.failf("the input has the shape %v and the weights %v, want 3 axes and 2", x, w)
	}
	return w
}

// packedAttention is the attention of queries, keys and values that lie side by side
// on the last axis of all, so many columns of each. The other numbers are those of
// inputs. Past and present hold keys and values as one tensor of shape
// [2, batch, heads, length, size].
func (c *call) packedAttention(all graph.Value, sizes []int, mask, before, bias int) []graph.Value {
	c.require("num_heads")
	heads := c.int("num_heads", 0)
	c.unsupportedFlag("do_rotary")
	c.unsupportedFlag("past_present_share_buffer")
	w := c.shape(1)
	if len(sizes) != 3 || min(sizes[0], sizes[1], sizes[2]) < 0 || max(sizes[0], sizes[1], sizes[2]) > w[1] || sizes[0]+sizes[1]+sizes[2] != w[1] {
		c.failf("queries, keys and values have %v columns of the weights %v", sizes, w)
	}
	var qkv [3]graph.Value
	at := 0
	for i, name := range [...]string{"queries", "keys", "values"} {
		part := c.one(view.SliceView{Axis: 2, Start: at, N: sizes[i], Step: 1}, all)
		qkv[i], at = c.splitHeads(part, heads, name), at+sizes[i]
	}
	q, k, v := qkv[0], qkv[1], qkv[2]
	past := 0
	if c.has(before) {
		s := c.shape(before)
		if len(s) != 5 || s[0] != 2 {
			c.failf("past has the shape %v, want 2, batch, heads, length, size", s)
		}
		past = s[3]
		of := func(i int) graph.Value {
			return c.one(view.Reshape{Shape: s[1:]}, c.one(view.SliceView{Axis: 0, Start: i, N: 1, Step: 1}, c.in[before]))
		}
		k, v = c.one(move.Concat{Axis: 2}, of(0), k), c.one(move.Concat{Axis: 2}, of(1), v)
	}
	a := c.newAttention(q, k, v)
	a.contrib(mask, bias, past)
	outs := list(c.joinHeads(c.castTo(a.run(), q.Type().DType)))
	if c.wants(1) {
		stacked := func(v graph.Value) graph.Value {
			return c.one(view.Reshape{Shape: append([]int{1}, v.Type().Shape...)}, v)
		}
		outs = append(outs, c.one(move.Concat{Axis: 0}, stacked(k), stacked(v)))
	}
	return outs
}

// multiHeadAttention takes queries, keys and values apart, or packed: all three
// in input 0, or keys and values in input 1. Keys and values of four axes have
// their heads apart already.
func multiHeadAttention(c *call) []graph.Value {
	c.require("num_heads")
	heads := c.int("num_heads", 0)
	packed := func(x graph.Value, i, of int) graph.Value {
		s := x.Type().Shape
		if len(s) != 5 || s[2] != heads || s[3] != of {
			c.failf("packed inputs have the shape %v, want batch, length, %d heads, %d and size", s, heads, of)
		}
		x = c.one(view.SliceView{Axis: 3, Start: i, N: 1, Step: 1}, x)
		x = c.one(view.Reshape{Shape: []int{s[0], s[1], s[2], s[4]}}, x)
		return c.one(view.Permute{Perm: []int{0, 2, 1, 3}}, x)
	}
	bias := c.projectionBias(3)
	apart := func(i int, name string) graph.Value {
		if i > 0 && c.rank(i) == 4 {
			return c.in[i]
		}
		x := c.in[i]
		if c.has(3) {
			x = c.addLike(x, bias(i, x))
		}
		return c.splitHeads(x, heads, name)
	}
	if c.has(3) && (!c.has(1) || !c.has(2)) {
		c.failf("a bias does not go with packed inputs")
	}
	var q, k, v graph.Value
	switch {
	case !c.has(1) && !c.has(2):
		q, k, v = packed(c.in[0], 0, 3), packed(c.in[0], 1, 3), packed(c.in[0], 2, 3)
	case !c.has(2):
		q, k, v = apart(0, "query"), packed(c.in[1], 0, 2), packed(c.in[1], 1, 2)
	case !c.has(1):
		c.failf("there are values without keys")
	default:
		q, k, v = apart(0, "query"), apart(1, "key"), apart(2, "value")
	}
	if c.has(6) != c.has(7) {
		c.failf("there are past keys without values, or values without keys")
	}
	past := 0
	if c.has(6) {
		past = c.pastLength(6, 2)
		k, v = c.append(6, k, 2), c.append(7, v, 2)
	}
	a := c.newAttention(q, k, v)
	a.contrib(4, 5, past)
	return list(c.joinHeads(c.castTo(a.run(), c.in[0].Type().DType)), k, v)
}

// projectionBias returns what gives queries, keys and values, 0 to 2, their part
// of the bias that is input i.
func (c *call) projectionBias(i int) func(part int, x graph.Value) graph.Value {
	at := 0
	return func(part int, x graph.Value) graph.Value {
		s := x.Type().Shape
		if len(s) != 3 || c.rank(i) != 1 || at+s[2] > c.shape(i)[0] {
			c.failf("the bias has the shape %v, which does not hold %d elements from %d on for input %d", c.shape(i), s[len(s)-1], at, part)
		}
		b := c.one(view.SliceView{Axis: 0, Start: at, N: s[2], Step: 1}, c.in[i])
		at += s[2]
		return b
	}
}

// contrib reads what the attentions of ONNX Runtime have in common: the scale, a
// padding mask and a bias of the scores, and whether queries see what comes
// after them. What the mask hides gets a value that is low but finite.
func (a *attention) contrib(mask, bias, past int) {
	c := a.c
	if scale := c.float("scale", 0); scale != 0 {
		a.scale = scale
	}
	hidden := c.float("mask_filter_value", -10000)
	if c.flag("unidirectional", false) {
		a.causal(c.positions(a.queries, past, 2))
	}
	if c.has(mask) {
		zero, low := elementwise.Operand{Scalar: zeroOf(a.wide)}, elementwise.Operand{Scalar: kernel.Float64Scalar(hidden).Cast(a.wide)}
		a.bias = must(elementwise.ApplyOperands(elementwise.Where, nil, elementwise.Operand{Value: a.unpadded(mask, past)}, zero, low))
	}
	if c.has(bias) {
		a.addBias(c.in[bias])
	}
}

// unpadded returns which keys input i says are no padding. It is a mask of shape
// [batch, keys], [batch, queries, keys] or [batch, 1, most, most], or the ends of
// the keys, one for each element of the batch, and behind them their beginnings.
func (a *attention) unpadded(i, past int) graph.Value {
	c := a.c
	m, s := c.in[i], c.shape(i)
	switch {
	case len(s) == 1 && s[0] == a.batch:
		return c.elementwise(elementwise.Less, nil, a.keyPositions(), c.bounds(m, 0, a.batch))
	case len(s) == 1 && s[0] == 2*a.batch:
		before := c.elementwise(elementwise.Less, nil, a.keyPositions(), c.bounds(m, 0, a.batch))
		behind := c.elementwise(elementwise.GreaterEqual, nil, a.keyPositions(), c.bounds(m, a.batch, a.batch))
		return c.elementwise(elementwise.And, nil, before, behind)
	case len(s) == 2:
		m = c.one(view.Reshape{Shape: []int{s[0], 1, 1, s[1]}}, m)
	case len(s) == 3:
		m = c.one(view.Reshape{Shape: []int{s[0], 1, s[1], s[2]}}, m)
	case len(s) == 4:
		m = c.one(view.SliceView{Axis: 2, Start: past, N: a.queries, Step: 1}, m)
		m = c.one(view.SliceView{Axis: 3, N: a.keys, Step: 1}, m)
	default:
		c.failf("a mask of shape %v for %d elements of the batch is not supported", s, a.batch)
	}
	return c.withScalar(elementwise.Greater, m, 0)
}

// bounds returns n elements of a list of positions, from start on, along the
// first of four axes.
func (c *call) bounds(list graph.Value, start, n int) graph.Value {
	part := c.one(view.SliceView{Axis: 0, Start: start, N: n, Step: 1}, list)
	return c.along(c.castTo(part, dtype.Int64), 0, 4)
}

// unsupportedFlag fails if a flag is set that asks for what there is not.
func (c *call) unsupportedFlag(name string) {
	if c.flag(name, false) {
		c.failf("%w with the attribute %q", ErrUnsupported, name)
	}
}

// contribRotary has positions for every token, or that of the first one alone.
func contribRotary(c *call) []graph.Value {
	c.unsupportedFlag("is_packed_batching")
	if scale := c.float("scale", 1); scale != 1 {
		c.failf("%w with a scale, which is %v", ErrUnsupported, scale)
	}
	x, cache := c.in[0], c.shape(2)
	heads, dim := c.int("num_heads", 0), c.int("rotary_embedding_dim", 0)
	interleaved := c.flag("interleaved", false)
	flat := c.rank(0) == 3
	if flat {
		if heads == 0 && dim == 0 && len(cache) == 2 && cache[1] > 0 {
			heads = c.shape(0)[2] / (2 * cache[1])
		}
		x = c.splitHeads(x, heads, "the input")
	}
	if len(x.Type().Shape) != 4 {
		c.failf("the input has the shape %v, want 3 or 4 axes", c.shape(0))
	}
	ids := c.castTo(c.in[1], dtype.Int64)
	if s := c.shape(1); len(s) == 1 && s[0] == 1 {
		ids = c.elementwise(elementwise.Add, nil, c.reshape(ids, 1, 1), c.ramp(x.Type().Shape[2], 1, 1, 2))
	}
	y := c.rotate(x, rotary{cos: c.one(move.Gather{}, c.in[2], ids), sin: c.one(move.Gather{}, c.in[3], ids), dim: dim, interleaved: interleaved})
	if flat {
		y = c.joinHeads(y)
	}
	return list(y)
}

// groupQueryAttention turns queries and keys, writes keys and values into a
// cache behind those that each element of the batch has there, and attends to
// the cache up to each query. The cache is as long as that of the past, or as
// all tokens together, whichever is more.
func groupQueryAttention(c *call) []graph.Value {
	c.require("num_heads")
	c.require("kv_num_heads")
	heads, groups := c.int("num_heads", 0), c.int("kv_num_heads", 0)
	for _, name := range []string{"smooth_softmax", "qk_output", "sliding_window_cache"} {
		c.unsupportedFlag(name)
	}
	for _, name := range []string{"k_quant_type", "v_quant_type"} {
		choice(c, name, "NONE", map[string]bool{"NONE": true})
	}
	c.needs(5, 6)
	q, k, v := c.groupedInputs(heads, groups)
	batch, length := c.shape(0)[0], c.shape(0)[1]
	if !c.shape(5).Equal([]int{batch}) && !c.shape(5).Equal([]int{batch, 1}) {
		c.failf("seqlens_k has the shape %v, not [%d]", c.shape(5), batch)
	}
	total := c.scalar(6)
	// The tokens of each element of the batch, and where the new ones begin: at 0
	// where padding follows fewer than there are places.
	end := c.withScalar(elementwise.Add, c.along(c.castTo(c.in[5], dtype.Int64), 0, 4), 1)
	start := c.elementwise(elementwise.Sub, nil, end, c.reshape(c.extents([]int{length}), 1, 1, 1, 1))
	start = c.withScalar(elementwise.Maximum, start, 0)
	if c.flag("do_rotary", false) {
		q, k = c.groupedRotary(q, k, start)
	}
	k, v = c.cached(3, k, start, total), c.cached(4, v, start, total)
	a := c.newAttention(q, k, v)
	if scale := c.float("scale", 0); scale != 0 {
		a.scale = scale
	}
	a.softcap = c.float("softcap", 0)
	query := c.elementwise(elementwise.Add, nil, start, c.positions(length, 0, 2))
	window := c.int("local_window_size", -1)
	if c.flag("causal", true) {
		a.causal(query)
	} else {
		a.allowBefore(end)
	}
	if window > 0 {
		// A window counts the query itself.
		a.window(query, window-1, -1)
	}
	if c.has(10) {
		a.addBias(c.in[10])
	}
	return list(c.joinHeads(c.castTo(a.run(), c.in[0].Type().DType)), k, v)
}

// groupedInputs returns queries, keys and values with their heads apart; input
// 0 holds all three when there are no others.
func (c *call) groupedInputs(heads, groups int) (q, k, v graph.Value) {
	if c.has(1) != c.has(2) {
		c.failf("there are keys without values, or values without keys")
	}
	if c.has(1) {
		return c.splitHeads(c.in[0], heads, "query"), c.splitHeads(c.in[1], groups, "key"), c.splitHeads(c.in[2], groups, "value")
	}
	if groups < 1 || heads < 1 || max(heads, groups) > math.MaxInt32 {
		c.failf("attributes num_heads and kv_num_heads are %d and %d, want at least 1", heads, groups)
	}
	all := c.splitHeads(c.in[0], heads+2*groups, "query, key and value")
	part := func(start, n int) graph.Value {
		return c.one(view.SliceView{Axis: 1, Start: start, N: n, Step: 1}, all)
	}
	return part(0, heads), part(heads, groups), part(heads+groups, groups)
}

// groupedRotary turns queries and keys by the angles of their positions, which
// are input 9 or follow start.
func (c *call) groupedRotary(q, k, start graph.Value) (_, _ graph.Value) {
	if !c.has(7) || !c.has(8) {
		c.failf("attribute do_rotary is set, but cos_cache or sin_cache is missing")
	}
	if c.rank(7) != 2 {
		c.failf("cos_cache has the shape %v, want 2 axes", c.shape(7))
	}
	batch, length := c.shape(0)[0], c.shape(0)[1]
	at := c.input(9)
	if at.IsZero() {
		at = c.elementwise(elementwise.Add, nil, start, c.positions(length, 0, 2))
		at = c.one(view.Reshape{Shape: []int{batch, length}}, at)
	}
	r := rotary{
		cos: c.one(move.Gather{}, c.in[7], at), sin: c.one(move.Gather{}, c.in[8], at),
		dim: 2 * c.shape(7)[1], interleaved: c.flag("rotary_interleaved", false),
	}
	return c.rotate(q, r), c.rotate(k, r)
}

// cached returns the cache that is input i, and at least total tokens long, with
// x written into it from start on, which each element of the batch has for
// itself.
func (c *call) cached(i int, x, start graph.Value, total int) graph.Value {
	s := x.Type().Shape
	past := 0
	if c.has(i) {
		past = c.pastLength(i, 2)
	}
	cache := c.input(i)
	if total > past+s[2] {
		c.failf("total_sequence_length is %d, more than %d past and %d new tokens", total, past, s[2])
	}
	if past < total {
		zeros := c.one(move.Fill{Shape: []int{s[0], s[1], total - past, s[3]}, Value: zeroOf(x.Type().DType)})
		if cache.IsZero() {
			cache = zeros
		} else {
			cache = c.one(move.Concat{Axis: 2}, cache, zeros)
		}
	}
	at := c.elementwise(elementwise.Add, nil, start, c.positions(s[2], 0, 2))
	return c.one(move.ScatterElements{Axis: 2}, cache, c.one(view.BroadcastTo{Shape: s}, at), x)
}

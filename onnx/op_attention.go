package onnx

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/view"
)

// attentionOps are the operators of attention, and what stands around them in a
// transformer.
var attentionOps = []row{
	{"", "Attention", 23, 3, 6, convertAttention},
	{"", "Attention", 24, 3, 7, convertAttention},
	{"", "CausalConvWithState", 27, 2, 4, convertCausalConv},
	{"", "LinearAttention", 27, 3, 6, convertLinearAttention},
	{"", "RotaryEmbedding", 23, 3, 4, convertRotaryEmbedding},
	{"ai.onnx.preview", "FlexAttention", 1, 3, 3, convertFlexAttention},
}

// convertAttention takes queries, keys and values of three axes, where a token
// has its heads side by side, or of four, where heads come before tokens. It
// continues past keys and values, or is told how many of those given are no
// padding.
func convertAttention(c *call) []graph.Value {
	c.attrSince(25, "left_window_size", "right_window_size")
	q, k, v := c.in[0], c.in[1], c.in[2]
	qHeads, kvHeads := c.int("q_num_heads", 0), c.int("kv_num_heads", 0)
	flat := c.rank(0) == 3
	if flat {
		c.require("q_num_heads")
		c.require("kv_num_heads")
		q, k, v = c.splitHeads(q, qHeads, "Q"), c.splitHeads(k, kvHeads, "K"), c.splitHeads(v, kvHeads, "V")
	}
	if c.has(4) != c.has(5) || c.wants(1) != c.wants(2) {
		c.failf("there are keys without values, or values without keys, among past and present")
	}
	if c.has(6) && (c.has(4) || c.wants(1)) {
		c.failf("nonpad_kv_seqlen does not go with past or present keys and values")
	}
	past := 0
	if c.has(4) {
		past = c.pastLength(4, 2)
		k, v = c.append(4, k, 2), c.append(5, v, 2)
	}
	a := c.newAttention(q, k, v)
	if qHeads != 0 && qHeads != a.heads || kvHeads != 0 && kvHeads != a.groups {
		c.failf("attributes q_num_heads and kv_num_heads are %d and %d, but the inputs have %d and %d heads", qHeads, kvHeads, a.heads, a.groups)
	}
	a.scale = c.float("scale", a.scale)
	a.softcap = c.float("softcap", 0)
	a.readPrecision()
	query := c.positions(a.queries, past, 2)
	if c.has(6) {
		if !c.shape(6).Equal([]int{a.batch}) {
			c.failf("nonpad_kv_seqlen has the shape %v, not [%d]: a length for each element of the batch", c.shape(6), a.batch)
		}
		length := c.along(c.in[6], 0, 4)
		query = c.endingAt(length, a.queries)
		a.allowBefore(length)
	}
	a.window(query, c.int("left_window_size", -1), c.int("right_window_size", -1))
	if c.flag("is_causal", false) {
		a.causal(query)
	}
	if c.has(6) {
		a.bare = true // a query beyond the keys of its element
	}
	if c.has(3) {
		a.addMask(c.in[3], c.opset() >= 24)
	}
	mode := c.int("qk_matmul_output_mode", 0)
	if mode < 0 || mode > 3 {
		c.failf("attribute qk_matmul_output_mode is %d, not 0 to 3", mode)
	}
	y := a.run()
	outs := list(c.castTo(y, c.in[0].Type().DType), k, v, graph.Value{})
	if flat {
		outs[0] = c.joinHeads(outs[0])
	}
	if c.wants(3) {
		outs[3] = c.castTo(a.stages[mode], c.in[0].Type().DType)
	}
	return outs
}

// convertFlexAttention is attention whose scores and probabilities may be changed by
// graphs. Halves have float32 scores.
func convertFlexAttention(c *call) []graph.Value {
	a := c.newAttention(c.in[0], c.in[1], c.in[2])
	a.scale = c.float("scale", a.scale)
	a.readPrecision()
	a.scoreMod, a.probMod = c.graphOrNil("score_mod"), c.graphOrNil("prob_mod")
	return list(c.castTo(a.run(), c.in[2].Type().DType))
}

// splitHeads takes the heads of x apart: [batch, length, heads*size] becomes
// [batch, heads, length, size].
func (c *call) splitHeads(x graph.Value, heads int, name string) graph.Value {
	return c.one(view.Permute{Perm: []int{0, 2, 1, 3}}, c.perHead(x, heads, name))
}

// perHead returns x, of shape [batch, length, heads*size], as
// [batch, length, heads, size].
func (c *call) perHead(x graph.Value, heads int, name string) graph.Value {
	s := x.Type().Shape
	if len(s) != 3 {
		c.failf("%s has the shape %v, want 3 axes: batch, length, heads*size", name, s)
	}
	if heads < 1 || s[2]%heads != 0 {
		c.failf("%s has the shape %v, whose last axis does not divide into %d heads", name, s, heads)
	}
	return c.one(view.Reshape{Shape: []int{s[0], s[1], heads, s[2] / heads}}, x)
}

// joinHeads is the reverse of [call.splitHeads].
func (c *call) joinHeads(x graph.Value) graph.Value {
	s := x.Type().Shape
	x = c.one(view.Permute{Perm: []int{0, 2, 1, 3}}, x)
	return c.one(view.Reshape{Shape: []int{s[0], s[2], s[1] * s[3]}}, x)
}

// pastLength returns the extent of the given axis of input i, which holds the
// keys or values of earlier calls and has four axes.
func (c *call) pastLength(i, axis int) int {
	if c.rank(i) != 4 {
		c.failf("input %d, past keys or values, has the shape %v, want 4 axes", i, c.shape(i))
	}
	return c.shape(i)[axis]
}

// append returns x behind input i along an axis.
func (c *call) append(i int, x graph.Value, axis int) graph.Value {
	return c.one(move.Concat{Axis: axis}, c.in[i], x)
}

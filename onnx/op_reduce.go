package onnx

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op"
)

// reduceOps lists the operators that go along axes: reductions, searches,
// running sums and the softmax family.
var reduceOps = []row{
	{"", "ReduceL1", 1, 1, 1, legacyReduce(op.ReduceL1)},
	{"", "ReduceL1", 18, 1, 2, reduceBy(op.ReduceL1)},
	{"", "ReduceL2", 1, 1, 1, legacyReduce(op.ReduceL2)},
	{"", "ReduceL2", 18, 1, 2, reduceBy(op.ReduceL2)},
	{"", "ReduceLogSum", 1, 1, 1, legacyReduce(op.ReduceLogSum)},
	{"", "ReduceLogSum", 18, 1, 2, reduceBy(op.ReduceLogSum)},
	{"", "ReduceLogSumExp", 1, 1, 1, legacyReduce(op.ReduceLogSumExp)},
	{"", "ReduceLogSumExp", 18, 1, 2, reduceBy(op.ReduceLogSumExp)},
	{"", "ReduceMax", 1, 1, 1, legacyReduce(op.ReduceMax)},
	{"", "ReduceMax", 18, 1, 2, reduceBy(op.ReduceMax)},
	{"", "ReduceMean", 1, 1, 1, legacyReduce(op.ReduceMean)},
	{"", "ReduceMean", 18, 1, 2, reduceBy(op.ReduceMean)},
	{"", "ReduceMin", 1, 1, 1, legacyReduce(op.ReduceMin)},
	{"", "ReduceMin", 18, 1, 2, reduceBy(op.ReduceMin)},
	{"", "ReduceProd", 1, 1, 1, legacyReduce(op.ReduceProd)},
	{"", "ReduceProd", 18, 1, 2, reduceBy(op.ReduceProd)},
	{"", "ReduceSum", 1, 1, 1, legacyReduce(op.ReduceSum)},
	{"", "ReduceSum", 13, 1, 2, reduceBy(op.ReduceSum)},
	{"", "ReduceSumSquare", 1, 1, 1, legacyReduce(op.ReduceSumSquare)},
	{"", "ReduceSumSquare", 18, 1, 2, reduceBy(op.ReduceSumSquare)},

	{"", "ArgMax", 1, 1, 1, argReduce(true)},
	{"", "ArgMax", 12, 1, 1, argReduce(true)},
	{"", "ArgMin", 1, 1, 1, argReduce(false)},
	{"", "ArgMin", 12, 1, 1, argReduce(false)},
	{"", "TopK", 1, 1, 1, topK},
	{"", "TopK", 10, 2, 2, topK},
	{"", "TopK", 11, 2, 2, topK},

	{"", "CumProd", 26, 2, 2, cumulative(op.ReduceProd)},
	{"", "CumSum", 11, 2, 2, cumulative(op.ReduceSum)},

	{"", "Hardmax", 1, 1, 1, flattened(hardmax)},
	{"", "Hardmax", 13, 1, 1, alongAxis(hardmax)},
	{"", "LogSoftmax", 1, 1, 1, flattened(logSoftmax)},
	{"", "LogSoftmax", 13, 1, 1, alongAxis(logSoftmax)},
	{"", "Softmax", 1, 1, 1, flattened(softmax)},
	{"", "Softmax", 13, 1, 1, alongAxis(softmax)},
}

// legacyReduce takes the axes as an attribute. None at all are all of them.
func legacyReduce(kind op.ReduceKind) converter {
	return func(c *call) []graph.Value {
		c.attrSince(13, "noop_with_empty_axes")
		return list(c.one(op.Reduce{Kind: kind, Axes: c.ints("axes"), KeepDims: c.flag("keepdims", true)}, c.in[0]))
	}
}

// reduceBy takes the axes as input 1. None at all are all of them or, when
// "noop_with_empty_axes" is set, none.
func reduceBy(kind op.ReduceKind) converter {
	return func(c *call) []graph.Value {
		c.attrUntil(c.version()-1, "axes")
		r := op.Reduce{
			Kind:        kind,
			NoopIfEmpty: c.flag("noop_with_empty_axes", false),
			KeepDims:    c.flag("keepdims", true),
		}
		if c.has(1) {
			r.Axes = c.known(1)
		}
		return list(c.one(r, c.in[0]))
	}
}

func argReduce(largest bool) converter {
	return func(c *call) []graph.Value {
		c.attrSince(12, "select_last_index")
		return list(c.one(op.ArgReduce{
			Max:        largest,
			Axis:       c.int("axis", 0),
			KeepDims:   c.flag("keepdims", true),
			SelectLast: c.flag("select_last_index", false),
		}, c.in[0]))
	}
}

// topK takes the number as an attribute at opset 1 and as an input later;
// since opset 11 it can also find the smallest elements.
func topK(c *call) []graph.Value {
	c.attrUntil(9, "k")
	c.attrSince(11, "largest", "sorted")
	k := op.TopK{Axis: c.int("axis", -1), Largest: c.flag("largest", true), Sorted: c.flag("sorted", true)}
	if c.version() >= 10 {
		k.K = c.scalar(1)
	} else {
		c.require("k")
		k.K = c.int("k", 0)
	}
	return c.all(k, c.in[0])
}

func cumulative(kind op.ReduceKind) converter {
	return func(c *call) []graph.Value {
		return list(c.one(op.Cumulative{
			Kind:      kind,
			Axis:      c.scalar(1),
			Exclusive: c.flag("exclusive", false),
			Reverse:   c.flag("reverse", false),
		}, c.in[0]))
	}
}

func softmax(axis int) graph.Op    { return op.Softmax{Axis: axis} }
func logSoftmax(axis int) graph.Op { return op.Softmax{Axis: axis, Log: true} }
func hardmax(axis int) graph.Op    { return op.Hardmax{Axis: axis} }

// alongAxis converts an operator of the softmax family since opset 13: along
// one axis, the last by default.
func alongAxis(along func(axis int) graph.Op) converter {
	return func(c *call) []graph.Value { return list(c.one(along(c.int("axis", -1)), c.in[0])) }
}

// flattened converts an operator of the softmax family before opset 13: along
// "axis", 1 by default, and all axes after it together.
func flattened(along func(axis int) graph.Op) converter {
	return func(c *call) []graph.Value {
		x := c.shape(0)
		axis := c.int("axis", 1)
		if axis != len(x) { // where each element is alone
			axis = c.axis(axis, len(x))
		}
		if axis == len(x)-1 {
			return list(c.one(along(axis), c.in[0]))
		}
		// Whether there is a reshape must not depend on extents, which may
		// vary; so it is there even if it changes nothing.
		flat := c.one(op.Reshape{Shape: []int{x[:axis].Elems(), x[axis:].Elems()}}, c.in[0])
		return list(c.one(op.Reshape{Shape: x}, c.one(along(1), flat)))
	}
}

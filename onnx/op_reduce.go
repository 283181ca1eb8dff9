package onnx

import (
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/internal/op/view"
)

// reduceOps lists the operators that go along axes: reductions, searches,
// running sums and the softmax family.
var reduceOps = []row{
	{"", "ReduceL1", 1, 1, 1, legacyReduce(reduce.L1)},
	{"", "ReduceL1", 18, 1, 2, reduceBy(reduce.L1)},
	{"", "ReduceL2", 1, 1, 1, legacyReduce(reduce.L2)},
	{"", "ReduceL2", 18, 1, 2, reduceBy(reduce.L2)},
	{"", "ReduceLogSum", 1, 1, 1, legacyReduce(reduce.LogSum)},
	{"", "ReduceLogSum", 18, 1, 2, reduceBy(reduce.LogSum)},
	{"", "ReduceLogSumExp", 1, 1, 1, legacyReduce(reduce.LogSumExp)},
	{"", "ReduceLogSumExp", 18, 1, 2, reduceBy(reduce.LogSumExp)},
	{"", "ReduceMax", 1, 1, 1, legacyReduce(reduce.Max)},
	{"", "ReduceMax", 18, 1, 2, reduceBy(reduce.Max)},
	{"", "ReduceMean", 1, 1, 1, legacyReduce(reduce.Mean)},
	{"", "ReduceMean", 18, 1, 2, reduceBy(reduce.Mean)},
	{"", "ReduceMin", 1, 1, 1, legacyReduce(reduce.Min)},
	{"", "ReduceMin", 18, 1, 2, reduceBy(reduce.Min)},
	{"", "ReduceProd", 1, 1, 1, legacyReduce(reduce.Prod)},
	{"", "ReduceProd", 18, 1, 2, reduceBy(reduce.Prod)},
	{"", "ReduceSum", 1, 1, 1, legacyReduce(reduce.Sum)},
	{"", "ReduceSum", 13, 1, 2, reduceBy(reduce.Sum)},
	{"", "ReduceSumSquare", 1, 1, 1, legacyReduce(reduce.SumSquare)},
	{"", "ReduceSumSquare", 18, 1, 2, reduceBy(reduce.SumSquare)},

	{"", "ArgMax", 1, 1, 1, argReduce(true)},
	{"", "ArgMin", 1, 1, 1, argReduce(false)},
	{"", "TopK", 1, 1, 1, topK},
	{"", "TopK", 10, 2, 2, topK},

	{"", "CumProd", 26, 2, 2, cumulative(reduce.Prod)},
	{"", "CumSum", 11, 2, 2, cumulative(reduce.Sum)},

	{"", "Hardmax", 1, 1, 1, flattened(hardmax)},
	{"", "Hardmax", 13, 1, 1, alongAxis(hardmax)},
	{"", "LogSoftmax", 1, 1, 1, flattened(logSoftmax)},
	{"", "LogSoftmax", 13, 1, 1, alongAxis(logSoftmax)},
	{"", "Softmax", 1, 1, 1, flattened(softmax)},
	{"", "Softmax", 13, 1, 1, alongAxis(softmax)},
}

// legacyReduce takes the axes as an attribute. None at all are all of them.
func legacyReduce(kind reduce.Kind) converter {
	return func(c *call) []graph.Value {
		return list(c.one(reduce.Reduce{Kind: kind, Axes: c.ints("axes"), KeepDims: c.flag("keepdims", true)}, c.in[0]))
	}
}

// reduceBy takes the axes as input 1. None at all are all of them or, when
// "noop_with_empty_axes" is set, none.
func reduceBy(kind reduce.Kind) converter {
	return func(c *call) []graph.Value {
		c.attrUntil(c.node.row.since-1, "axes")
		return list(c.one(reduce.Reduce{
			Kind:        kind,
			Axes:        c.knownOrNil(1),
			NoopIfEmpty: c.flag("noop_with_empty_axes", false),
			KeepDims:    c.flag("keepdims", true),
		}, c.in[0]))
	}
}

func argReduce(largest bool) converter {
	return func(c *call) []graph.Value {
		c.attrSince(12, "select_last_index")
		return list(c.one(reduce.ArgReduce{
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
	k := reduce.TopK{Axis: c.int("axis", -1), Largest: c.flag("largest", true), Sorted: c.flag("sorted", true)}
	if c.opset() >= 10 {
		k.K = c.scalar(1)
	} else {
		c.require("k")
		k.K = c.int("k", 0)
	}
	return c.all(k, c.in[0])
}

func cumulative(kind reduce.Kind) converter {
	return func(c *call) []graph.Value {
		return list(c.one(reduce.Cumulative{
			Kind:      kind,
			Axis:      c.scalar(1),
			Exclusive: c.flag("exclusive", false),
			Reverse:   c.flag("reverse", false),
		}, c.in[0]))
	}
}

func softmax(axis int) graph.Op    { return norm.Softmax{Axis: axis} }
func logSoftmax(axis int) graph.Op { return norm.Softmax{Axis: axis, Log: true} }
func hardmax(axis int) graph.Op    { return norm.Hardmax{Axis: axis} }

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
		flat := c.one(view.Reshape{Shape: []int{x[:axis].Elems(), x[axis:].Elems()}}, c.in[0])
		return list(c.one(view.Reshape{Shape: x}, c.one(along(1), flat)))
	}
}

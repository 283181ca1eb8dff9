package onnx

import (
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/internal/wire"
)

// lossOps are the losses of classifiers: scores of shape [N, C, d1, ...]
// against the labels, of shape [N, d1, ...], of the right classes.
var lossOps = []row{
	{"", "NegativeLogLikelihoodLoss", 12, 2, 3, negativeLogLikelihood},
	{"", "SoftmaxCrossEntropyLoss", 12, 2, 3, softmaxCrossEntropy},
}

func negativeLogLikelihood(c *call) []graph.Value {
	c.checkLabels()
	return list(c.likelihoodLoss(c.castTo(c.in[0], wider(c.in[0].Type().DType))))
}

// softmaxCrossEntropy takes scores of any scale. Their logarithms as
// probabilities are the second output.
func softmaxCrossEntropy(c *call) []graph.Value {
	c.checkLabels()
	t := c.in[0].Type().DType
	logProb := c.one(logSoftmax(1), c.castTo(c.in[0], wider(t)))
	return list(c.likelihoodLoss(logProb), c.castTo(logProb, t))
}

// checkLabels checks the inputs of a loss: scores, labels and weights.
func (c *call) checkLabels() {
	scores, labels := c.in[0].Type(), c.in[1].Type()
	if !scores.DType.IsFloat() || labels.DType != dtype.Int32 && labels.DType != dtype.Int64 {
		c.failf("scores are of type %v and labels of type %v, want floating point and int32 or int64", scores.DType, labels.DType)
	}
	if len(scores.Shape) < 2 {
		c.failf("scores have the shape %v, which has no classes", scores.Shape)
	}
	if want := slices.Delete(scores.Shape.Clone(), 1, 2); !labels.Shape.Equal(want) {
		c.failf("labels have the shape %v, want %v for scores of shape %v", labels.Shape, want, scores.Shape)
	}
	if c.has(2) {
		weights := c.in[2].Type()
		if weights.DType != scores.DType || len(weights.Shape) != 1 || weights.Shape[0] != scores.Shape[1] {
			c.failf("weights are %v, want a %v for each of %d classes", weights, scores.DType, scores.Shape[1])
		}
	}
}

// likelihoodLoss returns the loss for log-probabilities, which are of the type
// that it is computed in, as the type of input 0. For each label y
//
//	loss = -logProb[y] * weight[y], or 0 where y is to be ignored
//	mean = sum of loss / sum of weight[y] over the labels not ignored
//
// Where no weights are given, each is 1. A label out of range is an error of the
// run.
func (c *call) likelihoodLoss(logProb graph.Value) graph.Value {
	reduction := choice(c, "reduction", "mean", map[string]string{"none": "none", "sum": "sum", "mean": "mean"})
	wide := logProb.Type().DType
	apply := func(code elementwise.Code, args ...elementwise.Operand) graph.Value {
		return must(elementwise.ApplyOperands(code, nil, args...))
	}
	value := func(v graph.Value) elementwise.Operand { return elementwise.Operand{Value: v} }
	number := func(n int) elementwise.Operand { return elementwise.Operand{Scalar: int64Scalar(n).Cast(wide)} }

	// kept returns v with zeros in the places of labels to be ignored.
	kept := func(v elementwise.Operand) graph.Value { return v.Value }
	labels := c.castTo(c.in[1], dtype.Int64)
	ignoreIndex := c.attr("ignore_index", wire.AttrInt)
	if ignoreIndex != nil {
		ignored := value(apply(elementwise.Equal, value(labels), elementwise.Operand{Scalar: kernel.Int64Scalar(ignoreIndex.Int)}))
		labels = apply(elementwise.Where, ignored, elementwise.Operand{Scalar: int64Scalar(0)}, value(labels))
		kept = func(v elementwise.Operand) graph.Value { return apply(elementwise.Where, ignored, number(0), v) }
	}

	dims := labels.Type().Shape
	at := c.reshape(labels, slices.Insert(dims.Clone(), 1, 1)...)
	loss := c.elementwise(elementwise.Neg, nil, c.reshape(c.one(move.GatherElements{Axis: 1}, logProb, at), dims...))
	var weights graph.Value
	switch {
	case c.has(2):
		weights = kept(value(c.one(move.Gather{}, c.castTo(c.in[2], wide), labels)))
		loss = c.elementwise(elementwise.Mul, nil, loss, weights)
	case ignoreIndex != nil:
		weights = kept(number(1))
	}
	loss = kept(value(loss))

	switch sum := (reduce.Reduce{Kind: reduce.Sum}); {
	case reduction == "sum":
		loss = c.one(sum, loss)
	case reduction == "mean" && weights.IsZero():
		loss = c.one(reduce.Reduce{Kind: reduce.Mean}, loss)
	case reduction == "mean":
		loss = c.elementwise(elementwise.Div, nil, c.one(sum, loss), c.one(sum, weights))
	}
	return c.castTo(loss, c.in[0].Type().DType)
}

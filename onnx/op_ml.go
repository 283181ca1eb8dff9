package onnx

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/norm"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/internal/wire"
)

// mlDomain is the domain of the operators of models of tables.
const mlDomain = "ai.onnx.ml"

// mlOps lists the operators of models of tables.
var mlOps = []row{
	{mlDomain, "ArrayFeatureExtractor", 1, 2, 2, arrayFeatureExtractor},
	{mlDomain, "Binarizer", 1, 1, 1, binarizer},
	{mlDomain, "CategoryMapper", 1, 1, 1, categoryMapper},
	{mlDomain, "FeatureVectorizer", 1, 1, many, featureVectorizer},
	{mlDomain, "Imputer", 1, 1, 1, imputer},
	{mlDomain, "LabelEncoder", 1, 1, 1, legacyLabelEncoder},
	{mlDomain, "LabelEncoder", 2, 1, 1, labelEncoder},
	{mlDomain, "LinearClassifier", 1, 1, 1, linearClassifier},
	{mlDomain, "LinearRegressor", 1, 1, 1, linearRegressor},
	{mlDomain, "Normalizer", 1, 1, 1, normalizer},
	{mlDomain, "OneHotEncoder", 1, 1, 1, oneHotEncoder},
	{mlDomain, "SVMClassifier", 1, 1, 1, svmClassifier},
	{mlDomain, "SVMRegressor", 1, 1, 1, svmRegressor},
	{mlDomain, "Scaler", 1, 1, 1, scaler},
	{mlDomain, "TreeEnsemble", 5, 1, 1, treeEnsemble},
	{mlDomain, "TreeEnsembleClassifier", 1, 1, 1, treeClassifier},
	{mlDomain, "TreeEnsembleRegressor", 1, 1, 1, treeRegressor},
}

// table returns input 0 as rows of features, of type float32 or float64. What has
// one axis is one row.
func (c *call) table() graph.Value {
	x := c.in[0]
	switch s := c.shape(0); len(s) {
	case 1:
		x = c.reshape(x, 1, s[0])
	case 2:
	default:
		c.failf("input 0 is %v, not rows of features", x.Type())
	}
	if x.Type().DType == dtype.Float64 {
		return x
	}
	return c.castTo(x, dtype.Float32)
}

// reals returns numbers of type t, float32 or float64, as a constant.
func reals(t dtype.Type, data []float64, dims ...int) graph.Value {
	if t == dtype.Float64 {
		return constant(data, dims...)
	}
	narrow := make([]float32, len(data))
	for i, v := range data {
		narrow[i] = float32(v)
	}
	return constant(narrow, dims...)
}

// widest returns float64 where a value or a flag asks for it, and float32 elsewhere.
func widest(x graph.Value, wide bool) dtype.Type {
	if wide || x.Type().DType == dtype.Float64 {
		return dtype.Float64
	}
	return dtype.Float32
}

// tensorReals returns a tensor attribute of one axis as numbers, and whether they are
// float64; none when it is absent.
func (c *call) tensorReals(name string) (out []float64, wide bool) {
	v := c.tensor(name)
	if v.IsZero() {
		return nil, false
	}
	t := v.Type()
	if !t.DType.IsFloat() || len(t.Shape) != 1 {
		c.failf("attribute %q is %v, not a list of floating-point numbers", name, t)
	}
	out = make([]float64, t.Shape.Elems())
	for i := range out {
		out[i] = kernel.ScalarAt(t.DType, v.Node().Stored().Data, i).Float64()
	}
	return out, t.DType == dtype.Float64
}

// realsOf returns the numbers of an attribute that is a list or, since version 3 and
// under a longer name, a tensor; and whether they are float64.
func (c *call) realsOf(name string) (out []float64, wide bool) {
	tensor := name + "_as_tensor"
	c.attrSince(3, tensor)
	out = c.floats(name)
	if c.opset() < 3 || !c.hasAttr(tensor) {
		return out, false
	}
	if len(out) > 0 {
		c.failf("attributes %q and %q are both given", name, tensor)
	}
	return c.tensorReals(tensor)
}

// lengths checks that lists of attributes have n elements each.
func (c *call) lengths(n int, what string, lists map[string]int) {
	for _, name := range sortedKeys(lists) {
		if lists[name] != n {
			c.failf("attribute %q has %d elements, %q %d", name, lists[name], what, n)
		}
	}
}

// A classes are the labels of a classifier: integers, or the numbers of strings.
type classes struct {
	labels []int64
	text   bool
}

// classes returns the labels of a classifier, of which the attribute of the given
// name lists integers.
func (c *call) classes(ints string) (n int, _ classes) {
	words := c.textIDs("classlabels_strings")
	labels := attrOr(c, ints, wire.AttrInts, nil, func(a *wire.Attribute) []int64 { return a.Ints })
	switch {
	case len(labels) > 0 && len(words) > 0:
		c.failf("attributes %q and \"classlabels_strings\" are both given", ints)
	case len(labels) > 0:
		return len(labels), classes{labels, false}
	case len(words) == 0:
		c.failf("attributes %q and \"classlabels_strings\" are both missing", ints)
	}
	return len(words), classes{words, true}
}

// textIDs returns the numbers of the strings in an attribute, which the model has had
// since it was loaded.
func (c *call) textIDs(name string) []int64 {
	var ids []int64
	for _, s := range c.texts(name) {
		ids = append(ids, c.textID(s))
	}
	return ids
}

// textID returns the number of a string in the file.
func (c *call) textID(s string) int64 { return c.imp.model.texts.ids[s] }

// best returns the label of the largest of each row of scores, the first of equals. A
// single class has the labels 1 above 0, and else 0.
func (c *call) best(scores graph.Value, labels classes) graph.Value {
	if len(labels.labels) == 1 && !labels.text {
		return c.above(scores, 0)
	}
	return c.label(c.one(reduce.ArgReduce{Max: true, Axis: 1}, scores), labels)
}

// label returns what labels have at the given places.
func (c *call) label(places graph.Value, labels classes) graph.Value {
	v := c.one(move.Gather{}, constant(labels.labels, len(labels.labels)), places)
	if labels.text {
		c.words = append(c.words, v)
	}
	return v
}

// above returns 1 for what exceeds a number, and 0, for the only score of each row.
func (c *call) above(scores graph.Value, least float64) graph.Value {
	yes := c.castTo(c.withScalar(elementwise.Greater, scores, least), dtype.Int64)
	return c.reshape(yes, scores.Type().Shape[0])
}

// A transform is what becomes of the scores of a row in the end. Newer operators name
// it by its number.
type transform int

const (
	transformNone transform = iota
	transformSoftmax
	transformLogistic
	transformSoftmaxZero
	transformProbit
	transforms
)

// postTransform returns the transform that the node names.
func (c *call) postTransform() transform {
	return choice(c, "post_transform", "NONE", map[string]transform{
		"NONE": transformNone, "SOFTMAX": transformSoftmax, "LOGISTIC": transformLogistic,
		"SOFTMAX_ZERO": transformSoftmaxZero, "PROBIT": transformProbit,
	})
}

// transformed returns rows of scores after a transform.
func (c *call) transformed(scores graph.Value, t transform) graph.Value {
	switch t {
	case transformSoftmax:
		return c.one(norm.Softmax{Axis: 1}, scores)
	case transformLogistic:
		return c.elementwise(elementwise.Sigmoid, nil, scores)
	case transformSoftmaxZero:
		return c.softmaxZero(scores)
	case transformProbit:
		return c.probit(scores)
	}
	return scores
}

// softmaxZero is softmax among the scores that are not 0 or next to it; the others
// stay next to 0. A row of zeros becomes 0.5 throughout.
func (c *call) softmaxZero(x graph.Value) graph.Value {
	const nearly = 1e-7
	most := c.one(reduce.Reduce{Kind: reduce.Max, Axes: []int{1}, KeepDims: true}, x)
	size := c.elementwise(elementwise.Abs, nil, x)
	e := c.elementwise(elementwise.Where, nil, c.withScalar(elementwise.Greater, size, nearly),
		c.elementwise(elementwise.Exp, nil, c.elementwise(elementwise.Sub, nil, x, most)),
		c.elementwise(elementwise.Mul, nil, x, c.elementwise(elementwise.Exp, nil, c.elementwise(elementwise.Neg, nil, most))))
	sum := c.one(reduce.Reduce{Kind: reduce.Sum, Axes: []int{1}, KeepDims: true}, e)
	half := elementwise.Operand{Scalar: kernel.Float64Scalar(0.5)}
	return must(elementwise.ApplyOperands(elementwise.Where, nil,
		elementwise.Operand{Value: c.withScalar(elementwise.Equal, sum, 0)}, half,
		elementwise.Operand{Value: c.elementwise(elementwise.Div, nil, e, sum)}))
}

// probit is the inverse of the distribution function of the normal distribution, by
// S. Winitzki's approximation of the inverse error function ("A handy approximation
// for the error function and its inverse", 2008), which ONNX Runtime has:
//
//	p = 2x-1,  l = log((1-p)(1+p)),  v = 2/(π*0.147) + l/2
//	y = sqrt(2) * sign(p) * sqrt(sqrt(v*v - l/0.147) - v)
//
// It is infinite at 0 and 1, and NaN beyond.
func (c *call) probit(x graph.Value) graph.Value {
	const a, pi, root2 = 0.147, 3.14159, 1.41421356
	unary := func(code elementwise.Code, v graph.Value) graph.Value { return c.elementwise(code, nil, v) }
	p := c.withScalar(elementwise.Sub, c.withScalar(elementwise.Mul, x, 2), 1)
	l := unary(elementwise.Log, c.elementwise(elementwise.Mul, nil,
		c.withScalar(elementwise.Add, unary(elementwise.Neg, p), 1), c.withScalar(elementwise.Add, p, 1)))
	v := c.withScalar(elementwise.Add, c.withScalar(elementwise.Mul, l, 0.5), 2/(pi*a))
	inner := c.elementwise(elementwise.Sub, nil, c.elementwise(elementwise.Mul, nil, v, v), c.withScalar(elementwise.Mul, l, 1/a))
	size := unary(elementwise.Sqrt, c.elementwise(elementwise.Sub, nil, unary(elementwise.Sqrt, inner), v))
	return c.withScalar(elementwise.Mul, c.elementwise(elementwise.Mul, nil, unary(elementwise.Sign, p), size), root2)
}

package onnx

import (
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/linear"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/tabular"
)

// likeness returns what each row of x has to do with each of n support vectors, by the
// kernel function that the node names, [rows, n].
func (c *call) likeness(x graph.Value, n int) graph.Value {
	vectors, features, t := c.floats("support_vectors"), x.Type().Shape[1], x.Type().DType
	if len(vectors)/n != features || len(vectors)%n != 0 {
		c.failf("attribute \"support_vectors\" has %d numbers for %d vectors of %d features", len(vectors), n, features)
	}
	params := c.floats("kernel_params")
	if params == nil {
		params = make([]float64, 3)
	}
	if len(params) != 3 {
		c.failf("attribute \"kernel_params\" has %d numbers, want gamma, coef0 and degree", len(params))
	}
	gamma, coef0, degree := params[0], params[1], params[2]
	others := reals(t, vectors, n, features)
	kind := c.kernelType()
	if kind == "RBF" {
		d := c.one(tabular.SquaredDistance{}, x, others)
		return c.elementwise(elementwise.Exp, nil, c.withScalar(elementwise.Mul, d, -gamma))
	}
	dot := c.one(linear.Gemm{Alpha: 1, TransB: true}, x, others)
	if kind == "LINEAR" {
		return dot
	}
	dot = c.withScalar(elementwise.Add, c.withScalar(elementwise.Mul, dot, gamma), coef0)
	if kind == "SIGMOID" {
		return c.elementwise(elementwise.Tanh, nil, dot)
	}
	return c.withScalar(elementwise.Pow, dot, degree)
}

func (c *call) kernelType() string {
	return choice(c, "kernel_type", "LINEAR", map[string]string{"LINEAR": "LINEAR", "POLY": "POLY", "RBF": "RBF", "SIGMOID": "SIGMOID"})
}

// rho returns the attribute of that name, which has so many numbers at least.
func (c *call) rho(least int) []float64 {
	rho := c.floats("rho")
	if len(rho) < least {
		c.failf("attribute \"rho\" has %d numbers, want %d", len(rho), least)
	}
	return rho[:least]
}

// weighed returns x·weightsᵀ + bias, [rows, n]; weights lie row by row, and bias has one
// number or n.
func (c *call) weighed(x graph.Value, weights []float64, n int, bias []float64) graph.Value {
	columns, t := x.Type().Shape[1], x.Type().DType
	if len(weights)/n != columns || len(weights)%n != 0 {
		c.failf("attribute \"coefficients\" has %d numbers for %d scores of %d each", len(weights), n, columns)
	}
	return c.one(linear.Gemm{Alpha: 1, Beta: 1, TransB: true}, x, reals(t, weights, n, columns), reals(t, bias, len(bias)))
}

// svmRegressor weighs what rows have to do with support vectors or, without any, the
// rows themselves. With "one_class" it says 1 for what is above 0, and else -1.
func svmRegressor(c *call) []graph.Value {
	x, post := c.table(), c.postTransform()
	n := c.int("n_supports", 0)
	c.asked = append(c.asked, "support_vectors", "kernel_params", "kernel_type")
	if n < 0 {
		c.failf("attribute \"n_supports\" is %d", n)
	}
	if n > 0 {
		x = c.likeness(x, n)
	}
	y := c.weighed(x, c.floats("coefficients"), 1, c.rho(1))
	if c.flag("one_class", false) {
		above := c.castTo(c.withScalar(elementwise.Greater, y, 0), y.Type().DType)
		y = c.withScalar(elementwise.Sub, c.withScalar(elementwise.Mul, above, 2), 1)
	}
	return list(c.castTo(c.transformed(y, post), dtype.Float32))
}

// svmClassifier has a score for each class or, with support vectors, for each pair of
// classes, which votes for the first one above 0 and else for the second one; the label
// is that with the most votes, the first of equals. With "prob_a" the scores become the
// probabilities of the classes. Those of two classes are the score with both signs.
func svmClassifier(c *call) []graph.Value {
	n, labels := c.classes("classlabels_ints")
	x, post := c.table(), c.postTransform()
	c.asked = append(c.asked, "support_vectors", "kernel_params", "kernel_type", "prob_a", "prob_b")
	perClass, coefficients := c.ints("vectors_per_class"), c.floats("coefficients")
	vectors := 0
	for i, k := range perClass {
		if k < 0 || k > len(coefficients)-vectors {
			c.failf("attribute \"vectors_per_class\" is %d for class %d, and there are %d coefficients", k, i, len(coefficients))
		}
		vectors += k
	}
	if vectors == 0 {
		y := c.weighed(x, coefficients, n, c.rho(1))
		return list(c.best(y, labels), c.castTo(c.transformed(y, post), dtype.Float32))
	}
	if len(perClass) != n || n < 2 {
		c.failf("attribute \"vectors_per_class\" has %d numbers for %d classes, of which there are 2 at least", len(perClass), n)
	}
	pairs := n * (n - 1) / 2
	y := c.weighed(c.likeness(x, vectors), c.ofPairs(coefficients, perClass, vectors), pairs, c.rho(pairs))
	label := c.mostVotes(y, n, labels)
	switch a, b := c.floats("prob_a"), c.floats("prob_b"); {
	case len(a) > 0:
		if len(a) != pairs || len(b) != pairs {
			c.failf("attributes \"prob_a\" and \"prob_b\" have %d and %d numbers for %d pairs of classes", len(a), len(b), pairs)
		}
		y = c.probabilities(y, a, b, n)
	case n == 2:
		y = c.one(move.Concat{Axis: 1}, c.elementwise(elementwise.Neg, nil, y), y)
	}
	return list(label, c.castTo(c.transformed(y, post), dtype.Float32))
}

// mostWeights bounds the weights of a SVMClassifier, of which there are half as many
// for each coefficient as classes.
const mostWeights = 1 << 26

// ofPairs returns the weight of each support vector for each pair of classes. In the
// file, row j-1 has what vectors of class i are worth against class j > i, and row i
// what those of class j are worth against class i.
func (c *call) ofPairs(coefficients []float64, perClass []int, vectors int) []float64 {
	n := len(perClass)
	pairs := n * (n - 1) / 2
	if len(coefficients) != (n-1)*vectors {
		c.failf("attribute \"coefficients\" has %d numbers for %d classes and %d vectors", len(coefficients), n, vectors)
	}
	if pairs > mostWeights/max(vectors, n) {
		c.failf("%d pairs of classes and %d vectors make more than %d weights", pairs, vectors, mostWeights)
	}
	first := make([]int, n+1) // vector of each class
	for i, k := range perClass {
		first[i+1] = first[i] + k
	}
	out := make([]float64, pairs*vectors)
	row := out
	for i := range n {
		for j := i + 1; j < n; j++ {
			copy(row[first[i]:first[i+1]], coefficients[(j-1)*vectors+first[i]:])
			copy(row[first[j]:first[j+1]], coefficients[i*vectors+first[j]:])
			row = row[vectors:]
		}
	}
	return out
}

// mostVotes returns the label of the class with the most votes of the pairs.
func (c *call) mostVotes(scores graph.Value, n int, labels classes) graph.Value {
	pairs := scores.Type().Shape[1]
	votes, rest := make([]float32, pairs*n), make([]float32, n) // rest is what there is if all scores are low
	row := votes
	for i := range n {
		for j := i + 1; j < n; j++ {
			row[i], row[j] = 1, -1
			rest[j]++
			row = row[n:]
		}
	}
	high := c.castTo(c.withScalar(elementwise.Greater, scores, 0), dtype.Float32)
	return c.best(c.one(linear.Gemm{Alpha: 1, Beta: 1}, high, constant(votes, pairs, n), constant(rest, n)), labels)
}

// probabilities returns those of n classes for scores of pairs, by a logistic function
// of each score that a and b give.
func (c *call) probabilities(scores graph.Value, a, b []float64, n int) graph.Value {
	const least = 1e-7
	t := scores.Type().DType
	minus := func(list []float64) graph.Value {
		list = slices.Clone(list)
		for i := range list {
			list[i] = -list[i]
		}
		return reals(t, list, len(list))
	}
	r := c.elementwise(elementwise.Add, nil, c.elementwise(elementwise.Mul, nil, scores, minus(a)), minus(b))
	r = c.elementwise(elementwise.Sigmoid, nil, r)
	r = c.withScalar(elementwise.Minimum, c.withScalar(elementwise.Maximum, r, least), 1-least)
	return c.one(tabular.Couple{Classes: n}, r)
}

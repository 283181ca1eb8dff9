package onnx

import (
	"math"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/wire"
)

// attrReals returns a tensor attribute of float64.
func attrReals(name string, v ...float64) wire.Attribute {
	return attrTensor(name, wireTensor(wire.Double, v))
}

// wireTensor returns a tensor of one axis.
func wireTensor(t wire.DataType, v []float64) wire.Tensor {
	x, err := inside.Value(tensorOf(elementTypes[t], v, len(v)).Promise())
	if err != nil {
		panic(err)
	}
	return wire.Tensor{DataType: t, Dims: []int64{int64(len(v))}, Raw: x.Node().Leaf().Data}
}

// with returns attributes of which some are others: those of the same name, or new ones.
func with(list []wire.Attribute, others ...wire.Attribute) []wire.Attribute {
	return append(without(list, others...), others...)
}

// without returns attributes but for those of the names of others.
func without(list []wire.Attribute, others ...wire.Attribute) []wire.Attribute {
	return slices.DeleteFunc(slices.Clone(list), func(a wire.Attribute) bool {
		return slices.ContainsFunc(others, func(o wire.Attribute) bool { return o.Name == a.Name })
	})
}

// stumps are two trees: x0 <= 1 ? a : b, and x1 > 2 ? c : d, whose nodes 0 to 2 are
// the question and the leaves.
var stumps = attrs(
	attrInts("nodes_treeids", 0, 0, 0, 4, 4, 4), attrInts("nodes_nodeids", 0, 1, 2, 0, 1, 2),
	attrInts("nodes_featureids", 0, 0, 0, 1, 0, 0), attrFloats("nodes_values", 1, 0, 0, 2, 0, 0),
	attrTexts("nodes_modes", "BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_GT", "LEAF", "LEAF"),
	attrInts("nodes_truenodeids", 1, 0, 0, 1, 0, 0), attrInts("nodes_falsenodeids", 2, 0, 0, 2, 0, 0),
)

// votes returns stumps with the votes of their four leaves, for the targets.
func votes(prefix string, targets []int64, weights ...float32) []wire.Attribute {
	return with(stumps,
		attrInts(prefix+"_treeids", 0, 0, 4, 4), attrInts(prefix+"_nodeids", 1, 2, 1, 2),
		attrInts(prefix+"_ids", targets...), attrFloats(prefix+"_weights", weights...))
}

func TestTreeRegressor(t *testing.T) {
	const op = "ai.onnx.ml.TreeEnsembleRegressor"
	nan := math.NaN()
	one := with(votes("target", []int64{0, 0, 0, 0}, 1, 2, 10, 20), attrInt("n_targets", 1))
	two := with(votes("target", []int64{0, 1, 0, 1}, 1, 2, 10, 20), attrInt("n_targets", 2))
	x := f32([]float64{0, 0, 1, 3, 2, 3, nan, nan}, 4, 2)
	runNodeTests(t, []nodeTest{
		{"sum", op, 1, one, in{x}, in{f32([]float64{21, 11, 12, 22}, 4, 1)}, ""},
		{"two targets", op, 1, two, in{x}, in{f32([]float64{1, 20, 11, 0, 10, 2, 0, 22}, 4, 2)}, ""},
		{"missing values", op, 1, with(one, attrInts("nodes_missing_value_tracks_true", 1, 0, 0, 1, 0, 0)), in{x}, in{f32([]float64{21, 11, 12, 11}, 4, 1)}, ""},
		{"average", op, 3, with(two, attrText("aggregate_function", "AVERAGE")), in{x}, in{f32([]float64{.5, 10, 5.5, 0, 5, 1, 0, 11}, 4, 2)}, ""},
		{"largest", op, 3, with(one, attrText("aggregate_function", "MAX")), in{x}, in{f32([]float64{20, 10, 10, 20}, 4, 1)}, ""},
		{"smallest", op, 3, with(one, attrText("aggregate_function", "MIN"), attrFloats("base_values", 5)), in{x}, in{f32([]float64{6, 6, 7, 7}, 4, 1)}, ""},
		{"base values", op, 1, with(two, attrFloats("base_values", 100, 200)), in{x}, in{f32([]float64{101, 220, 111, 200, 110, 202, 100, 222}, 4, 2)}, ""},
		{"hit rates", op, 1, with(one, attrFloats("nodes_hitrates", 1, 1, 1, 1, 1, 1)), in{x}, in{f32([]float64{21, 11, 12, 22}, 4, 1)}, ""},
		{"logistic", op, 1, with(one, attrText("post_transform", "LOGISTIC"), attrFloats("base_values", -21)), in{x},
			in{f32([]float64{.5, 1 / (1 + math.Exp(10)), 1 / (1 + math.Exp(9)), 1 / (1 + math.Exp(-1))}, 4, 1)}, ""},
		{"one row", op, 1, one, in{f32([]float64{0, 0})}, in{f32([]float64{21}, 1, 1)}, ""},
		{"no rows", op, 1, two, in{f32(nil, 0, 2)}, in{f32(nil, 0, 2)}, ""},
		{"integers", op, 1, one, in{i64([]float64{1, 3}, 1, 2)}, in{f32([]float64{11}, 1, 1)}, ""},
		// 1 + 1e-9 is 1 in float32.
		{"float64", op, 1, one, in{tensorOf(dtype.Float64, []float64{1 + 1e-9, 3}, 1, 2)}, in{f32([]float64{12}, 1, 1)}, ""},
		{"rounded", op, 1, one, in{f32([]float64{1 + 1e-9, 3}, 1, 2)}, in{f32([]float64{11}, 1, 1)}, ""},
		{"tensors", op, 3, with(without(one, attrFloats("nodes_values"), attrFloats("target_weights")),
			attrReals("nodes_values_as_tensor", 1-1e-9, 0, 0, 2, 0, 0), attrReals("target_weights_as_tensor", 1, 2, 10, 20),
			attrReals("base_values_as_tensor", 1), attrReals("nodes_hitrates_as_tensor", 1)),
			in{f32([]float64{1, 3}, 1, 2)}, in{f32([]float64{13}, 1, 1)}, ""},
		{"votes of a question", op, 1, with(one, attrInts("target_nodeids", 0, 2, 1, 2)), in{x}, in{f32([]float64{20, 10, 12, 22}, 4, 1)}, ""},

		{"tensors too early", op, 1, with(one, attrReals("base_values_as_tensor", 1)), in{x}, nil, "base_values_as_tensor does not exist before version 3"},
		{"both", op, 3, with(one, attrReals("nodes_values_as_tensor", 1)), in{x}, nil, "are both given"},
		{"too short", op, 1, with(one, attrInts("nodes_featureids", 0)), in{x}, nil, `attribute "nodes_featureids" has 1 elements, "nodes_nodeids" 6`},
		{"no such mode", op, 1, with(one, attrTexts("nodes_modes", "BRANCH_LEQ", "LEAF", "LEAF", "BRANCH", "LEAF", "LEAF")), in{x}, nil, `"BRANCH" of node 0 of tree 4`},
		{"no such child", op, 1, with(one, attrInts("nodes_truenodeids", 1, 0, 0, 7, 0, 0)), in{x}, nil, "node 0 of tree 4 leads to node 7, which does not exist"},
		{"loop", op, 1, with(one, attrInts("nodes_truenodeids", 1, 0, 0, 0, 0, 0)), in{x}, nil, "node 0 of tree 4 leads back to node 0 of tree 4"},
		{"twice", op, 1, with(one, attrInts("nodes_nodeids", 0, 1, 2, 0, 1, 1)), in{x}, nil, "node 1 of tree 4 is given twice"},
		{"no such feature", op, 1, one, in{f32([]float64{1}, 1, 1)}, nil, "node 0 of tree 4 asks for feature 1 of 1"},
		{"no such target", op, 1, with(one, attrInts("target_ids", 0, 0, 0, 1)), in{x}, nil, "node 2 of tree 4 votes for target 1 of 1"},
		{"vote of no node", op, 1, with(one, attrInts("target_nodeids", 1, 2, 1, 9)), in{x}, nil, "vote 3 is of node 9 of tree 4"},
		{"no targets", op, 1, without(one, attrInt("n_targets", 0)), in{x}, nil, "0"},
		{"base of others", op, 1, with(one, attrFloats("base_values", 1, 2)), in{x}, nil, `"base_values" has 2 numbers for 1 targets`},
		{"no such function", op, 1, with(one, attrText("aggregate_function", "MEDIAN")), in{x}, nil, "MEDIAN"},
		{"three axes", op, 1, one, in{f32(nil, 0, 1, 2)}, nil, "not rows of features"},
	})
}

func TestTreeClassifier(t *testing.T) {
	const op = "ai.onnx.ml.TreeEnsembleClassifier"
	x := f32([]float64{0, 0, 1, 3, 2, 3, 2, 0}, 4, 2) // leaves ad, ac, bc, bd
	classes := func(n int64, list []wire.Attribute, more ...wire.Attribute) []wire.Attribute {
		labels := []int64{7, 8, 9}[:n]
		return with(list, append(more, attrInts("classlabels_int64s", labels...))...)
	}
	three := votes("class", []int64{0, 1, 2, 1}, 1, 2, 4, 3)
	lone := votes("class", []int64{0, 0, 0, 0}, .1, .2, .3, .7) // .8 .4 .5 .9
	mixed := votes("class", []int64{0, 0, 0, 0}, 1, -3, 2, -1)  // 0 3 -1 -4
	both := votes("class", []int64{0, 1, 0, 1}, 1, 3, 2, 1)     // 1 1, 3 0, 2 3, 0 4
	logistic := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	pairs := func(f func(s float64) (a, b float64), s ...float64) *berth.Tensor {
		var out []float64
		for _, v := range s {
			a, b := f(v)
			out = append(out, a, b)
		}
		return f32(out, len(s), 2)
	}
	e := math.E
	runNodeTests(t, []nodeTest{
		{"three classes", op, 1, classes(3, three), in{x}, in{i64([]float64{8, 9, 9, 8}), f32([]float64{1, 3, 0, 1, 0, 4, 0, 2, 4, 0, 5, 0}, 4, 3)}, ""},
		{"scores alone", op, 1, classes(3, three), in{x}, in{nil, f32([]float64{1, 3, 0, 1, 0, 4, 0, 2, 4, 0, 5, 0}, 4, 3)}, ""},
		{"label alone", op, 3, classes(3, three, attrFloats("base_values", 9, 0, 0)), in{x}, in{i64([]float64{7, 7, 7, 7})}, ""},
		{"softmax", op, 1, classes(2, both, attrText("post_transform", "SOFTMAX")), in{x}, in{i64([]float64{7, 7, 8, 8}),
			f32([]float64{.5, .5, logistic(3), logistic(-3), 1 / (1 + e), e / (1 + e), logistic(-4), logistic(4)}, 4, 2)}, ""},
		{"softmax among others than 0", op, 1, classes(2, both, attrText("post_transform", "SOFTMAX_ZERO")), in{x}, in{i64([]float64{7, 7, 8, 8}),
			f32([]float64{.5, .5, 1, 0, 1 / (1 + e), e / (1 + e), 0, 1}, 4, 2)}, ""},
		{"softmax of zeros", op, 1, classes(2, votes("class", []int64{0, 1, 0, 1}, 0, 0, 0, 0), attrText("post_transform", "SOFTMAX_ZERO")), in{f32([]float64{0, 0}, 1, 2)},
			in{i64([]float64{7}), f32([]float64{.5, .5}, 1, 2)}, ""},
		{"probabilities of one", op, 1, classes(2, lone), in{x}, in{i64([]float64{8, 7, 7, 8}), pairs(func(s float64) (float64, float64) { return 1 - s, s }, .8, .4, .5, .9)}, ""},
		{"probabilities are logistic", op, 1, classes(2, lone, attrText("post_transform", "LOGISTIC")), in{x}, in{i64([]float64{8, 7, 7, 8}), pairs(func(s float64) (float64, float64) { return 1 - s, s }, .8, .4, .5, .9)}, ""},
		{"score of one", op, 1, classes(2, mixed), in{x}, in{i64([]float64{7, 8, 7, 7}), pairs(func(s float64) (float64, float64) { return -s, s }, 0, 3, -1, -4)}, ""},
		{"logistic score of one", op, 1, classes(2, mixed, attrText("post_transform", "LOGISTIC"), attrFloats("base_values", 1)), in{x},
			in{i64([]float64{8, 8, 7, 7}), pairs(func(s float64) (float64, float64) { return logistic(-s), logistic(s) }, 1, 4, 0, -3)}, ""},
		// The normal distribution function is 0.8 at 0.8416 and 0.9 at 1.2816; the
		// approximation is right to three digits.
		{"probit", op, 1, classes(2, lone, attrText("post_transform", "PROBIT")), in{x},
			in{i64([]float64{8, 7, 7, 8}), pairs(func(s float64) (float64, float64) { return -winitzki(s), winitzki(s) }, .8, .4, .5, .9)}, ""},
		{"one class", op, 1, classes(1, mixed), in{x}, in{i64([]float64{0, 1, 0, 0}), f32([]float64{0, 3, -1, -4}, 4, 1)}, ""},
		{"scores of strings", op, 1, with(three, attrTexts("classlabels_strings", "a", "b", "c")), in{x}, in{nil, f32([]float64{1, 3, 0, 1, 0, 4, 0, 2, 4, 0, 5, 0}, 4, 3)}, ""},
		{"no labels", op, 1, three, in{x}, nil, "are both missing"},
		{"too few labels", op, 1, classes(2, three), in{x}, nil, "node 1 of tree 4 votes for target 2 of 2"},
		{"base of others", op, 1, classes(3, three, attrFloats("base_values", 1, 2)), in{x}, nil, `"base_values" has 2 numbers for 3 targets`},
		{"no rows", op, 3, classes(3, three), in{f32(nil, 0, 2)}, in{i64(nil, 0), f32(nil, 0, 3)}, ""},
	})
	for p, want := range map[float64]float64{.5: 0, .8: .8416, .9: 1.2816, .1: -1.2816} {
		if got := winitzki(p); math.Abs(got-want) > 3e-3 {
			t.Errorf("the probit of %v is %v, want %v", p, got, want)
		}
	}
}

// winitzki approximates the inverse of the normal distribution function.
func winitzki(x float64) float64 {
	p := 2*x - 1
	l := math.Log(1 - p*p)
	v := 2/(math.Pi*0.147) + l/2
	return math.Copysign(math.Sqrt2*math.Sqrt(math.Sqrt(v*v-l/0.147)-v), p)
}

func TestTreeEnsemble(t *testing.T) {
	const op = "ai.onnx.ml.TreeEnsemble"
	// x0 in {1, 3} ? 1 for target 0 : (x1 <= 0 ? 2 for target 1 : 4 for target 0);
	// 8 for target 1; x1 in {} ? 16 : 32 for target 0.
	list := attrs(
		attrTensor("nodes_modes", wireTensor(wire.Uint8, []float64{6, 0, 0, 6})),
		attrTensor("nodes_splits", wireTensor(wire.Float, []float64{0, 0, 0, 0})),
		attrTensor("membership_values", wireTensor(wire.Float, []float64{1, 3, math.NaN(), math.NaN()})),
		attrInts("nodes_featureids", 0, 1, 99, 1),
		attrInts("nodes_truenodeids", 0, 1, 3, 4), attrInts("nodes_trueleafs", 1, 1, 1, 1),
		attrInts("nodes_falsenodeids", 1, 2, 3, 5), attrInts("nodes_falseleafs", 0, 1, 1, 1),
		attrInts("leaf_targetids", 0, 1, 0, 1, 0, 0), attrTensor("leaf_weights", wireTensor(wire.Float, []float64{1, 2, 4, 8, 16, 32})),
		attrInts("tree_roots", 0, 2, 3), attrInt("n_targets", 2),
	)
	nan := math.NaN()
	rows := []float64{1, 5, 3, 5, 2, 0, 2, 5, nan, nan}
	sums := []float64{33, 8, 33, 8, 32, 10, 36, 8, 36, 8}
	half := with(list,
		attrTensor("nodes_splits", wireTensor(wire.Float16, []float64{0, 0, 0, 0})), attrTensor("leaf_weights", wireTensor(wire.Float16, []float64{1, 2, 4, 8, 16, 32})),
		attrTensor("membership_values", wireTensor(wire.Float16, []float64{1, 3, nan, nan})))
	runNodeTests(t, []nodeTest{
		{"sum", op, 5, list, in{f32(rows, 5, 2)}, in{f32(sums, 5, 2)}, ""},
		{"halves", op, 5, half, in{tensorOf(dtype.Float16, rows, 5, 2)}, in{tensorOf(dtype.Float16, sums, 5, 2)}, ""},
		{"float64", op, 5, list, in{tensorOf(dtype.Float64, rows, 5, 2)}, in{tensorOf(dtype.Float64, sums, 5, 2)}, ""},
		{"missing values", op, 5, with(list, attrInts("nodes_missing_value_tracks_true", 1, 0, 0, 1)), in{f32(rows[8:], 1, 2)}, in{f32([]float64{17, 8}, 1, 2)}, ""},
		{"average", op, 5, with(list, attrInt("aggregate_function", 0)), in{f32(rows[:2], 1, 2)}, in{f32([]float64{11, 8. / 3}, 1, 2)}, ""},
		{"smallest", op, 5, with(list, attrInt("aggregate_function", 2)), in{f32(rows[4:6], 1, 2)}, in{f32([]float64{32, 2}, 1, 2)}, ""},
		{"largest", op, 5, with(list, attrInt("aggregate_function", 3)), in{f32(rows[4:6], 1, 2)}, in{f32([]float64{32, 8}, 1, 2)}, ""},
		{"logistic", op, 5, with(list, attrInt("post_transform", 2)), in{f32(rows[:2], 1, 2)}, in{f32([]float64{1, 1 / (1 + math.Exp(-8))}, 1, 2)}, ""},
		{"hit rates", op, 5, with(list, attrTensor("nodes_hitrates", wireTensor(wire.Float, []float64{1, 1, 1, 1}))), in{f32(rows, 5, 2)}, in{f32(sums, 5, 2)}, ""},
		{"shared trees", op, 5, with(list, attrInts("tree_roots", 0, 1, 0)), in{f32(rows[:2], 1, 2)}, in{f32([]float64{6, 0}, 1, 2)}, ""},

		{"too few sets", op, 5, with(list, attrTensor("membership_values", wireTensor(wire.Float, []float64{1}))), in{f32(rows, 5, 2)}, nil, "has 1 sets, and 2 nodes ask for one"},
		{"loop", op, 5, with(list, attrInts("nodes_falsenodeids", 0, 2, 3, 5)), in{f32(rows, 5, 2)}, nil, "node 0 leads back to node 0"},
		{"no such node", op, 5, with(list, attrInts("nodes_falsenodeids", 4, 2, 3, 5)), in{f32(rows, 5, 2)}, nil, "node 0 leads to node 4 of 4"},
		{"no such leaf", op, 5, with(list, attrInts("nodes_truenodeids", 0, 6, 3, 4)), in{f32(rows, 5, 2)}, nil, "node 1 leads to leaf 6 of 6"},
		{"no such root", op, 5, with(list, attrInts("tree_roots", 4)), in{f32(rows, 5, 2)}, nil, "root 0 is node 4 of 4"},
		{"no such feature", op, 5, list, in{f32(rows[:1], 1, 1)}, nil, "node 1 asks for feature 1 of 1"},
		{"no such target", op, 5, with(list, attrInts("leaf_targetids", 0, 2, 0, 1, 0, 0)), in{f32(rows, 5, 2)}, nil, "leaf 1 votes for target 2 of 2"},
		{"no such mode", op, 5, with(list, attrTensor("nodes_modes", wireTensor(wire.Uint8, []float64{6, 7, 0, 6}))), in{f32(rows, 5, 2)}, nil, "node 1 is of mode 7"},
		{"modes of another type", op, 5, with(list, attrInts("nodes_modes", 6, 0, 0, 6)), in{f32(rows, 5, 2)}, nil, "nodes_modes"},
		{"no modes", op, 5, without(list, attrInt("nodes_modes", 0)), in{f32(rows, 5, 2)}, nil, `"nodes_modes" is missing`},
		{"no such transform", op, 5, with(list, attrInt("post_transform", 5)), in{f32(rows, 5, 2)}, nil, "post_transform"},
		{"no such function", op, 5, with(list, attrInt("aggregate_function", -1)), in{f32(rows, 5, 2)}, nil, "aggregate_function"},
		{"integers", op, 5, list, in{i64(rows[:2], 1, 2)}, nil, "not of a floating-point type"},
		{"too early", op, 4, list, in{f32(rows, 5, 2)}, nil, "operator is not supported"},
	})
}

package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/internal/op/tabular"
)

// A forest is the trees of a node, and what names their nodes in errors.
type forest struct {
	tabular.Forest
	name func(i int) string
	wide bool // there are numbers of type float64
}

// scores returns what the trees say of each row of x, [rows, targets], in the type
// that the comparisons are made in: float64 if x or a number of the trees is.
func (c *call) scores(x graph.Value, f *forest, targets int, aggregate reduce.Kind) graph.Value {
	t := widest(x, f.wide)
	tables := must(f.Tables(x.Type().Shape[1], targets, f.name))
	return c.one(tabular.TreeEnsemble{Targets: targets, Aggregate: aggregate},
		c.castTo(x, t),
		constant(tables.Nodes, len(tables.Thresholds), tabular.Columns),
		reals(t, tables.Thresholds, len(tables.Thresholds)),
		constant(tables.Roots, len(tables.Roots)),
		constant(tables.Targets, len(tables.Targets)),
		reals(t, tables.Weights, len(tables.Weights)))
}

// aggregated returns the scores of an ensemble after an aggregate function: "SUM",
// "AVERAGE" over the trees, "MIN" or "MAX".
func (c *call) aggregated(x graph.Value, f *forest, targets int, function string) graph.Value {
	kind := map[string]reduce.Kind{"MIN": reduce.Min, "MAX": reduce.Max}[function]
	y := c.scores(x, f, targets, kind)
	if function == "AVERAGE" {
		y = c.withScalar(elementwise.Div, y, float64(max(len(f.Roots), 1)))
	}
	return y
}

// treeRegressor converts trees that are given as tuples of a tree, a node and more.
func treeRegressor(c *call) []graph.Value {
	function := choice(c, "aggregate_function", "SUM", map[string]string{"SUM": "SUM", "AVERAGE": "AVERAGE", "MIN": "MIN", "MAX": "MAX"})
	f, _ := c.forest("target")
	base := c.base(f)
	y := c.withBase(c.aggregated(c.table(), f, c.int("n_targets", 0), function), base)
	y = c.transformed(y, c.postTransform())
	return list(c.castTo(y, dtype.Float32))
}

// base returns the values that scores begin with, and widens the forest where they are
// float64.
func (c *call) base(f *forest) []float64 {
	base, wide := c.realsOf("base_values")
	f.wide = f.wide || wide
	return base
}

// withBase returns scores after adding a number to each column; none are zeros.
func (c *call) withBase(scores graph.Value, base []float64) graph.Value {
	if len(base) == 0 {
		return scores
	}
	if n := scores.Type().Shape[1]; len(base) != n {
		c.failf("attribute \"base_values\" has %d numbers for %d targets", len(base), n)
	}
	return c.elementwise(elementwise.Add, nil, scores, reals(scores.Type().DType, base, len(base)))
}

// treeClassifier converts trees whose votes are for classes. The label is that of the
// class with the highest score before the transform.
//
// Two classes may have votes for the first one alone, which then are the score s of
// the second one, as in ONNX Runtime: weights that are all positive are taken for
// probabilities, which make the scores 1-s and s, label the second class above 0.5,
// and are not transformed but by PROBIT; others make -s and s, and label it above 0.
func treeClassifier(c *call) []graph.Value {
	n, labels := c.classes("classlabels_int64s")
	f, votes := c.forest("class")
	x, base, post := c.table(), c.base(f), c.postTransform()
	if n == 2 && len(base) < 2 && !slices.ContainsFunc(votes, func(v tabular.Vote) bool { return v.Target != 0 }) {
		s := c.withBase(c.scores(x, f, 1, reduce.Sum), base)
		probable := !slices.ContainsFunc(votes, func(v tabular.Vote) bool { return v.Weight < 0 })
		other, least := c.elementwise(elementwise.Neg, nil, s), 0.0
		if probable {
			other, least = c.withScalar(elementwise.Add, other, 1), 0.5
		}
		y := c.one(move.Concat{Axis: 1}, other, s)
		if !probable || post == transformProbit {
			y = c.transformed(y, post)
		}
		return list(c.label(c.above(s, least), labels), c.castTo(y, dtype.Float32))
	}
	if n == 2 && len(base) == 1 {
		base = []float64{base[0], 0} // which is how ONNX Runtime takes it
	}
	y := c.withBase(c.scores(x, f, n, reduce.Sum), base)
	return list(c.best(y, labels), c.castTo(c.transformed(y, post), dtype.Float32))
}

// forest returns the trees of a node whose attributes nodes_* are tuples, one for each
// node, and the votes, which are attributes of the given prefix. The root of a tree is
// the node of it that comes first.
func (c *call) forest(prefix string) (*forest, []tabular.Vote) {
	type key struct{ tree, node int }
	trees, nodes := c.ints("nodes_treeids"), c.ints("nodes_nodeids")
	features, modes := c.ints("nodes_featureids"), c.texts("nodes_modes")
	yes, no := c.ints("nodes_truenodeids"), c.ints("nodes_falsenodeids")
	missing := c.ints("nodes_missing_value_tracks_true")
	thresholds, wide := c.realsOf("nodes_values")
	c.realsOf("nodes_hitrates") // how often nodes are passed, a hint
	c.lengths(len(nodes), "nodes_nodeids", map[string]int{
		"nodes_treeids": len(trees), "nodes_featureids": len(features), "nodes_modes": len(modes),
		"nodes_truenodeids": len(yes), "nodes_falsenodeids": len(no), "nodes_values": len(thresholds),
	})
	if missing == nil {
		missing = make([]int, len(nodes))
	}
	c.lengths(len(nodes), "nodes_nodeids", map[string]int{"nodes_missing_value_tracks_true": len(missing)})

	f := &forest{wide: wide, name: func(i int) string { return fmt.Sprintf("node %d of tree %d", nodes[i], trees[i]) }}
	f.Nodes = make([]tabular.Node, len(nodes))
	places := make(map[key]int, len(nodes))
	known := make(map[int]bool) // trees
	for i := range nodes {
		k := key{trees[i], nodes[i]}
		if _, twice := places[k]; twice {
			c.failf("%s is given twice", f.name(i))
		}
		places[k] = i
		if !known[trees[i]] {
			known[trees[i]] = true
			f.Roots = append(f.Roots, i)
		}
	}
	child := func(i, id int) int {
		at, ok := places[key{trees[i], id}]
		if !ok {
			c.failf("%s leads to node %d, which does not exist", f.name(i), id)
		}
		return at
	}
	for i := range nodes {
		mode, ok := nodeModes[modes[i]]
		if !ok {
			c.failf("attribute \"nodes_modes\": %q of %s is not one of %q", modes[i], f.name(i), sortedKeys(nodeModes))
		}
		n := &f.Nodes[i]
		n.Mode = mode
		if mode != tabular.Leaf {
			n.NaNIsTrue, n.Feature, n.Threshold = missing[i] != 0, features[i], thresholds[i]
			n.True, n.False = child(i, yes[i]), child(i, no[i])
		}
	}

	targets, ofTree, ofNode := c.ints(prefix+"_ids"), c.ints(prefix+"_treeids"), c.ints(prefix+"_nodeids")
	weights, wide := c.realsOf(prefix + "_weights")
	f.wide = f.wide || wide
	c.lengths(len(targets), prefix+"_ids", map[string]int{
		prefix + "_treeids": len(ofTree), prefix + "_nodeids": len(ofNode), prefix + "_weights": len(weights),
	})
	votes := make([]tabular.Vote, len(targets))
	for i, target := range targets {
		at, ok := places[key{ofTree[i], ofNode[i]}]
		if !ok {
			c.failf("vote %d is of node %d of tree %d, which does not exist", i, ofNode[i], ofTree[i])
		}
		votes[i] = tabular.Vote{Target: target, Weight: weights[i]}
		if f.Nodes[at].Mode == tabular.Leaf { // old converters write votes of other nodes too
			f.Nodes[at].Votes = append(f.Nodes[at].Votes, votes[i])
		}
	}
	return f, votes
}

var nodeModes = map[string]tabular.Mode{
	"LEAF":       tabular.Leaf,
	"BRANCH_LEQ": tabular.LessEqual, "BRANCH_LT": tabular.Less,
	"BRANCH_GTE": tabular.GreaterEqual, "BRANCH_GT": tabular.Greater,
	"BRANCH_EQ": tabular.Equal, "BRANCH_NEQ": tabular.NotEqual,
}

// treeEnsemble converts trees whose nodes and leaves are tuples that name each other
// by their places.
func treeEnsemble(c *call) []graph.Value {
	functions := []string{"AVERAGE", "SUM", "MIN", "MAX"}
	function := c.int("aggregate_function", 1)
	if function < 0 || function >= len(functions) {
		c.failf("attribute \"aggregate_function\" is %d, not one of 0 to %d", function, len(functions)-1)
	}
	post := transform(c.int("post_transform", 0))
	if post < 0 || post >= transforms {
		c.failf("attribute \"post_transform\" is %d, not one of 0 to %d", post, transforms-1)
	}
	if x := c.in[0].Type(); !x.DType.IsFloat() {
		c.failf("input 0 is %v, not of a floating-point type", x)
	}
	y := c.aggregated(c.table(), c.placedForest(), c.int("n_targets", 0), functions[function])
	return list(c.castTo(c.transformed(y, post), c.in[0].Type().DType))
}

// memberMode is the mode of nodes that ask whether a feature is in a set. Those below
// it are in the order of the modes behind [tabular.Leaf].
const memberMode = 6

// placedForest returns the trees of a TreeEnsemble: its nodes, behind them its leaves,
// and behind these what sets take beside their nodes.
func (c *call) placedForest() *forest {
	features, modes := c.ints("nodes_featureids"), c.modes()
	yes, no := c.ints("nodes_truenodeids"), c.ints("nodes_falsenodeids")
	yesLeaf, noLeaf := c.ints("nodes_trueleafs"), c.ints("nodes_falseleafs")
	missing := c.ints("nodes_missing_value_tracks_true")
	targets := c.ints("leaf_targetids")
	splits, wideSplits := c.tensorReals("nodes_splits")
	weights, wideWeights := c.tensorReals("leaf_weights")
	c.tensorReals("nodes_hitrates") // how often nodes are passed, a hint
	if missing == nil {
		missing = make([]int, len(modes))
	}
	c.lengths(len(modes), "nodes_modes", map[string]int{
		"nodes_featureids": len(features), "nodes_splits": len(splits),
		"nodes_truenodeids": len(yes), "nodes_falsenodeids": len(no),
		"nodes_trueleafs": len(yesLeaf), "nodes_falseleafs": len(noLeaf),
		"nodes_missing_value_tracks_true": len(missing),
	})
	c.lengths(len(weights), "leaf_weights", map[string]int{"leaf_targetids": len(targets)})

	owner := make([]int, 0, len(modes)+len(weights)) // the node that each part of a set belongs to
	f := &forest{wide: wideSplits || wideWeights}
	f.name = func(i int) string {
		switch {
		case i < len(modes):
			return fmt.Sprint("node ", i)
		case i < len(modes)+len(weights):
			return fmt.Sprint("leaf ", i-len(modes))
		}
		return fmt.Sprint("node ", owner[i-len(modes)-len(weights)])
	}
	f.Nodes = make([]tabular.Node, len(modes)+len(weights))
	for i, w := range weights {
		f.Nodes[len(modes)+i].Votes = []tabular.Vote{{Target: targets[i], Weight: w}}
	}
	child := func(i, id, leaf int) int {
		first, n, what := 0, len(modes), "node"
		if leaf != 0 {
			first, n, what = len(modes), len(weights), "leaf"
		}
		if id < 0 || id >= n {
			c.failf("node %d leads to %s %d of %d", i, what, id, n)
		}
		return first + id
	}
	sets := c.sets(modes)
	for i, mode := range modes {
		n := tabular.Node{
			Mode: tabular.Mode(mode + 1), NaNIsTrue: missing[i] != 0, Feature: features[i],
			True: child(i, yes[i], yesLeaf[i]), False: child(i, no[i], noLeaf[i]),
		}
		set := splits[i : i+1]
		if mode == memberMode {
			// A set is its members one by one; an empty one has none that
			// anything is equal to.
			n.Mode = tabular.Equal
			if set, sets = sets[0], sets[1:]; len(set) == 0 {
				set = []float64{math.NaN()}
			}
		}
		if n.True == n.False && yesLeaf[i] != 0 {
			// A tree that is a leaf has a node like that, which asks nothing.
			f.Nodes[i] = f.Nodes[n.True]
			continue
		}
		at, other := i, n.False
		for k, member := range set {
			n.Threshold, n.False = member, other
			if k < len(set)-1 {
				n.False = len(f.Nodes)
				f.Nodes = append(f.Nodes, tabular.Node{})
				owner = append(owner, i)
			}
			f.Nodes[at] = n
			at = n.False
		}
	}
	f.Roots = c.ints("tree_roots")
	for i, root := range f.Roots {
		if root < 0 || root >= len(modes) {
			c.failf("root %d is node %d of %d", i, root, len(modes))
		}
	}
	return f
}

// modes returns the tensor of the modes of a TreeEnsemble.
func (c *call) modes() []uint8 {
	c.require("nodes_modes")
	v := c.tensor("nodes_modes")
	if t := v.Type(); t.DType != dtype.Uint8 || len(t.Shape) != 1 {
		c.failf("attribute \"nodes_modes\" is %v, not a list of uint8", t)
	}
	modes := kernel.Cast[uint8](v.Node().Stored().Data)
	for i, m := range modes {
		if m > memberMode {
			c.failf("node %d is of mode %d, not one of 0 to %d", i, m, memberMode)
		}
	}
	return modes
}

// sets returns the sets of the nodes that ask for membership, in their order. In the
// attribute, NaN ends a set.
func (c *call) sets(modes []uint8) [][]float64 {
	values, _ := c.tensorReals("membership_values")
	var sets [][]float64
	for len(values) > 0 {
		n := slices.IndexFunc(values, math.IsNaN)
		if n < 0 {
			n = len(values)
		}
		sets = append(sets, values[:n])
		values = values[min(n+1, len(values)):]
	}
	wanted := 0
	for _, m := range modes {
		if m == memberMode {
			wanted++
		}
	}
	if len(sets) != wanted {
		c.failf("attribute \"membership_values\" has %d sets, and %d nodes ask for one", len(sets), wanted)
	}
	return sets
}

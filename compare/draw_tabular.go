package main

import "github.com/berth-go/berth/internal/wire"

var tabularGenerators = map[string]generator{
	"ai.onnx.ml.ArrayFeatureExtractor": {9, arrayFeatures}, "ai.onnx.ml.Binarizer": {9, binarizer}, "ai.onnx.ml.FeatureVectorizer": {9, featureVectorizer},
	"ai.onnx.ml.Imputer": {9, imputer}, "ai.onnx.ml.LabelEncoder": {9, labelEncoder}, "ai.onnx.ml.LinearClassifier": {9, linearClassifier},
	"ai.onnx.ml.LinearRegressor": {9, linearRegressor}, "ai.onnx.ml.Normalizer": {9, normalizer}, "ai.onnx.ml.OneHotEncoder": {9, oneHotEncoder},
	"ai.onnx.ml.Scaler": {9, scaler}, "ai.onnx.ml.SVMRegressor": {9, svmRegressor}, "ai.onnx.ml.SVMClassifier": {9, svmClassifier},
	"ai.onnx.ml.TreeEnsembleRegressor": {9, treeRegressor}, "ai.onnx.ml.TreeEnsembleClassifier": {9, treeClassifier},
	"ai.onnx.ml.CategoryMapper": {9, categoryMapper},
}

var features = []wire.DataType{wire.Float, wire.Float, wire.Double, wire.Int64, wire.Int32}

// random returns n small numbers.
func (d *draw) random(n int64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(d.NormFloat64())
	}
	return v
}

func arrayFeatures(d *draw) {
	t := one(d, wire.Float, wire.Double, wire.Int64, wire.Int32, wire.String)
	dims := d.solid(1, 3)
	d.input(t, dims)
	d.index(wire.Int64, []int64{d.full()}, dims[len(dims)-1], false)
	d.output(t)
}

func binarizer(d *draw) {
	d.maybe(func() { d.float("threshold", 0.3) })
	d.input(wire.Float, d.shape(1, 3))
	d.output(wire.Float)
}

func featureVectorizer(d *draw) {
	t := one(d, features...)
	n := d.full()
	var sizes []int64
	for range 1 + d.IntN(3) {
		size := d.full()
		sizes = append(sizes, size)
		d.input(t, []int64{n, size})
	}
	d.ints("inputdimensions", sizes...)
	d.output(wire.Float)
}

func imputer(d *draw) {
	n := d.full()
	if d.coin() {
		d.floats("imputed_value_floats", d.random(one(d, 1, n))...)
		d.maybe(func() { d.float("replaced_value_float", 1) })
		d.wild = true
		d.input(wire.Float, []int64{d.full(), n})
		d.output(wire.Float)
	} else {
		d.ints("imputed_value_int64s", 7)
		d.int("replaced_value_int64", 1)
		d.input(wire.Int64, []int64{d.full(), n})
		d.output(wire.Int64)
	}
}

func labelEncoder(d *draw) {
	switch d.IntN(4) {
	case 0:
		d.strs("keys_strings", "a", "B", "")
		d.ints("values_int64s", 1, 2, 3)
		d.maybe(func() { d.int("default_int64", 9) })
		d.input(wire.String, d.shape(0, 2))
		d.output(wire.Int64)
	case 1:
		d.ints("keys_int64s", 1, 2, 3, 4)
		d.strs("values_strings", "a", "b", "c", "d")
		d.maybe(func() { d.str("default_string", "none") })
		d.input(wire.Int64, d.shape(0, 2))
		d.output(wire.String)
	case 2:
		d.ints("keys_int64s", 1, 2, 3, 4)
		d.floats("values_floats", 0.1, 0.2, 0.3, 0.4)
		d.input(wire.Int64, d.shape(0, 2))
		d.output(wire.Float)
	default:
		d.floats("keys_floats", 1, 2, 3, 4)
		d.ints("values_int64s", 5, 6, 7, 8)
		d.add(numbersOf(wire.Float, d.shape(0, 2), func() float64 { return float64(d.IntN(6)) }), false)
		d.output(wire.Int64)
	}
}

func (d *draw) postTransform() {
	d.maybe(func() { d.str("post_transform", one(d, "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO")) })
}

func linearClassifier(d *draw) {
	d.bounded()
	classes, n := 2+d.Int64N(3), d.full()
	d.floats("coefficients", d.random(classes*n)...)
	d.floats("intercepts", d.random(classes)...)
	label := wire.Int64
	if d.coin() {
		d.ints("classlabels_ints", []int64{3, 1, 4, 1, 5}[:classes]...)
	} else {
		d.strs("classlabels_strings", []string{"x", "y", "z", "u"}[:classes]...)
		label = wire.String
	}
	d.postTransform()
	d.input(one(d, features...), []int64{d.full(), n})
	d.output(label, wire.Float)
	d.tol = rough
}

func linearRegressor(d *draw) {
	d.bounded()
	targets, n := 1+d.Int64N(3), d.full()
	d.floats("coefficients", d.random(targets*n)...)
	d.maybe(func() { d.floats("intercepts", d.random(targets)...) })
	d.int("targets", targets)
	d.input(wire.Float, []int64{d.full(), n})
	d.output(wire.Float)
}

func normalizer(d *draw) {
	d.bounded()
	d.maybe(func() { d.str("norm", one(d, "MAX", "L1", "L2")) })
	dims := d.solid(2, 2)
	d.input(one(d, features...), dims)
	d.output(wire.Float)
}

func oneHotEncoder(d *draw) {
	d.maybe(func() { d.int("zeros", 1) })
	d.ints("cats_int64s", 0, 1, 2, 5)
	d.add(numbersOf(one(d, wire.Int64, wire.Int32, wire.Float, wire.Double), d.solid(1, 2), func() float64 { return one(d, 0., 1, 2, 5) }), false)
	d.output(wire.Float)
}

func scaler(d *draw) {
	n := d.full()
	d.floats("offset", d.random(one(d, 1, n))...)
	d.floats("scale", d.random(int64(len(d.node.Attributes[0].Floats)))...)
	d.input(one(d, features...), []int64{d.full(), n})
	d.output(wire.Float)
	d.tol = sums
}

func (d *draw) kernelOf() {
	d.str("kernel_type", one(d, "LINEAR", "POLY", "RBF", "SIGMOID"))
	d.floats("kernel_params", 0.3, 0.1, 2)
}

func svmRegressor(d *draw) {
	d.bounded()
	d.tol = rough
	n, vectors := d.full(), d.full()
	d.kernelOf()
	d.int("n_supports", vectors)
	d.floats("support_vectors", d.random(vectors*n)...)
	d.floats("coefficients", d.random(vectors)...)
	d.floats("rho", d.random(1)...)
	d.input(wire.Float, []int64{d.full(), n})
	d.output(wire.Float)
}

func svmClassifier(d *draw) {
	d.bounded()
	d.tol = rough
	classes, n := 2+d.Int64N(2), d.full()
	d.kernelOf()
	var each []int64
	vectors := int64(0)
	for range classes {
		v := 1 + d.Int64N(3)
		each = append(each, v)
		vectors += v
	}
	d.ints("vectors_per_class", each...)
	d.floats("support_vectors", d.random(vectors*n)...)
	d.floats("coefficients", d.random(vectors*(classes-1))...)
	d.floats("rho", d.random(classes*(classes-1)/2)...)
	d.maybe(func() {
		pairs := classes * (classes - 1) / 2
		d.floats("prob_a", d.random(pairs)...)
		d.floats("prob_b", d.random(pairs)...)
	})
	d.ints("classlabels_ints", []int64{3, 1, 4}[:classes]...)
	d.input(wire.Float, []int64{d.full(), n})
	d.output(wire.Int64, wire.Float)
}

// trees draws the nodes of some trees of depth 2, and the votes of each leaf for each of
// some targets, as converters write them. prefix begins the names of their attributes.
func (d *draw) trees(prefix string, n, targets int64) {
	var ids, nodes, feature, yes, no, missing, voteTree, voteNode, voteTarget []int64
	var values []float32
	var modes []string
	mode := one(d, "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
	for t := range 1 + d.Int64N(3) {
		for i := range int64(7) {
			ids, nodes, feature = append(ids, t), append(nodes, i), append(feature, d.Int64N(n))
			values = append(values, float32(d.NormFloat64()))
			missing = append(missing, d.Int64N(2))
			if i < 3 {
				yes, no, modes = append(yes, 2*i+1), append(no, 2*i+2), append(modes, mode)
				continue
			}
			yes, no, modes = append(yes, 0), append(no, 0), append(modes, "LEAF")
			for k := range targets {
				voteTree, voteNode, voteTarget = append(voteTree, t), append(voteNode, i), append(voteTarget, k)
			}
		}
	}
	d.ints("nodes_treeids", ids...)
	d.ints("nodes_nodeids", nodes...)
	d.ints("nodes_featureids", feature...)
	d.ints("nodes_truenodeids", yes...)
	d.ints("nodes_falsenodeids", no...)
	d.floats("nodes_values", values...)
	d.strs("nodes_modes", modes...)
	d.maybe(func() { d.ints("nodes_missing_value_tracks_true", missing...) })
	d.ints(prefix+"_treeids", voteTree...)
	d.ints(prefix+"_nodeids", voteNode...)
	d.ints(prefix+"_ids", voteTarget...)
	d.floats(prefix+"_weights", d.random(int64(len(voteTree)))...)
}

func treeRegressor(d *draw) {
	n, targets := d.full(), 1+d.Int64N(2)
	d.trees("target", n, targets)
	d.int("n_targets", targets)
	d.maybe(func() { d.floats("base_values", d.random(targets)...) })
	d.maybe(func() { d.str("aggregate_function", one(d, "SUM", "AVERAGE", "MIN", "MAX")) })
	d.input(one(d, wire.Float, wire.Float, wire.Double), []int64{d.full(), n})
	d.output(wire.Float)
	d.tol = rough
}

func treeClassifier(d *draw) {
	n, classes := d.full(), 2+d.Int64N(2)
	if classes == 2 {
		d.trees("class", n, 1) // for the first class alone
	} else {
		d.trees("class", n, classes)
		d.maybe(func() { d.floats("base_values", d.random(classes)...) })
	}
	label := wire.Int64
	if d.coin() {
		d.ints("classlabels_int64s", []int64{3, 1, 4}[:classes]...)
	} else {
		d.strs("classlabels_strings", []string{"x", "y", "z"}[:classes]...)
		label = wire.String
	}
	d.postTransform()
	d.input(one(d, features...), []int64{d.full(), n})
	d.output(label, wire.Float)
	d.tol = rough
}

func categoryMapper(d *draw) {
	d.strs("cats_strings", "a", "B", "")
	d.ints("cats_int64s", 1, 2, 3)
	if d.coin() {
		d.maybe(func() { d.int("default_int64", 9) })
		d.input(wire.String, d.shape(1, 2))
		d.output(wire.Int64)
	} else {
		d.maybe(func() { d.str("default_string", "none") })
		d.input(wire.Int64, d.shape(1, 2))
		d.output(wire.String)
	}
}

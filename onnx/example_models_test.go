package onnx_test

import (
	"encoding/binary"
	"io/fs"
	"strings"
	"testing/fstest"

	"github.com/berth-go/berth/internal/wire"
)

// The models of the examples are written here, as small as they can be and still have
// what makes their kind. A user has files.

// embedderFiles holds a sentence embedder: ids of words and a mask of those that count,
// [batch seq], give an embedding, [batch 2], of length 1.
func embedderFiles() fs.FS {
	return files("embedder.onnx", &wire.Graph{
		Inputs:  []wire.ValueInfo{port("ids", wire.Int64, "batch", "seq"), port("mask", wire.Int64, "batch", "seq")},
		Outputs: []wire.ValueInfo{port("embedding", wire.Float, "batch", 2)},
		Initializers: []wire.Tensor{
			weights("words", []float32{0, 0, .2, .2, 1, 0, .9, .2, 0, 1, .1, .9}, 6, 2), weights("one", []int64{1}, 1), weights("last", []int64{-1}, 1),
		},
		Nodes: []wire.Node{
			apply("Gather", "words ids", "vectors"),
			apply("Cast", "mask", "counts", number("to", int64(wire.Float))),
			apply("Unsqueeze", "counts last", "column"),
			apply("Mul", "vectors column", "counted"),
			apply("ReduceSum", "counted one", "sum", number("keepdims", 0)),
			apply("LpNormalization", "sum", "embedding"),
		},
	})
}

// writerFiles holds a language model over the letters behrt: ids, [seq], and a cache,
// past, [past 5], give logits, [seq 5], and present, [past+seq 5]. It likes some letters
// behind each other, and none that it has seen.
func writerFiles() fs.FS {
	return files("writer.onnx", &wire.Graph{
		Inputs:  []wire.ValueInfo{port("ids", wire.Int64, "seq"), port("past", wire.Float, "past", 5)},
		Outputs: []wire.ValueInfo{port("logits", wire.Float, "seq", 5), port("present", wire.Float, "total", 5)},
		Initializers: []wire.Tensor{
			weights("letters", []float32{1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1}, 5, 5),
			weights("next", []float32{0, 3, 1, 2, 1, 4, 0, 1, 3, 2, 1, 1, 0, 1, 1, 1, 4, 1, 0, 3, 1, 4, 3, 1, 0}, 5, 5),
			weights("first", []int64{0}, 1), weights("much", []float32{9}),
		},
		Nodes: []wire.Node{
			apply("Gather", "letters ids", "vectors"),
			apply("Concat", "past vectors", "present", number("axis", 0)),
			apply("MatMul", "vectors next", "liked"),
			apply("ReduceSum", "present first", "seen"),
			apply("Mul", "seen much", "malus"),
			apply("Sub", "liked malus", "logits"),
		},
	})
}

// detectorFiles holds a voice detector: samples, [n], their rate, and a state, [2 1 1],
// give a probability, [1 1 1], and the next state. An LSTM hears how loud each frame is; a
// frame is 4 samples at 16 kHz, and 2 otherwise.
func detectorFiles() fs.FS {
	frames := func(n int64) wire.Attribute {
		name := map[int64]string{4: "then_branch", 2: "else_branch"}[n]
		return wire.Attribute{Name: name, Kind: wire.AttrGraph, Graph: &wire.Graph{
			Name:         name,
			Initializers: []wire.Tensor{weights("frame", []int64{-1, 1, n}, 3)},
			Outputs:      []wire.ValueInfo{{Name: "split"}},
			Nodes:        []wire.Node{apply("Reshape", "samples frame", "split")},
		}}
	}
	return files("detector.onnx", &wire.Graph{
		Inputs:  []wire.ValueInfo{port("samples", wire.Float, "n"), port("rate", wire.Int64), port("state", wire.Float, 2, 1, 1)},
		Outputs: []wire.ValueInfo{port("probability", wire.Float, 1, 1, 1), port("next_state", wire.Float, 2, 1, 1)},
		Initializers: []wire.Tensor{
			weights("wide", []int64{16000}), weights("gain", []float32{12}), weights("bias", []float32{-6}),
			weights("W", []float32{9, 0, 0, 9}, 1, 4, 1), weights("R", make([]float32, 4), 1, 4, 1),
			weights("B", []float32{-3, 5, 2, 0, 0, 0, 0, 0}, 1, 8),
		},
		Nodes: []wire.Node{
			apply("Equal", "rate wide", "is_wide"),
			apply("If", "is_wide", "frames", frames(4), frames(2)),
			apply("Abs", "frames", "loud"),
			apply("ReduceMean", "loud", "energy", numbers("axes", 2)),
			apply("Split", "state", "h c", number("axis", 0)),
			apply("LSTM", "energy W R B - h c", "- h2 c2", number("hidden_size", 1)),
			apply("Concat", "h2 c2", "next_state", number("axis", 0)),
			apply("Mul", "h2 gain", "scaled"),
			apply("Add", "scaled bias", "score"),
			apply("Sigmoid", "score", "probability"),
		},
	})
}

// irisFiles holds a decision tree: features, [n 2], the length and the width of a petal in
// cm, give labels, n strings, and probabilities, a sequence of n maps.
func irisFiles() fs.FS {
	const ml = "ai.onnx.ml"
	tree := apply("TreeEnsembleClassifier", "features", "label scores",
		texts("classlabels_strings", "setosa", "versicolor", "virginica"),
		numbers("nodes_treeids", 0, 0, 0, 0, 0), numbers("nodes_nodeids", 0, 1, 2, 3, 4),
		numbers("nodes_featureids", 0, 0, 1, 0, 0), reals("nodes_values", 2.5, 0, 1.75, 0, 0),
		texts("nodes_modes", "BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"),
		numbers("nodes_truenodeids", 1, 0, 3, 0, 0), numbers("nodes_falsenodeids", 2, 0, 4, 0, 0),
		numbers("class_treeids", 0, 0, 0, 0, 0), numbers("class_nodeids", 1, 3, 3, 4, 4), numbers("class_ids", 0, 1, 2, 1, 2),
		reals("class_weights", 1, .9, .1, .02, .98))
	zip := apply("ZipMap", "scores", "probabilities", texts("classlabels_strings", "setosa", "versicolor", "virginica"))
	tree.Domain, zip.Domain = ml, ml
	maps := &wire.Type{Sequence: &wire.ContainerType{Elem: &wire.Type{Map: &wire.MapType{Key: wire.String, Value: port("", wire.Float).Type}}}}
	return files("iris.onnx", &wire.Graph{
		Inputs:  []wire.ValueInfo{port("features", wire.Float, "n", 2)},
		Outputs: []wire.ValueInfo{port("label", wire.String, "n"), {Name: "probabilities", Type: maps}},
		Nodes:   []wire.Node{tree, zip},
	})
}

// files returns a file system with a model of the given graph.
func files(name string, g *wire.Graph) fs.FS {
	g.Name = "main"
	return fstest.MapFS{name: {Data: wire.AppendModel(nil, &wire.Model{
		IRVersion: 8, Graph: g,
		OpsetImports: []wire.OperatorSet{{Version: 17}, {Domain: "ai.onnx.ml", Version: 3}},
	})}}
}

// port declares a tensor whose extents are numbers or names.
func port(name string, elem wire.DataType, extents ...any) wire.ValueInfo {
	shape := &wire.Shape{}
	for _, e := range extents {
		switch e := e.(type) {
		case int:
			shape.Dims = append(shape.Dims, wire.Dim{HasValue: true, Value: int64(e)})
		case string:
			shape.Dims = append(shape.Dims, wire.Dim{Param: e})
		}
	}
	return wire.ValueInfo{Name: name, Type: &wire.Type{Tensor: &wire.TensorType{Elem: elem, Shape: shape}}}
}

// apply returns a node. Inputs and outputs are names with spaces between; "-" stands for
// one that is left out.
func apply(op, inputs, outputs string, attributes ...wire.Attribute) wire.Node {
	list := func(text string) []string {
		names := strings.Fields(text)
		for i, name := range names {
			names[i] = strings.TrimPrefix(name, "-")
		}
		return names
	}
	return wire.Node{OpType: op, Inputs: list(inputs), Outputs: list(outputs), Attributes: attributes}
}

func weights[T float32 | int64](name string, data []T, dims ...int64) wire.Tensor {
	t := wire.Tensor{Name: name, DataType: wire.Float, Dims: dims}
	if _, integers := any(data).([]int64); integers {
		t.DataType = wire.Int64
	}
	t.Raw, _ = binary.Append(nil, binary.LittleEndian, data) // of a fixed size
	return t
}

func number(name string, v int64) wire.Attribute {
	return wire.Attribute{Name: name, Kind: wire.AttrInt, Int: v}
}

func numbers(name string, v ...int64) wire.Attribute {
	return wire.Attribute{Name: name, Kind: wire.AttrInts, Ints: v}
}

func reals(name string, v ...float32) wire.Attribute {
	return wire.Attribute{Name: name, Kind: wire.AttrFloats, Floats: v}
}

func texts(name string, v ...string) wire.Attribute {
	a := wire.Attribute{Name: name, Kind: wire.AttrStrings}
	for _, s := range v {
		a.Strings = append(a.Strings, []byte(s))
	}
	return a
}

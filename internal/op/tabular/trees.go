// Package tabular holds the ops of models of tables, whose rows are observations
// and whose columns are features.
//
// # Where to find what
//
//	trees.go, trees_kernel.go  ensembles of decision trees
//	forest.go                  trees as files state them into tables
//	lookup.go                  where numbers are among keys
//	ngrams.go                  runs of tokens, counted
//	distance.go, couple.go     what support vector machines need beside products
package tabular

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/internal/op/reduce"
	"github.com/berth-go/berth/shape"
)

// TreeEnsemble judges each row of x by decision trees. A row goes down every tree
// to a leaf, whose votes are added up, for each target:
//
//	y[row, target] = sum of the weights of the votes for target
//
// or their largest or smallest, by Aggregate, which is Sum, Max or Min. A target
// without a vote has 0.
//
// The inputs are x of shape [rows, features], and the tables that [Forest.Tables]
// makes: int32 nodes [n, 4], their thresholds [n], int32 roots, int32 targets of the
// votes, and their weights. Thresholds and weights are float32 or float64 as x is, and
// compared with and added up in that type, in the order of the roots. Tables that are
// not as they should be are an error when the op runs.
type TreeEnsemble struct {
	Targets   int
	Aggregate reduce.Kind
}

// Name returns "tree_ensemble".
func (TreeEnsemble) Name() string { return "tree_ensemble" }

// Infer returns the type of y, [rows, Targets].
func (e TreeEnsemble) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 6, 6); err != nil {
		return nil, err
	}
	x := in[0]
	if x.DType != dtype.Float32 && x.DType != dtype.Float64 {
		return nil, fmt.Errorf("input 0 is %v, not float32 or float64", x)
	}
	nodes := in[1].Shape
	votes := in[4].Shape
	for i, want := range []dtype.Type{x.DType, dtype.Int32, x.DType, dtype.Int32, dtype.Int32, x.DType} {
		rank := 1
		if i < 2 {
			rank = 2
		}
		if in[i].DType != want || len(in[i].Shape) != rank {
			return nil, fmt.Errorf("input %d is %v, want %v of rank %d", i, in[i], want, rank)
		}
	}
	switch {
	case nodes[1] != Columns:
		return nil, fmt.Errorf("input 1, the nodes, is %v, want %d columns", in[1], Columns)
	case in[2].Shape[0] != nodes[0]:
		return nil, fmt.Errorf("there are %d nodes and %d thresholds", nodes[0], in[2].Shape[0])
	case in[5].Shape[0] != votes[0]:
		return nil, fmt.Errorf("there are votes for %d targets of %d weights", votes[0], in[5].Shape[0])
	case e.Targets < 1:
		return nil, fmt.Errorf("there are %d targets, want 1 at least", e.Targets)
	case e.Aggregate != reduce.Sum && e.Aggregate != reduce.Max && e.Aggregate != reduce.Min:
		return nil, fmt.Errorf("trees have no %v of votes", e.Aggregate)
	}
	y := shape.Shape{x.Shape[0], e.Targets}
	if err := y.Check(); err != nil {
		return nil, err
	}
	return []graph.Type{{DType: x.DType, Shape: y}}, nil
}

// Kernel returns the walk down the trees.
func (e TreeEnsemble) Kernel(in, _ []graph.Type) kernel.Kernel {
	return newTrees(in[0].DType, e)
}

// DenseAxes returns 0 for x and y, which may have any strides; tables lie dense.
func (TreeEnsemble) DenseAxes(operand, rank int) int {
	if operand <= 0 {
		return 0
	}
	return rank
}

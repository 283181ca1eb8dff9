package op

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// ArgReduce finds where along an axis the smallest element is, or the largest
// when Max is set: an int64 index for each index of the other axes.
//
// Of equal elements the first counts, or the last when SelectLast is set. A
// NaN counts as the extreme either way. All element types are taken.
type ArgReduce struct {
	Max        bool
	Axis       int // negative: from the end
	KeepDims   bool
	SelectLast bool
}

// Name returns "arg_reduce".
func (ArgReduce) Name() string { return "arg_reduce" }

// Infer returns the type of the indices. An axis without elements has no
// extreme, which is an error unless there is nothing to find either.
func (r ArgReduce) Infer(in []graph.Type) ([]graph.Type, error) {
	if len(in) != 1 {
		return nil, fmt.Errorf("takes 1 input, got %d", len(in))
	}
	x := in[0]
	if err := x.Check(); err != nil {
		return nil, err
	}
	axis, err := shape.Axis(r.Axis, len(x.Shape))
	if err != nil {
		return nil, fmt.Errorf("of %v: %w", x, err)
	}
	out := folded(x.Shape, []int{axis}, r.KeepDims)
	if x.Shape[axis] == 0 && out.Elems() != 0 {
		return nil, fmt.Errorf("of %v: axis %d has no elements to choose from", x, axis)
	}
	return []graph.Type{{DType: dtype.Int64, Shape: out}}, nil
}

// Kernel returns the search.
func (r ArgReduce) Kernel(in, _ []graph.Type) kernel.Kernel {
	axis, err := shape.Axis(r.Axis, len(in[0].Shape))
	if err != nil {
		return nil
	}
	return kernel.NewArgReduce(in[0].DType, axis, r.Max, r.SelectLast)
}

// DenseAxes returns 0: all strides will do.
func (ArgReduce) DenseAxes(_, _ int) int { return 0 }

// ComputesInFloat32 marks the op.
func (ArgReduce) ComputesInFloat32() {}

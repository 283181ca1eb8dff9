package op

import (
	"fmt"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// Concat joins one or more inputs along an axis. They have one element type
// and the same extents on every other axis.
type Concat struct {
	Axis int
}

// Name returns "concat".
func (Concat) Name() string { return "concat" }

// Infer adds up the extents of the axis.
func (o Concat) Infer(in []graph.Type) ([]graph.Type, error) {
	if len(in) == 0 {
		return nil, fmt.Errorf("takes at least 1 input, got none")
	}
	if err := takes(in, len(in), len(in)); err != nil {
		return nil, err
	}
	axis, err := shape.Axis(o.Axis, len(in[0].Shape))
	if err != nil {
		return nil, err
	}
	out := graph.Type{DType: in[0].DType, Shape: in[0].Shape.Clone()}
	for i, t := range in[1:] {
		if t.DType != out.DType || len(t.Shape) != len(out.Shape) {
			return nil, fmt.Errorf("input %d is %v, input 0 is %v", i+1, t, in[0])
		}
		for a, d := range t.Shape {
			if a != axis && d != out.Shape[a] {
				return nil, fmt.Errorf("input %d is %v, input 0 is %v: they differ at axis %d, which is not the axis %d they are joined along", i+1, t, in[0], a, axis)
			}
		}
		if out.Shape[axis] += t.Shape[axis]; out.Shape[axis] < 0 || out.Shape[axis] > shape.MaxElems {
			return nil, fmt.Errorf("axis %d has more than %d elements", axis, shape.MaxElems)
		}
	}
	return []graph.Type{out}, nil
}

// Kernel returns the concatenation.
func (o Concat) Kernel(in, _ []graph.Type) kernel.Kernel {
	axis, _ := shape.Axis(o.Axis, len(in[0].Shape))
	return kernel.NewConcat(in[0].DType.Size(), axis)
}

// DenseAxes returns 0: every operand may have any strides.
func (Concat) DenseAxes(int, int) int { return 0 }

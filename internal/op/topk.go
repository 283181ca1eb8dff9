package op

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// TopK returns the K smallest elements along an axis, or the largest, and as
// a second output their int64 indices along the axis. With K the extent of
// the axis and Sorted it sorts.
//
// Equal elements rank by their index, lower ones first. NaN ranks above every
// number. Without Sorted the order within the K is not specified. All element
// types are taken.
type TopK struct {
	K       int
	Axis    int // negative: from the end
	Largest bool
	Sorted  bool
}

// Name returns "top_k".
func (TopK) Name() string { return "top_k" }

// Infer returns the types of the values and the indices.
func (k TopK) Infer(in []graph.Type) ([]graph.Type, error) {
	if len(in) != 1 {
		return nil, fmt.Errorf("takes 1 input, got %d", len(in))
	}
	x := in[0]
	if err := x.Check(); err != nil {
		return nil, err
	}
	axis, err := shape.Axis(k.Axis, len(x.Shape))
	if err != nil {
		return nil, fmt.Errorf("of %v: %w", x, err)
	}
	if k.K < 0 || k.K > x.Shape[axis] {
		return nil, fmt.Errorf("of %v: %d elements of axis %d, which has %d", x, k.K, axis, x.Shape[axis])
	}
	out := x.Shape.Clone()
	out[axis] = k.K
	return []graph.Type{{DType: x.DType, Shape: out}, {DType: dtype.Int64, Shape: out.Clone()}}, nil
}

// Kernel returns the selection.
func (k TopK) Kernel(in, _ []graph.Type) kernel.Kernel {
	axis, err := shape.Axis(k.Axis, len(in[0].Shape))
	if err != nil {
		return nil
	}
	return kernel.NewTopK(in[0].DType, axis, k.K, k.Largest, k.Sorted)
}

// DenseAxes returns 0: all strides will do.
func (TopK) DenseAxes(_, _ int) int { return 0 }

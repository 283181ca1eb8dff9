package op

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// Cumulative computes running sums or products along an axis. The result has
// the type and shape of the input, which may be of any type but bool;
// integers wrap.
type Cumulative struct {
	Kind ReduceKind // ReduceSum or ReduceProd
	Axis int        // negative: from the end
	// Exclusive leaves an element out of its own sum, so that the first is 0.
	Exclusive bool
	// Reverse runs from the end of the axis to its beginning.
	Reverse bool
}

// Name returns "cumulative".
func (Cumulative) Name() string { return "cumulative" }

// Infer returns the type of the input.
func (c Cumulative) Infer(in []graph.Type) ([]graph.Type, error) {
	if c.Kind != ReduceSum && c.Kind != ReduceProd {
		return nil, fmt.Errorf("%v does not run along an axis: only %v and %v do", c.Kind, ReduceSum, ReduceProd)
	}
	if len(in) != 1 {
		return nil, fmt.Errorf("takes 1 input, got %d", len(in))
	}
	x := in[0]
	if err := x.Check(); err != nil {
		return nil, err
	}
	if x.DType == dtype.Bool {
		return nil, fmt.Errorf("%v of %v: truth values have no arithmetic", c.Kind, x)
	}
	if _, err := shape.Axis(c.Axis, len(x.Shape)); err != nil {
		return nil, fmt.Errorf("%v of %v: %w", c.Kind, x, err)
	}
	return []graph.Type{x}, nil
}

// Kernel returns the running sum or product.
func (c Cumulative) Kernel(in, _ []graph.Type) kernel.Kernel {
	axis, err := shape.Axis(c.Axis, len(in[0].Shape))
	if err != nil {
		return nil
	}
	return kernel.NewCumulative(in[0].DType, axis, c.Kind == ReduceProd, c.Exclusive, c.Reverse)
}

// DenseAxes returns 0: all strides will do.
func (Cumulative) DenseAxes(_, _ int) int { return 0 }

// MayOverwrite reports true: an element is read before it is written.
func (Cumulative) MayOverwrite(in, out int) bool { return in == 0 && out == 0 }

// ComputesInFloat32 marks the op.
func (Cumulative) ComputesInFloat32() {}

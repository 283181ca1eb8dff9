package op

import (
	"fmt"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// Softmax scales the exponentials of the elements along an axis so that they
// add up to 1; with Log it returns the logarithms of that, computed without
// the detour. It takes floating-point types. [kernel.NewSoftmax] states the
// arithmetic and what becomes of infinities and NaN.
type Softmax struct {
	Axis int // negative: from the end
	Log  bool
}

// Name returns "softmax".
func (Softmax) Name() string { return "softmax" }

// Infer returns the type of the input.
func (s Softmax) Infer(in []graph.Type) ([]graph.Type, error) { return inferAlong(in, s.Axis) }

// inferAlong checks a floating-point input that has the axis, and returns its
// type.
func inferAlong(in []graph.Type, axis int) ([]graph.Type, error) {
	if len(in) != 1 {
		return nil, fmt.Errorf("takes 1 input, got %d", len(in))
	}
	x := in[0]
	if err := checkFloat("input", x); err != nil {
		return nil, err
	}
	if _, err := shape.Axis(axis, len(x.Shape)); err != nil {
		return nil, fmt.Errorf("of %v: %w", x, err)
	}
	return []graph.Type{x}, nil
}

// checkFloat reports an operand that is absent, invalid or not of a
// floating-point type.
func checkFloat(name string, t graph.Type) error {
	if err := t.Check(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !t.DType.IsFloat() {
		return fmt.Errorf("%s is %v, not of a floating-point type", name, t)
	}
	return nil
}

// Kernel returns the softmax.
func (s Softmax) Kernel(in, _ []graph.Type) kernel.Kernel {
	axis, err := shape.Axis(s.Axis, len(in[0].Shape))
	if err != nil {
		return nil
	}
	return kernel.NewSoftmax(in[0].DType, axis, s.Log)
}

// DenseAxes returns 0: all strides will do.
func (Softmax) DenseAxes(_, _ int) int { return 0 }

// MayOverwrite reports true: a line is written after its last read.
func (Softmax) MayOverwrite(in, out int) bool { return in == 0 && out == 0 }

// ComputesInFloat32 marks the op.
func (Softmax) ComputesInFloat32() {}

// Hardmax is 1 at the first of the largest elements along an axis and 0
// elsewhere; a NaN counts as the largest. It takes floating-point types.
type Hardmax struct {
	Axis int // negative: from the end
}

// Name returns "hardmax".
func (Hardmax) Name() string { return "hardmax" }

// Infer returns the type of the input.
func (h Hardmax) Infer(in []graph.Type) ([]graph.Type, error) { return inferAlong(in, h.Axis) }

// Kernel returns the hardmax.
func (h Hardmax) Kernel(in, _ []graph.Type) kernel.Kernel {
	axis, err := shape.Axis(h.Axis, len(in[0].Shape))
	if err != nil {
		return nil
	}
	return kernel.NewHardmax(in[0].DType, axis)
}

// DenseAxes returns 0: all strides will do.
func (Hardmax) DenseAxes(_, _ int) int { return 0 }

// MayOverwrite reports true: a line is written after its last read.
func (Hardmax) MayOverwrite(in, out int) bool { return in == 0 && out == 0 }

// ComputesInFloat32 marks the op.
func (Hardmax) ComputesInFloat32() {}

package op

import (
	"fmt"
	"slices"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// OneHot makes each index of its first input (int32 or int64) a line of Depth
// elements along a new axis: the second of its second input's two values at
// the index, and the first everywhere else. Negative indices count from the
// end; one out of range makes a line without the second value.
type OneHot struct {
	Axis  int // of the output
	Depth int
}

// Name returns "one_hot".
func (OneHot) Name() string { return "one_hot" }

// Infer inserts the new axis and takes the element type of the values.
func (o OneHot) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := takes(in, 2, 2); err != nil {
		return nil, err
	}
	if err := isIndex(in[0]); err != nil {
		return nil, err
	}
	if !in[1].Shape.Equal(shape.Shape{2}) {
		return nil, fmt.Errorf("values are %v, want two elements: off and on", in[1])
	}
	if o.Depth < 0 {
		return nil, fmt.Errorf("depth %d is negative", o.Depth)
	}
	axis, err := shape.Axis(o.Axis, len(in[0].Shape)+1)
	if err != nil {
		return nil, err
	}
	return []graph.Type{{DType: in[1].DType, Shape: slices.Insert(in[0].Shape.Clone(), axis, o.Depth)}}, nil
}

// Kernel returns the expansion.
func (o OneHot) Kernel(in, _ []graph.Type) kernel.Kernel {
	axis, _ := shape.Axis(o.Axis, len(in[0].Shape)+1)
	return kernel.NewOneHot(in[1].DType.Size(), axis, o.Depth)
}

// DenseAxes returns 0: every operand may have any strides.
func (OneHot) DenseAxes(int, int) int { return 0 }

// Trilu keeps one triangle of the matrices in the last two axes and sets the
// rest to zero: the elements (i, j) with j-i >= K in the upper one, and with
// j-i <= K in the lower one. It may work in place.
type Trilu struct {
	Upper bool
	K     int
}

// Name returns "trilu".
func (Trilu) Name() string { return "trilu" }

// Infer returns the type of the input.
func (Trilu) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := takes(in, 1, 1); err != nil {
		return nil, err
	}
	if len(in[0].Shape) < 2 {
		return nil, fmt.Errorf("%v has no matrices: it has fewer than 2 axes", in[0])
	}
	return []graph.Type{in[0]}, nil
}

// Kernel returns the masked copy.
func (o Trilu) Kernel(in, _ []graph.Type) kernel.Kernel {
	return kernel.NewTrilu(in[0].DType.Size(), o.Upper, o.K)
}

// MayOverwrite returns true.
func (Trilu) MayOverwrite(in, out int) bool { return in == 0 && out == 0 }

// DenseAxes returns 0: both operands may have any strides.
func (Trilu) DenseAxes(int, int) int { return 0 }

// ReverseSequence reverses the beginning of each sequence of its first input.
// Its second input (int32 or int64, one number for each element of the batch
// axis) says how many elements of the time axis that is; a number outside of
// the axis is an error of the run.
type ReverseSequence struct {
	BatchAxis, TimeAxis int
}

// Name returns "reverse_sequence".
func (ReverseSequence) Name() string { return "reverse_sequence" }

// Infer returns the type of the first input.
func (o ReverseSequence) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := takes(in, 2, 2); err != nil {
		return nil, err
	}
	batch, time, err := o.axes(len(in[0].Shape))
	if err != nil {
		return nil, err
	}
	if batch == time {
		return nil, fmt.Errorf("axis %d of %v cannot be batch and time", batch, in[0])
	}
	if err := isIndex(in[1]); err != nil {
		return nil, err
	}
	if !in[1].Shape.Equal(shape.Shape{in[0].Shape[batch]}) {
		return nil, fmt.Errorf("lengths are %v, want one for each of the %d sequences of %v", in[1], in[0].Shape[batch], in[0])
	}
	return []graph.Type{in[0]}, nil
}

func (o ReverseSequence) axes(rank int) (batch, time int, err error) {
	if batch, err = shape.Axis(o.BatchAxis, rank); err != nil {
		return 0, 0, err
	}
	time, err = shape.Axis(o.TimeAxis, rank)
	return batch, time, err
}

// Kernel returns the reversal.
func (o ReverseSequence) Kernel(in, _ []graph.Type) kernel.Kernel {
	batch, time, _ := o.axes(len(in[0].Shape))
	return kernel.NewReverseSequence(in[0].DType.Size(), batch, time)
}

// DenseAxes returns 0: every operand may have any strides.
func (ReverseSequence) DenseAxes(int, int) int { return 0 }

package op

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// Gather takes slices of its first input along an axis, at the places that
// its second input lists: the indices' shape takes the place of the axis.
// Indices are int32 or int64; negative ones count from the end, and one out
// of range is an error of the run.
type Gather struct {
	Axis int
}

// Name returns "gather".
func (Gather) Name() string { return "gather" }

// Infer puts the shape of the indices in the place of the axis.
func (o Gather) Infer(in []graph.Type) ([]graph.Type, error) {
	axis, err := gathers(in, o.Axis)
	if err != nil {
		return nil, err
	}
	data, indices := in[0], in[1]
	out := graph.Type{DType: data.DType, Shape: make(shape.Shape, 0, len(data.Shape)-1+len(indices.Shape))}
	out.Shape = append(out.Shape, data.Shape[:axis]...)
	out.Shape = append(out.Shape, indices.Shape...)
	out.Shape = append(out.Shape, data.Shape[axis+1:]...)
	return []graph.Type{out}, nil
}

// Kernel returns the gather.
func (o Gather) Kernel(in, _ []graph.Type) kernel.Kernel {
	axis, _ := shape.Axis(o.Axis, len(in[0].Shape))
	return kernel.NewGather(in[0].DType.Size(), axis)
}

// DenseAxes returns 0: every operand may have any strides.
func (Gather) DenseAxes(int, int) int { return 0 }

// GatherElements takes single elements of its first input: output element i
// is the one at index i but for the axis, where its second input says which.
// The indices have the rank of the data, and on other axes no more extent.
type GatherElements struct {
	Axis int
}

// Name returns "gather_elements".
func (GatherElements) Name() string { return "gather_elements" }

// Infer returns the data's element type in the shape of the indices.
func (o GatherElements) Infer(in []graph.Type) ([]graph.Type, error) {
	axis, err := gathers(in, o.Axis)
	if err != nil {
		return nil, err
	}
	if err := fitsBeside(in[0], in[1], axis); err != nil {
		return nil, err
	}
	return []graph.Type{{DType: in[0].DType, Shape: in[1].Shape.Clone()}}, nil
}

// Kernel returns the gather.
func (o GatherElements) Kernel(in, _ []graph.Type) kernel.Kernel {
	axis, _ := shape.Axis(o.Axis, len(in[0].Shape))
	return kernel.NewGatherElements(in[0].DType.Size(), axis)
}

// DenseAxes returns 0: every operand may have any strides.
func (GatherElements) DenseAxes(int, int) int { return 0 }

// GatherND takes the parts of its first input that the index tuples along the
// last axis of its second input name. The first BatchDims axes of both are
// the same and go together.
type GatherND struct {
	BatchDims int
}

// Name returns "gather_nd".
func (GatherND) Name() string { return "gather_nd" }

// Infer returns the indices' shape but for the last axis, followed by the
// axes of the data that no index names.
func (o GatherND) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := takes(in, 2, 2); err != nil {
		return nil, err
	}
	if err := isIndex(in[1]); err != nil {
		return nil, err
	}
	data, indices := in[0].Shape, in[1].Shape
	last := len(indices) - 1
	if o.BatchDims < 0 || o.BatchDims > last || o.BatchDims > len(data) {
		return nil, fmt.Errorf("%d batch axes do not fit data %v and indices %v", o.BatchDims, in[0], in[1])
	}
	for a := range o.BatchDims {
		if data[a] != indices[a] {
			return nil, fmt.Errorf("data %v and indices %v differ at batch axis %d", in[0], in[1], a)
		}
	}
	tuple := indices[last]
	if tuple > len(data)-o.BatchDims {
		return nil, fmt.Errorf("tuples of %d indices do not fit data %v with %d batch axes", tuple, in[0], o.BatchDims)
	}
	out := indices[:last].Clone()
	return []graph.Type{{DType: in[0].DType, Shape: append(out, data[o.BatchDims+tuple:]...)}}, nil
}

// Kernel returns the gather.
func (o GatherND) Kernel(in, _ []graph.Type) kernel.Kernel {
	return kernel.NewGatherND(in[0].DType.Size(), o.BatchDims)
}

// DenseAxes returns 0: every operand may have any strides.
func (GatherND) DenseAxes(int, int) int { return 0 }

// gathers checks data and indices and returns the axis, normalised.
func gathers(in []graph.Type, axis int) (int, error) {
	if err := takes(in, 2, 2); err != nil {
		return 0, err
	}
	if err := isIndex(in[1]); err != nil {
		return 0, err
	}
	return shape.Axis(axis, len(in[0].Shape))
}

func isIndex(t graph.Type) error {
	if t.DType != dtype.Int32 && t.DType != dtype.Int64 {
		return fmt.Errorf("indices are %v, want int32 or int64", t)
	}
	return nil
}

// fitsBeside reports indices that address elements outside the data on
// another axis than the one they are about.
func fitsBeside(data, indices graph.Type, axis int) error {
	if len(indices.Shape) != len(data.Shape) {
		return fmt.Errorf("indices %v have %d axes, data %v has %d", indices, len(indices.Shape), data, len(data.Shape))
	}
	for a, d := range indices.Shape {
		if a != axis && d > data.Shape[a] {
			return fmt.Errorf("indices %v do not fit into data %v: %d against %d at axis %d", indices, data, d, data.Shape[a], a)
		}
	}
	return nil
}

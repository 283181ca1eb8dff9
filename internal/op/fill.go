package op

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// Fill has no input; every element of its output is Value. (A constant of one
// element under [BroadcastTo] takes no memory; this is for when memory is
// wanted.)
type Fill struct {
	Shape []int
	Value Scalar
}

// Name returns "fill".
func (Fill) Name() string { return "fill" }

// Infer returns the type of the value in the stated shape.
func (o Fill) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := takes(in, 0, 0); err != nil {
		return nil, err
	}
	t := graph.Type{DType: o.Value.DType, Shape: shape.Shape(o.Shape).Clone()}
	return []graph.Type{t}, t.Check()
}

// Kernel returns the fill.
func (o Fill) Kernel(_, _ []graph.Type) kernel.Kernel { return kernel.NewFill(o.Value) }

// Tune implements [Tuner]: the extents are those of the output.
func (Fill) Tune(kernel.Kernel) {}

// DenseAxes returns 0: the output may have any strides.
func (Fill) DenseAxes(int, int) int { return 0 }

// Iota has no input; its output has one axis of N elements, of which element
// i is Start + i*Delta. Integers wrap; floating-point types are computed in
// float64 and rounded once.
type Iota struct {
	N            int
	Start, Delta Scalar // of one type
}

// Name returns "iota".
func (Iota) Name() string { return "iota" }

// Infer returns N elements of the type of Start.
func (o Iota) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := takes(in, 0, 0); err != nil {
		return nil, err
	}
	if o.Start.DType != o.Delta.DType || o.Start.DType == dtype.Bool {
		return nil, fmt.Errorf("start is %v and delta %v, want numbers of one type", o.Start, o.Delta)
	}
	t := graph.Type{DType: o.Start.DType, Shape: shape.Shape{o.N}}
	return []graph.Type{t}, t.Check()
}

// Kernel returns the ramp.
func (o Iota) Kernel(_, _ []graph.Type) kernel.Kernel {
	return kernel.NewIota(o.Start, o.Delta)
}

// Tune implements [Tuner].
func (o Iota) Tune(k kernel.Kernel) { k.(*kernel.IotaKernel).Set(o.Start, o.Delta) }

// DenseAxes returns 0: the output may have any strides.
func (Iota) DenseAxes(int, int) int { return 0 }

// List has no input; its output has one axis, and the int64 elements Elems. It
// is a constant, but for a program in which it follows the dimensions: what ONNX
// calls the shape of a tensor is one.
type List struct{ Elems []int }

// Name returns "list".
func (List) Name() string { return "list" }

// Infer returns the type of the elements.
func (o List) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := takes(in, 0, 0); err != nil {
		return nil, err
	}
	return []graph.Type{{DType: dtype.Int64, Shape: shape.Shape{len(o.Elems)}}}, nil
}

// Kernel returns what writes the elements.
func (o List) Kernel(_, _ []graph.Type) kernel.Kernel { return kernel.NewList(o.Elems) }

// Tune implements [Tuner].
func (o List) Tune(k kernel.Kernel) { k.(*kernel.ListKernel).Set(o.Elems) }

// DenseAxes returns 0: the output may have any strides.
func (List) DenseAxes(int, int) int { return 0 }

// Eye has no input; its output is a matrix with ones at the elements (i, i+K)
// and zeros elsewhere.
type Eye struct {
	Rows, Cols, K int
	DType         dtype.Type
}

// Name returns "eye".
func (Eye) Name() string { return "eye" }

// Infer returns the stated type.
func (o Eye) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := takes(in, 0, 0); err != nil {
		return nil, err
	}
	t := graph.Type{DType: o.DType, Shape: shape.Shape{o.Rows, o.Cols}}
	return []graph.Type{t}, t.Check()
}

// Kernel returns the fill.
func (o Eye) Kernel(_, _ []graph.Type) kernel.Kernel {
	return kernel.NewEye(kernel.Int64Scalar(1).Cast(o.DType), o.K)
}

// DenseAxes returns 0: the output may have any strides.
func (Eye) DenseAxes(int, int) int { return 0 }

package move

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// A Reduction says what a scatter makes of the element that is there and the
// update that comes to it.
type Reduction uint8

// The reductions. With ReductionNone the update stays, the last one in the
// order of the indices where several come to one element.
const (
	ReductionNone Reduction = iota
	ReductionAdd
	ReductionMul
	ReductionMax
	ReductionMin
)

var reductions = op.Enum{Kind: "scatter reduction", Names: []string{
	ReductionNone: "none", ReductionAdd: "add", ReductionMul: "mul", ReductionMax: "max", ReductionMin: "min",
}}

// String returns the name of r.
func (r Reduction) String() string { return reductions.Text(uint8(r)) }

// MarshalText implements [encoding.TextMarshaler].
func (r Reduction) MarshalText() ([]byte, error) { return reductions.Marshal(uint8(r)) }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (r *Reduction) UnmarshalText(text []byte) error { return op.UnmarshalEnum(reductions, text, r) }

// check reports a reduction that does not exist, or not for the type.
func (r Reduction) check(t graph.Type) error {
	if err := reductions.Check(uint8(r)); err != nil {
		return err
	}
	if r != ReductionNone && (t.DType == dtype.Bool || t.DType.IsLowPrecision()) {
		return fmt.Errorf("reduction %v is not defined for %v", r, t)
	}
	return nil
}

// ScatterElements is its first input (data) with single elements changed: for
// each index i of the second input (indices), the element at index i, but for
// the axis where indices says which, is combined with element i of the third
// input (updates). It may work in place.
type ScatterElements struct {
	Axis      int
	Reduction Reduction
}

// Name returns "scatter_elements".
func (ScatterElements) Name() string { return "scatter_elements" }

// Infer returns the type of the data.
func (o ScatterElements) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 3, 3); err != nil {
		return nil, err
	}
	data, indices, updates := in[0], in[1], in[2]
	axis, err := gathers(in[:2], o.Axis)
	if err != nil {
		return nil, err
	}
	if err := fitsBeside(data, indices, axis); err != nil {
		return nil, err
	}
	if updates.DType != data.DType || !updates.Shape.Equal(indices.Shape) {
		return nil, fmt.Errorf("updates are %v, want %v%v as of data %v and indices %v", updates, data.DType, indices.Shape, data, indices)
	}
	if err := o.Reduction.check(data); err != nil {
		return nil, err
	}
	return []graph.Type{data}, nil
}

// Kernel returns the scatter.
func (o ScatterElements) Kernel(in, _ []graph.Type) kernel.Kernel {
	axis, _ := shape.Axis(o.Axis, len(in[0].Shape))
	return newScatterElements(in[0].DType, axis, o.Reduction)
}

// MayOverwrite reports whether in is the data. It may hold no other operand:
// updates and indices are read at other places than are written.
func (ScatterElements) MayOverwrite(in, out int) bool { return in == 0 && out == 0 }

// DenseAxes returns 0: every operand may have any strides.
func (ScatterElements) DenseAxes(int, int) int { return 0 }

// ScatterND is its first input (data) with parts changed: each index tuple
// along the last axis of the second input (indices) names a part of the data,
// which is combined with the part of the third input (updates) at the same
// place. It may work in place.
type ScatterND struct {
	Reduction Reduction
}

// Name returns "scatter_nd".
func (ScatterND) Name() string { return "scatter_nd" }

// Infer returns the type of the data.
func (o ScatterND) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 3, 3); err != nil {
		return nil, err
	}
	data, indices, updates := in[0], in[1], in[2]
	if err := isIndex(indices); err != nil {
		return nil, err
	}
	last := len(indices.Shape) - 1
	if last < 0 || indices.Shape[last] > len(data.Shape) {
		return nil, fmt.Errorf("indices %v do not hold tuples of at most %d indices, the rank of data %v", indices, len(data.Shape), data)
	}
	want := append(indices.Shape[:last].Clone(), data.Shape[indices.Shape[last]:]...)
	if updates.DType != data.DType || !updates.Shape.Equal(want) {
		return nil, fmt.Errorf("updates are %v, want %v%v as of data %v and indices %v", updates, data.DType, want, data, indices)
	}
	if err := o.Reduction.check(data); err != nil {
		return nil, err
	}
	return []graph.Type{data}, nil
}

// Kernel returns the scatter.
func (o ScatterND) Kernel(in, _ []graph.Type) kernel.Kernel {
	return newScatterND(in[0].DType, o.Reduction)
}

// MayOverwrite reports whether in is the data. It may hold no other operand:
// updates and indices are read at other places than are written.
func (ScatterND) MayOverwrite(in, out int) bool { return in == 0 && out == 0 }

// DenseAxes returns 0: every operand may have any strides.
func (ScatterND) DenseAxes(int, int) int { return 0 }

package move

import (
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// List has no input; its output has one axis, and the int64 elements Elems. It
// is a constant, but for a program in which it follows the dimensions: what ONNX
// calls the shape of a tensor is one.
type List struct{ Elems []int }

// Name returns "list".
func (List) Name() string { return "list" }

// Infer returns the type of the elements.
func (o List) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := op.Takes(in, 0, 0); err != nil {
		return nil, err
	}
	return []graph.Type{{DType: dtype.Int64, Shape: shape.Shape{len(o.Elems)}}}, nil
}

// Kernel returns what writes the elements.
func (o List) Kernel(_, _ []graph.Type) kernel.Kernel {
	return &listKernel{elems: slices.Clone(o.Elems)}
}

// Tune implements [op.Tuner].
func (o List) Tune(k kernel.Kernel) { copy(k.(*listKernel).elems, o.Elems) }

// Streams implements [op.Streamer].
func (List) Streams() {}

// DenseAxes returns 0: the output may have any strides.
func (List) DenseAxes(int, int) int { return 0 }

// listKernel is a kernel without inputs for an output of one axis, with any
// stride. It equals
//
//	for i in [0, len(elems)): out[i] = elems[i]
type listKernel struct {
	elems []int
	out   *kernel.Operand
}

func (k *listKernel) Bind(_, out []*kernel.Operand) { k.out = out[0] }
func (k *listKernel) Tasks() int                    { return min(len(k.elems), 1) }
func (k *listKernel) Scratch() int                  { return 0 }

func (k *listKernel) Run(int, []byte) error {
	out := kernel.Slice[int64](k.out)
	for i, n := range k.elems {
		out[k.out.Offset+i*k.out.Strides[0]] = int64(n)
	}
	return nil
}

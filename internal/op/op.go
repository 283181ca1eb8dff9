// Package op holds the ops, a file for each family: the shape rule, what the
// planner may do with it, and which kernel computes it.
//
// An op is a small struct of exported attributes that implements [graph.Op].
// One that computes also implements [Computer]; one that only re-describes
// its input implements [graph.Viewer].
package op

import (
	"fmt"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
)

// A Computer is an op that computes new elements.
type Computer interface {
	graph.Op
	// Kernel returns a kernel for the given input and output types, not yet
	// bound. The types are those of Infer, so only the choice of an
	// implementation is left to make.
	Kernel(in, out []graph.Type) kernel.Kernel
}

// A Strider is a computing op whose kernel takes operands that are not dense.
// Ops that are not Striders want every operand dense.
type Strider interface {
	Computer
	// DenseAxes returns how many trailing axes of an operand of the given
	// rank must lie dense: of input i, or of output -1-i. Axes before these
	// may have any stride; for inputs also 0 and negative ones.
	DenseAxes(operand, rank int) int
}

// A Widener is a computing op that has no arithmetic of its own for float16
// and bfloat16: [Apply] computes it through float32.
type Widener interface {
	Computer
	// ComputesInFloat32 marks the op.
	ComputesInFloat32()
}

// KernelOf returns the kernel, not yet bound, that computes o. An op that can
// be a reference, such as [graph.Contiguous] or a reshape, has a copying one.
func KernelOf(o graph.Op, in, out []graph.Type) (kernel.Kernel, error) {
	switch o := o.(type) {
	case graph.Contiguous, graph.Cache:
		return CopyKernel(out[0]), nil
	case Computer:
		return o.Kernel(in, out), nil
	}
	return nil, fmt.Errorf("%s has no kernel", o.Name())
}

// Package op holds the ops, a file for each family: the shape rule, what the
// planner may do with it, and which kernel computes it.
//
// An op is a small struct of exported attributes that implements [graph.Op].
// One that computes also implements [Computer]; one that only re-describes
// its input implements [graph.Viewer]. Further interfaces say what it allows:
// [graph.Overwriter] to be run in place, [Strider] operands that do not lie
// dense, [Widener] that half precision is computed in float32.
//
// [Apply] makes nodes. Elementwise arithmetic is not an op for each function
// but one, [Map], with a program: [Elementwise], [WithScalar] and [CastTo] build
// programs of one instruction, package rewrite merges them.
//
// # Where to find what
//
//	op.go                what a computing op is; kernels of ops
//	all.go               the list of all ops: a new one is added here
//	apply.go             nodes of ops
//	text.go, enum.go     ops and their attributes as text, and back
//	map.go, map_text.go  elementwise programs and their text
//	elementwise.go, elementwise_codes.go
//	                     how they are built
//	view.go, view_blocks.go, bitcast.go
//	                     views: reshape, permute, slice, broadcast, diagonal
//	concat.go, tile.go, pad.go, gather.go, scatter.go, index.go, fill.go
//	                     data movement
//	reduce.go, argreduce.go, cumulative.go, topk.go
//	                     reductions and order
//	softmax.go, norm.go, norm_channel.go
//	                     normalisation along axes and by channel
//	matmul.go, conv.go, conv_window.go, pool.go
//	                     products, convolution, pooling
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

// A Widener is a computing op that has no kernel for float16 and bfloat16, but
// takes them: package rewrite has it compute in float32, between casts.
type Widener interface {
	Computer
	// ComputesInFloat32 marks the op.
	ComputesInFloat32()
}

// A Tuner is a computing op whose attributes may follow the dimensions of a
// program.
type Tuner interface {
	Computer
	// Tune gives a kernel of an op of this type, not bound at present, the
	// attributes of this one. It allocates nothing, and the kernel keeps
	// nothing of the op.
	Tune(k kernel.Kernel)
}

// KernelOf returns the kernel, not yet bound, that computes o. An op that can
// be a reference, such as [graph.Contiguous] or a reshape, has a copying one.
// A [Widener] has none for halves.
func KernelOf(o graph.Op, in, out []graph.Type) (kernel.Kernel, error) {
	switch o := o.(type) {
	case graph.Contiguous, graph.Cache:
		return kernel.NewCopy(out[0].DType.Size()), nil
	case Computer:
		for i, t := range in {
			if _, ok := o.(Widener); ok && t.DType.IsHalf() {
				return nil, fmt.Errorf("%s has no kernel for %v, its input %d", o.Name(), t, i)
			}
		}
		return o.Kernel(in, out), nil
	}
	return nil, fmt.Errorf("%s has no kernel", o.Name())
}

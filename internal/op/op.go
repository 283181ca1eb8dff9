// Package op is the contract of ops: what one says about itself beyond what
// [graph.Op] asks for. The ops themselves stand in the packages below it, a
// package for each family, with their kernels.
//
// An op is a small struct of exported attributes that implements [graph.Op].
// One that computes also implements [Computer]; one that only re-describes
// its input implements [graph.Viewer]. Further interfaces say what it allows:
// [graph.Overwriter] to be run in place, [Strider] operands that do not lie
// dense, [Widener] that half precision is computed in float32, [Joiner] inputs
// that are written where the output will be, [Streamer] to be computed for the
// sake of a shape. Nothing outside of this package and its families, but for
// rules of package rewrite, asks which op it has to do with.
//
// # Where to find what
//
//	op.go    what a computing op is; kernels of ops; checks of inputs
//	text.go  ops and their attributes as text, and back
//	enum.go  enumerations among the attributes
//
// The families:
//
//	elementwise       arithmetic element by element: one op with a program
//	view              reshape, permute, slice, broadcast, diagonal, bitcast
//	move              concat, tile, pad, gather, scatter, by index, fill
//	reduce            reductions, arg-max, running sums, the largest k
//	norm              softmax and normalisations
//	linear            products of matrices
//	conv              convolution and its transpose
//	pool              pooling
//	quant             products, convolutions and sums of 8-bit numbers; numbers quantised and back
//	recurrent         layers that carry a state along a sequence
//	resample          images read between their elements
//	tabular           trees and other models of tables
//	signal            the discrete Fourier transform
//	random            numbers drawn with a seed
//	find              no ops: elements of which the data says how many there are
//	slide             no ops: the windows that convolution and pooling slide
//
// Above them, ops lists all ops, reads them from text and makes nodes of them.
// Package optest checks ops in tests.
package op

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
)

// A Computer is an op that computes new elements.
type Computer interface {
	graph.Op
	// Kernel returns a kernel for the given input and output types, not yet
	// bound. The types are those that Infer has taken and given, so only the
	// choice of an implementation is left to make. It may look at element types
	// and ranks; extents are those of each Bind, since a program's vary.
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

// DenseAxes returns how many trailing axes of an operand of o, of the given rank,
// must lie dense. Operands are numbered as a [Strider] numbers them. A copy, such as
// [graph.Contiguous], takes any strides.
func DenseAxes(o graph.Op, operand, rank int) int {
	switch o := o.(type) {
	case graph.Contiguous, graph.Cache:
		return 0
	case Strider:
		return o.DenseAxes(operand, rank)
	}
	return rank
}

// A Layouter is an op over images, [N, C, spatial...], that computes as well over images
// with their channels last, [N, spatial..., C].
type Layouter interface {
	graph.Op
	// WithChannelsLast returns the op over images of the given rank with their channels
	// last, whose results are those of this op with their channels last, to the last bit.
	// The first inputs, as many as images says, are images or broadcast to them, and the
	// others stay what they are. No images say that there is no such op.
	WithChannelsLast(rank int) (o graph.Op, images int)
}

// ChannelsLast returns a list with an entry for each axis of an image in the order of an
// image with its channels last, as a slice of its own. An empty list stays empty.
func ChannelsLast[E any](list []E) []E {
	if len(list) == 0 {
		return nil
	}
	return append(append([]E{list[0]}, list[2:]...), list[1])
}

// ChannelsFirst undoes [ChannelsLast].
func ChannelsFirst[E any](list []E) []E {
	last := len(list) - 1
	return append([]E{list[0], list[last]}, list[1:last]...)
}

// A Widener is a computing op that has no kernel for float16 and bfloat16, but
// takes them: package rewrite has it compute in float32, between casts.
type Widener interface {
	Computer
	// ComputesInFloat32 marks the op.
	ComputesInFloat32()
}

// A HalfReader is a Widener whose kernel reads some constants as halves, beside other inputs
// in float32, and widens them as it goes.
type HalfReader interface {
	Widener
	// ReadsHalves reports whether an input may be of a half type where the first is of
	// float32.
	ReadsHalves(input int) bool
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

// A Joiner is a computing op that lays its inputs side by side along one axis of
// its only output, in their order, and changes no element. A program may have an
// input written straight into its part of the output.
type Joiner interface {
	Computer
	// JoinAxis returns the axis, counted from 0, of an output of the given rank.
	JoinAxis(rank int) int
}

// A Multiplier is a computing op most of whose work is multiplications whose results are
// added up.
type Multiplier interface {
	Computer
	// Products returns how many there are, for the types that Kernel takes.
	Products(in, out []graph.Type) int64
}

// Products returns the multiplications of o that are added up; 0 where o is no [Multiplier].
func Products(o graph.Op, in, out []graph.Type) int64 {
	if m, ok := o.(Multiplier); ok {
		return m.Products(in, out)
	}
	return 0
}

// A Streamer is a computing op that reads and writes each element of its operands
// a few times, so that its work is in proportion to their number. Of other ops
// no more is known than that each element of the output may take a look at all
// inputs, as with a convolution.
type Streamer interface {
	Computer
	// Streams marks the op.
	Streams()
}

// Moves reports whether an op only puts elements in other places, which follow
// from where its operands lie.
func Moves(o graph.Op) bool {
	switch o.(type) {
	case graph.Contiguous, graph.Cache, graph.Viewer, Joiner:
		return true
	}
	return false
}

// KernelOf returns the kernel, not yet bound, that computes o. An op that can
// be a reference, such as [graph.Contiguous] or a reshape, has a copying one.
// A [Widener] has none for halves, of which its first input is one then.
func KernelOf(o graph.Op, in, out []graph.Type) (kernel.Kernel, error) {
	switch o := o.(type) {
	case graph.Contiguous, graph.Cache:
		return kernel.NewCopy(out[0].DType.Size()), nil
	case Computer:
		if _, ok := o.(Widener); ok && len(in) > 0 && in[0].DType.IsHalf() {
			return nil, fmt.Errorf("%s has no kernel for %v, its input 0", o.Name(), in[0])
		}
		return o.Kernel(in, out), nil
	}
	return nil, fmt.Errorf("%s has no kernel", o.Name())
}

// SameNumbers checks that there are least to most inputs, of which only those
// after the first least may be absent, all of one element type that has
// arithmetic.
func SameNumbers(in []graph.Type, least, most int) error {
	if err := Count(in, least, most); err != nil {
		return err
	}
	for i, t := range in {
		if i >= least && !Given(in, i) {
			continue
		}
		if !t.DType.IsInteger() && !t.DType.IsFloat() {
			return fmt.Errorf("input %d is %v: not a number", i, t.DType)
		}
		if t.DType != in[0].DType {
			return fmt.Errorf("inputs 0 and %d have the element types %v and %v", i, in[0].DType, t.DType)
		}
		if err := t.Shape.Check(); err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
	}
	return nil
}

// Takes reports a number of inputs outside [least, most], one of invalid type, or
// that one of the first least inputs is absent.
func Takes(in []graph.Type, least, most int) error {
	if err := Count(in, least, most); err != nil {
		return err
	}
	for i, t := range in {
		switch err := t.Check(); {
		case err == nil, i >= least && !Given(in, i):
		case !Given(in, i):
			return fmt.Errorf("input %d is absent", i)
		default:
			return fmt.Errorf("input %d: %w", i, err)
		}
	}
	return nil
}

// Given reports whether there is an input i: an optional one may be left out at the
// end of the list, and have no type before it.
func Given(in []graph.Type, i int) bool { return i < len(in) && in[i].DType != dtype.Invalid }

// Count reports a number of inputs outside [least, most].
func Count(in []graph.Type, least, most int) error {
	switch {
	case len(in) >= least && len(in) <= most:
		return nil
	case least < most:
		return fmt.Errorf("takes %d to %d inputs, got %d", least, most, len(in))
	case least == 1:
		return fmt.Errorf("takes 1 input, got %d", len(in))
	}
	return fmt.Errorf("takes %d inputs, got %d", least, len(in))
}

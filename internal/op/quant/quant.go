// Package quant holds products and convolutions of quantised numbers: 8-bit
// integers, each of which stands for (x - zero point) * scale.
//
// # Where to find what
//
//	quant.go        element types, zero points, scales: what the ops have in common
//	matmul.go       products of matrices
//	conv.go         convolutions
//	bands.go        those of groups of few channels, tap by tap
//	product.go      a product block by block, and what is made of its sums
//	pack.go         operands in quads of terms
//	zeros.go        zero points taken off sums
//	real.go         numbers quantised and back, and sums of quantised numbers
//	real_kernel.go  the kernel of these
//
// Operands are cut into blocks as package gemm does it, packed as bytes, and multiplied
// by the loops over bytes of package isa.
package quant

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// The inputs of both ops. All but the first two may be absent.
const (
	inLeft      = iota // MatMul: a; Conv: x
	inRight            // MatMul: b; Conv: w
	inZeroLeft         // the zero point of input 0, of its type; 0 where absent
	inZeroRight        // that of input 1
	inScale            // what sums are multiplied by, in float32; required where the result is quantised, or else absent
	inZeroOut          // the zero point of a quantised result, of its type; 0 where absent
	inBias             // added to the sums, in int32
	numInputs
)

// inputNames are for errors.
var inputNames = [numInputs]string{"left operand", "right operand", "left zero point", "right zero point", "scale", "zero point of the result", "bias"}

// is8 reports whether t is a type of quantised numbers.
func is8(t dtype.Type) bool { return t == dtype.Int8 || t == dtype.Uint8 }

// check checks the number of inputs and their element types, and returns the type
// of the result: to, or int32 if that is not set.
func check(in []graph.Type, to dtype.Type) (dtype.Type, error) {
	if err := op.Takes(in, 2, numInputs); err != nil {
		return dtype.Invalid, err
	}
	if to != dtype.Invalid && !is8(to) {
		return dtype.Invalid, fmt.Errorf("result of type %v: want int8 or uint8", to)
	}
	for i := range inZeroLeft {
		if !is8(in[i].DType) {
			return dtype.Invalid, fmt.Errorf("%s %v: want int8 or uint8", inputNames[i], in[i])
		}
	}
	want := [numInputs]dtype.Type{in[0].DType, in[1].DType, in[0].DType, in[1].DType, dtype.Float32, to, dtype.Int32}
	for i := range in {
		if !op.Given(in, i) {
			continue
		}
		if to == dtype.Invalid && (i == inScale || i == inZeroOut) {
			return dtype.Invalid, fmt.Errorf("%s %v: the result is not quantised", inputNames[i], in[i])
		}
		if in[i].DType != want[i] {
			return dtype.Invalid, fmt.Errorf("%s %v: want %v", inputNames[i], in[i], want[i])
		}
	}
	switch {
	case to == dtype.Invalid:
		return dtype.Int32, nil
	case !op.Given(in, inScale):
		return dtype.Invalid, fmt.Errorf("the scale of a result of type %v is absent", to)
	}
	return to, nil
}

// broadcasts checks that input i, if it is given, broadcasts to the shape s.
func broadcasts(in []graph.Type, i int, s shape.Shape) error {
	if !op.Given(in, i) {
		return nil
	}
	if full, err := shape.Broadcast(in[i].Shape, s); err != nil || !full.Equal(s) {
		return fmt.Errorf("%s %v does not broadcast to %v", inputNames[i], in[i], s)
	}
	return nil
}

// given returns operand i, which is nil where it is absent.
func given(in []*kernel.Operand, i int) *kernel.Operand {
	if i < len(in) {
		return in[i]
	}
	return nil
}

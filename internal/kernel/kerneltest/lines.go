package kerneltest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// LinesOf lists the elements of a tensor line by line: for each index of the
// axes not in along, in row-major order, the row-major numbers of the
// elements with that index.
func LinesOf(dims []int, along ...int) [][]int {
	lines := make([][]int, shape.Shape(Without(dims, along, false)).Elems())
	e := 0
	ForEachIndex(dims, func(index []int) {
		line := Flat(Without(dims, along, false), Without(index, along, false))
		lines[line] = append(lines[line], e)
		e++
	})
	return lines
}

// LineShape returns a random shape of at least minRank axes, now and then
// with an axis long enough for several blocks of an accumulation.
func LineShape(rng *rand.Rand, minRank int) []int {
	dims := Shape(rng, 4, 8)
	for len(dims) < minRank {
		dims = append(dims, Extent(rng, 12))
	}
	if len(dims) > 0 && rng.IntN(3) == 0 {
		long := [...]int{65, 200, 513, 1100, 2100}
		dims[rng.IntN(len(dims))] = long[rng.IntN(len(long))]
		for shape.Shape(dims).Elems() > 20000 {
			dims[slices.Index(dims, slices.Min(withoutOne(dims)))] = 1
		}
	}
	return dims
}

func withoutOne(dims []int) []int {
	return slices.DeleteFunc(slices.Clone(dims), func(d int) bool { return d == 1 })
}

// Without returns dims, or an index, with the given axes gone, or of extent 1, as a reduction
// leaves them.
func Without(dims, axes []int, keep bool) []int {
	out := []int{}
	for a, d := range dims {
		switch {
		case !slices.Contains(axes, a):
			out = append(out, d)
		case keep:
			out = append(out, 1)
		}
	}
	return out
}

// SomeAxes returns a random subset of the axes of a rank.
func SomeAxes(rng *rand.Rand, rank int) []int {
	axes := rng.Perm(rank)[:rng.IntN(rank+1)]
	slices.Sort(axes)
	return axes
}

// dense returns a dense copy of o.
func dense(o *kernel.Operand) *kernel.Operand {
	d := Dense(o.DType, o.Shape...)
	copy(d.Data, Bytes(o))
	return d
}

// present returns the operands that are there.
func present(operands []*kernel.Operand) []*kernel.Operand {
	return slices.DeleteFunc(slices.Clone(operands), func(o *kernel.Operand) bool { return o == nil })
}

// SameBits runs k over strided operands and over dense copies of them, and
// reports outputs that differ in any bit. It returns the dense outputs.
func SameBits(rng *rand.Rand, k kernel.Kernel, in, out []*kernel.Operand) error {
	guards := []func() error{}
	for _, o := range present(out) {
		guards = append(guards, Guard(o))
	}
	if err := All(rng, k, in, out); err != nil {
		return err
	}
	for _, g := range guards {
		if err := g(); err != nil {
			return err
		}
	}
	denseIn, denseOut := slices.Clone(in), slices.Clone(out)
	for i, o := range in {
		if o != nil {
			denseIn[i] = dense(o)
		}
	}
	for i, o := range out {
		if o != nil {
			denseOut[i] = Dense(o.DType, o.Shape...)
		}
	}
	if err := Run(rng, k, denseIn, denseOut); err != nil {
		return err
	}
	for i, o := range out {
		if o != nil && !bytes.Equal(Bytes(o), Bytes(denseOut[i])) {
			return fmt.Errorf("output %d: strides %v and %v give other bits than dense operands", i, in[0].Strides, o.Strides)
		}
	}
	return nil
}

// OverInput runs k with output 0 over input 0, a dense copy of in[0], and
// reports when that differs from the elements of want.
func OverInput(rng *rand.Rand, k kernel.Kernel, in []*kernel.Operand, want *kernel.Operand, others ...*kernel.Operand) error {
	x := dense(in[0])
	ins := append([]*kernel.Operand{x}, in[1:]...)
	if err := Run(rng, k, ins, append([]*kernel.Operand{x}, others...)); err != nil {
		return err
	}
	if !bytes.Equal(x.Data, Bytes(want)) {
		return fmt.Errorf("in place over %v%v the result differs", x.DType, x.Shape)
	}
	return nil
}

// SomeDense returns for operands of a rank how many trailing axes to make
// dense, so that fast paths are met as often as general ones.
func SomeDense(rng *rand.Rand, rank int) int {
	if rng.IntN(2) == 0 {
		return rank
	}
	return rng.IntN(rank + 1)
}

// Halfless lists the element types that kernels compute in.
func Halfless() []dtype.Type {
	return slices.DeleteFunc(dtype.All(), func(t dtype.Type) bool { return t == dtype.Float16 || t == dtype.BFloat16 })
}

// Slack is how much a result of type t may be off, as a part of the magnitude
// of what it is computed from.
func Slack(t dtype.Type) float64 {
	if t == dtype.Float32 {
		return 0x1p-21
	}
	return 0x1p-42
}

// Package random is the family of ops that draw numbers at random: the same ones
// in each run, as their seed says.
//
// # Where to find what
//
//	random.go   the ops and their kernel
//	twister.go  the generator
package random

import (
	"fmt"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// Uniform has no input; the elements of its output, in row-major order, are
// Low + u*(High-Low) with each u drawn from [0, 1). They are what
// numpy.random.RandomState(Seed) draws, converted to DType, float32 or float64,
// before they are scaled.
type Uniform struct {
	Shape     []int
	DType     dtype.Type
	Seed      int // in [0, 2^32)
	Low, High float64
}

// Name returns "random_uniform".
func (Uniform) Name() string { return "random_uniform" }

// Infer returns the stated type.
func (o Uniform) Infer(in []graph.Type) ([]graph.Type, error) {
	return infer(in, o.DType, o.Shape, o.Seed)
}

// Kernel returns what draws.
func (o Uniform) Kernel(_, _ []graph.Type) kernel.Kernel {
	return newKernel(o.DType, draw{false, uint32(o.Seed), o.High - o.Low, o.Low})
}

// Tune implements [op.Tuner]: the extents are those of the output.
func (Uniform) Tune(kernel.Kernel) {}

// Streams implements [op.Streamer].
func (Uniform) Streams() {}

// Normal has no input; the elements of its output, in row-major order, are Mean +
// z*Scale with each z drawn from the standard normal distribution. They are what
// numpy.random.RandomState(Seed) draws, converted to DType, float32 or float64,
// before they are scaled.
type Normal struct {
	Shape       []int
	DType       dtype.Type
	Seed        int // in [0, 2^32)
	Mean, Scale float64
}

// Name returns "random_normal".
func (Normal) Name() string { return "random_normal" }

// Infer returns the stated type.
func (o Normal) Infer(in []graph.Type) ([]graph.Type, error) {
	return infer(in, o.DType, o.Shape, o.Seed)
}

// Kernel returns what draws.
func (o Normal) Kernel(_, _ []graph.Type) kernel.Kernel {
	return newKernel(o.DType, draw{true, uint32(o.Seed), o.Scale, o.Mean})
}

// Tune implements [op.Tuner]: the extents are those of the output.
func (Normal) Tune(kernel.Kernel) {}

// Streams implements [op.Streamer].
func (Normal) Streams() {}

func infer(in []graph.Type, t dtype.Type, dims []int, seed int) ([]graph.Type, error) {
	if err := op.Takes(in, 0, 0); err != nil {
		return nil, err
	}
	if t != dtype.Float32 && t != dtype.Float64 {
		return nil, fmt.Errorf("of type %v: only float32 and float64 are drawn", t)
	}
	if uint64(seed) >= 1<<32 {
		return nil, fmt.Errorf("seed %d is not in [0, 2^32)", seed)
	}
	typ := graph.Type{DType: t, Shape: shape.Shape(dims).Clone()}
	return []graph.Type{typ}, typ.Check()
}

// A draw is how an element is drawn: a normal or a uniform number, times scale,
// plus shift.
type draw struct {
	normal       bool
	seed         uint32
	scale, shift float64
}

// newKernel returns a kernel without inputs for a dense output. As each number
// depends on all before, it is one task.
func newKernel(t dtype.Type, d draw) kernel.Kernel {
	return kernel.OfFloat(t, d, drawOf[float32], drawOf[float64])
}

func drawOf[T kernel.Float](d draw) kernel.Kernel { return &drawKernel[T]{draw: d} }

type drawKernel[T kernel.Float] struct {
	draw
	out *kernel.Operand
	n   int
}

func (k *drawKernel[T]) Bind(_, out []*kernel.Operand) {
	k.out = out[0]
	k.n = shape.Shape(k.out.Shape).Elems()
}

func (k *drawKernel[T]) Tasks() int   { return min(k.n, 1) }
func (k *drawKernel[T]) Scratch() int { return kernel.Carved[uint32](stateLen) }

func (k *drawKernel[T]) Run(_ int, scratch []byte) error {
	t := newTwister(k.seed, kernel.Carve[uint32](&scratch, stateLen))
	dst := kernel.Slice[T](k.out)[k.out.Offset:]
	scale, shift := T(k.scale), T(k.shift)
	for i := range dst[:k.n] {
		v := 0.0
		if k.normal {
			v = t.normal()
		} else {
			v = t.uniform()
		}
		dst[i] = T(T(v)*scale) + shift
	}
	return nil
}

package optest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// Compute runs an op over dense float32 operands. Absent ones are nil.
func Compute(t *testing.T, o op.Computer, in ...*kernel.Operand) []*kernel.Operand {
	t.Helper()
	types := make([]graph.Type, len(in))
	for i, x := range in {
		if x != nil {
			types[i] = graph.Type{DType: x.DType, Shape: x.Shape}
		}
	}
	outTypes, err := o.Infer(types)
	if err != nil {
		t.Fatal(err)
	}
	outs := make([]*kernel.Operand, len(outTypes))
	for i, y := range outTypes {
		outs[i] = kerneltest.Dense(y.DType, y.Shape...)
	}
	if err := kerneltest.Run(rand.New(rand.NewPCG(1, 1)), o.Kernel(types, outTypes), in, outs); err != nil {
		t.Fatal(err)
	}
	return outs
}

// WantValues reports an operand, called what, whose elements are not want.
func WantValues(t *testing.T, what string, o *kernel.Operand, want ...float32) {
	t.Helper()
	if got := kerneltest.Values[float32](o); !slices.Equal(got, want) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// LeafOf returns a leaf that holds data.
func LeafOf[T any](t *testing.T, dt dtype.Type, data []T, dims ...int) graph.Value {
	t.Helper()
	o := kerneltest.Of(dt, data, dims...)
	n, err := graph.NewConstant(graph.Type{DType: dt, Shape: o.Shape}, graph.Leaf{Layout: shape.Dense(o.Shape), Data: o.Data})
	if err != nil {
		t.Fatal(err)
	}
	return n.Output(0)
}

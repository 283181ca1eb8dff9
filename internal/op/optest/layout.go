package optest

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op"
)

// LaysOut checks that o gives the bits over images with their channels last that it gives
// over the same images with their channels first, with each instruction set. In are the
// types of its inputs, the zero one for an absent one; images have as many axes as the
// output.
func LaysOut(t *testing.T, rng *rand.Rand, o op.Layouter, in ...graph.Type) {
	t.Helper()
	types, err := o.Infer(in)
	if err != nil {
		t.Fatal(err)
	}
	y := types[0]
	laid, images := o.WithChannelsLast(len(y.Shape))
	last, ok := laid.(op.Computer)
	if !ok || images < 1 {
		t.Fatalf("%s has no form with channels last", op.Format(o))
	}
	lastTypes := make([]graph.Type, len(in))
	first, moved := make([]*kernel.Operand, len(in)), make([]*kernel.Operand, len(in))
	for i, typ := range in {
		lastTypes[i] = typ
		if !typ.DType.Valid() {
			continue
		}
		if i < images {
			lastTypes[i].Shape = op.ChannelsLast(typ.Shape)
		}
		s := lastTypes[i].Shape
		moved[i] = kerneltest.StridedInput(rng, typ.DType, op.DenseAxes(laid, i, len(s)), s...)
		first[i] = moved[i]
		if i < images {
			first[i] = dense(t, rng, channelsFirst(moved[i]))
		}
	}
	got, err := last.Infer(lastTypes)
	if err != nil || len(got) != 1 || !got[0].Shape.Equal(op.ChannelsLast(y.Shape)) || got[0].DType != y.DType {
		t.Fatalf("%s of %v gives %v, error %v; want %v with channels last", op.Format(laid), lastTypes, got, err, y)
	}
	for set := range kerneltest.Sets() {
		want := kerneltest.Dense(y.DType, y.Shape...)
		if err := kerneltest.Run(rng, o.(op.Computer).Kernel(in, types), first, []*kernel.Operand{want}); err != nil {
			t.Fatal(err)
		}
		k := last.Kernel(lastTypes, got)
		out := kerneltest.StridedOutput(rng, y.DType, op.DenseAxes(laid, -1, len(y.Shape)), got[0].Shape...)
		if err := kerneltest.All(rng, k, moved, []*kernel.Operand{out}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(kerneltest.Bytes(channelsFirst(out)), kerneltest.Bytes(want)) {
			t.Fatalf("%s: %s of %v differs from what channels that come first give", set, op.Format(laid), lastTypes)
		}
		kerneltest.CheckAllocs(t, k, moved, []*kernel.Operand{out})
	}
}

// channelsFirst returns o with its last axis as axis 1.
func channelsFirst(o *kernel.Operand) *kernel.Operand {
	first := *o
	first.Shape, first.Strides = op.ChannelsFirst(o.Shape), op.ChannelsFirst(o.Strides)
	return &first
}

// dense returns a copy of o that lies dense.
func dense(t *testing.T, rng *rand.Rand, o *kernel.Operand) *kernel.Operand {
	t.Helper()
	out := kerneltest.Dense(o.DType, o.Shape...)
	if err := kerneltest.Run(rng, kernel.NewCopy(o.DType.Size()), []*kernel.Operand{o}, []*kernel.Operand{out}); err != nil {
		t.Fatal(err)
	}
	return out
}

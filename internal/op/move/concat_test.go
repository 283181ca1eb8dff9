package move

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/shape"
)

func TestConcat(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range kerneltest.Rounds(1500) {
		dt := dtype.All()[rng.IntN(len(dtype.All()))]
		dims := append(kerneltest.Shape(rng, 3, 6), kerneltest.Extent(rng, 6))
		axis := rng.IntN(len(dims))
		in := make(kerneltest.Operands, 1+rng.IntN(5))
		total := 0
		for i := range in {
			d := slices.Clone(dims)
			d[axis] = kerneltest.Extent(rng, 6)
			if rng.IntN(100) == 0 {
				d[axis] *= 200
			}
			total += d[axis]
			in[i] = kerneltest.StridedInput(rng, dt, 0, d...)
		}
		dims[axis] = total
		out := kerneltest.StridedOutput(rng, dt, 0, dims...)
		outside := kerneltest.Guard(out)
		k := newConcat(dt.Size(), axis)
		if err := kerneltest.All(rng, k, in, kerneltest.Operands{out}); err != nil {
			t.Fatal(err)
		}
		if err := outside(); err != nil {
			t.Fatal(err)
		}
		if rng.IntN(8) == 0 {
			kerneltest.CheckAllocs(t, k, in, kerneltest.Operands{out})
		}
		at := 0
		for i, o := range in {
			l := shape.Layout{Shape: out.Shape, Strides: out.Strides, Offset: out.Offset}
			if o.Shape[axis] > 0 {
				var err error
				if l, err = l.Slice(axis, at, o.Shape[axis], 1); err != nil {
					t.Fatal(err)
				}
				part := &kernel.Operand{DType: dt, Shape: l.Shape, Strides: l.Strides, Offset: l.Offset, Data: out.Data}
				if !slices.Equal(kerneltest.Bytes(part), kerneltest.Bytes(o)) {
					t.Fatalf("concat along axis %d into %v: input %d of shape %v is not there", axis, out.Shape, i, o.Shape)
				}
			}
			at += o.Shape[axis]
		}
	}
}

func TestConcatLaysOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 10))
	for axis := range 4 {
		dims := [][]int{{2, 3, 4, 5}, {2, 3, 4, 5}}
		dims[1][axis] = 7
		optest.LaysOut(t, rng, Concat{Axis: axis}, optest.Float32(dims[0]...), optest.Float32(dims[1]...))
		optest.LaysOut(t, rng, Concat{Axis: axis - 4}, optest.Float32(dims[1]...), optest.Float32(dims[0]...))
	}
}

func TestConcatInPlace(t *testing.T) {
	// The second input is its part of the output already.
	rng := rand.New(rand.NewPCG(7, 7))
	out := kerneltest.Of(dtype.Int32, []int32{0, 0, 3, 4, 0, 0, 7, 8}, 2, 4)
	part := &kernel.Operand{DType: dtype.Int32, Shape: []int{2, 2}, Strides: []int{4, 1}, Offset: 2, Data: out.Data}
	in := kerneltest.Operands{kerneltest.Of(dtype.Int32, []int32{1, 2, 5, 6}, 2, 2), part}
	if err := kerneltest.Run(rng, newConcat(4, 1), in, kerneltest.Operands{out}); err != nil {
		t.Fatal(err)
	}
	if got, want := kerneltest.Values[int32](out), []int32{1, 2, 3, 4, 5, 6, 7, 8}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

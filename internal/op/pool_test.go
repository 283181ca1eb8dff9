package op_test

import (
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op"
)

func TestPoolInfer(t *testing.T) {
	x := f32(2, 3, 7, 8)
	k23 := []int{2, 3}
	runInferCases(t, []inferCase{
		{op.Pool{KernelShape: k23}, []graph.Type{x}, "float32[2 3 6 6]"},
		{op.Pool{KernelShape: k23, Indices: true}, []graph.Type{x}, "float32[2 3 6 6] int64[2 3 6 6]"},
		{op.Pool{KernelShape: k23, Strides: []int{2, 2}}, []graph.Type{x}, "float32[2 3 3 3]"},
		{op.Pool{KernelShape: k23, Strides: []int{2, 2}, CeilMode: true}, []graph.Type{x}, "float32[2 3 4 4]"},
		// A last window that begins past the image and its first padding does not count.
		{op.Pool{KernelShape: []int{1}, Strides: []int{2}, CeilMode: true}, []graph.Type{f32(1, 1, 4)}, "float32[1 1 2]"},
		{op.Pool{KernelShape: []int{1}, Strides: []int{2}, Pads: []int{0, 2}, CeilMode: true}, []graph.Type{f32(1, 1, 4)}, "float32[1 1 3]"},
		{op.Pool{KernelShape: []int{2}, Strides: []int{3}, Pads: []int{0, 0}, CeilMode: true}, []graph.Type{f32(1, 1, 3)}, "float32[1 1 1]"},
		{op.Pool{KernelShape: k23, AutoPad: op.AutoPadSameLower, Strides: []int{3, 3}}, []graph.Type{x}, "float32[2 3 3 3]"},
		{op.Pool{KernelShape: k23, Kind: op.PoolAverage, Dilations: []int{2, 3}}, []graph.Type{x}, "float32[2 3 5 2]"},
		{op.Pool{KernelShape: k23}, []graph.Type{typ(dtype.Uint8, 2, 3, 7, 8)}, "uint8[2 3 6 6]"},
		{op.Pool{KernelShape: []int{2}, Kind: op.PoolLp, P: 3}, []graph.Type{f32(0, 3, 7)}, "float32[0 3 6]"},
		{op.GlobalPool{Kind: op.PoolAverage}, []graph.Type{x}, "float32[2 3 1 1]"},
	}, []inferCase{
		{op.Pool{KernelShape: k23}, nil, "takes 1 input, got 0"},
		{op.Pool{}, []graph.Type{x}, "kernel shape []"},
		{op.Pool{KernelShape: []int{2}}, []graph.Type{x}, "kernel shape [2]"},
		{op.Pool{KernelShape: []int{0, 1}}, []graph.Type{x}, "0 is not in [1,"},
		{op.Pool{KernelShape: []int{1 << 21, 1}}, []graph.Type{x}, "2097152 is above"},
		{op.Pool{KernelShape: []int{8, 1}}, []graph.Type{x}, "narrower than the window at spatial axis 0"},
		{op.Pool{KernelShape: k23}, []graph.Type{f32(2, 3)}, "at least one spatial axis"},
		{op.Pool{KernelShape: k23, Kind: op.PoolAverage}, []graph.Type{typ(dtype.Int8, 2, 3, 7, 8)}, "no average of int8"},
		{op.Pool{KernelShape: k23, Kind: op.PoolAverage, Indices: true}, []graph.Type{x}, "no indices"},
		{op.Pool{KernelShape: k23, StorageOrder: 2}, []graph.Type{x}, "storage order 2"},
		{op.Pool{KernelShape: k23, Kind: op.PoolLp, P: -1}, []graph.Type{x}, "exponent -1"},
		{op.Pool{KernelShape: k23, Kind: 7}, []graph.Type{x}, "no kind of pooling 7"},
		{op.Pool{KernelShape: k23}, []graph.Type{typ(dtype.Bool, 2, 3, 7, 8)}, "no max of bool"},
		{op.GlobalPool{}, []graph.Type{f32(2, 3)}, "at least one spatial axis"},
		{op.GlobalPool{}, []graph.Type{typ(dtype.Int32, 2, 3, 4)}, "want a float"},
		{op.GlobalPool{}, []graph.Type{x, x}, "takes 1 input, got 2"},
	})
}

// TestPoolAttributes shows that each attribute reaches the kernel.
func TestPoolAttributes(t *testing.T) {
	x := kerneltest.Of(dtype.Float32, []float32{1, 2, 9, 4, 5}, 1, 1, 5)
	two, three := []int{2}, []int{3}
	for _, c := range []struct {
		op   op.Pool
		want []float32
	}{
		{op.Pool{KernelShape: two}, []float32{2, 9, 9, 5}},
		{op.Pool{KernelShape: two, Strides: two, CeilMode: true}, []float32{2, 9, 5}},
		{op.Pool{KernelShape: two, Strides: two}, []float32{2, 9}},
		{op.Pool{KernelShape: two, Dilations: three}, []float32{4, 5}},
		{op.Pool{KernelShape: two, Kind: op.PoolAverage}, []float32{1.5, 5.5, 6.5, 4.5}},
		{op.Pool{KernelShape: two, Kind: op.PoolAverage, Pads: []int{1, 1}}, []float32{1, 1.5, 5.5, 6.5, 4.5, 5}},
		{op.Pool{KernelShape: two, Kind: op.PoolAverage, Pads: []int{1, 1}, CountIncludePad: true}, []float32{0.5, 1.5, 5.5, 6.5, 4.5, 2.5}},
		// The window that ceil_mode adds is divided by what lies before the end of the padding.
		{op.Pool{KernelShape: two, Kind: op.PoolAverage, Strides: two, CeilMode: true, CountIncludePad: true}, []float32{1.5, 6.5, 5}},
		{op.Pool{KernelShape: two, Kind: op.PoolLp, P: 1, Strides: two}, []float32{3, 13}},
		{op.Pool{KernelShape: two, AutoPad: op.AutoPadSameLower}, []float32{1, 2, 9, 9, 5}},
		{op.Pool{KernelShape: two, AutoPad: op.AutoPadSameUpper}, []float32{2, 9, 9, 5, 5}},
	} {
		wantValues(t, c.op.Kind.String(), compute(t, c.op, x)[0], c.want...)
	}
	square := kerneltest.Of(dtype.Float32, []float32{3, 4, 0, 0, 0, 0}, 1, 1, 2, 3)
	wantValues(t, "the default norm", compute(t, op.Pool{KernelShape: []int{2, 3}, Kind: op.PoolLp}, square)[0], 5)
	wantValues(t, "the global norm", compute(t, op.GlobalPool{Kind: op.PoolLp}, square)[0], 5)
	wantValues(t, "the global maximum", compute(t, op.GlobalPool{}, square)[0], 4)
	wantValues(t, "the global average", compute(t, op.GlobalPool{Kind: op.PoolAverage}, square)[0], float32(7.0/6))
	for order, want := range []int64{6 + 1, 6 + 2} {
		pair := kerneltest.Of(dtype.Float32, []float32{0, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0}, 1, 2, 2, 3)
		outs := compute(t, op.Pool{KernelShape: []int{2, 3}, Indices: true, StorageOrder: order}, pair)
		if got := kernel.Slice[int64](outs[1]); !slices.Equal(got, []int64{0, want}) {
			t.Errorf("indices with storage order %d are %v, want [0 %d]", order, got, want)
		}
	}
}

package pool_test

import (
	"slices"
	"testing"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/kerneltest"
	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/pool"
	"github.com/berth-go/berth/internal/op/slide"
)

func TestPoolInfer(t *testing.T) {
	x := optest.Float32(2, 3, 7, 8)
	k23 := []int{2, 3}
	optest.Infers(t, pool.Pool{KernelShape: k23}, []graph.Type{x}, "float32[2 3 6 6]")
	optest.Infers(t, pool.Pool{KernelShape: k23, Indices: true}, []graph.Type{x}, "float32[2 3 6 6] int64[2 3 6 6]")
	optest.Infers(t, pool.Pool{KernelShape: k23, Strides: []int{2, 2}}, []graph.Type{x}, "float32[2 3 3 3]")
	optest.Infers(t, pool.Pool{KernelShape: k23, Strides: []int{2, 2}, CeilMode: true}, []graph.Type{x}, "float32[2 3 4 4]")
	// A last window that begins past the image and its first padding does not count.
	optest.Infers(t, pool.Pool{KernelShape: []int{1}, Strides: []int{2}, CeilMode: true}, []graph.Type{optest.Float32(1, 1, 4)}, "float32[1 1 2]")
	optest.Infers(t, pool.Pool{KernelShape: []int{1}, Strides: []int{2}, Pads: []int{0, 2}, CeilMode: true}, []graph.Type{optest.Float32(1, 1, 4)}, "float32[1 1 3]")
	optest.Infers(t, pool.Pool{KernelShape: []int{2}, Strides: []int{3}, Pads: []int{0, 0}, CeilMode: true}, []graph.Type{optest.Float32(1, 1, 3)}, "float32[1 1 1]")
	optest.Infers(t, pool.Pool{KernelShape: k23, AutoPad: slide.SameLower, Strides: []int{3, 3}}, []graph.Type{x}, "float32[2 3 3 3]")
	optest.Infers(t, pool.Pool{KernelShape: k23, Kind: pool.Average, Dilations: []int{2, 3}}, []graph.Type{x}, "float32[2 3 5 2]")
	optest.Infers(t, pool.Pool{KernelShape: k23}, []graph.Type{optest.Type(dtype.Uint8, 2, 3, 7, 8)}, "uint8[2 3 6 6]")
	optest.Infers(t, pool.Pool{KernelShape: []int{2}, Kind: pool.Lp, P: 3}, []graph.Type{optest.Float32(0, 3, 7)}, "float32[0 3 6]")
	optest.Infers(t, pool.GlobalPool{Kind: pool.Average}, []graph.Type{x}, "float32[2 3 1 1]")

	last := optest.Float32(2, 7, 8, 3)
	optest.Infers(t, pool.Pool{KernelShape: k23, ChannelsLast: true}, []graph.Type{last}, "float32[2 6 6 3]")
	optest.Infers(t, pool.GlobalPool{Kind: pool.Average, ChannelsLast: true}, []graph.Type{last}, "float32[2 1 1 3]")

	optest.Refuses(t, pool.Pool{KernelShape: k23, ChannelsLast: true, Indices: true}, []graph.Type{last}, "neither lp nor indices")
	optest.Refuses(t, pool.GlobalPool{Kind: pool.Lp, ChannelsLast: true}, []graph.Type{last}, "lp cannot be had")
	optest.Refuses(t, pool.Pool{KernelShape: k23}, nil, "takes 1 input, got 0")
	optest.Refuses(t, pool.Pool{}, []graph.Type{x}, "kernel shape []")
	optest.Refuses(t, pool.Pool{KernelShape: []int{2}}, []graph.Type{x}, "kernel shape [2]")
	optest.Refuses(t, pool.Pool{KernelShape: []int{0, 1}}, []graph.Type{x}, "0 is not in [1,")
	optest.Refuses(t, pool.Pool{KernelShape: []int{1 << 21, 1}}, []graph.Type{x}, "2097152 is above")
	optest.Refuses(t, pool.Pool{KernelShape: []int{8, 1}}, []graph.Type{x}, "narrower than the window at spatial axis 0")
	optest.Refuses(t, pool.Pool{KernelShape: k23}, []graph.Type{optest.Float32(2, 3)}, "at least one spatial axis")
	optest.Refuses(t, pool.Pool{KernelShape: k23, Kind: pool.Average}, []graph.Type{optest.Type(dtype.Int8, 2, 3, 7, 8)}, "no average of int8")
	optest.Refuses(t, pool.Pool{KernelShape: k23, Kind: pool.Average, Indices: true}, []graph.Type{x}, "no indices")
	optest.Refuses(t, pool.Pool{KernelShape: k23, StorageOrder: 2}, []graph.Type{x}, "storage order 2")
	optest.Refuses(t, pool.Pool{KernelShape: k23, Kind: pool.Lp, P: -1}, []graph.Type{x}, "exponent -1")
	optest.Refuses(t, pool.Pool{KernelShape: k23, Kind: 7}, []graph.Type{x}, "no kind of pooling 7")
	optest.Refuses(t, pool.Pool{KernelShape: k23}, []graph.Type{optest.Type(dtype.Bool, 2, 3, 7, 8)}, "no max of bool")
	optest.Refuses(t, pool.GlobalPool{}, []graph.Type{optest.Float32(2, 3)}, "at least one spatial axis")
	optest.Refuses(t, pool.GlobalPool{}, []graph.Type{optest.Type(dtype.Int32, 2, 3, 4)}, "want a float")
	optest.Refuses(t, pool.GlobalPool{}, []graph.Type{x, x}, "takes 1 input, got 2")
}

// TestPoolAttributes shows that each attribute reaches the kernel.
func TestPoolAttributes(t *testing.T) {
	x := kerneltest.Of(dtype.Float32, []float32{1, 2, 9, 4, 5}, 1, 1, 5)
	two, three := []int{2}, []int{3}
	for _, c := range []struct {
		op   pool.Pool
		want []float32
	}{
		{pool.Pool{KernelShape: two}, []float32{2, 9, 9, 5}},
		{pool.Pool{KernelShape: two, Strides: two, CeilMode: true}, []float32{2, 9, 5}},
		{pool.Pool{KernelShape: two, Strides: two}, []float32{2, 9}},
		{pool.Pool{KernelShape: two, Dilations: three}, []float32{4, 5}},
		{pool.Pool{KernelShape: two, Kind: pool.Average}, []float32{1.5, 5.5, 6.5, 4.5}},
		{pool.Pool{KernelShape: two, Kind: pool.Average, Pads: []int{1, 1}}, []float32{1, 1.5, 5.5, 6.5, 4.5, 5}},
		{pool.Pool{KernelShape: two, Kind: pool.Average, Pads: []int{1, 1}, CountIncludePad: true}, []float32{0.5, 1.5, 5.5, 6.5, 4.5, 2.5}},
		// The window that ceil_mode adds is divided by what lies before the end of the padding.
		{pool.Pool{KernelShape: two, Kind: pool.Average, Strides: two, CeilMode: true, CountIncludePad: true}, []float32{1.5, 6.5, 5}},
		{pool.Pool{KernelShape: two, Kind: pool.Lp, P: 1, Strides: two}, []float32{3, 13}},
		{pool.Pool{KernelShape: two, AutoPad: slide.SameLower}, []float32{1, 2, 9, 9, 5}},
		{pool.Pool{KernelShape: two, AutoPad: slide.SameUpper}, []float32{2, 9, 9, 5, 5}},
	} {
		optest.WantValues(t, c.op.Kind.String(), optest.Compute(t, c.op, x)[0], c.want...)
	}
	square := kerneltest.Of(dtype.Float32, []float32{3, 4, 0, 0, 0, 0}, 1, 1, 2, 3)
	optest.WantValues(t, "the default norm", optest.Compute(t, pool.Pool{KernelShape: []int{2, 3}, Kind: pool.Lp}, square)[0], 5)
	optest.WantValues(t, "the global norm", optest.Compute(t, pool.GlobalPool{Kind: pool.Lp}, square)[0], 5)
	optest.WantValues(t, "the global maximum", optest.Compute(t, pool.GlobalPool{}, square)[0], 4)
	optest.WantValues(t, "the global average", optest.Compute(t, pool.GlobalPool{Kind: pool.Average}, square)[0], float32(7.0/6))
	for order, want := range []int64{6 + 1, 6 + 2} {
		pair := kerneltest.Of(dtype.Float32, []float32{0, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0}, 1, 2, 2, 3)
		outs := optest.Compute(t, pool.Pool{KernelShape: []int{2, 3}, Indices: true, StorageOrder: order}, pair)
		if got := kernel.Slice[int64](outs[1]); !slices.Equal(got, []int64{0, want}) {
			t.Errorf("indices with storage order %d are %v, want [0 %d]", order, got, want)
		}
	}
}

func TestKindText(t *testing.T) { optest.Enum(t, pool.Lp) }

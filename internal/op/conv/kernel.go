package conv

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/gemm"
	"github.com/berth-go/berth/internal/op/slide"
)

// params are the attributes of both kernels.
type params struct {
	window slide.Window
	// pad, unless it is nil, sets the pads of the window that follow from the spatial
	// extents of x and y.
	pad   func(w *slide.Window, x, y []int)
	group int // groups of channels
	finish
}

// ofElement returns the kernel with the parameters p that one of four constructors
// makes for elements of type t, nil for other types.
func ofElement(t dtype.Type, p params, f32, f64, i32, i64 func(params) kernel.Kernel) kernel.Kernel {
	switch t {
	case dtype.Float32:
		return f32(p)
	case dtype.Float64:
		return f64(p)
	case dtype.Int32:
		return i32(p)
	case dtype.Int64:
		return i64(p)
	}
	return nil
}

// shared is what a convolution and its transpose share.
type shared[T kernel.Number] struct {
	params
	x, w, y *kernel.Operand

	slide              slide.Binding
	gemm               gemm.Product[T]
	images, maps, deep int // images; output maps and input channels of a group
	positions, taps    int
}

// bind lays the window over image, which is x or y; the other one has its positions.
// The taps are those of the weights.
func (k *shared[T]) bind(in, out []*kernel.Operand, image, positions *kernel.Operand) {
	k.x, k.w, k.y = in[0], in[1], out[0]
	k.epilogue.Bind(k.y, in[2:]...)
	k.window.Taps = k.w.Shape[2:]
	if k.pad != nil {
		k.pad(&k.window, k.x.Shape[2:], k.y.Shape[2:])
	}
	k.slide.Bind(&k.window, image.Shape[2:], positions.Shape[2:])
	k.images = k.x.Shape[0]
	k.positions = k.slide.Rows * k.slide.Width
	k.taps = k.slide.OuterTaps * k.slide.InnerTaps
}

package conv

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/gemm"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/op/slide"
)

// newLast returns the kernel of the convolution of images with their channels last:
//
//	y[n,p,m] = sum over c, t of w[m,c,t] * x[n, p*stride+t*dilation-begin, m/(M/group)*(C/group)+c]
//
// for x [N, spatial..., C], w [M, C/group, taps...], and y [N, positions..., M]. Sums are
// those of [newConv], to the last bit. The channels of an element of x and the maps of one
// of y lie dense; their other axes may have any stride. It returns nil for an element type
// without arithmetic of its own.
func newLast(t dtype.Type, p params) kernel.Kernel {
	return ofElement(t, p, lastOf[float32], lastOf[float64], lastOf[int32], lastOf[int64])
}

func lastOf[T kernel.Number](p params) kernel.Kernel {
	return &last[T]{params: p, tile: isa.TileOf[T]()}
}

// A lastForm is how a convolution with channels last is computed. The shapes decide.
type lastForm uint8

const (
	// The image's windows, read in place, are multiplied by the weights; see [windows].
	lastWindows lastForm = iota
	// Groups of one channel and one map are summed tap by tap; see [depthwise].
	lastDepthwise
	// Each element is summed for itself, as [newConv] sums one or two maps of single
	// channels over more than two axes.
	lastPlain
)

// last is a convolution with channels last, in one of its forms.
type last[T kernel.Number] struct {
	params
	x, w, y, bias *kernel.Operand // bias may be nil

	tile               isa.Tile[T]
	slide              slide.Binding
	images, maps, deep int // images; output maps and input channels of a group
	taps               int

	form        lastForm
	windows     windows      // of lastWindows
	blocks      slide.Blocks // where they bind, newConv sums depthwise convolutions tap by tap
	depth       depthwise[T] // of lastDepthwise
	count, each int          // blocks, or rows of positions, and those in a task
	prepackedW  []T
}

// Bind implements [kernel.Kernel].
func (k *last[T]) Bind(in, out []*kernel.Operand) {
	k.x, k.w, k.y = in[0], in[1], out[0]
	k.epilogue.Bind(k.y, in[2:]...)
	if k.bias = nil; len(in) >= ownInputs {
		k.bias = in[2]
		k.rest.Bind(k.y, in[ownInputs:]...)
	}
	end := len(k.x.Shape) - 1
	k.window.Taps = k.w.Shape[2:]
	k.slide.Bind(&k.window, k.x.Shape[1:end], k.y.Shape[1:end])
	k.images, k.maps, k.deep = k.x.Shape[0], k.w.Shape[0]/k.group, k.w.Shape[1]
	k.taps = k.slide.OuterTaps * k.slide.InnerTaps
	k.form = k.choose()
	if k.count = k.images * k.slide.Rows; k.count*k.slide.Width*k.maps == 0 {
		k.count = 0
		return
	}
	cost := k.slide.Width * k.maps * k.group * max(k.deep*k.taps, 1)
	switch k.form {
	case lastWindows:
		k.bindWindows()
		k.count, cost = k.windows.blocks(), int(k.windows.work(max(k.deep*k.taps/16, 1)))
	case lastDepthwise:
		cost = k.slide.Width * k.group * max(k.taps/16, 1)
	}
	_, k.each = kernel.Parts(k.count, cost)
	if k.form == lastDepthwise {
		k.depth.group, k.depth.taps, k.depth.rest = k.group, k.taps, k.rest
		k.depth.bind(&k.tile, &k.slide, k.each, k.group, k.x.DType.Size())
	}
}

// choose returns the form for the bound shapes.
func (k *last[T]) choose() lastForm {
	switch {
	case k.deep == 1 && k.maps == 1 && k.blocks.Bind(&k.slide, k.x.DType.Size()):
		return lastDepthwise
	case k.deep == 1 && k.maps <= 2 && len(k.slide.In) > 2:
		return lastPlain
	}
	return lastWindows
}

// Tasks implements [kernel.Kernel].
func (k *last[T]) Tasks() int {
	if k.count == 0 {
		return 0
	}
	return kernel.CeilDiv(k.count, k.each)
}

// Scratch implements [kernel.Kernel].
func (k *last[T]) Scratch() int {
	switch {
	case k.count == 0:
	case k.form == lastWindows:
		return max(k.windowScratch(), k.rest.Scratch())
	case k.form == lastDepthwise:
		return k.depthwiseScratch()
	}
	return k.epilogue.Scratch()
}

// Run implements [kernel.Kernel].
func (k *last[T]) Run(task int, scratch []byte) error {
	if k.form == lastDepthwise {
		return k.runDepthwise(task, scratch)
	}
	for i := task * k.each; i < min((task+1)*k.each, k.count); i++ {
		run := k.row
		if k.form == lastWindows {
			run = k.block
		}
		if err := run(i, scratch); err != nil {
			return err
		}
	}
	return nil
}

// row computes all maps at a row of positions, element by element.
func (k *last[T]) row(row int, scratch []byte) error {
	width, maps := k.slide.Width, k.maps*k.group
	for col := range width {
		k.position(row/k.slide.Rows, row%k.slide.Rows, col)
	}
	return k.epilogue.Run(row*width*maps, 1, width*maps, width*maps, scratch)
}

// position computes all maps at a position.
func (k *last[T]) position(image, row, col int) {
	x, w := kernel.Slice[T](k.x), kernel.Slice[T](k.w)[k.w.Offset:]
	y := kernel.Slice[T](k.y)[k.place(image, row, col):]
	for m := range k.maps * k.group {
		var sum, part T
		for i := range k.deep * k.taps {
			if i%isa.Chain == 0 {
				sum, part = sum+part, 0
			}
			if from := k.element(image, row, col, i%k.taps); from >= 0 {
				part += T(w[m*k.deep*k.taps+i] * x[from+m/k.maps*k.deep+i/k.taps])
			}
		}
		y[m] = sum + part
	}
}

// element returns where channel 0 of the element lies that a tap meets at a position, or
// -1 if that is padding.
func (k *last[T]) element(image, row, col, tap int) int {
	s := &k.slide
	at := k.x.Offset + image*k.x.Strides[0]
	for axis := len(s.In) - 1; axis >= 0; axis-- {
		t := tap % s.Taps[axis]
		tap /= s.Taps[axis]
		i := col*s.Stride[axis] + t*s.Dilation[axis] - s.Begin[axis]
		if i < 0 || i >= s.In[axis] {
			return -1
		}
		at += i * k.x.Strides[1+axis]
		if axis > 0 {
			col = row % s.Out[axis-1]
			row /= s.Out[axis-1]
		}
	}
	return at
}

// place returns where map 0 of a position lies.
func (k *last[T]) place(image, row, col int) int {
	at := k.y.Offset + image*k.y.Strides[0]
	for axis := len(k.slide.Out) - 1; axis >= 0; axis-- {
		at += col * k.y.Strides[1+axis]
		if axis > 0 {
			col = row % k.slide.Out[axis-1]
			row /= k.slide.Out[axis-1]
		}
	}
	return at
}

// PrepackedBytes implements [kernel.Prepacker]: the weights, but for the plain form.
func (k *last[T]) PrepackedBytes(input int) int {
	if input != 1 || k.form == lastPlain {
		return 0
	}
	return k.group * k.packedGroup() * k.w.DType.Size()
}

// packedGroup returns the elements of the prepacked weights of a group.
func (k *last[T]) packedGroup() int {
	if k.form == lastDepthwise {
		return k.taps
	}
	return gemm.Prepacked(k.maps, k.deep*k.taps, k.tile.Cols)
}

// PrepackedForm implements [kernel.Prepacker].
func (k *last[T]) PrepackedForm(int) string {
	if k.form == lastDepthwise {
		return tapsForm
	}
	return gemm.Form(k.tile.Cols, k.group, false)
}

// Prepack implements [kernel.Prepacker].
func (k *last[T]) Prepack(input int, dst []byte) {
	if k.PrepackedBytes(input) == 0 {
		return
	}
	to := kernel.Cast[T](dst)
	if k.form == lastDepthwise {
		layTaps(&k.tile, to, k.w, k.group, k.taps)
		return
	}
	for group := range k.group {
		gemm.Prepack(to[group*k.packedGroup():], k.weights(group), k.maps, k.deep*k.taps, k.tile.Cols)
	}
}

// weights returns those of a group, a row for each map.
func (k *last[T]) weights(group int) gemm.Matrix[T] {
	deep := k.deep * k.taps
	return gemm.Matrix[T]{Data: kernel.Slice[T](k.w), At: k.w.Offset + group*k.maps*deep, Row: deep, Col: 1}
}

// UsePrepacked implements [kernel.Prepacker].
func (k *last[T]) UsePrepacked(input int, prepacked []byte) {
	if input == 1 {
		k.prepackedW = nil
		if len(prepacked) > 0 {
			k.prepackedW = kernel.Cast[T](prepacked)
		}
	}
}

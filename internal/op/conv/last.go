package conv

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
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
	plain     lastForm = iota
	byChannel          // see [depthwise]
)

// last is a convolution with channels last.
type last[T kernel.Number] struct {
	params
	x, w, y *kernel.Operand
	form    lastForm
	tile    isa.Tile[T]
	blocks  slide.Blocks
	depth   depthwise[T] // of byChannel

	slide              slide.Binding
	images, maps, deep int // images; output maps and input channels of a group
	taps               int
	count, each        int // rows of positions, and those in a task
}

// Bind implements [kernel.Kernel].
func (k *last[T]) Bind(in, out []*kernel.Operand) {
	k.x, k.w, k.y = in[0], in[1], out[0]
	k.epilogue.Bind(k.y, in[2:]...)
	end := len(k.x.Shape) - 1
	k.window.Taps = k.w.Shape[2:]
	k.slide.Bind(&k.window, k.x.Shape[1:end], k.y.Shape[1:end])
	k.images, k.maps, k.deep = k.x.Shape[0], k.w.Shape[0]/k.group, k.w.Shape[1]
	k.taps = k.slide.OuterTaps * k.slide.InnerTaps
	k.form = plain
	if k.bindDepthwise(in) {
		k.form = byChannel
		return
	}
	k.count = k.images * k.slide.Rows
	_, k.each = kernel.Parts(k.count, k.slide.Width*k.maps*k.group*max(k.deep*k.taps, 1))
}

// Tasks implements [kernel.Kernel].
func (k *last[T]) Tasks() int {
	if k.count*k.slide.Width*k.maps == 0 {
		return 0
	}
	return kernel.CeilDiv(k.count, k.each)
}

// Scratch implements [kernel.Kernel].
func (k *last[T]) Scratch() int {
	if k.form == byChannel {
		return k.depthwiseScratch()
	}
	return k.epilogue.Scratch()
}

// Run implements [kernel.Kernel].
func (k *last[T]) Run(task int, scratch []byte) error {
	if k.form == byChannel {
		return k.runDepthwise(task, scratch)
	}
	width, maps := k.slide.Width, k.maps*k.group
	for row := task * k.each; row < min((task+1)*k.each, k.count); row++ {
		for col := range width {
			k.position(row/k.slide.Rows, row%k.slide.Rows, col)
		}
		if err := k.epilogue.Run(row*width*maps, 1, width*maps, width*maps, scratch); err != nil {
			return err
		}
	}
	return nil
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

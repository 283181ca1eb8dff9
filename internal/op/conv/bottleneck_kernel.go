package conv

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/gemm"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/slide"
)

// bottleneck computes a [Bottleneck]. A task has a band of rows of positions of an image.
// It expands some channels after the other at those rows of the image that the band meets,
// and filters them; once all are, it projects them. The two parts in between lie in the
// working memory of a worker, where the caches hold them.
//
// Neighbouring bands expand the rows that both meet twice.
type bottleneck[T kernel.Number] struct {
	window slide.Window
	tile   isa.Tile[T]
	slide  slide.Binding
	x, y   *kernel.Operand

	expand, project pointwise[T]
	depth           depthwise[T]
	filter, bias    *kernel.Operand // weights and bias of the depthwise convolution
	taps            []T             // prepacked weights of that
	rest            *elementwise.Epilogue

	images, channels int
	bands, rows      int // of an image; rows of positions of a band
	meets            int // rows of the image that a band meets, at most
	held             int // channels that are expanded at a time

	// The strides of the parts in between: of what is expanded, for held channels and for
	// those that are left at the end, and of what is filtered.
	heldStrides, endStrides, filteredStrides [2]int
}

// pointwise is a convolution of single taps, as a product of pixels by weights.
type pointwise[T kernel.Number] struct {
	w, bias    *kernel.Operand // nil where there is no such convolution, or no bias
	after      *elementwise.Vector
	deep, maps int
	terms      isa.Taps
	prepacked  []T
}

// These bound a band: the channels that are expanded at a time, the elements that are so at
// once, 16 KiB of float32, and those of its rows after the depthwise convolution, 512 KiB.
const (
	bandChannels = 64
	bandOnce     = 1 << 12
	bandFiltered = 1 << 17
)

func newBottleneck[T kernel.Number](b Bottleneck, t dtype.Type, window slide.Window, rest *elementwise.Epilogue) kernel.Kernel {
	k := &bottleneck[T]{window: window, tile: isa.TileOf[T](), rest: rest}
	if len(b.Expanded) > 0 {
		k.expand.after = elementwise.VectorOf(b.Expanded, t, 1)
	}
	if len(b.Filtered) > 0 {
		k.project.after = elementwise.VectorOf(b.Filtered, t, 1)
	}
	return k
}

// Bind implements [kernel.Kernel].
func (k *bottleneck[T]) Bind(in, out []*kernel.Operand) {
	at := func(i int) *kernel.Operand {
		if i < len(in) {
			return in[i]
		}
		return nil
	}
	k.x, k.y = in[0], out[0]
	k.filter, k.bias = in[filterInput], at(filterInput+1)
	k.expand.bind(at(expandInput), at(expandInput+1))
	k.project.bind(at(projectInput), at(projectInput+1))
	k.rest.Bind(k.y, in[min(bottleneckInputs, len(in)):]...)
	k.window.Taps = k.filter.Shape[2:]
	k.slide.Bind(&k.window, k.x.Shape[1:3], k.y.Shape[1:3])
	k.images, k.channels = k.x.Shape[0], k.filter.Shape[0]
	k.depth.group, k.depth.taps = k.channels, k.slide.OuterTaps*k.slide.InnerTaps
	k.held = k.channels
	if k.expand.w != nil {
		k.held = min(k.channels, kernel.CeilDiv(bandChannels, k.tile.Cols)*k.tile.Cols)
	}
	k.cut()
	k.depth.bind(&k.tile, &k.slide, k.rows, k.held, k.x.DType.Size())
	width, end := k.slide.In[1], k.channels%k.held
	k.heldStrides, k.endStrides = [2]int{width * k.held, k.held}, [2]int{width * end, end}
	k.filteredStrides = [2]int{k.slide.Width * k.channels, k.channels}
}

// bind binds the convolution to its weights.
func (p *pointwise[T]) bind(w, bias *kernel.Operand) {
	p.w, p.bias = w, bias
	if w == nil {
		return
	}
	p.maps, p.deep = w.Shape[0], w.Shape[1]
	p.terms.Reset()
	for c := range p.deep {
		p.terms.Append(c)
	}
}

// cut chooses the bands: what the caches hold, and as many as several workers share evenly
// where rows that are expanded twice are few.
func (k *bottleneck[T]) cut() {
	const (
		enough = 8 // tasks
		few    = 6 // a band meets this many times the rows that the next one meets too
	)
	s := &k.slide
	k.bands, k.rows = 1, s.Rows
	shared := 0
	if k.expand.w != nil {
		shared = max((s.Taps[0]-1)*s.Dilation[0]+1-s.Stride[0], 0)
	}
	for k.rows > 1 {
		large := float64(k.rows)*float64(s.Width)*float64(k.channels) > bandFiltered
		rows := kernel.CeilDiv(k.rows, 2)
		if !large && (k.images*k.bands >= enough || rows*s.Stride[0] < few*shared) {
			break
		}
		k.rows = rows
		k.bands = kernel.CeilDiv(s.Rows, k.rows)
	}
	k.meets = min((k.rows-1)*s.Stride[0]+(s.Taps[0]-1)*s.Dilation[0]+1, s.In[0])
}

// Tasks implements [kernel.Kernel].
func (k *bottleneck[T]) Tasks() int {
	if k.images*k.slide.Rows*k.slide.Width == 0 {
		return 0
	}
	return k.images * k.bands
}

// Scratch implements [kernel.Kernel].
func (k *bottleneck[T]) Scratch() int {
	n, work := 0, max(k.depth.scratch(), k.rest.Scratch())
	for _, p := range []*pointwise[T]{&k.expand, &k.project} {
		if p.w != nil && p.prepacked == nil {
			n += kernel.Carved[T](p.packed(&k.tile))
		}
		if p.after != nil {
			work = max(work, p.after.Scratch())
		}
	}
	if k.taps == nil {
		n += kernel.Carved[T](k.channels * k.depth.taps)
	}
	if k.expand.w != nil {
		n += kernel.Carved[T](k.meets * k.slide.In[1] * k.held)
	}
	if k.project.w != nil {
		n += kernel.Carved[T](k.rows * k.slide.Width * k.channels)
	}
	return n + work
}

// Run implements [kernel.Kernel].
func (k *bottleneck[T]) Run(task int, scratch []byte) error {
	s := &k.slide
	image, row := task/k.bands, task%k.bands*k.rows
	end := min(row+k.rows, s.Rows)
	if row >= end {
		return nil
	}
	taps := k.taps
	if taps == nil {
		taps = kernel.Carve[T](&scratch, k.channels*k.depth.taps)
		layTaps(&k.tile, taps, k.filter, k.channels, k.depth.taps)
	}
	expand, project := k.expand.pack(&k.tile, &scratch), k.project.pack(&k.tile, &scratch)
	x, y, to := pixelsOf[T](k.x, image), pixelsOf[T](k.y, image), pixelsOf[T](k.y, image)
	var filtered []T
	if k.project.w != nil {
		filtered = kernel.Carve[T](&scratch, k.rows*s.Width*k.channels)
		filtered = filtered[:(end-row)*s.Width*k.channels]
		to = pixels[T]{filtered, -row * s.Width * k.channels, k.filteredStrides[:]}
	}
	if err := k.filterBand(x, to, image, row, end, expand, taps, scratch); err != nil {
		return err
	}
	if k.project.w == nil {
		return k.finish(image, row, end, k.channels, scratch)
	}
	if err := k.project.finish(filtered, scratch); err != nil {
		return err
	}
	p := windowProduct[T]{
		tile: &k.tile, rows: tileRows(&k.tile, k.channels, y.strides[1], k.x.DType.Size()),
		lines: end - row, cols: s.Width, left: filtered, lineX: s.Width * k.channels, stepX: k.channels,
		y: y.elems[y.at+row*y.strides[0]:], lineY: y.strides[0], stepY: y.strides[1],
	}
	maps := k.project.maps
	k.project.multiply(&p, project, 0, maps)
	return k.finish(image, row, end, maps, scratch)
}

// finish runs the epilogue on rows of positions [row, end) of an image.
func (k *bottleneck[T]) finish(image, row, end, maps int, scratch []byte) error {
	each := k.slide.Width * maps
	return k.rest.Run((image*k.slide.Rows+row)*each, end-row, each, each, scratch)
}

// filterBand computes rows [row, end) of the depthwise convolution of an image.
func (k *bottleneck[T]) filterBand(x, to pixels[T], image, row, end int, expand, taps []T, scratch []byte) error {
	s, bias := &k.slide, elements[T](k.bias)
	if k.expand.w == nil {
		return k.depth.run(x, to, image, row, end, 0, k.channels, taps, bias, scratch)
	}
	// The rows of the image that these meet.
	top := row*s.Stride[0] - s.Begin[0]
	bottom := min((end-1)*s.Stride[0]-s.Begin[0]+(s.Taps[0]-1)*s.Dilation[0]+1, s.In[0])
	if top = max(top, 0); top > bottom {
		top = bottom
	}
	width := s.In[1]
	expanded := kernel.Carve[T](&scratch, k.meets*width*k.held)
	from, first := pixels[T]{elems: expanded}, to.at
	for c0 := 0; c0 < k.channels; c0 += k.held {
		c1 := min(c0+k.held, k.channels)
		if from.strides = k.heldStrides[:]; c1-c0 < k.held {
			from.strides = k.endStrides[:]
		}
		dense := expanded[:(bottom-top)*width*(c1-c0)]
		if err := k.expandRows(dense, &x, top, bottom, c0, c1, expand, scratch); err != nil {
			return err
		}
		from.at, to.at = -top*from.strides[0], first+c0
		if err := k.depth.run(from, to, image, row, end, c0, c1, taps, bias, scratch); err != nil {
			return err
		}
	}
	return nil
}

// expandRows sets dst, dense, to channels [c0, c1) of rows [top, bottom) of the expanded image,
// with the program behind them: some positions after the other, while they are in the
// nearest cache.
func (k *bottleneck[T]) expandRows(dst []T, x *pixels[T], top, bottom, c0, c1 int, strips []T, scratch []byte) error {
	width, n := k.slide.In[1], c1-c0
	line, stepX := width, x.strides[1] // positions that lie evenly, so far apart
	if x.strides[0] == width*stepX {
		line = max(bottom-top, 1) * width
	}
	each := max(bandOnce/n, k.tile.WindowRows)
	if stepX < 0 {
		each, stepX = 1, 0
	}
	p := windowProduct[T]{tile: &k.tile, lines: 1, stepX: stepX, stepY: n, rows: tileRows(&k.tile, stepX, n, k.x.DType.Size())}
	for at := 0; at*n < len(dst); at += p.cols {
		p.cols = min(each, line-at%line)
		p.left = x.elems[x.at+(top+at/width)*x.strides[0]+at%width*x.strides[1]:]
		p.y = dst[at*n:]
		k.expand.multiply(&p, strips, c0, c1)
		if err := k.expand.finish(p.y[:p.cols*n], scratch); err != nil {
			return err
		}
	}
	return nil
}

// multiply computes maps [m0, m1) at the positions of p, m0 where a strip begins.
func (c *pointwise[T]) multiply(p *windowProduct[T], strips []T, m0, m1 int) {
	for k0 := 0; k0 < c.deep; k0 += gemm.BlockK {
		k1 := min(k0+gemm.BlockK, c.deep)
		p.terms, p.add = c.terms.Slice(k0, k1), k0 > 0
		p.strips = strips[gemm.Prepacked(c.maps, k0, p.tile.Cols)+m0*(k1-k0):]
		if p.bias = nil; k1 == c.deep && c.bias != nil {
			p.bias = elements[T](c.bias)[m0:m1]
		}
		p.run(m1 - m0)
	}
}

// finish runs the program of what is before the next convolution.
func (c *pointwise[T]) finish(dense []T, scratch []byte) error {
	if c.after == nil {
		return nil
	}
	var in [elementwise.MaxInputs][]byte
	in[0] = kernel.Bytes(dense)
	return c.after.Run(in[0], &in, scratch)
}

// packed returns the elements of the packed weights.
func (c *pointwise[T]) packed(tile *isa.Tile[T]) int {
	return gemm.Prepacked(c.maps, c.deep, tile.Cols)
}

// pack returns the packed weights, which it makes if they are not there.
func (c *pointwise[T]) pack(tile *isa.Tile[T], scratch *[]byte) []T {
	if c.w == nil || c.prepacked != nil {
		return c.prepacked
	}
	strips := kernel.Carve[T](scratch, c.packed(tile))
	gemm.Prepack(strips, c.matrix(), c.maps, c.deep, tile.Cols)
	return strips
}

// matrix returns the weights, a row for each map.
func (c *pointwise[T]) matrix() gemm.Matrix[T] {
	return gemm.Matrix[T]{Data: kernel.Slice[T](c.w), At: c.w.Offset, Row: c.deep, Col: 1}
}

// of returns the convolution of single taps whose weights are an input, nil if there is none.
func (k *bottleneck[T]) of(input int) *pointwise[T] {
	switch {
	case input == expandInput && k.expand.w != nil:
		return &k.expand
	case input == projectInput && k.project.w != nil:
		return &k.project
	}
	return nil
}

// PrepackedBytes implements [kernel.Prepacker].
func (k *bottleneck[T]) PrepackedBytes(input int) int {
	size := k.x.DType.Size()
	if c := k.of(input); c != nil {
		return c.packed(&k.tile) * size
	}
	if input == filterInput {
		return k.channels * k.depth.taps * size
	}
	return 0
}

// PrepackedForm implements [kernel.Prepacker].
func (k *bottleneck[T]) PrepackedForm(input int) string {
	if input == filterInput {
		return tapsForm
	}
	return gemm.Form(k.tile.Cols, 1, false)
}

// Prepack implements [kernel.Prepacker].
func (k *bottleneck[T]) Prepack(input int, dst []byte) {
	if c := k.of(input); c != nil {
		gemm.Prepack(kernel.Cast[T](dst), c.matrix(), c.maps, c.deep, k.tile.Cols)
	} else if input == filterInput {
		layTaps(&k.tile, kernel.Cast[T](dst), k.filter, k.channels, k.depth.taps)
	}
}

// UsePrepacked implements [kernel.Prepacker].
func (k *bottleneck[T]) UsePrepacked(input int, prepacked []byte) {
	var elems []T
	if len(prepacked) > 0 {
		elems = kernel.Cast[T](prepacked)
	}
	switch input {
	case expandInput:
		k.expand.prepacked = elems
	case filterInput:
		k.taps = elems
	case projectInput:
		k.project.prepacked = elems
	}
}

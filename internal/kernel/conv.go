package kernel

import (
	"unsafe"

	"github.com/berth-go/berth/dtype"
)

// NewConv returns the kernel of a convolution in the sense of neural networks:
//
//	y[n,m,p] = bias[m] + sum over c, t of w[m,c,t] * x[n, m/(M/group)*(C/group)+c, p*stride+t*dilation-begin]
//
// for x [N, C, spatial...], w [M, C/group, taps...], an optional bias [M], and
// y [N, M, positions...], where what lies in the padding is 0. The batch axes
// of x and y may have any stride; all else is dense. Integers wrap. It returns
// nil for an element type without arithmetic of its own.
func NewConv(t dtype.Type, w Window, group int) Kernel {
	switch t {
	case dtype.Float32:
		return &conv[float32]{window: w, group: group, gemm: gemm[float32]{tile: bestTile[float32]()}}
	case dtype.Float64:
		return &conv[float64]{window: w, group: group, gemm: gemm[float64]{tile: bestTile[float64]()}}
	case dtype.Int32:
		return &conv[int32]{window: w, group: group, gemm: gemm[int32]{tile: bestTile[int32]()}}
	case dtype.Int64:
		return &conv[int64]{window: w, group: group, gemm: gemm[int64]{tile: bestTile[int64]()}}
	}
	return nil
}

// conv multiplies, for each image and group, the weights by the matrix of the
// image's windows, packed tile by tile and never held as a whole; windows of
// one element are the image itself. A group of one input channel, where there
// would be nothing to share, sums tap by tap instead.
type conv[T Number] struct {
	window        Window
	group         int
	x, w, bias, y *Operand

	slide              sliding
	gemm               gemm[T]
	images, maps, deep int // images; output maps and input channels of a group
	positions          int
	single             bool   // tap by tap
	phased             bool   // tap by tap in phases
	phases             phases // if so
	count, each        int    // products, or planes of the tap by tap form, and those in a task
	packedW            []T
}

// Bind implements [Kernel].
func (k *conv[T]) Bind(in, out []*Operand) {
	k.x, k.w, k.bias, k.y = in[0], in[1], nil, out[0]
	if len(in) > 2 {
		k.bias = in[2]
	}
	k.slide.bind(&k.window, k.x.Shape[2:], k.y.Shape[2:])
	k.images, k.maps, k.deep = k.x.Shape[0], k.w.Shape[0]/k.group, k.w.Shape[1]
	k.positions = k.slide.rows * k.slide.width
	taps := k.slide.outerTaps * k.slide.innerTaps
	k.single = k.deep == 1 && k.maps <= 2
	if k.single {
		k.count = k.images * k.maps * k.group
		_, k.each = Parts(k.count, k.positions*max(taps/4, 1))
		k.phased = k.phases.bind(&k.slide)
		return
	}
	k.gemm.plan(k.maps, k.positions, k.deep*taps)
	k.count, k.each = k.images*k.group, 1
	if k.gemm.tasks() == 1 {
		_, k.each = Parts(k.count, k.maps*k.positions*max(k.deep*taps/16, 1))
	}
}

// Tasks implements [Kernel].
func (k *conv[T]) Tasks() int {
	if k.count == 0 || k.positions == 0 {
		return 0
	}
	n := ceilDiv(k.count, k.each)
	if !k.single {
		n *= k.gemm.tasks()
	}
	return n
}

// Scratch implements [Kernel].
func (k *conv[T]) Scratch() int {
	switch {
	case !k.single:
		return k.gemm.scratch()
	case k.phased:
		var zero T
		p := &k.phases
		return (pad64[T](p.size(&k.slide)) + p.band*p.cols) * int(unsafe.Sizeof(zero))
	}
	return 0
}

// Run implements [Kernel].
func (k *conv[T]) Run(task int, scratch []byte) error {
	if k.single {
		for i := task * k.each; i < min((task+1)*k.each, k.count); i++ {
			k.plane(i, scratch)
		}
		return nil
	}
	per := k.gemm.tasks()
	first := task / per * k.each
	for i := first; i < min(first+k.each, k.count); i++ {
		k.product(i/k.group, i%k.group, task%per, scratch)
	}
	return nil
}

// product computes one block of the product of an image and a group.
func (k *conv[T]) product(image, group, block int, scratch []byte) {
	at := k.imageAt(image) + group*k.deep*k.slide.planeIn
	b := right[T]{matrix: matrix[T]{Slice[T](k.x), at, k.positions, 1}}
	if !k.slide.pointwise() {
		b.image = k
	}
	a := left[T]{matrix: matrix[T]{Slice[T](k.w), k.w.Offset + group*k.maps*k.gemm.k, k.gemm.k, 1}}
	if k.packedW != nil {
		a.packed = k.packedW[group*packedLeft(k.maps, k.gemm.k, k.gemm.tile.rows):]
	}
	y := Slice[T](k.y)[k.y.Offset+image*k.y.Strides[0]+group*k.maps*k.positions:]
	add := k.bias != nil
	if add {
		i0, i1, j0, j1 := k.gemm.block(block)
		bias := Slice[T](k.bias)[k.bias.Offset+group*k.maps:]
		for i := i0; i < i1; i++ {
			fill(y[i*k.positions+j0:i*k.positions+j1], bias[i])
		}
	}
	k.gemm.run(block, scratch, &a, &b, y, k.positions, add)
}

// imageAt returns where an image begins in the memory of x. Images without
// elements, all padding, have no place of their own.
func (k *conv[T]) imageAt(image int) int {
	if k.slide.planeIn == 0 {
		return 0
	}
	return k.x.Offset + image*k.x.Strides[0]
}

// fill sets every element of s to v.
func fill[T any](s []T, v T) {
	for i := range s {
		s[i] = v
	}
}

// plane computes one output map of one image tap by tap.
func (k *conv[T]) plane(i int, scratch []byte) {
	channels := k.maps * k.group
	image, m := i/channels, i%channels
	s := &k.slide
	at := k.imageAt(image) + m/k.maps*s.planeIn
	x := Slice[T](k.x)[at : at+s.planeIn]
	at = k.y.Offset + image*k.y.Strides[0] + m*k.positions
	y := Slice[T](k.y)[at : at+k.positions]
	taps := s.outerTaps * s.innerTaps
	at = k.w.Offset + m*taps
	w := Slice[T](k.w)[at : at+taps]
	var bias T
	if k.bias != nil {
		bias = Slice[T](k.bias)[k.bias.Offset+m]
	}
	if k.phased {
		k.depthwise(y, x, w, bias, scratch)
		return
	}
	for row := range s.rows {
		to := y[row*s.width : (row+1)*s.width]
		fill(to, bias)
		for outer := range s.outerTaps {
			base := s.row(outer, row)
			if base < 0 {
				continue
			}
			for inner, v := range w[outer*s.innerTaps : (outer+1)*s.innerTaps] {
				if lo, hi := s.lo[inner], s.hi[inner]; lo < hi {
					addTap(to[lo:hi], x[base+s.from[inner]+lo*s.step:], v, s.step)
				}
			}
		}
	}
}

// addTap is y[i] += v*x[i*step].
func addTap[T Number](y, x []T, v T, step int) {
	if step == 1 {
		for i, e := range x[:len(y)] {
			y[i] += v * e
		}
		return
	}
	for i := range y {
		y[i] += v * x[i*step]
	}
}

// PackedBytes implements [Prepacker]: the weights, unless summed tap by tap.
func (k *conv[T]) PackedBytes(input int) int {
	if input != 1 || k.single {
		return 0
	}
	return k.group * packedLeft(k.maps, k.gemm.k, k.gemm.tile.rows) * k.w.DType.Size()
}

// Pack implements [Prepacker].
func (k *conv[T]) Pack(input int, dst []byte) {
	if k.PackedBytes(input) == 0 {
		return
	}
	size := packedLeft(k.maps, k.gemm.k, k.gemm.tile.rows)
	for group := range k.group {
		w := matrix[T]{Slice[T](k.w), k.w.Offset + group*k.maps*k.gemm.k, k.gemm.k, 1}
		packWholeLeft(Cast[T](dst)[group*size:], &w, k.maps, k.gemm.k, k.gemm.tile.rows)
	}
}

// UsePacked implements [Prepacker].
func (k *conv[T]) UsePacked(input int, packed []byte) {
	if input == 1 {
		k.packedW = nil
		if len(packed) > 0 {
			k.packedW = Cast[T](packed)
		}
	}
}

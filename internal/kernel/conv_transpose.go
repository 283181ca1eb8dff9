package kernel

import (
	"unsafe"

	"github.com/berth-go/berth/dtype"
)

// NewConvTranspose returns the kernel of the transposed convolution, the gradient
// of [NewConv] with respect to its image:
//
//	y[n, m, i*stride+t*dilation-begin] = bias[m] + sum over c, i, t of x[n,c,i] * w[c,m,t]
//
// where every i and t that reach an element of y are summed, within each of
// group groups of channels. x is [N, C, spatial...], w [C, M/group, taps...],
// the optional bias [M], y [N, M, spatial...]. The window slides over y, and
// its positions are the elements of x. The batch axes of x and y may have any
// stride; all else is dense.
func NewConvTranspose(t dtype.Type, w Window, group int) Kernel {
	switch t {
	case dtype.Float32:
		return &convTranspose[float32]{window: w, group: group, gemm: gemm[float32]{tile: bestTile[float32]()}}
	case dtype.Float64:
		return &convTranspose[float64]{window: w, group: group, gemm: gemm[float64]{tile: bestTile[float64]()}}
	case dtype.Int32:
		return &convTranspose[int32]{window: w, group: group, gemm: gemm[int32]{tile: bestTile[int32]()}}
	case dtype.Int64:
		return &convTranspose[int64]{window: w, group: group, gemm: gemm[int64]{tile: bestTile[int64]()}}
	}
	return nil
}

// convTranspose multiplies the transposed weights by the image, block by
// block, and adds each row of the block, one tap of one map, onto the map. A
// task owns whole maps, so it alone writes to them.
type convTranspose[T Number] struct {
	window        Window
	group         int
	x, w, bias, y *Operand

	slide              sliding // over y, from the positions of x
	gemm               gemm[T]
	images, maps, deep int // images; output maps and input channels of a group
	positions, taps    int
	each, parts        int // maps in a task, and tasks of a group
}

// Bind implements [Kernel].
func (k *convTranspose[T]) Bind(in, out []*Operand) {
	k.x, k.w, k.bias, k.y = in[0], in[1], nil, out[0]
	if len(in) > 2 {
		k.bias = in[2]
	}
	k.slide.bind(&k.window, k.y.Shape[2:], k.x.Shape[2:])
	k.images, k.maps, k.deep = k.x.Shape[0], k.w.Shape[1], k.w.Shape[0]/k.group
	k.positions = k.slide.rows * k.slide.width
	k.taps = k.slide.outerTaps * k.slide.innerTaps
	k.gemm.plan(k.maps*k.taps, k.positions, k.deep)
	// Maps that fill a block of rows go into one task. A map with more taps
	// takes several blocks, one after the other.
	k.each = max(1, min(k.maps, k.gemm.blockM/k.taps))
	k.parts = ceilDiv(k.maps, k.each)
}

// Tasks implements [Kernel].
func (k *convTranspose[T]) Tasks() int {
	if k.slide.planeIn == 0 {
		return 0
	}
	return k.images * k.group * k.parts
}

// Scratch implements [Kernel].
func (k *convTranspose[T]) Scratch() int {
	var zero T
	return k.gemm.scratch() + k.gemm.blockM*k.gemm.blockN*int(unsafe.Sizeof(zero))
}

// Run implements [Kernel].
func (k *convTranspose[T]) Run(task int, scratch []byte) error {
	image, group, part := task/(k.group*k.parts), task/k.parts%k.group, task%k.parts
	m0, m1 := part*k.each, min((part+1)*k.each, k.maps)
	y := Slice[T](k.y)[k.y.Offset+image*k.y.Strides[0]+(group*k.maps+m0)*k.slide.planeIn:]
	y = y[:(m1-m0)*k.slide.planeIn]
	if k.bias == nil {
		clear(y)
	} else {
		bias := Slice[T](k.bias)[k.bias.Offset+group*k.maps:]
		for m := m0; m < m1; m++ {
			fill(y[(m-m0)*k.slide.planeIn:(m-m0+1)*k.slide.planeIn], bias[m])
		}
	}
	a := left[T]{matrix: matrix[T]{Slice[T](k.w), k.w.Offset + group*k.deep*k.maps*k.taps, 1, k.maps * k.taps}}
	b := right[T]{matrix: matrix[T]{Slice[T](k.x), k.x.Offset + image*k.x.Strides[0] + group*k.deep*k.positions, k.positions, 1}}
	products := Cast[T](scratch[k.gemm.scratch():])
	for i0 := m0 * k.taps; i0 < m1*k.taps; i0 += k.gemm.blockM {
		i1 := min(i0+k.gemm.blockM, m1*k.taps)
		for j0 := 0; j0 < k.positions; j0 += k.gemm.blockN {
			j1 := min(j0+k.gemm.blockN, k.positions)
			k.gemm.multiply(i0, i1, j0, j1, scratch, &a, &b, products, k.gemm.blockN, false)
			for i := i0; i < i1; i++ {
				m := i/k.taps - m0
				row := products[(i-i0)*k.gemm.blockN:]
				k.scatter(y[m*k.slide.planeIn:(m+1)*k.slide.planeIn], row[:j1-j0], i%k.taps, j0)
			}
		}
	}
	return nil
}

// scatter adds what one tap gives at positions from j on to a map.
func (k *convTranspose[T]) scatter(y, products []T, tap, j int) {
	s := &k.slide
	outer, inner := tap/s.innerTaps, tap%s.innerTaps
	row, col := j/s.width, j%s.width
	for len(products) > 0 {
		n := min(s.width-col, len(products))
		if base := s.row(outer, row); base >= 0 {
			lo, hi := max(s.lo[inner], col), min(s.hi[inner], col+n)
			to := base + s.from[inner]
			for c := lo; c < hi; c++ {
				y[to+c*s.step] += products[c-col]
			}
		}
		products = products[n:]
		row, col = row+1, 0
	}
}

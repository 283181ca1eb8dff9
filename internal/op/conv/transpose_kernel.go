package conv

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/gemm"
)

// newConvTranspose returns the kernel of the transposed convolution, the gradient
// of [newConv] with respect to its image:
//
//	y[n, m, i*stride+t*dilation-begin] = sum over c, i, t of x[n,c,i] * w[c,m,t]
//
// where every i and t that reach an element of y are summed, within each of
// group groups of channels. x is [N, C, spatial...], w [C, M/group, taps...],
// y [N, M, spatial...]. The window slides over y, and its positions are the
// elements of x. The batch axes of x and y may have any stride; x, w and y are
// dense but for that. The finish is as with [newConv].
func newConvTranspose(t dtype.Type, p params) kernel.Kernel {
	return ofElement(t, p,
		convTransposeOf[float32], convTransposeOf[float64], convTransposeOf[int32], convTransposeOf[int64])
}

func convTransposeOf[T kernel.Number](p params) kernel.Kernel {
	return &convTranspose[T]{shared: shared[T]{params: p, gemm: gemm.New[T]()}}
}

// convTranspose multiplies the transposed weights by the image, block by
// block, and adds each row of the block, one tap of one map, onto the map. A
// task owns whole maps, so it alone writes to them.
type convTranspose[T kernel.Number] struct {
	shared[T]
	each, parts int // maps in a task, and tasks of a group
}

// Bind implements [kernel.Kernel].
func (k *convTranspose[T]) Bind(in, out []*kernel.Operand) {
	k.bind(in, out, out[0], in[0])
	k.maps, k.deep = k.w.Shape[1], k.w.Shape[0]/k.group
	k.gemm.Plan(k.maps*k.taps, k.positions, k.deep)
	// Maps that fill a block of rows go into one task. A map with more taps
	// takes several blocks, one after the other.
	k.each = max(1, min(k.maps, k.gemm.BlockM/k.taps))
	k.parts = kernel.CeilDiv(k.maps, k.each)
}

// Tasks implements [kernel.Kernel].
func (k *convTranspose[T]) Tasks() int {
	if k.slide.PlaneIn == 0 {
		return 0
	}
	return k.images * k.group * k.parts
}

// Scratch implements [kernel.Kernel].
func (k *convTranspose[T]) Scratch() int {
	return max(k.gemm.Scratch()+kernel.Carved[T](k.gemm.BlockM*k.gemm.BlockN), k.epilogue.Scratch())
}

// Run implements [kernel.Kernel].
func (k *convTranspose[T]) Run(task int, scratch []byte) error {
	image, group, part := task/(k.group*k.parts), task/k.parts%k.group, task%k.parts
	m0, m1 := part*k.each, min((part+1)*k.each, k.maps)
	y := kernel.Slice[T](k.y)[k.y.Offset+image*k.y.Strides[0]+(group*k.maps+m0)*k.slide.PlaneIn:]
	y = y[:(m1-m0)*k.slide.PlaneIn]
	clear(y)
	a := gemm.Left[T]{Matrix: gemm.Matrix[T]{Data: kernel.Slice[T](k.w), At: k.w.Offset + group*k.deep*k.maps*k.taps, Row: 1, Col: k.maps * k.taps}}
	b := gemm.Right[T]{Matrix: gemm.Matrix[T]{Data: kernel.Slice[T](k.x), At: k.x.Offset + image*k.x.Strides[0] + group*k.deep*k.positions, Row: k.positions, Col: 1}}
	products := kernel.Cast[T](scratch[k.gemm.Scratch():])
	for i0 := m0 * k.taps; i0 < m1*k.taps; i0 += k.gemm.BlockM {
		i1 := min(i0+k.gemm.BlockM, m1*k.taps)
		for j0 := 0; j0 < k.positions; j0 += k.gemm.BlockN {
			j1 := min(j0+k.gemm.BlockN, k.positions)
			k.gemm.Multiply(i0, i1, j0, j1, scratch, &a, &b, products, k.gemm.BlockN)
			for i := i0; i < i1; i++ {
				m := i/k.taps - m0
				row := products[(i-i0)*k.gemm.BlockN:]
				k.scatter(y[m*k.slide.PlaneIn:(m+1)*k.slide.PlaneIn], row[:j1-j0], i%k.taps, j0)
			}
		}
	}
	first := (image*k.group+group)*k.maps + m0
	return k.epilogue.Run(first*k.slide.PlaneIn, m1-m0, k.slide.PlaneIn, k.slide.PlaneIn, scratch)
}

// scatter adds what one tap gives at positions from j on to a map.
func (k *convTranspose[T]) scatter(y, products []T, tap, j int) {
	s := &k.slide
	outer, inner := tap/s.InnerTaps, tap%s.InnerTaps
	row, col := j/s.Width, j%s.Width
	for len(products) > 0 {
		n := min(s.Width-col, len(products))
		if base := s.Row(outer, row); base >= 0 {
			lo, hi := max(s.Lo[inner], col), min(s.Hi[inner], col+n)
			to := base + s.From[inner]
			for c := lo; c < hi; c++ {
				y[to+c*s.Step] += products[c-col]
			}
		}
		products = products[n:]
		row, col = row+1, 0
	}
}

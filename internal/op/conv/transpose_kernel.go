package conv

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/gemm"
	"github.com/berth-go/berth/internal/op/slide"
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

// convTranspose multiplies the transposed weights by the image, block by block, and adds
// each row of the block, one tap of one map, onto the map. A task owns a band of rows of
// some maps: it alone writes to them, and it multiplies all positions that reach them, some
// of which reach its neighbours' bands as well.
type convTranspose[T kernel.Number] struct {
	shared[T]
	each, parts int // maps in a task, and parts of a group
	band, bands int // rows in a task along the first spatial axis, and bands of an image
	rowElems    int // elements of such a row
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
	k.cutBands()
}

// cutBands chooses bands that caches hold, and lower ones until there are tasks enough, but
// none so low that the positions which reach two of them are most of the work.
func (k *convTranspose[T]) cutBands() {
	const (
		enough = 12      // tasks, for the workers to share evenly
		grain  = 1 << 20 // multiplications in a task worth handing out
	)
	s := &k.slide
	k.band, k.bands, k.rowElems = s.In[0], 1, 1
	if s.PlaneIn == 0 || len(s.In) == 1 { // maps of one axis are not cut
		return
	}
	k.rowElems = s.PlaneIn / s.In[0]
	reach := (s.Taps[0]-1)*s.Dilation[0] + s.Stride[0]
	work := float64(k.each*k.taps) * float64(k.deep) * float64(k.positions)
	for k.band >= 4*reach {
		few := k.images*k.group*k.parts*k.bands < enough && work > 2*grain*float64(k.bands)
		if !few && k.each*k.band*k.rowElems <= blockElems {
			return
		}
		k.band = kernel.CeilDiv(k.band, 2)
		k.bands = kernel.CeilDiv(s.In[0], k.band)
	}
}

// Tasks implements [kernel.Kernel].
func (k *convTranspose[T]) Tasks() int {
	if k.slide.PlaneIn == 0 {
		return 0
	}
	return k.images * k.group * k.parts * k.bands
}

// Scratch implements [kernel.Kernel].
func (k *convTranspose[T]) Scratch() int {
	return max(k.gemm.Scratch()+kernel.Carved[T](k.gemm.BlockM*k.gemm.BlockN), k.epilogue.Scratch())
}

// Run implements [kernel.Kernel].
func (k *convTranspose[T]) Run(task int, scratch []byte) error {
	band, task := task%k.bands, task/k.bands
	image, group, part := task/(k.group*k.parts), task/k.parts%k.group, task%k.parts
	m0, m1 := part*k.each, min((part+1)*k.each, k.maps)
	r0, r1 := band*k.band, min((band+1)*k.band, k.slide.In[0])
	from, to := r0*k.rowElems, r1*k.rowElems
	y := kernel.Slice[T](k.y)[k.y.Offset+image*k.y.Strides[0]+(group*k.maps+m0)*k.slide.PlaneIn:]
	y = y[:(m1-m0)*k.slide.PlaneIn]
	for m := range m1 - m0 {
		clear(y[m*k.slide.PlaneIn:][from:to])
	}
	a := gemm.Left[T]{Matrix: gemm.Matrix[T]{Data: kernel.Slice[T](k.w), At: k.w.Offset + group*k.deep*k.maps*k.taps, Row: 1, Col: k.maps * k.taps}}
	b := gemm.Right[T]{Matrix: gemm.Matrix[T]{Data: kernel.Slice[T](k.x), At: k.x.Offset + image*k.x.Strides[0] + group*k.deep*k.positions, Row: k.positions, Col: 1}}
	products := kernel.Cast[T](scratch[k.gemm.Scratch():])
	p0, p1 := k.reaching(r0, r1)
	for i0 := m0 * k.taps; i0 < m1*k.taps; i0 += k.gemm.BlockM {
		i1 := min(i0+k.gemm.BlockM, m1*k.taps)
		for j0 := p0; j0 < p1; j0 += k.gemm.BlockN {
			j1 := min(j0+k.gemm.BlockN, p1)
			k.gemm.Multiply(i0, i1, j0, j1, scratch, &a, &b, products, k.gemm.BlockN)
			for i := i0; i < i1; i++ {
				m := i/k.taps - m0
				row := products[(i-i0)*k.gemm.BlockN:]
				k.scatter(y[m*k.slide.PlaneIn:][:to], row[:j1-j0], i%k.taps, j0, from)
			}
		}
	}
	first := ((image*k.group+group)*k.maps + m0) * k.slide.PlaneIn
	return k.epilogue.Run(first+from, m1-m0, k.slide.PlaneIn, to-from, scratch)
}

// reaching returns the positions [p0, p1) whose windows may reach rows [r0, r1) along the
// first spatial axis.
func (k *convTranspose[T]) reaching(r0, r1 int) (p0, p1 int) {
	if k.bands == 1 {
		return 0, k.positions
	}
	s := &k.slide
	each, begin, stride := k.positions/s.Out[0], s.Begin[0], s.Stride[0]
	p0 = slide.FirstAtLeast(r0+begin-(s.Taps[0]-1)*s.Dilation[0], stride, s.Out[0])
	p1 = slide.FirstAtLeast(r1+begin, stride, s.Out[0])
	return p0 * each, p1 * each
}

// scatter adds what one tap gives at positions from j on to the elements of a map from
// element from on.
func (k *convTranspose[T]) scatter(y, products []T, tap, j, from int) {
	s := &k.slide
	outer, inner := tap/s.InnerTaps, tap%s.InnerTaps
	row, col := j/s.Width, j%s.Width
	for len(products) > 0 {
		n := min(s.Width-col, len(products))
		if base := s.Row(outer, row); base >= from && base < len(y) {
			lo, hi := max(s.Lo[inner], col), min(s.Hi[inner], col+n)
			if lo < hi {
				add(y[base+s.From[inner]+lo*s.Step:], products[lo-col:hi-col], s.Step)
			}
		}
		products = products[n:]
		row, col = row+1, 0
	}
}

// add adds the elements of x to every step-th element of y.
func add[T kernel.Number](y, x []T, step int) {
	y = y[:(len(x)-1)*step+1]
	for i, v := range x {
		y[i*step] += v
	}
}

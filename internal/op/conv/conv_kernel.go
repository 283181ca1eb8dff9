package conv

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/gemm"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/op/slide"
)

// newConv returns the kernel of a convolution in the sense of neural networks:
//
//	y[n,m,p] = sum over c, t of w[m,c,t] * x[n, m/(M/group)*(C/group)+c, p*stride+t*dilation-begin]
//
// for x [N, C, spatial...], w [M, C/group, taps...], and y [N, M, positions...],
// where what lies in the padding is 0. The batch axes of x and y may have any
// stride; x, w and y are dense but for that. Integers wrap. The finish runs on
// each block of y, with the operands after x and w that are present. It returns nil
// for an element type without arithmetic of its own.
func newConv(t dtype.Type, p params) kernel.Kernel {
	return ofElement(t, p, convOf[float32], convOf[float64], convOf[int32], convOf[int64])
}

func convOf[T kernel.Number](p params) kernel.Kernel {
	return &conv[T]{shared: shared[T]{params: p, gemm: gemm.New[T]()}}
}

// A form is how a convolution is computed. The shapes decide.
type form uint8

const (
	// The weights of each image and group are multiplied by the matrix of the image's
	// windows, packed tile by tile and never held as a whole. Windows of one element
	// are the image itself.
	packed form = iota
	// They are multiplied by the padded image where its taps lie; see [direct].
	inPlace
	// Each map is summed tap by tap. Groups of one input channel and one or two maps,
	// where maps have nothing to share, are so computed.
	single
)

// conv is a convolution in one of its forms.
type conv[T kernel.Number] struct {
	shared[T]
	form        form
	direct      direct // of inPlace
	blocked     bool   // single in blocks
	blocks      slide.Blocks
	perImage    int // blocks of an image
	bias        *kernel.Operand
	count, each int // products, or planes or blocks of the single form, and those in a task
	prepackedW  []T
}

// Bind implements [kernel.Kernel].
func (k *conv[T]) Bind(in, out []*kernel.Operand) {
	k.bind(in, out, in[0], out[0])
	k.maps, k.deep = k.w.Shape[0]/k.group, k.w.Shape[1]
	k.gemm.Plan(k.maps, k.positions, k.deep*k.taps)
	if k.form = k.choose(); k.form == single {
		k.blocked, k.bias = k.blocks.Bind(&k.slide, k.x.DType.Size()), nil
		if !k.blocked {
			k.count = k.images * k.maps * k.group
			_, k.each = kernel.Parts(k.count, k.positions*max(k.taps/4, 1))
			return
		}
		k.bindBlocks(in)
		return
	}
	k.count, k.each = k.images*k.group, 1
	if k.parts() == 1 {
		_, k.each = kernel.Parts(k.count, k.maps*k.positions*max(k.deep*k.taps/16, 1))
	}
}

// choose returns the form for the bound shapes.
func (k *conv[T]) choose() form {
	rows, cols := k.gemm.Tile.Rows, k.gemm.Tile.Cols
	switch {
	case k.deep == 1 && k.maps <= 2:
		return single
	case k.direct.bind(&k.slide, k.maps, k.deep, rows, cols) && k.direct.pays(&k.slide, k.maps, cols, k.gemm.BlockM):
		return inPlace
	}
	return packed
}

// Tasks implements [kernel.Kernel].
func (k *conv[T]) Tasks() int {
	if k.count == 0 || k.positions == 0 {
		return 0
	}
	return kernel.CeilDiv(k.count, k.each) * k.parts()
}

// parts returns the tasks into which the form cuts one of k.count.
func (k *conv[T]) parts() int {
	switch k.form {
	case packed:
		return k.gemm.Tasks()
	case inPlace:
		return k.direct.tasks()
	}
	return 1
}

// Scratch implements [kernel.Kernel].
func (k *conv[T]) Scratch() int {
	n := 0
	switch {
	case k.form == packed:
		n = k.gemm.Scratch()
	case k.form == inPlace:
		n = k.directScratch()
	case k.blocked:
		return slide.PatchScratch(&k.blocks, &k.gemm.Tile) + k.rest.Scratch()
	default:
		n = kernel.Carved[T](k.slide.Width)
	}
	return max(n, k.epilogue.Scratch())
}

// Run implements [kernel.Kernel].
func (k *conv[T]) Run(task int, scratch []byte) error {
	switch {
	case k.form == single && k.blocked:
		return k.runBlocks(task, scratch)
	case k.form == single:
		return k.runPlanes(task, scratch)
	}
	per := k.parts()
	first := task / per * k.each
	for i := first; i < min(first+k.each, k.count); i++ {
		if err := k.block(i/k.group, i%k.group, task%per, scratch); err != nil {
			return err
		}
	}
	return nil
}

// block computes one of the blocks of an image and a group.
func (k *conv[T]) block(image, group, block int, scratch []byte) error {
	if k.form == inPlace {
		return k.band(image, group, block, scratch)
	}
	return k.product(image, group, block, scratch)
}

// product computes one block of the product of an image and a group.
func (k *conv[T]) product(image, group, block int, scratch []byte) error {
	at := k.imageAt(image) + group*k.deep*k.slide.PlaneIn
	b := gemm.Right[T]{Matrix: gemm.Matrix[T]{Data: kernel.Slice[T](k.x), At: at, Row: k.positions, Col: 1}}
	if !k.slide.Pointwise() {
		b.Image = k
	}
	a := gemm.Left[T]{Matrix: gemm.Matrix[T]{Data: kernel.Slice[T](k.w), At: k.w.Offset + group*k.maps*k.gemm.K, Row: k.gemm.K, Col: 1}}
	if k.prepackedW != nil {
		a.Prepacked = k.prepackedW[group*gemm.Prepacked(k.maps, k.gemm.K, k.gemm.Tile.Rows):]
	}
	y := kernel.Slice[T](k.y)[k.y.Offset+image*k.y.Strides[0]+group*k.maps*k.positions:]
	k.gemm.Run(block, scratch, &a, &b, y, k.positions)
	i0, i1, j0, j1 := k.gemm.Block(block)
	first := (image*k.group+group)*k.maps + i0
	return k.epilogue.Run(first*k.positions+j0, i1-i0, k.positions, j1-j0, scratch)
}

// PackImage implements [gemm.ImagePacker].
func (k *conv[T]) PackImage(dst, x []T, j0, j1, k0, k1 int, tile *isa.Tile[T]) {
	slide.PackColumns(&k.slide, dst, x, j0, j1, k0, k1, tile, 0)
}

// imageAt returns where an image begins in the memory of x. Images without
// elements, all padding, have no place of their own.
func (k *conv[T]) imageAt(image int) int {
	if k.slide.PlaneIn == 0 {
		return 0
	}
	return k.x.Offset + image*k.x.Strides[0]
}

// runPlanes does a task of planes that are not cut into blocks.
func (k *conv[T]) runPlanes(task int, scratch []byte) error {
	channels := k.maps * k.group
	s := &k.slide
	for i := task * k.each; i < min((task+1)*k.each, k.count); i++ {
		image, m := i/channels, i%channels
		at := k.imageAt(image) + m/k.maps*s.PlaneIn
		x := kernel.Slice[T](k.x)[at : at+s.PlaneIn]
		at = k.y.Offset + image*k.y.Strides[0] + m*k.positions
		y := kernel.Slice[T](k.y)[at : at+k.positions]
		at = k.w.Offset + m*k.taps
		w := kernel.Slice[T](k.w)[at : at+k.taps]
		rest := scratch
		k.tapByTap(y, x, w, kernel.Carve[T](&rest, s.Width))
		if err := k.epilogue.Run(i*k.positions, 1, k.positions, k.positions, scratch); err != nil {
			return err
		}
	}
	return nil
}

// tapByTap computes one output map of one image. As in products, [isa.Chain] taps
// make a partial sum; part, as long as a row of positions, holds those behind the
// first.
func (k *conv[T]) tapByTap(y, x, w, part []T) {
	s := &k.slide
	clear(y)
	for row := range s.Rows {
		to := y[row*s.Width : (row+1)*s.Width]
		sums, chain := to, 0
		for outer := range s.OuterTaps {
			base := s.Row(outer, row)
			if base < 0 {
				continue
			}
			for inner, v := range w[outer*s.InnerTaps : (outer+1)*s.InnerTaps] {
				if c := (outer*s.InnerTaps + inner) / isa.Chain; c != chain {
					if chain > 0 {
						addTap(to, part, 1, 1)
					}
					clear(part)
					sums, chain = part, c
				}
				if lo, hi := s.Lo[inner], s.Hi[inner]; lo < hi {
					addTap(sums[lo:hi], x[base+s.From[inner]+lo*s.Step:], v, s.Step)
				}
			}
		}
		if chain > 0 {
			addTap(to, part, 1, 1)
		}
	}
}

// addTap is y[i] += v*x[i*step].
func addTap[T kernel.Number](y, x []T, v T, step int) {
	if step == 1 {
		for i, e := range x[:len(y)] {
			y[i] += T(v * e)
		}
		return
	}
	for i := range y {
		y[i] += T(v * x[i*step])
	}
}

// PrepackedBytes implements [kernel.Prepacker]: the weights, unless summed tap by tap.
func (k *conv[T]) PrepackedBytes(input int) int {
	if input != 1 || k.form == single {
		return 0
	}
	return k.group * gemm.Prepacked(k.maps, k.gemm.K, k.gemm.Tile.Rows) * k.w.DType.Size()
}

// PrepackedForm implements [kernel.Prepacker].
func (k *conv[T]) PrepackedForm(int) string { return gemm.Form(k.gemm.Tile.Rows, k.group, false) }

// Prepack implements [kernel.Prepacker].
func (k *conv[T]) Prepack(input int, dst []byte) {
	if k.PrepackedBytes(input) == 0 {
		return
	}
	size := gemm.Prepacked(k.maps, k.gemm.K, k.gemm.Tile.Rows)
	for group := range k.group {
		w := gemm.Matrix[T]{Data: kernel.Slice[T](k.w), At: k.w.Offset + group*k.maps*k.gemm.K, Row: k.gemm.K, Col: 1}
		gemm.Prepack(kernel.Cast[T](dst)[group*size:], w, k.maps, k.gemm.K, k.gemm.Tile.Rows)
	}
}

// UsePrepacked implements [kernel.Prepacker].
func (k *conv[T]) UsePrepacked(input int, prepacked []byte) {
	if input == 1 {
		k.prepackedW = nil
		if len(prepacked) > 0 {
			k.prepackedW = kernel.Cast[T](prepacked)
		}
	}
}

package conv

import (
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/op/slide"
)

// bindBlocks has maps of single channels summed in blocks.
func (k *conv[T]) bindBlocks(in []*kernel.Operand) {
	b := &k.blocks
	if k.maps > 1 {
		b.Planes = 1 // of x, which several maps read
	}
	k.perImage = b.Count(k.maps * k.group)
	k.count = k.images * k.perImage
	_, k.each = kernel.Parts(k.count, b.Planes*b.Rows*b.Cols*max(k.taps/16, 1))
	if len(in) >= ownInputs {
		k.bias = in[2]
		k.rest.Bind(k.y, in[ownInputs:]...)
	}
}

// runBlocks does a task of blocks.
func (k *conv[T]) runBlocks(task int, scratch []byte) error {
	s, maps := &k.slide, k.maps*k.group
	patch := slide.NewPatch[T](&scratch, &k.blocks, s, &k.gemm.Tile, 0)
	x, y, w := kernel.Slice[T](k.x), kernel.Slice[T](k.y), kernel.Slice[T](k.w)
	for i := task * k.each; i < min((task+1)*k.each, k.count); i++ {
		image, at := i/k.perImage, patch.Block(i%k.perImage, maps)
		first := at.Row*s.Width + at.Col
		patch.Fill(x[k.imageAt(image)+at.Plane/k.maps*s.PlaneIn:], &at)
		k.sumTaps(y[k.y.Offset+image*k.y.Strides[0]+at.Plane*k.positions+first:], w[k.w.Offset+at.Plane*k.taps:], &patch, &at)
		// The planes of a block follow one another in y.
		if err := k.rest.Run((image*maps+at.Plane)*k.positions+first, at.Planes*at.Rows, s.Width, at.Cols, scratch); err != nil {
			return err
		}
	}
	return nil
}

// sumTaps computes a block. As in products, [isa.Chain] taps make a partial sum, and
// the bias is added to the whole.
func (k *conv[T]) sumTaps(y, w []T, patch *slide.Patch[T], at *slide.Block) {
	b, tile := &k.blocks, &k.gemm.Tile
	var bias []T
	if k.bias != nil {
		bias = kernel.Slice[T](k.bias)[k.bias.Offset+at.Plane:]
	}
	if b.Square {
		tile.Tap3x3(y, patch.Elems, patch.Grid, b.Pitch, b.Stride, &b.Columns, w, bias)
		return
	}
	for from := 0; from < k.taps; from += isa.Chain {
		var last []T
		to := min(from+isa.Chain, k.taps)
		if to == k.taps {
			last = bias
		}
		tile.TapRows(y, patch.Elems, patch.Grid, b.Offsets[from:to], w[from:], k.taps, last, from > 0)
	}
}

package conv

import (
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/op/slide"
)

// runBlocks does a task of blocks.
func (k *conv[T]) runBlocks(task int, scratch []byte) error {
	b, tile := &k.blocks, &k.gemm.Tile
	patch, col := kernel.Carve[T](&scratch, slide.PatchSize(b, tile)), -1
	for i := task * k.each; i < min((task+1)*k.each, k.count); i++ {
		at := b.Block(i, k.planes, &k.slide)
		if at.Col != col {
			clear(patch)
			col = at.Col
		}
		first := at.Row*k.slide.Width + at.Col
		for plane := at.Plane; plane < at.Plane+at.Planes; plane++ {
			x, y, w, m := k.plane(plane)
			slide.FillPatch(patch, x, b, &at, 0, tile)
			k.sumTaps(y[first:], patch, w, m, at.Rows, at.Cols)
		}
		// The planes of a block follow one another in y.
		if err := k.rest.Run(at.Plane*k.positions+first, at.Planes*at.Rows, k.slide.Width, at.Cols, scratch); err != nil {
			return err
		}
	}
	return nil
}

// sumTaps computes rows by cols positions of output map m of an image. As in
// products, [isa.Chain] taps make a partial sum, and the bias is added to the whole.
func (k *conv[T]) sumTaps(y, patch, w []T, m, rows, cols int) {
	b, tile, width := &k.blocks, &k.gemm.Tile, k.slide.Width
	var bias []T
	if k.bias != nil {
		bias = kernel.Slice[T](k.bias)[k.bias.Offset+m:][:1]
	}
	if b.Square {
		tile.Tap3x3(y, width, rows, cols, patch, b.Pitch, b.Stride, &b.Columns, w, bias)
		return
	}
	for from := 0; from < k.taps; from += isa.Chain {
		var last []T
		to := min(from+isa.Chain, k.taps)
		if to == k.taps {
			last = bias
		}
		tile.TapRows(y, width, rows, cols, patch, b.Stride*b.Pitch, b.Offsets[from:to], w[from:to], last, from > 0)
	}
}

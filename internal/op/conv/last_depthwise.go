package conv

import (
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/slide"
)

// depthwise is a convolution with channels last whose groups have one input channel and
// one map each. Weights are laid out by taps, so that the channels of a tap are a vector,
// as those of an element are.
//
// Rows of positions are computed some at a time. These are cut into blocks of columns and
// channels, so that the lines of x that several rows meet stay in the nearest cache.
type depthwise[T kernel.Number] struct {
	tile                 *isa.Tile[T]
	slide                *slide.Binding
	group, taps          int
	rest                 *elementwise.Epilogue // runs on the result
	rows, cols, channels int                   // of a block
}

// depthwiseRows bounds the rows of a block, and with them the memory for the places of taps.
const depthwiseRows = 16

// pixels is an image with its channels last: elements, the place of the first one of row 0
// there, which may be none of them where row 0 is not, and the strides of the spatial axes.
type pixels[T kernel.Number] struct {
	elems   []T
	at      int
	strides []int
}

// pixelsOf returns an image of an operand.
func pixelsOf[T kernel.Number](o *kernel.Operand, image int) pixels[T] {
	return pixels[T]{kernel.Slice[T](o), o.Offset + image*o.Strides[0], o.Strides[1:]}
}

// bind binds the convolution to a window over images, of which up to so many rows of
// positions and channels are computed at once. Group, taps, and rest are there.
func (d *depthwise[T]) bind(tile *isa.Tile[T], s *slide.Binding, rows, channels, size int) {
	d.tile, d.slide = tile, s
	d.cols, d.channels = s.LastBlock(channels, size)
	d.rows = min(rows, s.Rows, depthwiseRows)
}

// scratch returns the bytes of working memory of run.
func (d *depthwise[T]) scratch() int {
	return kernel.Carved[isa.Grid](1) + kernel.Carved[int](d.rows*d.taps) + d.rest.Scratch()
}

// tapsForm names the form of weights that [layTaps] makes.
const tapsForm = "taps by channels"

// layTaps lays the weights of a depthwise convolution out by taps.
func layTaps[T kernel.Number](tile *isa.Tile[T], dst []T, w *kernel.Operand, group, taps int) {
	tile.Transpose(dst, elements[T](w), group, taps, taps, group)
}

// run computes rows [row, end) of positions of an image, for channels [c0, c1), the first
// of which x and y begin with.
func (d *depthwise[T]) run(x, y pixels[T], image, row, end, c0, c1 int, weights, bias []T, scratch []byte) error {
	s := d.slide
	grid := &kernel.Carve[isa.Grid](&scratch, 1)[0]
	offsets := kernel.Carve[int](&scratch, d.rows*d.taps)
	for ; row < end; row += grid.Planes {
		grid.Planes = min(d.rows, end-row)
		for col := 0; col < s.Width; {
			cols, lines := s.Run(col), d.inLines(col)
			found := d.findTaps(offsets, &x, row, grid.Planes, col, lines)
			for channel := c0; channel < c1; channel += grid.Cols {
				grid.Cols = min(d.channels, c1-channel)
				var biases []T
				if bias != nil {
					biases = bias[channel:]
				}
				d.block(&x, &y, row, col, cols, channel, channel-c0, grid, found, lines, weights, biases)
			}
			// Behind all channels, so that a row of columns is one stretch of elements.
			for r := row; r < row+grid.Planes; r++ {
				first := ((image*s.Rows+r)*s.Width+col)*d.group + c0
				if err := d.rest.Run(first, cols, d.group, c1-c0, scratch); err != nil {
					return err
				}
			}
			col += cols
		}
	}
	return nil
}

// inLines reports whether the taps that meet a column are whole lines that
// [isa.Channels.LastLines] takes.
func (d *depthwise[T]) inLines(col int) bool {
	s := d.slide
	for inner := range s.InnerTaps {
		if !s.Inside(inner, col) {
			return false
		}
	}
	dilation := s.Dilation[len(s.In)-1]
	return (s.InnerTaps == 3 || s.InnerTaps == 5) && d.taps <= isa.Chain && (s.Step == dilation || s.Step == 2*dilation)
}

// findTaps sets offsets to where each tap, or the first one of each line, meets a column in each
// of some rows of positions, and returns those that it set. Taps that make a partial sum lie
// together.
func (d *depthwise[T]) findTaps(offsets []int, x *pixels[T], row, rows, col int, lines bool) []int {
	step := 1
	if lines {
		step = d.slide.InnerTaps
	}
	rest := offsets
	for from := 0; from < d.taps; from += isa.Chain {
		for r := range rows {
			rest = d.slide.FindTaps(rest, x.at, x.strides, row+r, col, from, min(from+isa.Chain, d.taps), step)
		}
	}
	return offsets[:len(offsets)-len(rest)]
}

// block computes the channels and rows of g in columns that the same taps meet. Offsets are
// those of the first column. The first channel has the place at in x and y.
func (d *depthwise[T]) block(x, y *pixels[T], row, col, cols, channel, at int, g *isa.Grid, offsets []int, lines bool, weights, bias []T) {
	s, last := d.slide, len(d.slide.In)-1
	g.PlaneX, g.RowX, g.PlaneY, g.RowY = 0, s.Step*x.strides[last], 0, y.strides[last]
	if last > 0 {
		g.PlaneY = y.strides[last-1]
	}
	for c, end := col, col+cols; c < end; c += g.Rows {
		g.Rows = min(d.cols, end-c)
		toY, fromX := y.at+s.Place(y.strides, row)+c*g.RowY+at, (c-col)*g.RowX+at
		if lines {
			within := s.Dilation[last] * x.strides[last]
			d.tile.LastLines(y.elems, toY, x.elems, fromX, g, offsets, s.InnerTaps, within, weights[channel:], d.group, bias)
		}
		for from := 0; from < d.taps && !lines; from += isa.Chain {
			var added []T
			to := min(from+isa.Chain, d.taps)
			if to == d.taps {
				added = bias
			}
			d.tile.LastTaps(y.elems, toY, x.elems, fromX, g, offsets[from*g.Planes:to*g.Planes], weights[from*d.group+channel:], d.group, added, from > 0)
		}
	}
}

// depthwiseScratch returns the bytes of working memory of a task.
func (k *last[T]) depthwiseScratch() int {
	n := k.depth.scratch()
	if k.prepackedW == nil {
		n += kernel.Carved[T](k.taps * k.group)
	}
	return n
}

// runDepthwise does a task.
func (k *last[T]) runDepthwise(task int, scratch []byte) error {
	s, weights := &k.slide, k.prepackedW
	if weights == nil {
		weights = kernel.Carve[T](&scratch, k.taps*k.group)
		layTaps(&k.tile, weights, k.w, k.group, k.taps)
	}
	end := min((task+1)*k.each, k.count)
	for at := task * k.each; at < end; {
		image, row := at/s.Rows, at%s.Rows
		rows := min(end-at, s.Rows-row)
		if err := k.depth.run(pixelsOf[T](k.x, image), pixelsOf[T](k.y, image), image, row, row+rows, 0, k.group, weights, elements[T](k.bias), scratch); err != nil {
			return err
		}
		at += rows
	}
	return nil
}

// elements returns those of a dense operand, nil if that is nil.
func elements[T kernel.Number](o *kernel.Operand) []T {
	if o == nil {
		return nil
	}
	return kernel.Slice[T](o)[o.Offset:]
}

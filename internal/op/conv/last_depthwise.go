package conv

import (
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// depthwise is the form of a convolution with channels last whose groups have one input
// channel and one map each. Weights are laid out by taps, so that the channels of a tap are
// a vector, as those of an element are.
//
// A task computes rows of positions, some of an image at a time. These are cut into blocks of
// columns and channels, so that the lines of x that several rows meet stay in the nearest cache.
type depthwise struct {
	rows, cols, channels int // of a block
}

// depthwiseRows bounds the rows of a block, and with them the memory for the places of taps.
const depthwiseRows = 16

// bindDepthwise binds the form, once it is known how many rows a task has.
func (k *last[T]) bindDepthwise() {
	d, s := &k.depth, &k.slide
	d.cols, d.channels = s.LastBlock(k.group, k.x.DType.Size())
	d.rows = min(k.each, s.Rows, depthwiseRows)
}

// depthwiseScratch returns the bytes of working memory of a task.
func (k *last[T]) depthwiseScratch() int {
	n := kernel.Carved[isa.Grid](1) + kernel.Carved[int](k.depth.rows*k.taps) + k.rest.Scratch()
	if k.prepackedW == nil {
		n += kernel.Carved[T](k.taps * k.group)
	}
	return n
}

// runDepthwise does a task.
func (k *last[T]) runDepthwise(task int, scratch []byte) error {
	d, s := &k.depth, &k.slide
	grid := &kernel.Carve[isa.Grid](&scratch, 1)[0]
	offsets := kernel.Carve[int](&scratch, d.rows*k.taps)
	weights := k.prepackedW
	if weights == nil {
		weights = kernel.Carve[T](&scratch, k.taps*k.group)
		k.layWeights(weights)
	}
	end := min((task+1)*k.each, k.count)
	for at := task * k.each; at < end; at += grid.Planes {
		image, row := at/s.Rows, at%s.Rows
		grid.Planes = min(d.rows, end-at, s.Rows-row)
		for col := 0; col < s.Width; {
			cols, lines := s.Run(col), k.inLines(col)
			found := k.findTaps(offsets, image, row, grid.Planes, col, lines)
			if err := k.depthwiseRun(image, row, col, cols, grid, found, lines, weights, scratch); err != nil {
				return err
			}
			col += cols
		}
	}
	return nil
}

// layWeights lays the weights out by taps.
func (k *last[T]) layWeights(dst []T) {
	k.tile.Transpose(dst, kernel.Slice[T](k.w)[k.w.Offset:], k.group, k.taps, k.taps, k.group)
}

// inLines reports whether the taps that meet a column are whole lines that
// [isa.Channels.LastLines] takes.
func (k *last[T]) inLines(col int) bool {
	s := &k.slide
	for inner := range s.InnerTaps {
		if !s.Inside(inner, col) {
			return false
		}
	}
	dilation := s.Dilation[len(s.In)-1]
	return (s.InnerTaps == 3 || s.InnerTaps == 5) && k.taps <= isa.Chain && (s.Step == dilation || s.Step == 2*dilation)
}

// findTaps sets offsets to where each tap, or the first one of each line, meets a column in each
// of some rows of positions, and returns those that it set. Taps that make a partial sum lie
// together.
func (k *last[T]) findTaps(offsets []int, image, row, rows, col int, lines bool) []int {
	step := 1
	if lines {
		step = k.slide.InnerTaps
	}
	at, rest := k.x.Offset+image*k.x.Strides[0], offsets
	for from := 0; from < k.taps; from += isa.Chain {
		for r := range rows {
			rest = k.slide.FindTaps(rest, at, k.x.Strides[1:], row+r, col, from, min(from+isa.Chain, k.taps), step)
		}
	}
	return offsets[:len(offsets)-len(rest)]
}

// depthwiseRun computes the rows of g in columns that the same taps meet. Offsets are those of
// the first.
func (k *last[T]) depthwiseRun(image, row, col, cols int, g *isa.Grid, offsets []int, lines bool, weights []T, scratch []byte) error {
	d, s := &k.depth, &k.slide
	axis, end := len(s.In), col+cols
	g.PlaneX, g.RowX, g.PlaneY, g.RowY = 0, s.Step*k.x.Strides[axis], k.y.Strides[axis-1], k.y.Strides[axis]
	x, y := kernel.Slice[T](k.x), kernel.Slice[T](k.y)
	for channel := 0; channel < k.group; channel += g.Cols {
		g.Cols = min(d.channels, k.group-channel)
		var bias []T
		if k.bias != nil {
			bias = kernel.Slice[T](k.bias)[k.bias.Offset+channel:]
		}
		for c := col; c < end; c += g.Rows {
			g.Rows = min(d.cols, end-c)
			toY, fromX := k.place(image, row, c)+channel, (c-col)*g.RowX+channel
			if lines {
				within := s.Dilation[axis-1] * k.x.Strides[axis]
				k.tile.LastLines(y, toY, x, fromX, g, offsets, s.InnerTaps, within, weights[channel:], k.group, bias)
			}
			for from := 0; from < k.taps && !lines; from += isa.Chain {
				var last []T
				to := min(from+isa.Chain, k.taps)
				if to == k.taps {
					last = bias
				}
				k.tile.LastTaps(y, toY, x, fromX, g, offsets[from*g.Planes:to*g.Planes], weights[from*k.group+channel:], k.group, last, from > 0)
			}
			for r := range g.Planes {
				if err := k.rest.Run(((image*s.Rows+row+r)*s.Width+c)*k.group+channel, g.Rows, k.group, g.Cols, scratch); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

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
type depthwise[T kernel.Number] struct {
	rows, cols, channels int // of a block
	bias                 *kernel.Operand
	weights              []T // prepacked
}

// What a row of positions meets of x in a block takes about depthwiseBytes, and the channels
// of an element at most depthwiseElement.
const (
	depthwiseBytes   = 16 << 10
	depthwiseElement = 1 << 10
	depthwiseRows    = 16
)

// bindDepthwise binds the form. It reports false where that does not apply: where it does,
// [conv] sums in blocks, which have the same roundings.
func (k *last[T]) bindDepthwise(in []*kernel.Operand) bool {
	d, s, size := &k.depth, &k.slide, k.x.DType.Size()
	if k.deep != 1 || k.maps != 1 || !k.blocks.Bind(s, size) {
		return false
	}
	const multiple = 32
	blocks := kernel.CeilDiv(k.group*size, depthwiseElement)
	d.channels = min(kernel.CeilDiv(kernel.CeilDiv(k.group, blocks), multiple)*multiple, k.group)
	d.cols = max(depthwiseBytes/(size*d.channels*s.Step*s.OuterTaps), 8)
	d.bias = nil
	if len(in) >= ownInputs {
		d.bias = in[2]
		k.rest.Bind(k.y, in[ownInputs:]...)
	}
	k.count = k.images * s.Rows
	_, k.each = kernel.Parts(k.count, s.Width*k.group*max(k.taps/16, 1))
	d.rows = min(k.each, s.Rows, depthwiseRows)
	return true
}

// depthwiseScratch returns the bytes of working memory of a task.
func (k *last[T]) depthwiseScratch() int {
	n := kernel.Carved[isa.Grid](1) + kernel.Carved[int](k.depth.rows*k.taps) + k.rest.Scratch()
	if k.depth.weights == nil {
		n += kernel.Carved[T](k.taps * k.group)
	}
	return n
}

// runDepthwise does a task.
func (k *last[T]) runDepthwise(task int, scratch []byte) error {
	d, s := &k.depth, &k.slide
	grid := &kernel.Carve[isa.Grid](&scratch, 1)[0]
	offsets := kernel.Carve[int](&scratch, d.rows*k.taps)
	weights := d.weights
	if weights == nil {
		weights = kernel.Carve[T](&scratch, k.taps*k.group)
		k.layWeights(weights)
	}
	end := min((task+1)*k.each, k.count)
	for at := task * k.each; at < end; at += grid.Planes {
		image, row := at/s.Rows, at%s.Rows
		grid.Planes = min(d.rows, end-at, s.Rows-row)
		for col := 0; col < s.Width; {
			cols, lines := k.run(col)
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

// run returns how many columns from col on the same taps of a line meet, and whether these are
// whole lines that [isa.Channels.LastLines] takes.
func (k *last[T]) run(col int) (cols int, lines bool) {
	s := &k.slide
	axis, end := len(s.In)-1, s.Width
	dilation := s.Dilation[axis]
	lines = (s.InnerTaps == 3 || s.InnerTaps == 5) && k.taps <= isa.Chain && (s.Step == dilation || s.Step == 2*dilation)
	for inner, lo := range s.Lo {
		lines = lines && lo <= col && col < s.Hi[inner]
		for _, edge := range [...]int{lo, s.Hi[inner]} {
			if edge > col {
				end = min(end, edge)
			}
		}
	}
	return end - col, lines
}

// findTaps sets offsets to where channel 0 of the element lies that each tap, or the first one
// of each line, meets at a column in each of some rows of positions; -1 if that is padding. Taps
// that make a partial sum lie together. It returns those that it set.
func (k *last[T]) findTaps(offsets []int, image, row, rows, col int, lines bool) []int {
	s := &k.slide
	axis := len(s.In) - 1
	pixel, step := k.x.Strides[1+axis], 1
	if lines {
		step = s.InnerTaps
	}
	at := 0
	for from := 0; from < k.taps; from += isa.Chain {
		for r := range rows {
			for t := from; t < min(from+isa.Chain, k.taps); t += step {
				inner := t % s.InnerTaps
				offsets[at] = -1
				if line := k.line(image, row+r, t/s.InnerTaps); line >= 0 && s.Lo[inner] <= col && col < s.Hi[inner] {
					offsets[at] = line + (s.From[inner]+col*s.Step)*pixel
				}
				at++
			}
		}
	}
	return offsets[:at]
}

// line returns where the line of an image begins that an outer tap meets at a row of
// positions; -1 if that is padding. There are at most two axes.
func (k *last[T]) line(image, row, tap int) int {
	s, at := &k.slide, k.x.Offset+image*k.x.Strides[0]
	if len(s.In) == 1 {
		return at
	}
	i := row*s.Stride[0] + tap*s.Dilation[0] - s.Begin[0]
	if i < 0 || i >= s.In[0] {
		return -1
	}
	return at + i*k.x.Strides[1]
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
		if d.bias != nil {
			bias = kernel.Slice[T](d.bias)[d.bias.Offset+channel:]
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

// PrepackedBytes implements [kernel.Prepacker]: the weights of the depthwise form.
func (k *last[T]) PrepackedBytes(input int) int {
	if input != 1 || k.form != byChannel {
		return 0
	}
	return k.taps * k.group * k.w.DType.Size()
}

// PrepackedForm implements [kernel.Prepacker].
func (k *last[T]) PrepackedForm(int) string { return "taps" }

// Prepack implements [kernel.Prepacker].
func (k *last[T]) Prepack(input int, dst []byte) {
	if k.PrepackedBytes(input) > 0 {
		k.layWeights(kernel.Cast[T](dst))
	}
}

// UsePrepacked implements [kernel.Prepacker].
func (k *last[T]) UsePrepacked(input int, prepacked []byte) {
	if input == 1 {
		k.depth.weights = nil
		if len(prepacked) > 0 {
			k.depth.weights = kernel.Cast[T](prepacked)
		}
	}
}

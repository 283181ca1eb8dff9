package conv

import (
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/op/slide"
)

// blocks is how a plane of an image with one or two axes is summed tap by tap. Its
// positions are cut into blocks, and what a block reads of the image is copied to a
// padded window that stays in the nearest cache. The lines of the window are split
// into phases by the remainder of the column divided by the stride, so that a tap
// meets consecutive positions at consecutive elements.
type blocks struct {
	rows, cols       int    // of positions in a block; those at the end may have fewer
	down, across     int    // blocks in a plane
	planes           int    // in a block: some where one is small, and otherwise 1
	lines            int    // of the window
	pitch, phase     int    // elements of a line and of a phase in it
	strideH, strideW int    // image elements from a position to the next; 1 along an absent axis, as the spans
	spanH, spanW     int    // image elements that the taps reach over
	beginH, beginW   int    // padding before the image
	height, width    int    // of the image
	offsets          []int  // of each tap from its position
	square           bool   // the taps are 3x3, of rows that follow each other
	columns          [3]int // the offsets of a row of these
}

// windowBytes is about how large a window is. It leaves most of a nearest cache to
// the image and to what is written; a smaller one would copy more lines twice.
const windowBytes = 16 << 10

// bind cuts planes of positions whose elements have a number of bytes. It reports
// false where there are more axes, no positions, or much more padding and stride
// than image, so that a window would take memory out of proportion.
func (b *blocks) bind(s *slide.Binding, size int) bool {
	last := len(s.In) - 1
	if last > 1 || s.Rows*s.Width == 0 {
		return false
	}
	tapsH, dilationH := 1, 1
	b.strideH, b.beginH, b.height = 1, 0, 1
	if last == 1 {
		tapsH, dilationH = s.Taps[0], s.Dilation[0]
		b.strideH, b.beginH, b.height = s.Stride[0], s.Begin[0], s.In[0]
	}
	tapsW, dilationW := s.Taps[last], s.Dilation[last]
	b.strideW, b.beginW, b.width = s.Step, s.Begin[last], s.In[last]
	b.spanH, b.spanW = (tapsH-1)*dilationH+1, (tapsW-1)*dilationW+1

	const least, multiple = 256, 16 // columns in a block of several, and what they are a multiple of
	limit, more := windowBytes/size, (b.spanW-1)/b.strideW
	b.across = kernel.CeilDiv(s.Width, max(limit/b.strideW/b.spanH-more, least))
	b.cols = min(kernel.CeilDiv(kernel.CeilDiv(s.Width, b.across), multiple)*multiple, s.Width)
	b.phase = b.cols + more
	b.pitch = b.phase * b.strideW
	b.rows = max((limit/b.pitch-b.spanH)/b.strideH+1, 1)
	if b.rows > isa.TapRows {
		b.rows -= b.rows % isa.TapRows
	}
	b.rows = min(b.rows, s.Rows)
	b.down, b.across = kernel.CeilDiv(s.Rows, b.rows), kernel.CeilDiv(s.Width, b.cols)
	b.planes = 1
	if b.down*b.across == 1 {
		b.planes = max(limit/(s.Rows*s.Width), 1)
	}
	b.lines = (b.rows-1)*b.strideH + b.spanH
	if float64(b.lines)*float64(b.pitch) > 4*float64(s.PlaneIn+s.Rows*s.Width+limit) {
		return false
	}
	b.offsets = b.offsets[:0]
	for h := range tapsH {
		for w := range tapsW {
			b.offsets = append(b.offsets, h*dilationH*b.pitch+b.at(w*dilationW))
		}
	}
	b.square = tapsH == 3 && tapsW == 3 && dilationH == 1 && b.strideH <= 2
	if b.square {
		copy(b.columns[:], b.offsets)
	}
	return true
}

// at returns where in a line of the window column i of the padded image is.
func (b *blocks) at(i int) int { return i%b.strideW*b.phase + i/b.strideW }

// size returns the elements of a window, and of what a loop may read behind it.
func (b *blocks) size(cols int) int { return b.lines*b.pitch + cols }

// fill copies what n rows of positions from row on read of the plane x, in the block
// that begins at column col. The padding beside the image is 0 already, and stays so
// in all windows of the same columns.
func fill[T kernel.Number](window, x []T, b *blocks, row, n, col int, tile *isa.Tile[T]) {
	// Lines [from, to) of the window are in the image, and so are elements [a, z) of
	// each, counted in the order of the image.
	top, lines := row*b.strideH-b.beginH, (n-1)*b.strideH+b.spanH
	from := min(max(-top, 0), lines)
	to := max(min(b.height-top, lines), from)
	clear(window[:from*b.pitch])
	clear(window[to*b.pitch : lines*b.pitch])
	left := col*b.strideW - b.beginW
	a, z := max(-left, 0), min(b.width-left, b.pitch)
	if from == to || a >= z {
		return
	}
	x, window = x[(top+from)*b.width+left+a:], window[from*b.pitch:]
	switch b.strideW {
	case 1:
		tile.CopyRows(window[a:], x, to-from, b.pitch, b.width, z-a)
	case 2:
		tile.Split(window[b.at(a):], window[b.at(a+1):], x, to-from, b.pitch, b.width, z-a)
	default:
		for r := range to - from {
			for p := range min(b.strideW, z-a) {
				dst := window[r*b.pitch+b.at(a+p):]
				for i, at := 0, p; at < z-a; i, at = i+1, at+b.strideW {
					dst[i] = x[r*b.width+at]
				}
			}
		}
	}
}

// runBlocks does a task of blocks.
func (k *conv[T]) runBlocks(task int, scratch []byte) error {
	s, b := &k.slide, &k.blocks
	window, columns := kernel.Carve[T](&scratch, b.size(k.gemm.Tile.Cols)), -1
	each := b.down * b.across
	for i := task * k.each; i < min((task+1)*k.each, k.count); i++ {
		plane, col, row := i/each*b.planes, i%each/b.down*b.cols, i%b.down*b.rows
		if col != columns {
			clear(window)
			columns = col
		}
		planes, rows, cols := min(b.planes, k.planes-plane), min(b.rows, s.Rows-row), min(b.cols, s.Width-col)
		for p := range planes {
			k.block(plane+p, window, row, rows, col, cols)
		}
		// All planes of a block follow one another in y.
		if err := k.rest.Run(plane*k.positions+row*s.Width+col, planes*rows, s.Width, cols, scratch); err != nil {
			return err
		}
	}
	return nil
}

// block computes rows by cols positions of an output map of an image. As in
// products, [isa.Chain] taps make a partial sum, and the bias is added to the whole.
func (k *conv[T]) block(plane int, window []T, row, rows, col, cols int) {
	x, y, w, m := k.plane(plane)
	b, tile := &k.blocks, &k.gemm.Tile
	fill(window, x, b, row, rows, col, tile)
	y = y[row*k.slide.Width+col:]
	var bias []T
	if k.bias != nil {
		bias = kernel.Slice[T](k.bias)[k.bias.Offset+m:][:1]
	}
	if b.square {
		tile.Tap3x3(y, k.slide.Width, rows, cols, window, b.pitch, b.strideH, &b.columns, w, bias)
		return
	}
	for from := 0; from < k.taps; from += isa.Chain {
		var last []T
		to := min(from+isa.Chain, k.taps)
		if to == k.taps {
			last = bias
		}
		tile.TapRows(y, k.slide.Width, rows, cols, window, b.strideH*b.pitch, b.offsets[from:to], w[from:to], last, from > 0)
	}
}

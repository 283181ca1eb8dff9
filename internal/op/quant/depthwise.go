package quant

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// depthwise is how planes of groups of one input channel are summed, tap by tap, as such
// a group has too few products to share what is packed. A band of rows is copied
// with its padding around it. Taps that are neighbours form quads.
//
// Where little is computed in vain, a band is one run of positions, whatever lies
// between the end of a row and the next:
//
//	image columns  p x x x p | p x x x p | ...      3 columns, 1 of padding at each end
//	positions      a b c - -   d e f - -   ...      3 taps, stride 1
//
// Otherwise each row is a run of its own.
type depthwise struct {
	rows           int   // output rows of a band
	pitch, between int   // from one row of the band to the next, in bytes and in positions
	span           int   // rows that the taps of one output row reach over
	offsets        []int // of the quads of taps in the band
	strideY        int
	whole          bool // a band is one run
}

// The most bytes, and positions, of a band; one row may have more.
const (
	bandBytes     = 16 << 10
	bandPositions = 4 << 10
)

// register is how many positions the loops take at once at most. Runs are computed
// in whole registers.
const register = 16

func wholeRegisters(n int) int { return kernel.CeilDiv(n, register) * register }

// bindDepthwise lays out the bands of planes of one or two axes.
func (k *convolution) bindDepthwise() {
	s, d := &k.slide, &k.bands
	last := len(s.In) - 1
	d.strideY, d.span = 1, 1
	dilationY := 1
	if last > 0 {
		d.strideY, dilationY, d.span = s.Stride[0], s.Dilation[0], k.window.Span(0)
	}
	d.pitch = kernel.CeilDiv((s.Width-1)*s.Step+k.window.Span(last), s.Step) * s.Step
	d.between = d.strideY * d.pitch / s.Step
	d.rows = max(1, min(s.Rows, (bandBytes/d.pitch-d.span)/d.strideY, bandPositions/d.between))
	d.whole = d.between <= wholeRegisters(s.Width)+register
	d.offsets = d.offsets[:0]
	for outer := range s.OuterTaps {
		for inner := 0; inner < s.InnerTaps; inner += k.quadTaps() {
			d.offsets = append(d.offsets, outer*dilationY*d.pitch+inner*s.Dilation[last])
		}
	}
}

// quadTaps returns how many taps of a row form a quad.
func (k *convolution) quadTaps() int {
	if k.slide.Dilation[len(k.slide.Dilation)-1] == 1 {
		return 4
	}
	return 1
}

// bandScratch returns the bytes of a band, with those behind it that the loops may read,
// and its positions, with those that are computed in vain.
func (k *convolution) bandScratch() (bytes, positions int) {
	d := &k.bands
	positions = wholeRegisters(max(d.rows*d.between, d.rows*k.slide.Width+register))
	return positions*k.slide.Step + (d.span+d.rows*d.strideY)*d.pitch + isa.TapSlack, positions
}

// planeScratch returns the working memory of planes.
func (k *convolution) planeScratch() int {
	bytes, positions := k.bandScratch()
	return kernel.Carved[uint8](bytes) + 2*kernel.Carved[int32](positions) + 2*kernel.Carved[uint8](4*len(k.bands.offsets))
}

// planes computes the maps of task.
func (k *convolution) planes(task int, scratch []byte) {
	bytes, positions := k.bandScratch()
	var w planeWorking
	w.band = kernel.Carve[uint8](&scratch, bytes)
	w.sums, w.windows = kernel.Carve[int32](&scratch, positions), kernel.Carve[int32](&scratch, positions)
	w.weights, w.ones = kernel.Carve[uint8](&scratch, 4*len(k.bands.offsets)), kernel.Carve[uint8](&scratch, 4*len(k.bands.offsets))
	channels := k.maps * k.group
	for i := task * k.each; i < min((task+1)*k.each, k.count); i++ {
		k.plane(i/channels, i%channels, &w)
	}
}

// planeWorking is the memory of a task.
type planeWorking struct {
	band          []uint8
	sums, windows []int32 // of a band; sums of what the taps meet, unweighted
	weights, ones []uint8 // in quads
}

// plane computes output map m of an image.
func (k *convolution) plane(image, m int, w *planeWorking) {
	s, d := &k.slide, &k.bands
	f := k.factors(m)
	zeroX, zeroW := k.zeroB(&f, 0), k.zeroA(&f, 0)
	var x []uint8
	if at := k.imageAt(image, m/k.maps); s.PlaneIn != 0 {
		x = kernel.Slice[uint8](k.in[inLeft])[at : at+s.PlaneIn]
	}
	base := -zeroX * (k.tapWeights(m, w) - int32(k.cut.K)*zeroW)
	if f.bias.Data != nil {
		base += f.bias.Data[f.bias.At]
	}
	y := k.y.Offset + image*k.y.Strides[0] + m*k.positions
	for row := 0; row < s.Rows; row += d.rows {
		n := min(d.rows, s.Rows-row)
		k.fillBand(w.band, x, row, n, uint8(zeroX))
		k.sumTaps(w.sums, w.band, n, w.weights)
		sums := w.sums[:n*s.Width]
		if zeroW != 0 {
			k.sumTaps(w.windows, w.band, n, w.ones)
			for i, v := range w.windows[:len(sums)] {
				sums[i] -= zeroW * v
			}
		}
		if k.typeY == dtype.Int32 {
			k.tile.ShiftSums(sums, noNumber, base)
			copy(kernel.Slice[int32](k.y)[y:], sums)
		} else {
			k.round(kernel.Slice[uint8](k.y)[y:y+len(sums)], sums, noNumber, base, f.scale.Data[f.scale.At:][:1], &f.zeroY, 0, 0)
		}
		y += len(sums)
	}
}

var noNumber = []int32{0}

// tapWeights lays the weights of map m out in quads, and ones likewise, and returns the
// sum of the weights.
func (k *convolution) tapWeights(m int, w *planeWorking) (sum int32) {
	clear(w.weights)
	clear(w.ones)
	s, each := &k.slide, k.quadTaps()
	all := k.weights(0)
	perRow := kernel.CeilDiv(s.InnerTaps, each)
	for tap, b := range all.Data[all.At+m*k.cut.K:][:k.cut.K] {
		outer, inner := tap/s.InnerTaps, tap%s.InnerTaps
		at := 4*(outer*perRow+inner/each) + inner%each
		w.weights[at], w.ones[at] = b^k.flipA, 1
		sum += number(b^k.flipA, true)
	}
	return sum
}

// fillBand copies the image rows that n output rows from the given one on meet, with
// what is in the padding.
func (k *convolution) fillBand(band, x []uint8, row, n int, pad uint8) {
	s, d := &k.slide, &k.bands
	last := len(s.In) - 1
	width, height, first := s.In[last], 1, 0
	if last > 0 {
		height, first = s.In[0], row*d.strideY-s.Begin[0]
	}
	left := min(s.Begin[last], d.pitch)
	right := min(left+width, d.pitch)
	for r := range (n-1)*d.strideY + d.span {
		to := band[r*d.pitch : (r+1)*d.pitch]
		i := first + r
		if i < 0 || i >= height {
			kernel.Fill(to, pad)
			continue
		}
		for c := range left {
			to[c] = pad
		}
		from := x[i*width : (i+1)*width]
		if k.flipB == 0 {
			copy(to[left:right], from)
		} else {
			for c, v := range from[:right-left] {
				to[left+c] = v ^ k.flipB
			}
		}
		for c := right; c < len(to); c++ {
			to[c] = pad
		}
	}
}

// sumTaps sets the first sums to those of n output rows of a band.
func (k *convolution) sumTaps(sums []int32, band []uint8, n int, weights []uint8) {
	s, d := &k.slide, &k.bands
	if d.whole {
		k.tile.TapQuads(sums[:wholeRegisters((n-1)*d.between+s.Width)], band, s.Step, d.offsets, weights)
		for r := 1; r < n; r++ {
			copy(sums[r*s.Width:(r+1)*s.Width], sums[r*d.between:])
		}
		return
	}
	for r := range n {
		k.tile.TapQuads(sums[r*s.Width:][:wholeRegisters(s.Width)], band[r*d.strideY*d.pitch:], s.Step, d.offsets, weights)
	}
}

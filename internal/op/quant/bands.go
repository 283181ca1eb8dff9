package quant

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
)

// Groups of one input channel have too few products to share what a product packs, and
// those of a few channels under a stride take longer to pack than to multiply. They are
// summed tap by tap instead, out of a band of rows that is copied with its padding
// around it. Taps that are neighbours form quads.
//
// Where little is computed in vain, a band is one run of positions, whatever lies
// between the end of a row and the next:
//
//	image columns  p x x x p | p x x x p | ...      3 columns, 1 of padding at each end
//	positions      a b c - -   d e f - -   ...      3 taps, stride 1
//
// Otherwise each row is a run of its own.

// bands is how images of one or two axes are cut.
type bands struct {
	count, rows    int   // of an image; output rows of each but the last
	pitch, between int   // from one row of a band to the next, in bytes and in positions
	plane          int   // bytes of a band of one channel
	strideY, span  int   // rows from one output row to the next; rows that its taps reach over
	offsets        []int // of the quads of taps in a band
	places         []int // of the taps of a map in quads
	whole          bool  // a band is one run
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

// byTaps reports whether the convolution is summed tap by tap: see above. With many maps
// sharing what is packed pays after all.
func (k *convolution) byTaps() bool {
	const few, many = 4, 64
	depth := k.in[inRight].Shape[1]
	return len(k.window.Taps) <= 2 && k.positions > 0 &&
		(depth == 1 && k.maps <= 2 || depth > 0 && depth <= few && k.slide.Step > 1 && k.maps <= many)
}

// bindBands lays out the bands of images of one or two axes.
func (k *convolution) bindBands() {
	s, d := &k.slide, &k.bands
	last, channels := len(s.In)-1, k.in[inRight].Shape[1]
	d.strideY, d.span = 1, 1
	dilationY := 1
	if last > 0 {
		d.strideY, dilationY, d.span = s.Stride[0], s.Dilation[0], k.window.Span(0)
	}
	d.pitch = kernel.CeilDiv((s.Width-1)*s.Step+k.window.Span(last), s.Step) * s.Step
	d.between = d.strideY * d.pitch / s.Step
	d.rows = max(1, min(s.Rows, (bandBytes/channels/d.pitch-d.span)/d.strideY, bandPositions/d.between))
	d.count = kernel.CeilDiv(s.Rows, d.rows)
	d.plane = (d.span + (d.rows-1)*d.strideY) * d.pitch
	d.whole = d.between <= wholeRegisters(s.Width)+register
	each := 1 // taps of a row that form a quad
	if s.Dilation[last] == 1 {
		each = 4
	}
	d.offsets, d.places = d.offsets[:0], d.places[:0]
	for channel := range channels {
		for outer := range s.OuterTaps {
			for inner := range s.InnerTaps {
				if inner%each == 0 {
					d.offsets = append(d.offsets, channel*d.plane+outer*dilationY*d.pitch+inner*s.Dilation[last])
				}
				d.places = append(d.places, 4*(len(d.offsets)-1)+inner%each)
			}
		}
	}
}

// bandScratch returns the bytes of a band, with those behind it that the loops may read,
// and its positions, with those that are computed in vain.
func (k *convolution) bandScratch() (bytes, positions int) {
	d := &k.bands
	positions = wholeRegisters(max(d.rows*d.between, d.rows*k.slide.Width+register))
	return d.plane*k.in[inRight].Shape[1] + positions*k.slide.Step + isa.TapSlack, positions
}

// tapScratch returns the working memory of a task.
func (k *convolution) tapScratch() int {
	bytes, positions := k.bandScratch()
	return kernel.Carved[uint8](bytes) + 2*kernel.Carved[int32](positions) + 2*kernel.Carved[uint8](4*len(k.bands.offsets))
}

// tapWorking is the memory of a task.
type tapWorking struct {
	band          []uint8
	sums, windows []int32 // of a band; sums of what the taps meet, unweighted
	weights, ones []uint8 // in quads
}

// sumBands computes the bands of task.
func (k *convolution) sumBands(task int, scratch []byte) {
	bytes, positions := k.bandScratch()
	w := tapWorking{
		band: kernel.Carve[uint8](&scratch, bytes),
		sums: kernel.Carve[int32](&scratch, positions), windows: kernel.Carve[int32](&scratch, positions),
		weights: kernel.Carve[uint8](&scratch, 4*len(k.bands.offsets)), ones: kernel.Carve[uint8](&scratch, 4*len(k.bands.offsets)),
	}
	clear(w.weights)
	clear(w.ones)
	for _, at := range k.bands.places {
		w.ones[at] = 1
	}
	f := k.factors(0)
	// Padding beside rows stays there for all bands.
	kernel.Fill(w.band[:k.bands.pitch], uint8(k.zeroB(&f, 0)))
	for n := k.bands.pitch; n < len(w.band); n *= 2 {
		copy(w.band[n:], w.band[:n])
	}
	for i := task * k.each; i < min((task+1)*k.each, k.count); i++ {
		plane, band := i/k.bands.count, i%k.bands.count
		k.sumBand(plane/k.group, plane%k.group, band, &f, &w)
	}
}

// sumBand computes one band of the maps of a group of an image.
func (k *convolution) sumBand(image, group, band int, f *factors, w *tapWorking) {
	s, d := &k.slide, &k.bands
	first := band * d.rows
	n := min(d.rows, s.Rows-first)
	zeroX, windows := k.zeroB(f, 0), false
	k.fillBand(w.band, image, group, first, n, uint8(zeroX))
	sums := w.sums[:n*s.Width]
	for m := group * k.maps; m < (group+1)*k.maps; m++ {
		zeroW := k.zeroA(f, m)
		base := -zeroX * (k.tapWeights(w.weights, m) - int32(k.cut.K)*zeroW)
		if f.bias.Data != nil {
			base += f.bias.Data[f.bias.At+m*f.bias.Row]
		}
		k.sumTaps(w.sums, w.band, n, w.weights)
		if zeroW != 0 {
			if !windows {
				k.sumTaps(w.windows, w.band, n, w.ones)
				windows = true
			}
			for i, v := range w.windows[:len(sums)] {
				sums[i] -= zeroW * v
			}
		}
		y := k.y.Offset + image*k.y.Strides[0] + m*k.positions + first*s.Width
		if k.typeY == dtype.Int32 {
			k.tile.ShiftSums(sums, noNumber, base)
			copy(kernel.Slice[int32](k.y)[y:], sums)
		} else {
			scale := f.scale.Data[f.scale.At+m*f.scale.Row:][:1]
			k.round(kernel.Slice[uint8](k.y)[y:y+len(sums)], sums, noNumber, base, scale, &f.zeroY, 0, 0)
		}
	}
}

var noNumber = []int32{0}

// tapWeights lays the weights of map m out in quads, and returns their sum.
func (k *convolution) tapWeights(dst []uint8, m int) (sum int32) {
	all := k.weights(0)
	weights := all.Data[all.At+m*k.cut.K:][:k.cut.K]
	for tap, at := range k.bands.places {
		b := weights[tap] ^ k.flipA
		dst[at] = b
		sum += int32(int8(b))
	}
	return sum
}

// fillBand copies the rows of the channels of a group that n output rows from the given
// one on meet into a band that has padding beside rows, and fills those in the padding.
func (k *convolution) fillBand(band []uint8, image, group, first, n int, pad uint8) {
	s, d := &k.slide, &k.bands
	last := len(s.In) - 1
	width, height, top := s.In[last], 1, 0
	if last > 0 {
		height, top = s.In[0], first*d.strideY-s.Begin[0]
	}
	left := min(s.Begin[last], d.pitch)
	met := min(width, d.pitch-left)
	rows := (n-1)*d.strideY + d.span
	x := kernel.Slice[uint8](k.in[inLeft])[k.imageAt(image, group):]
	from, to := min(max(0, -top), rows), min(max(0, height-top), rows) // the rows of the image
	for channel := range k.in[inRight].Shape[1] {
		plane := band[channel*d.plane:]
		if d.count > 1 { // or else they are what they were
			kernel.Fill(plane[:from*d.pitch], pad)
			kernel.Fill(plane[to*d.pitch:rows*d.pitch], pad)
		}
		for r := from; r < to; r++ {
			row := plane[r*d.pitch+left:][:met]
			copy(row, x[channel*s.PlaneIn+(top+r)*width:])
			if k.flipB != 0 {
				for c := range row {
					row[c] ^= k.flipB
				}
			}
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

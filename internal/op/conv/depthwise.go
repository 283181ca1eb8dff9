package conv

import (
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/slide"
)

// phases is the form in which a plane of an image with one or two axes is put
// for a window over it to be summed tap by tap. The padded plane is split by
// the remainders of row and column divided by the strides; a tap then reads
// one of these phases at unit stride, from an offset that is the same at every
// position, and all positions of several rows, with the few columns between
// one row and the next, are one run of elements.
type phases struct {
	rows, cols    int   // extents of a phase
	band          int   // rows of positions done at a time
	strideH       int   // 1 with one axis
	beginH        int   //
	offsets       []int // of each tap from its position, phases lying one after the other
	width, height int   // of the image
}

// bandElems is about how many elements of a phase are held at a time.
const bandElems = 4096

// bind lays phases for a window over one or two axes. It reports false where
// there are more axes, no positions, or much more padding and stride than
// image, so that phases would take memory out of proportion.
func (p *phases) bind(s *slide.Binding) bool {
	last := len(s.In) - 1
	if last > 1 || s.Rows*s.Width == 0 {
		return false
	}
	tapsH, dilationH := 1, 1
	p.strideH, p.beginH, p.height = 1, 0, 1
	if last == 1 {
		tapsH, dilationH = s.Taps[0], s.Dilation[0]
		p.strideH, p.beginH, p.height = s.Stride[0], s.Begin[0], s.In[0]
	}
	p.width = s.In[last]
	tapsW, dilationW, strideW := s.Taps[last], s.Dilation[last], s.Stride[last]
	p.cols = s.Width + (tapsW-1)*dilationW/strideW
	p.band = min(max(bandElems/p.cols, 1), s.Rows)
	p.rows = p.band + (tapsH-1)*dilationH/p.strideH
	p.offsets = p.offsets[:0]
	for h := range tapsH {
		phaseH, row := h*dilationH%p.strideH, h*dilationH/p.strideH
		for w := range tapsW {
			phaseW, col := w*dilationW%strideW, w*dilationW/strideW
			p.offsets = append(p.offsets, ((phaseH*strideW+phaseW)*p.rows+row)*p.cols+col)
		}
	}
	return float64(p.strideH)*float64(s.Step)*float64(p.rows)*float64(p.cols) <= 4*(float64(s.PlaneIn+s.Rows*s.Width)+bandElems)
}

// size returns the elements of all phases.
func (p *phases) size(s *slide.Binding) int { return p.strideH * s.Step * p.rows * p.cols }

// fillPhases copies the part of plane x that positions from row on read,
// padded by pad.
func fillPhases[T kernel.Number](dst, x []T, p *phases, s *slide.Binding, row int, pad T) {
	begin := s.Begin[len(s.Begin)-1]
	for phaseH := range p.strideH {
		for r := range p.rows {
			i := (row+r)*p.strideH + phaseH - p.beginH
			for phaseW := range s.Step {
				to := dst[((phaseH*s.Step+phaseW)*p.rows+r)*p.cols:][:p.cols]
				if i < 0 || i >= p.height {
					kernel.Fill(to, pad)
					continue
				}
				from := x[i*p.width : (i+1)*p.width]
				// Columns [a, b) of the phase lie in the image.
				a := slide.FirstAtLeast(begin-phaseW, s.Step, p.cols)
				b := max(a, slide.FirstAtLeast(p.width+begin-phaseW, s.Step, p.cols))
				for c := range a {
					to[c] = pad
				}
				for c := b; c < p.cols; c++ {
					to[c] = pad
				}
				at := a*s.Step + phaseW - begin
				if s.Step == 1 {
					copy(to[a:b], from[at:])
					continue
				}
				for c := a; c < b; c++ {
					to[c] = from[at]
					at += s.Step
				}
			}
		}
	}
}

// depthwise computes one output map of one image, a band of rows at a time.
func (k *conv[T]) depthwise(y, x, w []T, scratch []byte) {
	s, p := &k.slide, &k.phases
	planes, sums := kernel.Carve[T](&scratch, p.size(s)), kernel.Carve[T](&scratch, p.band*p.cols)
	for row := 0; row < s.Rows; row += p.band {
		n := min(p.band, s.Rows-row)
		fillPhases(planes, x, p, s, row, 0)
		to := y[row*s.Width : (row+n)*s.Width]
		if p.cols == s.Width {
			k.gemm.Tile.TapSum(to, planes, p.offsets, w)
			continue
		}
		run := sums[:(n-1)*p.cols+s.Width]
		k.gemm.Tile.TapSum(run, planes, p.offsets, w)
		for r := range n {
			copy(to[r*s.Width:(r+1)*s.Width], run[r*p.cols:])
		}
	}
}

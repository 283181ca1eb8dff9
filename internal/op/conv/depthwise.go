package conv

import (
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/isa"
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
	beginH        int   // padding before the rows
	offsets       []int // of each tap from its position, phases lying one after the other; at last that behind them
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
	p.offsets = append(p.offsets, p.size(s))
	return float64(p.strideH)*float64(s.Step)*float64(p.rows)*float64(p.cols) <= 4*(float64(s.PlaneIn+s.Rows*s.Width)+bandElems)
}

// size returns the elements of all phases.
func (p *phases) size(s *slide.Binding) int { return p.strideH * s.Step * p.rows * p.cols }

// fillPhases copies the part of plane x that positions from row on read, padded
// by 0.
func fillPhases[T kernel.Number](dst, x []T, p *phases, s *slide.Binding, row int) {
	begin := s.Begin[len(s.Begin)-1]
	for phaseH := range p.strideH {
		for r := range p.rows {
			i := (row+r)*p.strideH + phaseH - p.beginH
			for phaseW := range s.Step {
				to := dst[((phaseH*s.Step+phaseW)*p.rows+r)*p.cols:][:p.cols]
				if i < 0 || i >= p.height {
					clear(to)
					continue
				}
				from := x[i*p.width : (i+1)*p.width]
				// Columns [a, b) of the phase lie in the image.
				a := slide.FirstAtLeast(begin-phaseW, s.Step, p.cols)
				b := max(a, slide.FirstAtLeast(p.width+begin-phaseW, s.Step, p.cols))
				clear(to[:a])
				clear(to[b:])
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

// phaseWork is the working memory of planes that are summed in phases.
type phaseWork[T kernel.Number] struct {
	planes  []T // the phases of a band, and behind them a run of ones
	sums    []T // the run of positions
	weights []T // of the taps, and the bias
}

// phaseWork cuts the working memory off the front of scratch.
func (k *conv[T]) phaseWork(scratch *[]byte) phaseWork[T] {
	size, run := k.phases.size(&k.slide), k.phases.band*k.phases.cols
	w := phaseWork[T]{kernel.Carve[T](scratch, size+run), kernel.Carve[T](scratch, run), kernel.Carve[T](scratch, k.taps+1)}
	kernel.Fill(w.planes[size:], 1)
	return w
}

// phasedScratch returns the bytes of the working memory, with that of what follows.
func (k *conv[T]) phasedScratch() int {
	size, run := k.phases.size(&k.slide), k.phases.band*k.phases.cols
	return kernel.Carved[T](size+run) + kernel.Carved[T](run) + kernel.Carved[T](k.taps+1) + k.rest.Scratch()
}

// sumTaps sums the taps of the run y of positions, and the bias behind them where
// there is one. As in products, [isa.Chain] taps make a partial sum. The bias
// belongs to none that another one precedes.
func (k *conv[T]) sumTaps(y, planes []T, offsets []int, weights []T) {
	for from := 0; from < len(offsets); {
		to := min(from+isa.Chain, k.taps)
		if from == k.taps || from == 0 && to == k.taps {
			to = len(offsets)
		}
		k.gemm.Tile.TapSum(y, planes, offsets[from:to], weights[from:to], from > 0)
		from = to
	}
}

// depthwise computes map m of one image, a band of rows at a time. The bias is one
// more tap, the last, over elements that are 1, which rounds as adding it does.
func (k *conv[T]) depthwise(y, x, w []T, m int, work *phaseWork[T]) {
	s, p := &k.slide, &k.phases
	offsets := p.offsets[:k.taps]
	weights := append(work.weights[:0], w...)
	if k.bias != nil {
		offsets = p.offsets
		weights = append(weights, kernel.Slice[T](k.bias)[k.bias.Offset+m])
	}
	for row := 0; row < s.Rows; row += p.band {
		n := min(p.band, s.Rows-row)
		fillPhases(work.planes, x, p, s, row)
		to := y[row*s.Width : (row+n)*s.Width]
		if p.cols == s.Width {
			k.sumTaps(to, work.planes, offsets, weights)
			continue
		}
		run := work.sums[:(n-1)*p.cols+s.Width]
		k.sumTaps(run, work.planes, offsets, weights)
		for r := range n {
			copy(to[r*s.Width:(r+1)*s.Width], run[r*p.cols:])
		}
	}
}

package conv

import (
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/kernel/gemm"
	"github.com/berth-go/berth/internal/kernel/isa"
	"github.com/berth-go/berth/internal/op/slide"
)

// A band is the part of the image with channels last that a block of [windows] meets, and
// its padding, in memory of its own: for each tap of the axes before the last two, rows of
// columns of pixels. A pixel has all channels of some groups, or some of one group, which
// are then filled in turn, and channel c of the group has the place c%held.
type band struct {
	slide        *slide.Binding
	outer        int // taps of the axes before the last two
	down, across bandAxis
	held         int // channels of a group
	pixel        int // elements of a pixel
}

// A bandAxis is one of the last two spatial axes in a band. What its windows meet lies as
// in the image, or each tap has a segment for itself where this takes less.
type bandAxis struct {
	in, taps, stride, dilation, begin int

	segments, segment int // and the elements in one
	apart             int // image elements from one of a segment to the next
	step, tap         int // elements of the band from a position, and from a tap, to the next
}

// block lays out a block of positions.
func (a *bandAxis) block(count int) {
	a.segments, a.segment, a.apart = 1, (count-1)*a.stride+(a.taps-1)*a.dilation+1, 1
	a.step, a.tap = a.stride, a.dilation
	if a.taps*count < a.segment {
		a.segments, a.segment, a.apart = a.taps, count, a.stride
		a.step, a.tap = 1, count
	}
}

func (a *bandAxis) extent() int { return a.segments * a.segment }

// first returns the image element where a segment begins for a block that begins at a
// position. It may lie in the padding.
func (a *bandAxis) first(segment, position int) int {
	return position*a.stride + segment*a.dilation - a.begin
}

// bind lays out nothing yet.
func (b *band) bind(s *slide.Binding) {
	b.slide, b.outer = s, 1
	last := len(s.In) - 1
	axis := func(i int) bandAxis {
		if i < 0 {
			return bandAxis{in: 1, taps: 1, stride: 1, dilation: 1}
		}
		return bandAxis{in: s.In[i], taps: s.Taps[i], stride: s.Stride[i], dilation: s.Dilation[i], begin: s.Begin[i]}
	}
	b.down, b.across = axis(last-1), axis(last)
	for i := range last - 1 {
		b.outer *= s.Taps[i]
	}
}

// fit lays out blocks of lines and columns of positions for some groups of so many
// channels, as many of which are held as fit. It reports false if too few do.
func (b *band) fit(lines, cols, groups, deep, taps int) bool {
	b.down.block(lines)
	b.across.block(cols)
	// Those that gemm.BlockK terms may belong to.
	least := min(deep, (gemm.BlockK-2)/taps+2)
	if groups > 1 {
		least = deep
	}
	pixels := float64(b.outer) * float64(b.down.extent()) * float64(b.across.extent())
	b.held = max(min(deep, int(bandElems/pixels)/groups), least)
	b.pixel = b.held * groups
	return pixels*float64(b.pixel) <= bandElems
}

// elems returns the elements of the band; 0 of one that is not bound.
func (b *band) elems() int { return b.outer * b.down.extent() * b.across.extent() * b.pixel }

// steps returns the elements from a position and from a line to the next.
func (b *band) steps() (position, line int) {
	return b.across.step * b.pixel, b.down.step * b.across.extent() * b.pixel
}

// layOut finds the terms of a window of a group.
func (b *band) layOut(terms *isa.Taps, deep int) {
	for c := range deep {
		for outer := range b.outer {
			for h := range b.down.taps {
				for w := range b.across.taps {
					row := outer*b.down.extent() + h*b.down.tap
					terms.Append((row*b.across.extent()+w*b.across.tap)*b.pixel + c%b.held)
				}
			}
		}
	}
}

// fillBand copies channels [c0, c1) of the groups of a block, whose image begins at x, to
// the band.
func (k *last[T]) fillBand(dst []T, x int, at *windowBlock, c0, c1 int, grid *isa.Grid) {
	b := &k.windows.band
	last := len(k.slide.In) - 1
	for outer := range b.outer {
		plane, inside := k.planeOf(at.plane, outer)
		for segment := range b.down.segments {
			for i := range b.down.segment {
				to := dst[((outer*b.down.segments+segment)*b.down.segment+i)*b.across.extent()*b.pixel:]
				row := b.down.first(segment, at.line) + i*b.down.apart
				from := -1
				if inside && 0 <= row && row < b.down.in {
					from = x + plane + at.group*k.deep
					if last > 0 {
						from += row * k.x.Strides[last]
					}
				}
				k.fillRow(to, from, at, c0, c1, grid)
			}
		}
	}
}

// planeOf returns how far from where the windows of a plane begin the part of the image
// lies that a tap of the axes before the last two meets, and whether there is one.
func (k *last[T]) planeOf(plane, tap int) (at int, inside bool) {
	s := &k.slide
	for axis := len(s.In) - 3; axis >= 0; axis-- {
		t, p := tap%s.Taps[axis], plane%s.Out[axis]
		tap, plane = tap/s.Taps[axis], plane/s.Out[axis]
		from := t*s.Dilation[axis] - s.Begin[axis]
		if i := p*s.Stride[axis] + from; i < 0 || i >= s.In[axis] {
			return 0, false
		}
		at += from * k.x.Strides[1+axis]
	}
	return at, true
}

// fillRow copies a row of pixels whose image row begins at x, or is padding if that is
// below 0.
func (k *last[T]) fillRow(dst []T, x int, at *windowBlock, c0, c1 int, grid *isa.Grid) {
	b := &k.windows.band
	a, pitch := &b.across, k.x.Strides[len(k.slide.In)]
	for segment := range a.segments {
		to := dst[segment*a.segment*b.pixel:]
		first, lo, hi := a.first(segment, at.col), 0, 0
		if x >= 0 {
			lo = slide.FirstAtLeast(-first, a.apart, a.segment)
			hi = max(lo, slide.FirstAtLeast(a.in-first, a.apart, a.segment))
		}
		for c := c0; c < c1; {
			place := c % b.held
			n := min(c1-c, b.held-place)
			channels := n + (at.groups-1)*k.deep
			if lo < hi {
				k.copyPixels(to[lo*b.pixel+place:], x+(first+lo*a.apart)*pitch+c, hi-lo, channels, a.apart*pitch, grid)
			}
			for _, padding := range [...][2]int{{0, lo}, {hi, a.segment}} {
				for i := padding[0]; i < padding[1]; i++ {
					clear(to[i*b.pixel+place:][:channels])
				}
			}
			c += n
		}
	}
}

// copyPixels copies n channels of pixels that lie pitch elements apart, from x on, to a
// row of the band.
func (k *last[T]) copyPixels(dst []T, x, count, n, pitch int, grid *isa.Grid) {
	src, pixel := kernel.Slice[T](k.x), k.windows.band.pixel
	switch {
	case n == pixel && n == pitch:
		copy(dst[:count*n], src[x:])
	case pitch < 0:
		for i := range count {
			copy(dst[i*pixel:i*pixel+n], src[x+i*pitch:])
		}
	default:
		*grid = isa.Grid{Planes: 1, Rows: count, Cols: n, RowY: pixel, RowX: pitch}
		k.tile.CopyRows(dst, src[x:], grid)
	}
}

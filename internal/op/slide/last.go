package slide

import "github.com/berth-go/berth/internal/kernel"

// Where windows meet images with their channels last, whose spatial axes have any strides.

// LastBlock returns into how many columns and channels rows of positions are cut, for elements of
// size bytes, so that the lines of the image that several rows meet stay in the nearest cache.
func (s *Binding) LastBlock(channels, size int) (cols, each int) {
	const (
		lines    = 16 << 10 // bytes of the image that a row of positions meets in a block, about
		element  = 1 << 10  // bytes of the channels of an element, at most
		multiple = 32
	)
	blocks := kernel.CeilDiv(channels*size, element)
	each = min(kernel.CeilDiv(kernel.CeilDiv(channels, blocks), multiple)*multiple, channels)
	return max(lines/(size*each*s.Step*s.OuterTaps), 8), each
}

// Run returns how many columns from col on the same taps of a line meet the image.
func (s *Binding) Run(col int) int {
	end := s.Width
	for inner, lo := range s.Lo {
		for _, edge := range [...]int{lo, s.Hi[inner]} {
			if edge > col {
				end = min(end, edge)
			}
		}
	}
	return end - col
}

// Inside reports whether an inner tap meets the image at a column.
func (s *Binding) Inside(inner, col int) bool { return s.Lo[inner] <= col && col < s.Hi[inner] }

// FindTaps sets offsets to where taps [from, to), or every step-th of them, meet an image that
// begins at a place, at a column of a row of positions: -1 where that is padding. It returns the
// rest of offsets.
func (s *Binding) FindTaps(offsets []int, at int, strides []int, row, col, from, to, step int) []int {
	for t := from; t < to; t += step {
		offsets[0] = -1
		if inner := t % s.InnerTaps; s.Inside(inner, col) {
			if line, ok := s.line(strides, row, t/s.InnerTaps); ok {
				offsets[0] = at + line + (s.From[inner]+col*s.Step)*strides[len(s.In)-1]
			}
		}
		offsets = offsets[1:]
	}
	return offsets
}

// line returns where in an image the line begins that an outer tap meets at a row of positions,
// unless that is padding.
func (s *Binding) line(strides []int, row, tap int) (at int, ok bool) {
	for axis := len(s.In) - 2; axis >= 0; axis-- {
		t, r := tap, row
		if axis > 0 { // the outermost axis takes what is left
			t, tap = tap%s.Taps[axis], tap/s.Taps[axis]
			r, row = row%s.Out[axis], row/s.Out[axis]
		}
		i := r*s.Stride[axis] + t*s.Dilation[axis] - s.Begin[axis]
		if i < 0 || i >= s.In[axis] {
			return 0, false
		}
		at += i * strides[axis]
	}
	return at, true
}

// Place returns where the first position of a row lies in an image of positions.
func (s *Binding) Place(strides []int, row int) int {
	at := 0
	for axis := len(s.Out) - 2; axis >= 0; axis-- {
		r := row
		if axis > 0 {
			r, row = row%s.Out[axis], row/s.Out[axis]
		}
		at += r * strides[axis]
	}
	return at
}

// Package slide is windows that slide over the spatial axes of images, as
// convolution and pooling do.
//
// # Where to find what
//
//	window.go   the attributes of a window, completed and checked; positions
//	slide.go    a window bound to an image: where each tap meets it
//	blocks.go   windows reduced tap by tap
//	last.go     where windows meet images with their channels last
//	columns.go  all windows as the right operand of a product (im2col)
package slide

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// AutoPad says how the padding of a window is found.
type AutoPad uint8

// The ways of padding. NotSet, the zero value, uses the Pads attribute.
// The same_ ways pad so that an axis has ceil(extent/stride) positions, with an
// odd pad put at the end (upper) or the beginning (lower). Valid does
// not pad.
const (
	NotSet AutoPad = iota
	SameUpper
	SameLower
	Valid
)

var autoPads = op.Enum{Kind: "padding rule", Names: []string{"notset", "same_upper", "same_lower", "valid"}}

// String returns the name of p.
func (p AutoPad) String() string { return autoPads.Text(uint8(p)) }

// MarshalText implements [encoding.TextMarshaler].
func (p AutoPad) MarshalText() ([]byte, error) { return autoPads.Marshal(uint8(p)) }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *AutoPad) UnmarshalText(text []byte) error { return op.UnmarshalEnum(autoPads, text, p) }

// A Window is how a block of taps slides over spatial axes. Each list has an
// entry for every such axis; Pads has the beginnings, then the ends. Absent
// lists, which [Window.Check] completes, mean strides and dilations of 1 and no
// padding.
type Window struct {
	Taps, Strides, Dilations, Pads []int
	Auto                           AutoPad // unless one of the same_ ways, padding is that of Pads
}

// Same reports whether the padding keeps ceil(extent/stride) positions.
func (p AutoPad) Same() bool { return p == SameUpper || p == SameLower }

// Split shares a number of pads among both ends of an axis. An odd one is put at
// the end under SameUpper, else at the beginning.
func (p AutoPad) Split(total int) (begin, end int) {
	if p == SameUpper {
		return total / 2, total - total/2
	}
	return total - total/2, total / 2
}

// padding returns the padding at both ends of an axis that has in elements and out
// window positions.
func (w *Window) padding(axis, in, out int) (begin, end int) {
	if !w.Auto.Same() {
		return w.Pads[axis], w.Pads[len(w.Taps)+axis]
	}
	return w.Auto.Split(max(0, (out-1)*w.Strides[axis]+w.Span(axis)-in))
}

// MaxAttribute bounds strides, dilations, pads and tap counts, so that sums of
// a few products of two of them fit an int: 1<<30 where that has 64 bits.
const MaxAttribute = 1 << (bits.UintSize/2 - 2)

// Check completes the lists of w and reports those that do not fit the number
// of spatial axes or are out of range.
func (w Window) Check(axes int) (Window, error) {
	var err error
	list := func(name string, values []int, n, absent, least int) []int {
		if len(values) == 0 {
			return slices.Repeat([]int{absent}, n)
		}
		if len(values) != n && err == nil {
			err = fmt.Errorf("%s %v: %d numbers for %d spatial axes, want %d", name, values, len(values), axes, n)
		}
		for _, v := range values {
			if (v < least || v > MaxAttribute) && err == nil {
				err = fmt.Errorf("%s %v: %d is not in [%d, %d]", name, values, v, least, MaxAttribute)
			}
		}
		return values
	}
	w.Taps = list("kernel shape", w.Taps, axes, 1, 1)
	w.Strides = list("strides", w.Strides, axes, 1, 1)
	w.Dilations = list("dilations", w.Dilations, axes, 1, 1)
	if w.Auto != NotSet {
		for _, v := range w.Pads {
			if v != 0 && err == nil {
				err = fmt.Errorf("pads %v are given beside the automatic padding %v", w.Pads, w.Auto)
			}
		}
		w.Pads = nil
	}
	w.Pads = list("pads", w.Pads, 2*axes, 0, 0)
	if err == nil {
		err = autoPads.Check(uint8(w.Auto))
	}
	return w, err
}

// Span returns the elements that the taps of an axis reach over.
func (w Window) Span(axis int) int { return (w.Taps[axis]-1)*w.Dilations[axis] + 1 }

// Positions returns how many places the window takes along each spatial axis
// of the image. With ceil, a last window that reaches past the padding counts
// too, unless it begins past the image and the padding before it.
func (w Window) Positions(image shape.Shape, ceil bool) (shape.Shape, error) {
	axes := len(w.Taps)
	out := make(shape.Shape, axes)
	for i, in := range image {
		stride := w.Strides[i]
		if w.Auto.Same() {
			out[i] = kernel.CeilDiv(in, stride)
			continue
		}
		room := in + w.Pads[i] + w.Pads[axes+i] - w.Span(i)
		if room < 0 {
			return nil, fmt.Errorf("image %v with pads %v is narrower than the window at spatial axis %d: %d taps with dilation %d reach over %d",
				image, w.Pads, i, w.Taps[i], w.Dilations[i], w.Span(i))
		}
		out[i] = room/stride + 1
		if ceil && room%stride != 0 && out[i] <= (in+w.Pads[i]-1)/stride {
			out[i]++
		}
	}
	return out, out.Check()
}

// DenseAxes is the [op.Strider] rule of ops over images, with a number of inputs
// of their own: input 0 and the outputs may have any batch stride, and what the
// epilogue reads, the inputs after these, any strides.
func DenseAxes(operand, rank, own int) int {
	switch {
	case operand <= 0:
		return max(rank-1, 0)
	case operand < own:
		return rank
	}
	return 0
}

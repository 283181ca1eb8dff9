package op

import (
	"fmt"
	"math/bits"

	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// AutoPad says how the padding of a window is found.
type AutoPad uint8

// The ways of padding. AutoPadNotSet, the zero value, uses the Pads attribute.
// The same_ ways pad so that an axis has ceil(extent/stride) positions, with an
// odd pad put at the end (upper) or the beginning (lower). AutoPadValid does
// not pad.
const (
	AutoPadNotSet AutoPad = iota
	AutoPadSameUpper
	AutoPadSameLower
	AutoPadValid
)

var autoPads = enum{"padding rule", []string{"notset", "same_upper", "same_lower", "valid"}}

// String returns the name of p.
func (p AutoPad) String() string { return autoPads.text(uint8(p)) }

// MarshalText implements [encoding.TextMarshaler].
func (p AutoPad) MarshalText() ([]byte, error) { return autoPads.marshal(uint8(p)) }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *AutoPad) UnmarshalText(text []byte) error { return unmarshalEnum(autoPads, text, p) }

// A sliding window as ops give it: absent lists mean strides and dilations of
// 1 and no padding.
type window struct {
	taps, strides, dilations, pads []int
	auto                           AutoPad
}

// maxAttribute bounds strides, dilations, pads and tap counts, so that sums of
// a few products of two of them fit an int: 1<<30 where that has 64 bits.
const maxAttribute = 1 << (bits.UintSize/2 - 2)

// check completes the lists of w and reports those that do not fit the number
// of spatial axes or are out of range.
func (w window) check(axes int) (window, error) {
	var err error
	list := func(name string, values []int, n, absent, least int) []int {
		if len(values) == 0 {
			values = make([]int, n)
			for i := range values {
				values[i] = absent
			}
			return values
		}
		if len(values) != n && err == nil {
			err = fmt.Errorf("%s %v: %d numbers for %d spatial axes, want %d", name, values, len(values), axes, n)
		}
		for _, v := range values {
			if (v < least || v > maxAttribute) && err == nil {
				err = fmt.Errorf("%s %v: %d is not in [%d, %d]", name, values, v, least, maxAttribute)
			}
		}
		return values
	}
	w.taps = list("kernel shape", w.taps, axes, 1, 1)
	w.strides = list("strides", w.strides, axes, 1, 1)
	w.dilations = list("dilations", w.dilations, axes, 1, 1)
	if w.auto != AutoPadNotSet {
		for _, v := range w.pads {
			if v != 0 && err == nil {
				err = fmt.Errorf("pads %v are given beside the automatic padding %v", w.pads, w.auto)
			}
		}
		w.pads = nil
	}
	w.pads = list("pads", w.pads, 2*axes, 0, 0)
	if err == nil {
		err = autoPads.check(uint8(w.auto))
	}
	return w, err
}

// span returns the elements that the taps of an axis reach over.
func (w window) span(axis int) int { return (w.taps[axis]-1)*w.dilations[axis] + 1 }

// positions returns how many places the window takes along each spatial axis
// of the image. With ceil, a last window that reaches past the padding counts
// too, unless it begins past the image and the padding before it.
func (w window) positions(image shape.Shape, ceil bool) (shape.Shape, error) {
	axes := len(w.taps)
	out := make(shape.Shape, axes)
	for i, in := range image {
		stride := w.strides[i]
		if w.auto == AutoPadSameUpper || w.auto == AutoPadSameLower {
			out[i] = in / stride
			if in%stride != 0 {
				out[i]++
			}
			continue
		}
		room := in + w.pads[i] + w.pads[axes+i] - w.span(i)
		if room < 0 {
			return nil, fmt.Errorf("image %v with pads %v is narrower than the window at spatial axis %d: %d taps with dilation %d reach over %d",
				image, w.pads, i, w.taps[i], w.dilations[i], w.span(i))
		}
		out[i] = room/stride + 1
		if ceil && room%stride != 0 && out[i] <= (in+w.pads[i]-1)/stride {
			out[i]++
		}
	}
	return out, out.Check()
}

// bound returns the window in the form kernels take.
func (w window) bound() kernel.Window {
	same := kernel.NotSame
	switch w.auto {
	case AutoPadSameUpper:
		same = kernel.SameUpper
	case AutoPadSameLower:
		same = kernel.SameLower
	}
	return kernel.Window{Taps: w.taps, Strides: w.strides, Dilations: w.dilations, Pads: w.pads, Same: same}
}

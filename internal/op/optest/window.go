package optest

import (
	"math/rand/v2"

	"github.com/berth-go/berth/internal/op/slide"
)

// Window returns a random window over the given number of axes, with the
// extents of an image and of its positions, none of them negative.
func Window(rng *rand.Rand, axes, limit int) (w slide.Window, in, out []int) {
	w.Pads = make([]int, 2*axes)
	plain := rng.IntN(4) == 0
	for i := range axes {
		taps, stride, dilation := 1+rng.IntN(4), 1+rng.IntN(3), 1+rng.IntN(3)
		before, after := rng.IntN(4), rng.IntN(4)
		if plain {
			taps, stride, before, after = 1, 1, 0, 0
		}
		extent := rng.IntN(limit)
		for extent+before+after < (taps-1)*dilation+1 {
			extent++
		}
		w.Taps, w.Strides, w.Dilations = append(w.Taps, taps), append(w.Strides, stride), append(w.Dilations, dilation)
		w.Pads[i], w.Pads[axes+i] = before, after
		in = append(in, extent)
		out = append(out, (extent+before+after-(taps-1)*dilation-1)/stride+1)
	}
	if !plain && rng.IntN(4) == 0 {
		w.Auto = slide.SameUpper + slide.AutoPad(rng.IntN(2))
		for i := range axes {
			out[i] = (in[i] + w.Strides[i] - 1) / w.Strides[i]
			total := max(0, (out[i]-1)*w.Strides[i]+(w.Taps[i]-1)*w.Dilations[i]+1-in[i])
			w.Pads[i], w.Pads[axes+i] = total/2, total-total/2
			if w.Auto == slide.SameLower {
				w.Pads[i], w.Pads[axes+i] = total-total/2, total/2
			}
		}
	}
	return w, in, out
}

// Unpadded forgets the pads of an automatic window, which the kernel must find.
func Unpadded(w slide.Window) slide.Window {
	if w.Auto != slide.NotSet {
		w.Pads = nil
	}
	return w
}

package quant

import (
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
)

// A group of one input channel has too few products to share what is packed: its
// output maps are summed row by row and tap by tap, where padding is left out.

// planes computes the maps of task.
func (k *convolution) planes(task int, scratch []byte) {
	sums := kernel.Carve[int32](&scratch, k.slide.Width)
	channels := k.maps * k.group
	for i := task * k.each; i < min((task+1)*k.each, k.count); i++ {
		k.plane(i/channels, i%channels, sums)
	}
}

// plane computes output map m of an image. Sums has room for a row of it.
func (k *convolution) plane(image, m int, sums []int32) {
	s := &k.slide
	f := k.finish(m)
	zeroX, zeroW := zeroAt(&f.zeroB, 0, 0, k.typeB), zeroAt(&f.zeroA, 0, 0, k.typeA)
	x := kernel.Slice[uint8](k.in[inLeft])
	if at := k.imageAt(image, m/k.maps); s.PlaneIn != 0 {
		x = x[at : at+s.PlaneIn]
	}
	w := k.weights(0)
	taps := w.Data[w.At+m*k.cut.K:][:k.cut.K]
	at := k.y.Offset + image*k.y.Strides[0] + m*k.positions
	for row := range s.Rows {
		clear(sums)
		for outer := range s.OuterTaps {
			base := s.Row(outer, row)
			if base < 0 {
				continue
			}
			for inner, b := range taps[outer*s.InnerTaps : (outer+1)*s.InnerTaps] {
				lo, hi := s.Lo[inner], s.Hi[inner]
				if lo >= hi {
					continue
				}
				v, from := number(b, k.typeA)-zeroW, x[base+s.From[inner]+lo*s.Step:]
				if k.typeB == dtype.Int8 {
					addTap[int8](sums[lo:hi], from, s.Step, v, zeroX)
				} else {
					addTap[uint8](sums[lo:hi], from, s.Step, v, zeroX)
				}
			}
		}
		k.store(k.y, at+row*s.Width, sums, &f, 0, 0)
	}
}

// addTap is sums[i] += w * (x[i*step] - zero).
func addTap[X int8 | uint8](sums []int32, x []uint8, step int, w, zero int32) {
	at := 0
	for i := range sums {
		sums[i] += w * (int32(X(x[at])) - zero)
		at += step
	}
}

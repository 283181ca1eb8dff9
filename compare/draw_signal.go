package main

import "github.com/berth-go/berth/internal/wire"

var signalGenerators = map[string]generator{
	"DFT": {17, dft}, "STFT": {17, stft}, "BlackmanWindow": {17, window}, "HammingWindow": {17, window}, "HannWindow": {17, window},
	"MelWeightMatrix": {17, melWeights},
}

func dft(d *draw) {
	d.bounded()
	t := one(d, singles...)
	rank := 1 + d.IntN(2)
	dims := d.solid(1+rank, 1+rank)
	axis := 1 + d.Int64N(int64(rank))
	inverse, oneSided := false, false
	d.maybe(func() { inverse = true; d.int("inverse", 1) })
	if !inverse {
		d.maybe(func() { oneSided = true; d.int("onesided", 1) })
	}
	last := int64(2)
	if oneSided || d.coin() && !inverse {
		last = 1
	}
	d.input(t, append(dims, last))
	if d.opset < 20 {
		d.int("axis", axis)
	}
	length := d.coin()
	if length {
		d.scalar(wire.Int64, float64(1+d.Int64N(8)))
	}
	if d.opset >= 20 {
		if !length {
			d.absent()
		}
		d.scalar(wire.Int64, float64(axis))
	}
	d.output(t)
	d.tol = tolerance{epsilons: 256, sums: true}
}

func stft(d *draw) {
	d.bounded()
	t := one(d, singles...)
	n, step := 2+d.Int64N(7), 1+d.Int64N(3)
	signal := n + d.Int64N(10)
	d.int("onesided", d.Int64N(2))
	d.input(t, []int64{d.full(), signal, 1})
	d.scalar(wire.Int64, float64(step))
	if d.coin() {
		d.positive(t, []int64{n})
		d.maybe(func() { d.scalar(wire.Int64, float64(n)) })
	} else {
		d.absent()
		d.scalar(wire.Int64, float64(n))
	}
	d.output(t)
	d.tol = tolerance{epsilons: 256, sums: true}
}

func window(d *draw) {
	t := wire.Float
	d.maybe(func() { t = one(d, singles...); d.int("output_datatype", int64(t)) })
	d.maybe(func() { d.int("periodic", d.Int64N(2)) })
	d.scalar(one(d, indices...), float64(2+d.IntN(12)))
	d.output(t)
	d.tol = sums
}

func melWeights(d *draw) {
	t := wire.Float
	d.maybe(func() { t = one(d, singles...); d.int("output_datatype", int64(t)) })
	d.scalar(wire.Int64, float64(1+d.IntN(8)))
	d.scalar(wire.Int64, float64(int(16)<<d.IntN(4)))
	d.scalar(wire.Int64, one(d, 8000., 16000))
	d.scalar(wire.Float, one(d, 0., 20, 125))
	d.scalar(wire.Float, one(d, 4000., 3500))
	d.output(t)
	d.tol = rough
}

package onnx

import (
	"math"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op/elementwise"
	"github.com/berth-go/berth/internal/op/move"
	"github.com/berth-go/berth/internal/op/signal"
)

// signalOps are Fourier transforms, and the windows and filters beside them.
var signalOps = []row{
	{"", "DFT", 17, 1, 2, convertDFT},
	{"", "DFT", 20, 1, 3, convertDFT},
	{"", "STFT", 17, 2, 4, convertSTFT},
	{"", "BlackmanWindow", 17, 1, 1, cosineWindow(.42, -.5, .08)},
	{"", "HammingWindow", 17, 1, 1, cosineWindow(25./46, -21./46, 0)},
	{"", "HannWindow", 17, 1, 1, cosineWindow(.5, -.5, 0)},
	{"", "MelWeightMatrix", 17, 5, 5, convertMelWeightMatrix},
}

// convertDFT takes the axis as an attribute, 1 by default, and since opset 20
// as an input, by default that before the parts of numbers.
func convertDFT(c *call) []graph.Value {
	c.attrUntil(19, "axis")
	o := signal.DFT{Axis: 1, Inverse: c.flag("inverse", false), OneSided: c.flag("onesided", false)}
	switch {
	case c.opset() < 20:
		o.Axis = c.int("axis", 1)
	case c.has(2):
		o.Axis = c.scalar(2)
	default:
		o.Axis = -2
	}
	o.Axis = c.axis(o.Axis, c.rank(0))
	switch {
	case c.has(1):
		o.Length = c.scalar(1)
	case o.Inverse && o.OneSided:
		o.Length = 2 * (c.shape(0)[o.Axis] - 1)
	default:
		o.Length = c.shape(0)[o.Axis]
	}
	return list(c.one(o, c.in[0]))
}

// convertSTFT transforms frames of a signal, each of which begins some samples
// after the last. Without a length, a frame is as long as the window, or else as
// the signal.
func convertSTFT(c *call) []graph.Value {
	if c.rank(0) != 3 {
		c.failf("the signal has the shape %v, want [batch, length, 1 or 2]", c.shape(0))
	}
	samples, step := c.shape(0)[1], c.scalar(1)
	length := samples
	if c.has(2) {
		if c.rank(2) != 1 {
			c.failf("the window has the shape %v, want one axis", c.shape(2))
		}
		length = c.shape(2)[0]
	}
	if c.has(3) {
		n := c.scalar(3)
		if c.has(2) && n != length {
			c.failf("frames have %d samples, the window %d", n, length)
		}
		length = n
	}
	if step < 1 || length < 1 || length > samples {
		c.failf("frames of %d samples, one every %d, do not fit a signal of %d", length, step, samples)
	}
	t := c.in[0].Type().DType
	places := c.elementwise(elementwise.Add, nil, c.ramp((samples-length)/step+1, step, 0, 2), c.ramp(length, 1, 1, 2))
	frames := c.one(move.Gather{Axis: 1}, c.castTo(c.in[0], wider(t)), places)
	if c.has(2) {
		frames = c.elementwise(elementwise.Mul, nil, frames, c.reshape(c.castTo(c.in[2], wider(t)), length, 1))
	}
	spectra := c.one(signal.DFT{Axis: 2, Length: length, OneSided: c.flag("onesided", true)}, frames)
	return list(c.castTo(spectra, t))
}

// cosineWindow converts a window of N elements
//
//	a + b*cos(x) + d*cos(2x), x = 2π*i/N
//
// or, where it is not periodic, with N-1 in the place of N.
func cosineWindow(a, b, d float64) converter {
	return func(c *call) []graph.Value {
		size := c.scalar(0)
		period := size
		if !c.flag("periodic", true) {
			period--
		}
		wave := func(times float64) graph.Value {
			x := c.one(move.Iota{N: size, Start: kernel.Float64Scalar(0), Delta: kernel.Float64Scalar(2 * math.Pi * times / float64(period))})
			return c.elementwise(elementwise.Cos, nil, x)
		}
		y := c.withScalar(elementwise.Add, c.withScalar(elementwise.Mul, wave(1), b), a)
		if d != 0 {
			y = c.elementwise(elementwise.Add, nil, y, c.withScalar(elementwise.Mul, wave(2), d))
		}
		return list(c.castTo(y, c.dtype("output_datatype", dtype.Float32)))
	}
}

// convertMelWeightMatrix returns triangles in the columns of a matrix, one for each
// mel band, whose corners are the rows of frequencies equally far apart on the mel
// scale. As rows are whole numbers, a side of width 0 is one of width 1.
func convertMelWeightMatrix(c *call) []graph.Value {
	bands, length, rate := c.knownInt(0), c.knownInt(1), c.knownInt(2)
	low, high := melOf(c.knownScalar(3).Float64()), melOf(c.knownScalar(4).Float64())
	switch {
	case bands < 0 || bands > mostListed:
		c.failf("%d bands are not in [0, %d]", bands, mostListed)
	case length < 0 || rate < 1:
		c.failf("a transform of length %d at %d samples a second is not possible", length, rate)
	case !(low <= high):
		c.failf("the bands begin at mel %v and end at %v", low, high)
	}
	corner := func(i int) float64 {
		mel := low + float64(i)*(high-low)/float64(bands+2)
		hertz := 700 * (math.Pow(10, mel/2595) - 1)
		return math.Floor(float64(length+1) * hertz / float64(rate))
	}
	left, peak, right := make([]float64, bands), make([]float64, bands), make([]float64, bands)
	for i := range bands {
		peak[i] = corner(i + 1)
		left[i], right[i] = min(corner(i), peak[i]-1), max(corner(i+2), peak[i]+1)
	}
	l, p, r := constant(left, bands), constant(peak, bands), constant(right, bands)
	rows := c.castTo(c.ramp(length/2+1, 1, 0, 2), dtype.Float64)
	side := func(from graph.Value) graph.Value {
		width := c.elementwise(elementwise.Sub, nil, p, from)
		return c.elementwise(elementwise.Div, nil, c.elementwise(elementwise.Sub, nil, rows, from), width)
	}
	y := c.elementwise(elementwise.Minimum, nil, side(l), side(r))
	y = c.withScalar(elementwise.Maximum, y, 0)
	return list(c.castTo(y, c.dtype("output_datatype", dtype.Float32)))
}

// melOf returns a frequency on the mel scale.
func melOf(hertz float64) float64 { return 2595 * math.Log10(1+hertz/700) }

package resample

import (
	"math"

	"github.com/berth-go/berth/internal/op"
)

// Coordinates say which place of the input an element of the output comes from.
type Coordinates uint8

// The ways, for element i of length elements that n elements are resized to, where
// scale is length/n. Length is not an integer where a scale makes it so; out, the
// elements that there are, is.
const (
	HalfPixel          Coordinates = iota // (i+0.5)/scale - 0.5
	HalfPixelSymmetric                    // n/2*(1-out/length) more: both middles are one place
	PytorchHalfPixel                      // as HalfPixel, but 0 where out is 1
	AlignCorners                          // i*(n-1)/(length-1), and 0 where length is 1
	Asymmetric                            // i/scale
	HalfPixelNearest                      // (i+0.5)/scale
	// CropAndResize spreads the elements from the start to the end of a region:
	// (start + i/(length-1)*(end-start)) * (n-1), the middle of it where out is 1.
	CropAndResize
)

var coordinates = op.Enum{Kind: "kind of coordinates", Names: []string{
	HalfPixel: "half_pixel", HalfPixelSymmetric: "half_pixel_symmetric", PytorchHalfPixel: "pytorch_half_pixel",
	AlignCorners: "align_corners", Asymmetric: "asymmetric",
	HalfPixelNearest: "tf_half_pixel_for_nn", CropAndResize: "tf_crop_and_resize",
}}

// String returns the name of c.
func (c Coordinates) String() string { return coordinates.Text(uint8(c)) }

// MarshalText implements [encoding.TextMarshaler].
func (c Coordinates) MarshalText() ([]byte, error) { return coordinates.Marshal(uint8(c)) }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (c *Coordinates) UnmarshalText(text []byte) error {
	return op.UnmarshalEnum(coordinates, text, c)
}

// A Rounding says which element is nearest to a place between two.
type Rounding uint8

// The ways of rounding.
const (
	PreferFloor Rounding = iota // the nearer; the one before from the middle
	PreferCeil                  // the nearer; the one behind from the middle
	Floor                       // the one before
	Ceil                        // the one behind
	// FloorOrCeil is Ceil on axes that become shorter, Floor on others. It is how
	// ONNX rounded before it had a choice.
	FloorOrCeil
)

var roundings = op.Enum{Kind: "way of rounding", Names: []string{
	PreferFloor: "round_prefer_floor", PreferCeil: "round_prefer_ceil", Floor: "floor", Ceil: "ceil", FloorOrCeil: "floor_or_ceil",
}}

// String returns the name of r.
func (r Rounding) String() string { return roundings.Text(uint8(r)) }

// MarshalText implements [encoding.TextMarshaler].
func (r Rounding) MarshalText() ([]byte, error) { return roundings.Marshal(uint8(r)) }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (r *Rounding) UnmarshalText(text []byte) error { return op.UnmarshalEnum(roundings, text, r) }

// A placement says how the elements of an axis of the input become those of the
// output.
type placement struct {
	Mode
	Coordinates
	Rounding
	a                  float64
	exclude, antialias bool
	in, out            int     // elements
	num, den           float64 // the scale is num/den: places are exact where both are integers
	length             float64 // of the output, as the scale has it
	start, end         float64 // the region
}

// place returns where element i of the output lies in the input.
func (p *placement) place(i int) float64 {
	x, n := float64(i), float64(p.in)
	switch p.Coordinates {
	case HalfPixelSymmetric:
		return float64(n/2*(1-float64(p.out)/p.length)) + p.unscaled(x+0.5) - 0.5
	case PytorchHalfPixel:
		if p.out == 1 {
			return 0
		}
	case AlignCorners:
		if p.length == 1 {
			return 0
		}
		return x * (n - 1) / (p.length - 1)
	case Asymmetric:
		return p.unscaled(x)
	case HalfPixelNearest:
		return p.unscaled(x + 0.5)
	case CropAndResize:
		if p.out == 1 {
			return (p.start + p.end) * (n - 1) / 2
		}
		return float64(p.start*(n-1)) + x*(p.end-p.start)*(n-1)/(p.length-1)
	}
	return p.unscaled(x+0.5) - 0.5
}

// unscaled returns x divided by the scale.
func (p *placement) unscaled(x float64) float64 { return x * p.den / p.num }

// outside reports whether a place is outside the input, for CropAndResize.
func (p *placement) outside(x float64) bool {
	x = asFloat32(x)
	return p.Coordinates == CropAndResize && !(x >= 0 && x <= float64(p.in-1))
}

// nearest returns the element nearest to a place.
func (p *placement) nearest(x float64) int {
	x = asFloat32(x)
	switch p.Rounding {
	case PreferFloor:
		x = math.Ceil(x - 0.5)
	case PreferCeil:
		x = math.Floor(x + 0.5)
	case Ceil:
		x = math.Ceil(x)
	case FloorOrCeil:
		if p.num < p.den {
			x = math.Ceil(x)
		}
	}
	return p.inside(math.Floor(x))
}

// asFloat32 rounds a place as far as it is known: scales and regions are float32,
// so that 3/0.6 is a little less than 5.
func asFloat32(x float64) float64 { return float64(float32(x)) }

// inside returns the element of the input that is nearest to element x, which may
// lie outside.
func (p *placement) inside(x float64) int { return int(min(max(x, 0), float64(p.in-1))) }

// stretch is what the distance to an element is multiplied by: with antialiasing,
// elements of a smaller output cover more of the input.
func (p *placement) stretch() float64 {
	if p.antialias {
		return min(p.num/p.den, 1)
	}
	return 1
}

// reach returns how far from a place elements count.
func (p *placement) reach() float64 {
	return []float64{Nearest: 0, Linear: 1, Cubic: 2}[p.Mode] / p.stretch()
}

// weight returns what an element counts at a distance, before the weights of all are
// divided by their sum.
func (p *placement) weight(distance float64) float64 {
	d := float64(math.Abs(distance) * p.stretch()) // not fused with what follows
	switch {
	case p.Mode == Linear:
		return max(1-d, 0)
	case d <= 1:
		return float64((float64((p.a+2)*d)-(p.a+3))*d*d) + 1
	case d < 2:
		return float64((float64((float64(p.a*d)-float64(5*p.a))*d)+float64(8*p.a))*d) - float64(4*p.a)
	}
	return 0
}

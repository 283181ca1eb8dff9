package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth/internal/wire"
)

// A tolerance is how far floating-point numbers may be from those wanted: so many
// epsilons of the element type, times the magnitude of the element wanted or, of sums,
// that of the largest finite one in the output. Integers may differ by so many steps.
// Everything else is to be the same, and NaN is NaN.
type tolerance struct {
	epsilons float64
	sums     bool
	steps    float64
}

var (
	exact       = tolerance{}
	elementwise = tolerance{epsilons: 16}
	sums        = tolerance{epsilons: 64, sums: true}
	rough       = tolerance{epsilons: 1024, sums: true}
	step        = tolerance{epsilons: 64, sums: true, steps: 1}
)

// differ returns what kind of difference there is between an output and the one wanted,
// and the first element that shows it; "" where there is none.
func differ(tol tolerance, got, want *wire.Tensor) (kind, detail string) {
	switch {
	case got == nil:
		return "output", "Berth has none"
	case got.DataType != want.DataType:
		return "type", fmt.Sprintf("%v, ONNX Runtime %v", got.DataType, want.DataType)
	case !slices.Equal(got.Dims, want.Dims):
		return "shape", fmt.Sprintf("%v, ONNX Runtime %v", got.Dims, want.Dims)
	case want.DataType == wire.String:
		for i := range want.StringData {
			if !bytes.Equal(got.StringData[i], want.StringData[i]) {
				return "values", fmt.Sprintf("element %d is %q, ONNX Runtime has %q", i, got.StringData[i], want.StringData[i])
			}
		}
		return "", ""
	}
	n, t := elements(want), want.DataType
	largest := 0.
	for i := range n {
		if x := math.Abs(element(want.Raw, t, i)); x <= math.MaxFloat64 {
			largest = max(largest, x)
		}
	}
	size := t.Bits() / 8
	for i := range n {
		x, y := element(got.Raw, t, i), element(want.Raw, t, i)
		var same bool
		switch {
		case !isFloat(t):
			same = bytes.Equal(got.Raw[i*size:(i+1)*size], want.Raw[i*size:(i+1)*size]) || tol.steps > 0 && math.Abs(x-y) <= tol.steps
		case math.IsNaN(x) || math.IsNaN(y):
			same = math.IsNaN(x) && math.IsNaN(y)
		default:
			magnitude := math.Abs(y)
			if tol.sums {
				magnitude = largest
			}
			same = x == y || math.Abs(x-y) <= tol.epsilons*epsilon(t)*magnitude+smallest(t)
		}
		if !same {
			return kindOf(t, x, y, largest), fmt.Sprintf("element %d is %.9g, ONNX Runtime has %.9g", i, x, y)
		}
	}
	return "", ""
}

// kindOf returns what kind of difference two numbers show: "single" where numbers of
// double precision agree as far as single precision does, "absolute" where the difference
// is small beside 1 or the largest element, though not beside the number, "NaN" where one
// is no number, "step" where integers differ by 1, or "values".
func kindOf(t wire.DataType, x, y, largest float64) string {
	d := math.Abs(x - y)
	switch {
	case !isFloat(t) && d == 1:
		return "step"
	case !isFloat(t):
		return "values"
	case math.IsNaN(x) || math.IsNaN(y):
		return "NaN"
	case d <= 16*epsilon(t)*max(1, largest):
		return "absolute"
	case t == wire.Double && d <= 64*epsilon(wire.Float)*max(1, math.Abs(y)):
		return "single"
	}
	return "values"
}

// smallest returns the smallest normal number of a type, below which no relative
// precision is asked for.
func smallest(t wire.DataType) float64 {
	switch t {
	case wire.Float16:
		return 0x1p-14 * 0x1p-8
	case wire.Double:
		return 0x1p-1022
	}
	return 0x1p-126
}

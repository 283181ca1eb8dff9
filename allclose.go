package berth

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth/dtype"
)

// Equal reports whether two tensors have the same element type, the same shape
// and the same elements to the last bit, wherever these lie in memory. A NaN is
// thus equal to the same NaN, and 0 is not equal to -0. A tensor that holds
// nothing is equal to none.
func Equal(a, b *Tensor) bool {
	return a.usable() == nil && b.usable() == nil && a.dtype == b.dtype && a.layout.Shape.Equal(b.layout.Shape) && bytes.Equal(a.bytes(), b.bytes())
}

// Close returns nil if got is want within a tolerance: they have the same
// element type and the same shape, and each element differs from the wanted
// one by at most atol + rtol times the magnitude of that. Infinities equal
// themselves alone, NaN equals NaN, and integers and bools must be the same.
// Otherwise the error counts the elements that differ and names the first of
// them by its index. It is meant for tests.
func Close(got, want *Tensor, rtol, atol float64) error {
	for _, t := range []*Tensor{got, want} {
		if err := t.usable(); err != nil {
			return err
		}
	}
	if got.dtype != want.dtype || !slices.Equal(got.layout.Shape, want.layout.Shape) {
		return fmt.Errorf("berth: got %s, want %s", got.describe(), want.describe())
	}
	switch got.dtype {
	case Float64:
		return closeFloats(got, want, rtol, atol, func(v float64) float64 { return v })
	case Float32:
		return closeFloats(got, want, rtol, atol, func(v float32) float64 { return float64(v) })
	case Float16:
		return closeFloats(got, want, rtol, atol, func(v dtype.F16) float64 { return float64(v.Float32()) })
	case BFloat16:
		return closeFloats(got, want, rtol, atol, func(v dtype.BF16) float64 { return float64(v.Float32()) })
	case Int64:
		return same[int64](got, want)
	case Int32:
		return same[int32](got, want)
	case Int16:
		return same[int16](got, want)
	case Int8:
		return same[int8](got, want)
	case Uint64:
		return same[uint64](got, want)
	case Uint32:
		return same[uint32](got, want)
	case Uint16:
		return same[uint16](got, want)
	case Uint8:
		return same[uint8](got, want)
	case Bool:
		return same[bool](got, want)
	}
	panic("berth: no comparison of " + got.dtype.String())
}

func closeFloats[T Element](got, want *Tensor, rtol, atol float64, value func(T) float64) error {
	return firstDifference(got, want, func(g, w T) bool {
		a, b := value(g), value(w)
		if a == b || math.IsNaN(a) || math.IsNaN(b) || math.IsInf(a, 0) || math.IsInf(b, 0) {
			return a == b || math.IsNaN(a) && math.IsNaN(b)
		}
		return math.Abs(a-b) <= atol+rtol*math.Abs(b)
	}, func(v T) any { return value(v) })
}

func same[T interface {
	Element
	comparable
}](got, want *Tensor) error {
	return firstDifference(got, want, func(g, w T) bool { return g == w }, func(v T) any { return v })
}

// firstDifference compares elements in row-major order; printed is what a
// message shows of one.
func firstDifference[T Element](got, want *Tensor, close func(g, w T) bool, printed func(T) any) error {
	g, err := Data[T](got)
	if err != nil {
		return err
	}
	w, err := Data[T](want)
	if err != nil {
		return err
	}
	wrong, first := 0, 0
	for i := range w {
		if !close(g[i], w[i]) {
			if wrong++; wrong == 1 {
				first = i
			}
		}
	}
	if wrong == 0 {
		return nil
	}
	index := make([]int, want.Rank())
	for axis, rest := len(index)-1, first; axis >= 0; axis-- {
		index[axis] = rest % want.layout.Shape[axis]
		rest /= want.layout.Shape[axis]
	}
	return fmt.Errorf("berth: %d of %d elements of %s differ; the one at %v is %v, want %v",
		wrong, len(w), want.describe(), index, printed(g[first]), printed(w[first]))
}

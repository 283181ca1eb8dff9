package berth

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/kernel"
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
	if err := alike(got, want); err != nil {
		return err
	}
	g, w, size := got.bytes(), want.bytes(), want.dtype.Size()
	wrong, first := 0, 0
	for i := range want.Len() {
		if !bytes.Equal(g[i*size:][:size], w[i*size:][:size]) && !near(kernel.ScalarAt(got.dtype, g, i), kernel.ScalarAt(want.dtype, w, i), rtol, atol) {
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
	return fmt.Errorf("berth: %d of %d elements of %s differ; the one at %v is %v, want %v", wrong, want.Len(), want.describe(), index,
		goValue(kernel.ScalarAt(got.dtype, g, first)), goValue(kernel.ScalarAt(want.dtype, w, first)))
}

// A Difference says how far the elements of a tensor are from those wanted.
type Difference struct {
	// Abs is the largest distance of an element from the wanted one. It is +Inf
	// where one of the two is NaN or infinite and the other is not the same.
	Abs float64
	// Rel is the largest distance in proportion to the magnitude of the wanted
	// element, among those that are not 0.
	Rel float64
	// Largest is the largest magnitude among the wanted elements that are finite.
	Largest float64
}

// Differ returns how far got is from want, which must have the same element type
// and shape.
func Differ(got, want *Tensor) (Difference, error) {
	var d Difference
	if err := alike(got, want); err != nil {
		return d, err
	}
	g, w := got.bytes(), want.bytes()
	for i := range want.Len() {
		a, b := kernel.ScalarAt(got.dtype, g, i), kernel.ScalarAt(want.dtype, w, i)
		wanted := math.Abs(b.Float64())
		if wanted <= math.MaxFloat64 {
			d.Largest = max(d.Largest, wanted)
		}
		if a == b || near(a, b, 0, 0) {
			continue
		}
		distance := math.Abs(a.Float64() - b.Float64())
		switch {
		case math.IsNaN(distance):
			distance = math.Inf(1)
		case !a.DType.Wide().IsFloat():
			distance = max(distance, 1) // wide integers may be the same as float64
		}
		d.Abs = max(d.Abs, distance)
		if wanted > 0 {
			d.Rel = max(d.Rel, distance/min(wanted, math.MaxFloat64))
		}
	}
	return d, nil
}

// alike returns an error unless both tensors hold something, of one type and
// shape.
func alike(got, want *Tensor) error {
	for _, t := range []*Tensor{got, want} {
		if err := t.usable(); err != nil {
			return err
		}
	}
	if got.dtype != want.dtype || !slices.Equal(got.layout.Shape, want.layout.Shape) {
		return fmt.Errorf("berth: got %s, want %s", got.describe(), want.describe())
	}
	return nil
}

// near reports whether two elements that differ in their bits are the same number
// within a tolerance, or both NaN.
func near(got, want kernel.Scalar, rtol, atol float64) bool {
	if !want.DType.Wide().IsFloat() {
		// Some bits of a byte do not count where an element has fewer.
		return want.DType.IsLowPrecision() && got.Int64() == want.Int64()
	}
	a, b := got.Float64(), want.Float64()
	if a == b || math.IsNaN(a) || math.IsNaN(b) || math.IsInf(a, 0) || math.IsInf(b, 0) {
		return a == b || math.IsNaN(a) && math.IsNaN(b)
	}
	return math.Abs(a-b) <= atol+rtol*math.Abs(b)
}

// goValue returns an element as a value that prints as its number or truth value.
func goValue(s kernel.Scalar) any {
	switch s.DType.Wide().Kind() {
	case dtype.KindFloat:
		return s.Float64()
	case dtype.KindInt:
		return s.Int64()
	case dtype.KindBool:
		return s.Bits != 0
	}
	return uint64(s.Int64())
}

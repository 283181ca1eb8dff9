package conformance

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/bridge"
)

// A Tolerance is how far an element may be from the wanted one: Abs, plus Rel
// times the magnitude of that, plus Largest times the largest finite magnitude
// that is wanted of its tensor.
type Tolerance struct{ Rel, Abs, Largest float64 }

// Upstream is the tolerance of the ONNX backend tests, and Network the one for
// whole networks. Rounding errors of a network are in proportion to the sums in
// it, and not to an element of the output in which these cancel; the largest
// element stands for the sums. With products summed in float64, the outputs
// stored beside mobilenet_v2 are off by 4.3e-6 of the largest, and those of every
// instruction set by as much, so that two right engines differ by up to 1e-5.
var (
	Upstream = Tolerance{Rel: 1e-3, Abs: 1e-7}
	Network  = Tolerance{Rel: 1e-3, Largest: 1e-5}
)

// Differ returns how got differs from want: in element type, in shape or in
// elements outside of the tolerance. NaN equals NaN, an infinity only itself,
// and integers must be the same.
func (tol Tolerance) Differ(got, want *berth.Tensor) error {
	if got == nil || want == nil {
		return fmt.Errorf("got %v, want %v: one is missing", got, want)
	}
	if got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
		return fmt.Errorf("got %v%v, want %v%v", got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	switch got.DType() {
	case dtype.Float64:
		return differFloats(tol, got, want, func(v float64) float64 { return v })
	case dtype.Float32:
		return differFloats(tol, got, want, func(v float32) float64 { return float64(v) })
	case dtype.Float16:
		return differFloats(tol, got, want, func(v dtype.F16) float64 { return float64(v.Float32()) })
	case dtype.BFloat16:
		return differFloats(tol, got, want, func(v dtype.BF16) float64 { return float64(v.Float32()) })
	case dtype.Int64:
		return differExactly[int64](got, want)
	case dtype.Int32:
		return differExactly[int32](got, want)
	case dtype.Int16:
		return differExactly[int16](got, want)
	case dtype.Int8:
		return differExactly[int8](got, want)
	case dtype.Uint64:
		return differExactly[uint64](got, want)
	case dtype.Uint32:
		return differExactly[uint32](got, want)
	case dtype.Uint16:
		return differExactly[uint16](got, want)
	case dtype.Uint8:
		return differExactly[uint8](got, want)
	case dtype.Bool:
		return differExactly[bool](got, want)
	}
	return fmt.Errorf("element type %v cannot be compared", got.DType())
}

func differFloats[T berth.Element](tol Tolerance, got, want *berth.Tensor, value func(T) float64) error {
	all, err := berth.Data[T](want)
	if err != nil {
		return err
	}
	abs := tol.Abs
	for _, w := range all {
		if v := math.Abs(value(w)); v <= math.MaxFloat64 {
			abs = max(abs, tol.Abs+tol.Largest*v)
		}
	}
	return differBy(got, want, func(g, w T) bool {
		a, b := value(g), value(w)
		if math.IsNaN(b) || math.IsInf(b, 0) || math.IsInf(a, 0) {
			return a == b || math.IsNaN(a) && math.IsNaN(b)
		}
		return math.Abs(a-b) <= abs+tol.Rel*math.Abs(b)
	})
}

func differExactly[T interface {
	berth.Element
	comparable
}](got, want *berth.Tensor) error {
	return differBy(got, want, func(g, w T) bool { return g == w })
}

func differBy[T berth.Element](got, want *berth.Tensor, same func(g, w T) bool) error {
	g, err := berth.Data[T](got)
	if err != nil {
		return err
	}
	w, err := berth.Data[T](want)
	if err != nil {
		return err
	}
	wrong, first := 0, 0
	for i := range w {
		if !same(g[i], w[i]) {
			if wrong++; wrong == 1 {
				first = i
			}
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d elements of %v%v differ; element %d is %v, want %v",
			wrong, len(w), want.DType(), want.Shape(), first, g[first], w[first])
	}
	return nil
}

// Identical returns how got differs from want in element type, in shape or in
// any bit of an element.
func Identical(got, want *berth.Tensor) error {
	if err := (Tolerance{}).Differ(got, want); err != nil {
		return err
	}
	g, w, size := rowMajor(got), rowMajor(want), want.DType().Size()
	for i := 0; i < len(w); i += size {
		if a, b := g[i:i+size], w[i:i+size]; !bytes.Equal(a, b) {
			return fmt.Errorf("element %d of %v%v has the bytes %x, want %x", i/size, want.DType(), want.Shape(), a, b)
		}
	}
	return nil
}

// inside reaches the storage of tensors.
var inside = bridge.Berth[berth.Tensor, berth.Promise, berth.Program, berth.CompileOptions]()

// rowMajor returns the bytes of the elements of t.
func rowMajor(t *berth.Tensor) []byte {
	leaf, size := inside.Leaf(t.Contiguous()), t.DType().Size()
	return leaf.Data[leaf.Layout.Offset*size:][:t.Len()*size]
}

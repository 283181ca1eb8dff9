package onnx

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
)

// tolerance is how far an element may be from the wanted one: atol plus rtol
// times its magnitude.
type tolerance struct{ rtol, atol float64 }

// differ returns how got differs from want: in element type, in shape or in
// elements outside of the tolerance. NaN equals NaN, an infinity only itself,
// and integers must be the same.
func (tol tolerance) differ(got, want *berth.Tensor) error {
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

func differFloats[T berth.Element](tol tolerance, got, want *berth.Tensor, value func(T) float64) error {
	return differBy(got, want, func(g, w T) bool {
		a, b := value(g), value(w)
		if math.IsNaN(b) || math.IsInf(b, 0) || math.IsInf(a, 0) {
			return a == b || math.IsNaN(a) && math.IsNaN(b)
		}
		return math.Abs(a-b) <= tol.atol+tol.rtol*math.Abs(b)
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

// shared returns the path of test data beside the project, and skips the test
// where it is absent.
func shared(t testing.TB, elem ...string) string {
	t.Helper()
	dir := filepath.Join(append([]string{"..", "..", "shared"}, elem...)...)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the test data is not there: %v", err)
	}
	return dir
}

// readTensors reads the files prefix_0.pb, prefix_1.pb and so on of a
// directory. The name of each tensor is in the file.
func readTensors(dir, prefix string) (names []string, tensors []*berth.Tensor, err error) {
	for i := 0; ; i++ {
		data, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%s_%d.pb", prefix, i)))
		if os.IsNotExist(err) {
			return names, tensors, nil
		}
		if err != nil {
			return nil, nil, err
		}
		name, tensor, err := ReadTensor(data)
		if err != nil {
			return nil, nil, fmt.Errorf("%s_%d.pb: %w", prefix, i, err)
		}
		names, tensors = append(names, name), append(tensors, tensor)
	}
}

// Package conformance runs ONNX backend tests: folders with a model and data
// sets of inputs and the outputs that the model must give for them.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/onnx"
)

// Upstream is the tolerance of the ONNX backend tests.
var Upstream = Tolerance{Rel: 1e-3, Abs: 1e-7}

// Run runs the model in a folder with each of its data sets and returns how
// the first output differs that does. If [Skipped] says so of the error, the
// test uses what Berth does not have.
func Run(ctx context.Context, dir string, tol Tolerance, opt berth.RunOptions) error {
	m, err := onnx.LoadFile(filepath.Join(dir, "model.onnx"))
	if err != nil {
		return err
	}
	for _, v := range slices.Concat(m.Inputs(), m.Outputs()) {
		if !v.DType.Valid() {
			return fmt.Errorf("%v: %w", v, onnx.ErrType)
		}
	}
	sets, err := filepath.Glob(filepath.Join(dir, "test_data_set_*"))
	if err != nil {
		return err
	}
	if len(sets) == 0 {
		return fmt.Errorf("%s has no test_data_set_*", dir)
	}
	for _, set := range sets {
		if err := runSet(ctx, m, set, tol, opt); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(set), err)
		}
	}
	return nil
}

// ReadSet reads the inputs of a data set, by the names that the model gives
// them, and the outputs in order. Tensors are matched by position: some files
// leave the names out.
func ReadSet(m *onnx.Model, set string) (inputs map[string]*berth.Tensor, outputs []*berth.Tensor, err error) {
	_, list, err := ReadTensors(set, "input")
	if err != nil {
		return nil, nil, err
	}
	if _, outputs, err = ReadTensors(set, "output"); err != nil {
		return nil, nil, err
	}
	declared := m.Inputs()
	if len(list) > len(declared) {
		return nil, nil, fmt.Errorf("%d inputs are stored, the model has %d", len(list), len(declared))
	}
	inputs = make(map[string]*berth.Tensor)
	for i, t := range list {
		inputs[declared[i].Name] = t
	}
	return inputs, outputs, nil
}

func runSet(ctx context.Context, m *onnx.Model, set string, tol Tolerance, opt berth.RunOptions) error {
	inputs, want, err := ReadSet(m, set)
	if err != nil {
		return err
	}
	if len(want) != len(m.Outputs()) {
		return fmt.Errorf("%d outputs are stored, the model has %d", len(want), len(m.Outputs()))
	}
	got, err := m.RunWith(ctx, opt, inputs)
	if err != nil {
		return err
	}
	for i, v := range m.Outputs() {
		if err := tol.Differ(got[v.Name], want[i]); err != nil {
			return fmt.Errorf("output %d %q: %w", i, v.Name, err)
		}
	}
	return nil
}

// Skipped reports whether err says nothing but that Berth does not have an
// operator or a type.
func Skipped(err error) bool {
	if err == nil {
		return false
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(joined.Unwrap(), func(err error) bool { return !Skipped(err) })
	}
	if inner := errors.Unwrap(err); inner != nil {
		return Skipped(inner)
	}
	return err == onnx.ErrUnsupported || err == onnx.ErrType
}

// A Tolerance is how far an element may be from the wanted one: Abs plus
// Rel times the magnitude of that.
type Tolerance struct{ Rel, Abs float64 }

// Differ returns how got differs from want: in element type, in shape or in
// elements outside of the tolerance. NaN equals NaN, an infinity only itself,
// and integers must be the same.
func (tol Tolerance) Differ(got, want *berth.Tensor) error {
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
	return differBy(got, want, func(g, w T) bool {
		a, b := value(g), value(w)
		if math.IsNaN(b) || math.IsInf(b, 0) || math.IsInf(a, 0) {
			return a == b || math.IsNaN(a) && math.IsNaN(b)
		}
		return math.Abs(a-b) <= tol.Abs+tol.Rel*math.Abs(b)
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

// ReadTensors reads the files prefix_0.pb, prefix_1.pb and so on of a
// directory. The name of each tensor is in the file.
func ReadTensors(dir, prefix string) (names []string, tensors []*berth.Tensor, err error) {
	for i := 0; ; i++ {
		data, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%s_%d.pb", prefix, i)))
		if os.IsNotExist(err) {
			return names, tensors, nil
		}
		if err != nil {
			return nil, nil, err
		}
		name, tensor, err := onnx.ReadTensor(data)
		if err != nil {
			return nil, nil, fmt.Errorf("%s_%d.pb: %w", prefix, i, err)
		}
		names, tensors = append(names, name), append(tensors, tensor)
	}
}

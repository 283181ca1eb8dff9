package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/onnx"
)

// ReadInputs reads the inputs of a data set, values of any kind, by the names that the
// model gives them. Files are matched by position.
func ReadInputs(m *onnx.Model, set string) (map[string]onnx.Value, error) {
	stored, err := readFiles(set, "input")
	if err != nil {
		return nil, err
	}
	declared := m.Inputs()
	if len(stored) > len(declared) {
		return nil, fmt.Errorf("%d inputs are stored, the model has %d", len(stored), len(declared))
	}
	inputs := make(map[string]onnx.Value)
	for i, data := range stored { // optional inputs that are left out are the last
		name := declared[i].Name
		if inputs[name], err = m.ReadInput(name, data); err != nil {
			return nil, fmt.Errorf("input_%d.pb: %w", i, err)
		}
	}
	return inputs, nil
}

// ReadValues reads a data set like [ReadSet], of values of any kind.
func ReadValues(m *onnx.Model, set string) (inputs map[string]onnx.Value, outputs []onnx.Value, err error) {
	if inputs, err = ReadInputs(m, set); err != nil {
		return nil, nil, err
	}
	stored, err := readFiles(set, "output")
	if err != nil {
		return nil, nil, err
	}
	declared := m.Outputs()
	if len(stored) != len(declared) {
		return nil, nil, fmt.Errorf("%d outputs are stored, the model has %d", len(stored), len(declared))
	}
	outputs = make([]onnx.Value, len(stored))
	for i, data := range stored {
		if outputs[i], err = m.ReadOutput(declared[i].Name, data); err != nil {
			return nil, nil, fmt.Errorf("output_%d.pb: %w", i, err)
		}
	}
	return inputs, outputs, nil
}

// readFiles returns the contents of the files prefix_0.pb, prefix_1.pb and so on of a
// directory, up to the first that is not there.
func readFiles(dir, prefix string) ([][]byte, error) {
	var list [][]byte
	for {
		data, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%s_%d.pb", prefix, len(list))))
		if os.IsNotExist(err) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, data)
	}
}

// DifferValues is [DifferAll] for values of any kind.
func DifferValues(m *onnx.Model, tol Tolerance, got map[string]onnx.Value, want []onnx.Value) error {
	_, err := compare(m, tol, got, want)
	return err
}

// compare returns an error about the outputs of m, by name, that differ too much from
// those wanted, in order, and how far all of them are from these.
func compare(m *onnx.Model, tol Tolerance, got map[string]onnx.Value, want []onnx.Value) (all berth.Difference, err error) {
	outputs := m.Outputs()
	if len(want) != len(outputs) {
		return all, fmt.Errorf("%d outputs are stored, the model has %d", len(want), len(outputs))
	}
	var errs []error
	for i, v := range outputs {
		d, err := differ(tol, got[v.Name], want[i])
		all = larger(all, d)
		if err != nil {
			errs = append(errs, differing{fmt.Errorf("output %d %q: %w", i, v.Name, err)})
		}
	}
	return all, errors.Join(errs...)
}

// differ returns how far a value is from the one wanted, and an error if that is too far.
func differ(tol Tolerance, got, want onnx.Value) (d berth.Difference, err error) {
	switch want := want.(type) {
	case *onnx.Array:
		if got, ok := got.(*onnx.Array); ok {
			return differArrays(tol, got, want)
		}
	case onnx.Sequence:
		got, ok := got.(onnx.Sequence)
		if !ok || len(got) != len(want) {
			break
		}
		for i := range want {
			item, err := differ(tol, got[i], want[i])
			d = larger(d, item)
			if err != nil {
				return d, fmt.Errorf("item %d: %w", i, err)
			}
		}
		return d, nil
	case *onnx.Map:
		got, ok := got.(*onnx.Map)
		if !ok {
			break
		}
		if d, err = differArrays(tol, got.Keys, want.Keys); err != nil {
			return d, fmt.Errorf("keys: %w", err)
		}
		if d, err = differArrays(tol, got.Values, want.Values); err != nil {
			return d, fmt.Errorf("values: %w", err)
		}
		return d, nil
	case nil:
		if got == nil {
			return d, nil
		}
	}
	return d, fmt.Errorf("is %s, want %s", onnx.TypeOf(got), onnx.TypeOf(want))
}

func differArrays(tol Tolerance, got, want *onnx.Array) (d berth.Difference, err error) {
	if text, err := want.Strings(); err == nil {
		have, err := got.Strings()
		if err != nil || !slices.Equal(got.Shape(), want.Shape()) {
			return d, fmt.Errorf("is %s, want %s", got.Type(), want.Type())
		}
		for i := range text {
			if have[i] != text[i] {
				return d, fmt.Errorf("element %d is %q, want %q", i, have[i], text[i])
			}
		}
		return d, nil
	}
	a, err := got.Tensor()
	if err != nil {
		return d, err
	}
	b, err := want.Tensor()
	if err != nil {
		return d, err
	}
	if d, err = berth.Differ(a, b); err != nil {
		return d, err
	}
	abs := tol.abs(d.Largest)
	if err = berth.Close(a, b, tol.Rel, abs); err != nil {
		err = fmt.Errorf("%w; the largest difference is %.3g, or %.3g of the wanted element, with magnitudes up to %.3g; rtol %.3g and atol %.3g admit less",
			err, d.Abs, d.Rel, d.Largest, tol.Rel, abs)
	}
	return d, err
}

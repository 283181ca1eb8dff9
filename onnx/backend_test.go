package onnx

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth"
)

// upstream is the tolerance of the ONNX backend tests.
var upstream = tolerance{rtol: 1e-3, atol: 1e-7}

// TestBackend runs the ONNX backend tests: every folder is a model with inputs
// and the outputs that it must give. Models with operators or element types
// that Berth does not have are skipped.
func TestBackend(t *testing.T) {
	root := shared(t, "onnx-backend")
	tally := make(tally)
	for _, suite := range []string{"node", "pytorch-operator", "pytorch-converted", "simple"} {
		folders, err := os.ReadDir(filepath.Join(root, suite))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range folders {
			t.Run(suite+"/"+strings.TrimPrefix(f.Name(), "test_"), func(t *testing.T) {
				ops, err := runFolder(t.Context(), filepath.Join(root, suite, f.Name()), upstream)
				tally.add(ops, err)
				switch {
				case skips(err):
					t.Skip(err)
				case err != nil:
					t.Error(err)
				}
			})
		}
	}
	t.Log(tally)
}

// runFolder runs the model in a folder with each of its data sets. It returns
// the operators of the model as well.
func runFolder(ctx context.Context, dir string, tol tolerance) (ops []string, err error) {
	m, err := LoadFile(filepath.Join(dir, "model.onnx"))
	if err != nil {
		return nil, err
	}
	ops = sortedKeys(m.Info().Ops)
	for _, v := range slices.Concat(m.Inputs(), m.Outputs()) {
		if !v.DType.Valid() {
			return ops, fmt.Errorf("%v: %w", v, ErrType)
		}
	}
	sets, err := filepath.Glob(filepath.Join(dir, "test_data_set_*"))
	if err != nil || len(sets) == 0 {
		return ops, fmt.Errorf("%s has no test_data_set_*: %w", dir, err)
	}
	for _, set := range sets {
		if err := runSet(ctx, m, set, tol); err != nil {
			return ops, fmt.Errorf("%s: %w", filepath.Base(set), err)
		}
	}
	return ops, nil
}

// runSet runs m with the inputs of one data set and compares the outputs.
// Tensors are matched by position: some files leave the names out.
func runSet(ctx context.Context, m *Model, set string, tol tolerance) error {
	_, inputs, err := readTensors(set, "input")
	if err != nil {
		return err
	}
	_, outputs, err := readTensors(set, "output")
	if err != nil {
		return err
	}
	declared := m.Inputs()
	if len(inputs) > len(declared) || len(outputs) != len(m.Outputs()) {
		return fmt.Errorf("%d inputs and %d outputs are stored, the model has %v and %v", len(inputs), len(outputs), declared, m.Outputs())
	}
	in := make(map[string]*berth.Tensor)
	for i, v := range inputs {
		in[declared[i].Name] = v
	}
	got, err := m.Run(ctx, in)
	if err != nil {
		return err
	}
	for i, v := range m.Outputs() {
		if err := tol.differ(got[v.Name], outputs[i]); err != nil {
			return fmt.Errorf("output %d %q: %w", i, v.Name, err)
		}
	}
	return nil
}

// skips reports whether err says nothing but that Berth does not have an
// operator or a type.
func skips(err error) bool {
	if err == nil {
		return false
	}
	if wrapped, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(wrapped.Unwrap(), func(err error) bool { return !skips(err) })
	}
	if inner := errors.Unwrap(err); inner != nil {
		return skips(inner)
	}
	return err == ErrUnsupported || err == ErrType
}

// A tally counts how the tests of each operator ended.
type tally map[string]*struct{ passed, failed int }

func (t tally) add(ops []string, err error) {
	if skips(err) {
		return
	}
	for _, o := range ops {
		n := t[o]
		if n == nil {
			n = new(struct{ passed, failed int })
			t[o] = n
		}
		if err == nil {
			n.passed++
		} else {
			n.failed++
		}
	}
}

// String prints a line for each operator.
func (t tally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "models that use each of %d operators: passed, failed\n", len(t))
	for _, o := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(&b, "%-28s %4d %4d\n", o, t[o].passed, t[o].failed)
	}
	return b.String()
}

package onnx_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/conformance"
	"github.com/berth-go/berth/onnx"
)

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

// TestBackend runs the ONNX backend tests: every folder is a model with inputs
// and the outputs that it must give, first step by step and then as a compiled
// program. Models with operators or element types that Berth does not have are
// skipped.
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
				dir := filepath.Join(root, suite, f.Name())
				if why := conformance.Unmet(dir); why != "" {
					t.Skip(why)
				}
				m, err := conformance.Load(dir)
				if conformance.Skipped(err) {
					t.Skip(err)
				}
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				err = backendFolder(t, m, dir)
				if conformance.Skipped(err) {
					t.Skip(err)
				}
				if err != nil {
					t.Error(err)
				}
				tally.add(m, err)
			})
		}
	}
	t.Log(tally)
}

// backendFolder runs m with each data set of its folder, and holds a program
// for the same shapes to the same bits. Whatever runs must compile.
func backendFolder(t *testing.T, m *onnx.Model, dir string) error {
	sets, err := conformance.Sets(dir)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(slices.Concat(m.Inputs(), m.Outputs()), func(v onnx.ValueInfo) bool { return !v.DType.Valid() }) {
		_, err := conformance.Run(t.Context(), dir, conformance.Upstream, berth.RunOptions{})
		return err // there is no program with values that are no tensors of numbers
	}
	for _, set := range sets {
		inputs, want, err := conformance.ReadSet(m, set)
		if err != nil {
			return err
		}
		got, err := m.Run(t.Context(), inputs)
		if err != nil {
			return err
		}
		if err := conformance.DifferAll(m, conformance.Upstream, got, want); err != nil {
			return err
		}
		p, err := compilePinned(t, m, inputs)
		if errors.Is(err, onnx.ErrHost) {
			return nil // there is no single program of the model
		}
		if err != nil {
			return fmt.Errorf("as a program: %v", err)
		}
		for name, x := range runProgram(t, p, inputs, 1) {
			if err := identical(x, got[name]); err != nil {
				return fmt.Errorf("as a program: output %q: %w", name, err)
			}
		}
	}
	return nil
}

// compilePinned compiles m for the shapes of inputs. Where a shape depends on
// data it pins all inputs but the first, or else all, to theirs.
func compilePinned(t *testing.T, m *onnx.Model, inputs map[string]*berth.Tensor) (*berth.Program, error) {
	opt := conformance.Fixed(inputs)
	p, err := m.Compile(t.Context(), opt)
	for first := 1; first >= 0 && (errors.Is(err, onnx.ErrNeedsData) || errors.Is(err, onnx.ErrHost)); first-- {
		opt.Values = make(map[string]*berth.Tensor)
		for i, v := range m.Inputs() {
			if x := inputs[v.Name]; x != nil && i >= first {
				opt.Values[v.Name] = x
			}
		}
		p, err = m.Compile(t.Context(), opt)
	}
	return p, err
}

// A tally counts how the models that use each operator ended.
type tally map[string]*struct{ passed, failed int }

func (t tally) add(m *onnx.Model, err error) {
	for o := range m.Info().Ops {
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

// Package conformance runs ONNX backend tests: folders with a model and data
// sets of inputs and the outputs that the model must give for them.
//
// [Run] is the whole test of a folder, as a command needs it. The steps it
// consists of are there for tests that do more with a model: compile it, or
// feed it its own results.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/onnx"
)

// A Tolerance is how far an element may be from the wanted one: Rel times the
// magnitude of that, plus Abs, or plus Scale times the largest magnitude in the
// output if that is more.
type Tolerance struct{ Rel, Abs, Scale float64 }

// Upstream is the tolerance of the ONNX backend tests, and Network the one for
// whole networks: rounding errors of a network are in proportion to the sums in
// it, and not to an element of the output in which these cancel.
var (
	Upstream = Tolerance{Rel: 1e-3, Abs: 1e-7}
	Network  = Tolerance{Rel: 1e-3, Abs: 1e-7, Scale: 1e-5}
)

// abs returns what an element may differ beside Rel, in an output with elements up
// to largest.
func (tol Tolerance) abs(largest float64) float64 { return max(tol.Abs, tol.Scale*largest) }

// Run runs the model in a folder with each of its data sets, up to the first
// with an output that differs too much. It returns how far outputs were from those
// wanted, and the error about what differs. If [Skipped] says so of the error, the
// test uses what Berth does not have.
func Run(ctx context.Context, dir string, tol Tolerance, opt berth.RunOptions) (d berth.Difference, err error) {
	m, err := Load(dir)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	sets, err := Sets(dir)
	if err != nil {
		return d, err
	}
	for _, set := range sets {
		in, err := runSet(ctx, m, set, tol, opt)
		d = larger(d, in)
		if err != nil {
			return d, fmt.Errorf("%s: %w", filepath.Base(set), err)
		}
	}
	return d, nil
}

// larger returns the larger of each number of two differences.
func larger(a, b berth.Difference) berth.Difference {
	return berth.Difference{Abs: max(a.Abs, b.Abs), Rel: max(a.Rel, b.Rel), Largest: max(a.Largest, b.Largest)}
}

// Find returns the test folders in dir and below, each one with a model.onnx, in
// ascending order; folders in a test folder are its own. Where there is none, dir
// itself is returned.
func Find(dir string) ([]string, error) {
	var tests []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		if _, err := os.Stat(filepath.Join(path, "model.onnx")); err == nil {
			tests = append(tests, path)
			return fs.SkipDir
		}
		return nil
	})
	if err == nil && tests == nil {
		tests = []string{dir}
	}
	return tests, err
}

// Load reads the model in a folder. One whose inputs or outputs are of a type
// that Berth does not have is an error that wraps [onnx.ErrType].
func Load(dir string) (*onnx.Model, error) {
	m, err := onnx.LoadFile(filepath.Join(dir, "model.onnx"))
	if err != nil {
		return nil, err
	}
	for _, v := range slices.Concat(m.Inputs(), m.Outputs()) {
		if !v.DType.Valid() && !slices.Contains([]string{"STRING", "sequence", "optional", "map"}, v.TypeName) {
			return nil, errors.Join(fmt.Errorf("%v: %w", v, onnx.ErrType), m.Close())
		}
	}
	return m, nil
}

// Sets returns the paths of the data sets in a folder, at least one.
func Sets(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var sets []string
	for _, e := range entries {
		if match, _ := filepath.Match("test_data_set_*", e.Name()); match && e.IsDir() {
			sets = append(sets, filepath.Join(dir, e.Name()))
		}
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("%s has no test_data_set_*", dir)
	}
	return sets, nil
}

// ReadSet reads the inputs of a data set, by the names that the model gives
// them, and the outputs in order. Tensors are matched by position: some files
// leave the names out.
func ReadSet(m *onnx.Model, set string) (inputs map[string]*berth.Tensor, outputs []*berth.Tensor, err error) {
	list, err := ReadTensors(set, "input")
	if err != nil {
		return nil, nil, err
	}
	if outputs, err = ReadTensors(set, "output"); err != nil {
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

// ReadTensors reads the files prefix_0.pb, prefix_1.pb and so on of a
// directory, up to the first that is not there.
func ReadTensors(dir, prefix string) ([]*berth.Tensor, error) {
	files, err := readFiles(dir, prefix)
	if err != nil {
		return nil, err
	}
	tensors := make([]*berth.Tensor, len(files))
	for i, data := range files {
		if _, tensors[i], err = onnx.ReadTensor(data); err != nil {
			return nil, fmt.Errorf("%s_%d.pb: %w", prefix, i, err)
		}
	}
	return tensors, nil
}

// runSet runs m with the inputs of one data set and compares the outputs.
func runSet(ctx context.Context, m *onnx.Model, set string, tol Tolerance, opt berth.RunOptions) (d berth.Difference, err error) {
	inputs, want, err := ReadValues(m, set)
	if err != nil {
		return d, err
	}
	got, err := m.RunValues(ctx, &onnx.SessionOptions{Workers: opt.Workers, MaxBytes: opt.MaxBytes, Poison: opt.Poison, Without: opt.Without}, inputs)
	if err != nil {
		return d, err
	}
	return compare(m, tol, got, want)
}

// DifferAll returns an error about the outputs of m, by name, that differ too much
// from those wanted, in order.
func DifferAll(m *onnx.Model, tol Tolerance, got map[string]*berth.Tensor, want []*berth.Tensor) error {
	values, list := make(map[string]onnx.Value, len(got)), make([]onnx.Value, len(want))
	for name, t := range got {
		values[name] = onnx.ArrayOf(t)
	}
	for i, t := range want {
		list[i] = onnx.ArrayOf(t)
	}
	_, err := compare(m, tol, values, list)
	return err
}

// Fixed returns options for a program that takes just these inputs: no rows,
// every shape stated.
func Fixed(inputs map[string]*berth.Tensor) *onnx.Options {
	opt := &onnx.Options{RowDim: "-", Shapes: make(map[string][]int)}
	for name, t := range inputs {
		opt.Shapes[name] = t.Shape()
	}
	return opt
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

// Reason says why a test does not pass. Where operators are missing and nothing is
// wrong beside that, each stands there once.
func Reason(err error) string {
	var unsupported *onnx.UnsupportedError
	if !Skipped(err) || !errors.As(err, &unsupported) {
		return err.Error()
	}
	list := make([]string, len(unsupported.Operators))
	for i, o := range unsupported.Operators {
		list[i] = fmt.Sprintf("%s at opset %d (%d nodes)", o.Name, o.Opset, o.Nodes)
	}
	return "not supported: " + strings.Join(list, ", ")
}

// differing is the error about an output that differs too much, or has another type
// or shape.
type differing struct{ error }

// Differs reports whether err is about outputs that differ from those wanted.
func Differs(err error) bool { return errors.As(err, new(differing)) }

// unmet are backend tests, by how their names begin, with outputs that no specification
// decides.
var unmet = map[string]string{
	"test_bernoulli":                 "the outputs were drawn without a seed, by another generator",
	"test_image_decoder_decode_jpeg": "lossy images: decoders differ in how they scale colours, and Go's is another than the one of the tests",
	"test_image_decoder_decode_webp": "lossy images: decoders differ in how they scale colours, and Go's is another than the one of the tests",
}

// Unmet returns why the outputs of a backend test in a folder cannot be met, "" where they
// can.
func Unmet(dir string) string {
	for prefix, why := range unmet {
		if strings.HasPrefix(filepath.Base(dir), prefix) {
			return why
		}
	}
	return ""
}

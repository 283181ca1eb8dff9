package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/berth-go/berth/internal/wire"
)

// compareQuantized makes the quantised forms of the models in the subfolders of dir whose
// names match, and prints how far their outputs are from those of ONNX Runtime, at most
// and in the mean, in steps of the outputs' scale: without its optimisations, with them, and
// these two from each other. An output that is not quantised itself has the step of uint8 numbers over its range. A
// subfolder holds model.onnx and test_data_set_0, whose inputs also give the ranges.
func compareQuantized(ctx context.Context, r *runtime, dir string, opt options, out io.Writer) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*", "model.onnx"))
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return missing("no model.onnx in a subfolder of " + dir)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer table.Flush()
	fmt.Fprintln(table, "model\tform\toutput\tstep\tnot optimised\toptimised\tby optimisation")
	far := 0
	for _, path := range paths {
		if name := filepath.Base(filepath.Dir(path)); !opt.match.MatchString(name) {
			continue
		}
		n, err := compareForms(ctx, r, filepath.Dir(path), opt.keep, table)
		if err != nil {
			return err
		}
		far += n
	}
	if far > 0 {
		return fmt.Errorf("%d outputs are farther than a step from ONNX Runtime, and farther than its optimisations move them", far)
	}
	return nil
}

// compareForms compares the quantised forms of one model. It returns how many outputs are
// farther from ONNX Runtime than a step and, in the mean, by more than a quarter than its
// optimisations move them.
func compareForms(ctx context.Context, r *runtime, dir, keepDir string, out io.Writer) (far int, err error) {
	data, err := os.ReadFile(filepath.Join(dir, "model.onnx"))
	if err != nil {
		return 0, err
	}
	m, err := wire.DecodeModel(data, nil)
	if err != nil {
		return 0, err
	}
	m = simplified(m)
	inputs, err := readInputs(m, filepath.Join(dir, "test_data_set_0"))
	if err != nil {
		return 0, err
	}
	ranges, err := calibrate(ctx, m, inputs)
	if err != nil {
		return 0, err
	}
	for i, s := range schemes() {
		model := wire.AppendModel(nil, quantized(m, maps.Clone(ranges), s))
		plain, err := r.run(model, inputs, "disabled")
		if err != nil {
			return 0, fmt.Errorf("%s, %v: ONNX Runtime: %w", dir, s, err)
		}
		optimised, err := r.run(model, inputs, "all")
		if err != nil {
			return 0, fmt.Errorf("%s, %v: ONNX Runtime, optimised: %w", dir, s, err)
		}
		got, err := runBerth(ctx, model, inputs)
		if err != nil {
			return 0, fmt.Errorf("%s, %v: %w", dir, s, err)
		}
		if keepDir != "" {
			if err := keep(filepath.Join(keepDir, fmt.Sprintf("%s_%d", filepath.Base(dir), i)), model, inputs, plain); err != nil {
				return 0, err
			}
		}
		for _, o := range m.Graph.Outputs {
			step, _ := spanOf(plain[o.Name]).step()
			if r, ok := ranges[o.Name]; ok && s.static {
				step, _ = r.step()
			}
			d := func(a, b map[string]*wire.Tensor) apart { return distance(a[o.Name], b[o.Name], step) }
			toPlain, toOptimised, between := d(got, plain), d(got, optimised), d(plain, optimised)
			fmt.Fprintf(out, "%s\t%v\t%s\t%.3g\t%v\t%v\t%v\n", filepath.Base(dir), s, o.Name, step, toPlain, toOptimised, between)
			if !(toPlain.most <= 1 || toOptimised.most <= 1 || toPlain.mean <= 1.25*between.mean) {
				far++
			}
		}
	}
	return far, nil
}

// readInputs returns the inputs of a data set, in the order of the graph's.
func readInputs(m *wire.Model, set string) (inputs []wire.Tensor, err error) {
	for i := range m.Graph.Inputs {
		data, err := os.ReadFile(filepath.Join(set, fmt.Sprintf("input_%d.pb", i)))
		if err != nil {
			return nil, err
		}
		t, err := wire.DecodeTensor(data, nil)
		if err != nil {
			return nil, err
		}
		if t.Raw, err = t.Bytes(); err != nil {
			return nil, err
		}
		inputs = append(inputs, wire.Tensor{Name: m.Graph.Inputs[i].Name, DataType: t.DataType, Dims: t.Dims, Raw: t.Raw})
	}
	return inputs, nil
}

// calibrate returns the ranges of the activations of a model for given inputs.
func calibrate(ctx context.Context, m *wire.Model, inputs []wire.Tensor) (map[string]interval, error) {
	watched, graph := *m, *m.Graph
	watched.Graph = &graph
	ranges := make(map[string]interval)
	for i := range inputs {
		if inputs[i].DataType == wire.Float {
			ranges[inputs[i].Name] = spanOf(&inputs[i])
		}
	}
	for _, name := range activations(m) {
		if _, ok := ranges[name]; !ok && !slices.ContainsFunc(graph.Outputs, func(o wire.ValueInfo) bool { return o.Name == name }) {
			graph.Outputs = append(slices.Clip(graph.Outputs), wire.ValueInfo{Name: name})
		}
	}
	values, err := runBerth(ctx, wire.AppendModel(nil, &watched), inputs)
	if err != nil {
		return nil, err
	}
	for name, t := range values {
		if t.DataType == wire.Float {
			ranges[name] = spanOf(t)
		}
	}
	return ranges, nil
}

func spanOf(t *wire.Tensor) (r interval) {
	for i := range elements(t) {
		r = r.with(element(t.Raw, t.DataType, i))
	}
	return r
}

// apart is how far the elements of two tensors are from each other, in steps.
type apart struct{ most, mean float64 }

func (a apart) String() string { return fmt.Sprintf("%.3f (%.3f)", a.most, a.mean) }

// distance returns how far the elements of two tensors are from each other: infinitely
// where the shapes differ, or a number is not one in both.
func distance(a, b *wire.Tensor, step float64) (d apart) {
	if a == nil || b == nil || a.DataType != b.DataType || !slices.Equal(a.Dims, b.Dims) {
		return apart{math.Inf(1), math.Inf(1)}
	}
	n := elements(a)
	for i := range n {
		x := math.Abs(element(a.Raw, a.DataType, i)-element(b.Raw, b.DataType, i)) / step
		if math.IsNaN(x) {
			return apart{math.Inf(1), math.Inf(1)}
		}
		d.most = max(d.most, x)
		d.mean += x / float64(n)
	}
	return d
}

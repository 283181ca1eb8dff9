package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/onnx"
)

// inputFiles reads NAME=FILE arguments and returns the files by name.
func inputFiles(args []string) (map[string]string, error) {
	files := make(map[string]string)
	for _, arg := range args {
		// Names of inputs may hold "=", paths rarely do.
		i := strings.LastIndex(arg, "=")
		if i < 0 {
			return nil, usagef("--input %q: give a name and a file, such as x=x.npy", arg)
		}
		name, file := arg[:i], arg[i+1:]
		if files[name] != "" {
			return nil, usagef("--input %s is given twice", name)
		}
		files[name] = file
	}
	return files, nil
}

// matchInputs returns an error for an input of m that is not given, and for
// one given that m does not have.
func matchInputs(m *onnx.Model, given map[string]string) error {
	var known []string
	for _, in := range m.Inputs() {
		known = append(known, in.Name)
		if given[in.Name] == "" {
			return usagef("input %v is not given; --input %s=FILE.npy does", in, in.Name)
		}
	}
	for _, in := range m.Defaults() {
		known = append(known, in.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, name) {
			return usagef("--input %s: the model has no input of that name, but %s", name, cmp.Or(strings.Join(known, ", "), "none at all"))
		}
	}
	return nil
}

// readInputs reads the files of inputs: of .pb files what the model declares, of
// others a tensor in NumPy's format.
func readInputs(m *onnx.Model, files map[string]string) (map[string]onnx.Value, error) {
	inputs := make(map[string]onnx.Value)
	for name, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		inputs[name], err = readInput(m, name, f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return inputs, nil
}

func readInput(m *onnx.Model, name string, f *os.File) (onnx.Value, error) {
	if filepath.Ext(f.Name()) == ".pb" {
		data, err := io.ReadAll(f)
		if err != nil {
			return nil, err
		}
		return m.ReadInput(name, data)
	}
	t, err := berth.ReadNPY(f)
	if err != nil {
		return nil, err
	}
	return onnx.ArrayOf(t), nil
}

// tensorsOf returns those of the inputs given that a program of m takes in a run,
// and those that take the place of constants. Not ok is an input that is no tensor
// of numbers.
func tensorsOf(m *onnx.Model, given map[string]onnx.Value) (inputs, constants map[string]*berth.Tensor, ok bool, err error) {
	inputs, constants = make(map[string]*berth.Tensor), make(map[string]*berth.Tensor)
	scalar := make(map[string]bool)
	for _, in := range slices.Concat(m.Inputs(), m.Defaults()) {
		scalar[in.Name] = in.Dims != nil && len(in.Dims) == 0
	}
	for name, v := range given {
		a, isArray := v.(*onnx.Array)
		if !isArray || !a.DType().Valid() {
			return nil, nil, false, nil
		}
		t, err := a.Tensor()
		if err == nil && scalar[name] && t.Len() == 1 {
			t, err = t.Reshape() // NumPy knows hardly any scalars, and models many
		}
		if err != nil {
			return nil, nil, false, err
		}
		inputs[name] = t
	}
	for _, in := range m.Defaults() {
		if t := inputs[in.Name]; t != nil {
			constants[in.Name] = t
			delete(inputs, in.Name)
		}
	}
	return inputs, constants, true, nil
}

// describe returns the element type and the shape of an array, and the kind of
// another value, which has no shape.
func describe(v onnx.Value) (kind string, dims []int) {
	switch v := v.(type) {
	case *onnx.Array:
		if v.DType().Valid() {
			return v.DType().String(), v.Shape()
		}
		return "string", v.Shape()
	case onnx.Sequence:
		return "sequence", nil
	case *onnx.Map:
		return "map", nil
	}
	return "empty", nil
}

// writeValue prints a value under its name, and what it holds under names like
// name[0].
func writeValue(w io.Writer, name string, v onnx.Value) error {
	switch v := v.(type) {
	case *onnx.Array:
		if text, err := v.Strings(); err == nil {
			fmt.Fprintf(w, "%s string%v\n%q\n", name, v.Shape(), text)
			return nil
		}
		t, err := v.Tensor()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s %v\n", name, t)
	case onnx.Sequence:
		fmt.Fprintf(w, "%s sequence of %d\n", name, len(v))
		for i, item := range v {
			if err := writeValue(w, fmt.Sprintf("%s[%d]", name, i), item); err != nil {
				return err
			}
		}
	case *onnx.Map:
		fmt.Fprintf(w, "%s map\n", name)
		if err := writeValue(w, name+" keys", v.Keys); err != nil {
			return err
		}
		return writeValue(w, name+" values", v.Values)
	default:
		fmt.Fprintf(w, "%s empty\n", name)
	}
	return nil
}

// plainValue returns a value as JSON can hold it: of an array the elements, of a
// sequence objects that say what each item is.
func plainValue(ctx context.Context, v onnx.Value) (any, error) {
	switch v := v.(type) {
	case *onnx.Array:
		if text, err := v.Strings(); err == nil {
			return text, nil
		}
		t, err := v.Tensor()
		if err != nil {
			return nil, err
		}
		return plain(ctx, t)
	case onnx.Sequence:
		list := make([]outputResult, len(v))
		for i, item := range v {
			data, err := plainValue(ctx, item)
			if err != nil {
				return nil, err
			}
			list[i].Data = data
			list[i].DType, list[i].Shape = describe(item)
		}
		return list, nil
	case *onnx.Map:
		keys, err := plainValue(ctx, v.Keys)
		if err != nil {
			return nil, err
		}
		values, err := plainValue(ctx, v.Values)
		return map[string]any{"keys": keys, "values": values}, err
	}
	return nil, nil
}

// plain returns the elements of t as a slice that JSON can hold.
func plain(ctx context.Context, t *berth.Tensor) (any, error) {
	switch t.DType() {
	case berth.Float64:
		return finite[float64](t)
	case berth.Bool:
		return berth.Data[bool](t)
	case berth.Uint64:
		return berth.Data[uint64](t)
	}
	wide := berth.Int64
	if t.DType().Wide().IsFloat() {
		wide = berth.Float32
	}
	t, err := t.Promise().Cast(wide).Materialize(ctx)
	if err != nil {
		return nil, err
	}
	if wide == berth.Float32 {
		return finite[float32](t)
	}
	return berth.Data[int64](t)
}

// finite returns the elements of t; those that JSON has no number for are
// their names.
func finite[T float32 | float64](t *berth.Tensor) (any, error) {
	data, err := berth.Data[T](t)
	out := make([]any, len(data))
	for i, v := range data {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			out[i] = fmt.Sprint(f)
		} else {
			out[i] = v
		}
	}
	return out, err
}

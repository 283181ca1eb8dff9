package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/onnx"
)

// modelFlags are the flags of commands that compile a model for stated extents.
type modelFlags struct {
	Rows int      `help:"The most rows (batch) to plan for." default:"1" placeholder:"N"`
	Dim  []string `help:"Size of a symbolic extent, such as sequence=128, or its bounds where it may vary from run to run, such as sequence=1..128. Open extents are 1 otherwise." placeholder:"NAME=SIZE" sep:"none"`
	engineFlags
}

// engineFlags are the flags of commands that compile a model.
type engineFlags struct {
	Weights []string `help:"Weights that take the place of those of the same names, as a safetensors file." placeholder:"FILE" sep:"none"`
	Without []string `help:"A rewrite rule to leave out, to see what it does; an unknown one is answered with the list of them." placeholder:"RULE"`
	threadsFlag
}

type threadsFlag struct {
	Threads int `help:"Workers that share each step; 0 means one for each processor." default:"0" placeholder:"N"`
}

// load reads a model, with weights of its own or those that the flags name.
func (f *engineFlags) load(e *env, file string) (*onnx.Model, error) {
	m, err := onnx.LoadFile(file)
	if err != nil || len(f.Weights) == 0 {
		return m, err
	}
	known := make(map[string]bool)
	for _, w := range m.Weights() {
		known[w.Name] = true
	}
	replaced := make(map[string]*berth.Tensor)
	for _, file := range f.Weights {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		tensors, _, err := berth.ReadSafetensors(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		var others []string
		for name, t := range tensors {
			switch {
			case !known[name]:
				others = append(others, name)
			case replaced[name] != nil:
				return nil, fmt.Errorf("%s: weight %q is in another file too", file, name)
			default:
				replaced[name] = t
			}
		}
		if len(others) > 0 {
			fmt.Fprintf(e.stderr, "berth: %s: %d of %d tensors, such as %q, have no place in the model\n", file, len(others), len(tensors), slices.Min(others))
		}
	}
	if len(replaced) == 0 {
		return nil, fmt.Errorf("%s: no weight of the model has the name of a tensor", strings.Join(f.Weights, ", "))
	}
	return m.WithWeights(replaced)
}

// jsonFlag is the flag of commands with one result.
type jsonFlag struct {
	JSON bool `name:"json" help:"Print one object for machines."`
}

// show prints a result: as text, or as an indented object if the flag is set.
func (f jsonFlag) show(e *env, result fmt.Stringer) error {
	if !f.JSON {
		_, err := fmt.Fprint(e.stdout, result)
		return err
	}
	enc := json.NewEncoder(e.stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(result)
}

// options returns how to compile a model by the flags. Extents that are still
// open are taken as 1, and named on stderr.
func (f *modelFlags) options(e *env, m *onnx.Model) (*onnx.Options, error) {
	if f.Rows < 1 {
		return nil, usagef("--rows %d: at least 1 row", f.Rows)
	}
	if f.Rows > 1 && m.RowDim() == "" {
		return nil, usagef("--rows %d: no input of the model has a first extent that varies", f.Rows)
	}
	opt := &onnx.Options{Rows: f.Rows, Dims: make(map[string]int), Open: 1, Program: berth.CompileOptions{Without: f.Without}}
	for _, d := range f.Dim {
		dim, ok := parseDim(d)
		switch {
		case !ok:
			return nil, usagef("--dim %q: give a name and a size, such as sequence=128, or bounds, such as sequence=1..128", d)
		case dim.Min == dim.Max:
			opt.Dims[dim.Name] = dim.Min
		default:
			opt.Vary = append(opt.Vary, dim)
		}
	}
	for _, name := range m.OpenExtents(opt) {
		flag := "--data" // an extent without a name
		for _, in := range m.Inputs() {
			if slices.ContainsFunc(in.Dims, func(d onnx.Dim) bool { return d.Name == name }) {
				flag = "--dim"
			}
		}
		fmt.Fprintf(e.stderr, "berth: extent %s is open and taken as 1; %s sets it\n", name, flag)
	}
	return opt, nil
}

// parseDim reads NAME=SIZE or NAME=MIN..MAX. Names may hold "=".
func parseDim(text string) (dim berth.Dimension, ok bool) {
	at := strings.LastIndex(text, "=")
	if at < 0 {
		return dim, false
	}
	low, high, bounds := strings.Cut(text[at+1:], "..")
	if !bounds {
		high = low
	}
	lowest, err := strconv.Atoi(low)
	highest, also := strconv.Atoi(high)
	return berth.Dim(text[:at], lowest, highest), err == nil && also == nil && lowest >= 0 && lowest <= highest
}

// createFile makes a file of what write writes.
func createFile(name string, write func(w io.Writer) error) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return write(f)
}

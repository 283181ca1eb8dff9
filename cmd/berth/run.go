package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/conformance"
	"github.com/berth-go/berth/internal/digits"
	"github.com/berth-go/berth/onnx"
)

type runCmd struct {
	Model string   `arg:"" optional:"" help:"An ONNX file. Without it, a small model that reads handwritten digits runs on sample images."`
	Input []string `help:"Data of an input, as a NumPy file or as a TensorProto." placeholder:"NAME=FILE.{npy,pb}" sep:"none"`
	Rows  int      `help:"The most rows (batch) to plan for; 0 means those of the inputs." default:"0" placeholder:"N"`
	engineFlags
	Out    string `help:"Write each output into a file of a folder." placeholder:"DIR"`
	Format string `help:"What these files are: npy for NumPy, pb for TensorProto." enum:"npy,pb" default:"npy"`
	jsonFlag
}

type runResult struct {
	Model   string         `json:"model"`
	Planned bool           `json:"planned"` // false: no program holds all of it, and it ran in several segments
	Memory  *berth.Memory  `json:"memory,omitempty"`
	Outputs []outputResult `json:"outputs"`
}

type outputResult struct {
	Name  string `json:"name,omitempty"`
	DType string `json:"dtype"` // or sequence, map or empty, which have no shape
	Shape []int  `json:"shape"`
	File  string `json:"file,omitempty"`
	Data  any    `json:"data,omitempty"` // if it is not written to a file

	text string
}

// String prints each output, or the file that it is in, and the memory.
func (r runResult) String() string {
	var b strings.Builder
	for _, out := range r.Outputs {
		if out.File != "" {
			kind := out.DType
			if out.Shape != nil {
				kind += fmt.Sprint(out.Shape)
			}
			fmt.Fprintf(&b, "%s %s in %s\n", out.Name, kind, out.File)
		} else {
			b.WriteString(out.text)
		}
	}
	if r.Memory != nil {
		fmt.Fprintf(&b, "\n%v", r.Memory)
	}
	return b.String()
}

// Run loads, plans and runs a model, and prints the outputs and the memory plan.
func (c *runCmd) Run(e *env) error {
	if c.Model == "" {
		return c.runDigits(e)
	}
	m, err := c.load(e, c.Model)
	if err != nil {
		return err
	}
	files, err := inputFiles(c.Input)
	if err != nil {
		return err
	}
	if err := matchInputs(m, files); err != nil {
		return err
	}
	inputs, err := readInputs(m, files)
	if err != nil {
		return err
	}
	return c.runModel(e, m, inputs)
}

// runDigits runs the model that ships in the binary.
func (c *runCmd) runDigits(e *env) error {
	switch {
	case len(c.Input) > 0:
		return usagef("--input needs a model")
	case len(c.Weights) > 0:
		return usagef("--weights needs a model")
	}
	m, err := onnx.Load(digits.Files(), digits.ModelFile)
	if err != nil {
		return err
	}
	images, err := readNPY(digits.Files(), digits.ImagesFile)
	if err != nil {
		return err
	}
	inputs := map[string]onnx.Value{m.Inputs()[0].Name: onnx.ArrayOf(images)}
	if c.JSON || c.Out != "" {
		return c.runModel(e, m, inputs)
	}
	outputs, prog, err := c.compute(e, m, inputs)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s reads %d handwritten digits:\n", m.Name(), images.Shape()[0])
	probabilities, err := outputs[m.Outputs()[0].Name].(*onnx.Array).Tensor()
	if err != nil {
		return err
	}
	if err := printDigits(e, images, probabilities); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "\nThe memory plan:\n")
	_, err = fmt.Fprint(e.stdout, prog)
	return err
}

func readNPY(fsys fs.FS, name string) (*berth.Tensor, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return berth.ReadNPY(f)
}

// printDigits prints what the model read in each image, [n, 1, height, width],
// and how sure it was, under the first image.
func printDigits(e *env, images, probabilities *berth.Tensor) error {
	pixels, err := berth.Data[float32](images)
	if err != nil {
		return err
	}
	p, err := berth.Data[float32](probabilities)
	if err != nil {
		return err
	}
	n, classes := probabilities.Shape()[0], probabilities.Shape()[1]
	width := images.Shape()[3]
	for row := range images.Shape()[2] {
		var line strings.Builder
		for _, v := range pixels[row*width:][:width] {
			line.WriteByte(" .:*#"[min(int(v*5), 4)])
		}
		if text := strings.TrimRight(line.String(), " "); text != "" {
			fmt.Fprintln(e.stdout, text)
		}
	}
	for i := range n {
		row := p[i*classes:][:classes]
		best := slices.Max(row)
		fmt.Fprintf(e.stdout, "image %d: %d (%.1f%%)\n", i, slices.Index(row, best), 100*best)
	}
	return nil
}

// runModel runs a model and prints or stores what it computes.
func (c *runCmd) runModel(e *env, m *onnx.Model, inputs map[string]onnx.Value) error {
	outputs, prog, err := c.compute(e, m, inputs)
	if err != nil {
		return err
	}
	result := runResult{Model: m.Name(), Planned: prog != nil}
	if prog != nil {
		mem := prog.Memory()
		result.Memory = &mem
	}
	for i, out := range m.Outputs() {
		v := outputs[out.Name]
		r := outputResult{Name: out.Name}
		r.DType, r.Shape = describe(v)
		switch {
		case c.Out != "":
			r.File, err = c.store(m, i, out.Name, v)
		case c.JSON:
			r.Data, err = plainValue(e.ctx, v)
		default:
			var text strings.Builder
			err = writeValue(&text, out.Name, v)
			r.text = text.String()
		}
		if err != nil {
			return err
		}
		result.Outputs = append(result.Outputs, r)
	}
	return c.show(e, result)
}

// store writes an output into a file. Names of outputs need not be names of files.
func (c *runCmd) store(m *onnx.Model, i int, name string, v onnx.Value) (file string, err error) {
	if err := os.MkdirAll(c.Out, 0o777); err != nil {
		return "", err
	}
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, name)
	file = filepath.Join(c.Out, fmt.Sprintf("%d_%s.%s", i, strings.TrimLeft(safe, "."), c.Format))
	if c.Format == "pb" {
		data, err := m.AppendOutput(nil, name, v)
		if err != nil {
			return "", err
		}
		return file, os.WriteFile(file, data, 0o666)
	}
	a, ok := v.(*onnx.Array)
	if !ok || !a.DType().Valid() {
		return "", fmt.Errorf("output %q is %s, which NumPy's format does not hold; --format pb does", name, onnx.TypeOf(v))
	}
	t, err := a.Tensor()
	if err != nil {
		return "", err
	}
	return file, createFile(file, t.WriteNPY)
}

// compute runs m as a program. Where a program cannot hold all of it, it runs m in several
// segments instead, says so, and returns no program.
func (c *runCmd) compute(e *env, m *onnx.Model, inputs map[string]onnx.Value) (map[string]onnx.Value, *berth.Program, error) {
	given, constants, ok, err := tensorsOf(m, inputs)
	if err != nil {
		return nil, nil, err
	}
	if ok {
		outputs, prog, err := c.program(e, m, given, constants)
		if !needsSegments(err) {
			return outputs, prog, err
		}
		fmt.Fprintf(e.stderr, "berth: %v: run in several segments\n", err)
	}
	outputs, err := m.RunValues(e.ctx, &onnx.SessionOptions{Workers: c.Threads, Without: c.Without}, inputs)
	return outputs, nil, err
}

// program compiles m for the inputs given and runs it.
func (c *runCmd) program(e *env, m *onnx.Model, given, constants map[string]*berth.Tensor) (map[string]onnx.Value, *berth.Program, error) {
	opt := conformance.Fixed(given)
	opt.Values = constants
	opt.Program.Without = c.Without
	if c.Rows > 0 {
		opt.RowDim, opt.Rows, opt.Shapes = m.RowDim(), c.Rows, nil
		opt.Dims = m.Extents(given)
		delete(opt.Dims, opt.RowDim)
	}
	prog, err := m.Compile(e.ctx, opt)
	if err != nil {
		return nil, nil, err
	}
	results, err := prog.RunOnce(e.ctx, given, c.Threads)
	if err != nil {
		return nil, nil, err
	}
	outputs := make(map[string]onnx.Value, len(results))
	for name, t := range results {
		outputs[name] = onnx.ArrayOf(t)
	}
	return outputs, prog, nil
}

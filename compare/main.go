// Command compare runs random models of one node in Berth and in ONNX Runtime, as npm has
// it, and prints how their outputs differ. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/berth-go/berth/internal/conformance"
	"github.com/berth-go/berth/internal/wire"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := compare(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.As(err, new(missing)):
		fmt.Fprintln(os.Stderr, "compare: skipped:", err)
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// options are those of the command line.
type options struct {
	match  *regexp.Regexp
	count  int
	seed   uint64
	number int
	keep   string
	all    bool
}

func compare(ctx context.Context, args []string, out, log io.Writer) error {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.SetOutput(log)
	models := flags.String("quantized", "", "compare quantised forms of the models in subfolders of the `folder`")
	module := flags.String("ort", ".", "`folder` with node_modules/onnxruntime-node")
	match := flags.String("run", "", "only operators whose name matches the `pattern`")
	var opt options
	flags.IntVar(&opt.count, "n", 20, "`models` of each operator")
	flags.Uint64Var(&opt.seed, "seed", 1, "what the models are drawn from")
	flags.StringVar(&opt.keep, "keep", "", "`folder` for the smallest model of each difference, as a backend test")
	flags.IntVar(&opt.number, "number", -1, "only this `model` of each operator")
	flags.BoolVar(&opt.all, "all", false, "also print differences that docs/operators.md explains")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var err error
	if opt.match, err = regexp.Compile(*match); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "berth-compare")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	r, err := newRuntime(*module, scratch)
	if err != nil {
		return err
	}
	defer r.close()
	if *models != "" {
		return compareQuantized(ctx, r, *models, opt, out)
	}
	return compareNodes(ctx, r, opt, out)
}

// compareNodes runs random models of each operator and prints what differs, group by
// group. An error is about differences that are not explained.
func compareNodes(ctx context.Context, r *runtime, opt options, out io.Writer) error {
	groups := make(map[string]*group)
	total, same, absent := 0, 0, 0
	for _, name := range slices.Sorted(maps.Keys(generators)) {
		if !opt.match.MatchString(name) {
			continue
		}
		for i := range opt.count {
			if err := ctx.Err(); err != nil {
				return err
			}
			if opt.number >= 0 && opt.number != i {
				continue
			}
			total++
			f := run(ctx, r, drawCase(name, generators[name], opt.seed, i))
			switch f.kind {
			case "":
				same++
				continue
			case notThere:
				absent++
				continue
			}
			f.why = conformance.Explain(name, f.text())
			key := name + ": " + f.kind + ": " + f.why + alike(f)
			if groups[key] == nil {
				groups[key] = &group{name: name}
			}
			groups[key].add(f, i)
		}
	}
	explained, open := 0, 0
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		g := groups[key]
		if g.smallest.why == "" {
			open += g.count
		} else {
			explained += g.count
		}
		if opt.all || g.smallest.why == "" {
			fmt.Fprintf(out, "%s: %d differ in %s, such as number %d\n\t%s\n", g.name, g.count, g.smallest.kind, g.number, g.smallest.text())
			if g.smallest.why != "" {
				fmt.Fprintf(out, "\texplained: %s\n", g.smallest.why)
			}
		}
		if opt.keep != "" {
			if err := keep(filepath.Join(opt.keep, fmt.Sprintf("%s_%d", g.name, g.number)), g.smallest.model(), g.smallest.inputs, g.smallest.outputs); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(out, "%d models: %d the same, %d that ONNX Runtime does not have, %d that differ as explained, %d that differ\n",
		total, same, absent, explained, open)
	if open > 0 {
		return errors.New("there are differences that docs/operators.md does not explain")
	}
	return nil
}

// A finding is how the outputs of a model differ.
type finding struct {
	*draw
	kind, detail, why string
	outputs           map[string]*wire.Tensor // of ONNX Runtime
}

func (f *finding) text() string { return fmt.Sprintf("%v: %s: %s", f.draw, f.kind, f.detail) }

// alike returns what findings of one kind have in common that belong together: what a
// refusal says without names and numbers, or the type of the outputs.
func alike(f *finding) string {
	if f.why != "" {
		return ""
	}
	if f.kind == "values" {
		return f.draw.outputs[0].String()
	}
	return numbers.ReplaceAllString(f.detail, "")
}

var numbers = regexp.MustCompile(`[\d.-]+|\[.*?\]`)

// size is less for models that are easier to look at.
func (f *finding) size() int {
	n := 20*len(f.node.Attributes) + 5*len(f.inputs)
	for i := range f.inputs {
		n += elements(&f.inputs[i])
	}
	return n
}

// A group holds the findings of an operator that are alike.
type group struct {
	name     string
	count    int
	number   int // of the smallest
	smallest *finding
}

func (g *group) add(f *finding, number int) {
	g.count++
	if g.smallest == nil || f.size() < g.smallest.size() {
		g.smallest, g.number = f, number
	}
}

// notThere is the kind of models that ONNX Runtime has no kernel for.
const notThere = "not there"

// absences are parts of what ONNX Runtime says of an operator, version or type that it
// does not have.
var absences = regexp.MustCompile(`NOT_IMPLEMENTED|Could not find an implementation|is invalid\.$|is not a registered function|` +
	`type.*not supported|not supported yet|Unsupported (data|input|output)? ?type|Unrecognized attribute|no input of`)

// run runs a model in both runtimes.
func run(ctx context.Context, r *runtime, d *draw) *finding {
	f := &finding{draw: d}
	model := d.model()
	want, err := r.run(model, d.inputs, "disabled")
	f.outputs = want
	got, mine := runBerth(ctx, model, d.inputs)
	switch {
	case err != nil && absences.MatchString(err.Error()):
		f.kind = notThere
	case mine != nil && strings.HasPrefix(mine.Error(), "panic"):
		f.kind, f.detail = "panic", mine.Error()
	case err != nil && mine != nil:
	case err != nil:
		f.kind, f.detail = "refusal", "ONNX Runtime: "+strings.TrimSpace(err.Error())
	case mine != nil:
		f.kind, f.detail = "refusal", "Berth: "+mine.Error()
	default:
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if kind, detail := differ(d.tol, got[name], want[name]); kind != "" {
				if f.kind == "" {
					f.kind = kind
				}
				f.detail += "; " + name + " " + detail
			}
		}
		f.detail = strings.TrimPrefix(f.detail, "; ")
	}
	return f
}

// keep writes a model, its inputs and the outputs of ONNX Runtime as a backend test.
func keep(dir string, model []byte, inputs []wire.Tensor, outputs map[string]*wire.Tensor) error {
	set := filepath.Join(dir, "test_data_set_0")
	if err := os.MkdirAll(set, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "model.onnx"), model, 0o666); err != nil {
		return err
	}
	for i := range inputs {
		name := filepath.Join(set, fmt.Sprintf("input_%d.pb", i))
		if err := os.WriteFile(name, wire.AppendTensor(nil, &inputs[i]), 0o666); err != nil {
			return err
		}
	}
	for i, name := range slices.Sorted(maps.Keys(outputs)) {
		path := filepath.Join(set, fmt.Sprintf("output_%d.pb", i))
		if err := os.WriteFile(path, wire.AppendTensor(nil, outputs[name]), 0o666); err != nil {
			return err
		}
	}
	return nil
}

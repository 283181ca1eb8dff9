package berth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/bridge"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/exec"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/internal/rewrite"
	"github.com/berth-go/berth/pack"
	"github.com/berth-go/berth/shape"
)

// A Dimension is an extent that varies from run to run, such as the rows of a
// batch or the length of a text: any number from Min to Max, both included.
type Dimension struct {
	Name     string
	Min, Max int
}

// Dim returns the dimension of the given name and bounds. Min may be 0, for what
// may be empty, such as the text so far.
func Dim(name string, min, max int) Dimension { return Dimension{Name: name, Min: min, Max: max} }

// Input returns a promise of data that is bound when a compiled program runs.
// Each extent is an int or a [Dimension]. A promise that depends on an input can
// be compiled, and not materialised.
//
// Methods see the largest extents. What they are told in numbers is meant for any
// extents, as a bound of [Promise.Slice] is; an extent of [Promise.Reshape] that
// is -1 follows the dimensions, and among several that are all stated, as are
// those of [Promise.BroadcastTo], the one that holds the whole of an axis follows
// that. For x of n to 8 rows of 6 elements:
//
//	x.Reshape(-1, 2, 3)      n rows of 2x3
//	x.Reshape(8, 2, 3)       the same: the 8 holds the rows
//	x.Slice(0, 1, 8)         all rows but the first
func Input(name string, t DType, extents ...any) *Promise {
	typ := graph.Type{DType: t, Shape: make(shape.Shape, len(extents))}
	axes := make([]Dimension, len(extents))
	for axis, e := range extents {
		switch e := e.(type) {
		case int:
			typ.Shape[axis] = e
		case Dimension:
			if err := compile.CheckDims(extent.Dim(e)); err != nil {
				return broken("input %q: %w", name, err)
			}
			if other := slices.IndexFunc(axes, func(d Dimension) bool { return d.Name == e.Name && d != e }); other >= 0 {
				return broken("input %q: dimension %q is %d to %d on axis %d and %d to %d on axis %d", name, e.Name, axes[other].Min, axes[other].Max, other, e.Min, e.Max, axis)
			}
			typ.Shape[axis], axes[axis] = e.Max, e
		default:
			return broken("input %q: extent %d is a %T, not an int or a dimension", name, axis, e)
		}
	}
	n, err := graph.NewInput(name, typ)
	if err != nil {
		return broken("%w", err)
	}
	return &Promise{value: n.Output(0), made: &recipe{input: &inputRecipe{n, axes}}}
}

// Outputs are the promises that a program computes, by name.
type Outputs map[string]*Promise

// CompileOptions steer a compilation. Nil stands for the zero value.
type CompileOptions struct {
	// Strategy is how the offsets in the arena are searched for; empty is the
	// best one.
	Strategy pack.Strategy
	// SearchNodes bounds the search for offsets; 0 is a default. The result
	// depends on it and on nothing else, in particular not on time.
	SearchNodes int64
	// MaxArena is the most bytes that the arena may take; 0 means
	// [DefaultMaxBytes]. A program that needs more is an error that wraps
	// [ErrBudget], before anything is allocated.
	MaxArena int64
	// SeedOrder keeps the depth-first execution order. Otherwise orders that
	// keep fewer bytes alive are searched for, and the one with the smallest
	// arena is taken.
	SeedOrder bool
	// Extends has outputs continue inputs, by their names: each output is the
	// concatenation of the input and what is new, and both are one buffer of the
	// caller's, into which a run writes what is new alone. So a cache grows from
	// run to run without a copy. The buffer is bound as the output, has room for
	// the largest extents and is laid out for these; the input is none of the
	// program any more, and its extent is stated in [Instance.RunAt]. For
	// present = Concat(0, past, new), with past of 0 to 511 rows and new of 1 to 64:
	//
	//	Extends: map[string]string{"present": "past"}
	//
	//	cache, err := prog.NewBuffer("present")        // room for 575 rows
	//	inst.RunAt(ctx, Extents{"past": 0, "new": 7}, inputs, Values{"present": cache})
	//	inst.RunAt(ctx, Extents{"past": 7, "new": 1}, inputs, Values{"present": cache})
	Extends map[string]string
	// NoSharing gives every value bytes of its own, for comparison.
	NoSharing bool
	// Without names rewrite rules to leave out, so as to see what one of them
	// does. A name that is none is an error that wraps [ErrRule] and lists them.
	Without []string
	// NoPrepack has kernels read constants as they are stored. Otherwise
	// matrices and convolution weights are also held once in a prepacked form,
	// which is faster, most of all at few rows; results are the same.
	NoPrepack bool
}

// ErrRule is wrapped by the error about a name in Without that is no rewrite
// rule, or one that cannot be left out.
var ErrRule = rewrite.ErrRule

// ErrBudget is wrapped by the error about an arena larger than MaxArena.
var ErrBudget = compile.ErrBudget

// A Program is a computation whose every byte has its place. It is immutable
// and may be shared freely; its instances run it. [Compile] makes one. A nil
// Program and the zero Program have no steps and cannot be run.
type Program struct {
	prog *compile.Program
	prep *exec.Prepared
	// constants are names that a run might take for inputs.
	constants []string
}

// Compile plans outputs as a program. What depends on constants alone is
// computed now; ctx ends that, and the search for offsets, early.
func Compile(ctx context.Context, outputs Outputs, opt *CompileOptions) (*Program, error) {
	if len(outputs) == 0 {
		return nil, errors.New("berth: a program with no outputs")
	}
	g := bridge.Graph{Outputs: slices.Sorted(maps.Keys(outputs))}
	promises := make([]*Promise, len(outputs))
	for i, name := range g.Outputs {
		promises[i] = outputs[name]
		if err := promises[i].usable(); err != nil {
			return nil, fmt.Errorf("berth: output %q: %w", name, err)
		}
	}
	var err error
	if g.Dims, g.Build, err = rebuilder(promises); err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	return compileGraph(ctx, g, opt)
}

// usable returns an error about a program that Compile did not make.
func (p *Program) usable() error {
	if p == nil || p.prog == nil {
		return errors.New("berth: the program is nil or the zero Program, which has no steps")
	}
	return nil
}

// Dims returns the dimensions, in the order in which the inputs have them.
func (p *Program) Dims() []Dimension {
	if p.usable() != nil {
		return nil
	}
	var dims []Dimension
	for _, d := range p.prog.Space.Dims() {
		dims = append(dims, Dimension(d))
	}
	return dims
}

// A Memory says what a program takes, in bytes, before it has run.
//
// All but Own of Weights and Prepacked is shared with every other program that reads the
// same constants, as the programs made from one model do, and is taken once for all of
// them. So n programs of one model, with an instance each, take at most
//
//	Weights + Prepacked - Own, once, and for each program Own + Arena + workers*Scratch
type Memory struct {
	Arena      int64 `json:"arena_bytes"`              // of each instance
	Scratch    int64 `json:"scratch_bytes_per_worker"` // of each worker of an instance
	Weights    int64 `json:"weights_bytes"`            // shared by all instances
	Prepacked  int64 `json:"prepacked_weights_bytes"`  // weights once more, in the form of their kernels; taken with the first instance and shared by all
	Own        int64 `json:"own_weights_bytes"`        // of both, what is kept of constants that were computed for this program: one that is read in prepacked forms alone is not kept as it was
	LowerBound int64 `json:"lower_bound_bytes"`        // no arena for the same steps can be smaller
	NoReuse    int64 `json:"materialized_bytes"`       // the arena if no two values in it shared a byte; views are no values of their own
}

// String prints the figures, one a line.
func (m Memory) String() string {
	return fmt.Sprintf("arena        %12d bytes for each instance\nlower bound  %12d\nwithout reuse%12d\nscratch      %12d for each worker\nweights      %12d shared\nprepacked    %12d of them once more, shared\nown          %12d of both for this program alone\n",
		m.Arena, m.LowerBound, m.NoReuse, m.Scratch, m.Weights, m.Prepacked, m.Own)
}

// Memory returns what the program takes: exactly, before any run.
func (p *Program) Memory() Memory {
	if p.usable() != nil {
		return Memory{}
	}
	m := Memory{
		Arena:      p.prog.Buffers.Arena,
		Scratch:    int64(p.prep.ScratchBytes()),
		Prepacked:  int64(p.prep.PrepackedBytes()),
		LowerBound: p.prog.Buffers.LowerBound,
		NoReuse:    p.prog.Buffers.Materialized,
	}
	for i, bytes := range p.prog.Bytes {
		m.Weights += bytes
		if p.prog.Own[i] {
			m.Own += int64(p.prep.PrepackedBytesOf(i))
			if !p.prep.Forgets(i) {
				m.Own += bytes
			}
		}
	}
	return m
}

// A Port describes an input or output of a program.
type Port struct {
	Name  string
	DType DType
	// Dims are the extents, as they are at the largest dimensions.
	Dims []int
	// Extends is the input that an output continues, if it does; see
	// CompileOptions.Extends.
	Extends string
}

// Inputs returns what a run must be given.
func (p *Program) Inputs() []Port {
	if p.usable() != nil {
		return nil
	}
	return ports(p.prog.Inputs)
}

// Outputs returns what a run computes.
func (p *Program) Outputs() []Port {
	if p.usable() != nil {
		return nil
	}
	return ports(p.prog.Outputs)
}

func ports(list []compile.Port) []Port {
	out := make([]Port, len(list))
	for i, port := range list {
		out[i] = Port{port.Name, port.Type.DType, port.Type.Shape.Clone(), port.Extends}
	}
	return out
}

// names lists the names of ports, for messages.
func names(list []compile.Port) string {
	out := make([]string, len(list))
	for i, port := range list {
		out[i] = strconv.Quote(port.Name)
	}
	return cmp.Or(strings.Join(out, ", "), "none")
}

// checkNames returns an error about the first of the names given that is not
// that of a port of the program. It allocates nothing when all are.
func checkNames[V any](p *Program, what string, given map[string]V) error {
	list, known := p.list(what), 0
	for i := range list {
		if _, ok := given[list[i].Name]; ok {
			known++
		}
	}
	if known == len(given) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch _, err := p.port(what, name); {
		case err == nil:
		case slices.Contains(p.constants, name):
			return fmt.Errorf("berth: %s %q is a constant of the program; Options.Values of package onnx replaces it when the model is compiled", what, name)
		default:
			return err
		}
	}
	return nil
}

// list returns the ports that are each an "input" or an "output".
func (p *Program) list(what string) []compile.Port {
	if what == "input" {
		return p.prog.Inputs
	}
	return p.prog.Outputs
}

// port returns the "input" or "output" of a name.
func (p *Program) port(what, name string) (*compile.Port, error) {
	ports := p.list(what)
	i := slices.IndexFunc(ports, func(port compile.Port) bool { return port.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("berth: the program has no %s %q, but %s", what, name, names(ports))
	}
	return &ports[i], nil
}

// Extents are a choice of the dimensions of a program, by name.
type Extents map[string]int

// Largest returns the largest extents of the program, for which its arena is laid
// out.
func (p *Program) Largest() Extents {
	if p.usable() != nil {
		return Extents{}
	}
	return p.extents(p.prog.Largest)
}

func (p *Program) extents(at extent.Point) Extents {
	extents := make(Extents, len(at))
	for i, d := range p.prog.Space.Dims() {
		extents[d.Name] = at[i]
	}
	return extents
}

// ExtentsOf returns the extents of a run on inputs, or why there is no such run.
func (p *Program) ExtentsOf(inputs map[string]*Tensor) (Extents, error) {
	at, _, err := p.solve(inputs)
	if err != nil {
		return nil, err
	}
	return p.extents(at), nil
}

// InputDims returns the extents of an input in a run of the given extents, which
// name every dimension.
func (p *Program) InputDims(name string, extents Extents) ([]int, error) {
	return p.portDims("input", name, extents)
}

// OutputDims returns the extents of an output in a run of the given extents, which
// name every dimension.
func (p *Program) OutputDims(name string, extents Extents) ([]int, error) {
	return p.portDims("output", name, extents)
}

func (p *Program) portDims(what, name string, extents Extents) ([]int, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	port, err := p.port(what, name)
	if err != nil {
		return nil, err
	}
	s := p.newSolver()
	if err := s.fix(extents); err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	if err := s.finish(); err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	return p.prog.DimsAt(port, s.point), nil
}

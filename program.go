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
	"github.com/berth-go/berth/pack"
	"github.com/berth-go/berth/shape"
)

// An Extent is the extent of an axis that varies from run to run; see [Dim].
type Extent struct {
	name string
	max  int
}

// Dim names the row dimension of a program: from 1 to max, chosen at each run.
// A program has one: all of its inputs state the same name and the same max.
func Dim(name string, max int) Extent { return Extent{name, max} }

// Input returns a promise of data that is bound when a compiled program runs.
// Each extent is an int, or the [Extent] of the row dimension. A promise that
// depends on an input can be compiled, and not materialised.
//
// Methods see max rows. What they are told in numbers is meant for any number
// of rows, as a bound of [Promise.Slice] is; an extent of [Promise.Reshape]
// that is -1 follows the rows, and among several that are all stated, as are
// those of [Promise.BroadcastTo], one that holds the whole row axis does.
func Input(name string, t DType, extents ...any) *Promise {
	typ := graph.Type{DType: t, Shape: make(shape.Shape, len(extents))}
	var rows []int
	var dim *Extent
	for axis, e := range extents {
		switch e := e.(type) {
		case int:
			typ.Shape[axis] = e
		case Extent:
			if e.max < 1 {
				return broken("input %q: dimension %q is at most %d", name, e.name, e.max)
			}
			if dim != nil && *dim != e {
				return broken("input %q: dimension %q of at most %d and %q of at most %d, of which a program has one", name, dim.name, dim.max, e.name, e.max)
			}
			dim = &e
			typ.Shape[axis] = e.max
			rows = append(rows, axis)
		default:
			return broken("input %q: extent %d is a %T, not an int or a dimension", name, axis, e)
		}
	}
	n, err := graph.NewInput(name, typ, rows...)
	if err != nil {
		return broken("%w", err)
	}
	return &Promise{value: n.Output(0), made: &recipe{input: &inputRecipe{n, dim}}}
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
	// NoSharing gives every value bytes of its own, for comparison.
	NoSharing bool
	// NoPacking has kernels read constants as they are stored. Otherwise
	// matrices and convolution weights are also held once in a packed form,
	// which is faster, most of all at few rows; results are the same.
	NoPacking bool
}

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
	named := make([]bridge.Output, 0, len(outputs))
	promises := make([]*Promise, 0, len(outputs))
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		p := outputs[name]
		if err := p.usable(); err != nil {
			return nil, fmt.Errorf("berth: output %q: %w", name, err)
		}
		named = append(named, bridge.Output{Name: name, Value: p.value})
		promises = append(promises, p)
	}
	rebuild, err := rebuilder(promises)
	if err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	return compileGraph(ctx, bridge.Graph{Outputs: named, Rebuild: rebuild}, opt)
}

// usable returns an error about a program that Compile did not make.
func (p *Program) usable() error {
	if p == nil || p.prog == nil {
		return errors.New("berth: the program is nil or the zero Program, which has no steps")
	}
	return nil
}

// MaxRows returns the most rows of a run; 1 when no input has the row
// dimension.
func (p *Program) MaxRows() int {
	if p.usable() != nil {
		return 0
	}
	return p.prog.MaxRows
}

// A Memory says what a program takes, in bytes, before it has run.
type Memory struct {
	Arena      int64 `json:"arena_bytes"`              // of each instance
	Scratch    int64 `json:"scratch_bytes_per_worker"` // of each worker of an instance
	Weights    int64 `json:"weights_bytes"`            // shared by all instances
	Packed     int64 `json:"packed_weights_bytes"`     // weights once more, packed for kernels; taken with the first instance and shared by all
	LowerBound int64 `json:"lower_bound_bytes"`        // no arena for the same steps can be smaller
	NoReuse    int64 `json:"materialized_bytes"`       // the arena if no value shared a byte with another
}

// String prints the figures, one a line.
func (m Memory) String() string {
	return fmt.Sprintf("arena        %12d bytes for each instance\nlower bound  %12d\nwithout reuse%12d\nscratch      %12d for each worker\nweights      %12d shared\npacked       %12d of them once more, shared\n",
		m.Arena, m.LowerBound, m.NoReuse, m.Scratch, m.Weights, m.Packed)
}

// Memory returns what the program takes: exactly, before any run.
func (p *Program) Memory() Memory {
	if p.usable() != nil {
		return Memory{}
	}
	m := Memory{
		Arena:      p.prog.Buffers.Arena,
		Scratch:    int64(p.prep.ScratchBytes()),
		Packed:     int64(p.prep.PackedBytes()),
		LowerBound: p.prog.Buffers.LowerBound,
		NoReuse:    p.prog.Buffers.Materialized,
	}
	seen := make(map[*byte]bool)
	for _, w := range p.prog.Weights {
		if data := w.Leaf().Data; len(data) > 0 && !seen[&data[0]] {
			seen[&data[0]] = true
			m.Weights += int64(len(data))
		}
	}
	return m
}

// A Port describes an input or output of a program.
type Port struct {
	Name  string
	DType DType
	// Dims are the extents; those of the row dimension, and others that
	// depend on it, as they are at the most rows.
	Dims []int
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
		out[i] = Port{port.Name, port.Type.DType, port.Type.Shape.Clone()}
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
func checkNames[V any](p *Program, what string, given map[string]V, list []compile.Port) error {
	is := func(name string) bool {
		return slices.ContainsFunc(list, func(port compile.Port) bool { return port.Name == name })
	}
	known := 0
	for i := range list {
		if _, ok := given[list[i].Name]; ok {
			known++
		}
	}
	if known == len(given) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch {
		case is(name):
		case slices.Contains(p.constants, name):
			return fmt.Errorf("berth: %s %q is a constant of the program; Options.Values of package onnx replaces it when the model is compiled", what, name)
		default:
			return fmt.Errorf("berth: the program has no %s %q, but %s", what, name, names(list))
		}
	}
	return nil
}

// OutputDims returns the extents of an output in a run of the given rows.
func (p *Program) OutputDims(name string, rows int) ([]int, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	for _, port := range p.prog.Outputs {
		if port.Name == name {
			if rows < 1 || rows > p.prog.MaxRows {
				return nil, fmt.Errorf("berth: %d rows: the program runs 1 to %d", rows, p.prog.MaxRows)
			}
			return port.DimsAt(rows), nil
		}
	}
	return nil, fmt.Errorf("berth: the program has no output %q, but %s", name, names(p.prog.Outputs))
}

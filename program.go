package berth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/berth-go/berth/circuit"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/exec"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/pack"
	"github.com/berth-go/berth/plan"
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
// and may be shared freely; its instances run it.
type Program struct {
	prog *compile.Program
	prep *exec.Prepared
}

// Compile plans outputs as a program. What depends on constants alone is
// computed now; ctx ends that, and the search for offsets, early.
func Compile(ctx context.Context, outputs Outputs, opt *CompileOptions) (*Program, error) {
	if len(outputs) == 0 {
		return nil, errors.New("berth: a program with no outputs")
	}
	named := make([]NamedValue, 0, len(outputs))
	promises := make([]*Promise, 0, len(outputs))
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		p := outputs[name]
		if err := p.usable(); err != nil {
			return nil, fmt.Errorf("berth: output %q: %w", name, err)
		}
		named = append(named, NamedValue{Name: name, Value: p.value})
		promises = append(promises, p)
	}
	rebuild, err := rebuilder(promises)
	if err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	return CompileGraph(ctx, named, rebuild, opt)
}

// A NamedValue is a value of a graph that is an output of a program.
type NamedValue = compile.Output

// CompileGraph is [Compile] for packages that build graphs themselves. Rebuild,
// which may be nil, builds the same graph for another number of rows: nodes in
// the same order, with other extents among their attributes. Without it the
// extents follow from those of the inputs.
func CompileGraph(ctx context.Context, outputs []NamedValue, rebuild func(rows int) ([]graph.Value, error), opt *CompileOptions) (*Program, error) {
	if opt == nil {
		opt = &CompileOptions{}
	}
	prog, err := compile.Compile(ctx, outputs, exec.Evaluate, compile.Options{
		Strategy: opt.Strategy, SearchBudget: opt.SearchNodes, Budget: cmp.Or(opt.MaxArena, DefaultMaxBytes),
		SeedOrder: opt.SeedOrder, NoSharing: opt.NoSharing, Rebuild: rebuild,
	})
	if err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	prep, err := exec.Prepare(prog, !opt.NoPacking)
	if err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	return &Program{prog, prep}, nil
}

// MaxRows returns the most rows of a run; 1 when no input has the row
// dimension.
func (p *Program) MaxRows() int { return p.prog.MaxRows }

// Plan returns the steps of the program, before values were given shared
// bytes.
func (p *Program) Plan() *plan.Plan { return p.prog.Plan }

// Circuit returns the problem that was solved to lay out the arena, in the
// terms of package circuit, and its solution.
func (p *Program) Circuit() (*circuit.Problem, *circuit.BufferPlan) {
	return &circuit.Problem{
		Circuit: p.prog.Circuit, Plan: p.prog.Fusion, Layout: p.prog.Layout, MaxRows: int64(p.prog.MaxRows),
	}, p.prog.Buffers
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

// Moved returns the bytes that a run at the most rows copies from one place to
// another without computing, by op: concatenations whose parts are not in
// place, and packings.
func (p *Program) Moved() map[string]int64 {
	moved := make(map[string]int64)
	for i := range p.prog.Steps {
		s := &p.prog.Steps[i]
		if s.Moves {
			moved[p.prog.Plan.Steps[s.Index].Node.Op().Name()] += int64(s.Out[0].Type.Bytes())
		}
	}
	return moved
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
func (p *Program) Inputs() []Port { return ports(p.prog.Inputs) }

// Outputs returns what a run computes.
func (p *Program) Outputs() []Port { return ports(p.prog.Outputs) }

func ports(list []compile.Port) []Port {
	out := make([]Port, len(list))
	for i, port := range list {
		out[i] = Port{port.Name, port.Type.DType, port.Type.Shape.Clone()}
	}
	return out
}

// OutputDims returns the extents of an output in a run of the given rows.
func (p *Program) OutputDims(name string, rows int) ([]int, error) {
	for _, port := range p.prog.Outputs {
		if port.Name == name {
			if rows < 1 || rows > p.prog.MaxRows {
				return nil, fmt.Errorf("berth: %d rows: the program runs 1 to %d", rows, p.prog.MaxRows)
			}
			dims := make([]int, len(port.Dims))
			for i, d := range port.Dims {
				dims[i] = d.At(rows)
			}
			return dims, nil
		}
	}
	return nil, fmt.Errorf("berth: the program has no output %q", name)
}

// InstanceOptions steer an instance. Nil stands for the zero value.
type InstanceOptions struct {
	// Workers is the number of goroutines that share each step, the caller
	// of Run among them; 0 means one for each processor. Results do not
	// depend on it.
	Workers int
	// Poison fills the arena before each run with bytes that no right program
	// reads, to find one that is wrong.
	Poison bool
}

// An Instance is one arena bound to a program. It runs once at a time.
type Instance struct {
	inst  *exec.Instance
	prog  *compile.Program
	state atomic.Int32
}

// What an instance does.
const (
	idle int32 = iota
	running
	closed
)

// NewInstance allocates an arena and binds every kernel to it. The first one
// also packs the constants, unless CompileOptions.NoPacking says otherwise.
func (p *Program) NewInstance(opt *InstanceOptions) (*Instance, error) {
	if opt == nil {
		opt = &InstanceOptions{}
	}
	inst, err := p.prep.NewInstance(opt.Workers, opt.Poison)
	if err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	return &Instance{inst: inst, prog: p.prog}, nil
}

// RunOnce makes an instance, runs it and returns the outputs as tensors: for
// programs that run once, and for tests.
func (p *Program) RunOnce(ctx context.Context, inputs map[string]*Tensor, workers int) (map[string]*Tensor, error) {
	inst, err := p.NewInstance(&InstanceOptions{Workers: workers})
	if err != nil {
		return nil, err
	}
	defer inst.Close()
	given := make(Values, len(inputs))
	rows := 1
	for k := range p.prog.Inputs {
		port := &p.prog.Inputs[k]
		t := inputs[port.Name]
		if t == nil {
			return nil, fmt.Errorf("berth: input %q is not given", port.Name)
		}
		if !t.IsDense() {
			t = t.Contiguous()
		}
		given[port.Name] = t
		n, ok := rowsOf(port, t, p.prog.MaxRows)
		if !ok {
			return nil, fmt.Errorf("berth: input %q: the shape %v is not that of 1 to %d rows of %v", port.Name, t.layout.Shape, p.prog.MaxRows, port.Type)
		}
		rows = max(rows, n)
	}
	outputs, buffers := make(map[string]*Tensor, len(p.prog.Outputs)), make(Values, len(p.prog.Outputs))
	for k := range p.prog.Outputs {
		port := &p.prog.Outputs[k]
		dims, err := p.OutputDims(port.Name, rows)
		if err != nil {
			return nil, err
		}
		t, err := newTensor(port.Type.DType, dims)
		if err != nil {
			return nil, err
		}
		outputs[port.Name], buffers[port.Name] = t, raw{t}
	}
	return outputs, inst.Run(ctx, given, buffers)
}

// rowsOf returns the rows of a run to which x is the input of port: 0 if its
// shape is right for any. It reports false if it is right for none.
func rowsOf(port *compile.Port, x *Tensor, most int) (rows int, ok bool) {
	if len(x.layout.Shape) != len(port.Dims) {
		return 0, false
	}
	for axis, d := range x.layout.Shape {
		n, ok := port.Dims[axis].Rows(d, most)
		if !ok || n != 0 && rows != 0 && n != rows {
			return 0, false
		}
		rows = max(rows, n)
	}
	return rows, true
}

// raw is a fresh tensor that a run may still write.
type raw struct{ *Tensor }

// Close ends the workers of the instance, which cannot run any more. One that
// is forgotten instead is cleaned up with the garbage. Close must not be called
// during a run.
func (i *Instance) Close() {
	if i.state.CompareAndSwap(idle, closed) {
		i.inst.Close()
	}
}

// Values are the buffers of a run, by the name of the input or output: slices
// of the Go type of the elements, in row-major order, or for inputs also dense
// tensors, of the shape that the input has at the rows of the run. They are
// read and written in place, and must not overlap.
type Values map[string]any

// Run computes outputs from inputs. The number of rows follows from the
// lengths of the inputs; an output must have room for that many and is filled
// from its start. Run allocates nothing, unless it fails. A run that begins
// while another one goes on is an error.
func (i *Instance) Run(ctx context.Context, inputs, outputs Values) error {
	if !i.state.CompareAndSwap(idle, running) {
		if i.state.Load() == closed {
			return errors.New("berth: the instance is closed")
		}
		return errors.New("berth: the instance is running already; each runs once at a time")
	}
	defer i.state.Store(idle)
	rows := 0
	for k := range i.prog.Inputs {
		port := &i.prog.Inputs[k]
		data, t, err := buffer(inputs, port.Name, true)
		if err != nil {
			return fmt.Errorf("berth: input %q: %w", port.Name, err)
		}
		if t != port.Type.DType {
			return fmt.Errorf("berth: input %q holds %v, not %v", port.Name, port.Type.DType, t)
		}
		n, ok := port.Elems.Rows(len(data)/t.Size(), i.prog.MaxRows)
		if x, tensor := inputs[port.Name].(*Tensor); tensor {
			if n, ok = rowsOf(port, x, i.prog.MaxRows); !ok {
				return fmt.Errorf("berth: input %q: the shape %v is not that of 1 to %d rows of %v", port.Name, x.layout.Shape, i.prog.MaxRows, port.Type)
			}
		}
		if !ok {
			return fmt.Errorf("berth: input %q: %d elements are not those of 1 to %d rows of %v", port.Name, len(data)/t.Size(), i.prog.MaxRows, port.Type)
		}
		if n != 0 && rows != 0 && n != rows {
			return fmt.Errorf("berth: input %q has %d rows, another one %d", port.Name, n, rows)
		}
		rows = max(rows, n)
		i.inst.Bind(compile.InPort, k, data)
	}
	if rows == 0 {
		rows = i.prog.MaxRows // nothing varies, or nothing tells
	}
	for k := range i.prog.Outputs {
		port := &i.prog.Outputs[k]
		data, t, err := buffer(outputs, port.Name, false)
		if err != nil {
			return fmt.Errorf("berth: output %q: %w", port.Name, err)
		}
		if t != port.Type.DType {
			return fmt.Errorf("berth: output %q is %v, the buffer %v", port.Name, port.Type.DType, t)
		}
		i.inst.Bind(compile.OutPort, k, data)
	}
	if err := i.inst.Run(ctx, rows); err != nil {
		return fmt.Errorf("berth: %w", err)
	}
	return nil
}

// buffer returns the bytes and the element type of a value.
func buffer(values Values, name string, input bool) ([]byte, dtype.Type, error) {
	switch v := values[name].(type) {
	case []float32:
		return kernel.Bytes(v), dtype.Float32, nil
	case []float64:
		return kernel.Bytes(v), dtype.Float64, nil
	case []int64:
		return kernel.Bytes(v), dtype.Int64, nil
	case []int32:
		return kernel.Bytes(v), dtype.Int32, nil
	case []int16:
		return kernel.Bytes(v), dtype.Int16, nil
	case []int8:
		return kernel.Bytes(v), dtype.Int8, nil
	case []uint8:
		return v, dtype.Uint8, nil
	case []uint16:
		return kernel.Bytes(v), dtype.Uint16, nil
	case []uint32:
		return kernel.Bytes(v), dtype.Uint32, nil
	case []uint64:
		return kernel.Bytes(v), dtype.Uint64, nil
	case []bool:
		return kernel.Bytes(v), dtype.Bool, nil
	case []dtype.F16:
		return kernel.Bytes(v), dtype.Float16, nil
	case []dtype.BF16:
		return kernel.Bytes(v), dtype.BFloat16, nil
	case *Tensor:
		if v == nil {
			return nil, 0, fmt.Errorf("is a nil tensor")
		}
		if !input {
			return nil, 0, fmt.Errorf("a tensor is immutable and cannot be written")
		}
		if !v.IsDense() {
			return nil, 0, fmt.Errorf("the tensor is not dense: %v", v.layout)
		}
		return v.bytes(), v.dtype, nil
	case raw:
		return v.data, v.dtype, nil
	case nil:
		return nil, 0, fmt.Errorf("is not given")
	default:
		return nil, 0, fmt.Errorf("a %T is not a slice of elements", v)
	}
}

// String describes the program: its ports and what it takes.
func (p *Program) String() string {
	var b strings.Builder
	for _, in := range p.Inputs() {
		fmt.Fprintf(&b, "input  %s %v%v\n", in.Name, in.DType, in.Dims)
	}
	for _, out := range p.Outputs() {
		fmt.Fprintf(&b, "output %s %v%v\n", out.Name, out.DType, out.Dims)
	}
	fmt.Fprintf(&b, "rows   1 to %d\nsteps  %d\n%v", p.MaxRows(), len(p.prog.Steps), p.Memory())
	return b.String()
}

// NewBuffer returns a slice for an output of a run of the most rows.
func (p *Program) NewBuffer(output string) (any, error) {
	for _, port := range p.prog.Outputs {
		if port.Name == output {
			t, err := newTensor(port.Type.DType, port.Type.Shape)
			return raw{t}, err
		}
	}
	return nil, fmt.Errorf("berth: the program has no output %q", output)
}

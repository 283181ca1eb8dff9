package exec

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/internal/op"
	"github.com/berth-go/berth/shape"
)

// An Instance is a program bound to an arena of its own. It runs once at a
// time.
type Instance struct {
	prep    *Prepared // whose forms the kernels read
	workers *Workers
	arena   []byte
	scratch int
	steps   []boundStep
	ports   []port // inputs, then outputs
	in, out []port // the two parts of ports
	poison  bool
	watch   func(step int, took time.Duration) // may be nil

	point  extent.Point // that the kernels are bound for
	values []int        // of the functions of the program there
}

// port is an input or output with the buffer that is bound to it.
type port struct {
	*compile.Port
	what string // input or output
	data []byte
}

// boundStep is a kernel with the operands it is bound to.
type boundStep struct {
	kern    kernel.Kernel
	in, out []*kernel.Operand // nil where absent
	step    *compile.Step
	uses    uint64                              // the dimensions that it depends on
	retune  func(k kernel.Kernel, values []int) // nil where the attributes are fixed
	endless bool                                // it goes through more than mostElems elements
}

// mostElems bounds the elements of an operand that a step goes through. An operand may take
// no memory, since an element is repeated, but a kernel takes time for each, and is not
// stopped on the way.
const mostElems = 1 << 34

// errElems is the error about a step that would take for ever.
var errElems = fmt.Errorf("an operand has more than %d elements, which are as many as a step may go through", int64(mostElems))

// NewInstance allocates an arena and binds every kernel. Count is the number of
// workers; 0 means one for each processor. Poison fills the arena before each run with bytes
// that no right program reads. It is an error that wraps ErrMemory when the
// working memory of all workers exceeds DefaultMaxBytes.
func (p *Prepared) NewInstance(count int, poison bool) (*Instance, error) {
	workers := NewWorkers(count)
	inst, err := p.NewInstanceOn(workers, poison)
	if err != nil {
		workers.Close()
		return nil, err
	}
	inst.UseArena(kernel.Alloc(inst.ArenaBytes()))
	return inst, nil
}

// NewInstanceOn is NewInstance on workers that other instances have too, and without
// an arena: [Instance.UseArena] gives it one. Instances that share either run one at
// a time. Whoever made the workers closes them, and no instance.
func (p *Prepared) NewInstanceOn(workers *Workers, poison bool) (*Instance, error) {
	if err := workers.Reserve(p.scratch, DefaultMaxBytes); err != nil {
		return nil, err
	}
	if err := p.prepack(workers); err != nil {
		return nil, err
	}
	prog := p.prog
	inst := &Instance{
		prep:    p,
		workers: workers,
		scratch: p.scratch,
		steps:   make([]boundStep, len(prog.Steps)),
		poison:  poison,
		point:   slices.Clone(prog.Largest),
		values:  make([]int, prog.Space.Len()),
	}
	prog.Space.Eval(inst.point, inst.values)
	for i := range prog.Inputs {
		inst.ports = append(inst.ports, port{Port: &prog.Inputs[i], what: "input"})
	}
	for i := range prog.Outputs {
		inst.ports = append(inst.ports, port{Port: &prog.Outputs[i], what: "output"})
	}
	inst.in, inst.out = inst.ports[:len(prog.Inputs)], inst.ports[len(prog.Inputs):]
	for i := range prog.Steps {
		b, err := newBoundStep(prog, i)
		if err != nil {
			return nil, err
		}
		b.weights(p, p.uses[i])
		p.usePrepacked(i, &b)
		b.bind(inst.values)
		inst.steps[i] = b
	}
	return inst, nil
}

// ArenaBytes returns the size of the arena.
func (inst *Instance) ArenaBytes() int { return int(inst.prep.prog.Buffers.Arena) }

// UseArena has the instance work in memory of at least [Instance.ArenaBytes], aligned as
// [kernel.Alloc] does.
func (inst *Instance) UseArena(arena []byte) {
	inst.arena = arena[:inst.ArenaBytes()]
	for i := range inst.steps {
		inst.steps[i].attach(compile.Arena, func(o *compile.Operand) []byte { return inst.arena[o.Base:] })
	}
}

func newBoundStep(p *compile.Program, i int) (boundStep, error) {
	s := &p.Steps[i]
	b := boundStep{step: s, uses: s.Uses(p.Space), retune: s.Retuner()}
	var inTypes, outTypes []graph.Type
	b.in, inTypes = operands(s.In)
	b.out, outTypes = operands(s.Out)
	var err error
	if b.kern, err = op.KernelOf(s.Op, inTypes, outTypes); err != nil {
		return b, fmt.Errorf("step %d: %w", s.Index, err)
	}
	return b, nil
}

// operands returns operands of the ranks in the list, and their types.
func operands(list []compile.Operand) ([]*kernel.Operand, []graph.Type) {
	operands, types := make([]*kernel.Operand, len(list)), make([]graph.Type, len(list))
	for i, o := range list {
		types[i] = o.Type
		if o.Space != compile.Absent {
			operands[i] = &kernel.Operand{DType: o.Type.DType, Shape: make([]int, len(o.Shape)), Strides: make([]int, len(o.Shape))}
		}
	}
	return operands, types
}

// bind lays the operands out for the point at which the functions of the program
// have the given values, and binds the kernel.
func (b *boundStep) bind(values []int) {
	lay := func(from []compile.Operand, to []*kernel.Operand) {
		for i, o := range to {
			if o == nil {
				continue
			}
			for a := range o.Shape {
				o.Shape[a], o.Strides[a] = values[from[i].Shape[a]], values[from[i].Strides[a]]
			}
			o.Offset = values[from[i].Offset]
		}
	}
	lay(b.step.In, b.in)
	lay(b.step.Out, b.out)
	b.endless = isEndless(b.in) || isEndless(b.out)
	if b.retune != nil {
		b.retune(b.kern, values)
	}
	b.kern.Bind(b.in, b.out)
}

// isEndless reports whether an operand has more than mostElems elements.
func isEndless(operands []*kernel.Operand) bool {
	for _, o := range operands {
		if o != nil && shape.Shape(o.Shape).Elems() > mostElems {
			return true
		}
	}
	return false
}

// weights gives the operands that are constants, but for those that are read in a prepacked
// form, their memory.
func (b *boundStep) weights(p *Prepared, uses []use) {
	for i, o := range b.in {
		if s := &b.step.In[i]; s.Space == compile.Weight && !isUsed(uses, i) {
			o.Data = p.prog.Weights[s.Index].Leaf().Data
		}
	}
}

// attach gives the operands in a space their memory.
func (b *boundStep) attach(space compile.Space, memory func(*compile.Operand) []byte) {
	set := func(from []compile.Operand, to []*kernel.Operand) {
		for i, o := range to {
			if from[i].Space == space {
				o.Data = memory(&from[i])
			}
		}
	}
	set(b.step.In, b.in)
	set(b.step.Out, b.out)
}

// bind binds the kernels that depend on a dimension that has another extent at p.
func (inst *Instance) bind(p extent.Point) {
	var changed uint64
	for i, n := range p {
		if n != inst.point[i] {
			changed |= 1 << i
		}
	}
	if changed == 0 {
		return
	}
	copy(inst.point, p)
	inst.prep.prog.Space.Eval(p, inst.values)
	for i := range inst.steps {
		if b := &inst.steps[i]; b.uses&changed != 0 {
			b.bind(inst.values)
		}
	}
}

// Watch has f called after each step of a run, with its number among those of the plan and
// the time that it took; nil ends it. A step of several kernels counts as several.
func (inst *Instance) Watch(f func(step int, took time.Duration)) { inst.watch = f }

// Program returns what the instance runs.
func (inst *Instance) Program() *compile.Program { return inst.prep.prog }

// BindInput sets the buffer of an input. It must be aligned to the element width and hold
// the elements at the extents that are run.
func (inst *Instance) BindInput(index int, data []byte) { inst.in[index].data = data }

// BindOutput likewise sets the buffer of an output.
func (inst *Instance) BindOutput(index int, data []byte) { inst.out[index].data = data }

// Run computes the outputs from the inputs bound, for extents within the bounds
// of the dimensions. It allocates nothing, unless it fails. Between two steps it
// looks at ctx and returns its cause when it is done.
func (inst *Instance) Run(ctx context.Context, p extent.Point) error {
	dims := inst.prep.prog.Space.Dims()
	if len(p) != len(dims) {
		return fmt.Errorf("%d extents for %d dimensions", len(p), len(dims))
	}
	for i, d := range dims {
		if p[i] < d.Min || p[i] > d.Max {
			return fmt.Errorf("%s=%d: the program runs %d to %d", d.Name, p[i], d.Min, d.Max)
		}
	}
	inst.bind(p)
	if err := inst.checkPorts(); err != nil {
		return err
	}
	poison(inst.arena, inst.poison)
	for i := range inst.steps {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b := &inst.steps[i]
		if b.endless {
			return fmt.Errorf("step %d, %v: %w", b.step.Index, b.step, errElems)
		}
		inst.connect(b.step.In, b.in)
		inst.connect(b.step.Out, b.out)
		if n := b.kern.Scratch(); n > inst.scratch {
			return fmt.Errorf("step %d, %s: needs %d bytes of working memory with %s, and no more than %d were expected",
				b.step.Index, graph.Title(b.step.Op), n, extent.Text(dims, p), inst.scratch)
		}
		var began time.Time
		if inst.watch != nil {
			began = time.Now()
		}
		if err := inst.workers.Run(b.kern); err != nil {
			return fmt.Errorf("step %d, %v: %w", b.step.Index, b.step, err)
		}
		if inst.watch != nil {
			inst.watch(b.step.Index, time.Since(began))
		}
	}
	return nil
}

// connect points operands at the buffers bound for this run.
func (inst *Instance) connect(from []compile.Operand, to []*kernel.Operand) {
	for i := range from {
		switch from[i].Space {
		case compile.InPort:
			to[i].Data = inst.in[from[i].Index].data
		case compile.OutPort:
			// A part that has no elements at these extents may begin behind them.
			buffer := inst.out[from[i].Index].data
			to[i].Data = buffer[min(from[i].Base, int64(len(buffer))):]
		}
	}
}

// checkPorts returns an error when a buffer is too small for the extents of a
// run, lies at an odd address, or, where it is one of an output, has a byte in common
// with that of an input or of an output before it. For that buffers are taken whole,
// so that the answer does not depend on the extents of the run.
func (inst *Instance) checkPorts() error {
	for i := range inst.ports {
		p := &inst.ports[i]
		size := p.Type.DType.Size()
		if need := inst.values[p.Elems] * size; len(p.data) < need {
			return fmt.Errorf("%s %q: %d bytes are bound, a run%s takes %d", p.what, p.Name, len(p.data), inst.prep.prog.Space.With(inst.point), need)
		}
		if !kernel.Aligned(p.data, size) {
			return fmt.Errorf("%s %q: the buffer is not aligned to %d bytes", p.what, p.Name, size)
		}
		if i < len(inst.in) {
			continue
		}
		for k := range inst.ports[:i] {
			if other := &inst.ports[k]; kernel.Overlap(p.data, other.data) {
				return fmt.Errorf("%s %q and %s %q overlap in memory", p.what, p.Name, other.what, other.Name)
			}
		}
	}
	return nil
}

// Close ends the instance's workers. It must not be used any more.
func (inst *Instance) Close() { inst.workers.Close() }

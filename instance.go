package berth

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/exec"
	"github.com/berth-go/berth/internal/extent"
	"github.com/berth-go/berth/internal/kernel"
)

// InstanceOptions steer an instance. Nil stands for the zero value.
type InstanceOptions struct {
	// Workers is the number of goroutines that share each step, the caller
	// of Run among them; 0 means one for each processor. Results do not
	// depend on it.
	Workers int
	// Poison fills the arena before each run with bytes that no right program
	// reads, to find one that is wrong.
	Poison bool
	// Watch, if it is not nil, is called after each step of a run that computes or copies,
	// with its index among the steps of [Program.Describe] and the time that it took.
	Watch func(step int, took time.Duration)
}

// An Instance is one arena bound to a program. It runs once at a time.
type Instance struct {
	inst    *exec.Instance
	program *Program
	state   atomic.Int32
	point   extent.Point // of the run that goes on
}

// What an instance does.
const (
	idle int32 = iota
	running
	closed
)

// NewInstance allocates an arena and binds every kernel to it. The first one
// also prepacks the constants, unless CompileOptions.NoPrepack says otherwise.
func (p *Program) NewInstance(opt *InstanceOptions) (*Instance, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	if opt == nil {
		opt = &InstanceOptions{}
	}
	inst, err := p.prep.NewInstance(opt.Workers, opt.Poison)
	if err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	inst.Watch(opt.Watch)
	return &Instance{inst: inst, program: p, point: make(extent.Point, len(p.prog.Space.Dims()))}, nil
}

// RunOnce makes an instance, runs it and returns the outputs as tensors: for
// programs that run once, and for tests. The inputs may have any layout.
func (p *Program) RunOnce(ctx context.Context, inputs map[string]*Tensor, workers int) (map[string]*Tensor, error) {
	at, given, err := p.solve(inputs)
	if err != nil {
		return nil, err
	}
	outputs, buffers := make(map[string]*Tensor, len(p.prog.Outputs)), make(Values, len(p.prog.Outputs))
	for k := range p.prog.Outputs {
		port := &p.prog.Outputs[k]
		t, err := p.newOutput(port, at)
		if err != nil {
			return nil, err
		}
		outputs[port.Name], buffers[port.Name] = t, t.slice()
	}
	for k := range p.prog.Inputs {
		port := &p.prog.Inputs[k]
		t := inputs[port.Name]
		if !t.IsDense() {
			if err := p.room("input", port, at); err != nil {
				return nil, err
			}
			given[port.Name] = t.Contiguous()
		}
	}
	inst, err := p.NewInstance(&InstanceOptions{Workers: workers})
	if err != nil {
		return nil, err
	}
	defer inst.Close()
	if err := inst.Run(ctx, given, buffers); err != nil {
		return nil, err
	}
	return outputs, nil
}

// Close ends the workers of the instance, which cannot run any more. One that
// is forgotten instead is cleaned up with the garbage. Close must not be called
// during a run.
func (i *Instance) Close() {
	if i != nil && i.inst != nil && i.state.CompareAndSwap(idle, closed) {
		i.inst.Close()
	}
}

// Values are the buffers of a run, by the name of the input or output: slices
// of the Go type of the elements, in row-major order, or for inputs also dense
// tensors, of the shape that the input has in the run. They are read and written
// in place. Inputs may overlap each other in memory; an output that overlaps an
// input or another output is an error.
type Values map[string]any

// Run computes outputs from inputs. The dimensions follow from the shapes of
// inputs that are tensors and from the lengths of those that are slices, as far as
// these tell: 12 elements of [batch seq] may be 3 rows of 4 or 2 of 6, and if no
// other input decides, use [Instance.RunAt]. An output must have room for the
// extents that it has then, and is filled from its start.
//
// Run allocates nothing, unless it fails. A run that begins while another one
// goes on is an error.
func (i *Instance) Run(ctx context.Context, inputs, outputs Values) error {
	return i.RunAt(ctx, nil, inputs, outputs)
}

// RunAt is [Instance.Run] for extents that the caller states, all or some of them:
//
//	inst.RunAt(ctx, berth.Extents{"batch": 3}, inputs, outputs)   // 12 elements are 3 rows of 4
func (i *Instance) RunAt(ctx context.Context, extents Extents, inputs, outputs Values) error {
	if i == nil || i.inst == nil {
		return errors.New("berth: the instance is nil or the zero Instance, which has no arena")
	}
	if ctx == nil {
		return errContext
	}
	if !i.state.CompareAndSwap(idle, running) {
		if i.state.Load() == closed {
			return errors.New("berth: the instance is closed")
		}
		return errors.New("berth: the instance is running already; each runs once at a time")
	}
	defer i.state.Store(idle)
	prog := i.program.prog
	if err := checkNames(i.program, "input", inputs); err != nil {
		return err
	}
	if err := checkNames(i.program, "output", outputs); err != nil {
		return err
	}
	solve := solver{prog: prog, point: i.point}
	if err := solve.inputs(extents, inputs); err != nil {
		return fmt.Errorf("berth: %w", err)
	}
	for k := range prog.Inputs {
		data, _, err := buffer(inputs, prog.Inputs[k].Name, true)
		if err != nil {
			return fmt.Errorf("berth: input %q: %w", prog.Inputs[k].Name, err)
		}
		i.inst.BindInput(k, data)
	}
	for k := range prog.Outputs {
		port := &prog.Outputs[k]
		data, t, err := buffer(outputs, port.Name, false)
		if err != nil {
			return fmt.Errorf("berth: output %q: %w", port.Name, err)
		}
		if t != port.Type.DType {
			return fmt.Errorf("berth: output %q is %v, the buffer %v", port.Name, port.Type.DType, t)
		}
		i.inst.BindOutput(k, data)
	}
	if err := i.inst.Run(ctx, i.point); err != nil {
		return fmt.Errorf("berth: %w", err)
	}
	return nil
}

// A goSlice says how the slices of one Go type and the bytes of their elements
// become each other; both share memory.
type goSlice struct {
	dtype dtype.Type
	bytes func(slice any) (data []byte, ok bool)
	of    func(data []byte) any
}

func goSliceOf[T Element]() goSlice {
	return goSlice{
		dtype: dtype.Of[T](),
		bytes: func(slice any) ([]byte, bool) {
			s, ok := slice.([]T)
			return kernel.Bytes(s), ok
		},
		of: func(data []byte) any { return kernel.Cast[T](data) },
	}
}

// goSlices has one for each element type, those that models use most first.
var goSlices = []goSlice{
	goSliceOf[float32](), goSliceOf[int64](), goSliceOf[float64](), goSliceOf[int32](), goSliceOf[bool](),
	goSliceOf[dtype.F16](), goSliceOf[dtype.BF16](), goSliceOf[int16](), goSliceOf[int8](),
	goSliceOf[uint8](), goSliceOf[uint16](), goSliceOf[uint32](), goSliceOf[uint64](),
	goSliceOf[dtype.I4](), goSliceOf[dtype.U4](), goSliceOf[dtype.I2](), goSliceOf[dtype.U2](),
	goSliceOf[dtype.F8E4M3FN](), goSliceOf[dtype.F8E5M2](), goSliceOf[dtype.F8E4M3FNUZ](), goSliceOf[dtype.F8E5M2FNUZ](),
	goSliceOf[dtype.F8E8M0](), goSliceOf[dtype.F4E2M1](),
}

// buffer returns the bytes and the element type of a value.
func buffer(values Values, name string, input bool) ([]byte, dtype.Type, error) {
	switch v := values[name].(type) {
	case *Tensor:
		if err := v.usable(); err != nil {
			return nil, 0, err
		}
		if !input {
			return nil, 0, fmt.Errorf("a tensor is immutable and cannot be written")
		}
		if !v.IsDense() {
			return nil, 0, fmt.Errorf("the tensor is not dense: %v", v.layout)
		}
		return v.bytes(), v.dtype, nil
	case nil:
		return nil, 0, fmt.Errorf("is not given")
	default:
		for _, k := range goSlices {
			if data, ok := k.bytes(v); ok {
				return data, k.dtype, nil
			}
		}
		return nil, 0, fmt.Errorf("a %T is not a slice of elements", v)
	}
}

// slice returns the storage of a tensor as a slice of its Go type, which a run
// may write as long as nobody else has the tensor.
func (t *Tensor) slice() any {
	for _, k := range goSlices {
		if k.dtype == t.dtype {
			return k.of(t.data)
		}
	}
	panic("berth: no slice holds " + t.dtype.String())
}

// NewBuffer returns a slice for an output of a run of the largest extents: a []T of
// the Go type T of its elements, such as a []float32. It is an error that wraps
// [ErrMemory] when that takes more than [DefaultMaxBytes].
func (p *Program) NewBuffer(output string) (any, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	port, err := p.port("output", output)
	if err != nil {
		return nil, err
	}
	t, err := p.newOutput(port, p.prog.Largest)
	if err != nil {
		return nil, err
	}
	return t.slice(), nil
}

// newOutput returns a fresh tensor for an output of a run at a point.
func (p *Program) newOutput(port *compile.Port, at extent.Point) (*Tensor, error) {
	if err := p.room("output", port, at); err != nil {
		return nil, err
	}
	return newTensor(port.Type.DType, p.prog.DimsAt(port, at))
}

// room returns an error when what a port holds is more than may be allocated
// for it.
func (p *Program) room(what string, port *compile.Port, at extent.Point) error {
	n := int64(p.prog.Space.At(port.Elems, at)) * int64(port.Type.DType.Size())
	if n > DefaultMaxBytes {
		return fmt.Errorf("berth: %s %q%s: %w: %d bytes, %d are available", what, port.Name, p.prog.Space.With(at), ErrMemory, n, int64(DefaultMaxBytes))
	}
	return nil
}

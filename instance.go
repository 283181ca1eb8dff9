package berth

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/compile"
	"github.com/berth-go/berth/internal/exec"
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
}

// An Instance is one arena bound to a program. It runs once at a time.
type Instance struct {
	inst    *exec.Instance
	program *Program
	state   atomic.Int32
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
	return &Instance{inst: inst, program: p}, nil
}

// RunOnce makes an instance, runs it and returns the outputs as tensors: for
// programs that run once, and for tests. The inputs may have any layout.
func (p *Program) RunOnce(ctx context.Context, inputs map[string]*Tensor, workers int) (map[string]*Tensor, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	if err := checkNames(p, "input", inputs, p.prog.Inputs); err != nil {
		return nil, err
	}
	rows := 0
	for k := range p.prog.Inputs {
		port := &p.prog.Inputs[k]
		t, given := inputs[port.Name]
		if !given {
			return nil, fmt.Errorf("berth: input %q is not given", port.Name)
		}
		if err := t.usable(); err != nil {
			return nil, fmt.Errorf("berth: input %q: %w", port.Name, err)
		}
		n, ok := rowsOf(port, t, p.prog.MaxRows)
		if !ok {
			return nil, fmt.Errorf("berth: input %q: the shape %v is not that of 1 to %d rows of %v", port.Name, t.layout.Shape, p.prog.MaxRows, port.Type)
		}
		rows = max(rows, n)
	}
	if rows == 0 {
		rows = p.prog.MaxRows // as in Run
	}
	outputs, buffers := make(map[string]*Tensor, len(p.prog.Outputs)), make(Values, len(p.prog.Outputs))
	for k := range p.prog.Outputs {
		port := &p.prog.Outputs[k]
		t, err := newOutput(port, rows)
		if err != nil {
			return nil, err
		}
		outputs[port.Name], buffers[port.Name] = t, t.slice()
	}
	given := make(Values, len(inputs))
	for k := range p.prog.Inputs {
		port := &p.prog.Inputs[k]
		t := inputs[port.Name]
		if !t.IsDense() {
			if err := room("input", port, rows); err != nil {
				return nil, err
			}
			t = t.Contiguous()
		}
		given[port.Name] = t
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
// tensors, of the shape that the input has at the rows of the run. They are
// read and written in place. Inputs may overlap each other in memory; an output
// that overlaps an input or another output is an error.
type Values map[string]any

// Run computes outputs from inputs. The number of rows follows from the
// lengths of the inputs; an output must have room for that many and is filled
// from its start. Run allocates nothing, unless it fails. A run that begins
// while another one goes on is an error.
func (i *Instance) Run(ctx context.Context, inputs, outputs Values) error {
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
	if err := checkNames(i.program, "input", inputs, prog.Inputs); err != nil {
		return err
	}
	if err := checkNames(i.program, "output", outputs, prog.Outputs); err != nil {
		return err
	}
	rows := 0
	for k := range prog.Inputs {
		port := &prog.Inputs[k]
		data, t, err := buffer(inputs, port.Name, true)
		if err != nil {
			return fmt.Errorf("berth: input %q: %w", port.Name, err)
		}
		if t != port.Type.DType {
			return fmt.Errorf("berth: input %q holds %v, not %v", port.Name, port.Type.DType, t)
		}
		n, ok := port.Elems.Rows(len(data)/t.Size(), prog.MaxRows)
		if x, tensor := inputs[port.Name].(*Tensor); tensor {
			if n, ok = rowsOf(port, x, prog.MaxRows); !ok {
				return fmt.Errorf("berth: input %q: the shape %v is not that of 1 to %d rows of %v", port.Name, x.layout.Shape, prog.MaxRows, port.Type)
			}
		}
		if !ok {
			return fmt.Errorf("berth: input %q: %d elements are not those of 1 to %d rows of %v", port.Name, len(data)/t.Size(), prog.MaxRows, port.Type)
		}
		if n != 0 && rows != 0 && n != rows {
			return fmt.Errorf("berth: input %q has %d rows, another one %d", port.Name, n, rows)
		}
		rows = max(rows, n)
		i.inst.Bind(compile.InPort, k, data)
	}
	if rows == 0 {
		rows = prog.MaxRows // nothing varies, or nothing tells
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
		return nil, 0, fmt.Errorf("a %T is not a slice of elements", v)
	}
}

// slice returns the storage of a tensor as a slice of its Go type, which a run
// may write as long as nobody else has the tensor.
func (t *Tensor) slice() any {
	switch t.dtype {
	case Float32:
		return kernel.Cast[float32](t.data)
	case Float64:
		return kernel.Cast[float64](t.data)
	case Int64:
		return kernel.Cast[int64](t.data)
	case Int32:
		return kernel.Cast[int32](t.data)
	case Int16:
		return kernel.Cast[int16](t.data)
	case Int8:
		return kernel.Cast[int8](t.data)
	case Uint8:
		return t.data
	case Uint16:
		return kernel.Cast[uint16](t.data)
	case Uint32:
		return kernel.Cast[uint32](t.data)
	case Uint64:
		return kernel.Cast[uint64](t.data)
	case Bool:
		return kernel.Cast[bool](t.data)
	case Float16:
		return kernel.Cast[dtype.F16](t.data)
	case BFloat16:
		return kernel.Cast[dtype.BF16](t.data)
	}
	panic("berth: no slice holds " + t.dtype.String())
}

// NewBuffer returns a slice for an output of a run of the most rows: a []T of
// the Go type T of its elements, such as a []float32. It is an error that wraps
// [ErrMemory] when that takes more than [DefaultMaxBytes].
func (p *Program) NewBuffer(output string) (any, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	for k := range p.prog.Outputs {
		if port := &p.prog.Outputs[k]; port.Name == output {
			t, err := newOutput(port, p.prog.MaxRows)
			if err != nil {
				return nil, err
			}
			return t.slice(), nil
		}
	}
	return nil, fmt.Errorf("berth: the program has no output %q, but %s", output, names(p.prog.Outputs))
}

// newOutput returns a fresh tensor for an output of a run of the given rows.
func newOutput(port *compile.Port, rows int) (*Tensor, error) {
	if err := room("output", port, rows); err != nil {
		return nil, err
	}
	return newTensor(port.Type.DType, port.DimsAt(rows))
}

// room returns an error when what a port holds is more than may be allocated
// for it.
func room(what string, port *compile.Port, rows int) error {
	if n := int64(port.Elems.At(rows)) * int64(port.Type.DType.Size()); n > DefaultMaxBytes {
		return fmt.Errorf("berth: %s %q with %d rows: %w: %d bytes, %d are available", what, port.Name, rows, ErrMemory, n, int64(DefaultMaxBytes))
	}
	return nil
}

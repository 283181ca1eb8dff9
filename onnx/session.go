package onnx

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/internal/exec"
	"github.com/berth-go/berth/internal/kernel"
	"github.com/berth-go/berth/shape"
)

// SessionOptions steer a session. Nil stands for the zero value.
type SessionOptions struct {
	// Workers is the number of goroutines that share each step; 0 means one for each
	// processor. Results do not depend on it.
	Workers int
	// MaxBytes is the most memory that the arena may take, and likewise each value
	// between segments; 0 means [berth.DefaultMaxBytes]. A run that needs more is an
	// error that wraps [berth.ErrMemory] or [berth.ErrBudget].
	MaxBytes int64
	// MaxIterations is how often bodies of loops may run, all together in one run, before
	// that is an error that wraps [ErrIterations]; 0 means [DefaultMaxIterations].
	MaxIterations int64
	// Poison fills the arena before each segment with bytes that no right program
	// reads, to find one that is wrong.
	Poison bool
	// Without names rewrite rules to leave out; see [berth.CompileOptions].
	Without []string
}

// DefaultMaxIterations is how often bodies of loops may run where nothing else is stated.
const DefaultMaxIterations = 1 << 20

// ErrIterations is wrapped by the error about loops that run longer than a session lets
// them.
var ErrIterations = errors.New("loops run too often")

// A Session runs a model at whatever shapes its inputs have. What it builds for these, it
// shares with all sessions of the model; the memory that it works in is its own: one
// arena, as large as the largest segment needs, and what lies between segments. A run at
// shapes seen before builds nothing, and its segments and loops allocate nothing.
//
// A session runs once at a time.
type Session struct {
	model   *Model
	options SessionOptions
	workers *exec.Workers
	arena   []byte
	texts   *texts
	frame   *frame
	state   atomic.Int32

	ctx        context.Context // of the run that goes on
	iterations int64           // of its loops, so far

	inputs  []Value  // in the order of the file
	given   []*Array // memory for those that have to be converted
	outputs []*Array // to be filled
}

// What a session does.
const (
	idle int32 = iota
	running
	closed
)

// NewSession returns a session. It builds nothing before it runs.
func (m *Model) NewSession(opt *SessionOptions) (*Session, error) {
	if err := m.usable(context.Background()); err != nil {
		return nil, err
	}
	if opt == nil {
		opt = &SessionOptions{}
	}
	t, err := m.tree(opt)
	if err != nil {
		return nil, fmt.Errorf("onnx: %s: %w", m.name, err)
	}
	s := newSession(m, opt)
	s.frame = newFrame(s, t)
	n := len(m.wire.Graph.Inputs)
	s.inputs, s.given = make([]Value, n), make([]*Array, n)
	s.outputs = make([]*Array, len(m.wire.Graph.Outputs))
	return s, nil
}

// NewPool returns a pool of at most max sessions; less than 1 counts as 1. What they build
// they share, as all sessions of a model do; each has an arena of its own. An error about
// the options comes from [berth.Pool.Do].
func (m *Model) NewPool(max int, opt *SessionOptions) *berth.Pool[*Session] {
	return berth.NewPool(max, func() (*Session, error) { return m.NewSession(opt) })
}

func newSession(m *Model, opt *SessionOptions) *Session {
	return &Session{model: m, options: *opt, workers: exec.NewWorkers(opt.Workers), texts: newTexts(m.texts)}
}

// Close ends the goroutines of the session, which cannot run any more.
func (s *Session) Close() {
	if s != nil && s.workers != nil && s.state.CompareAndSwap(idle, closed) {
		s.workers.Close()
	}
}

// room returns an error when a tensor is larger than a session may hold.
func (o *SessionOptions) room(t dtype.Type, dims shape.Shape) error {
	if err := dims.Check(); err != nil {
		return err
	}
	if n := int64(dims.Elems()); n > o.maxBytes()/int64(t.Size()) {
		return fmt.Errorf("%w: %v%v takes more than %d bytes", berth.ErrMemory, t, dims, o.maxBytes())
	}
	return nil
}

// maxBytes returns the bound on memory.
func (o *SessionOptions) maxBytes() int64 {
	if o.MaxBytes > 0 {
		return o.MaxBytes
	}
	return berth.DefaultMaxBytes
}

// maxIterations returns the bound on what loops do.
func (o *SessionOptions) maxIterations() int64 {
	if o.MaxIterations > 0 {
		return o.MaxIterations
	}
	return DefaultMaxIterations
}

// roomForText returns an error when the strings of a run, with more of so many bytes, are
// more than the session may hold.
func (s *Session) roomForText(more int64) error {
	if s.texts.size+more > s.options.maxBytes() {
		return fmt.Errorf("%w: the strings of the run take more than %d bytes", berth.ErrMemory, s.options.maxBytes())
	}
	return nil
}

// iterate counts n runs of bodies of loops.
func (s *Session) iterate(n int64) error {
	if s.iterations += n; s.iterations > s.options.maxIterations() {
		return fmt.Errorf("%w: more than %d iterations in all", ErrIterations, s.options.maxIterations())
	}
	return nil
}

// Run computes the outputs of the model for the given inputs, by name. Arrays that are
// inputs are read where they are, and are the caller's again when Run returns. For each
// name in outputs, the value is set: an [Array] that is there is filled, in its memory
// where that suffices, and anything else is replaced. All outputs are added to a map that
// is empty. An array that is filled must not share memory with an input or another output.
//
// A state that is carried from run to run takes two arrays that change places:
//
//	inputs["state"], outputs["next_state"] = state, next
//	err := session.Run(ctx, inputs, outputs)
//	state, next = next, state
//
// An error about inputs names all that are wrong, each with what the model declares and
// what was given, and nothing has run then. Between segments Run looks at ctx, and returns
// the cause when it is done; what is in outputs is then undefined.
//
// Run allocates nothing at shapes seen before, if it has arrays to fill and they are
// large enough, inputs and outputs are tensors of numbers, and no host step looks for
// elements in data, as NonZero does, or at strings, sequences or maps.
func (s *Session) Run(ctx context.Context, inputs, outputs map[string]Value) error {
	if s == nil || s.frame == nil {
		return errors.New("onnx: the session is nil or the zero Session, which has no model")
	}
	if ctx == nil {
		return errors.New("onnx: the context is nil")
	}
	if outputs == nil {
		return errors.New("onnx: the map of outputs is nil")
	}
	if !s.state.CompareAndSwap(idle, running) {
		if s.state.Load() == closed {
			return errors.New("onnx: the session is closed")
		}
		return errors.New("onnx: the session is running already; each runs once at a time")
	}
	defer s.state.Store(idle)
	if err := s.run(ctx, inputs, outputs); err != nil {
		return fmt.Errorf("onnx: %s: %w", s.model.name, err)
	}
	return nil
}

func (s *Session) run(ctx context.Context, inputs, outputs map[string]Value) error {
	s.texts.forget()
	s.iterations = 0
	if err := s.bind(inputs); err != nil {
		return err
	}
	all := len(outputs) == 0
	infos := s.model.wire.Graph.Outputs
	for name := range outputs {
		if s.model.outputIndex(name) < 0 {
			return fmt.Errorf("the model has no output %q, but %s", name, s.model.outputNames())
		}
	}
	for k := range infos {
		s.outputs[k] = nil
		if v, wanted := outputs[infos[k].Name]; wanted || all {
			a, ok := v.(*Array)
			if !ok || a == nil || a.frozen {
				a = &Array{}
			}
			if err := s.apart(infos[k].Name, a, k); err != nil {
				return err
			}
			s.outputs[k] = a
		}
	}
	s.ctx = ctx
	results, err := s.frame.run(s.inputs, s.outputs)
	clear(s.inputs)
	if err != nil {
		return err
	}
	for k, v := range results {
		a := s.outputs[k]
		if a == nil {
			continue
		}
		if err := s.model.declared(k, v); err != nil {
			return err
		}
		if v, err = s.deliver(v, a); err != nil {
			return err
		}
		if had, ok := outputs[infos[k].Name].(*Array); !ok || had != a {
			outputs[infos[k].Name] = v
		}
	}
	return nil
}

// deliver returns a result as the caller's: in a, if it is a tensor.
func (s *Session) deliver(v Value, a *Array) (Value, error) {
	switch v := v.(type) {
	case *Array:
		if v.ids {
			text := a.text[:0]
			for _, id := range kernel.Cast[int64](v.data) {
				text = append(text, s.texts.text(id))
			}
			*a = Array{dims: append(a.dims[:0], v.dims...), text: text}
			return a, nil
		}
		a.assign(v)
		return a, nil
	case Sequence:
		list := make(Sequence, len(v))
		for i, item := range v {
			var err error
			if list[i], err = s.deliver(item, &Array{}); err != nil {
				return nil, err
			}
		}
		return list, nil
	case *Map:
		keys, err := s.deliver(v.Keys, &Array{})
		if err != nil {
			return nil, err
		}
		values, err := s.deliver(v.Values, &Array{})
		if err != nil {
			return nil, err
		}
		return &Map{keys.(*Array), values.(*Array)}, nil
	}
	return v, nil
}

// apart returns an error when the array to be filled with an output has memory in common
// with an input, or with an output before it.
func (s *Session) apart(name string, a *Array, k int) error {
	for i, in := range s.inputs {
		if overlaps(in, a) {
			return fmt.Errorf("output %q and input %q overlap in memory", name, s.model.wire.Graph.Inputs[i].Name)
		}
	}
	for i, out := range s.outputs[:k] {
		if out != nil && (out == a || kernel.Overlap(a.data[:cap(a.data)], out.data[:cap(out.data)])) {
			return fmt.Errorf("outputs %q and %q overlap in memory", s.model.wire.Graph.Outputs[i].Name, name)
		}
	}
	return nil
}

// bind sets s.inputs to what is given, checked against what the model declares.
func (s *Session) bind(inputs map[string]Value) error {
	var errs []error
	declared := s.model.wire.Graph.Inputs
	for name := range inputs {
		if s.model.inputIndex(name) < 0 {
			errs = append(errs, fmt.Errorf("the model has no input %q, but %s", name, s.model.inputNames()))
		}
	}
	for i := range declared {
		s.inputs[i] = nil
		v, given := inputs[declared[i].Name]
		if a, ok := v.(*Array); ok && a == nil {
			v = nil
		}
		initial := s.model.body.initial[declared[i].Name] != nil
		optional := declared[i].Type != nil && declared[i].Type.Optional != nil
		switch {
		case v == nil && (initial && !given || optional):
		case v == nil && initial:
			errs = append(errs, fmt.Errorf("input %v is given a nil tensor", info(declared[i])))
		case v == nil:
			errs = append(errs, fmt.Errorf("input %v is missing", info(declared[i])))
		default:
			if err := whole(v); err != nil {
				errs = append(errs, fmt.Errorf("input %v: %w", info(declared[i]), err))
				continue
			}
			if err := s.model.accepts(i, v); err != nil {
				errs = append(errs, err)
				continue
			}
			s.inputs[i] = s.inside(v, &s.given[i])
		}
	}
	return errors.Join(errs...)
}

// inside returns a value as graphs have it: strings by number, in memory of the session.
func (s *Session) inside(v Value, own **Array) Value {
	switch v := v.(type) {
	case *Array:
		if v.typ != dtype.Invalid {
			return v
		}
		if *own == nil {
			*own = &Array{}
		}
		(*own).become(dtype.Int64, v.dims, true)
		ids := kernel.Cast[int64]((*own).data)
		for i, text := range v.text {
			ids[i] = s.texts.id(text)
		}
		return *own
	case Sequence:
		list := make(Sequence, len(v))
		for i, item := range v {
			var own *Array
			list[i] = s.inside(item, &own)
		}
		return list
	case *Map:
		var keys, values *Array
		return &Map{s.inside(v.Keys, &keys).(*Array), s.inside(v.Values, &values).(*Array)}
	}
	return v
}

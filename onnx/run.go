package onnx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/internal/wire"
)

// runs is what a model keeps of its runs.
type runs struct {
	mu   sync.Mutex
	tree *tree      // of the default options
	idle []*Session // of Run, as many as there are processors at most
}

// tree returns the stages of the model for sessions with the given options.
func (m *Model) tree(opt *SessionOptions) (*tree, error) {
	m.runs.mu.Lock()
	defer m.runs.mu.Unlock()
	usual := opt.MaxBytes == 0 && len(opt.Without) == 0
	if usual && m.runs.tree != nil {
		return m.runs.tree, nil
	}
	var entries []entry
	for _, in := range m.wire.Graph.Inputs {
		e := entry{name: in.Name}
		if t := m.body.initial[in.Name]; t != nil {
			var err error
			if e.fallback, err = m.constant(t); err != nil {
				return nil, fmt.Errorf("initializer %q: %w", t.Name, err)
			}
		}
		entries = append(entries, e)
	}
	t, err := newTree(m, m.body, entries, nil)
	if err == nil && usual {
		m.runs.tree = t
	}
	return t, err
}

// Run computes the outputs of the model for the given inputs, by name. Every
// input without a value in the file must be there, with the element type and
// the fixed extents that the model declares; one with a value may be replaced.
//
// The outputs are tensors of their own, all that the model has, with the shapes that the
// run gave them. An error about an input names it with what the model declares and
// what was given, such as "input image FLOAT [N 1 28 28] is given float32[1 28 28]".
// All inputs that are wrong are in one error. Nothing runs then. An output that is no
// tensor of numbers is an error; [Model.RunValues] returns it.
//
// The model is compiled for these very shapes. What is built is kept, for a bounded
// number of shapes, so that a later run at them only runs. A service that runs a model
// often has sessions of its own, see [Model.NewSession], or a pool of them, see
// [Model.NewPool].
func (m *Model) Run(ctx context.Context, inputs map[string]*berth.Tensor) (map[string]*berth.Tensor, error) {
	return m.RunWith(ctx, berth.RunOptions{}, inputs)
}

// RunWith is [Model.Run] with options.
func (m *Model) RunWith(ctx context.Context, opt berth.RunOptions, inputs map[string]*berth.Tensor) (map[string]*berth.Tensor, error) {
	if err := m.usable(ctx); err != nil {
		return nil, err
	}
	values := make(map[string]Value, len(inputs))
	for name, t := range inputs {
		if t == nil {
			values[name] = nil
			continue
		}
		if _, err := inside.Value(t.Promise()); err != nil {
			return nil, fmt.Errorf("onnx: %s: input %q: %w", m.name, name, err)
		}
		values[name] = ArrayOf(t)
	}
	results, err := m.RunValues(ctx, &SessionOptions{Workers: opt.Workers, MaxBytes: opt.MaxBytes, Poison: opt.Poison, Without: opt.Without}, values)
	if err != nil {
		return nil, err
	}
	outputs := make(map[string]*berth.Tensor, len(results))
	for name, v := range results {
		a, ok := v.(*Array)
		if !ok || a.typ == dtype.Invalid {
			return nil, fmt.Errorf("onnx: %s: output %q is %s, no tensor of numbers; RunValues returns it", m.name, name, TypeOf(v))
		}
		if outputs[name], err = a.over(a.data); err != nil {
			return nil, err
		}
	}
	return outputs, nil
}

// RunValues is [Model.Run] for values of any kind: strings, sequences, maps, and optional
// values that are nil. The values it returns are the caller's. Nil options stand for the
// zero value.
func (m *Model) RunValues(ctx context.Context, opt *SessionOptions, inputs map[string]Value) (map[string]Value, error) {
	if err := m.usable(ctx); err != nil {
		return nil, err
	}
	if opt == nil {
		opt = &SessionOptions{}
	}
	s, err := m.session(opt)
	if err != nil {
		return nil, err
	}
	defer m.giveBack(s)
	outputs := make(map[string]Value)
	if err := s.Run(ctx, inputs, outputs); err != nil {
		return nil, err
	}
	return outputs, nil
}

// session returns a session with the given options, one that is idle if there is one.
func (m *Model) session(opt *SessionOptions) (*Session, error) {
	m.runs.mu.Lock()
	i := slices.IndexFunc(m.runs.idle, func(s *Session) bool { return s.options.equal(opt) })
	if i < 0 {
		m.runs.mu.Unlock()
		return m.NewSession(opt)
	}
	defer m.runs.mu.Unlock()
	s := m.runs.idle[i]
	m.runs.idle = slices.Delete(m.runs.idle, i, i+1)
	return s, nil
}

// giveBack keeps a session for a later run. The one that has been idle for longest goes
// when there are too many.
func (m *Model) giveBack(s *Session) {
	m.runs.mu.Lock()
	defer m.runs.mu.Unlock()
	m.runs.idle = append(m.runs.idle, s)
	if len(m.runs.idle) > runtime.GOMAXPROCS(0) {
		m.runs.idle[0].Close()
		m.runs.idle = slices.Delete(m.runs.idle, 0, 1)
	}
}

func (o *SessionOptions) equal(p *SessionOptions) bool {
	return o.Workers == p.Workers && o.MaxBytes == p.MaxBytes && o.MaxIterations == p.MaxIterations &&
		o.Poison == p.Poison && slices.Equal(o.Without, p.Without)
}

// Promises returns the outputs of the model, in the order of [Model.Outputs],
// as promises over the given inputs. It may compute parts of the model on
// which shapes depend.
func (m *Model) Promises(ctx context.Context, inputs map[string]*berth.Tensor) ([]*berth.Promise, error) {
	if err := m.usable(ctx); err != nil {
		return nil, err
	}
	values, err := m.bind(inputs)
	if err != nil {
		return nil, fmt.Errorf("onnx: %s: %w", m.name, err)
	}
	outs, err := m.build(ctx, values, true, false)
	if err != nil {
		return nil, fmt.Errorf("onnx: %s: %w", m.name, err)
	}
	promises := make([]*berth.Promise, len(outs))
	for i, v := range outs {
		promises[i] = inside.Promise(v)
	}
	return promises, nil
}

// bind checks inputs against what the model declares.
func (m *Model) bind(inputs map[string]*berth.Tensor) (map[string]graph.Value, error) {
	var errs []error
	values := make(map[string]graph.Value, len(inputs))
	for _, in := range m.Inputs() {
		if inputs[in.Name] == nil {
			errs = append(errs, fmt.Errorf("input %v is missing", in))
		}
	}
	for _, name := range sortedKeys(inputs) {
		t := inputs[name]
		i := m.inputIndex(name)
		if i < 0 {
			errs = append(errs, fmt.Errorf("the model has no input %q, but %s", name, m.inputNames()))
			continue
		}
		if t == nil {
			if m.body.initial[name] != nil {
				errs = append(errs, fmt.Errorf("input %v is given a nil tensor", info(m.wire.Graph.Inputs[i])))
			}
			continue
		}
		if err := info(m.wire.Graph.Inputs[i]).accepts(t.DType(), t.Shape()); err != nil {
			errs = append(errs, err)
			continue
		}
		v, err := inside.Value(t.Promise())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		values[name] = v
	}
	return values, errors.Join(errs...)
}

// accepts reports how a tensor does not fit the declaration of an input.
func (v ValueInfo) accepts(t dtype.Type, dims []int) error {
	if !v.fits(dims) || v.DType != t {
		return fmt.Errorf("input %v is given %v%v", v, t, dims)
	}
	return nil
}

// accepts reports how a value does not fit the declaration of input i.
func (m *Model) accepts(i int, v Value) error {
	if in := &m.wire.Graph.Inputs[i]; !takes(in.Type, v) {
		return fmt.Errorf("input %v is given %s", info(*in), TypeOf(v))
	}
	return nil
}

// declared reports how a result does not fit the declaration of output k.
func (m *Model) declared(k int, v Value) error {
	out := &m.wire.Graph.Outputs[k]
	if v == nil && (out.Type == nil || out.Type.Optional == nil) {
		return fmt.Errorf("output %v is absent", info(*out))
	}
	if !takes(out.Type, v) {
		return fmt.Errorf("output %v is declared, but %s is what the model computes", info(*out), TypeOf(v))
	}
	return nil
}

// takes reports whether a value is of a type. A type that is nil says nothing.
func takes(t *wire.Type, v Value) bool {
	switch {
	case t == nil:
		return true
	case t.Optional != nil:
		return v == nil || takes(t.Optional.Elem, v)
	}
	switch v := v.(type) {
	case *Array:
		return t.Kind() == "none" || t.Tensor != nil && isOf(t.Tensor, v)
	case Sequence:
		return t.Sequence != nil && !slices.ContainsFunc(v, func(item Value) bool { return !takes(t.Sequence.Elem, item) })
	case *Map:
		return t.Map != nil
	}
	return false
}

// isOf reports whether a tensor has an element type, and the rank and the extents that
// are stated.
func isOf(t *wire.TensorType, a *Array) bool {
	switch {
	case t.Elem == wire.String:
		if a.typ != dtype.Invalid && !a.ids {
			return false
		}
	case t.Elem != wire.Undefined && (a.ids || elementTypes[t.Elem] != a.typ || a.typ == dtype.Invalid):
		return false
	}
	// As [ValueInfo.fits], which would have to be made for each run.
	if t.Shape == nil || len(t.Shape.Dims) == 0 && a.dims.Elems() == 1 {
		return true
	}
	if len(t.Shape.Dims) != len(a.dims) {
		return false
	}
	for i := range a.dims {
		if d := &t.Shape.Dims[i]; d.HasValue && d.Value >= 0 && d.Value != int64(a.dims[i]) {
			return false
		}
	}
	return true
}

// inputIndex returns the number of an input in the file, or -1.
func (m *Model) inputIndex(name string) int { return indexOf(m.wire.Graph.Inputs, name) }

// outputIndex returns the number of an output, or -1.
func (m *Model) outputIndex(name string) int { return indexOf(m.wire.Graph.Outputs, name) }

func indexOf(list []wire.ValueInfo, name string) int {
	for i := range list {
		if list[i].Name == name {
			return i
		}
	}
	return -1
}

// inputNames lists the inputs for a message, in order of their names.
func (m *Model) inputNames() string { return namesOf(m.wire.Graph.Inputs) }

// outputNames likewise lists the outputs.
func (m *Model) outputNames() string { return namesOf(m.wire.Graph.Outputs) }

func namesOf(list []wire.ValueInfo) string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	slices.Sort(names)
	return cmp.Or(strings.Join(names, ", "), "none")
}

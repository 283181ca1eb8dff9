package onnx

import (
	"errors"
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/dtype"
	"github.com/berth-go/berth/graph"
	"github.com/berth-go/berth/shape"
)

// A hostStep is a node that runs on the host, between segments.
type hostStep struct {
	node *node
	in   []symbol // in slots, constants, or sequences of these
	out  []int    // slots; -1 for an output that the node does not name
	run  hostFunc
}

// A hostFunc runs a host step. It sets all of h.out.
type hostFunc func(h *hostCall) error

// A hostCall is a run of a host step. What it leaves in out and state is there the next
// time, so that memory can be used again.
type hostCall struct {
	*Session
	in    []Value // nil: absent, or an empty optional
	out   []Value
	state any
}

// has reports whether input i is there.
func (h *hostCall) has(i int) bool { return i < len(h.in) && h.in[i] != nil }

// array returns input i, which must be a tensor.
func (h *hostCall) array(i int) (*Array, error) {
	a, ok := h.in[i].(*Array)
	if !ok {
		return nil, fmt.Errorf("input %d is %s, not a tensor", i, TypeOf(h.in[i]))
	}
	return a, nil
}

// result makes output i a tensor of the given type and shape, whose elements hold
// anything, and returns it.
func (h *hostCall) result(i int, t dtype.Type, ids bool, dims ...int) (*Array, error) {
	if err := h.options.room(t, dims); err != nil {
		return nil, fmt.Errorf("output %d: %w", i, err)
	}
	a, ok := h.out[i].(*Array)
	if !ok || a.frozen {
		a = &Array{}
		h.out[i] = a
	}
	a.become(t, dims, ids)
	return a, nil
}

// hosted converts an operator that runs on the host. Bind reads the attributes.
func hosted(bind func(c *call) hostFunc) converter {
	return func(c *call) []graph.Value {
		c.host(bind(c))
		return nil
	}
}

// host adds a host step, or runs it now if its inputs are the same in every run. A node
// without outputs has nothing to do.
func (c *call) host(run hostFunc) {
	if len(c.node.node.Outputs) == 0 {
		return
	}
	if c.constants() && c.runNow(run) {
		return
	}
	cut := c.imp.cut
	if cut == nil {
		check(ErrHost)
	}
	step := &hostStep{node: c.node, in: c.symbols, run: run}
	for _, name := range c.node.node.Outputs {
		slot := -1
		if name != "" {
			slot = cut.stage.newSlot()
		}
		step.out = append(step.out, slot)
		c.outs = append(c.outs, symbol{kind: slotted, slot: slot})
	}
	cut.stage.steps = append(cut.stage.steps, step)
}

// constants makes constants of those inputs that are the same in every run, if computing
// them is no more work than a file may ask for, and reports whether all are.
func (c *call) constants() bool {
	all := true
	for i, s := range c.symbols {
		if s.kind == tensor && !s.isConstant() && (c.imp.bound || !c.imp.dependsOnInput(s.tensor)) {
			v, err := c.imp.known(s.tensor)
			if err == nil {
				s.tensor = v
				c.symbols[i] = s
			} else if c.imp.cut == nil || !errors.Is(err, errWork) {
				check(err)
			}
		}
		all = all && s.isConstant() && !s.text
	}
	return all
}

// foldIterations is how often the bodies of loops may run that depend on the file alone,
// before the model runs.
const foldIterations = 1 << 12

// runNow runs a host step whose inputs are constants, and reports whether its results
// are constants. They are not where they hold strings, or take more work than a file may
// ask for before the model runs.
func (c *call) runNow(run hostFunc) bool {
	limits := &SessionOptions{Workers: 1, MaxBytes: shapeBytes, MaxIterations: foldIterations}
	if c.imp.bound {
		limits = &SessionOptions{Workers: 1} // what the run brings, a file does not ask for
	}
	s := newSession(c.imp.model, limits)
	defer s.Close()
	s.ctx = c.imp.ctx
	h := &hostCall{Session: s, in: make([]Value, len(c.symbols)), out: make([]Value, len(c.node.node.Outputs))}
	for i, v := range c.symbols {
		h.in[i] = v.value(nil)
		c.imp.work -= elemsOf(h.in[i])
	}
	err := errWork
	if c.imp.bound || c.imp.work > 0 {
		err = run(h)
	}
	if err == nil && !c.imp.bound {
		if c.imp.work -= elemsOf(Sequence(h.out)); c.imp.work <= 0 {
			err = errWork
		}
	}
	if tooMuch := errors.Is(err, errWork) || errors.Is(err, ErrIterations) || errors.Is(err, berth.ErrMemory); tooMuch && c.imp.cut != nil {
		return false
	}
	check(err)
	outs := make([]symbol, len(h.out))
	for i, v := range h.out {
		if outs[i], err = constantOf(v); err != nil {
			return false
		}
	}
	c.outs = outs
	return true
}

// elemsOf returns the number of elements in a value.
func elemsOf(v Value) int64 {
	n := int64(0)
	switch v := v.(type) {
	case *Array:
		n = int64(v.dims.Elems())
	case Sequence:
		for _, item := range v {
			n += elemsOf(item)
		}
	}
	return n
}

// constantOf returns the symbol of a value that is the same in every run.
func constantOf(v Value) (symbol, error) {
	switch v := v.(type) {
	case nil:
		return symbol{}, nil
	case *Array:
		if v.typ == dtype.Invalid || v.ids {
			return symbol{}, errors.New("strings")
		}
		c := frozenCopy(v).(*Array)
		n, err := graph.NewConstant(graph.Type{DType: c.typ, Shape: c.dims}, graph.Leaf{Layout: shape.Dense(c.dims), Data: c.data})
		if err != nil {
			return symbol{}, err
		}
		return tensorSymbol(n.Output(0)), nil
	case Sequence:
		s := symbol{kind: sequence, items: make([]symbol, len(v))}
		for i, item := range v {
			var err error
			if s.items[i], err = constantOf(item); err != nil {
				return symbol{}, err
			}
		}
		return s, nil
	}
	return symbol{}, errors.New(v.Type())
}

// value returns the value of a symbol, given those in the slots.
func (s symbol) value(env []Value) Value {
	switch s.kind {
	case slotted:
		return env[s.slot]
	case tensor:
		return arrayOf(s.tensor.Type().DType, *s.tensor.Node().Leaf(), s.text)
	case sequence:
		v := make(Sequence, len(s.items))
		for i, item := range s.items {
			v[i] = item.value(env)
		}
		return v
	}
	return nil
}

package onnx

import (
	"context"
	"fmt"

	"github.com/berth-go/berth/internal/exec"
	"github.com/berth-go/berth/internal/kernel"
)

// A frame is what a session has of a tree.
type frame struct {
	session *Session
	tree    *tree
	env     []Value // by slot
	key     []byte
	states  map[*stage]*stageState
	evicted int64
	path    []*stage // that the run has gone through
	results []Value
}

// A stageState is what a session has of a stage.
type stageState struct {
	segment *exec.Instance
	arena   *byte    // that the segment is bound to
	out     []*Array // of the segment
	steps   []hostCall
}

func newFrame(s *Session, t *tree) *frame {
	return &frame{session: s, tree: t, states: make(map[*stage]*stageState)}
}

// run runs the body of the tree. Inputs are the values of its entries. Results that are
// computed go to targets, where there are any, which share no memory with inputs; other
// results are inputs, constants, or memory of the frame. The list returned is the frame's.
func (f *frame) run(inputs []Value, targets []*Array) ([]Value, error) {
	f.forget()
	f.path = f.path[:0]
	f.grow(len(inputs))
	copy(f.env, inputs)
	for at := &f.tree.root; ; {
		if err := f.session.ctx.Err(); err != nil {
			return nil, context.Cause(f.session.ctx)
		}
		f.key = at.appendKey(f.key[:0], f.env)
		next, err := at.after(f.session.ctx, &f.session.options, f.key, f.env)
		if err != nil {
			return nil, err
		}
		if err := f.stage(next, targets); err != nil {
			return nil, err
		}
		f.path = append(f.path, next)
		if at = next; at.results != nil {
			break
		}
	}
	return f.results, nil
}

// forget drops what belongs to stages that are gone.
func (f *frame) forget() {
	if n := f.tree.evicted.Load(); n != f.evicted {
		f.evicted = n
		for s := range f.states {
			if s.dead.Load() {
				delete(f.states, s)
			}
		}
	}
}

// grow has the frame hold at least n slots.
func (f *frame) grow(n int) {
	if n > len(f.env) {
		f.env = append(f.env, make([]Value, n-len(f.env))...)
	}
}

// stage runs one stage.
func (f *frame) stage(s *stage, targets []*Array) error {
	st := f.states[s]
	if st == nil {
		var err error
		if st, err = f.newState(s); err != nil {
			return err
		}
		f.states[s] = st
	}
	f.grow(s.number)
	for _, o := range s.opens {
		for i, v := range f.env[o.slot].(Sequence) {
			f.env[o.items[i]] = v
		}
	}
	if err := f.compute(s, st, targets); err != nil {
		return err
	}
	for i, step := range s.steps {
		h := &st.steps[i]
		for k, v := range step.in {
			if v.kind == slotted || v.kind == sequence {
				h.in[k] = v.value(f.env)
			}
		}
		if err := step.run(h); err != nil {
			return fmt.Errorf("%s: %w", step.node.place(), err)
		}
		if err := f.session.roomForText(0); err != nil {
			return fmt.Errorf("%s: %w", step.node.place(), err)
		}
		for k, slot := range step.out {
			if slot >= 0 {
				f.env[slot] = h.out[k]
			}
		}
	}
	if s.results != nil {
		f.results = f.results[:0]
		for i, v := range s.results {
			if s.constants[i] == nil {
				f.results = append(f.results, v.value(f.env))
			} else {
				f.results = append(f.results, s.constants[i])
			}
		}
	}
	return nil
}

func (f *frame) newState(s *stage) (*stageState, error) {
	st := &stageState{out: make([]*Array, len(s.out)), steps: make([]hostCall, len(s.steps))}
	for i, step := range s.steps {
		h := &st.steps[i]
		*h = hostCall{Session: f.session, in: make([]Value, len(step.in)), out: make([]Value, len(step.out))}
		for k, v := range step.in {
			if v.isConstant() {
				h.in[k] = v.value(nil)
			}
		}
	}
	if s.segment == nil {
		return st, nil
	}
	var err error
	st.segment, err = s.segment.NewInstanceOn(f.session.workers, f.session.options.Poison)
	return st, err
}

// compute runs the segment of a stage.
func (f *frame) compute(s *stage, st *stageState, targets []*Array) error {
	if st.segment == nil {
		return nil
	}
	for i, slot := range s.in {
		st.segment.BindInput(i, f.env[slot].(*Array).data)
	}
	for i := range s.out {
		o := &s.out[i]
		a := st.out[i]
		if o.result >= 0 && targets[o.result] != nil && !o.text { // no caller sees numbers of strings, even in a run that fails
			a = targets[o.result]
		} else if a == nil {
			a = &Array{}
			st.out[i] = a
		}
		a.become(o.typ.DType, o.typ.Shape, o.text)
		st.segment.BindOutput(i, a.data)
		f.env[o.slot] = a
	}
	f.session.place(st)
	return st.segment.Run(f.session.ctx, nil)
}

// place has a segment work in the arena of the session, which grows where it must.
func (s *Session) place(st *stageState) {
	n := st.segment.ArenaBytes()
	if n > len(s.arena) {
		s.arena = kernel.Alloc(n)
	}
	if n > 0 && st.arena != &s.arena[0] {
		st.segment.UseArena(s.arena)
		st.arena = &s.arena[0]
	}
}

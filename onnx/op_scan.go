package onnx

import (
	"fmt"
	"slices"
)

// A scanner is what the attributes of Scan say.
type scanner struct {
	tree            *tree
	states          int // carried from step to step
	inputs, outputs int // scanned
	inAxes, outAxes []int
	inBack, outBack []bool // the scan goes from the last element to the first
}

// scan runs the body for each element along an axis of the scanned inputs:
//
//	in   v..., x...         states, then what is scanned
//	body (v..., x[i]...) -> (v..., y[i]...)
//	out  v..., y...         what is scanned is stacked along an axis
func scan(c *call) hostFunc {
	s := c.scanner(0)
	s.inAxes, s.outAxes = c.ints("scan_input_axes"), c.ints("scan_output_axes")
	s.outBack = c.backward("scan_output_directions", s.outputs)
	s.inBack = c.backward("scan_input_directions", s.inputs)
	for name, list := range map[string][]int{"scan_input_axes": s.inAxes, "scan_output_axes": s.outAxes} {
		if want := map[string]int{"scan_input_axes": s.inputs, "scan_output_axes": s.outputs}[name]; list != nil && len(list) != want {
			c.failf("attribute %q has %d elements, want %d", name, len(list), want)
		}
	}
	return func(h *hostCall) error {
		l := h.looping(s.tree, 0, s.states, s.outputs)
		copy(l.entries, h.in)
		return s.run(h, l, h.in[s.states:s.states+s.inputs], h.out)
	}
}

// scan8 is [scan] as version 8 has it: with a batch as the first axis of each input and
// output, of which each row is scanned by itself along the second axis, as far as
// sequence_lens says.
func scan8(c *call) hostFunc {
	s := c.scanner(1)
	s.inBack, s.outBack = c.backward("directions", s.inputs), make([]bool, s.outputs)
	return func(h *hostCall) error {
		var lens []int64
		if h.in[0] != nil {
			a, err := h.array(0)
			if err != nil {
				return err
			}
			if lens, err = Elements[int64](a); err != nil {
				return fmt.Errorf("sequence_lens: %w", err)
			}
		}
		return s.batches(h, lens)
	}
}

// scanner reads what both versions have. So many inputs stand before the states.
func (c *call) scanner(before int) *scanner {
	b := c.graph("body")
	c.require("num_scan_inputs")
	s := &scanner{inputs: c.int("num_scan_inputs", 0)}
	s.states = len(b.inputs) - s.inputs
	s.outputs = len(b.graph.Outputs) - s.states
	if s.inputs < 1 || s.states < 0 || s.outputs < 0 || len(c.symbols) != before+len(b.inputs) {
		c.failf("the body has %d inputs, %d of them scanned, and %d outputs, the node %d inputs", len(b.inputs), s.inputs, len(b.graph.Outputs), len(c.symbols))
	}
	if n := len(c.node.node.Outputs); n > len(b.graph.Outputs) {
		c.failf("has %d outputs, the body makes %d", n, len(b.graph.Outputs))
	}
	s.tree = c.tree(b)
	return s
}

// backward returns a list of n directions, of which 1 is backward.
func (c *call) backward(name string, n int) []bool {
	out := make([]bool, n)
	list := c.ints(name)
	if list != nil && len(list) != n {
		c.failf("attribute %q has %d elements, want %d", name, len(list), n)
	}
	for i, d := range list {
		if d != 0 && d != 1 {
			c.failf("attribute %q has the element %d, not 0 or 1", name, d)
		}
		out[i] = d == 1
	}
	return out
}

// run scans. The states are entries of l already.
func (s *scanner) run(h *hostCall, l *looping, scanned, out []Value) error {
	n := -1
	for len(l.slices) < 2*s.inputs {
		l.slices = append(l.slices, &Array{})
	}
	l.scanned = append(l.scanned[:0], scanned...)
	scanned = l.scanned
	for i, v := range scanned {
		x, ok := v.(*Array)
		if !ok || len(x.dims) == 0 {
			return fmt.Errorf("scan input %d is %s, not a tensor with an axis", i, TypeOf(v))
		}
		axis := 0
		if s.inAxes != nil {
			axis = s.inAxes[i]
		}
		moved, err := h.moveAxis(l.slices[s.inputs+i], x, axis, 0)
		if err != nil {
			return fmt.Errorf("scan input %d: %w", i, err)
		}
		if n >= 0 && moved.dims[0] != n {
			return fmt.Errorf("scan input %d has %d elements, the first %d", i, moved.dims[0], n)
		}
		n = moved.dims[0]
		scanned[i] = moved
	}
	if err := h.iterate(int64(n)); err != nil {
		return err
	}
	for step := range n {
		for i := range scanned {
			x, part := scanned[i].(*Array), l.slices[i]
			at := step
			if s.inBack[i] {
				at = n - 1 - step
			}
			part.elementOf(x, at)
			l.entries[s.states+i] = part
		}
		copy(l.entries[s.states+s.inputs:], h.in[len(h.in)-(len(l.entries)-s.states-s.inputs):])
		results, err := l.step(0, 0)
		if err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
		for k, stack := range l.stacks {
			if err := h.push(stack, results[s.states+k], int64(step)); err != nil {
				return fmt.Errorf("step %d: scan output %d: %w", step, k, err)
			}
		}
	}
	copy(out, l.entries[:s.states])
	for k, stack := range l.stacks {
		if s.states+k >= len(out) {
			break
		}
		if n == 0 {
			if err := stack.emptyLike(s.tree.body.graph.Outputs[s.states+k].Type); err != nil {
				return fmt.Errorf("scan output %d: %w", k, err)
			}
		}
		if s.outBack[k] {
			stack.reverse()
		}
		axis := 0
		if s.outAxes != nil {
			axis = s.outAxes[k]
		}
		moved, err := h.moveAxis(l.moved[k], stack, 0, axis)
		if err != nil {
			return fmt.Errorf("scan output %d: %w", k, err)
		}
		out[s.states+k] = moved
	}
	return nil
}

// batches scans each row of a batch.
func (s *scanner) batches(h *hostCall, lens []int64) error {
	rows := -1
	in := h.in[1 : 1+s.states+s.inputs]
	for i, v := range in {
		x, ok := v.(*Array)
		if !ok || len(x.dims) == 0 || rows >= 0 && x.dims[0] != rows {
			return fmt.Errorf("input %d is %s, not a tensor of %d rows", 1+i, TypeOf(v), rows)
		}
		rows = x.dims[0]
	}
	if lens != nil && len(lens) != rows {
		return fmt.Errorf("sequence_lens has %d elements, for %d rows", len(lens), rows)
	}
	stacks := make([]*Array, len(h.out))
	for row := range rows {
		l := h.looping(s.tree, 0, s.states, s.outputs)
		parts := make([]Value, len(in))
		for i, v := range in {
			part := &Array{}
			part.elementOf(v.(*Array), row)
			if i >= s.states {
				if len(part.dims) == 0 {
					return fmt.Errorf("input %d is %s, which has no axis to scan", 1+i, TypeOf(v))
				}
				if lens != nil {
					if lens[row] < 0 || lens[row] > int64(part.dims[0]) {
						return fmt.Errorf("row %d has a length of %d, of %d elements", row, lens[row], part.dims[0])
					}
					each := len(part.data) / max(part.dims[0], 1)
					part.dims[0] = int(lens[row])
					part.data = part.data[:each*part.dims[0]]
				}
			}
			parts[i] = part
		}
		copy(l.entries, parts[:s.states])
		out := make([]Value, len(h.out))
		if err := s.run(h, l, parts[s.states:], out); err != nil {
			return fmt.Errorf("row %d: %w", row, err)
		}
		for k, v := range out {
			if stacks[k] == nil {
				stacks[k] = &Array{}
			}
			if err := h.push(stacks[k], padded(v, stacks[k], row), int64(row)); err != nil {
				return fmt.Errorf("row %d: output %d: %w", row, k, err)
			}
		}
	}
	for k := range h.out {
		if stacks[k] == nil {
			stacks[k] = &Array{}
			if err := stacks[k].emptyLike(s.tree.body.graph.Outputs[k].Type); err != nil {
				return fmt.Errorf("output %d: %w", k, err)
			}
		}
		h.out[k] = stacks[k]
	}
	return nil
}

// padded returns v, a row behind others that are stacked up, with zeros behind its elements
// along the first axis where these are longer.
func padded(v Value, stack *Array, row int) Value {
	a, ok := v.(*Array)
	if !ok || row == 0 || len(a.dims) == 0 || len(stack.dims) < 2 || a.dims[0] >= stack.dims[1] {
		return v
	}
	p := &Array{}
	dims := slices.Clone(a.dims)
	dims[0] = stack.dims[1]
	p.become(a.typ, dims, a.ids)
	clear(p.data[copy(p.data, a.data):])
	return p
}

// elementOf makes the array element i of x along its first axis. It shares the memory
// and is not frozen, even if x is: it becomes other elements.
func (a *Array) elementOf(x *Array, i int) {
	size := len(x.data) / x.dims[0]
	a.typ, a.ids = x.typ, x.ids
	a.dims = append(a.dims[:0], x.dims[1:]...)
	a.data = x.data[i*size : (i+1)*size : (i+1)*size]
}

// reverse turns the order of the elements along the first axis.
func (a *Array) reverse() {
	if len(a.data) == 0 {
		return
	}
	size := len(a.data) / a.dims[0]
	held := make([]byte, size)
	for i, k := 0, a.dims[0]-1; i < k; i, k = i+1, k-1 {
		x, y := a.data[i*size:(i+1)*size], a.data[k*size:(k+1)*size]
		copy(held, x)
		copy(x, y)
		copy(y, held)
	}
}

// moveAxis returns x with an axis moved to another place: x itself where that is the same,
// otherwise in own. Negative numbers count from the end.
func (s *Session) moveAxis(own, x *Array, from, to int) (*Array, error) {
	rank := len(x.dims)
	if from < 0 {
		from += rank
	}
	if to < 0 {
		to += rank
	}
	if from < 0 || from >= rank || to < 0 || to >= rank {
		return nil, fmt.Errorf("%s has no axes %d and %d", TypeOf(x), from, to)
	}
	if from == to {
		return x, nil
	}
	// The axes between the two move by one place: blocks of a matrix change places.
	lo, hi := min(from, to), max(from, to)
	outer, inner := 1, x.typ.Size()
	for _, d := range x.dims[:lo] {
		outer *= d
	}
	for _, d := range x.dims[hi+1:] {
		inner *= d
	}
	rows, cols := x.dims[from], 1
	for i := lo; i <= hi; i++ {
		if i != from {
			cols *= x.dims[i]
		}
	}
	if from > to {
		rows, cols = cols, rows
	}
	dims := slices.Insert(slices.Delete(x.dims.Clone(), from, from+1), to, x.dims[from])
	if err := s.options.room(x.typ, dims); err != nil {
		return nil, err
	}
	own.become(x.typ, dims, x.ids)
	for o := range outer {
		base := o * rows * cols * inner
		for r := range rows {
			for c := range cols {
				copy(own.data[base+(c*rows+r)*inner:][:inner], x.data[base+(r*cols+c)*inner:])
			}
		}
	}
	return own, nil
}
